// The summary as JSON; docs/output.md describes it.
#include <cmath>

#include "sim/local_time.h"
#include "sim/summary.h"

namespace krafla {

namespace {

// Averages are ratios of long sums; six decimals are what they are good for.
double Rounded(double value) {
  return std::round(value * 1e6) / 1e6;
}

class SummaryObject {
 public:
  SummaryObject(JsonWriter& json, const Summary& summary)
      : json_(json), s_(summary), clock_(summary.zone) {}

  void Write() {
    json_.BeginObject();
    json_.Key("scenario").String(s_.scenario);
    json_.Key("seed").Integer(s_.seed);
    json_.Key("time_zone").String(s_.zone.name());
    json_.Key("begin").String(clock_.Rfc3339(s_.begin));
    json_.Key("end").String(clock_.Rfc3339(s_.end));
    json_.Key("seconds").Number(SecondsBetween(s_.begin, s_.end));
    Counts();
    Use(s_.use);
    json_.Key("job_wait");
    Wait(s_.job_wait);
    json_.Key("pod_wait");
    Wait(s_.pod_wait);
    Queues();
    Evictions();
    Thrash();
    HeadRooms();
    Drains();
    Waiting();
    Texts("eviction_loops", s_.loops);
    Texts("faults", s_.faults);
    json_.EndObject();
  }

 private:
  void Counts() {
    json_.Key("nodes").Integer(s_.nodes);
    json_.Key("events").Integer(s_.events);
    json_.Key("jobs").BeginObject();
    json_.Key("submitted").Integer(s_.jobs);
    json_.Key("completed").Integer(s_.jobs_completed);
    json_.Key("running").Integer(s_.jobs_running);
    json_.Key("waiting").Integer(s_.jobs_waiting);
    json_.EndObject();
    json_.Key("pods").BeginObject();
    json_.Key("created").Integer(s_.pods_created);
    json_.Key("bound").Integer(s_.pods_bound);
    json_.Key("succeeded").Integer(s_.pods_succeeded);
    json_.Key("failed").Integer(s_.pods_failed);
    json_.Key("evicted").Integer(s_.evictions);
    json_.Key("evicted_again").Integer(s_.re_evictions);
    json_.EndObject();
    json_.Key("work").BeginObject();
    json_.Key("useful_seconds").Number(Rounded(s_.useful_seconds));
    json_.Key("lost_seconds").Number(Rounded(s_.lost_seconds));
    json_.EndObject();
    json_.Key("failures").BeginObject();
    json_.Key("nodes_lost").Integer(s_.nodes_lost);
    json_.Key("binds_failed").Integer(s_.binds_failed);
    json_.Key("evictions_failed").Integer(s_.evictions_failed);
    json_.EndObject();
  }

  void Use(const std::vector<UtilisationFigure>& use) {
    json_.Key("use").BeginObject();
    for (const UtilisationFigure& figure : use) {
      json_.Key(figure.resource).BeginObject();
      json_.Key("allocatable").Number(Rounded(figure.allocatable));
      json_.Key("average").Number(Rounded(figure.used));
      json_.Key("peak").Number(Rounded(figure.peak));
      json_.Key("fraction").Number(Rounded(figure.fraction()));
      json_.EndObject();
    }
    json_.EndObject();
  }

  void Wait(const WaitFigures& wait) {
    json_.BeginObject();
    json_.Key("count").Integer(wait.over);
    const auto time = [&](const char* key, double seconds) {
      json_.Key(key);
      wait.over == 0 ? json_.Null() : json_.Number(Rounded(seconds));
    };
    time("p50", wait.p50);
    time("p95", wait.p95);
    time("p99", wait.p99);
    time("longest", wait.longest);
    json_.Key("unfinished").Integer(wait.unfinished);
    json_.Key("oldest_unfinished").Number(Rounded(wait.oldest));
    json_.EndObject();
  }

  void Optional(const char* key, const std::optional<double>& value) {
    json_.Key(key);
    value ? json_.Number(Rounded(*value)) : json_.Null();
  }

  void Queues() {
    json_.Key("queues").BeginObject();
    for (const QueueFigures& queue : s_.queues) {
      json_.Key(queue.queue).BeginObject();
      Optional("share", queue.share);
      Optional("deserved_share", queue.deserved_share);
      json_.Key("largest_share").Number(Rounded(queue.largest_share));
      json_.Key("jobs").Integer(queue.jobs);
      json_.Key("completed").Integer(queue.completed);
      json_.Key("waiting").Integer(queue.waiting);
      json_.Key("evicted").Integer(queue.evicted);
      json_.Key("evicted_for").Integer(queue.evicted_for);
      json_.Key("lost_seconds").Number(Rounded(queue.lost_seconds));
      Use(queue.use);
      json_.Key("job_wait");
      Wait(queue.job_wait);
      json_.Key("pod_wait");
      Wait(queue.pod_wait);
      json_.EndObject();
    }
    json_.EndObject();
  }

  void Evictions() {
    json_.Key("evictions").BeginArray();
    for (const EvictionFigures& figures : s_.evictions_by) {
      json_.BeginObject();
      json_.Key("action").String(figures.action);
      json_.Key("reason").String(figures.reason);
      json_.Key("pods").Integer(figures.count);
      json_.Key("lost_seconds").Number(Rounded(figures.lost_seconds));
      json_.EndObject();
    }
    json_.EndArray();
  }

  void Thrash() {
    json_.Key("thrash").BeginArray();
    for (const JobEvictions& job : s_.thrash) {
      json_.BeginObject();
      json_.Key("job").String(job.job);
      json_.Key("queue").String(job.queue);
      json_.Key("evictions").Integer(job.evictions);
      json_.Key("re_evictions").Integer(job.re_evictions);
      json_.Key("worst_pod").Integer(job.worst_place);
      json_.Key("lost_seconds").Number(Rounded(job.lost_seconds));
      json_.EndObject();
    }
    json_.EndArray();
  }

  void HeadRooms() {
    json_.Key("head_room").BeginArray();
    for (const HeadRoom& room : s_.head_room) {
      json_.BeginObject();
      json_.Key("job").String(room.job);
      json_.Key("queue").String(room.queue);
      json_.Key("floor").Integer(room.floor);
      json_.Key("floor_of").String(room.budget ? "budget" : "minAvailable");
      json_.Key("least").Integer(room.least);
      json_.Key("at_floor").Integer(room.at_floor);
      json_.Key("at").String(clock_.Rfc3339(room.at));
      json_.EndObject();
    }
    json_.EndArray();
  }

  void Drains() {
    json_.Key("drains").BeginArray();
    for (const ZoneDrain& drain : s_.drains) {
      json_.BeginObject();
      json_.Key("zone").String(drain.zone);
      json_.Key("closed").String(clock_.Rfc3339(drain.closed));
      json_.Key("end").String(ToString(drain.end));
      json_.Key("seconds").Number(Rounded(drain.seconds));
      json_.Key("evictions").Integer(drain.evictions);
      json_.Key("held").BeginArray();
      for (const DrainDelay& hold : drain.held) {
        json_.BeginObject();
        json_.Key("why").String(hold.why);
        json_.Key("seconds").Number(Rounded(hold.seconds));
        json_.Key("most_pods").Integer(hold.most_pods);
        json_.EndObject();
      }
      json_.EndArray();
      json_.EndObject();
    }
    json_.EndArray();
  }

  void Waiting() {
    json_.Key("waiting").BeginArray();
    for (const WaitingJob& job : s_.waiting) {
      json_.BeginObject();
      json_.Key("job").String(job.job);
      json_.Key("queue").String(job.queue);
      json_.Key("phase").String(job.phase);
      json_.Key("bound").Integer(job.bound);
      json_.Key("min_available").Integer(job.minimum);
      json_.Key("pods").Integer(job.pods);
      json_.Key("seconds").Number(Rounded(job.seconds));
      json_.Key("why").String(job.why);
      json_.EndObject();
    }
    json_.EndArray();
  }

  void Texts(const char* key, const std::vector<std::string>& texts) {
    json_.Key(key).BeginArray();
    for (const std::string& text : texts) json_.String(text);
    json_.EndArray();
  }

  JsonWriter& json_;
  const Summary& s_;
  LocalClock clock_;
};

}  // namespace

std::string_view ToString(ZoneDrain::End end) {
  switch (end) {
    case ZoneDrain::End::kDrained:
      return "drained";
    case ZoneDrain::End::kReopened:
      return "reopened";
    case ZoneDrain::End::kRunEnded:
      return "run-ended";
  }
  return "";
}

void WriteSummaryJson(JsonWriter& json, const Summary& summary) {
  SummaryObject(json, summary).Write();
}

std::string SummaryJson(const Summary& summary) {
  JsonWriter json;
  WriteSummaryJson(json, summary);
  return json.text();
}

}  // namespace krafla
