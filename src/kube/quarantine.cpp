#include "kube/quarantine.h"

#include <algorithm>

namespace krafla {

Quarantine::Entry* Quarantine::Find(WatchedKind kind, const std::string& key) {
  if (entries_.empty()) return nullptr;
  const auto it = entries_.find({kind, key});
  return it == entries_.end() ? nullptr : &it->second;
}

const Quarantine::Entry* Quarantine::FindHeld(WatchedKind kind, const std::string& key) const {
  if (entries_.empty()) return nullptr;
  const auto it = entries_.find({kind, key});
  return it == entries_.end() || !it->second.held ? nullptr : &it->second;
}

Quarantine::Entry& Quarantine::Hold(WatchedKind kind, const std::string& key, std::string_view uid,
                                    std::string check, Clock::time_point now) {
  Entry& entry = entries_[{kind, key}];
  if (entry.uid != uid) entry = {};
  entry.kind = kind;
  entry.key = key;
  entry.uid = uid;
  entry.check = std::move(check);
  entry.instead.clear();
  entry.because_of.clear();
  entry.held = true;
  const auto pause =
      std::min<Clock::duration>(kFirstPause * (1 << std::min(entry.times, 10)), kLongestPause);
  ++entry.times;
  entry.retry_at = now + pause;
  entry.newer.reset();
  return entry;
}

void Quarantine::Erase(WatchedKind kind, const std::string& key) {
  if (!entries_.empty()) entries_.erase({kind, key});
}

std::vector<std::unique_ptr<ObjectMessage>> Quarantine::TakeDue(Clock::time_point now) {
  std::vector<std::unique_ptr<ObjectMessage>> due;
  for (auto& [name, entry] : entries_)
    if (entry.held && entry.because_of.empty() && entry.newer != nullptr && entry.retry_at <= now)
      due.push_back(std::move(entry.newer));
  return due;
}

std::optional<Quarantine::Clock::time_point> Quarantine::NextDue() const {
  std::optional<Clock::time_point> next;
  for (const auto& [name, entry] : entries_)
    if (entry.held && entry.because_of.empty() && entry.newer != nullptr)
      next = std::min(next.value_or(entry.retry_at), entry.retry_at);
  return next;
}

std::vector<std::string> Quarantine::FreeNodesOf(const std::string& pod) {
  std::vector<std::string> to_read;
  for (auto& [name, entry] : entries_) {
    if (entry.kind != WatchedKind::kNode || entry.because_of != pod) continue;
    entry.because_of.clear();
    entry.retry_at = {};
    if (entry.held && entry.newer == nullptr) to_read.push_back(entry.key);
  }
  return to_read;
}

size_t Quarantine::Count(WatchedKind kind) const {
  return static_cast<size_t>(std::count_if(entries_.begin(), entries_.end(), [&](const auto& e) {
    return e.second.held && e.second.kind == kind;
  }));
}

std::vector<const Quarantine::Entry*> Quarantine::Held() const {
  std::vector<const Entry*> held;
  for (const auto& [name, entry] : entries_)
    if (entry.held) held.push_back(&entry);
  return held;
}

}  // namespace krafla
