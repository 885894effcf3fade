// krafla explain: why a job waits, a pod goes, a queue has what it has, a zone empties as it does,
// and what would change it.
#pragma once

#include <chrono>
#include <iosfwd>
#include <optional>
#include <string>
#include <vector>

namespace krafla {

struct ExplainCommandOptions {
  std::string kind;  // job, pod, queue, zone
  std::string name;
  std::vector<std::string> cluster;
  std::string server;  // of a running scheduler; then none of the following until `output`
  std::string certificate_authority;  // of an https:// server, PEM; empty: the system's
  std::string server_fingerprint;     // instead: the SHA-256 of its certificate
  std::string token_file;             // whose token the server gets
  std::string kubeconfig;             // else that of its user; empty: where kubectl looks
  std::string config;                 // empty: Volcano's default configuration
  std::string now;                    // empty: the clock
  std::optional<std::string> compatibility;
  bool lenient = false;
  // How long a server that is busy or not ready is asked again.
  std::chrono::milliseconds server_patience{10'000};
  std::string system_certificates;  // what a system trusts, in tests; empty: this one
  std::string output = "text";
  bool color = false;
};

// Exit code: 0 an explanation was printed, 1 it could not be written, 2 the input is wrong or has
// no such object (all problems are on `err`, nothing is on `out`).
int ExplainCommand(const ExplainCommandOptions& options, std::istream& in, std::ostream& out,
                   std::ostream& err);

}  // namespace krafla
