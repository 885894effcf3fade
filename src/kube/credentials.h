// Who we are, request by request: certificates are read once per connection attempt, a token file
// again every minute (Kubernetes rotates it), an exec plugin again before its answer expires or
// when the server no longer takes it. A file that can no longer be read later on is warned of once,
// and what was read of it before stays.
//
// Thread-safe; shared by all channels to one server.
#pragma once

#include <chrono>
#include <functional>
#include <memory>
#include <mutex>
#include <optional>
#include <string>

#include "base/result.h"
#include "kube/exec_plugin.h"
#include "kube/kube_config.h"

namespace krafla {

// What goes into one request. Shared, because requests are many and it seldom changes.
struct Identity {
  std::string authorization;       // value of the header, empty: none
  std::string client_certificate;  // PEM, empty: none
  std::string client_key;
};

class Credentials {
 public:
  using Clock = std::chrono::steady_clock;

  Credentials(KubeConnection connection, Surroundings surroundings,
              std::function<void(const std::string& line)> log = {});

  // Of the server, PEM; empty: the system's.
  Result<std::string> ReadCa();

  // Good for one request. An error means that nobody can be asked at the moment.
  Result<std::shared_ptr<const Identity>> Current();
  // The server did not know us: what can be read anew is, before the next request.
  void Refused(const std::shared_ptr<const Identity>& identity);

  const KubeConnection& connection() const { return connection_; }

 private:
  Result<std::shared_ptr<const Identity>> Read();
  // Says so when it becomes so, and when it ends; empty: it can be read.
  void NoteUnreadable(bool& known, const std::string& problem);

  const KubeConnection connection_;
  const Surroundings surroundings_;
  const std::function<void(const std::string& line)> log_;
  std::mutex mutex_;
  std::shared_ptr<const Identity> current_;
  std::shared_ptr<const Identity> last_read_;  // also when the server no longer takes it
  Clock::time_point good_until_;
  std::string exec_problem_;  // empty: the plugin's last run was good
  Clock::time_point exec_again_;
  std::string last_ca_;
  bool unreadable_ = false;
  bool ca_unreadable_ = false;
};

}  // namespace krafla
