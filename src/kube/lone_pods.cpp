#include "kube/lone_pods.h"

#include <algorithm>
#include <limits>

#include <fmt/format.h>

#include "base/did_you_mean.h"
#include "base/go_duration.h"

namespace krafla {

Result<GroupOfOnePolicy> ParseGroupOfOnePolicy(std::string_view text) {
  constexpr std::string_view kAfter = "after=";
  if (text == "auto") return GroupOfOnePolicy{};
  if (text == "never") return GroupOfOnePolicy{.when = GroupOfOnePolicy::When::kNever};
  if (text.starts_with(kAfter)) {
    const auto delay_ns = ParseGoDuration(text.substr(kAfter.size()));
    if (delay_ns && *delay_ns >= 0)
      return GroupOfOnePolicy{.when = GroupOfOnePolicy::When::kAfter, .delay_ns = *delay_ns};
  }
  return Fail(
      fmt::format("expected auto, never or after=DURATION such as after=5s (0s: at once), got {}",
                  Quoted(text)));
}

namespace {

int64_t SafeSum(int64_t now_ns, int64_t delay_ns) {
  return delay_ns > std::numeric_limits<int64_t>::max() - now_ns
             ? std::numeric_limits<int64_t>::max()
             : now_ns + delay_ns;
}

}  // namespace

int64_t LonePods::DelayOf(bool owned) const {
  switch (policy_.when) {
    case GroupOfOnePolicy::When::kAfter:
      return policy_.delay_ns;
    case GroupOfOnePolicy::When::kAuto:
      return owned ? kOwnedPodDelayNs : 0;
    case GroupOfOnePolicy::When::kNever:
      return 0;  // Note never gets as far as the delay
  }
  return 0;
}

GroupWait LonePods::Note(const std::string& pod, std::string_view uid, bool owned, int64_t now_ns) {
  const auto [it, is_new] = pods_.try_emplace(pod);
  Pod& known = it->second;
  if (is_new || known.uid != uid) {
    const int64_t delay_ns = DelayOf(owned);
    known = {
        .uid = std::string(uid), .due_ns = SafeSum(now_ns, delay_ns), .released = delay_ns == 0};
    // Where controllers are seen no delay ends.
    if (delay_ns != 0 && !controllers_seen_) line_.push_back({known.due_ns, pod});
  }
  return WaitOf(known);
}

GroupWait LonePods::Find(const std::string& pod) const {
  const auto it = pods_.find(pod);
  return it == pods_.end() ? GroupWait::kNone : WaitOf(it->second);
}

GroupWait LonePods::WaitOf(const Pod& pod) const {
  if (policy_.when == GroupOfOnePolicy::When::kNever) return GroupWait::kNever;
  if (controllers_seen_) return GroupWait::kControllers;
  return pod.released ? GroupWait::kNone : GroupWait::kDelay;
}

void LonePods::Forget(const std::string& pod) {
  if (pods_.erase(pod) == 0) return;
  DropStale();
  // With a long delay many pods may come and go before the front of the line is due.
  constexpr size_t kMostStale = 1000;
  if (line_.size() > pods_.size() + kMostStale)
    std::erase_if(line_, [this](const Due& due) { return !IsOpen(due); });
}

std::vector<std::string> LonePods::SeeControllers() {
  if (!looks_for_controllers()) return {};
  controllers_seen_ = true;
  line_.clear();
  std::vector<std::string> pods;
  for (const auto& [pod, known] : pods_) pods.push_back(pod);
  std::sort(pods.begin(), pods.end());
  return pods;
}

bool LonePods::IsOpen(const Due& due) const {
  const auto it = pods_.find(due.pod);
  return it != pods_.end() && !it->second.released && it->second.due_ns == due.due_ns;
}

void LonePods::DropStale() {
  while (!line_.empty() && !IsOpen(line_.front())) line_.pop_front();
}

std::optional<int64_t> LonePods::next_ns() const {
  if (line_.empty()) return std::nullopt;
  return line_.front().due_ns;
}

std::vector<std::string> LonePods::TakeDue(int64_t now_ns) {
  std::vector<std::string> pods;
  for (; !line_.empty() && line_.front().due_ns <= now_ns; line_.pop_front()) {
    if (!IsOpen(line_.front())) continue;
    pods_.at(line_.front().pod).released = true;
    pods.push_back(line_.front().pod);
  }
  DropStale();
  return pods;
}

}  // namespace krafla
