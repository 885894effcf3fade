#include "kube/stranded_reports.h"

#include <algorithm>
#include <tuple>
#include <utility>
#include <vector>

#include <fmt/format.h>

#include "base/log_text.h"
#include "explain/missing_words.h"

namespace krafla {

namespace {

using std::chrono::milliseconds;

template <class... Texts>
size_t HashOf(const Texts&... texts) {
  size_t hash = 0;
  const auto mix = [&](std::string_view text) {
    hash ^= std::hash<std::string_view>()(text) + 0x9e3779b97f4a7c15ULL + (hash << 6) + (hash >> 2);
  };
  (mix(texts), ...);
  return hash;
}

struct NamedQueue {
  std::string_view name;
  bool named = false;  // the default one else
};

NamedQueue QueueOf(const PodGroupFacts& group, const LiveCluster& live, const Cluster& c) {
  if (group.queue == kEmptyStr) return {live.default_queue(), false};
  return {c.Text(group.queue), true};
}

// One that waits for its queue may lack its class as well.
std::string PriorityKey(std::string_view uid) {
  return std::string(uid).append(" priority");
}

std::string QuarantinedWords(std::string_view kind, std::string_view name, std::string_view check) {
  return fmt::format(
      "{} {} is quarantined until it changes: an internal check of the scheduler failed: {}", kind,
      name, check);
}

}  // namespace

void StrandedReports::Follow(const LiveCluster& live, const Cluster& c) {
  ++round_;
  words_.clear();
  const LiveCluster::Stranded stranded = live.FindStranded();
  pods_ = stranded.pods.size();
  left_out_.clear();
  for (const LiveCluster::StrandedPod& pod : stranded.pods) FollowPod(live, c, pod);
  for (const LiveCluster::StrandedGroup& group : stranded.groups) FollowGroup(live, c, group);
  for (const PodGroupFacts* group : stranded.unranked) FollowUnranked(live, c, group->job);
  ForgetOthers();
}

void StrandedReports::FollowPod(const LiveCluster& live, const Cluster& c,
                                const LiveCluster::StrandedPod& stranded) {
  const Task& task = stranded.pod->task;
  const std::string_view group = c.Text(stranded.pod->group);
  const std::string_view ns = c.Text(task.ns);
  const auto about = [&] { return PodRef(ns, c.Text(task.name), c.Text(task.uid)); };
  if (stranded.claim != nullptr) {
    ++left_out_[fmt::format("{}/{}", ns, group)];
    const std::string_view claim = c.Text(stranded.claim->claim);
    const size_t cause = HashOf("claim", ns, claim, stranded.claim->ephemeral ? "ephemeral" : "");
    Memo* const memo = Renew(c.Text(task.uid), cause);
    if (memo == nullptr) return;
    memo->about = about();
    memo->thing = fmt::format("claim={}", LogWord(fmt::format("{}/{}", ns, claim)));
    memo->message = Words(cause, [&] { return PodWithoutClaim(claim, stranded.claim->ephemeral); });
    return TellOrWait(*memo);
  }
  if (const GroupWait wait = WaitForGroup(ns, c.Text(task.name), group); wait != GroupWait::kNone) {
    const size_t cause = HashOf("no group", WordOf(wait));
    Memo* const memo = Renew(c.Text(task.uid), cause);
    if (memo == nullptr) return;
    memo->about = about();
    memo->thing.clear();
    memo->delayed = wait == GroupWait::kDelay;
    memo->message = Words(cause, [&] { return PodAwaitsGroup(wait); });
    return TellOrWait(*memo);
  }
  if (stranded.group == nullptr) {
    const std::string key = fmt::format("{}/{}", ns, group);
    const std::string check = WhyQuarantined(WatchedKind::kPodGroup, key);
    const size_t cause = HashOf("group", ns, group, check);
    Memo* const memo = Renew(c.Text(task.uid), cause);
    if (memo == nullptr) return;
    memo->about = about();
    memo->thing = fmt::format("podgroup={}", LogWord(key));
    memo->message = Words(cause, [&] {
      return check.empty() ? PodWithoutGroup(group) : QuarantinedWords("PodGroup", key, check);
    });
    return TellOrWait(*memo);
  }
  const NamedQueue queue = QueueOf(*stranded.group, live, c);
  const bool of_one = group.starts_with(kGroupOfOnePrefix);
  const std::string check = WhyQuarantined(WatchedKind::kQueue, queue.name);
  const size_t cause = HashOf("queue", queue.name, queue.named ? "named" : "",
                              of_one ? std::string_view() : group, check);
  Memo* const memo = Renew(c.Text(task.uid), cause);
  if (memo == nullptr) return;
  memo->about = about();
  memo->thing = fmt::format("queue={}", LogWord(queue.name));
  memo->message = Words(cause, [&] {
    if (!check.empty()) return QuarantinedWords("queue", queue.name, check);
    return of_one ? PodWithoutQueue(queue.name, queue.named, c)
                  : PodOfGroupWithoutQueue(group, queue.name, queue.named, c);
  });
  TellOrWait(*memo);
}

void StrandedReports::FollowGroup(const LiveCluster& live, const Cluster& c,
                                  const LiveCluster::StrandedGroup& stranded) {
  // Its pods are told.
  if (stranded.group == nullptr || c.Text(stranded.name).starts_with(kGroupOfOnePrefix)) return;
  const Job& job = stranded.group->job;
  // One whose pods all have their places wants nothing of its queue.
  if (stranded.waiting == 0 && job.phase != JobPhase::kPending && job.phase != JobPhase::kInqueue)
    return;
  const NamedQueue queue = QueueOf(*stranded.group, live, c);
  const std::string check = WhyQuarantined(WatchedKind::kQueue, queue.name);
  const size_t words = HashOf("of group", queue.name, queue.named ? "named" : "", check);
  const int32_t running = stranded.Count(TaskStatus::kRunning);
  const int32_t succeeded = stranded.Count(TaskStatus::kSucceeded);
  const int32_t failed = stranded.Count(TaskStatus::kFailed);
  const size_t cause =
      HashOf(fmt::format("{} {} {} {} {}", words, ToString(job.phase), running, succeeded, failed));
  Memo* const memo = Renew(c.Text(job.uid), cause);
  if (memo == nullptr) return;
  memo->about = PodGroupRef(c.Text(job.ns), c.Text(job.name), c.Text(job.uid));
  memo->how = Telling::kGroupWaits;
  memo->thing = fmt::format("queue={}", LogWord(queue.name));
  memo->status = {.phase = std::string(ToString(job.phase)),
                  .conditions = {{"Unschedulable", "True", std::string(kQueueNotFound),
                                  Words(words,
                                        [&] {
                                          return check.empty()
                                                     ? GroupWithoutQueue(queue.name, queue.named, c)
                                                     : QuarantinedWords("queue", queue.name, check);
                                        })}},
                  .running = running,
                  .succeeded = succeeded,
                  .failed = failed};
  TellOrWait(*memo);
}

// Nothing holds it back, so that nobody would notice.
void StrandedReports::FollowUnranked(const LiveCluster& live, const Cluster& c, const Job& job) {
  if (job.phase == JobPhase::kCompleted) return;
  const std::string_view name = c.Text(job.priority_class);
  const std::string_view group = c.Text(job.name);
  const bool of_one = group.starts_with(kGroupOfOnePrefix);
  const int32_t priority = live.DefaultPriority();
  const size_t cause = HashOf("class", name, of_one ? "pod" : "group", fmt::format("{}", priority));
  Memo* const memo = Renew(PriorityKey(c.Text(job.uid)), cause);
  if (memo == nullptr) return;
  memo->about =
      of_one ? PodRef(c.Text(job.ns), group.substr(kGroupOfOnePrefix.size()), c.Text(job.uid))
             : PodGroupRef(c.Text(job.ns), group, c.Text(job.uid));
  memo->how = Telling::kEvent;
  memo->thing = fmt::format("priorityclass={}", LogWord(name));
  memo->message = Words(cause, [&] {
    return of_one ? PodWithoutPriorityClass(name, priority)
                  : GroupWithoutPriorityClass(name, priority, live.PriorityClassNames());
  });
  TellOrWait(*memo);
}

// Of a pod that names no PodGroup, so that its group is the singleton it is not.
GroupWait StrandedReports::WaitForGroup(std::string_view ns, std::string_view pod,
                                        std::string_view group) const {
  if (!options_.wait_for_group || !group.starts_with(kGroupOfOnePrefix)) return GroupWait::kNone;
  return options_.wait_for_group(fmt::format("{}/{}", ns, pod));
}

std::string StrandedReports::WhyQuarantined(WatchedKind kind, std::string_view key) const {
  return options_.why_quarantined ? options_.why_quarantined(kind, std::string(key))
                                  : std::string();
}

size_t StrandedReports::LeftOutOf(const std::string& group) const {
  const auto found = left_out_.find(group);
  return found == left_out_.end() ? 0 : found->second;
}

std::string_view StrandedReports::PriorityWords(std::string_view uid) const {
  if (memos_.empty()) return {};
  const auto found = memos_.find(PriorityKey(uid));
  return found == memos_.end() || !found->second.told ? std::string_view()
                                                      : std::string_view(found->second.message);
}

StrandedReports::Memo* StrandedReports::Renew(std::string_view uid, size_t cause) {
  auto it = memos_.find(uid);
  const bool is_new = it == memos_.end();
  if (is_new) {
    it = memos_.try_emplace(std::string(uid)).first;
    it->second.since = client_.Now();
    it->second.began = client_.SteadyNow();
  }
  Memo& memo = it->second;
  memo.round = round_;
  if (!is_new && memo.cause == cause) return nullptr;
  memo.cause = cause;
  return &memo;
}

template <class Make>
const std::string& StrandedReports::Words(size_t cause, Make&& make) {
  const auto [it, is_new] = words_.try_emplace(cause);
  if (is_new) it->second = make();
  return it->second;
}

void StrandedReports::TellOrWait(Memo& memo) {
  if (memo.told) return Tell(memo);
  SetTimer(options_.grace);
}

// One for all: the first to come is the first that is due, but for pods in a delay, which have
// twice the patience: what is told when the delay of `auto` ends would be wrong a moment later.
void StrandedReports::SetTimer(milliseconds delay) {
  if (std::exchange(timer_, true)) return;
  client_.After(delay, [this] {
    timer_ = false;
    TellThoseDue();
  });
}

void StrandedReports::TellThoseDue() {
  std::vector<Memo*> due;
  std::optional<milliseconds> next;
  const SteadyTime now = client_.SteadyNow();
  for (auto& [uid, memo] : memos_) {
    if (memo.told) continue;
    const milliseconds left =
        LeftOf(memo.delayed ? 2 * options_.grace : options_.grace, memo.began, now);
    if (left.count() <= 0) {
      due.push_back(&memo);
    } else {
      next = std::min(next.value_or(left), left);
    }
  }
  std::sort(due.begin(), due.end(), [](const Memo* a, const Memo* b) {
    return std::tuple(a->about.Key(), a->about.kind, a->how) <
           std::tuple(b->about.Key(), b->about.kind, b->how);
  });
  for (Memo* memo : due) Tell(*memo);
  if (next) SetTimer(*next);
}

void StrandedReports::Tell(Memo& memo) {
  const bool first = !std::exchange(memo.told, true);
  if (options_.log && logged_.insert(memo.thing).second) {
    if (memo.thing.empty()) {
      options_.log(fmt::format("pods without PodGroup wait for theirs first=\"{} {}\" reason={}",
                               memo.about.kind, memo.about.Key(), LogQuoted(memo.message)));
    } else {
      options_.log(fmt::format("unresolved reference; the object does not exist {} first=\"{} {}\"",
                               memo.thing, memo.about.kind, memo.about.Key()));
    }
  }
  if (memo.how == Telling::kEvent)
    return writer_.Warn(memo.about, kPriorityClassNotFound, memo.message);
  if (memo.how == Telling::kGroupWaits) {
    writer_.WriteGroup(memo.about, memo.status, true);
    return;
  }
  writer_.WritePod(memo.about, memo.message, "", first ? memo.since : Timestamp{}, first);
  writer_.AnnouncePod(memo.about, memo.message);
}

// What they named is there now, or they are gone.
void StrandedReports::ForgetOthers() {
  const size_t erased = std::erase_if(memos_, [&](const auto& entry) {
    const Memo& memo = entry.second;
    if (memo.round == round_) return false;
    if (memo.told && memo.how == Telling::kGroupWaits) writer_.ForgetGroup(memo.about.Key());
    if (memo.told && memo.how == Telling::kPodWaits) writer_.ForgetPod(memo.about.Key());
    return true;
  });
  if ((erased == 0 && logged_.size() <= memos_.size()) || logged_.empty()) return;
  std::set<std::string> still;
  for (const auto& [uid, memo] : memos_)
    if (logged_.contains(memo.thing)) still.insert(memo.thing);
  logged_ = std::move(still);
}

}  // namespace krafla
