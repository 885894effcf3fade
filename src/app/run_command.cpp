#include "app/run_command.h"

#include <sys/resource.h>

#include <chrono>
#include <ctime>
#include <filesystem>
#include <fstream>
#include <iostream>
#include <iterator>
#include <limits>

#include "app/plan_json.h"
#include "app/plan_text.h"
#include "base/diagnostics.h"
#include "config/scheduler_config.h"
#include "manifest/read_cluster.h"
#include "scheduler/vocabulary.h"
#include "session/session.h"

namespace krafla {

namespace {

constexpr int kWrongInput = 2;
constexpr int kNotWritten = 1;

double CpuMs() {
  timespec t;
  clock_gettime(CLOCK_PROCESS_CPUTIME_ID, &t);
  return static_cast<double>(t.tv_sec) * 1e3 + static_cast<double>(t.tv_nsec) / 1e6;
}

double PeakRssMb() {
  rusage usage{};
  getrusage(RUSAGE_SELF, &usage);
  return static_cast<double>(usage.ru_maxrss) / 1024;
}

void Print(const Diagnostics& diagnostics, std::ostream& err) {
  for (const Diagnostic& d : diagnostics.items()) err << ToString(d) << '\n';
}

Result<std::string> ReadFile(const std::string& path) {
  if (!std::filesystem::is_regular_file(path) && !std::filesystem::is_fifo(path))
    return Fail("cannot be read; does it exist, and is it a file?");
  std::ifstream file(path, std::ios::binary);
  std::string text((std::istreambuf_iterator<char>(file)), std::istreambuf_iterator<char>());
  if (!file.is_open() || file.bad()) return Fail("cannot be read");
  return text;
}

SchedulerConfig ReadConfig(const RunCommandOptions& options, Diagnostics& diagnostics) {
  std::string text(DefaultSchedulerConfigText());
  ConfigReadOptions read{.file_name = "default configuration",
                         .lenient = options.lenient,
                         .profile = options.compatibility};
  if (!options.config.empty()) {
    read.file_name = options.config;
    Result<std::string> file = ReadFile(options.config);
    if (!file) {
      diagnostics.Error(options.config, {}, file.error().message);
      return {};
    }
    text = std::move(*file);
  }
  return ReadSchedulerConfig(text, BuiltInVocabulary(), read, diagnostics);
}

// The instant to schedule at, and the zone windows are read in unless the configuration names one.
SessionOptions TimeOf(const RunCommandOptions& options, Diagnostics& diagnostics) {
  SessionOptions time;
  if (options.now.empty()) {
    const auto since_epoch = std::chrono::system_clock::now().time_since_epoch();
    time.now.ns = std::chrono::duration_cast<std::chrono::nanoseconds>(since_epoch).count();
    time.zone = LocalTimeZone();
    return time;
  }
  const Result<ZonedTimestamp> now = ParseRfc3339(options.now);
  if (!now) {
    diagnostics.Error("--now", {}, now.error().message);
    return time;
  }
  if (now->time.ns == std::numeric_limits<int64_t>::max() ||
      now->time.ns <= std::numeric_limits<int64_t>::min() + 1) {
    diagnostics.Error("--now", {},
                      "expected an instant between the years 1678 and 2261, got " + options.now);
    return time;
  }
  time.now = now->time;
  time.zone = FixedOffset(now->offset_seconds);
  return time;
}

}  // namespace

int RunCommand(const RunCommandOptions& options, std::istream& in, std::ostream& out,
               std::ostream& err) {
  Diagnostics diagnostics;
  const SessionOptions time = TimeOf(options, diagnostics);
  const SchedulerConfig config = ReadConfig(options, diagnostics);

  const double load_begin = CpuMs();
  ReadClusterOptions read;
  read.lenient = options.lenient;
  read.count_undeclared_csi_drivers = !config.compatibility.csi_attach_limit;
  read.leave_out_pods_without_claims = !config.compatibility.missing_claims;
  Cluster cluster = ReadCluster(options.cluster, in, read, diagnostics);
  RunStats stats{.load_ms = CpuMs() - load_begin};

  if (cluster.nodes.empty() && !diagnostics.HasErrors())
    diagnostics.Warning({}, {}, "no Node in the input: nothing can be placed");
  Print(diagnostics, err);
  if (diagnostics.HasErrors()) return kWrongInput;

  Log log(options.verbosity);
  Session session(cluster, config, time, log);
  session.RunActions();
  stats.peak_rss_mb = PeakRssMb();

  if (options.output == "json") {
    out << PlanAsJson(session, options.stats ? std::optional(stats) : std::nullopt);
  } else {
    out << PlanAsText(session, options.color);
    if (options.stats) out << StatsAsText(session, stats);
  }
  out.flush();
  if (!out) {
    err << "error: the plan could not be written\n";
    return kNotWritten;
  }
  return 0;
}

}  // namespace krafla
