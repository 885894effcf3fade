// krafla serve: the scheduler on a live cluster. Puts the parts together and runs until it is told
// to stop.
#pragma once

#include <chrono>
#include <functional>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "base/diagnostics.h"
#include "config/scheduler_config.h"
#include "kube/kube_config.h"
#include "kube/lone_pods.h"
#include "kube/status_server.h"

namespace krafla {

struct ServeOptions {
  KubeConfigFlags kube;
  std::vector<std::string> scheduler_names = {"volcano"};
  std::string default_queue = "default";
  std::vector<std::pair<std::string, std::string>> node_labels;
  std::vector<std::string> ignored_provisioners;
  bool priority_classes = true;
  bool csi_storage = true;
  GroupOfOnePolicy group_of_one;

  std::string config_path;  // empty: the default configuration, which cannot change
  // Reads and checks the configuration; called again when the file changes. `text` is what was
  // read.
  std::function<SchedulerConfig(Diagnostics& diagnostics, std::string& text)> read_config;
  // What is right and yet looks like a mistake in a configuration that is taken, a line each.
  std::function<std::vector<std::string>(const std::string& text)> lint_config;
  bool lenient = false;                // how it is read
  std::optional<std::string> profile;  // replaces the configuration's

  std::chrono::milliseconds schedule_period{1000};
  double requests_per_second = 2000;
  double burst = 2000;

  bool leader_elect = true;
  std::string lease_namespace = "volcano-system";
  std::string lease_name = "volcano";
  std::chrono::milliseconds lease_duration{15'000};
  std::chrono::milliseconds renew_deadline{10'000};
  std::chrono::milliseconds retry_period{2'000};

  // The scheduling thread hangs when it stays in one phase for longer.
  std::chrono::milliseconds heartbeat_timeout{60'000};
  // Against the API server; beyond it no zone is drained and no cooldown ends. 0: off.
  std::chrono::milliseconds max_clock_skew{30'000};

  std::optional<ListenAddress> metrics_address;  // none: no such server
  std::optional<ListenAddress> health_address;
  std::optional<TlsFiles> health_tls;  // none: plain HTTP
  // Metrics and the API take TLS and plain HTTP on one port. None: with a self-signed certificate.
  std::optional<TlsFiles> page_tls;
  // /metrics without a token and in plain HTTP, from other machines too.
  bool anonymous_metrics = false;

  std::string record_folder;  // empty: nothing is recorded
  size_t record_bytes = size_t{1} << 30;
  size_t page_memory_bytes = size_t{256} << 20;  // of each process that makes a page of the API

  int verbosity = 0;
  std::string version;
  std::function<void(const std::string& line)> log;  // any thread
};

// The first line of the log: which program, for which cluster, by which configuration.
std::string StartLine(const ServeOptions& options, const KubeConnection& connection);

// Exit code: 0 stopped by a signal and everything was written; 1 lost the leader lease, left writes
// undone, or the scheduling thread hung;
// 2 wrong input. Blocks SIGTERM and SIGINT for its threads and waits for them.
int Serve(const ServeOptions& options, Diagnostics& diagnostics);

}  // namespace krafla
