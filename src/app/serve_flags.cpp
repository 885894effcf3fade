#include "app/serve_flags.h"

#include <algorithm>
#include <charconv>
#include <functional>
#include <map>
#include <optional>
#include <set>

#include <fmt/format.h>

#include "base/did_you_mean.h"
#include "base/go_bool.h"
#include "base/go_duration.h"
#include "kube/lease_margin.h"
#include "kube/page_process.h"
#include "model/quantity.h"

namespace krafla {

namespace {

using std::chrono::milliseconds;

enum class FlagKind : uint8_t { kText, kTexts, kList, kBool, kInt, kFloat, kDuration };

struct Flag {
  std::string_view name;
  FlagKind kind;
  std::string_view fallback;
  std::string_view help;  // empty: accepted, without a meaning here
};

// Those with a meaning first. Names and defaults are interface.
constexpr Flag kFlags[] = {
    {"kubeconfig", FlagKind::kText, "", "File with the cluster's address and our credentials"},
    {"master", FlagKind::kText, "",
     "Address of the API server; replaces the one of the kubeconfig"},
    {"scheduler-conf", FlagKind::kText, "",
     "Scheduler configuration file, read again when it changes; default: Volcano's default"},
    {"scheduler-name", FlagKind::kTexts, "volcano",
     "Pods with this schedulerName are ours; may be given several times"},
    {"schedule-period", FlagKind::kDuration, "1s",
     "A change is acted upon at the latest after this time"},
    {"default-queue", FlagKind::kText, "default", "Queue of jobs that name none"},
    {"node-selector", FlagKind::kList, "",
     "Only nodes with one of these labels (key:value) are used"},
    {"priority-class", FlagKind::kBool, "true", "Follow PriorityClasses"},
    {"csi-storage", FlagKind::kBool, "true", "Follow CSI nodes and their volume limits"},
    {"ignored-provisioners", FlagKind::kList, "", "CSI drivers whose volumes are not counted"},
    {"group-of-one", FlagKind::kText, "auto",
     "When a pod without PodGroup is scheduled alone: auto, never or after=DURATION"},
    {"max-evictions-per-minute", FlagKind::kInt, "0",
     "At most so many evictions within a minute; 0: no limit but the configuration's"},
    {"max-evictions-per-cycle", FlagKind::kInt, "0",
     "At most so many within a schedule period; 0: no limit but the configuration's"},
    {"eviction-limits-exempt-drains", FlagKind::kBool, "false",
     "Drains of closed zones do not count for these limits"},
    {"kube-api-qps", FlagKind::kFloat, "2000", "Requests a second, at most"},
    {"kube-api-burst", FlagKind::kInt, "2000", "… that may come at once after a quiet time"},
    {"leader-elect", FlagKind::kBool, "true", "Schedule only while holding a Lease"},
    {"leader-elect-lease-duration", FlagKind::kDuration, "15s",
     "Others may take over after this time without renewal"},
    {"leader-elect-renew-deadline", FlagKind::kDuration, "10s",
     "Stop writing after this time without renewal"},
    {"leader-elect-retry-period", FlagKind::kDuration, "2s", "Between two attempts"},
    {"leader-elect-resource-lock", FlagKind::kText, "leases", "Only leases"},
    {"leader-elect-resource-name", FlagKind::kText, "volcano", "Name of the Lease"},
    {"leader-elect-resource-namespace", FlagKind::kText, "volcano-system", "Its namespace"},
    {"lock-object-namespace", FlagKind::kText, "", "The same, by its older name"},
    {"heartbeat-timeout", FlagKind::kDuration, "60s",
     "The scheduling thread hangs when it stays in one phase for longer: the Lease is not renewed "
     "and /livez fails; longer than any action of a cycle takes"},
    {"max-clock-skew", FlagKind::kDuration, "30s",
     "While the clock differs by more from the API server's, no zone is drained and no cooldown "
     "ends; 0: off"},
    {"enable-healthz", FlagKind::kBool, "false", "Serve /healthz and /readyz"},
    {"healthz-address", FlagKind::kText, ":11251",
     "Where; \":11251\" is every address of IPv4 and IPv6"},
    {"ca-cert-file", FlagKind::kText, "",
     "With the next two: health pages over TLS, and all that shares their address"},
    {"tls-cert-file", FlagKind::kText, "",
     "The certificate of metrics and the API, PEM, read again when it changes; default: "
     "self-signed"},
    {"tls-private-key-file", FlagKind::kText, "", "Its key, PEM"},
    {"enable-metrics", FlagKind::kBool, "false", "Serve /metrics and /api/v1"},
    {"listen-address", FlagKind::kText, ":8080",
     "Where, in plain HTTP and TLS on one port; beyond loopback only TLS"},
    {"allow-anonymous-metrics", FlagKind::kBool, "false",
     "Serve /metrics without a token and in plain HTTP beyond loopback too"},
    {"page-memory-limit", FlagKind::kText, "256Mi",
     "Memory of each process that makes a page of the API; at most three at once"},
    {"record", FlagKind::kText, "",
     "Folder for a record of changes and decisions, which krafla run --replay lives once more"},
    {"record-limit", FlagKind::kText, "1Gi", "How much of it is kept; the oldest goes first"},
    {"compatibility", FlagKind::kText, "",
     "krafla or volcano: replaces the profile of the configuration"},
    {"lenient", FlagKind::kBool, "false",
     "Start with a configuration that has mistakes; they are left out and named"},
    {"v", FlagKind::kInt, "0", "Log level: 3, 4 or 5 for decisions in detail"},
    {"version", FlagKind::kBool, "false", "Print the version"},
    {"help", FlagKind::kBool, "false", "Print this"},

    {"cache-dump-dir", FlagKind::kText, "", ""},
    {"cache-dumper", FlagKind::kBool, "true", ""},
    {"disable-default-scheduler-config", FlagKind::kBool, "false", ""},
    {"enable-pprof", FlagKind::kBool, "false", ""},
    {"feature-gates", FlagKind::kText, "", ""},
    {"gate-removal-worker-num", FlagKind::kInt, "5", ""},
    {"minimum-feasible-nodes", FlagKind::kInt, "100", ""},
    {"minimum-percentage-nodes-to-find", FlagKind::kInt, "5", ""},
    {"node-worker-threads", FlagKind::kInt, "20", ""},
    {"percentage-nodes-to-find", FlagKind::kInt, "0", ""},
    {"plugins-dir", FlagKind::kText, "", ""},
    {"resource-sync-timeout", FlagKind::kDuration, "1m0s", ""},
    {"resync-period", FlagKind::kDuration, "0s", ""},
    {"scheduler-sharding-mode", FlagKind::kText, "none", ""},
    {"scheduler-sharding-name", FlagKind::kText, "volcano", ""},
    {"add-dir-header", FlagKind::kBool, "false", ""},
    {"alsologtostderr", FlagKind::kBool, "false", ""},
    {"alsologtostderrthreshold", FlagKind::kText, "", ""},
    {"legacy-stderr-threshold-behavior", FlagKind::kBool, "false", ""},
    {"log-backtrace-at", FlagKind::kText, "", ""},
    {"log-dir", FlagKind::kText, "", ""},
    {"log-file", FlagKind::kText, "", ""},
    {"log-file-max-size", FlagKind::kInt, "1800", ""},
    {"log-flush-frequency", FlagKind::kDuration, "5s", ""},
    {"logtostderr", FlagKind::kBool, "true", ""},
    {"one-output", FlagKind::kBool, "false", ""},
    {"skip-headers", FlagKind::kBool, "false", ""},
    {"skip-log-headers", FlagKind::kBool, "false", ""},
    {"stderrthreshold", FlagKind::kText, "", ""},
    {"vmodule", FlagKind::kText, "", ""},
};

const Flag* FindFlag(std::string_view name) {
  for (const Flag& flag : kFlags)
    if (flag.name == name) return &flag;
  return nullptr;
}

template <class T>
std::optional<T> ParseNumber(std::string_view text) {
  T value{};
  const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), value);
  if (error != std::errc{} || end != text.data() + text.size()) return std::nullopt;
  return value;
}

std::string_view Expected(FlagKind kind) {
  switch (kind) {
    case FlagKind::kBool:
      return "true or false";
    case FlagKind::kInt:
      return "a whole number";
    case FlagKind::kFloat:
      return "a number";
    case FlagKind::kDuration:
      return "a duration such as 1s or 1m30s";
    default:
      return "text";
  }
}

bool IsOfKind(FlagKind kind, const std::string& text) {
  switch (kind) {
    case FlagKind::kBool:
      return ParseGoBool(text).has_value();
    case FlagKind::kInt:
      return ParseNumber<int64_t>(text).has_value();
    case FlagKind::kFloat:
      return ParseNumber<double>(text).has_value();
    case FlagKind::kDuration:
      return ParseGoDuration(text).has_value();
    default:
      return true;
  }
}

class FlagReader {
 public:
  explicit FlagReader(Diagnostics& diagnostics) : diagnostics_(diagnostics) {}

  void Read(const std::vector<std::string>& arguments) {
    bool after_switch = false;  // a flag that takes its value only behind =
    for (size_t i = 0; i < arguments.size(); ++i) {
      std::string_view word = arguments[i];
      const std::string short_level = word.starts_with("-v=") ? "-" + arguments[i] : std::string();
      if (!short_level.empty()) word = short_level;
      if (word == "-v") word = "--v";
      if (word == "-h") word = "--help";
      if (!word.starts_with("-")) {
        // vc-scheduler passes over stray words, and its chart has one: 2>&1, meant for a shell. Any
        // other was meant as something, and would be missed.
        if (after_switch && ParseGoBool(arguments[i])) {
          Wrong(arguments[i], fmt::format("write {}={}", arguments[i - 1], arguments[i]));
        } else if (word.find('>') != std::string_view::npos) {
          stray_.push_back(arguments[i]);
        } else {
          Wrong(arguments[i],
                "expected a flag that begins with --; krafla serve --help lists them");
        }
        after_switch = false;
        continue;
      }
      after_switch = false;
      if (!word.starts_with("--") || word.size() == 2) {
        Wrong(arguments[i], "expected a flag that begins with --");
        continue;
      }
      word.remove_prefix(2);
      const size_t equals = word.find('=');
      std::string name(word.substr(0, equals));
      std::replace(name.begin(), name.end(), '_', '-');
      const Flag* flag = FindFlag(name);
      if (flag == nullptr) {
        std::vector<std::string_view> known;
        for (const Flag& f : kFlags) known.push_back(f.name);
        const auto near = DidYouMean(name, known);
        Wrong("--" + name, near ? fmt::format("unknown flag; did you mean --{}?", *near)
                                : "unknown flag; --help lists all of them");
        continue;
      }
      std::string value;
      if (equals != std::string_view::npos) {
        value = word.substr(equals + 1);
      } else if (flag->kind == FlagKind::kBool) {
        value = "true";
        after_switch = true;
      } else if (i + 1 < arguments.size()) {
        value = arguments[++i];
      } else {
        Wrong("--" + name, fmt::format("needs a value: {}", Expected(flag->kind)));
        continue;
      }
      if (!IsOfKind(flag->kind, value)) {
        Wrong("--" + name, fmt::format("expected {}, got {}", Expected(flag->kind), Quoted(value)));
        continue;
      }
      values_[flag->name].push_back(std::move(value));
    }
  }

  bool Given(std::string_view name) const { return values_.contains(name); }
  std::string Text(std::string_view name) const {
    const auto it = values_.find(name);
    return it == values_.end() ? std::string(FindFlag(name)->fallback) : it->second.back();
  }
  bool Bool(std::string_view name) const { return *ParseGoBool(Text(name)); }
  // 0: the flag was not given.
  int32_t Limit(std::string_view name) {
    if (!Given(name)) return 0;
    const auto limit = ParseNumber<int32_t>(Text(name));
    if (limit && *limit >= 0) return *limit;
    Wrong(fmt::format("--{}", name),
          fmt::format("expected a whole number of evictions, at least 0, got {}",
                      Quoted(Text(name))));
    return 0;
  }
  double Number(std::string_view name) const { return *ParseNumber<double>(Text(name)); }
  milliseconds Duration(std::string_view name) {
    const int64_t ns = *ParseGoDuration(Text(name));
    if (ns <= 0) {
      Wrong(fmt::format("--{}", name), "expected more than zero");
    } else if (ns % 1'000'000 != 0) {
      Wrong(fmt::format("--{}", name),
            fmt::format("expected whole milliseconds, got {}", Quoted(Text(name))));
    }
    return milliseconds(std::max<int64_t>(1, ns / 1'000'000));
  }
  std::vector<std::string> Texts(std::string_view name) const {
    const auto it = values_.find(name);
    if (it != values_.end()) return it->second;
    return {std::string(FindFlag(name)->fallback)};
  }
  // Several times, and commas.
  std::vector<std::string> List(std::string_view name) const {
    std::vector<std::string> items;
    const auto it = values_.find(name);
    if (it == values_.end()) return items;
    for (const std::string& value : it->second) {
      size_t begin = 0;
      while (begin <= value.size()) {
        const size_t end = std::min(value.find(',', begin), value.size());
        if (end > begin) items.push_back(value.substr(begin, end - begin));
        begin = end + 1;
      }
    }
    return items;
  }
  // Only the first mistake of a flag: what follows is judged by a value that the command line does
  // not have.
  void Wrong(const std::string& flag, std::string message) {
    if (wrong_.insert(flag).second) diagnostics_.Error(flag, {}, std::move(message));
  }
  bool IsWrong(const std::string& flag) const { return wrong_.contains(flag); }
  std::vector<std::string> WithoutMeaning() const {
    std::vector<std::string> names;
    for (const Flag& flag : kFlags)
      if (flag.help.empty() && Given(flag.name)) names.push_back(fmt::format("--{}", flag.name));
    names.insert(names.end(), stray_.begin(), stray_.end());
    return names;
  }

 private:
  Diagnostics& diagnostics_;
  std::map<std::string_view, std::vector<std::string>, std::less<>> values_;
  std::vector<std::string> stray_;
  std::set<std::string> wrong_;
};

std::optional<ListenAddress> Address(FlagReader& reader, std::string_view enabled,
                                     std::string_view name) {
  if (!reader.Bool(enabled)) return std::nullopt;
  Result<ListenAddress> address = ParseListenAddress(reader.Text(name));
  if (!address) {
    reader.Wrong(fmt::format("--{}", name), address.error().message);
    return std::nullopt;
  }
  return *address;
}

std::string DurationText(milliseconds duration) {
  return FormatGoDuration(std::chrono::nanoseconds(duration).count());
}

// A request that a leader has sent at the last moment is over before another one leads.
void CheckLeaseMargin(FlagReader& reader, const ServeOptions& options) {
  if (reader.IsWrong("--leader-elect-lease-duration") ||
      reader.IsWrong("--leader-elect-renew-deadline"))
    return;
  const milliseconds least = LeastLeaseDuration(options.lease_duration, options.renew_deadline);
  if (options.lease_duration >= least) return;
  reader.Wrong("--leader-elect-renew-deadline",
               fmt::format("{} + {} for a request + {} slack = {}, more than "
                           "--leader-elect-lease-duration {}: otherwise two could lead",
                           DurationText(options.renew_deadline),
                           DurationText(LeaseRequestTimeout(options.renew_deadline)),
                           DurationText(LeaseSlack(options.lease_duration)), DurationText(least),
                           DurationText(options.lease_duration)));
}

// 0 turns it off. The API server's Date has whole seconds.
milliseconds MaxClockSkew(FlagReader& reader) {
  constexpr const char* kName = "max-clock-skew";
  const int64_t ns = ParseGoDuration(reader.Text(kName)).value_or(0);
  if (ns == 0) return milliseconds(0);
  if (milliseconds(ns / 1'000'000) < std::chrono::seconds(2))
    reader.Wrong("--max-clock-skew",
                 fmt::format("expected 0 or at least 2s, got {}", Quoted(reader.Text(kName))));
  return reader.Duration(kName);
}

}  // namespace

ServeFlags ParseServeFlags(const std::vector<std::string>& arguments, Diagnostics& diagnostics) {
  FlagReader reader(diagnostics);
  reader.Read(arguments);
  ServeFlags flags;
  ServeOptions& options = flags.options;
  flags.show_help = reader.Bool("help");
  flags.show_version = reader.Bool("version");
  flags.lenient = reader.Bool("lenient");
  flags.compatibility = reader.Text("compatibility");
  if (!flags.compatibility.empty() && flags.compatibility != "krafla" &&
      flags.compatibility != "volcano")
    reader.Wrong("--compatibility",
                 fmt::format("expected krafla or volcano, got {}", Quoted(flags.compatibility)));
  options.kube = {reader.Text("kubeconfig"), reader.Text("master")};
  options.config_path = reader.Text("scheduler-conf");
  options.scheduler_names = reader.Texts("scheduler-name");
  // A pod that names no scheduler has a name all the same: default-scheduler.
  for (const std::string& name : options.scheduler_names)
    if (name.empty()) reader.Wrong("--scheduler-name", "expected a name, got nothing");
  options.default_queue = reader.Text("default-queue");
  if (options.default_queue.empty())
    reader.Wrong("--default-queue", "expected the name of a queue, got nothing");
  options.ignored_provisioners = reader.List("ignored-provisioners");
  options.priority_classes = reader.Bool("priority-class");
  options.csi_storage = reader.Bool("csi-storage");
  options.schedule_period = reader.Duration("schedule-period");
  if (const auto policy = ParseGroupOfOnePolicy(reader.Text("group-of-one"))) {
    options.group_of_one = *policy;
  } else {
    reader.Wrong("--group-of-one", policy.error().message);
  }
  for (const std::string& label : reader.List("node-selector")) {
    const size_t colon = label.find(':');
    if (colon == std::string::npos || colon == 0) {
      reader.Wrong("--node-selector", fmt::format("expected key:value, got {}", Quoted(label)));
      continue;
    }
    options.node_labels.emplace_back(label.substr(0, colon), label.substr(colon + 1));
  }
  flags.eviction_limits = {.per_minute = reader.Limit("max-evictions-per-minute"),
                           .per_cycle = reader.Limit("max-evictions-per-cycle"),
                           .exempt_drains = reader.Bool("eviction-limits-exempt-drains")};
  options.requests_per_second = reader.Number("kube-api-qps");
  options.burst = std::max(1.0, reader.Number("kube-api-burst"));
  options.leader_elect = reader.Bool("leader-elect");
  options.lease_name = reader.Text("leader-elect-resource-name");
  options.lease_namespace = reader.Text("lock-object-namespace");
  if (options.lease_namespace.empty())
    options.lease_namespace = reader.Text("leader-elect-resource-namespace");
  options.lease_duration = reader.Duration("leader-elect-lease-duration");
  options.renew_deadline = reader.Duration("leader-elect-renew-deadline");
  options.retry_period = reader.Duration("leader-elect-retry-period");
  if (options.leader_elect) {
    if (options.lease_name.empty())
      reader.Wrong("--leader-elect-resource-name", "expected the name of a Lease, got nothing");
    if (options.lease_namespace.empty())
      reader.Wrong("--leader-elect-resource-namespace", "expected a namespace, got nothing");
    if (reader.Text("leader-elect-resource-lock") != "leases")
      reader.Wrong("--leader-elect-resource-lock", "only leases are there");
    CheckLeaseMargin(reader, options);
    if (options.retry_period >= options.renew_deadline &&
        !reader.IsWrong("--leader-elect-renew-deadline"))
      reader.Wrong("--leader-elect-retry-period",
                   "must be shorter than --leader-elect-renew-deadline");
  }
  options.heartbeat_timeout = reader.Duration("heartbeat-timeout");
  if (options.heartbeat_timeout < std::chrono::seconds(1))
    reader.Wrong("--heartbeat-timeout", fmt::format("expected at least 1s, got {}",
                                                    Quoted(reader.Text("heartbeat-timeout"))));
  options.max_clock_skew = MaxClockSkew(reader);
  options.metrics_address = Address(reader, "enable-metrics", "listen-address");
  options.health_address = Address(reader, "enable-healthz", "healthz-address");
  const std::vector<std::string_view> tls_flags = {"ca-cert-file", "tls-cert-file",
                                                   "tls-private-key-file"};
  const auto given = [&](std::string_view name) { return !reader.Text(name).empty(); };
  if (std::all_of(tls_flags.begin(), tls_flags.end(), given))
    options.health_tls = TlsFiles{reader.Text("tls-cert-file"), reader.Text("tls-private-key-file"),
                                  reader.Text("ca-cert-file")};
  if (given("tls-cert-file") && given("tls-private-key-file"))
    options.page_tls =
        TlsFiles{reader.Text("tls-cert-file"), reader.Text("tls-private-key-file"), ""};
  options.anonymous_metrics = reader.Bool("allow-anonymous-metrics");
  options.record_folder = reader.Text("record");
  const Result<Quantity> limit = ParseQuantity(reader.Text("record-limit"));
  constexpr int64_t kLeastRecord = 1 << 20;
  if (!limit || limit->Value() < kLeastRecord) {
    reader.Wrong("--record-limit", fmt::format("expected an amount of bytes such as 1Gi, 1Mi at "
                                               "least, got {}",
                                               Quoted(reader.Text("record-limit"))));
  } else {
    options.record_bytes = static_cast<size_t>(limit->Value());
  }
  const Result<Quantity> page_memory = ParseQuantity(reader.Text("page-memory-limit"));
  if (!page_memory || page_memory->Value() < static_cast<int64_t>(PageProcesses::kLeastMemory)) {
    reader.Wrong("--page-memory-limit", fmt::format("expected an amount of bytes such as 256Mi, "
                                                    "64Mi at least, got {}",
                                                    Quoted(reader.Text("page-memory-limit"))));
  } else {
    options.page_memory_bytes = static_cast<size_t>(page_memory->Value());
  }
  options.verbosity = static_cast<int>(std::clamp(reader.Number("v"), 0.0, 10.0));
  flags.without_meaning = reader.WithoutMeaning();
  // As with vc-scheduler, for whose probes one or two of them change nothing.
  const bool certificate_used =
      options.health_tls || (options.page_tls && options.metrics_address.has_value());
  for (const std::string_view name : tls_flags) {
    const bool used = name == "ca-cert-file" ? options.health_tls.has_value() : certificate_used;
    if (given(name) && !used) flags.without_meaning.push_back(fmt::format("--{}", name));
  }
  return flags;
}

std::string ServeHelp() {
  std::string text =
      "krafla serve: the scheduler on a live cluster\n\n"
      "Takes the flags of vc-scheduler: --flag=value, --flag value, --flag for true.\n\n";
  for (const Flag& flag : kFlags) {
    if (flag.help.empty()) continue;
    const std::string left = flag.fallback.empty()
                                 ? fmt::format("  --{}", flag.name)
                                 : fmt::format("  --{}={}", flag.name, flag.fallback);
    text += fmt::format("{:<50} {}\n", left, flag.help);
  }
  text += "\nAccepted, without a meaning here:\n ";
  size_t column = 1;
  for (const Flag& flag : kFlags) {
    if (!flag.help.empty()) continue;
    const std::string word = fmt::format(" --{}", flag.name);
    if (column + word.size() > 98) {
      text += "\n ";
      column = 1;
    }
    text += word;
    column += word.size();
  }
  return text + "\n";
}

}  // namespace krafla
