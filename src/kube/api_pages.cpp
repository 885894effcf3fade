#include "kube/api_pages.h"

#include <algorithm>
#include <charconv>

#include <fmt/format.h>

#include "base/did_you_mean.h"
#include "base/json_writer.h"
#include "kube/page_task.h"

namespace krafla {

namespace {

constexpr std::string_view kRoot = "/api/v1/";
constexpr size_t kMostRows = 100'000;
constexpr std::chrono::milliseconds kViewTime{20'000};
constexpr std::chrono::milliseconds kViewPatience{22'000};
constexpr int kRetryAfterSeconds = 2;
// A state that does not change is looked at again all the same: windows open and close.
constexpr int64_t kOldestViewNs = 10 * Timestamp::kNsPerSecond;

ApiAnswer ErrorAnswer(int status, const std::string& message,
                      std::optional<int> retry_after_s = {}) {
  JsonWriter json;
  json.BeginObject().Key("error").String(message);
  if (status == 404 || status == 405) {
    json.Key("pages").BeginArray();
    for (const std::string_view path : kApiPaths) json.String(path);
    json.EndArray();
  }
  json.EndObject();
  return {.status = status, .body = json.text() + "\n", .retry_after_s = retry_after_s};
}

std::string Parameter(const ApiRequest& request, const std::string& name) {
  const auto it = request.parameters.find(name);
  return it == request.parameters.end() ? std::string() : it->second;
}

// "evicted by preempt for a/b (…), in cycle 12 at …": the last time a pod of that name was; empty:
// it is not known to have been.
std::string LastEviction(const std::string& pod,
                         const std::vector<StateKeeper::PastEviction>& newest_first) {
  for (const StateKeeper::PastEviction& past : newest_first)
    if (past.what.pod == pod && !past.refused)
      return fmt::format("{}, in cycle {} at {}", past.what.message, past.cycle,
                         FormatRfc3339(past.at));
  return {};
}

// The error's sentence; empty: all are known.
std::string UnknownParameter(const ApiRequest& request,
                             std::initializer_list<std::string_view> known) {
  const std::vector<std::string_view> names(known);
  for (const auto& [name, value] : request.parameters) {
    if (std::find(names.begin(), names.end(), name) != names.end()) continue;
    return fmt::format("unknown parameter {}{}", Quoted(name), DidYouMeanHint(name, names));
  }
  return {};
}

Result<size_t> LimitOf(const ApiRequest& request, size_t fallback) {
  const std::string text = Parameter(request, "limit");
  if (text.empty()) return fallback;
  size_t limit = 0;
  const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), limit);
  if (error != std::errc{} || end != text.data() + text.size() || limit == 0 || limit > kMostRows)
    return Fail(
        fmt::format("limit: expected a number from 1 to {}, got {}", kMostRows, Quoted(text)));
  return limit;
}

void WriteTime(JsonWriter& json, std::string_view name, Timestamp at) {
  json.Key(name).String(fmt::format(
      "{}.{:09}Z", FormatRfc3339(at).substr(0, 19),
      ((at.ns % Timestamp::kNsPerSecond) + Timestamp::kNsPerSecond) % Timestamp::kNsPerSecond));
}

// Rows, how many there are beyond the limit, and what is said beside them.
class RowWriter {
 public:
  RowWriter(std::string_view name, size_t limit) : limit_(limit) {
    json_.BeginObject().Key(name).BeginArray();
  }
  template <class Write>
  void Add(Write&& write) {
    if (rows_ >= limit_) {
      ++left_out_;
      return;
    }
    ++rows_;
    write(json_);
  }
  // What follows belongs to the page as a whole.
  JsonWriter& EndRows() {
    return json_.EndArray().Key("leftOut").Integer(static_cast<int64_t>(left_out_));
  }
  ApiAnswer Finish() {
    json_.EndObject();
    return {.body = json_.text() + "\n"};
  }

 private:
  JsonWriter json_;
  size_t limit_;
  size_t rows_ = 0;
  size_t left_out_ = 0;
};

// A page process that did its work and found a reason not to answer counts as one that failed.
Result<ClusterView> ViewOf(const PageOutcome& outcome) {
  if (outcome.what != PageOutcome::What::kDone)
    return Fail(fmt::format("the page could not be made: {}", outcome.message));
  if (outcome.result.what != PageResult::What::kView)
    return Fail(fmt::format("the page could not be made: {}", outcome.result.body));
  return ReadView(outcome.result.body);
}

std::string_view NamespaceIn(std::string_view key) {
  const size_t slash = key.find('/');
  return slash == std::string_view::npos ? std::string_view{} : key.substr(0, slash);
}

}  // namespace

ApiPages::ApiPages(const StateKeeper& keeper, Options options)
    : keeper_(keeper), options_(std::move(options)) {}

void ApiPages::Stop() {
  stopping_ = true;
  viewing_.Stop();
}

ApiAnswer ApiPages::Answer(const ApiRequest& request) {
  if (request.method != "GET" && request.method != "HEAD")
    return ErrorAnswer(
        405, fmt::format("{} is not possible: everything here is read-only", request.method));
  std::string_view path = request.path;
  std::string_view page;
  if (path.starts_with(kRoot)) page = path.substr(kRoot.size());
  if (page == "evictions") return Evictions(request);
  if (page == "cycles") return Cycles(request);
  const bool known =
      std::find(std::begin(kApiPaths), std::end(kApiPaths), path) != std::end(kApiPaths);
  if (!known) return ErrorAnswer(404, fmt::format("there is no page {}", Quoted(request.path)));
  if (!options_.ready()) return ErrorAnswer(503, "not ready: not yet in step with the cluster", 1);
  if (page == "queues") return Rows(request, &ClusterView::queues);
  if (page == "jobs") return Rows(request, &ClusterView::jobs);
  if (page == "zones") return Rows(request, &ClusterView::zones);
  return Explain(request);
}

Result<std::shared_ptr<const ClusterView>> ApiPages::View() {
  const auto fresh = [&]() -> std::shared_ptr<const ClusterView> {
    const std::scoped_lock lock(mutex_);
    if (view_ == nullptr) return nullptr;
    const int64_t age_ns = options_.now().ns - view_->at.ns;
    if (age_ns < 0) return nullptr;  // the clock was set back
    const int64_t least_ns = std::chrono::nanoseconds(options_.view_age).count();
    if (age_ns < least_ns) return view_;
    return age_ns < kOldestViewNs && view_->version == keeper_.version() ? view_ : nullptr;
  };
  if (auto view = fresh()) return view;
  struct Made {
    std::shared_ptr<const ClusterView> view;
    std::string problem;
  };
  auto made = std::make_shared<Made>();  // outlives a request that waits no longer
  const Result<bool> done = viewing_.Run("a page", kViewPatience, [this, made, fresh] {
    // A request that waited behind another one finds it made.
    if ((made->view = fresh())) return;
    StateKeeper::Snapshot state = keeper_.Copy();
    const uint64_t version = state.version;
    PageTask task{.what = PageTask::What::kView, .now = options_.now()};
    for (const StateKeeper::PastEviction& past : state.evictions)
      if (!past.refused) task.losses.push_back({past.what.job, past.at, past.what.for_other});
    const PageOutcome outcome = options_.run(task, PageInput(task, options_.head, std::move(state)),
                                             kViewTime, [this] { return stopping_.load(); });
    Result<ClusterView> view = ViewOf(outcome);
    if (!view) {
      made->problem = view.error().message;
      return;
    }
    view->version = version;
    view->at = task.now;
    made->view = std::make_shared<const ClusterView>(std::move(*view));
    const std::scoped_lock lock(mutex_);
    view_ = made->view;
  });
  if (!done) return Fail(done.error().message);
  if (made->view == nullptr) return Fail(made->problem);
  return made->view;
}

ApiAnswer ApiPages::Rows(const ApiRequest& request, std::vector<ViewRow> ClusterView::* rows) {
  const bool jobs = rows == &ClusterView::jobs;
  const bool queues = rows == &ClusterView::queues;
  const std::string unknown = jobs     ? UnknownParameter(request, {"namespace", "queue", "limit"})
                              : queues ? UnknownParameter(request, {"queue", "limit"})
                                       : UnknownParameter(request, {"limit"});
  if (!unknown.empty()) return ErrorAnswer(400, unknown);
  const Result<size_t> limit = LimitOf(request, 500);
  if (!limit) return ErrorAnswer(400, limit.error().message);
  const Result<std::shared_ptr<const ClusterView>> view = View();
  if (!view) return ErrorAnswer(503, view.error().message, kRetryAfterSeconds);
  const std::string ns = Parameter(request, "namespace");
  const std::string queue = Parameter(request, "queue");
  RowWriter writer(jobs ? "jobs" : queues ? "queues" : "zones", *limit);
  for (const ViewRow& row : (**view).*rows)
    if ((ns.empty() || row.ns == ns) && (queue.empty() || row.queue == queue))
      writer.Add([&](JsonWriter& json) { json.Raw(row.json); });
  JsonWriter& json = writer.EndRows();
  WriteTime(json, "at", (*view)->at);
  WriteLeadership(json, !jobs);
  return writer.Finish();
}

void ApiPages::WriteLeadership(JsonWriter& json, bool knows_decisions) const {
  if (!leadership_) return;
  const Leadership now = leadership_();
  json.Key("leading").Bool(now.leads).Key("leader");
  if (now.leader.empty()) {
    json.Null();
  } else {
    json.String(now.leader);
  }
  if (now.leads || knows_decisions) return;
  json.Key("note").String(
      "this replica does not lead: evictions and cycles are shown by the one that does");
}

// Of a pod that is not there: it may have been evicted all the same.
std::string ApiPages::WhoElseMayKnow() const {
  if (!leadership_) return "; evictions before this process began are not known here";
  const Leadership now = leadership_();
  if (now.leads) return "; evictions before this process began to lead are not known here";
  return fmt::format("; this replica does not lead: evictions are known to the one that does{}",
                     now.leader.empty() ? std::string() : fmt::format(", {}", now.leader));
}

ApiAnswer ApiPages::Evictions(const ApiRequest& request) const {
  const std::string unknown = UnknownParameter(request, {"namespace", "queue", "limit"});
  if (!unknown.empty()) return ErrorAnswer(400, unknown);
  const Result<size_t> limit = LimitOf(request, 100);
  if (!limit) return ErrorAnswer(400, limit.error().message);
  const std::string ns = Parameter(request, "namespace");
  const std::string queue = Parameter(request, "queue");
  RowWriter writer("evictions", *limit);
  for (const StateKeeper::PastEviction& past : keeper_.Evictions()) {
    const RecordedEviction& eviction = past.what;
    if ((!ns.empty() && NamespaceIn(eviction.pod) != ns) ||
        (!queue.empty() && eviction.queue != queue))
      continue;
    writer.Add([&](JsonWriter& json) {
      json.BeginObject();
      WriteTime(json, "at", past.at);
      json.Key("cycle").Integer(static_cast<int64_t>(past.cycle));
      json.Key("pod").String(eviction.pod);
      json.Key("queue").String(eviction.queue);
      json.Key("node").String(eviction.node);
      json.Key("action").String(eviction.action);
      json.Key("for");
      if (eviction.for_pod.empty()) {
        json.Null();
      } else {
        json.String(eviction.for_pod);
      }
      json.Key("refused").Bool(past.refused);
      json.Key("reason").String(eviction.reason);
      json.Key("allowedBy").String(eviction.allowed_by);
      json.Key("message").String(eviction.message);
      json.EndObject();
    });
  }
  WriteLeadership(writer.EndRows(), false);
  return writer.Finish();
}

ApiAnswer ApiPages::Cycles(const ApiRequest& request) const {
  if (const std::string unknown = UnknownParameter(request, {"limit"}); !unknown.empty())
    return ErrorAnswer(400, unknown);
  const Result<size_t> limit = LimitOf(request, 100);
  if (!limit) return ErrorAnswer(400, limit.error().message);
  RowWriter writer("cycles", *limit);
  for (const StateKeeper::CycleSummary& cycle : keeper_.Cycles())
    writer.Add([&](JsonWriter& json) {
      json.BeginObject();
      json.Key("number").Integer(static_cast<int64_t>(cycle.number));
      WriteTime(json, "at", cycle.at);
      json.Key("ms").Number(cycle.wall_ms);
      json.Key("steps").BeginArray();
      for (const auto& [step, ms] : cycle.steps_ms)
        json.BeginObject().Key("name").String(step).Key("ms").Number(ms).EndObject();
      json.EndArray();
      json.Key("binds").Integer(static_cast<int64_t>(cycle.binds));
      json.Key("evictions").Integer(static_cast<int64_t>(cycle.evictions));
      json.Key("phaseChanges").Integer(static_cast<int64_t>(cycle.phases));
      json.Key("waitingPods").Integer(cycle.waiting_pods);
      json.EndObject();
    });
  WriteLeadership(writer.EndRows(), false);
  return writer.Finish();
}

ApiAnswer ApiPages::Explain(const ApiRequest& request) {
  if (const std::string unknown = UnknownParameter(request, {"kind", "name", "as"});
      !unknown.empty())
    return ErrorAnswer(400, unknown);
  const std::string kind = Parameter(request, "kind");
  const std::string name = Parameter(request, "name");
  std::string as = Parameter(request, "as");
  if (as.empty()) as = "json";
  static constexpr std::string_view kKinds[] = {"job", "pod", "queue", "zone"};
  if (std::find(std::begin(kKinds), std::end(kKinds), kind) == std::end(kKinds)) {
    const auto near = DidYouMean(kind, kKinds);
    return ErrorAnswer(
        400, fmt::format("kind: expected job, pod, queue or zone, got {}{}", Quoted(kind),
                         near ? fmt::format("; did you mean {}?", Quoted(*near)) : std::string()));
  }
  if (name.empty()) return ErrorAnswer(400, "name: missing");
  if (as != "json" && as != "text" && as != "color")
    return ErrorAnswer(400, fmt::format("as: expected json, text or color, got {}", Quoted(as)));

  if (stopping_) return ErrorAnswer(503, "about to stop", kRetryAfterSeconds);
  StateKeeper::Snapshot state = keeper_.Copy();
  PageTask task{.what = PageTask::What::kExplain,
                .now = options_.now(),
                .kind = kind,
                .name = name,
                .as = as,
                .search_time = options_.explain_time};
  if (kind == "pod") task.evicted = LastEviction(name, state.evictions);
  PageOutcome outcome = options_.run(
      task, PageInput(task, options_.head, std::move(state)), 2 * options_.explain_time,
      [this, &request] { return stopping_ || (request.given_up && request.given_up()); });
  switch (outcome.what) {
    case PageOutcome::What::kDone:
      break;
    case PageOutcome::What::kFailed:
    case PageOutcome::What::kOutOfMemory:
      return ErrorAnswer(500, fmt::format("explaining {} {} failed: {}; the scheduler is not "
                                          "affected, and its log says more",
                                          kind, Quoted(name), outcome.message));
    case PageOutcome::What::kTimedOut:
    case PageOutcome::What::kNotStarted:
    case PageOutcome::What::kGivenUp:
      return ErrorAnswer(503,
                         stopping_ ? std::string("about to stop")
                                   : fmt::format("explaining {} {} failed: {}", kind, Quoted(name),
                                                 outcome.message),
                         kRetryAfterSeconds);
  }
  switch (outcome.result.what) {
    case PageResult::What::kJson:
      return {.body = std::move(outcome.result.body)};
    case PageResult::What::kText:
      return {.body = std::move(outcome.result.body), .content_type = "text/plain; charset=utf-8"};
    case PageResult::What::kNotFound:
      return ErrorAnswer(404,
                         outcome.result.body + (kind == "pod" ? WhoElseMayKnow() : std::string()));
    default:
      return ErrorAnswer(
          500, fmt::format("explaining {} {} failed: {}", kind, Quoted(name), outcome.result.body));
  }
}

}  // namespace krafla
