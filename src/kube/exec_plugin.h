// Runs a credential plugin (users[].user.exec of a kubeconfig): a program that prints an
// ExecCredential on its standard output. kube/exec_credential_source.h calls it on a thread of its
// own.
#pragma once

#include <chrono>
#include <cstddef>
#include <functional>
#include <string>
#include <string_view>

#include "base/result.h"
#include "base/timestamp.h"
#include "kube/kube_config.h"

namespace krafla {

struct ExecCredential {
  std::string token;
  std::string client_certificate;  // PEM
  std::string client_key;
  Timestamp expires;  // absent: good until the server refuses it
};

// The cluster, as the plugin sees it in KUBERNETES_EXEC_INFO.
std::string ExecInfo(const ExecPlugin& plugin, const KubeConnection& connection);

// Reads what the plugin printed. Messages never contain the text itself.
Result<ExecCredential> ParseExecCredential(std::string_view json, std::string_view api_version);

inline constexpr std::chrono::seconds kExecPatience{30};

struct ExecLimits {
  // When the plugin is killed. Called again and again while the plugin runs: a shutdown may bring
  // the instant forward.
  std::function<std::chrono::steady_clock::time_point()> until =
      [end = std::chrono::steady_clock::now() + kExecPatience] { return end; };
  size_t most_bytes = size_t{1} << 20;  // of standard output
};

// Runs the plugin and waits for its end. The plugin has a process group of its own, an empty signal
// mask and default dispositions, no input, our standard error, and none of our other files. When it
// ends, or at the limit, what is left of its group is killed.
Result<ExecCredential> RunExecPlugin(const ExecPlugin& plugin, const KubeConnection& connection,
                                     const ExecLimits& limits = {});

}  // namespace krafla
