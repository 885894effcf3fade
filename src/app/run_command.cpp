#include "app/run_command.h"

#include <algorithm>
#include <cstdlib>
#include <ctime>
#include <fstream>
#include <iostream>
#include <string>

#include "app/command_inputs.h"
#include "app/plan_json.h"
#include "app/plan_text.h"
#include "app/recalling_sink.h"
#include "app/replay_command.h"
#include "base/diagnostics.h"
#include "cluster_state/cluster_builder.h"
#include "config/scheduler_config.h"
#include "manifest/read_cluster.h"
#include "session/session.h"

namespace krafla {

namespace {

double CpuMs() {
  timespec t;
  clock_gettime(CLOCK_PROCESS_CPUTIME_ID, &t);
  return static_cast<double>(t.tv_sec) * 1e3 + static_cast<double>(t.tv_nsec) / 1e6;
}

// Not what getrusage says: that begins with the peak of the process that started this one.
double PeakRssMb() {
  std::ifstream status("/proc/self/status");
  for (std::string line; std::getline(status, line);)
    if (line.starts_with("VmHWM:")) return std::strtod(line.c_str() + 6, nullptr) / 1024;
  return 0;
}

}  // namespace

int RunCommand(const RunCommandOptions& options, std::istream& in, std::ostream& out,
               std::ostream& err) {
  if (!options.replay.empty()) return ReplayCommand(options, out, err);
  Diagnostics diagnostics;
  if (options.cluster.empty())
    diagnostics.Error({}, {}, "expected --cluster with manifests, or --replay with a record");
  SessionOptions time = TimeOf(options.now, diagnostics);
  const SchedulerConfig config =
      ReadConfig(options.config, options.lenient, options.compatibility, diagnostics, nullptr,
                 {.stream = &in,
                  .for_cluster = std::ranges::find(options.cluster, "-") != options.cluster.end()});

  const double load_begin = CpuMs();
  const ReadClusterOptions read = ReadOptionsFor(config, options.lenient);
  CycleMemory memory;
  ClusterBuilder builder(BuildOptionsOf(read));
  RecallingSink recalling(builder, time.now, memory);
  ReadObjectsInto(recalling, options.cluster, in, read, diagnostics);
  Cluster cluster = std::move(builder).Build(diagnostics);
  time.memory = &memory;
  time.for_good = true;
  RunStats stats{.load_ms = CpuMs() - load_begin};

  if (!diagnostics.HasErrors()) {
    if (cluster.nodes.empty())
      diagnostics.Warning({}, {}, "no Node in the input: nothing can be placed");
    if (cluster.tasks.empty())
      diagnostics.Warning({}, {}, "no pod in the input: there is nothing to schedule");
  }
  Print(diagnostics, err);
  if (diagnostics.HasErrors()) return kWrongInput;

  Log log(options.verbosity);
  Session session(cluster, config, time, log);
  // Only the text tells of who was asked and what was missing.
  if (options.output == "json") session.trace.SetLimit(0);
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
