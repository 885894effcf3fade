#include "kube/exec_plugin.h"

#include <fcntl.h>
#include <poll.h>
#include <signal.h>
#include <spawn.h>
#include <sys/wait.h>
#include <unistd.h>

#include <cerrno>
#include <chrono>
#include <cstring>
#include <vector>

#include <fmt/format.h>
#include <simdjson.h>

#include "base/base64.h"
#include "base/json_writer.h"

extern char** environ;

namespace krafla {

namespace {

constexpr std::chrono::seconds kPatience{30};
constexpr size_t kMostBytes = 1 << 20;

Result<std::string> TextOf(simdjson::ondemand::object& object, const char* key) {
  simdjson::ondemand::value value;
  if (object.find_field_unordered(key).get(value)) return std::string();
  std::string_view text;
  if (value.get_string().get(text)) return Fail(fmt::format("its {} is no text", key));
  return std::string(text);
}

std::vector<std::string> Environment(const ExecPlugin& plugin, const std::string& info) {
  std::vector<std::string> variables;
  for (char** variable = environ; *variable != nullptr; ++variable) {
    const std::string_view text = *variable;
    const std::string_view name = text.substr(0, text.find('='));
    bool replaced = name == "KUBERNETES_EXEC_INFO";
    for (const auto& [key, value] : plugin.env) replaced = replaced || key == name;
    if (!replaced) variables.emplace_back(text);
  }
  for (const auto& [key, value] : plugin.env) variables.push_back(key + "=" + value);
  variables.push_back("KUBERNETES_EXEC_INFO=" + info);
  return variables;
}

std::vector<char*> Pointers(std::vector<std::string>& texts) {
  std::vector<char*> pointers;
  for (std::string& text : texts) pointers.push_back(text.data());
  pointers.push_back(nullptr);
  return pointers;
}

// Reads until the other side closes.
Result<std::string> ReadAll(int fd) {
  const auto deadline = std::chrono::steady_clock::now() + kPatience;
  std::string text;
  char buffer[4096];
  while (true) {
    const auto left = std::chrono::duration_cast<std::chrono::milliseconds>(
        deadline - std::chrono::steady_clock::now());
    if (left.count() <= 0) return Fail(fmt::format("did not end within {} s", kPatience.count()));
    pollfd ready{fd, POLLIN, 0};
    const int polled = poll(&ready, 1, static_cast<int>(left.count()));
    if (polled < 0 && errno != EINTR) return Fail(std::strerror(errno));
    if (polled <= 0) continue;
    const ssize_t got = read(fd, buffer, sizeof buffer);
    if (got < 0 && errno == EINTR) continue;
    if (got < 0) return Fail(std::strerror(errno));
    if (got == 0) return text;
    text.append(buffer, static_cast<size_t>(got));
    if (text.size() > kMostBytes) return Fail("printed more than a credential can be");
  }
}

}  // namespace

std::string ExecInfo(const ExecPlugin& plugin, const KubeConnection& connection) {
  JsonWriter json;
  json.BeginObject().Key("apiVersion").String(plugin.api_version);
  json.Key("kind").String("ExecCredential").Key("spec").BeginObject();
  json.Key("interactive").Bool(false);
  if (plugin.provide_cluster_info) {
    json.Key("cluster").BeginObject().Key("server").String(connection.server);
    if (!connection.tls_server_name.empty())
      json.Key("tls-server-name").String(connection.tls_server_name);
    if (connection.skip_tls_verify) json.Key("insecure-skip-tls-verify").Bool(true);
    if (!connection.ca.data.empty())
      json.Key("certificate-authority-data").String(EncodeBase64(connection.ca.data));
    if (!connection.proxy_url.empty()) json.Key("proxy-url").String(connection.proxy_url);
    json.EndObject();
  }
  json.EndObject().EndObject();
  return json.text();
}

Result<ExecCredential> ParseExecCredential(std::string_view json, std::string_view api_version) {
  const simdjson::padded_string padded(json);
  simdjson::ondemand::parser parser;
  simdjson::ondemand::document document;
  simdjson::ondemand::object root;
  if (parser.iterate(padded).get(document) || document.get_object().get(root))
    return Fail("printed something that is no JSON object");
  const Result<std::string> kind = TextOf(root, "kind");
  const Result<std::string> version = TextOf(root, "apiVersion");
  if (!kind || *kind != "ExecCredential") return Fail("printed something else than ExecCredential");
  if (!version || *version != api_version)
    return Fail(fmt::format("printed an ExecCredential of another version than {}", api_version));
  simdjson::ondemand::object status;
  if (root.find_field_unordered("status").get_object().get(status))
    return Fail("printed an ExecCredential without status");
  ExecCredential credential;
  const std::pair<const char*, std::string*> fields[] = {
      {"token", &credential.token},
      {"clientCertificateData", &credential.client_certificate},
      {"clientKeyData", &credential.client_key}};
  for (const auto& [key, target] : fields) {
    Result<std::string> text = TextOf(status, key);
    if (!text) return Fail(text.error().message);
    *target = std::move(*text);
  }
  const Result<std::string> expires = TextOf(status, "expirationTimestamp");
  if (!expires) return Fail(expires.error().message);
  if (!expires->empty()) {
    const Result<ZonedTimestamp> time = ParseRfc3339(*expires);
    if (!time) return Fail("its expirationTimestamp is no time");
    credential.expires = time->time;
  }
  if (credential.client_certificate.empty() != credential.client_key.empty())
    return Fail("gave one of certificate and key without the other");
  if (credential.token.empty() && credential.client_certificate.empty())
    return Fail("gave neither a token nor a certificate");
  return credential;
}

Result<ExecCredential> RunExecPlugin(const ExecPlugin& plugin, const KubeConnection& connection) {
  const auto failed = [&](const std::string& why) {
    return Fail(fmt::format("exec plugin {} {}{}{}", plugin.command, why,
                            plugin.install_hint.empty() ? "" : "; hint: ", plugin.install_hint));
  };
  int ends[2];
  if (pipe2(ends, O_CLOEXEC) != 0) return failed(std::strerror(errno));
  posix_spawn_file_actions_t actions;
  posix_spawn_file_actions_init(&actions);
  posix_spawn_file_actions_addopen(&actions, STDIN_FILENO, "/dev/null", O_RDONLY, 0);
  posix_spawn_file_actions_adddup2(&actions, ends[1], STDOUT_FILENO);
  std::vector<std::string> arguments{plugin.command};
  arguments.insert(arguments.end(), plugin.args.begin(), plugin.args.end());
  std::vector<std::string> environment = Environment(plugin, ExecInfo(plugin, connection));
  pid_t pid = 0;
  const int error = posix_spawnp(&pid, plugin.command.c_str(), &actions, nullptr,
                                 Pointers(arguments).data(), Pointers(environment).data());
  posix_spawn_file_actions_destroy(&actions);
  close(ends[1]);
  if (error != 0) {
    close(ends[0]);
    return failed(fmt::format("cannot be run: {}", std::strerror(error)));
  }
  const Result<std::string> printed = ReadAll(ends[0]);
  close(ends[0]);
  if (!printed) kill(pid, SIGKILL);
  int status = 0;
  while (waitpid(pid, &status, 0) < 0 && errno == EINTR) {
  }
  if (!printed) return failed(printed.error().message);
  if (!WIFEXITED(status) || WEXITSTATUS(status) != 0)
    return failed(WIFEXITED(status) ? fmt::format("ended with code {}", WEXITSTATUS(status))
                                    : "was killed");
  Result<ExecCredential> credential = ParseExecCredential(*printed, plugin.api_version);
  if (!credential) return failed(credential.error().message);
  return credential;
}

}  // namespace krafla
