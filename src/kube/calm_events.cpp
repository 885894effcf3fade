#include "kube/calm_events.h"

#include <utility>

namespace krafla {

namespace {

using std::chrono::milliseconds;

std::string KeyOf(std::string_view kind, std::string_view key) {
  return std::string(kind).append("/").append(key);
}

}  // namespace

void CalmEvents::Say(EventText event) {
  const std::string key = KeyOf(event.about.kind, event.about.Key());
  entries_[key].newest = std::move(event);
  SayWhenDue(key);
}

void CalmEvents::SayWhenDue(const std::string& key) {
  Entry& entry = entries_.at(key);
  if (entry.timer || entry.newest == entry.said) return;
  const milliseconds left =
      entry.at ? LeftOf(calm_, *entry.at, client_.SteadyNow()) : milliseconds(0);
  if (left.count() <= 0) {
    entry.said = entry.newest;
    entry.at = client_.SteadyNow();
    events_.Record(entry.said);
    return;
  }
  entry.timer = true;
  client_.After(left, [this, key] {
    const auto it = entries_.find(key);
    if (it == entries_.end()) return;
    it->second.timer = false;
    SayWhenDue(key);
  });
}

void CalmEvents::Forget(std::string_view kind, std::string_view key) {
  entries_.erase(KeyOf(kind, key));
}

}  // namespace krafla
