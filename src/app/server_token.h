// The bearer token that krafla explain --server sends: of a file, or of the kubeconfig's user.
#pragma once

#include <optional>
#include <string>
#include <string_view>

#include "base/diagnostics.h"
#include "kube/kube_config.h"

namespace krafla {

struct ServerToken {
  std::string text;    // empty: there is none
  std::string origin;  // for messages: where it was found, or why there is none
};

// --token-file.
ServerToken ReadTokenFile(const std::string& path, Diagnostics& diagnostics);

// Of the user of a kubeconfig: --kubeconfig or, where `path` is empty, KUBECONFIG, the pod's
// service account, ~/.kube/config. Runs the user's exec plugin. What is wrong with a kubeconfig
// that was not named by a flag is no error: `origin` says it.
ServerToken FindKubeToken(const std::string& path, const Surroundings& surroundings,
                          Diagnostics& diagnostics);

// The bytes of "AB:CD:…", "abcd…", also behind "sha256:". Nothing: it is no SHA-256.
std::optional<std::string> ReadFingerprint(std::string_view text);

}  // namespace krafla
