#include <unistd.h>

#include <CLI/CLI.hpp>
#include <iostream>
#include <optional>
#include <string>

#include "app/explain_command.h"
#include "app/run_command.h"
#include "app/version.h"

namespace {

// CLI11 reports a wrong command as a missing one.
std::optional<std::string> WrongCommand(int argc, char** argv) {
  if (argc < 2 || argv[1][0] == '-') return std::nullopt;
  const std::string word = argv[1];
  if (word == "run" || word == "explain") return std::nullopt;
  for (const char* planned : {"simulate", "check", "serve", "bench"})
    if (word == planned)
      return "krafla " + word + " is planned and not there yet; there are: run, explain";
  return "unknown command \"" + word + "\"; there are: run, explain";
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

  krafla::ExplainCommandOptions explain;
  CLI::App* explain_command = app.add_subcommand(
      "explain",
      "Say why a job waits, a pod goes or stays, a queue has what it has, a zone empties as it "
      "does, and which single changes would change that. Nothing is changed anywhere.");
  explain_command->add_option("kind", explain.kind, "job, pod, queue or zone.")
      ->required()
      ->check(CLI::IsMember({"job", "pod", "queue", "zone"}));
  explain_command
      ->add_option("name", explain.name,
                   "NAMESPACE/NAME of a PodGroup or pod, NAME of a queue or zone.")
      ->required();
  explain_command
      ->add_option("--cluster", explain.cluster, "Manifests of the cluster, as for krafla run.")
      ->required()
      ->take_all();
  explain_command->add_option("--config", explain.config,
                              "Scheduler configuration file, as for krafla run.");
  explain_command->add_option("--now", explain.now, "The instant, as for krafla run.");
  explain_command
      ->add_option("--compatibility", explain.compatibility,
                   "krafla (default) or volcano: replaces the profile of the configuration file.")
      ->check(CLI::IsMember({"krafla", "volcano"}));
  explain_command->add_flag(
      "--lenient", explain.lenient,
      "Skip what is wrong in the input and name it, instead of refusing all of it.");
  explain_command->add_option("--output,-o", explain.output, "text (default) or json.")
      ->check(CLI::IsMember({"text", "json"}));

  try {
    app.parse(argc, argv);
  } catch (const CLI::ParseError& e) {
    const int code = app.exit(e);
    return code == 0 ? 0 : 2;
  }
  const bool color = isatty(STDOUT_FILENO) != 0 && std::getenv("NO_COLOR") == nullptr;
  if (explain_command->parsed()) {
    explain.color = color;
    return krafla::ExplainCommand(explain, std::cin, std::cout, std::cerr);
  }
  run.color = color;
  return krafla::RunCommand(run, std::cin, std::cout, std::cerr);
}
