// The report's data: series by buckets of time, evictions with their explanations, windows.
#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <map>
#include <numeric>

#include "sim/bucket_series.h"
#include "sim/local_time.h"
#include "sim/report.h"
#include "sim/run_tracker.h"

namespace krafla {

namespace {

constexpr size_t kMostFaults = 200;
// A load as one character: 63 levels. Where no node was, there is a point.
constexpr std::string_view kLevels =
    "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789-";
constexpr char kAbsent = '.';

template <class T>
T& At(std::vector<T>& items, int32_t number, const T& fresh) {
  if (static_cast<size_t>(number) >= items.size())
    items.resize(static_cast<size_t>(number) + 1, fresh);
  return items[static_cast<size_t>(number)];
}

// "node-9" before "node-10".
bool NaturalLess(std::string_view a, std::string_view b) {
  const auto digit = [](char c) { return c >= '0' && c <= '9'; };
  const std::string_view all_a = a;
  const std::string_view all_b = b;
  while (!a.empty() && !b.empty()) {
    if (digit(a[0]) && digit(b[0])) {
      const auto take = [&](std::string_view& text) {
        while (text.size() > 1 && text[0] == '0' && digit(text[1])) text.remove_prefix(1);
        size_t length = 0;
        while (length < text.size() && digit(text[length])) ++length;
        const std::string_view number = text.substr(0, length);
        text.remove_prefix(length);
        return number;
      };
      const std::string_view x = take(a);
      const std::string_view y = take(b);
      if (x.size() != y.size()) return x.size() < y.size();
      if (x != y) return x < y;
    } else {
      if (a[0] != b[0]) return a[0] < b[0];
      a.remove_prefix(1);
      b.remove_prefix(1);
    }
  }
  if (a.empty() != b.empty()) return a.empty();
  return all_a < all_b;
}

struct KeptEviction {
  double seconds = 0;
  int32_t pod, job, queue, node, zone, action, reason, for_pod, for_job, permitted_by, text;
  int32_t priority = 0;
  int64_t lost_seconds = 0;
};

struct ZoneChange {
  double seconds = 0;
  bool open = false;
};

// Nodes that share a row of the report.
struct Row {
  std::string name;
  std::vector<int32_t> nodes;
};

}  // namespace

class ReportCollector::State {
 public:
  State(TimeZone zone, ReportLimits limits) : clock_(std::move(zone)), limits_(limits) {}

  void On(const SimEvent& event) {
    if (!begin_.Present()) begin_ = event.at;
    seconds_ = SecondsBetween(begin_, event.at);
    const TrackedStep& step = tracker_.Apply(event);
    for (const PlaceChange& place : step.places) SetLoad(place.node);
    for (const int32_t queue : step.waiting_changed)
      At(waiting_, queue, Series()).Set(tracker_.waiting_jobs(queue), seconds_);
    switch (event.kind) {
      case SimEventKind::kNodeAdded:
      case SimEventKind::kNodeLost:
        At(present_, step.node, Series()).Set(tracker_.node(step.node).present ? 1 : 0, seconds_);
        SetLoad(step.node);
        break;
      case SimEventKind::kZoneOpened:
      case SimEventKind::kZoneClosed:
        if (step.zone >= 0)
          At(zone_changes_, step.zone, {})
              .push_back({seconds_, event.kind == SimEventKind::kZoneOpened});
        break;
      case SimEventKind::kPodEvicted:
        if (step.place_evictions > 0) Keep(event);
        break;
      case SimEventKind::kQueueShare:
        if (step.queue < 0) break;
        At(shares_, step.queue, Series()).Set(event.share, seconds_);
        At(deserved_, step.queue, Series()).Set(DeservedShare(event, tracker_), seconds_);
        break;
      case SimEventKind::kFault:
        ++faults_seen_;
        if (faults_.size() < kMostFaults) faults_.emplace_back(seconds_, event.text);
        break;
      default:
        break;
    }
  }

  void WriteJson(JsonWriter& json, const Summary& summary) const {
    const double width = BucketSeries::WidthFor(seconds_, limits_.buckets);
    const Layout layout = MakeLayout();
    json.BeginObject();
    json.Key("begin").Integer(begin_.Present() ? begin_.UnixSeconds() : 0);
    json.Key("length").Number(seconds_);
    json.Key("width").Number(width);
    json.Key("levels").String(kLevels);
    Offsets(json);
    Zones(json, layout, width);
    Queues(json, summary, width);
    Evictions(json, layout);
    json.Key("faults").BeginArray();
    for (const auto& [at, text] : faults_) json.BeginArray().Number(at).String(text).EndArray();
    json.EndArray();
    Aggregated(json, layout, width);
    json.EndObject();
  }

 private:
  struct Group {
    int32_t zone = -1;
    std::string name;  // empty: nodes without a zone
    std::vector<Row> rows;
  };
  struct Layout {
    std::vector<Group> groups;
    std::vector<int32_t> row_of_node;  // over all groups
    size_t nodes_per_row = 1;
  };

  BucketSeries Series() const { return BucketSeries(limits_.buckets); }

  void SetLoad(int32_t node) {
    const TrackedNode& tracked = tracker_.node(node);
    At(loads_, node, Series()).Set(tracked.present ? tracked.Load() : 0, seconds_);
  }

  // Every `stride_`-th is kept. When there are too many, every second of those goes.
  void Keep(const SimEvent& event) {
    if (evictions_seen_++ % static_cast<int64_t>(stride_) != 0) return;
    if (evictions_.size() >= limits_.evictions) {
      for (size_t i = 0; 2 * i < evictions_.size(); ++i) evictions_[i] = evictions_[2 * i];
      evictions_.resize((evictions_.size() + 1) / 2);
      stride_ *= 2;
      if ((evictions_seen_ - 1) % static_cast<int64_t>(stride_) != 0) return;
    }
    std::string permitted;
    for (const std::string& plugin : event.permitted_by)
      permitted += (permitted.empty() ? "" : ", ") + plugin;
    evictions_.push_back({.seconds = seconds_,
                          .pod = strings_.Number(event.pod),
                          .job = strings_.Number(event.job),
                          .queue = strings_.Number(event.queue),
                          .node = strings_.Number(event.node),
                          .zone = strings_.Number(event.zone),
                          .action = strings_.Number(event.action),
                          .reason = strings_.Number(event.reason),
                          .for_pod = strings_.Number(event.for_pod),
                          .for_job = strings_.Number(event.for_job),
                          .permitted_by = strings_.Number(permitted),
                          .text = strings_.Number(Cut(event.text)),
                          .priority = event.priority,
                          .lost_seconds = event.count});
  }

  std::string Cut(const std::string& text) const {
    if (text.size() <= limits_.explanation_bytes) return text;
    size_t end = limits_.explanation_bytes;
    while (end > 0 && (static_cast<unsigned char>(text[end]) & 0xC0) == 0x80) --end;
    return text.substr(0, end) + " …";
  }

  Layout MakeLayout() const {
    std::map<std::string, std::vector<int32_t>> by_zone;
    for (int32_t node = 0; node < tracker_.nodes.size(); ++node) {
      if (static_cast<size_t>(node) >= present_.size()) break;
      const int32_t zone = tracker_.node(node).zone;
      by_zone[zone < 0 ? "" : tracker_.zones.Name(zone)].push_back(node);
    }
    Layout layout;
    const auto nodes = static_cast<size_t>(tracker_.nodes.size());
    layout.nodes_per_row = std::max<size_t>(
        1, (nodes + limits_.node_rows - 1) / std::max<size_t>(1, limits_.node_rows));
    layout.row_of_node.assign(nodes, -1);
    int32_t row_number = 0;
    for (auto& [zone, members] : by_zone) {
      std::ranges::sort(members, [&](int32_t a, int32_t b) {
        return NaturalLess(tracker_.nodes.Name(a), tracker_.nodes.Name(b));
      });
      Group group{.zone = tracker_.zones.Find(zone), .name = zone};
      for (size_t at = 0; at < members.size(); at += layout.nodes_per_row) {
        Row row;
        for (size_t i = at; i < std::min(members.size(), at + layout.nodes_per_row); ++i) {
          row.nodes.push_back(members[i]);
          layout.row_of_node[static_cast<size_t>(members[i])] = row_number;
        }
        row.name = tracker_.nodes.Name(row.nodes.front());
        if (row.nodes.size() > 1) row.name += " – " + tracker_.nodes.Name(row.nodes.back());
        ++row_number;
        group.rows.push_back(std::move(row));
      }
      layout.groups.push_back(std::move(group));
    }
    return layout;
  }

  // Where local time changes its distance to UTC: [Unix seconds, offset] pairs.
  void Offsets(JsonWriter& json) const {
    json.Key("offsets").BeginArray();
    if (begin_.Present()) {
      const int64_t end = begin_.UnixSeconds() + static_cast<int64_t>(seconds_);
      for (int64_t at = begin_.UnixSeconds(); at <= end;) {
        const TimeZone::Offset offset = clock_.zone().OffsetAt(at);
        json.BeginArray().Integer(at).Integer(offset.seconds).EndArray();
        if (offset.until <= at) break;
        at = offset.until;
      }
    }
    json.EndArray();
  }

  // The load of some nodes together, in one character per bucket.
  std::string LoadText(const std::vector<int32_t>& nodes, double width) const {
    std::vector<double> sum, weight;
    for (const int32_t node : nodes) {
      const std::vector<float> load = loads_[static_cast<size_t>(node)].Values(width, seconds_);
      const std::vector<float> present =
          present_[static_cast<size_t>(node)].Values(width, seconds_);
      sum.resize(load.size(), 0);
      weight.resize(load.size(), 0);
      for (size_t i = 0; i < load.size(); ++i) {
        sum[i] += static_cast<double>(load[i]);
        weight[i] += static_cast<double>(present[i]);
      }
    }
    std::string text(sum.size(), kAbsent);
    for (size_t i = 0; i < sum.size(); ++i) {
      // A bucket in which the nodes were hardly there says nothing about them.
      if (weight[i] < 0.5 * static_cast<double>(nodes.size()) && weight[i] < 0.5) continue;
      const double load = std::clamp(sum[i] / weight[i], 0.0, 1.0);
      text[i] =
          kLevels[static_cast<size_t>(std::lround(load * static_cast<double>(kLevels.size() - 1)))];
    }
    return text;
  }

  void Zones(JsonWriter& json, const Layout& layout, double width) const {
    json.Key("zones").BeginArray();
    for (const Group& group : layout.groups) {
      json.BeginObject();
      json.Key("name").String(group.name);
      std::vector<int32_t> members;
      for (const Row& row : group.rows)
        members.insert(members.end(), row.nodes.begin(), row.nodes.end());
      json.Key("nodes").Integer(static_cast<int64_t>(members.size()));
      json.Key("load").String(LoadText(members, width));
      json.Key("closed");
      Closed(json, group.zone);
      json.Key("rows").BeginArray();
      for (const Row& row : group.rows)
        json.BeginArray().String(row.name).String(LoadText(row.nodes, width)).EndArray();
      json.EndArray();
      json.EndObject();
    }
    json.EndArray();
  }

  // Before the first change a zone was what it changes from.
  void Closed(JsonWriter& json, int32_t zone) const {
    json.BeginArray();
    if (zone >= 0 && static_cast<size_t>(zone) < zone_changes_.size()) {
      double closed_since = 0;
      bool closed = false;
      const auto& changes = zone_changes_[static_cast<size_t>(zone)];
      if (!changes.empty()) closed = changes.front().open;
      for (const ZoneChange& change : changes) {
        if (change.open && closed && change.seconds > closed_since)
          json.BeginArray().Number(closed_since).Number(change.seconds).EndArray();
        if (!change.open && !closed) closed_since = change.seconds;
        closed = !change.open;
      }
      if (closed && closed_since < seconds_)
        json.BeginArray().Number(closed_since).Number(seconds_).EndArray();
    }
    json.EndArray();
  }

  static void Numbers(JsonWriter& json, const std::vector<float>& values) {
    json.BeginArray();
    for (const float value : values)
      json.Number(std::round(static_cast<double>(value) * 1000) / 1000);
    json.EndArray();
  }

  // The largest queues by share and jobs, at most as many as there is room for; then by name.
  std::vector<int32_t> ShownQueues(const Summary& summary) const {
    std::vector<const QueueFigures*> queues;
    for (const QueueFigures& queue : summary.queues) queues.push_back(&queue);
    std::ranges::stable_sort(queues, std::greater<>(), [](const QueueFigures* queue) {
      return std::pair(queue->share.value_or(0), queue->jobs);
    });
    if (queues.size() > limits_.queues) queues.resize(limits_.queues);
    std::ranges::sort(queues, {}, &QueueFigures::queue);
    std::vector<int32_t> numbers;
    for (const QueueFigures* queue : queues)
      if (const int32_t number = tracker_.queues.Find(queue->queue); number >= 0)
        numbers.push_back(number);
    return numbers;
  }

  void Queues(JsonWriter& json, const Summary& summary, double width) const {
    const auto values = [&](const std::vector<BucketSeries>& all, int32_t queue) {
      const BucketSeries fresh = Series();
      const auto index = static_cast<size_t>(queue);
      return (index < all.size() ? all[index] : fresh).Values(width, seconds_);
    };
    json.Key("queues").BeginArray();
    for (const int32_t queue : ShownQueues(summary)) {
      json.BeginObject();
      json.Key("name").String(tracker_.queues.Name(queue));
      json.Key("share");
      Numbers(json, values(shares_, queue));
      json.Key("deserved");
      Numbers(json, values(deserved_, queue));
      json.Key("waiting");
      Numbers(json, values(waiting_, queue));
      json.EndObject();
    }
    json.EndArray();
  }

  void Evictions(JsonWriter& json, const Layout& layout) const {
    json.Key("strings").BeginArray();
    for (int32_t i = 0; i < strings_.size(); ++i) json.String(strings_.Name(i));
    json.EndArray();
    json.Key("evictions").BeginArray();
    for (const KeptEviction& e : evictions_) {
      const int32_t node = tracker_.nodes.Find(strings_.Name(e.node));
      json.BeginArray();
      json.Number(e.seconds);
      for (const int32_t text : {e.pod, e.job, e.queue, e.node, e.zone, e.action, e.reason,
                                 e.for_pod, e.for_job, e.permitted_by, e.text})
        json.Integer(text);
      json.Integer(e.priority).Integer(e.lost_seconds);
      json.Integer(node < 0 ? -1 : layout.row_of_node[static_cast<size_t>(node)]);
      json.EndArray();
    }
    json.EndArray();
    json.Key("evictionsSeen").Integer(evictions_seen_);
  }

  void Aggregated(JsonWriter& json, const Layout& layout, double width) const {
    json.Key("aggregated").BeginArray();
    json.String(fmt::format("Every series is an average over {}.", DurationText(width)));
    if (layout.nodes_per_row > 1)
      json.String(fmt::format("{} nodes: each row of the timeline is the average of {} of them.",
                              tracker_.nodes.size(), layout.nodes_per_row));
    if (stride_ > 1)
      json.String(
          fmt::format("{} evictions: one in {} is marked and listed, {} in all. Figures and "
                      "counts are of all.",
                      evictions_seen_, stride_, evictions_.size()));
    if (static_cast<size_t>(tracker_.queues.size()) > limits_.queues)
      json.String(fmt::format("{} queues: charts show the {} with the largest shares.",
                              tracker_.queues.size(), limits_.queues));
    if (faults_seen_ > faults_.size())
      json.String(fmt::format("{} faults: the first {} are marked.", faults_seen_, faults_.size()));
    json.EndArray();
  }

  LocalClock clock_;
  ReportLimits limits_;
  RunTracker tracker_;
  Timestamp begin_;
  double seconds_ = 0;                                     // since then
  std::vector<BucketSeries> loads_, present_;              // by node
  std::vector<BucketSeries> shares_, deserved_, waiting_;  // by queue
  std::vector<std::vector<ZoneChange>> zone_changes_;      // by zone
  NameNumbers strings_;
  std::vector<KeptEviction> evictions_;
  size_t stride_ = 1;
  int64_t evictions_seen_ = 0;
  std::vector<std::pair<double, std::string>> faults_;
  size_t faults_seen_ = 0;
};

ReportCollector::ReportCollector(TimeZone zone, ReportLimits limits)
    : state_(std::make_unique<State>(std::move(zone), limits)) {}
ReportCollector::~ReportCollector() = default;
void ReportCollector::On(const SimEvent& event) {
  state_->On(event);
}
void ReportCollector::WriteJson(JsonWriter& json, const Summary& summary) const {
  state_->WriteJson(json, summary);
}

}  // namespace krafla
