#include "app/serve_flags.h"

#include <fmt/format.h>
#include <gtest/gtest.h>

#include <fstream>
#include <regex>
#include <sstream>
#include <string>

#include "support/source_dir.h"

namespace krafla {
namespace {

using std::chrono::milliseconds;
using Words = std::vector<std::string>;

ServeFlags Parse(const Words& words, const std::string& problems = "") {
  Diagnostics diagnostics;
  ServeFlags flags = ParseServeFlags(words, diagnostics);
  std::string text;
  for (const Diagnostic& d : diagnostics.items()) text += ToString(d) + "\n";
  EXPECT_EQ(text, problems);
  return flags;
}

TEST(ServeFlags, DefaultsAreThoseOfVolcano) {
  const ServeOptions options = Parse({}).options;
  EXPECT_EQ(options.scheduler_names, (Words{"volcano"}));
  EXPECT_EQ(options.schedule_period, milliseconds(1000));
  EXPECT_EQ(options.requests_per_second, 2000);
  EXPECT_TRUE(options.leader_elect);
  EXPECT_EQ(options.lease_name, "volcano");
  EXPECT_EQ(options.lease_namespace, "volcano-system");
  EXPECT_FALSE(options.metrics_address) << "as there: only when switched on";
  const ServeOptions on = Parse({"--enable-metrics", "--enable-healthz=true"}).options;
  EXPECT_EQ(on.metrics_address->host, "");
  EXPECT_EQ(on.metrics_address->port, 8080);
  EXPECT_EQ(on.health_address->host, "");
  EXPECT_EQ(on.health_address->port, 11251);
}

TEST(ServeFlags, MetricsNeedATokenUnlessAFlagSaysOtherwise) {
  EXPECT_FALSE(Parse({"--enable-metrics"}).options.anonymous_metrics);
  EXPECT_TRUE(Parse({"--allow-anonymous-metrics"}).options.anonymous_metrics);
  EXPECT_FALSE(Parse({"--allow-anonymous-metrics=false"}).options.anonymous_metrics);
  Parse({"--allow-anonymous-metrics=yes"},
        "--allow-anonymous-metrics: error: expected true or false, got \"yes\"\n");
}

TEST(ServeFlags, RecordsHaveALimit) {
  EXPECT_TRUE(Parse({}).options.record_folder.empty());
  EXPECT_EQ(Parse({}).options.record_bytes, size_t{1} << 30);
  const ServeOptions options = Parse({"--record=/r", "--record-limit=64Mi"}).options;
  EXPECT_EQ(options.record_folder, "/r");
  EXPECT_EQ(options.record_bytes, size_t{64} << 20);
  for (const char* wrong : {"--record-limit=1k", "--record-limit=much", "--record-limit=-1Gi"}) {
    Diagnostics diagnostics;
    ParseServeFlags({wrong}, diagnostics);
    ASSERT_TRUE(diagnostics.HasErrors()) << wrong;
    EXPECT_EQ(diagnostics.items()[0].file, "--record-limit");
  }
}

TEST(ServeFlags, PageProcessesHaveAMemoryLimit) {
  EXPECT_EQ(Parse({}).options.page_memory_bytes, size_t{256} << 20);
  EXPECT_EQ(Parse({"--page-memory-limit", "1Gi"}).options.page_memory_bytes, size_t{1} << 30);
  for (const char* wrong : {"63Mi", "much", "-1Gi", ""})
    Parse({fmt::format("--page-memory-limit={}", wrong)},
          fmt::format("--page-memory-limit: error: expected an amount of bytes such as 256Mi, 64Mi "
                      "at least, got \"{}\"\n",
                      wrong));
}

TEST(ServeFlags, EvictionLimitsAreWholeNumbersFromZeroOn) {
  EXPECT_EQ(Parse({}).eviction_limits, EvictionLimits{});
  EXPECT_EQ(Parse({"--max-evictions-per-minute=100", "--max-evictions-per-cycle", "50",
                   "--eviction-limits-exempt-drains"})
                .eviction_limits,
            (EvictionLimits{.per_minute = 100, .per_cycle = 50, .exempt_drains = true}));
  EXPECT_EQ(Parse({"--max-evictions-per-minute=0"}).eviction_limits, EvictionLimits{})
      << "as the default is shown";
  Parse({"--max-evictions-per-minute=-2", "--max-evictions-per-cycle=-1"},
        "--max-evictions-per-minute: error: expected a whole number of evictions, at least 0, got "
        "\"-2\"\n"
        "--max-evictions-per-cycle: error: expected a whole number of evictions, at least 0, got "
        "\"-1\"\n");
  Parse({"--max-evictions-per-minute=many", "--max-evictions-per-cycle=9999999999"},
        "--max-evictions-per-minute: error: expected a whole number, got \"many\"\n"
        "--max-evictions-per-cycle: error: expected a whole number of evictions, at least 0, got "
        "\"9999999999\"\n");
}

TEST(ServeFlags, NamesAreNotEmpty) {
  Parse({"--scheduler-name="}, "--scheduler-name: error: expected a name, got nothing\n");
  Parse({"--scheduler-name", ""}, "--scheduler-name: error: expected a name, got nothing\n");
  Parse({"--scheduler-name=a", "--scheduler-name="},
        "--scheduler-name: error: expected a name, got nothing\n");
  Parse({"--default-queue="},
        "--default-queue: error: expected the name of a queue, got nothing\n");
  Parse({"--leader-elect-resource-name=", "--leader-elect-resource-namespace="},
        "--leader-elect-resource-name: error: expected the name of a Lease, got nothing\n"
        "--leader-elect-resource-namespace: error: expected a namespace, got nothing\n");
  EXPECT_EQ(Parse({"--lock-object-namespace="}).options.lease_namespace, "volcano-system");
}

TEST(ServeFlags, TheNotationOfKubernetes) {
  const ServeFlags flags =
      Parse({"--kubeconfig", "/k", "--master=https://x", "--scheduler-name=a", "--scheduler-name=b",
             "--leader-elect=false", "--listen-address=:9090", "--enable-metrics", "-v", "4",
             "--node-selector=role:train,role:serve", "--node-selector=x:y",
             "--schedule-period=500ms", "--scheduler_conf=/c"});
  EXPECT_EQ(flags.options.kube.kubeconfig, "/k");
  EXPECT_EQ(flags.options.kube.master, "https://x");
  EXPECT_EQ(flags.options.scheduler_names, (Words{"a", "b"}));
  EXPECT_FALSE(flags.options.leader_elect);
  EXPECT_EQ(flags.options.metrics_address->host, "");
  EXPECT_EQ(flags.options.verbosity, 4);
  ASSERT_EQ(flags.options.node_labels.size(), 3u);
  EXPECT_EQ(flags.options.node_labels[1].second, "serve");
  EXPECT_EQ(flags.options.schedule_period, milliseconds(500));
  EXPECT_EQ(flags.options.config_path, "/c");
}

// The list of vc-scheduler's flags, each with a value of its type.
TEST(ServeFlags, EveryFlagOfVolcanoIsAccepted) {
  const Words all = {"--ca-cert-file=a",
                     "--cache-dump-dir=a",
                     "--cache-dumper=true",
                     "--csi-storage=true",
                     "--default-queue=default",
                     "--disable-default-scheduler-config",
                     "--enable-healthz",
                     "--enable-metrics",
                     "--enable-pprof",
                     "--feature-gates=A=true,B=false",
                     "--gate-removal-worker-num=5",
                     "--healthz-address=:11251",
                     "--ignored-provisioners=a,b",
                     "--kube-api-burst=2000",
                     "--kube-api-qps=2000",
                     "--kubeconfig=a",
                     "--leader-elect=true",
                     "--leader-elect-lease-duration=15s",
                     "--leader-elect-renew-deadline=10s",
                     "--leader-elect-resource-lock=leases",
                     "--leader-elect-resource-name=volcano",
                     "--leader-elect-resource-namespace=volcano-system",
                     "--leader-elect-retry-period=2s",
                     "--listen-address=:8080",
                     "--master=a",
                     "--minimum-feasible-nodes=100",
                     "--minimum-percentage-nodes-to-find=5",
                     "--node-selector=a:b",
                     "--node-worker-threads=20",
                     "--percentage-nodes-to-find=0",
                     "--plugins-dir=a",
                     "--priority-class=true",
                     "--resource-sync-timeout=1m0s",
                     "--resync-period=0s",
                     "--schedule-period=1s",
                     "--scheduler-conf=a",
                     "--scheduler-name=volcano",
                     "--scheduler-sharding-mode=none",
                     "--scheduler-sharding-name=volcano",
                     "--tls-cert-file=a",
                     "--tls-private-key-file=a",
                     "--version=false",
                     "--add-dir-header",
                     "--alsologtostderr",
                     "--alsologtostderrthreshold=1",
                     "--legacy-stderr-threshold-behavior",
                     "--log-backtrace-at=a:1",
                     "--log-dir=a",
                     "--log-file=a",
                     "--log-file-max-size=1",
                     "--log-flush-frequency=5s",
                     "--logtostderr",
                     "--one-output",
                     "--skip-headers",
                     "--skip-log-headers",
                     "--stderrthreshold=2",
                     "--v=3",
                     "--vmodule=a=1"};
  const ServeFlags flags = Parse(all);
  EXPECT_EQ(flags.without_meaning.size(), 30u);
  EXPECT_TRUE(flags.options.health_tls);
  const std::string help = ServeHelp();
  for (const std::string& word : all)
    EXPECT_NE(help.find(word.substr(0, word.find('='))), std::string::npos) << word;
}

TEST(ServeFlags, MistakesAreAllNamed) {
  Parse({"--leader-elec=true", "--schedule-period=soon", "-stray", "--kube-api-qps=fast",
         "--node-selector=train", "--leader-elect-renew-deadline=20s", "--compatibility=kai",
         "--enable-healthz", "--healthz-address=here", "--kubeconfig"},
        "--leader-elec: error: unknown flag; did you mean --leader-elect?\n"
        "--schedule-period: error: expected a duration such as 1s or 1m30s, got \"soon\"\n"
        "-stray: error: expected a flag that begins with --\n"
        "--kube-api-qps: error: expected a number, got \"fast\"\n"
        "--kubeconfig: error: needs a value: text\n"
        "--compatibility: error: expected krafla or volcano, got \"kai\"\n"
        "--node-selector: error: expected key:value, got \"train\"\n"
        "--leader-elect-renew-deadline: error: 20s + 4s for a request + 1.5s slack = 25.5s, more "
        "than --leader-elect-lease-duration 15s: otherwise two could lead\n"
        "--healthz-address: error: expected an address such as 127.0.0.1:8080, [::1]:8080 or "
        ":8080, got "
        "\"here\"\n");
}

TEST(ServeFlags, WhenAPodIsScheduledAlone) {
  using When = GroupOfOnePolicy::When;
  EXPECT_EQ(Parse({}).options.group_of_one, GroupOfOnePolicy{.when = When::kAuto});
  EXPECT_EQ(Parse({"--group-of-one=after=2s"}).options.group_of_one,
            (GroupOfOnePolicy{.when = When::kAfter, .delay_ns = 2'000'000'000}));
  Parse({"--group-of-one=soon"},
        "--group-of-one: error: expected auto, never or after=DURATION such as after=5s (0s: at "
        "once), got \"soon\"\n");
}

TEST(ServeFlags, LeaseAndRenewDeadlineLeaveRoomForARequest) {
  EXPECT_EQ(Parse({"--leader-elect-lease-duration=15s", "--leader-elect-renew-deadline=10s"})
                .options.lease_duration,
            std::chrono::seconds(15));
  Parse({"--leader-elect-lease-duration=3s", "--leader-elect-renew-deadline=2s",
         "--leader-elect-retry-period=500ms"});
  Parse({"--leader-elect-lease-duration=15s", "--leader-elect-renew-deadline=12s"},
        "--leader-elect-renew-deadline: error: 12s + 3s for a request + 1.5s slack = 16.5s, more "
        "than --leader-elect-lease-duration 15s: otherwise two could lead\n");
  Parse({"--leader-elect=false", "--leader-elect-lease-duration=15s",
         "--leader-elect-renew-deadline=14s"});
}

TEST(ServeFlags, DurationsBelowASecondAreKeptOrRefused) {
  const ServeFlags flags =
      Parse({"--leader-elect-lease-duration=2500ms", "--leader-elect-renew-deadline=1250ms",
             "--leader-elect-retry-period=125ms"});
  EXPECT_EQ(flags.options.lease_duration, std::chrono::milliseconds(2500));
  EXPECT_EQ(flags.options.renew_deadline, std::chrono::milliseconds(1250));
  EXPECT_EQ(flags.options.retry_period, std::chrono::milliseconds(125));
  Parse({"--leader-elect-retry-period=1500us"},
        "--leader-elect-retry-period: error: expected whole milliseconds, got \"1500us\"\n");
}

TEST(ServeFlags, HeartbeatAndClockSkewHaveBounds) {
  const ServeFlags defaults = Parse({});
  EXPECT_EQ(defaults.options.heartbeat_timeout, std::chrono::seconds(60));
  EXPECT_EQ(defaults.options.max_clock_skew, std::chrono::seconds(30));
  EXPECT_EQ(Parse({"--max-clock-skew=0"}).options.max_clock_skew.count(), 0);
  EXPECT_EQ(Parse({"--max-clock-skew=2m"}).options.max_clock_skew, std::chrono::minutes(2));
  Parse({"--max-clock-skew=1s", "--heartbeat-timeout=500ms"},
        "--heartbeat-timeout: error: expected at least 1s, got \"500ms\"\n"
        "--max-clock-skew: error: expected 0 or at least 2s, got \"1s\"\n");
  Parse({"--max-clock-skew=-3s"},
        "--max-clock-skew: error: expected 0 or at least 2s, got \"-3s\"\n");
  Parse({"--heartbeat-timeout=long"},
        "--heartbeat-timeout: error: expected a duration such as 1s or 1m30s, got \"long\"\n");
}

TEST(ServeFlags, AFlagHasOneErrorAndNoneFollowsFromIt) {
  Parse({"--leader-elect-lease-duration=0"},
        "--leader-elect-lease-duration: error: expected more than zero\n");
  Parse({"--leader-elect-renew-deadline=-1s"},
        "--leader-elect-renew-deadline: error: expected more than zero\n");
  Parse({"--heartbeat-timeout=0s"}, "--heartbeat-timeout: error: expected more than zero\n");
}

TEST(ServeFlags, EveryFlagOfTheHelpIsInTheDocumentation) {
  std::stringstream text;
  text << std::ifstream(testing::SourceDir() + "/docs/serve.md").rdbuf();
  const std::string page = text.str();
  const std::string help = ServeHelp();
  const std::regex flag("\n  --([a-z-]+)");
  // Of the flags without a meaning the page names some together.
  const std::string with_meaning = help.substr(0, help.find("Accepted, without a meaning"));
  size_t flags = 0;
  for (std::sregex_iterator it(with_meaning.begin(), with_meaning.end(), flag);
       it != std::sregex_iterator(); ++it) {
    const std::string name = (*it)[1];
    EXPECT_TRUE(page.contains("| `--" + name + "`")) << "no row for --" << name;
    ++flags;
  }
  EXPECT_GT(flags, 35u);
}

TEST(ServeFlags, TheArgumentsOfVolcanosChartAreTaken) {
  const ServeFlags flags = Parse({"--logtostderr", "--enable-metrics=true", "-v=3", "2>&1"});
  EXPECT_EQ(flags.options.verbosity, 3);
  EXPECT_EQ(flags.without_meaning, (Words{"--logtostderr", "2>&1"}));
  Parse({"--leader-elect", "false"}, "false: error: write --leader-elect=false\n");
  Parse({"help"},
        "help: error: expected a flag that begins with --; krafla serve --help lists them\n");
}

}  // namespace
}  // namespace krafla
