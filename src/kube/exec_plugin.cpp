#include "kube/exec_plugin.h"

#include <fcntl.h>
#include <poll.h>
#include <signal.h>
#include <spawn.h>
#include <sys/wait.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <cstring>
#include <optional>
#include <thread>
#include <vector>

#include <fmt/format.h>
#include <simdjson.h>

#include "base/base64.h"
#include "base/json_writer.h"

extern char** environ;

namespace krafla {

namespace {

using Clock = std::chrono::steady_clock;
using std::chrono::milliseconds;

constexpr milliseconds kLookEvery{20};
constexpr milliseconds kKillPatience{1000};  // until a killed process group is reaped

Result<std::string> TextOf(simdjson::ondemand::object& object, const char* key) {
  simdjson::ondemand::value value;
  if (object.find_field_unordered(key).get(value)) return std::string();
  std::string_view text;
  if (value.get_string().get(text)) return Fail(fmt::format("status.{}: expected text", key));
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

// A running plugin. It leads a process group of its own, so that its children end with it.
class PluginProcess {
 public:
  PluginProcess() = default;
  PluginProcess(const PluginProcess&) = delete;
  PluginProcess& operator=(const PluginProcess&) = delete;
  ~PluginProcess() {
    if (pid_ > 0) KillGroup();
    if (output_ >= 0) close(output_);
  }

  // 0, or the error.
  int Start(const std::string& command, std::vector<std::string> arguments,
            std::vector<std::string> environment) {
    int ends[2];
    if (pipe2(ends, O_CLOEXEC) != 0) return errno;
    output_ = ends[0];
    fcntl(output_, F_SETFL, O_NONBLOCK);
    posix_spawn_file_actions_t actions;
    posix_spawn_file_actions_init(&actions);
    posix_spawn_file_actions_addopen(&actions, STDIN_FILENO, "/dev/null", O_RDONLY, 0);
    posix_spawn_file_actions_adddup2(&actions, ends[1], STDOUT_FILENO);
    // A socket that a child holds open would outlive the connection that is closed here.
    posix_spawn_file_actions_addclosefrom_np(&actions, STDERR_FILENO + 1);
    // The scheduler blocks SIGTERM and ignores SIGPIPE; a plugin expects neither.
    posix_spawnattr_t attributes;
    posix_spawnattr_init(&attributes);
    sigset_t signals;
    sigemptyset(&signals);
    posix_spawnattr_setsigmask(&attributes, &signals);
    sigfillset(&signals);
    posix_spawnattr_setsigdefault(&attributes, &signals);
    posix_spawnattr_setpgroup(&attributes, 0);
    posix_spawnattr_setflags(
        &attributes, POSIX_SPAWN_SETSIGMASK | POSIX_SPAWN_SETSIGDEF | POSIX_SPAWN_SETPGROUP);
    const int error = posix_spawnp(&pid_, command.c_str(), &actions, &attributes,
                                   Pointers(arguments).data(), Pointers(environment).data());
    posix_spawnattr_destroy(&attributes);
    posix_spawn_file_actions_destroy(&actions);
    close(ends[1]);
    if (error != 0) pid_ = 0;
    return error;
  }

  // Waits for the plugin's end and takes what it printed. Children that still hold its standard
  // output are not waited for: they are killed with the group.
  Result<std::string> ReadUntilItEnds(const ExecLimits& limits) {
    const Clock::time_point begin = Clock::now();
    std::string text;
    bool closed = false;
    while (true) {
      const bool ended = HasEnded();
      while (!closed) {
        char buffer[4096];
        const ssize_t got = read(output_, buffer, sizeof buffer);
        if (got < 0 && errno == EINTR) continue;
        if (got < 0 && errno == EAGAIN) break;
        if (got < 0) return Fail(std::strerror(errno));
        closed = got == 0;
        text.append(buffer, static_cast<size_t>(got));
        if (text.size() > limits.most_bytes)
          return Fail(fmt::format("printed more than {} bytes, and was killed", limits.most_bytes));
      }
      if (ended) return text;
      const Clock::time_point until = limits.until();
      const Clock::time_point now = Clock::now();
      if (now >= until)
        return Fail(fmt::format(
            "did not end within {} s, and was killed",
            std::chrono::duration_cast<std::chrono::seconds>(until - begin + milliseconds(500))
                .count()));
      const auto wait = std::min(kLookEvery, std::chrono::ceil<milliseconds>(until - now));
      pollfd ready{closed ? -1 : output_, POLLIN, 0};
      poll(&ready, 1, static_cast<int>(wait.count()));
    }
  }

  // After the plugin's end. nullopt: its end cannot be seen.
  std::optional<int> Status() const { return status_; }

  // Ends what is left of the group. The number of a group that is not reaped yet is given to no
  // other process.
  void KillGroup() {
    kill(-pid_, SIGKILL);
    const Clock::time_point until = Clock::now() + kKillPatience;
    while (Clock::now() < until) {
      int status = 0;
      // Of the group, because grandchildren become children of process 1, which may be this one.
      const pid_t got = waitpid(-pid_, &status, WNOHANG);
      if (got == pid_) status_ = status;
      if (got < 0 && errno == ECHILD) break;
      if (got == 0) std::this_thread::sleep_for(milliseconds(2));
    }
    pid_ = 0;
  }

 private:
  // Without reaping it: its group's number stays taken.
  bool HasEnded() const {
    siginfo_t info{};
    if (waitid(P_PID, static_cast<id_t>(pid_), &info, WEXITED | WNOHANG | WNOWAIT) != 0)
      return errno == ECHILD;
    return info.si_pid == pid_;
  }

  pid_t pid_ = 0;
  int output_ = -1;
  std::optional<int> status_;
};

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
  const auto unexpected = [&](std::string_view got) {
    return Fail(fmt::format("expected an ExecCredential of {} on its standard output, got {}",
                            api_version, got));
  };
  if (parser.iterate(padded).get(document) || document.get_object().get(root))
    return unexpected(json.empty() ? "nothing" : "text that is not a JSON object");
  const Result<std::string> kind = TextOf(root, "kind");
  const Result<std::string> version = TextOf(root, "apiVersion");
  if (!kind || *kind != "ExecCredential") return unexpected("an object of another kind");
  if (!version || *version != api_version) return unexpected("one of another apiVersion");
  simdjson::ondemand::object status;
  if (root.find_field_unordered("status").get_object().get(status))
    return unexpected("one without status");
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
    if (!time)
      return Fail("status.expirationTimestamp: expected a time such as 2026-01-31T12:00:00Z");
    credential.expires = time->time;
  }
  if (credential.client_certificate.empty() != credential.client_key.empty())
    return Fail("status has one of clientCertificateData and clientKeyData without the other");
  if (credential.token.empty() && credential.client_certificate.empty())
    return Fail("status has neither a token nor clientCertificateData");
  return credential;
}

Result<ExecCredential> RunExecPlugin(const ExecPlugin& plugin, const KubeConnection& connection,
                                     const ExecLimits& limits) {
  const auto failed = [&](const std::string& why) {
    return Fail(fmt::format("exec plugin {} {}{}{}", plugin.command, why,
                            plugin.install_hint.empty() ? "" : "; hint: ", plugin.install_hint));
  };
  std::vector<std::string> arguments{plugin.command};
  arguments.insert(arguments.end(), plugin.args.begin(), plugin.args.end());
  PluginProcess process;
  if (const int error = process.Start(plugin.command, std::move(arguments),
                                      Environment(plugin, ExecInfo(plugin, connection)));
      error != 0)
    return failed(fmt::format("cannot be run: {}", std::strerror(error)));
  const Result<std::string> printed = process.ReadUntilItEnds(limits);
  process.KillGroup();
  if (!printed) return failed(printed.error().message);
  const std::optional<int> status = process.Status();
  if (!status) return failed("has ended, but its exit code cannot be read: SIGCHLD is ignored");
  if (WIFSIGNALED(*status)) return failed(fmt::format("ended by signal {}", WTERMSIG(*status)));
  if (WEXITSTATUS(*status) != 0)
    return failed(fmt::format("ended with code {}", WEXITSTATUS(*status)));
  Result<ExecCredential> credential = ParseExecCredential(*printed, plugin.api_version);
  if (!credential) return failed("gave no credential: " + credential.error().message);
  return credential;
}

}  // namespace krafla
