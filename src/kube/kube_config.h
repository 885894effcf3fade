// How to reach an API server and as whom: a kubeconfig file (named by a flag, a list of them in
// KUBECONFIG, or the one in the home directory) or a pod's service account.
//
// Reading is pure: files and the environment come in through Surroundings, nothing is connected to.
// Certificates and tokens that are files are looked at here, so that a missing one is a mistake at
// the start; they are read by whoever connects, again and again where they rotate.
#pragma once

#include <functional>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "base/diagnostics.h"
#include "base/result.h"

namespace krafla {

// The bytes themselves, or the file they are in.
struct PemSource {
  std::string data;
  std::string file;
  bool empty() const { return data.empty() && file.empty(); }
};

// A program that prints an ExecCredential.
struct ExecPlugin {
  std::string api_version;
  std::string command;
  std::vector<std::string> args;
  std::vector<std::pair<std::string, std::string>> env;
  std::string install_hint;
  bool provide_cluster_info = false;
};

struct KubeConnection {
  std::string server;  // "https://10.0.0.1:6443", without a slash at the end
  PemSource ca;        // empty: the certificates of the system
  bool skip_tls_verify = false;
  std::string tls_server_name;
  std::string proxy_url;

  PemSource client_certificate;
  PemSource client_key;
  std::string token;
  std::string token_file;  // read again when it is old; wins over `token`
  std::string username;
  std::string password;
  std::optional<ExecPlugin> exec;
  std::string impersonate_user;
  std::vector<std::string> impersonate_groups;
  std::string impersonate_uid;

  std::string origin;  // where this was found, for messages
};

struct Surroundings {
  std::function<std::optional<std::string>(const std::string& name)> variable;
  std::function<bool(const std::string& path)> exists;
  std::function<Result<std::string>(const std::string& path)> read;
};
// Of this process.
Surroundings ProcessSurroundings();

struct KubeConfigFlags {
  std::string kubeconfig;
  std::string master;  // replaces the server's address
};

// In this order: the flag, KUBECONFIG, the service account of the pod this runs in, .kube/config at
// home. Warnings are about what is dangerous or ignored; with errors the result means nothing.
KubeConnection FindKubeConnection(const KubeConfigFlags& flags, const Surroundings& surroundings,
                                  Diagnostics& diagnostics);

}  // namespace krafla
