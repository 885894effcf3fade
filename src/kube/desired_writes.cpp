#include "kube/desired_writes.h"

#include <algorithm>
#include <vector>

namespace krafla {

using std::chrono::milliseconds;

DesiredWrites::DesiredWrites(ApiClient& client, Options options)
    : client_(client), options_(std::move(options)) {}

void DesiredWrites::Want(const std::string& key, std::string wish, HttpRequest request,
                         bool urgent) {
  Entry& entry = entries_[key];
  entry.forgotten = false;
  if (wish == (entry.wanted || entry.in_flight ? entry.wish : entry.confirmed)) return;
  if (!entry.wanted) ++open_;
  entry.wanted = true;
  entry.wish = std::move(wish);
  entry.request = std::move(request);
  if (entry.in_flight || entry.in_line || (entry.timer && !urgent)) return;
  if (urgent) return Send(key);
  const milliseconds wait =
      entry.sent ? LeftOf(options_.calm, *entry.sent, client_.SteadyNow()) : options_.first_delay;
  if (wait.count() > 0) return Later(key, wait);
  Send(key);
}

void DesiredWrites::Flush() {
  ending_ = true;
  std::vector<std::string> held_back;
  std::vector<std::string> forbidden;
  for (const auto& [key, entry] : entries_) {
    if (!entry.wanted || entry.in_flight) continue;
    if (entry.forbidden) forbidden.push_back(key);
    if (entry.failures == 0) held_back.push_back(key);
  }
  for (const std::string& key : forbidden) Settle(key);
  std::sort(held_back.begin(), held_back.end());
  for (const std::string& key : held_back) Send(key);
}

void DesiredWrites::Forget(const std::string& key) {
  const auto it = entries_.find(key);
  if (it == entries_.end()) return;
  if (it->second.wanted) --open_;
  it->second.wanted = false;
  it->second.forgotten = true;
  it->second.in_line = false;
  if (!it->second.in_flight && !it->second.timer) entries_.erase(it);
}

void DesiredWrites::Settle(const std::string& key) {
  const auto it = entries_.find(key);
  if (it == entries_.end() || !it->second.wanted) return;
  // One that is under way counts as open until it is answered.
  --open_;
  it->second.wanted = false;
  it->second.in_line = false;
  it->second.wish.clear();
  it->second.failures = 0;
}

void DesiredWrites::Later(const std::string& key, milliseconds delay) {
  entries_.at(key).timer = true;
  client_.After(delay, [this, key] {
    const auto it = entries_.find(key);
    if (it == entries_.end()) return;
    it->second.timer = false;
    if (it->second.wanted && !it->second.in_flight) {
      Send(key);
    } else if (it->second.forgotten && !it->second.in_flight) {
      entries_.erase(it);
    }
  });
}

void DesiredWrites::Send(const std::string& key) {
  Entry& entry = entries_.at(key);
  if (entry.in_line) return;
  if (options_.is_moot && options_.is_moot(key)) return Settle(key);
  if (in_flight_ >= options_.most_at_once) {
    entry.in_line = true;
    line_.push_back(key);
    return;
  }
  entry.wanted = false;
  entry.in_flight = true;
  ++in_flight_;
  entry.sent = client_.SteadyNow();
  client_.Send(entry.request, [this, key, wish = entry.wish](const HttpResponse& response) {
    Entry& sent = entries_.at(key);
    sent.in_flight = false;
    --in_flight_;
    const bool first_refusal = !sent.refused_by_admission;
    sent.refused_by_admission = IsRefusedByAdmission(response);
    if (sent.refused_by_admission && first_refusal && options_.on_refused)
      options_.on_refused(key, response);
    sent.forbidden = LacksPermission(response) || sent.refused_by_admission;
    const bool again = IsTransient(response) || (sent.forbidden && !ending_);
    if (again && !sent.forgotten) {
      // As it was: the wish is open still, unless there is a newer one.
      if (sent.wanted) --open_;
      sent.wanted = true;
      const int doubled = std::min(sent.failures++, 7);
      // A role is changed by people, a webhook's answer may change with the next request.
      const milliseconds wait = sent.forbidden && !sent.refused_by_admission
                                    ? milliseconds(1000) * (1 << std::min(doubled, 6))
                                    : milliseconds(200) * (1 << doubled);
      Later(key, std::max(response.retry_after.value_or(milliseconds(0)), wait));
      return SendThoseInLine();
    }
    --open_;
    sent.failures = 0;
    if (response.ok()) {
      ++written_;
      sent.confirmed = wish;
    } else {
      ++refused_;
      sent.confirmed.clear();
      // Gone is no news: the watch tells.
      if (response.status != 404 && !sent.forbidden && options_.on_refused)
        options_.on_refused(key, response);
    }
    if (sent.forgotten && !sent.wanted && !sent.timer) {
      entries_.erase(key);
    } else if (sent.wanted) {
      Send(key);
    }
    SendThoseInLine();
  });
}

void DesiredWrites::SendThoseInLine() {
  while (!line_.empty() && in_flight_ < options_.most_at_once) {
    const std::string key = std::move(line_.front());
    line_.pop_front();
    const auto it = entries_.find(key);
    if (it == entries_.end() || !it->second.in_line) continue;
    it->second.in_line = false;
    if (it->second.wanted && !it->second.in_flight) Send(key);
  }
}

}  // namespace krafla
