// Keeps the scheduling thread told of every object of one kind.
//
//   1. List: as a watch that begins with all objects (watch-list) where the server can, else page
//      by page. The receiver is told where the list begins and ends, so that it can tell what is
//      gone: nothing is emptied first.
//   2. Watch from there. When the server ends it, watch on from the last version seen, unless the
//      server's own version is below that: then etcd was restored from a backup. Such a watch would
//      stay open and silent until the new versions have caught up, so the kind is listed again.
//   3. When that version is too old (410), or what the server sends cannot be read, list again.
// Whatever fails is tried again after a while that doubles, up to half a minute, and is never the
// same for two (jitter); what the server asks for in Retry-After is kept.
//
// Objects are cut down to the fields that are used before anybody keeps them: managed fields,
// environments and foreign annotations, the better part of most objects, go no further than here.
// They are decoded here too; the scheduling thread is given facts.
//
// Lives on the thread of its channel; made and destroyed while that does not run its callbacks, or
// after Stop.
#pragma once

#include <atomic>
#include <chrono>
#include <functional>
#include <memory>
#include <optional>
#include <random>
#include <set>
#include <string>
#include <string_view>
#include <vector>

#include "kube/api_text.h"
#include "kube/http_channel.h"
#include "kube/inbox.h"
#include "kube/outage_log.h"
#include "kube/watched_kinds.h"
#include "manifest/parcel_decoder.h"

namespace krafla {

// How long to wait after the n-th failure in a row.
class Backoff {
 public:
  Backoff(std::chrono::milliseconds first, std::chrono::milliseconds most, uint64_t seed)
      : first_(first), most_(most), random_(seed) {}
  std::chrono::milliseconds Next();
  void Reset() { failures_ = 0; }
  int failures() const { return failures_; }

 private:
  std::chrono::milliseconds first_;
  std::chrono::milliseconds most_;
  std::mt19937_64 random_;
  int failures_ = 0;
};

class Reflector {
 public:
  struct Options {
    bool watch_list = true;  // ask for it; a server that cannot is remembered
    int page_size = 500;
    uint64_t seed = 0;
    std::vector<std::string> scheduler_names = {"volcano"};  // whose pods are ours
    std::function<void(const std::string& line)> log;
    // For drills and tests: may fail a check.
    std::function<void(WatchedKind kind, const std::string& key)> before_decoding = {};
  };

  Reflector(WatchedKind kind, HttpChannel& channel, Inbox& inbox, OutageLog& outages,
            Options options);

  // Begins. Called once, from any thread.
  void Start();
  // Lists once more, as soon as the watch that is open says anything or ends. From any thread.
  void ListAgain() { list_again_ = true; }
  // Since the last word of the server, a bookmark at least. From any thread.
  double SecondsOfSilence() const;

 private:
  void List();
  void ListPage();
  void WatchList();
  void Watch();
  // Watches on, after a watch has ended.
  void WatchOn();
  bool IsBehind(const std::string& server_version) const;
  void Open(const std::string& query, bool listing);
  bool OnData(std::string_view piece);
  bool OnLine(std::string_view line);
  void OnWatchDone(HttpResponse response, bool listing);
  void Retry(const HttpResponse& response, const char* verb, void (Reflector::*next)());
  // What was sent cannot be read, and so what it said is unknown: only a list tells.
  void NoteUnreadable(const char* what, const std::string& problem, std::string_view text);
  void ListAfterUnreadable();
  void NoteLarge(const ObjectHead& head, size_t bytes);
  // The server does what we ask for.
  void NoteItWorks();
  bool Put(ObjectMessage::What what, ObjectHead head = {});
  ObjectMessage Seen(std::string object, ObjectHead head);
  void Log(const std::string& line);

  const WatchedKindInfo& info_;
  HttpChannel& channel_;
  Inbox& inbox_;
  OutageLog& outages_;
  Options options_;
  ApiTextParser parser_;
  ParcelDecoder decoder_;
  Backoff backoff_;
  Backoff
      unreadable_backoff_;  // a list that works does not reset it: the next watch may break again
  std::mt19937_64 random_;
  std::string version_;         // seen up to here; empty: nothing yet
  std::string continue_token_;  // of the page that comes next
  std::string partial_;         // the beginning of a line whose end has not arrived
  size_t taken_ = 0;  // bytes of the piece at hand that were worked off before a "not now"
  bool too_old_ = false;
  bool broken_ = false;      // the stream cannot be understood further
  bool unreadable_ = false;  // because of what it said
  bool relisting_ = false;   // because the last watch was too old
  std::atomic<bool> list_again_ = false;
  bool synced_ = false;   // for the log: the list has ended once
  bool failing_ = false;  // the last answer was none, or an error
  std::string last_problem_;
  std::optional<std::chrono::steady_clock::time_point> last_unreadable_;
  std::optional<std::chrono::steady_clock::time_point> unreadable_told_;
  std::set<std::string> large_;  // UIDs of objects that were logged as large
  std::atomic<std::chrono::steady_clock::time_point> last_word_{std::chrono::steady_clock::now()};
};

}  // namespace krafla
