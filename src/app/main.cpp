#include <unistd.h>

#include <CLI/CLI.hpp>
#include <iostream>
#include <optional>
#include <string>

#include "app/run_command.h"
#include "app/simulate_command.h"
#include "app/version.h"

namespace {

// CLI11 reports a wrong command as a missing one.
std::optional<std::string> WrongCommand(int argc, char** argv) {
  if (argc < 2 || argv[1][0] == '-') return std::nullopt;
  const std::string word = argv[1];
  if (word == "run" || word == "simulate") return std::nullopt;
  const std::string there = "; there is: run, simulate";
  for (const char* planned : {"explain", "check", "serve", "bench"})
    if (word == planned) return "krafla " + word + " is planned and not there yet" + there;
  return "unknown command \"" + word + "\"" + there;
}

CLI::App* AddSimulateCommand(CLI::App& app, krafla::SimulateCommandOptions& options) {
  CLI::App* command = app.add_subcommand(
      "simulate",
      "Run scenarios in virtual time: a cluster in memory, the scheduler's own loop, and what the "
      "scenario expects of it. docs/scenarios.md describes the file.");
  command
      ->add_option("SCENARIO", options.scenarios,
                   "Scenario files, or folders of them. One gets its summary, several a line each.")
      ->required();
  krafla::ScenarioOverrides& overrides = options.overrides;
  command
      ->add_option("--set", overrides.set,
                   "Change the scenario: kubelet.startup=30s, cluster.nodes[0].count=50, "
                   "queues[research].weight=3. May be given several times.")
      ->expected(1)
      ->take_all();
  command->add_option("--config", overrides.config,
                      "Scheduler configuration file instead of the scenario's own.");
  command
      ->add_option("--add", overrides.add,
                   "Manifests or workload entries to add at the start, or at a time: "
                   "job.yaml@12:00. May be given several times.")
      ->expected(1)
      ->take_all();
  command->add_option("--compare", options.compare,
                      "Another scenario or another configuration: run it too, print differences.");
  command->add_option("--until", overrides.until, "When to end: 7d, \"day 2 08:00\".");
  command->add_option("--seed", overrides.seed, "What random draws begin with.");
  command->add_option("--report", options.report, "Folder for a report as one HTML file.");
  command->add_option("--events", options.events,
                      "File for the event log, one JSON object per line; - for standard output.");
  command->add_option("--output,-o", options.output, "text (default) or json.")
      ->check(CLI::IsMember({"text", "json"}));
  command->add_option("-v,--v", options.verbosity, "Log level on standard error: 3, 4 or 5.")
      ->check(CLI::Range(0, 10));
  return command;
}

}  // namespace

int main(int argc, char** argv) {
  if (const std::optional<std::string> wrong = WrongCommand(argc, argv)) {
    std::cerr << "error: " << *wrong << "\n";
    return 2;
  }
  CLI::App app{
      "Krafla: a batch scheduler for Kubernetes that reads Volcano's Queues, PodGroups and "
      "scheduler "
      "configuration."};
  app.require_subcommand(1);
  app.set_version_flag("--version", std::string(krafla::Version()));

  krafla::RunCommandOptions run;
  CLI::App* run_command = app.add_subcommand(
      "run",
      "Run one scheduling cycle on a snapshot of a cluster and print who would be bound, who "
      "evicted, and for whom. Nothing is changed anywhere.");
  run_command
      ->add_option("--cluster", run.cluster,
                   "Manifests of the cluster: a file, a directory or - for standard input; may be "
                   "given several times. YAML or JSON as kubectl get -o yaml|json prints it.")
      ->required()
      ->take_all();
  run_command->add_option(
      "--config", run.config,
      "Scheduler configuration file; without it Volcano's default is in force.");
  run_command->add_option(
      "--now", run.now,
      "The instant to schedule at, e.g. 2026-03-10T22:30:00+08:00; default: the "
      "clock. Its offset is the time zone of tdm windows unless tdm.timezone is set.");
  run_command
      ->add_option("--compatibility", run.compatibility,
                   "krafla (default) or volcano: replaces the profile of the configuration file.")
      ->check(CLI::IsMember({"krafla", "volcano"}));
  run_command->add_flag(
      "--lenient", run.lenient,
      "Skip what is wrong in the input and name it, instead of refusing all of it.");
  run_command->add_option("--output,-o", run.output, "text (default) or json.")
      ->check(CLI::IsMember({"text", "json"}));
  run_command->add_flag("--stats", run.stats, "Add times and memory to the output.");
  run_command->add_option("-v,--v", run.verbosity, "Log level on standard error: 3, 4 or 5.")
      ->check(CLI::Range(0, 10));

  krafla::SimulateCommandOptions simulate;
  CLI::App* simulate_command = AddSimulateCommand(app, simulate);

  try {
    app.parse(argc, argv);
  } catch (const CLI::ParseError& e) {
    const int code = app.exit(e);
    return code == 0 ? 0 : 2;
  }
  const bool color = isatty(STDOUT_FILENO) != 0 && std::getenv("NO_COLOR") == nullptr;
  if (simulate_command->parsed()) {
    simulate.color = color;
    simulate.progress = isatty(STDERR_FILENO) != 0;
    return krafla::SimulateCommand(simulate, std::cout, std::cerr);
  }
  run.color = color;
  return krafla::RunCommand(run, std::cin, std::cout, std::cerr);
}
