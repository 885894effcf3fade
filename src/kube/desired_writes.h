// Statuses are not a series of commands but a wish per object: the last one counts. At most one
// request per object is under way; what is wished meanwhile is sent afterwards, and what was
// overtaken never. So the writes are bounded by the number of objects, whatever happens to them.
//
// Owned by the scheduling thread.
#pragma once

#include <cstdint>
#include <functional>
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
    // The server will not have it, and asking again would not help.
    std::function<void(const std::string& key, const HttpResponse& response)> on_refused;
  };

  DesiredWrites(ApiClient& client, Options options);

  // `wish` says what is wanted in a form that can be compared: the same as last time is not written
  // again. `urgent`: not held back.
  void Want(const std::string& key, std::string wish, HttpRequest request, bool urgent);
  // What is only held back to keep calm is sent now.
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
    bool forgotten = false;
    bool timer = false;
    int failures = 0;
    Timestamp sent;
  };

  void Send(const std::string& key);
  void Later(const std::string& key, std::chrono::milliseconds delay);

  ApiClient& client_;
  Options options_;
  std::unordered_map<std::string, Entry> entries_;
  size_t open_ = 0;
  uint64_t written_ = 0;
  uint64_t refused_ = 0;
};

}  // namespace krafla
