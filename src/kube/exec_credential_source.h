// Keeps the credential of an exec plugin fresh: runs the plugin on a thread of its own, first when
// a credential is requested, again before it expires and after the server refused it. A caller
// never waits for the plugin. kube/credentials.h makes requests' identities of it.
//
// Thread-safe.
#pragma once

#include <chrono>
#include <cstdint>
#include <functional>
#include <memory>
#include <string>

#include "kube/exec_plugin.h"
#include "kube/kube_config.h"

namespace krafla {

class ExecCredentialSource {
 public:
  using Clock = std::chrono::steady_clock;

  struct Options {
    std::chrono::milliseconds patience = kExecPatience;  // for one run
    std::chrono::milliseconds retry_wait{5'000};         // after a run that failed
    std::function<void()> on_change = {};                // after each run, on the plugin's thread
    std::function<void(const std::string& line)> log = {};
  };

  ExecCredentialSource(KubeConnection connection, Options options);
  // Ends a run that is under way.
  ~ExecCredentialSource();
  ExecCredentialSource(const ExecCredentialSource&) = delete;
  ExecCredentialSource& operator=(const ExecCredentialSource&) = delete;

  // Exactly one of these holds: `credential` is there, `problem` is not empty, or neither: the
  // plugin is running, and on_change follows.
  struct Answer {
    std::shared_ptr<const ExecCredential> credential;
    uint64_t generation = 0;  // of the credential: it changes with each run that succeeds
    std::string problem;
    Clock::time_point running_since;  // where there is neither
  };
  Answer Current();
  // The server answered 401 to the credential of this generation.
  void Refused(uint64_t generation);
  // From now on a run ends after `grace` in total, and no further one is begun then.
  void Stop(std::chrono::milliseconds grace);

 private:
  struct State;
  std::shared_ptr<State> state_;  // shared with the thread, which may outlive this object
};

}  // namespace krafla
