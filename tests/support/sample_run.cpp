#include "support/sample_run.h"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <map>
#include <random>
#include <set>

#include "base/check.h"

namespace krafla::testing {

namespace {

constexpr int kMinutesPerDay = 24 * 60;
constexpr int kTriesPerMinute = 10;  // jobs that find no room, so that long runs stay quick
constexpr double kGi = 1024.0 * 1024 * 1024;
constexpr std::array<const char*, 3> kQueues = {"batch", "production", "research"};
constexpr std::array<double, 3> kWeights = {0.25, 0.45, 0.30};

struct SampleNode {
  std::string name, zone;
  double cpu = 32, memory = 128 * kGi;
  double free_cpu = 32, free_memory = 128 * kGi;
  bool present = true;
};

struct SamplePod {
  std::string name;
  int node = -1;
  int ends = -1;  // minute; -1: not running
  int started = 0;
  int gone = -1;  // minute at which an evicted one is gone
  bool created = false, done = false, again = false;
};

struct SampleJob {
  std::string name;
  int queue = 0, priority = 0, minimum = 1, minutes = 60;
  double cpu = 4, memory = 8 * kGi;
  bool zones = false;  // may use them
  bool ready = false, completed = false;
  std::vector<SamplePod> pods;
};

class World {
 public:
  World(const SampleRunOptions& options, SimObserver& observer)
      : o_(options), observer_(observer), random_(options.seed) {}

  void Run() {
    Tell({.kind = SimEventKind::kRunBegins,
          .text = o_.days == 1 ? "a made-up day in a shared cluster"
                               : "made-up days in a shared cluster",
          .count = static_cast<int64_t>(o_.seed)});
    for (int i = 0; i < o_.plain_nodes; ++i) AddNode(fmt::format("node-{:03}", i + 1), "");
    for (int i = 0; i < o_.rz1_nodes; ++i) AddNode(fmt::format("rz1-{:03}", i + 1), "rz1");
    for (int i = 0; i < o_.rz2_nodes; ++i) AddNode(fmt::format("rz2-{:03}", i + 1), "rz2");
    for (const char* zone : {"rz1", "rz2"}) Tell({.kind = SimEventKind::kZoneClosed, .zone = zone});
    for (const char* zone : {"rz1", "rz2"})
      Tell({.kind = SimEventKind::kZoneDrained, .zone = zone});
    for (minute_ = 0; minute_ < o_.days * kMinutesPerDay; ++minute_) Minute();
    Tell({.kind = SimEventKind::kRunEnds});
  }

 private:
  void Tell(SimEvent event, int second = 0) {
    event.at = SampleStart();
    event.at.ns += (minute_ * 60LL + second) * Timestamp::kNsPerSecond;
    observer_.On(event);
  }

  // The standard says what an engine yields, not what a distribution does with it.
  double Random() { return static_cast<double>(random_() >> 11) / 9007199254740992.0; }
  int Between(int low, int high) { return low + static_cast<int>(Random() * (high - low + 1)); }

  void AddNode(const std::string& name, const std::string& zone) {
    if (std::ranges::find(nodes_, name, &SampleNode::name) == nodes_.end())
      nodes_.push_back({.name = name, .zone = zone});
    Tell({.kind = SimEventKind::kNodeAdded,
          .node = name,
          .zone = zone,
          .amounts = {{"cpu", 32}, {"memory", 128 * kGi}, {"pods", 110}}});
  }

  bool Open(const std::string& zone) const {
    const int now = minute_ % kMinutesPerDay;
    if (zone == "rz1") return now >= 8 * 60 && now < 21 * 60;
    if (zone == "rz2") return now >= 10 * 60 && now < 18 * 60;
    return true;
  }

  void Minute() {
    const int now = minute_ % kMinutesPerDay;
    EndPods();
    Windows(now);
    Faults(now);
    if (Random() < o_.jobs_per_hour / 60) SubmitAny(now);
    if (now == 12 * 60)
      Submit(minute_ < kMinutesPerDay ? "urgent" : fmt::format("urgent-{}", minute_), 1, 1000, 8, 8,
             45, false);
    Drain(now);
    Schedule();
    if (minute_ % 5 == 0) Shares();
  }

  void EndPods() {
    for (SampleJob& job : jobs_) {
      for (SamplePod& pod : job.pods) {
        if (pod.gone >= 0 && pod.gone <= minute_) {
          Tell(About(SimEventKind::kPodGone, job, pod));
          Free(job, pod);
          pod.gone = -1;
          pod.created = false;
          pod.again = true;
        } else if (pod.gone < 0 && pod.ends >= 0 && pod.ends <= minute_) {
          Tell(About(SimEventKind::kPodSucceeded, job, pod));
          Free(job, pod);
          pod.done = true;
          pod.ends = -1;
        }
      }
      if (std::ranges::all_of(job.pods, &SamplePod::done)) {
        job.completed = true;
        Tell({.kind = SimEventKind::kJobPhase, .job = job.name, .text = "Completed"});
        Tell({.kind = SimEventKind::kJobCompleted, .job = job.name});
      }
    }
    std::erase_if(jobs_, [](const SampleJob& job) { return job.completed; });
  }

  SimEvent About(SimEventKind kind, const SampleJob& job, const SamplePod& pod) const {
    return {.kind = kind,
            .pod = pod.name,
            .job = job.name,
            .queue = kQueues[static_cast<size_t>(job.queue)],
            .node = pod.node >= 0 ? nodes_[static_cast<size_t>(pod.node)].name : "",
            .zone = pod.node >= 0 ? nodes_[static_cast<size_t>(pod.node)].zone : ""};
  }

  void Free(const SampleJob& job, SamplePod& pod) {
    SampleNode& node = nodes_[static_cast<size_t>(pod.node)];
    node.free_cpu += job.cpu;
    node.free_memory += job.memory;
    pod.node = -1;
  }

  void Windows(int now) {
    const auto change = [&](const char* zone, int opens, int closes) {
      if (now == opens * 60) Tell({.kind = SimEventKind::kZoneOpened, .zone = zone});
      if (now != closes * 60) return;
      Tell({.kind = SimEventKind::kZoneClosed, .zone = zone});
      closed_at_[zone] = minute_;
    };
    change("rz1", 8, 21);
    change("rz2", 10, 18);
  }

  void Faults(int now) {
    if (now == 15 * 60 + 30 && o_.plain_nodes > 2) {
      Tell({.kind = SimEventKind::kFault, .text = "node node-002 is lost for 45m"});
      Tell({.kind = SimEventKind::kNodeLost, .node = "node-002"});
      nodes_[1].present = false;
      for (SampleJob& job : jobs_)
        for (SamplePod& pod : job.pods)
          if (pod.node == 1) {
            SimEvent event = About(SimEventKind::kPodFailed, job, pod);
            event.text = "node lost";
            Tell(event);
            Free(job, pod);
            pod.ends = pod.gone = -1;
            pod.created = false;
            pod.again = true;
          }
    }
    if (now == 16 * 60 + 15 && o_.plain_nodes > 2) {
      nodes_[1].present = true;
      AddNode("node-002", "");
    }
  }

  void SubmitAny(int now) {
    const bool afternoon = now >= 13 * 60 && now < 17 * 60;
    const int queue = afternoon ? Between(1, 2) : Between(0, 2);
    const int pods = Between(1, o_.pods_per_job);
    const bool zones = Random() < 0.6;
    Submit(
        fmt::format("{}-{}", std::array{"etl", "serve-test", "train"}[static_cast<size_t>(queue)],
                    ++number_),
        queue, 10 * Between(0, 3), pods, std::max(1, pods / 2), Between(15, o_.max_minutes), zones);
  }

  void Submit(const std::string& name, int queue, int priority, int pods, int minimum, int minutes,
              bool zones) {
    SampleJob job{.name = fmt::format("team-{}/{}",
                                      std::array{"a", "b", "c"}[static_cast<size_t>(queue)], name),
                  .queue = queue,
                  .priority = priority,
                  .minimum = minimum,
                  .minutes = minutes,
                  .cpu = static_cast<double>(4 * Between(1, 3)),
                  .zones = zones};
    job.memory = job.cpu * Between(2, 5) * kGi;
    if (std::ranges::find(jobs_, job.name, &SampleJob::name) != jobs_.end()) return;
    for (int i = 0; i < pods; ++i) job.pods.push_back({.name = fmt::format("{}-{}", job.name, i)});
    Tell({.kind = SimEventKind::kJobSubmitted,
          .job = job.name,
          .queue = kQueues[static_cast<size_t>(queue)],
          .priority = priority,
          .minimum = minimum,
          .count = pods,
          .budget_floor = zones && pods > 3 ? pods - 2 : -1});
    Tell({.kind = SimEventKind::kJobPhase, .job = job.name, .text = "Pending"});
    jobs_.push_back(std::move(job));
  }

  int NodeFor(const SampleJob& job) const {
    for (int round = 0; round < 2; ++round)
      for (size_t n = 0; n < nodes_.size(); ++n) {
        const SampleNode& node = nodes_[n];
        const bool in_zone = !node.zone.empty();
        if (in_zone != ((round == 0) == o_.prefers_zones)) continue;
        if (!node.present || (in_zone && (!job.zones || !Open(node.zone)))) continue;
        if (node.free_cpu >= job.cpu && node.free_memory >= job.memory) return static_cast<int>(n);
      }
    return -1;
  }

  void Bind(SampleJob& job, SamplePod& pod, int node, const char* action) {
    pod.node = node;
    pod.started = minute_;
    pod.ends = minute_ + job.minutes;
    nodes_[static_cast<size_t>(node)].free_cpu -= job.cpu;
    nodes_[static_cast<size_t>(node)].free_memory -= job.memory;
    SimEvent event = About(SimEventKind::kPodBound, job, pod);
    event.action = action;
    Tell(event, 1);
    Tell(About(SimEventKind::kPodStarted, job, pod), 2);
  }

  void Schedule() {
    std::vector<size_t> order;
    for (size_t j = 0; j < jobs_.size(); ++j) order.push_back(j);
    std::ranges::stable_sort(order, std::greater<>(), [&](size_t j) { return jobs_[j].priority; });
    int tries = kTriesPerMinute;
    for (const size_t j : order) tries -= Schedule(jobs_[j], tries > 0);
  }

  // Whether it still waits. Without `try_it` its pods are made but not placed.
  bool Schedule(SampleJob& job, bool try_it) {
    for (SamplePod& pod : job.pods) {
      if (pod.created || pod.done) continue;
      pod.created = true;
      SimEvent event = About(SimEventKind::kPodCreated, job, pod);
      event.priority = job.priority;
      event.count = pod.again ? 1 : 0;
      event.amounts = {{"cpu", job.cpu}, {"memory", job.memory}};
      Tell(event, 0);
    }
    bool pending = false;
    for (SamplePod& pod : job.pods) {
      if (pod.node >= 0 || pod.done) continue;
      // One that finds no room is enough to know about the others.
      const int node = pending || !try_it ? -1 : NodeFor(job);
      if (node >= 0) {
        Bind(job, pod, node, "allocate");
      } else {
        if (!pending && try_it && job.priority >= 20 && Between(0, 9) < 3) MakeRoom(job, pod);
        pending = true;
      }
    }
    if (pending && !waiting_.contains(job.name)) {
      waiting_.insert(job.name);
      Tell({.kind = SimEventKind::kJobWaiting,
            .job = job.name,
            .text = fmt::format("{}/{} nodes are unavailable: {} Insufficient cpu.", nodes_.size(),
                                nodes_.size(), nodes_.size())},
           3);
    }
    return pending;
  }

  void MakeRoom(const SampleJob& taker, const SamplePod& pod) {
    for (SampleJob& job : jobs_) {
      if (job.priority >= taker.priority || job.cpu < taker.cpu) continue;
      for (SamplePod& victim : job.pods) {
        if (victim.node < 0 || victim.gone >= 0 || victim.ends < 0) continue;
        const bool reclaim = job.queue != taker.queue;
        Evict(job, victim, reclaim ? "reclaim" : "preempt", reclaim ? "reclaim" : "priority",
              &taker, &pod);
        return;
      }
    }
  }

  void Evict(SampleJob& job, SamplePod& pod, const char* action, const char* reason,
             const SampleJob* taker, const SamplePod* for_pod) {
    SimEvent event = About(SimEventKind::kPodEvicted, job, pod);
    event.action = action;
    event.reason = reason;
    event.priority = job.priority;
    event.count = (minute_ - pod.started) * 60;
    if (taker != nullptr) {
      event.for_pod = for_pod->name;
      event.for_job = taker->name;
      event.permitted_by = {"priority", "gang"};
      event.text = fmt::format(
          "Evicted by {} for {} (priority {} over {}), allowed by priority and gang. On {} two "
          "others were candidates: one is in its cooldown for 3m12s, one belongs to a gang at its "
          "minimum <{}>.",
          action, for_pod->name, taker->priority, job.priority, event.node, job.minimum);
      SimEvent pipelined = About(SimEventKind::kPodPipelined, *taker, *for_pod);
      pipelined.node = event.node;
      Tell(event, 2);
      Tell(pipelined, 2);
    } else {
      event.permitted_by = {"tdm"};
      event.text = fmt::format(
          "Evicted by {}: zone {} is closed. The job's budget lets 2 go at a "
          "time.",
          action, event.zone);
      Tell(event, 2);
    }
    pod.gone = minute_ + 1;
    pod.ends = -1;
  }

  void Drain(int now) {
    for (const std::string zone : {"rz1", "rz2"}) {
      const auto closed = closed_at_.find(zone);
      if (closed == closed_at_.end() || Open(zone)) continue;
      int left = 0;
      for (const SampleJob& job : jobs_)
        for (const SamplePod& pod : job.pods)
          left += pod.node >= 0 && nodes_[static_cast<size_t>(pod.node)].zone == zone;
      if (left == 0) {
        Tell({.kind = SimEventKind::kZoneDrained,
              .zone = zone,
              .count = (minute_ - closed->second) * 60});
        closed_at_.erase(closed);
        continue;
      }
      if (now % 4 != 0) continue;
      std::string held;
      int stay = 0;
      for (SampleJob& job : jobs_) {
        int may_go = 2;
        for (SamplePod& pod : job.pods) {
          if (pod.node < 0 || pod.gone >= 0) continue;
          if (nodes_[static_cast<size_t>(pod.node)].zone != zone) continue;
          if (may_go-- > 0) {
            Evict(job, pod, now % 8 == 0 ? "shuffle" : "preempt", "zone-closed", nullptr, nullptr);
          } else {
            ++stay;
            held = fmt::format("the budget of {} lets 2 pods go at a time", job.name);
          }
        }
      }
      if (stay > 0)
        Tell({.kind = SimEventKind::kDrainHeld, .zone = zone, .text = held, .count = stay}, 3);
    }
  }

  void Shares() {
    double cpu = 0;
    double memory = 0;
    for (const SampleNode& node : nodes_)
      if (node.present) {
        cpu += node.cpu;
        memory += node.memory;
      }
    for (int q = 0; q < 3; ++q) {
      AmountMap held = {{"cpu", 0}, {"memory", 0}};
      bool waits = false;
      for (const SampleJob& job : jobs_)
        if (job.queue == q)
          for (const SamplePod& pod : job.pods) {
            if (pod.node >= 0 && pod.gone < 0) {
              held["cpu"] += job.cpu;
              held["memory"] += job.memory;
            }
            waits |= pod.node < 0 && !pod.done;
          }
      if (held == last_held_[q]) continue;
      last_held_[q] = held;
      const double weight = kWeights[static_cast<size_t>(q)] * (waits ? 1.15 : 1);
      Tell({.kind = SimEventKind::kQueueShare,
            .queue = kQueues[static_cast<size_t>(q)],
            .share = std::max(held["cpu"] / cpu, held["memory"] / memory),
            .amounts = held,
            .deserved = {{"cpu", cpu * weight}, {"memory", memory * weight}}},
           4);
    }
  }

  SampleRunOptions o_;
  SimObserver& observer_;
  std::mt19937_64 random_;
  std::vector<SampleNode> nodes_;
  std::vector<SampleJob> jobs_;
  std::map<std::string, int> closed_at_;
  std::map<int, AmountMap> last_held_;
  std::set<std::string> waiting_;
  int minute_ = 0;
  int number_ = 0;
};

}  // namespace

Timestamp SampleStart() {
  return Timestamp::FromUnixSeconds(1'773'590'400);
}

TimeZone SampleZone() {
  auto zone = FindTimeZone("Asia/Shanghai");
  KRAFLA_CHECK(zone.has_value());
  return *zone;
}

void SampleRun(const SampleRunOptions& options, SimObserver& observer) {
  World(options, observer).Run();
}

}  // namespace krafla::testing
