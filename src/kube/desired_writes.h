// Statuses are not a series of commands but a wish per object: the last one counts. At most one
// request per object is under way; what is wished meanwhile is sent afterwards, and what was
// overtaken never. So the writes are bounded by the number of objects, whatever happens to them.
// Only some are handed to the client at once: behind thousands of bindings a status would wait
// there for seconds, be written although it is no longer true, and have to be written again.
//
// Owned by the scheduling thread.
#pragma once

#include <cstdint>
#include <deque>
#include <functional>
#include <optional>
#include <string>
#include <unordered_map>

#include "kube/api_client.h"

namespace krafla {

class DesiredWrites {
 public:
  struct Options {
    // Before the first write to an object, which may be overtaken by better news, and between two.
    std::chrono::milliseconds first_delay{0};
    std::chrono::milliseconds calm{0};
    size_t most_at_once = 32;
    // Asked before a request is sent: true: what it says is no longer so, and it is dropped.
    std::function<bool(const std::string& key)> is_moot;
    // The server will not have it, and asking again would not help. Not called where our role lacks
    // the permission: that is asked again with growing waits, and reported by
    // kube/update_fallback.h. Called once when an admission webhook begins to refuse it: that, too,
    // is asked again with growing waits.
    std::function<void(const std::string& key, const HttpResponse& response)> on_refused;
  };

  DesiredWrites(ApiClient& client, Options options);

  // `wish` says what is wanted in a form that can be compared: the same as last time is not written
  // again. `urgent`: not held back.
  void Want(const std::string& key, std::string wish, HttpRequest request, bool urgent);
  // The server has what is wanted: an earlier wish that has not been sent is dropped.
  void Settle(const std::string& key);
  // What is only held back to keep calm is sent now; what our role forbids or an admission webhook
  // refuses is given up. For the end.
  void Flush();
  // The object is gone, or somebody else's.
  void Forget(const std::string& key);

  // Wishes that are not yet fulfilled.
  size_t open() const { return open_; }
  uint64_t written() const { return written_; }
  uint64_t refused() const { return refused_; }

 private:
  struct Entry {
    HttpRequest request;
    std::string wish;       // last one
    std::string confirmed;  // the one the server has taken last
    bool wanted = false;    // the wish is not under way yet
    bool in_flight = false;
    bool in_line = false;  // its turn comes when others have been answered
    bool forgotten = false;
    bool timer = false;
    bool refused_by_admission = false;  // the last answer, as the next one
    bool forbidden = false;             // by a webhook, or because our role lacks the permission
    int failures = 0;
    std::optional<SteadyTime> sent;
  };

  void Send(const std::string& key);
  void SendThoseInLine();
  void Later(const std::string& key, std::chrono::milliseconds delay);

  ApiClient& client_;
  Options options_;
  std::unordered_map<std::string, Entry> entries_;
  std::deque<std::string> line_;  // keys; those no longer in line are passed over
  bool ending_ = false;           // Flush was called
  size_t in_flight_ = 0;
  size_t open_ = 0;
  uint64_t written_ = 0;
  uint64_t refused_ = 0;
};

}  // namespace krafla
