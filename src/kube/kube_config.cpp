// Steps:
//   1. Which files, or the service account.
//   2. Each file to a tree; what is missing in a list is passed over.
//   3. Merge as kubectl does: the first file that has a cluster, user or context of a name, or a
//      current-context, is the one that counts.
//   4. Follow the current context to its cluster and user; relative paths start at their file.
#include "kube/kube_config.h"

#include <arpa/inet.h>

#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <iterator>
#include <map>
#include <memory>

#include <fmt/format.h>

#include "base/base64.h"
#include "base/did_you_mean.h"
#include "base/go_bool.h"
#include "base/yaml_node.h"

namespace krafla {

namespace {

constexpr const char* kServiceAccountFolder = "/var/run/secrets/kubernetes.io/serviceaccount";

struct ConfigFile {
  std::string path;
  YamlNode root;
};

struct Named {
  const ConfigFile* file = nullptr;
  const YamlNode* body = nullptr;  // null: the entry has a name only
};
using NamedEntries = std::map<std::string, Named, std::less<>>;

// What is wrong with a file that has to be there, if anything; an empty path is none.
template <class WhatItLacks>
std::optional<std::string> ProblemWithFile(const std::string& file,
                                           const Surroundings& surroundings,
                                           std::string_view expected, WhatItLacks&& lacks) {
  if (file.empty()) return std::nullopt;
  const Result<std::string> text = surroundings.read(file);
  const std::string_view problem = text ? lacks(*text) : std::string_view(text.error().message);
  if (problem.empty()) return std::nullopt;
  return fmt::format("expected {}: {}: {}", expected, file, problem);
}

std::optional<std::string> ProblemWithPem(const std::string& file,
                                          const Surroundings& surroundings) {
  return ProblemWithFile(file, surroundings, "a file in PEM", [](const std::string& text) {
    return text.find("-----BEGIN ") == std::string::npos ? "it has no -----BEGIN line" : "";
  });
}

std::optional<std::string> ProblemWithToken(const std::string& file,
                                            const Surroundings& surroundings) {
  return ProblemWithFile(file, surroundings, "a file with a token", [](const std::string& text) {
    return text.find_first_not_of("\r\n") == std::string::npos ? "it is empty" : "";
  });
}

// One mapping of a file, with messages that say where.
class Section {
 public:
  Section(const Named& named, std::string title, const Surroundings& surroundings,
          Diagnostics& diagnostics)
      : named_(named),
        title_(std::move(title)),
        surroundings_(surroundings),
        diagnostics_(diagnostics) {}

  const YamlNode* Find(std::string_view key) const {
    if (named_.body == nullptr) return nullptr;
    const YamlEntry* entry = named_.body->Find(key);
    return entry == nullptr || entry->value.IsNull() ? nullptr : &entry->value;
  }
  std::string Text(std::string_view key) {
    const YamlNode* node = Find(key);
    if (node == nullptr) return {};
    if (!node->IsScalar()) {
      Wrong(*node, key, fmt::format("expected text, got {}", Describe(*node)));
      return {};
    }
    return node->text;
  }
  bool Bool(std::string_view key) {
    const YamlNode* node = Find(key);
    if (node == nullptr) return false;
    const std::optional<bool> value = node->IsScalar() ? ParseGoBool(node->text) : std::nullopt;
    if (!value) Wrong(*node, key, fmt::format("expected true or false, got {}", Describe(*node)));
    return value.value_or(false);
  }
  std::vector<std::string> Texts(std::string_view key) {
    std::vector<std::string> texts;
    const YamlNode* node = Find(key);
    if (node == nullptr) return texts;
    if (!node->IsSequence())
      Wrong(*node, key, fmt::format("expected a list, got {}", Describe(*node)));
    for (const YamlNode& item : node->items) {
      if (!item.IsScalar()) Wrong(item, key, fmt::format("expected text, got {}", Describe(item)));
      texts.push_back(item.text);
    }
    return texts;
  }
  // A path as its file means it.
  std::string Path(std::string_view key) {
    const std::string text = Text(key);
    if (text.empty() || text[0] == '/') return text;
    return (std::filesystem::path(named_.file->path).parent_path() / text).lexically_normal();
  }
  // KEY-data wins over KEY, as in kubectl.
  PemSource Pem(const std::string& key) {
    PemSource source;
    const std::string coded = Text(key + "-data");
    if (coded.empty()) {
      source.file = Path(key);
      if (const auto problem = ProblemWithPem(source.file, surroundings_))
        Wrong(*Find(key), key, *problem);
      return source;
    }
    Result<std::string> data = DecodeBase64(coded);
    if (!data) {
      Wrong(*Find(key + "-data"), key + "-data", data.error().message);
    } else if (data->find("-----BEGIN ") == std::string::npos) {
      // What it is instead is not shown: it may be a secret.
      Wrong(*Find(key + "-data"), key + "-data", "is not PEM: it has no -----BEGIN line");
    } else {
      source.data = std::move(*data);
    }
    return source;
  }
  // Read again and again later; one that is not there at the start is a mistake.
  std::string TokenFile(std::string_view key) {
    std::string file = Path(key);
    if (const auto problem = ProblemWithToken(file, surroundings_))
      Wrong(*Find(key), key, *problem);
    return file;
  }
  void Wrong(const YamlNode& at, std::string_view key, std::string message) {
    diagnostics_.Add({Severity::kError, named_.file->path, at.location, title_, std::string(key),
                      std::move(message)});
  }
  void Warn(std::string_view key, std::string message) {
    const YamlNode* node = Find(key);
    diagnostics_.Add({Severity::kWarning, named_.file->path,
                      node != nullptr ? node->location : Location{}, title_, std::string(key),
                      std::move(message)});
  }
  const std::string& path() const { return named_.file->path; }
  Named Inside(std::string_view key) const {
    const YamlNode* node = Find(key);
    return {named_.file, node != nullptr && node->IsMapping() ? node : nullptr};
  }

 private:
  Named named_;
  std::string title_;
  const Surroundings& surroundings_;
  Diagnostics& diagnostics_;
};

class Finder {
 public:
  Finder(const KubeConfigFlags& flags, const Surroundings& surroundings, Diagnostics& diagnostics)
      : flags_(flags), surroundings_(surroundings), diagnostics_(diagnostics) {}

  KubeConnection Find() {
    KubeConnection connection = FindUnmastered();
    if (!flags_.master.empty()) {
      connection.server = flags_.master;
      CheckServer(connection, "--master", {});
    }
    return connection;
  }

 private:
  KubeConnection FindUnmastered() {
    if (!flags_.kubeconfig.empty()) return FromFiles({flags_.kubeconfig}, false);
    if (const auto list = surroundings_.variable("KUBECONFIG"); list && !list->empty())
      return FromFiles(Split(*list), true);
    if (const auto host = surroundings_.variable("KUBERNETES_SERVICE_HOST");
        host && !host->empty() &&
        surroundings_.exists(std::string(kServiceAccountFolder) + "/token"))
      return FromServiceAccount(*host);
    const auto home = surroundings_.variable("HOME");
    const std::string path = home.value_or("") + "/.kube/config";
    if (home && surroundings_.exists(path)) return FromFiles({path}, false);
    if (!flags_.master.empty()) {
      KubeConnection connection;
      connection.origin = "--master";
      return connection;
    }
    diagnostics_.Error(
        {}, {},
        fmt::format("no cluster to connect to: --kubeconfig is not given, KUBECONFIG "
                    "is not set, this is no pod with a service account, and there is "
                    "no {}",
                    home ? path : "home directory"));
    return {};
  }

  static std::vector<std::string> Split(const std::string& list) {
    std::vector<std::string> parts;
    size_t begin = 0;
    while (begin <= list.size()) {
      const size_t end = std::min(list.find(':', begin), list.size());
      if (end > begin) parts.push_back(list.substr(begin, end - begin));
      begin = end + 1;
    }
    return parts;
  }

  KubeConnection FromServiceAccount(const std::string& host) {
    KubeConnection connection;
    const std::string port = surroundings_.variable("KUBERNETES_SERVICE_PORT").value_or("443");
    const bool ipv6 = host.find(':') != std::string::npos;
    connection.server = fmt::format("https://{}:{}", ipv6 ? fmt::format("[{}]", host) : host, port);
    connection.ca.file = std::string(kServiceAccountFolder) + "/ca.crt";
    connection.token_file = std::string(kServiceAccountFolder) + "/token";
    connection.origin = "the pod's service account";
    if (const auto problem = ProblemWithPem(connection.ca.file, surroundings_))
      diagnostics_.Error("service account", {}, *problem);
    if (const auto problem = ProblemWithToken(connection.token_file, surroundings_))
      diagnostics_.Error("service account", {}, *problem);
    return connection;
  }

  KubeConnection FromFiles(const std::vector<std::string>& paths, bool may_be_missing) {
    bool any = false;
    for (const std::string& path : paths) {
      if (may_be_missing && !surroundings_.exists(path)) continue;
      any = true;
      Read(path);
    }
    if (!any)
      diagnostics_.Error(
          {}, {}, fmt::format("KUBECONFIG names no file that exists: {}", fmt::join(paths, ":")));
    if (diagnostics_.HasErrors()) return {};
    for (const auto& file : files_) Merge(*file);
    if (diagnostics_.HasErrors()) return {};
    return Follow(fmt::format("{}", fmt::join(paths, ":")));
  }

  void Read(const std::string& path) {
    Result<std::string> text = surroundings_.read(path);
    if (!text) return diagnostics_.Error(path, {}, text.error().message);
    YamlTree tree = ParseYaml(*text);
    for (const YamlProblem& problem : tree.problems)
      diagnostics_.Error(path, problem.location, problem.message);
    if (!tree.complete) return;
    if (!tree.root.IsMapping() && !tree.root.IsNull())
      return diagnostics_.Error(
          path, tree.root.location,
          fmt::format("expected a kubeconfig (a mapping), got {}", Describe(tree.root)));
    files_.push_back(std::make_unique<ConfigFile>(ConfigFile{path, std::move(tree.root)}));
  }

  void Merge(const ConfigFile& file) {
    Section top({&file, &file.root}, "kubeconfig", surroundings_, diagnostics_);
    if (current_.empty()) {
      current_ = top.Text("current-context");
      if (!current_.empty()) current_at_ = {file.path, top.Find("current-context")->location};
    }
    MergeList(file, "clusters", "cluster", clusters_);
    MergeList(file, "users", "user", users_);
    MergeList(file, "contexts", "context", contexts_);
  }

  void MergeList(const ConfigFile& file, std::string_view list, std::string_view body,
                 NamedEntries& into) {
    const YamlEntry* entry = file.root.Find(list);
    if (entry == nullptr || entry->value.IsNull()) return;
    if (!entry->value.IsSequence())
      return diagnostics_.Error(
          file.path, entry->value.location,
          fmt::format("{}: expected a list, got {}", list, Describe(entry->value)));
    for (const YamlNode& item : entry->value.items) {
      const YamlEntry* name = item.IsMapping() ? item.Find("name") : nullptr;
      if (name == nullptr || !name->value.IsScalar() || name->value.text.empty()) {
        diagnostics_.Error(file.path, item.location,
                           fmt::format("{}: expected an entry with a name", list));
        continue;
      }
      const YamlEntry* inside = item.Find(body);
      const bool mapping = inside != nullptr && inside->value.IsMapping();
      if (inside != nullptr && !mapping && !inside->value.IsNull())
        diagnostics_.Error(
            file.path, inside->value.location,
            fmt::format("{}: {}: expected a mapping, got {}", list, body, Describe(inside->value)));
      into.try_emplace(name->value.text, Named{&file, mapping ? &inside->value : nullptr});
    }
  }

  const Named* Lookup(const NamedEntries& entries, const std::string& name, std::string_view kind,
                      const std::string& from) {
    if (const auto it = entries.find(name); it != entries.end()) return &it->second;
    std::vector<std::string_view> names;
    for (const auto& [known, entry] : entries) names.push_back(known);
    diagnostics_.Error(current_at_.path, current_at_.location,
                       fmt::format("{} names the {} {}, which does not exist{}", from, kind,
                                   Quoted(name), DidYouMeanHint(name, names)));
    return nullptr;
  }

  KubeConnection Follow(const std::string& paths) {
    KubeConnection connection;
    // A file without contexts still says something when --master does the rest.
    if (current_.empty() && contexts_.empty() && !flags_.master.empty()) return connection;
    if (current_.empty()) {
      diagnostics_.Error(paths, {}, "no current-context: which of its clusters is meant?");
      return connection;
    }
    const Named* context = Lookup(contexts_, current_, "context", "current-context");
    if (context == nullptr) return connection;
    Section section(*context, fmt::format("context {}", current_), surroundings_, diagnostics_);
    const std::string cluster_name = section.Text("cluster");
    const std::string user_name = section.Text("user");
    connection.origin = fmt::format("{}, context {}", paths, current_);
    if (cluster_name.empty()) {
      diagnostics_.Error(context->file->path, {},
                         fmt::format("context {} names no cluster", Quoted(current_)));
      return connection;
    }
    const std::string from = fmt::format("context {}", Quoted(current_));
    if (const Named* cluster = Lookup(clusters_, cluster_name, "cluster", from))
      ReadClusterEntry(
          Section(*cluster, fmt::format("cluster {}", cluster_name), surroundings_, diagnostics_),
          connection);
    if (user_name.empty()) return connection;  // as nobody
    if (const Named* user = Lookup(users_, user_name, "user", from))
      ReadUser(Section(*user, fmt::format("user {}", user_name), surroundings_, diagnostics_),
               connection);
    return connection;
  }

  // Of "http://HOST[:PORT][/PATH]".
  static bool IsLoopback(const std::string& server) {
    const size_t begin = server.find("://") + 3;
    const size_t end = server[begin] == '['
                           ? server.find(']', begin) + 1
                           : std::min(server.find_first_of(":/", begin), server.size());
    const std::string host = server.substr(begin, end - begin);
    in_addr address{};
    const bool is_ipv4 = inet_pton(AF_INET, host.c_str(), &address) == 1;
    return host == "localhost" || host == "[::1]" ||
           (is_ipv4 && (ntohl(address.s_addr) >> 24) == 127);
  }

  void CheckServer(KubeConnection& connection, const std::string& what, Location at) {
    std::string& server = connection.server;
    while (server.ends_with('/')) server.pop_back();
    if (!server.starts_with("https://") && !server.starts_with("http://")) {
      // "10.0.0.1:6443" is what people write for a master.
      if (what == "--master" && server.find("://") == std::string::npos && !server.empty()) {
        server = "http://" + server;
      } else {
        diagnostics_.Error(what, at,
                           fmt::format("server: expected an address such as https://10.0.0.1:6443, "
                                       "got {}",
                                       server.empty() ? "nothing" : Quoted(server)));
        return;
      }
    }
    if (!server.starts_with("http://")) return;
    diagnostics_.Warning(
        what, at,
        IsLoopback(server)
            ? fmt::format("{} is not encrypted: no credentials are sent to it", server)
            : fmt::format("{} is not encrypted and not on this machine: no credentials are sent to "
                          "it, and anyone on the network between can read and change every answer; "
                          "use https://, or http:// on a loopback address",
                          server));
  }

  void ReadClusterEntry(Section section, KubeConnection& connection) {
    connection.server = section.Text("server");
    const YamlNode* server = section.Find("server");
    if (flags_.master.empty())
      CheckServer(connection, section.path(), server != nullptr ? server->location : Location{});
    connection.ca = section.Pem("certificate-authority");
    connection.skip_tls_verify = section.Bool("insecure-skip-tls-verify");
    connection.tls_server_name = section.Text("tls-server-name");
    connection.proxy_url = section.Text("proxy-url");
    if (connection.skip_tls_verify)
      section.Warn("insecure-skip-tls-verify",
                   "the server's certificate is not verified: whoever sits in between can read "
                   "and change everything");
    if (connection.skip_tls_verify && !connection.ca.empty())
      section.Wrong(*section.Find("insecure-skip-tls-verify"), "insecure-skip-tls-verify",
                    "there is a certificate-authority as well: only one of the two can be meant");
    if (!connection.proxy_url.empty() && !connection.proxy_url.starts_with("http://") &&
        !connection.proxy_url.starts_with("https://") &&
        !connection.proxy_url.starts_with("socks5://"))
      section.Wrong(*section.Find("proxy-url"), "proxy-url",
                    "expected an address that begins with http://, https:// or socks5://");
  }

  void ReadUser(Section section, KubeConnection& connection) {
    connection.client_certificate = section.Pem("client-certificate");
    connection.client_key = section.Pem("client-key");
    connection.token = section.Text("token");
    connection.token_file = section.TokenFile("tokenFile");
    connection.username = section.Text("username");
    connection.password = section.Text("password");
    connection.impersonate_user = section.Text("as");
    connection.impersonate_groups = section.Texts("as-groups");
    connection.impersonate_uid = section.Text("as-uid");
    if (connection.client_certificate.empty() != connection.client_key.empty()) {
      const bool no_key = connection.client_key.empty();
      const std::string there = no_key ? "client-certificate" : "client-key";
      const YamlNode* at = section.Find(there + "-data");
      section.Wrong(
          at != nullptr ? *at : *section.Find(there), there,
          fmt::format("there is no {} beside it", no_key ? "client-key" : "client-certificate"));
    }
    if (const YamlNode* provider = section.Find("auth-provider"))
      section.Wrong(*provider, "auth-provider",
                    "is no longer part of Kubernetes; use an exec plugin instead");
    if (const YamlNode* exec = section.Find("exec")) {
      if (!exec->IsMapping())
        return section.Wrong(*exec, "exec",
                             fmt::format("expected a mapping, got {}", Describe(*exec)));
      ReadExec(*exec, section, connection);
    }
  }

  void ReadExec(const YamlNode& node, Section& user, KubeConnection& connection) {
    Section section(user.Inside("exec"), "exec plugin", surroundings_, diagnostics_);
    ExecPlugin plugin;
    plugin.api_version = section.Text("apiVersion");
    plugin.command = section.Text("command");
    plugin.args = section.Texts("args");
    plugin.install_hint = section.Text("installHint");
    plugin.provide_cluster_info = section.Bool("provideClusterInfo");
    if (plugin.command.empty()) section.Wrong(node, "command", "is missing");
    // A bare name is looked for in PATH, a path with a slash starts at its file.
    if (plugin.command.find('/') != std::string::npos) plugin.command = section.Path("command");
    if (plugin.api_version != "client.authentication.k8s.io/v1" &&
        plugin.api_version != "client.authentication.k8s.io/v1beta1")
      section.Wrong(
          node, "apiVersion",
          fmt::format("expected client.authentication.k8s.io/v1 or …/v1beta1, got {}",
                      plugin.api_version.empty() ? "nothing" : Quoted(plugin.api_version)));
    if (section.Text("interactiveMode") == "Always")
      section.Wrong(*section.Find("interactiveMode"), "interactiveMode",
                    "a scheduler has nobody at its keyboard: Always cannot be met");
    if (const YamlNode* env = section.Find("env"); env != nullptr && env->IsSequence()) {
      for (const YamlNode& item : env->items) {
        const YamlEntry* name = item.IsMapping() ? item.Find("name") : nullptr;
        const YamlEntry* value = item.IsMapping() ? item.Find("value") : nullptr;
        if (name == nullptr || value == nullptr || !value->value.IsScalar()) {
          section.Wrong(item, "env", "expected a name and a value");
          continue;
        }
        plugin.env.emplace_back(name->value.text, value->value.text);
      }
    }
    connection.exec = std::move(plugin);
  }

  struct Place {
    std::string path;
    Location location;
  };

  const KubeConfigFlags& flags_;
  const Surroundings& surroundings_;
  Diagnostics& diagnostics_;
  std::vector<std::unique_ptr<ConfigFile>> files_;
  std::string current_;
  Place current_at_;
  NamedEntries clusters_;
  NamedEntries users_;
  NamedEntries contexts_;
};

}  // namespace

KubeConnection FindKubeConnection(const KubeConfigFlags& flags, const Surroundings& surroundings,
                                  Diagnostics& diagnostics) {
  return Finder(flags, surroundings, diagnostics).Find();
}

Surroundings ProcessSurroundings() {
  return {.variable = [](const std::string& name) -> std::optional<std::string> {
            const char* value = std::getenv(name.c_str());
            if (value == nullptr) return std::nullopt;
            return value;
          },
          .exists =
              [](const std::string& path) {
                std::error_code ignored;
                return std::filesystem::exists(path, ignored);
              },
          .read = [](const std::string& path) -> Result<std::string> {
            std::ifstream file(path, std::ios::binary);
            if (!file.is_open()) return Fail("cannot be read; does it exist, and may we read it?");
            std::error_code ignored;
            if (std::filesystem::is_directory(path, ignored))
              return Fail("expected a file, this is a folder");
            std::string text((std::istreambuf_iterator<char>(file)),
                             std::istreambuf_iterator<char>());
            if (file.bad()) return Fail("cannot be read");
            return text;
          }};
}

}  // namespace krafla
