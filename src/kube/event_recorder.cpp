#include "kube/event_recorder.h"

#include <algorithm>

#include <fmt/format.h>

namespace krafla {

namespace {

using std::chrono::milliseconds;

constexpr std::chrono::seconds kTogether{600};
constexpr int kAttempts = 6;

}  // namespace

EventRecorder::EventRecorder(ApiClient& client, Options options)
    : client_(client), options_(std::move(options)) {}

EventRecorder::Remembered* EventRecorder::Find(const std::string& key) {
  const auto it = index_.find(key);
  return it == index_.end() ? nullptr : &*it->second;
}

void EventRecorder::Record(EventText event) {
  const std::string key = fmt::format("{}\n{}\n{}\n{}\n{}", event.about.kind, event.about.Key(),
                                      event.about.uid, event.reason, event.message);
  const auto it = index_.find(key);
  const Timestamp now = client_.Now();
  const SteadyTime happened = client_.SteadyNow();
  if (it != index_.end() && happened - it->second->happened < kTogether) {
    order_.splice(order_.begin(), order_, it->second);
    Remembered& known = *it->second;
    ++known.count;
    known.last = now;
    known.happened = happened;
    known.more = true;
    if (known.stored && !known.in_flight) Count(key);
    return;
  }
  if (it != index_.end()) {
    order_.erase(it->second);
    index_.erase(it);
  }
  if (waiting_ >= options_.most_waiting) {
    ++dropped_;
    return;
  }
  order_.push_front({.key = key, .last = now, .happened = happened});
  index_.emplace(key, order_.begin());
  if (order_.size() > options_.most_remembered) {
    index_.erase(order_.back().key);
    order_.pop_back();
  }
  Create(key, event);
}

void EventRecorder::Create(const std::string& key, const EventText& event) {
  Remembered& known = *Find(key);
  const Timestamp now = client_.Now();
  // Unique among all schedulers: the time, and a number for events of the same time.
  std::string name = fmt::format("{}.{:016x}{:x}", event.about.name, now.ns, names_++ & 0xfff);
  std::replace(name.begin(), name.end(), ':', '-');
  const std::string path = EventsPath(event.about);
  known.path = path + "/" + name;
  known.in_flight = true;
  HttpRequest request{.method = "POST",
                      .target = path,
                      .content_type = std::string(kJsonType),
                      .body = EventBody(event, name, options_.component, options_.instance, now),
                      .urgency = Urgency::kEvent};
  ++waiting_;
  Send(
      std::move(request),
      [this, key](bool stored) {
        Remembered* it = Find(key);
        if (it == nullptr) return;
        it->in_flight = false;
        it->stored = stored;
        if (stored && it->more) {
          Count(key);
        } else if (!stored) {
          // The next time it is a new one.
          order_.erase(index_.at(key));
          index_.erase(key);
        }
      },
      0);
}

void EventRecorder::Count(const std::string& key) {
  Remembered& known = *Find(key);
  known.in_flight = true;
  known.more = false;
  HttpRequest request{.method = "PATCH",
                      .target = known.path,
                      .content_type = std::string(kMergePatch),
                      .body = EventCountPatch(known.count, known.last),
                      .urgency = Urgency::kEvent};
  ++waiting_;
  Send(
      std::move(request),
      [this, key](bool stored) {
        Remembered* it = Find(key);
        if (it == nullptr) return;
        it->in_flight = false;
        if (!stored) {
          // The server has forgotten it: the next time it is a new one.
          order_.erase(index_.at(key));
          index_.erase(key);
        } else if (it->more) {
          Count(key);
        }
      },
      0);
}

void EventRecorder::Send(HttpRequest request, std::function<void(bool)> done, int attempt) {
  HttpRequest copy = request;
  client_.Send(std::move(copy), [this, request = std::move(request), done = std::move(done),
                                 attempt](const HttpResponse& response) mutable {
    // A repeated POST of an event that was stored after all.
    const bool stored = response.ok() || (attempt > 0 && response.status == 409);
    if (!stored && IsTransient(response) && attempt + 1 < kAttempts) {
      const milliseconds wait = std::max(response.retry_after.value_or(milliseconds(0)),
                                         milliseconds(200) * (1 << attempt));
      client_.After(
          wait, [this, request = std::move(request), done = std::move(done), attempt]() mutable {
            Send(std::move(request), std::move(done), attempt + 1);
          });
      return;
    }
    --waiting_;
    if (stored) {
      ++sent_;
    } else {
      ++dropped_;
    }
    done(stored);
  });
}

}  // namespace krafla
