#include "explain/left_out.h"

#include <fmt/format.h>

#include <algorithm>
#include <utility>

#include "base/did_you_mean.h"
#include "cluster_state/name_index.h"
#include "explain/missing_words.h"
#include "model/well_known.h"

namespace krafla {

namespace {

// `does not exist; did you mean "red"?`, with the end of the sentence.
std::string DoesNotExist(std::string_view queue, const Cluster& cluster) {
  std::vector<std::string_view> known;
  for (QueueId id : cluster.queues_by_name) known.push_back(cluster.QueueName(id));
  const std::string text = "does not exist";
  if (const auto near = DidYouMean(queue, known))
    return text + fmt::format("; did you mean \"{}\"?", *near);
  return text + ".";
}

// As it can be pasted into {name: …}: in quotes where YAML would read a number, a truth or a list.
std::string InFlowYaml(std::string_view name) {
  static constexpr std::string_view kOtherThanTexts[] = {"true", "false", "null", "yes", "no",
                                                         "on",   "off",   "y",    "n"};
  const bool plain =
      !name.empty() && name.front() >= 'a' && name.front() <= 'z' &&
      name.find_first_not_of("abcdefghijklmnopqrstuvwxyz0123456789-.") == std::string_view::npos &&
      std::ranges::find(kOtherThanTexts, name) == std::end(kOtherThanTexts);
  return plain ? std::string(name) : Quoted(name);
}

// Names of pods, a few of them: "a/b-0, a/b-1 and 3 more".
std::string SomeOf(const std::vector<std::string>& pods) {
  constexpr size_t kMost = 5;
  std::string text;
  for (size_t i = 0; i < pods.size() && i < kMost; ++i) text += (i == 0 ? "" : ", ") + pods[i];
  if (pods.size() > kMost) text += fmt::format(" and {} more", pods.size() - kMost);
  return text;
}

// "team-a/bare" of "team-a/pod:bare", the group that this pod is; any other name as it is.
std::string PodNamedBy(const std::string& name) {
  const size_t begin = name.find('/') + 1;
  if (!std::string_view(name).substr(begin).starts_with(kGroupOfOnePrefix)) return name;
  return std::string(name).erase(begin, kGroupOfOnePrefix.size());
}

}  // namespace

LeftOutObjects::LeftOutObjects(FactSink& builder, Names names)
    : ForwardingSink(builder), names_(std::move(names)), pod_name_(PodNamedBy(names_.asked_for)) {}

std::string LeftOutObjects::Key(StrId ns, StrId name) {
  return fmt::format("{}/{}", strings().Text(ns), strings().Text(name));
}

FactSink::Added LeftOutObjects::AddPod(PodFacts pod, Origin origin) {
  const bool placed = pod.task.node_name != kEmptyStr;
  const Pod note{.ns = pod.task.ns,
                 .group = pod.group,
                 .queue = pod.queue,
                 .others = !pod.ours && !placed,
                 .waits = pod.ours && !placed && pod.task.status == TaskStatus::kPending};
  const std::string key = Key(pod.task.ns, pod.task.name);
  const Added added = ForwardingSink::AddPod(std::move(pod), origin);
  if (added != Added::kYes) return added;
  if (key == pod_name_) pod_ = note;
  // A written pod replaces the one of the same name that a Volcano Job became.
  pods_of_group_.erase(key);
  if (note.group != kEmptyStr && Key(note.ns, note.group) == names_.asked_for)
    pods_of_group_.emplace(key, note);
  return added;
}

FactSink::Added LeftOutObjects::AddPodGroup(PodGroupFacts group, Origin origin) {
  const StrId ns = group.job.ns;
  const StrId name = group.job.name;
  const StrId queue = group.queue;
  const StrId priority_class = group.job.priority_class;
  const Added added = ForwardingSink::AddPodGroup(std::move(group), origin);
  if (added != Added::kYes) return added;
  queue_of_group_[NameKey(ns, name)] = queue;
  if (Key(ns, name) == names_.asked_for) {
    group_queue_ = queue;
    group_class_ = strings().Text(priority_class);
  }
  return added;
}

bool LeftOutObjects::AddPriorityClass(PriorityClassFacts priority_class) {
  if (!ForwardingSink::AddPriorityClass(priority_class)) return false;
  classes_.emplace_back(strings().Text(priority_class.name));
  if (priority_class.global_default)
    default_priority_ =
        std::max(default_priority_.value_or(priority_class.value), priority_class.value);
  return true;
}

std::optional<std::string> LeftOutObjects::MissingQueue(StrId queue, const Cluster& cluster) const {
  const std::string name =
      queue == kEmptyStr ? names_.default_queue : std::string(cluster.Text(queue));
  if (cluster.FindQueue(name).valid()) return std::nullopt;
  return name;
}

TaskId LeftOutObjects::FindTask(const Cluster& cluster) const {
  for (TaskId task{0}; task.value < cluster.tasks.size(); ++task.value)
    if (cluster.TaskKey(task) == pod_name_) return task;
  return {};
}

std::optional<Explanation> LeftOutObjects::Explain(std::string_view kind,
                                                   const Cluster& cluster) const {
  if (kind == "job") return ExplainJob(cluster);
  if (kind == "pod") return ExplainPod(cluster);
  return std::nullopt;
}

std::optional<Explanation> LeftOutObjects::ExplainJob(const Cluster& cluster) const {
  if (!group_queue_) {
    auto explanation = ExplainPodOfNoGroup("job", cluster);
    return explanation ? explanation : ExplainMissingGroup(cluster);
  }
  const std::optional<std::string> queue = MissingQueue(*group_queue_, cluster);
  if (!queue) return std::nullopt;
  Explanation e{.kind = "job", .name = names_.asked_for};
  e.answer = fmt::format("{} waits: its queue {} {}", names_.asked_for, Quoted(*queue),
                         DoesNotExist(*queue, cluster));
  e.facts.push_back(fmt::format(
      "the PodGroup and its {} pod{} are left out of every cycle until its queue is there{}",
      pods_of_group_.size(), pods_of_group_.size() == 1 ? "" : "s",
      *group_queue_ == kEmptyStr ? "; it names none, which means the default one" : ""));
  AddTo(e);
  return e;
}

void LeftOutObjects::AddHowToCreate(const std::string& group, const Cluster& cluster,
                                    Explanation& e) const {
  std::vector<std::string> groups;
  for (JobId id : cluster.jobs_by_name) groups.push_back(cluster.JobKey(id));
  const std::vector<std::string_view> known(groups.begin(), groups.end());
  if (const auto near = DidYouMean(group, known))
    e.facts.push_back(
        fmt::format("there is a PodGroup {}: if that is meant, name it in the annotation "
                    "{} of the pods",
                    *near, keys::kGroupName));
  const size_t slash = group.find('/');
  e.facts.push_back(fmt::format(
      "to create it: {{apiVersion: scheduling.volcano.sh/v1beta1, kind: PodGroup, metadata: "
      "{{namespace: {}, name: {}}}, spec: {{minMember: 1, queue: {}}}}}; set minMember to the "
      "smallest number of pods that can work",
      InFlowYaml(std::string_view(group).substr(0, slash)),
      InFlowYaml(std::string_view(group).substr(slash + 1)), InFlowYaml(names_.default_queue)));
}

// Pods name it, and it is not there.
std::optional<Explanation> LeftOutObjects::ExplainMissingGroup(const Cluster& cluster) const {
  std::vector<std::string> waiting;
  std::vector<std::string> placed;
  for (const auto& [key, pod] : pods_of_group_)
    if (!pod.others) (pod.waits ? waiting : placed).push_back(key);
  if (pods_of_group_.empty()) return std::nullopt;
  Explanation e{.kind = "job", .name = names_.asked_for};
  e.answer =
      fmt::format("PodGroup {} does not exist, and {} pod{} it.", Printable(names_.asked_for),
                  pods_of_group_.size(), pods_of_group_.size() == 1 ? " names" : "s name");
  if (!waiting.empty())
    e.facts.push_back(fmt::format(
        "{} for it: {}",
        waiting.size() == 1 ? "1 pod waits" : fmt::format("{} pods wait", waiting.size()),
        SomeOf(waiting)));
  if (!placed.empty())
    e.facts.push_back(
        fmt::format("{} no more to be placed: {}",
                    placed.size() == 1 ? "1 pod has" : fmt::format("{} pods have", placed.size()),
                    SomeOf(placed)));
  AddHowToCreate(names_.asked_for, cluster, e);
  AddTo(e);
  return e;
}

std::optional<Explanation> LeftOutObjects::ExplainPodOfNoGroup(std::string_view kind,
                                                               const Cluster& cluster) const {
  if (!pod_ || !pod_->waits || pod_->group != kEmptyStr) return std::nullopt;
  Explanation e{.kind = std::string(kind), .name = names_.asked_for};
  if (group_wait_ != GroupWait::kNone) {
    e.answer = fmt::format("{} {}", pod_name_, PodAwaitsGroup(group_wait_));
    return e;
  }
  const std::string own_group = fmt::format(
      "it names no PodGroup: krafla serve schedules it as a singleton PodGroup, in the queue "
      "that {} names, else in {}; where Volcano's controllers are seen it waits for theirs "
      "(--group-of-one)",
      keys::kQueueName, Quoted(names_.default_queue));
  if (const std::optional<std::string> queue = MissingQueue(pod_->queue, cluster)) {
    e.answer = fmt::format("{} waits: its queue {} {}", pod_name_, Quoted(*queue),
                           DoesNotExist(*queue, cluster));
    e.facts.push_back(own_group);
    return e;
  }
  // Without a task there is another cause, and with a job of its own that job tells more.
  const TaskId task = FindTask(cluster);
  if (!task.valid() || cluster.tasks[task].job.valid()) return std::nullopt;
  e.answer = fmt::format("{} waits: it names no PodGroup, and a cycle places pods of PodGroups.",
                         pod_name_);
  e.facts.push_back(own_group);
  return e;
}

std::optional<Explanation> LeftOutObjects::ExplainPod(const Cluster& cluster) const {
  if (!pod_) return std::nullopt;
  if (auto explanation = ExplainPodOfNoGroup("pod", cluster)) return explanation;
  Explanation e{.kind = "pod", .name = names_.asked_for};
  if (pod_->others) {
    e.answer =
        fmt::format("{} waits for another scheduler: its schedulerName is not {}.",
                    names_.asked_for, fmt::format("{}", fmt::join(names_.schedulers, " or ")));
    e.facts.push_back("it is neither placed by this one nor counted for the minimum of a PodGroup");
    return e;
  }
  if (pod_->waits && pod_->group != kEmptyStr) {
    const auto group = queue_of_group_.find(NameKey(pod_->ns, pod_->group));
    const std::string group_name =
        fmt::format("{}/{}", cluster.Text(pod_->ns), cluster.Text(pod_->group));
    if (group == queue_of_group_.end()) {
      e.answer = fmt::format("{} waits: its PodGroup {} does not exist.", names_.asked_for,
                             Printable(group_name));
      AddHowToCreate(group_name, cluster, e);
      return e;
    }
    if (const auto queue = MissingQueue(group->second, cluster)) {
      e.answer = fmt::format("{} waits: queue {} of its PodGroup {} {}", names_.asked_for,
                             Quoted(*queue), group_name, DoesNotExist(*queue, cluster));
      return e;
    }
  }
  if (FindTask(cluster).valid()) return std::nullopt;
  e.answer = fmt::format("{} is left out: a PersistentVolumeClaim that it names does not exist.",
                         names_.asked_for);
  return e;
}

void LeftOutObjects::AddMissingClass(Explanation& e) const {
  if (group_class_.empty() || std::ranges::find(classes_, group_class_) != classes_.end()) return;
  const std::vector<std::string_view> known(classes_.begin(), classes_.end());
  e.facts.push_back(GroupWithoutPriorityClass(group_class_, default_priority_.value_or(0), known));
}

void LeftOutObjects::AddTo(Explanation& explanation) const {
  if (explanation.kind != "job") return;
  AddMissingClass(explanation);
  const auto others = std::count_if(pods_of_group_.begin(), pods_of_group_.end(),
                                    [](const auto& pod) { return pod.second.others; });
  if (others == 0) return;
  const auto first = std::find_if(pods_of_group_.begin(), pods_of_group_.end(),
                                  [](const auto& pod) { return pod.second.others; });
  explanation.facts.push_back(fmt::format(
      "{} of its pods {} another scheduler and {} not counted: schedulerName is not {} (first: {})",
      others, others == 1 ? "names" : "name", others == 1 ? "is" : "are",
      fmt::join(names_.schedulers, " or "), first->first));
}

}  // namespace krafla
