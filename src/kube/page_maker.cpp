#include "kube/page_maker.h"

#include <chrono>
#include <memory>
#include <utility>
#include <variant>

#include <fmt/format.h>

#include "config/skipped_actions.h"
#include "explain/explainer.h"
#include "explain/left_out.h"
#include "kube/cluster_view.h"
#include "record/replay_world.h"
#include "scheduler/vocabulary.h"

namespace krafla {

namespace {

PageResult Failed(std::string message) {
  return {PageResult::What::kFailed, std::move(message)};
}

// The zone of krafla serve, whose environment this process has. One that has no name in the tz
// database is found by being the same here.
TimeZone ZoneOf(const RecordHead& head) {
  TimeZone local = LocalTimeZone();
  if (local.name() == head.zone) return local;
  const Result<TimeZone> named = FindTimeZone(head.zone);
  return named ? *named : FixedOffset(head.offset_seconds);
}

class PageMaker {
 public:
  explicit PageMaker(PageTask task) : task_(std::move(task)) {}

  // A line of the state. A message: it cannot be used.
  std::optional<std::string> Take(RecordLine line) {
    if (auto* head = std::get_if<RecordHead>(&line)) {
      if (world_ != nullptr) return "a second head";
      MakeWorld(std::move(*head));
      return std::nullopt;
    }
    if (world_ == nullptr) return "no head";
    if (auto* change = std::get_if<RecordedChange>(&line)) return Apply(std::move(*change));
    if (const auto* end = std::get_if<StateEnd>(&line)) {
      if (!config_) return "no configuration";
      if (end->objects != objects_)
        return fmt::format("{} objects instead of {}", objects_, end->objects);
      complete_ = true;
      return std::nullopt;
    }
    return "a cycle";
  }
  bool complete() const { return complete_; }

  PageResult Make(const ExplanationRenderer& render) {
    if (task_.what == PageTask::What::kExplain) return Explain(render);
    return {PageResult::What::kView,
            WriteView(MakeClusterView(*world_, *config_, memory_, task_.losses, group_waits_,
                                      ZoneOf(head_), task_.now))};
  }

 private:
  void MakeWorld(RecordHead head) {
    head_ = std::move(head);
    if (task_.what == PageTask::What::kView) {
      world_ = std::make_unique<ReplayWorld>(head_.world);
      return;
    }
    world_ = std::make_unique<ReplayWorld>(head_.world, [this](FactSink& behind) {
      auto front = std::make_unique<LeftOutObjects>(
          behind, LeftOutObjects::Names{.asked_for = task_.name,
                                        .default_queue = head_.world.build.default_queue,
                                        .schedulers = head_.world.scheduler_names});
      left_out_ = front.get();
      return front;
    });
  }

  std::optional<std::string> Apply(RecordedChange change) {
    switch (change.what) {
      case RecordedChange::What::kConfig:
        return SetConfig(change.object);
      case RecordedChange::What::kMemory:
        memory_ = *change.memory;
        return std::nullopt;
      default:
        ++objects_;
        if (change.mark.what == AssumedMark::What::kAwaitsGroup) {
          const GroupWait wait = GroupWaitOf(change.mark.to).value_or(GroupWait::kNone);
          group_waits_[change.key] = wait;
          if (left_out_ != nullptr && change.key == left_out_->pod_name())
            left_out_->SetGroupWait(wait);
        }
        world_->Apply(change);
        return std::nullopt;
    }
  }

  // The text is in force: only another program could find something wrong with it.
  std::optional<std::string> SetConfig(const std::string& text) {
    Diagnostics problems;
    SchedulerConfig config = ReadSchedulerConfig(
        text, BuiltInVocabulary(),
        {.file_name = "configuration", .lenient = head_.lenient, .profile = head_.profile},
        problems);
    if (problems.HasErrors())
      return "a configuration that cannot be read: " + ToString(problems.items().front());
    LeaveOutActions(config, SkippedActionsOf(text));
    world_->SetConfig(config);
    config_ = std::move(config);
    return std::nullopt;
  }

  PageResult Explain(const ExplanationRenderer& render) {
    Cluster cluster = std::move(world_->live().cluster());
    std::optional<Explanation> explanation = left_out_->Explain(task_.kind, cluster);
    if (!explanation) {
      const auto deadline = std::chrono::steady_clock::now() + task_.search_time;
      Explainer explainer(std::move(cluster), std::move(*config_),
                          {.now = task_.now, .zone = ZoneOf(head_), .memory = &memory_});
      explainer.SetOutOfTime([deadline] { return std::chrono::steady_clock::now() >= deadline; });
      Result<Explanation> found = explainer.Explain(task_.kind, task_.name);
      if (!found && !task_.evicted.empty()) {
        found = Explanation{.kind = task_.kind, .name = task_.name};
        found->answer = fmt::format("{} is gone: it was {}.", task_.name, task_.evicted);
      } else if (!task_.evicted.empty()) {
        found->facts.push_back(fmt::format("a pod of this name was {}", task_.evicted));
      }
      if (!found) {
        std::string message = found.error().message;
        if (const size_t at = message.find(" in the input"); at != std::string::npos)
          message.replace(at, 13, " in the cluster");
        return {PageResult::What::kNotFound, std::move(message)};
      }
      explanation = std::move(*found);
      left_out_->AddTo(*explanation);
    }
    return {task_.as == "json" ? PageResult::What::kJson : PageResult::What::kText,
            render(*explanation, task_.as)};
  }

  const PageTask task_;
  RecordHead head_;
  LeftOutObjects* left_out_ = nullptr;  // the world's
  std::unique_ptr<ReplayWorld> world_;
  std::optional<SchedulerConfig> config_;
  CycleMemory memory_;
  GroupWaits group_waits_;
  size_t objects_ = 0;
  bool complete_ = false;
};

}  // namespace

PageResult MakePage(const std::function<std::optional<std::string>()>& next_line,
                    const ExplanationRenderer& render) {
  std::optional<std::string> text = next_line();
  if (!text) return Failed("no task was received");
  Result<PageTask> task = ParseTaskLine(*text);
  if (!task) return Failed(task.error().message);
  PageMaker maker(std::move(*task));
  while (!maker.complete()) {
    text = next_line();
    if (!text) return Failed("the state ends too early");
    Result<RecordLine> line = ParseRecordLine(*text);
    if (!line) return Failed("the state " + line.error().message);
    if (const std::optional<std::string> problem = maker.Take(std::move(*line)))
      return Failed("the state has " + *problem);
  }
  return maker.Make(render);
}

}  // namespace krafla
