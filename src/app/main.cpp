#include <unistd.h>

#include <CLI/CLI.hpp>
#include <algorithm>
#include <csignal>
#include <iostream>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "app/bench_command.h"
#include "app/check_command.h"
#include "app/command_words.h"
#include "app/explain_command.h"
#include "app/page_worker_command.h"
#include "app/run_command.h"
#include "app/serve_command.h"
#include "app/simulate_command.h"
#include "app/version.h"
#include "base/did_you_mean.h"

namespace {

CLI::App* AddRunCommand(CLI::App& app, krafla::RunCommandOptions& options) {
  CLI::App* command = app.add_subcommand(
      "run",
      "Run one scheduling cycle on a snapshot of a cluster and print who would be bound, who "
      "evicted, and for whom. Nothing is changed anywhere.");
  command
      ->add_option("--cluster", options.cluster,
                   "Manifests of the cluster: a file, a directory or - for standard input; may be "
                   "given several times. YAML or JSON as kubectl get -o yaml|json prints it.")
      ->take_all();
  command->add_option(
      "--replay", options.replay,
      "Instead of one cycle on manifests: run the cycles that krafla serve --record "
      "wrote down, a file or all of a folder, and compare the decisions.");
  command->add_option("--config", options.config,
                      "Scheduler configuration file, or - for standard input; without it Volcano's "
                      "default is in force.");
  command->add_option(
      "--now", options.now,
      "The instant to schedule at, e.g. 2026-03-10T22:30:00+08:00; default: the "
      "clock. Its offset is the time zone of tdm windows unless tdm.timezone is set.");
  command
      ->add_option("--compatibility", options.compatibility,
                   "krafla (default) or volcano: replaces the profile of the configuration file.")
      ->check(CLI::IsMember({"krafla", "volcano"}));
  command->add_flag("--lenient", options.lenient,
                    "Skip what is wrong in the input and name it, instead of refusing all of it.");
  command->add_option("--output,-o", options.output, "text (default) or json.")
      ->check(CLI::IsMember({"text", "json"}));
  command->add_flag("--stats", options.stats, "Add times and memory to the output.");
  command
      ->add_option("-v,--v", options.verbosity,
                   "Log on standard error: 3, 4 or 5, each in more detail; default 0, none.")
      ->check(CLI::Range(0, 10));
  return command;
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
  command
      ->add_option("-v,--v", options.verbosity,
                   "Log on standard error: 3, 4 or 5, each in more detail; default 0, none.")
      ->check(CLI::Range(0, 10));
  return command;
}

CLI::App* AddExplainCommand(CLI::App& app, krafla::ExplainCommandOptions& options) {
  CLI::App* command = app.add_subcommand(
      "explain",
      "Say why a job waits, a pod goes or stays, a queue has what it has, a zone empties as it "
      "does, and which single changes would change that. Nothing is changed anywhere.");
  command->add_option("kind", options.kind, "job, pod, queue or zone.")
      ->required()
      ->check(CLI::IsMember({"job", "pod", "queue", "zone"}));
  command
      ->add_option("name", options.name,
                   "NAMESPACE/NAME of a PodGroup or pod, NAME of a queue or zone.")
      ->required();
  command->add_option("--cluster", options.cluster, "Manifests of the cluster, as for krafla run.")
      ->take_all();
  command->add_option(
      "--server", options.server,
      "Ask a running krafla serve instead: the address of its metrics, e.g. "
      "http://127.0.0.1:8080 or https://krafla:8080. It explains what it sees now.");
  command->add_option("--certificate-authority", options.certificate_authority,
                      "Of an https:// --server: file (PEM) with the certificates that may sign its "
                      "own; default: those of the system. It is always verified.");
  command->add_option("--server-fingerprint", options.server_fingerprint,
                      "Of an https:// --server, instead: the SHA-256 of its certificate, as the "
                      "server logs it when it starts (AB:CD:…).");
  command->add_option("--token-file", options.token_file,
                      "File with the bearer token that --server is sent, over https:// or on "
                      "loopback only. Default: when the server wants one, that of the kubeconfig's "
                      "user.");
  command->add_option("--kubeconfig", options.kubeconfig,
                      "Kubeconfig of that user; default: KUBECONFIG, the service account of the "
                      "pod this runs in, ~/.kube/config.");
  command->add_option("--config", options.config,
                      "Scheduler configuration file, as for krafla run.");
  command->add_option("--now", options.now, "The instant, as for krafla run.");
  command
      ->add_option("--compatibility", options.compatibility,
                   "krafla (default) or volcano: replaces the profile of the configuration file.")
      ->check(CLI::IsMember({"krafla", "volcano"}));
  command->add_flag("--lenient", options.lenient,
                    "Skip what is wrong in the input and name it, instead of refusing all of it.");
  command->add_option("--output,-o", options.output, "text (default) or json.")
      ->check(CLI::IsMember({"text", "json"}));
  return command;
}

CLI::App* AddCheckCommand(CLI::App& app, krafla::CheckCommandOptions& options) {
  CLI::App* command = app.add_subcommand(
      "check",
      "Look for mistakes and traps in a scheduler configuration and, with --cluster, in how it "
      "meets the cluster. Each finding has a code, its place, what will happen and the fix.");
  command->add_option("--config", options.config,
                      "Scheduler configuration file, or - for standard input; without it Volcano's "
                      "default is checked against the cluster.");
  command
      ->add_option("--cluster", options.cluster,
                   "Manifests of the cluster: a file, a directory or - for standard input; may be "
                   "given several times.")
      ->take_all();
  command->add_option(
      "--now", options.now,
      "The instant from which windows are looked at, e.g. 2026-03-10T22:30:00+08:00; default: the "
      "clock. Its offset is the time zone of tdm windows unless tdm.timezone is set.");
  command
      ->add_option("--compatibility", options.compatibility,
                   "krafla (default) or volcano: replaces the profile of the configuration file.")
      ->check(CLI::IsMember({"krafla", "volcano"}));
  command->add_flag("--strict", options.strict, "Exit with 1 when there are warnings.");
  command->add_option("--output,-o", options.output, "text (default), json or sarif.")
      ->check(CLI::IsMember({"text", "json", "sarif"}));
  return command;
}

CLI::App* AddBenchCommand(CLI::App& app, krafla::BenchCommandOptions& options) {
  CLI::App* command = app.add_subcommand(
      "bench",
      "Measure what a change costs in the long-running loop, from the change to the decision, on a "
      "large cluster made in memory. Prints JSON; processor time in nanoseconds.");
  std::vector<std::string> names;
  std::string help = "What changes:";
  for (const krafla::WarmKindInfo& kind : krafla::WarmKinds()) {
    names.emplace_back(kind.name);
    help.append(names.size() == 1 ? " " : "; ").append(kind.name).append(": ").append(kind.help);
  }
  command->add_option("--warm", options.warm, help + ".")->required()->check(CLI::IsMember(names));
  command->add_option("--config", options.config,
                      "Scheduler configuration file; without it one with all actions and plugins.");
  command
      ->add_option("--compatibility", options.compatibility,
                   "krafla (default) or volcano: replaces the profile of the configuration file.")
      ->check(CLI::IsMember({"krafla", "volcano"}));
  command->add_option("--nodes", options.nodes, "Default 5000.")->check(CLI::Range(1, 100'000));
  command->add_option("--pods-per-node", options.pods_per_node, "Running pods, default 5.")
      ->check(CLI::Range(1, 100));
  command->add_option("--gangs", options.waiting_gangs, "Gangs that wait, default 1000.")
      ->check(CLI::Range(0, 100'000));
  command->add_option("--rounds", options.rounds, "How many changes, default 1000.")
      ->check(CLI::Range(1, 1'000'000));
  return command;
}

// Large files are read where the kernel keeps them: one that is cut short meanwhile ends in a
// signal.
void OnCutShort(int) {
  constexpr std::string_view kMessage = "error: an input file was cut short while it was read\n";
  (void)!write(STDERR_FILENO, kMessage.data(), kMessage.size());
  _exit(2);
}

// In the words of all other errors. `command`: empty for the program itself.
void TellWrongArguments(std::string command, std::string_view what) {
  std::cerr << "error: " << command << (command.empty() ? "" : ": ") << what << "; krafla "
            << command << (command.empty() ? "" : " ") << "--help says what it takes\n";
}

std::string NameOfCommand(const CLI::App& app) {
  const auto commands = app.get_subcommands();
  return commands.empty() ? std::string() : commands.front()->get_name();
}

// Words that no option takes, as they were written: in front of a command, or behind it.
void TellUnexpectedWords(const CLI::App& app, const CLI::ExtrasError& e) {
  const auto tell = [](const CLI::App& of, const std::string& command) {
    std::string words;
    for (const std::string& word : of.remaining()) words += (words.empty() ? "" : " ") + word;
    if (!words.empty()) TellWrongArguments(command, "unexpected " + krafla::Quoted(words));
    return !words.empty();
  };
  if (tell(app, "")) return;
  for (const CLI::App* command : app.get_subcommands())
    if (tell(*command, command->get_name())) return;
  TellWrongArguments(NameOfCommand(app), e.what());
}

// An option without its value: the library says of which type it would be.
std::string WhatIsWrong(const CLI::ParseError& e) {
  std::string what = e.what();
  if (dynamic_cast<const CLI::ArgumentMismatch*>(&e) != nullptr)
    if (const size_t at = what.find(": 1 required "); at != std::string::npos)
      return what.substr(0, at) + ": expected a value, got none";
  if (dynamic_cast<const CLI::RequiredError*>(&e) != nullptr && what.starts_with("A subcommand"))
    return "expected a command";
  return what;
}

// The first option that the command does not have, if that is what is wrong.
std::optional<std::string> UnknownOption(const CLI::App& app) {
  for (const CLI::App* command : app.get_subcommands()) {
    std::vector<std::string_view> known;
    for (const CLI::Option* option : command->get_options())
      known.insert(known.end(), option->get_lnames().begin(), option->get_lnames().end());
    std::vector<std::string> words = command->remaining();
    const auto wrong = std::ranges::find_if(
        words, [](const std::string& word) { return word.size() > 2 && word.starts_with("--"); });
    if (wrong != words.end()) return krafla::WrongOption(command->get_name(), *wrong, known);
  }
  return std::nullopt;
}

}  // namespace

int main(int argc, char** argv) {
  // "krafla help run" is "krafla run --help".
  char help[] = "--help";
  std::vector<char*> words(argv, argv + argc);
  if (argc >= 2 && std::string_view(argv[1]) == "help") {
    words.erase(words.begin() + 1);
    words.insert(words.begin() + std::min<ptrdiff_t>(2, argc - 1), help);
    argv = words.data();
  }
  // Takes Kubernetes' notation of flags, not ours.
  if (argc >= 2 && std::string(argv[1]) == "serve")
    return krafla::ServeCommand({argv + 2, argv + argc}, std::cout, std::cerr);
  // Started by serve; not listed by --help.
  if (argc >= 2 && argv[1] == krafla::kPageWorkerCommand)
    return krafla::PageWorkerCommand({argv + 2, argv + argc}, std::cerr);
  (void)std::signal(SIGBUS, OnCutShort);
  // CLI11 reports a wrong command as a missing one.
  if (argc >= 2 && argv[1][0] != '-') {
    if (const std::optional<std::string> wrong = krafla::WrongCommand(argv[1])) {
      std::cerr << "error: " << *wrong << "\n";
      return 2;
    }
  }
  CLI::App app{
      "Krafla: a batch scheduler for Kubernetes that reads Volcano's Queues, PodGroups and "
      "scheduler configuration."};
  app.require_subcommand(1);
  app.set_version_flag("--version", std::string(krafla::Version()));

  app.add_subcommand("serve",
                     "Schedule on a live cluster, with the flags of vc-scheduler; see krafla serve "
                     "--help.");

  krafla::RunCommandOptions run;
  krafla::SimulateCommandOptions simulate;
  krafla::ExplainCommandOptions explain;
  krafla::CheckCommandOptions check;
  krafla::BenchCommandOptions bench;
  AddRunCommand(app, run);
  const CLI::App* simulate_command = AddSimulateCommand(app, simulate);
  const CLI::App* explain_command = AddExplainCommand(app, explain);
  const CLI::App* check_command = AddCheckCommand(app, check);
  const CLI::App* bench_command = AddBenchCommand(app, bench);

  try {
    app.parse(argc, argv);
  } catch (const CLI::ExtrasError& e) {
    if (const std::optional<std::string> wrong = UnknownOption(app)) {
      std::cerr << "error: " << *wrong << "\n";
      return 2;
    }
    TellUnexpectedWords(app, e);
    return 2;
  } catch (const CLI::ParseError& e) {
    if (e.get_exit_code() == 0) return app.exit(e);  // --help, --version
    TellWrongArguments(NameOfCommand(app), WhatIsWrong(e));
    return 2;
  }
  const bool color = isatty(STDOUT_FILENO) != 0 && std::getenv("NO_COLOR") == nullptr;
  run.color = simulate.color = explain.color = check.color = color;
  if (simulate_command->parsed()) {
    simulate.progress = isatty(STDERR_FILENO) != 0;
    return krafla::SimulateCommand(simulate, std::cout, std::cerr);
  }
  if (explain_command->parsed())
    return krafla::ExplainCommand(explain, std::cin, std::cout, std::cerr);
  if (check_command->parsed()) return krafla::CheckCommand(check, std::cin, std::cout, std::cerr);
  if (bench_command->parsed()) return krafla::BenchCommand(bench, std::cout, std::cerr);
  return krafla::RunCommand(run, std::cin, std::cout, std::cerr);
}
