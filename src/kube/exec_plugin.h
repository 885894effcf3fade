// Credentials from a program: it is run, prints an ExecCredential, and that is good until it
// expires.
#pragma once

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
  Timestamp expires;  // absent: good until the server says no
};

// What the program is told about the cluster, in KUBERNETES_EXEC_INFO.
std::string ExecInfo(const ExecPlugin& plugin, const KubeConnection& connection);

// Reads what the program printed. Messages never contain the text itself.
Result<ExecCredential> ParseExecCredential(std::string_view json, std::string_view api_version);

// Runs the program and waits for it, for half a minute at most. Its standard error is ours.
Result<ExecCredential> RunExecPlugin(const ExecPlugin& plugin, const KubeConnection& connection);

}  // namespace krafla
