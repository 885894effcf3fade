// What identifies the scheduler to the API server, request by request: certificates and token files
// are read again every minute (Kubernetes rotates them) and after a 401; an exec plugin runs on a
// thread of its own (kube/exec_credential_source.h). A file that can no longer be read is warned of
// once, and what was read of it before stays.
//
// Thread-safe; shared by all channels to one server.
#pragma once

#include <chrono>
#include <functional>
#include <map>
#include <memory>
#include <mutex>
#include <optional>
#include <string>

#include "base/result.h"
#include "kube/exec_credential_source.h"
#include "kube/kube_config.h"

namespace krafla {

// What goes into one request. Shared, because requests are many and it seldom changes.
struct Identity {
  std::string authorization;       // value of the header, empty: none
  std::string client_certificate;  // PEM, empty: none
  std::string client_key;
};

struct ExecTiming {
  std::chrono::milliseconds patience = kExecPatience;  // for one run of an exec plugin
  std::chrono::milliseconds retry_wait{5'000};         // after one that failed
};

class Credentials {
 public:
  using Clock = std::chrono::steady_clock;

  Credentials(KubeConnection connection, Surroundings surroundings,
              std::function<void(const std::string& line)> log = {}, ExecTiming timing = {});

  // Of the server, PEM; empty: the system's.
  Result<std::string> ReadCa();

  // Good for one request. An error means that no request can be sent at the moment. nullptr: an
  // exec plugin is running; the listeners are called when it has ended. Never waits for the plugin.
  Result<std::shared_ptr<const Identity>> Current();
  // The same, and waits for an exec plugin: for programs that have nothing else to do.
  Result<std::shared_ptr<const Identity>> Await();
  // The server answered 401: files are read again before the next request, a plugin runs again.
  void Refused(const std::shared_ptr<const Identity>& identity);

  // Calls `listener`, on any thread, when Current may say something else than nullptr. It must not
  // call back.
  uint64_t AddListener(std::function<void()> listener);
  // Afterwards it is not called any more.
  void RemoveListener(uint64_t id);
  // From now on an exec plugin has `grace` in total to end.
  void Stop(std::chrono::milliseconds grace);

  const KubeConnection& connection() const { return connection_; }

 private:
  Result<std::shared_ptr<const Identity>> CurrentOfPlugin();
  // `plugin`: what the exec plugin gave, where there is one.
  Result<std::shared_ptr<const Identity>> Read(const ExecCredential* plugin);
  // Logs when it becomes unreadable, and when that ends; an empty problem: it can be read.
  void NoteUnreadable(bool& known, const std::string& problem);

  const KubeConnection connection_;
  const Surroundings surroundings_;
  const std::function<void(const std::string& line)> log_;
  std::mutex mutex_;
  std::shared_ptr<const Identity> current_;
  std::shared_ptr<const Identity> last_read_;  // also when the server no longer takes it
  Clock::time_point good_until_;
  uint64_t generation_ = 0;  // of the plugin's credential in `current_`
  std::string last_ca_;
  bool unreadable_ = false;
  bool ca_unreadable_ = false;
  std::mutex listeners_mutex_;
  std::map<uint64_t, std::function<void()>> listeners_;
  uint64_t last_listener_ = 0;
  std::unique_ptr<ExecCredentialSource> plugin_;  // null: no exec plugin, or it may not be used
};

}  // namespace krafla
