#include <unistd.h>

#include <CLI/CLI.hpp>
#include <iostream>
#include <optional>
#include <string>

#include "app/run_command.h"
#include "app/serve_command.h"
#include "app/version.h"

namespace {

// CLI11 reports a wrong command as a missing one.
std::optional<std::string> WrongCommand(int argc, char** argv) {
  if (argc < 2 || argv[1][0] == '-') return std::nullopt;
  const std::string word = argv[1];
  if (word == "run") return std::nullopt;
  for (const char* planned : {"simulate", "explain", "check", "bench"})
    if (word == planned)
      return "krafla " + word + " is planned and not there yet; there are: run, serve";
  return "unknown command \"" + word + "\"; there are: run, serve";
}

}  // namespace

int main(int argc, char** argv) {
  // Takes Kubernetes' notation of flags, not ours.
  if (argc >= 2 && std::string(argv[1]) == "serve")
    return krafla::ServeCommand({argv + 2, argv + argc}, std::cout, std::cerr);
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

  app.add_subcommand("serve",
                     "Schedule on a live cluster, with the flags of vc-scheduler; see krafla serve "
                     "--help.");

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

  try {
    app.parse(argc, argv);
  } catch (const CLI::ParseError& e) {
    const int code = app.exit(e);
    return code == 0 ? 0 : 2;
  }
  run.color = isatty(STDOUT_FILENO) != 0 && std::getenv("NO_COLOR") == nullptr;
  return krafla::RunCommand(run, std::cin, std::cout, std::cerr);
}
