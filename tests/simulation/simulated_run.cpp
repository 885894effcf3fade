#include "simulation/simulated_run.h"

#include <fmt/format.h>

#include <algorithm>
#include <sstream>

#include "sim/event_log.h"
#include "sim/read_scenario.h"

namespace krafla::testing {

namespace {

class Keeper final : public SimObserver {
 public:
  explicit Keeper(std::vector<SimEvent>& events) : events_(events) {}
  void On(const SimEvent& event) override { events_.push_back(event); }

 private:
  std::vector<SimEvent>& events_;
};

SimulatedRun Run(const Scenario& scenario, Diagnostics& diagnostics,
                 const SimulationOptions& options, const std::vector<SimObserver*>& observers) {
  SimulatedRun run;
  Log log(-1);
  Simulation simulation(scenario, scenario.config, log, options);
  if (!diagnostics.HasErrors()) simulation.Prepare(diagnostics);
  for (const Diagnostic& problem : diagnostics.items())
    if (problem.severity == Severity::kError) run.problems += ToString(problem) + "\n";
  if (!run.problems.empty()) return run;
  std::ostringstream text;
  EventLog event_log(text, scenario.zone);
  Keeper keeper(run.events);
  simulation.AddObserver(&event_log);
  simulation.AddObserver(&keeper);
  for (SimObserver* observer : observers) simulation.AddObserver(observer);
  run.result = simulation.Run({});
  event_log.Flush();
  run.log = text.str();
  return run;
}

}  // namespace

std::string SimulatedRun::Story(std::initializer_list<SimEventKind> kinds) const {
  std::string story;
  for (const SimEvent& event : events) {
    if (std::find(kinds.begin(), kinds.end(), event.kind) == kinds.end()) continue;
    const double seconds =
        static_cast<double>(event.at.ns - events.front().at.ns) / Timestamp::kNsPerSecond;
    story += fmt::format("{} {}", seconds, ToString(event.kind));
    for (const std::string* text : {&event.pod, &event.node, &event.zone})
      if (!text->empty()) story.append(" ").append(*text);
    if (event.pod.empty() && !event.job.empty()) story.append(" ").append(event.job);
    story += "\n";
  }
  return story;
}

int SimulatedRun::Count(SimEventKind kind) const {
  return static_cast<int>(std::count_if(events.begin(), events.end(),
                                        [&](const SimEvent& event) { return event.kind == kind; }));
}

SimulatedRun RunScenario(std::string_view yaml, const SimulationOptions& options,
                         std::vector<SimObserver*> observers) {
  Diagnostics diagnostics;
  const Scenario scenario = ReadScenarioText(yaml, "scenario.yaml", {}, diagnostics);
  return Run(scenario, diagnostics, options, observers);
}

SimulatedRun RunScenarioFile(const std::string& path, const SimulationOptions& options) {
  Diagnostics diagnostics;
  const Scenario scenario = ReadScenario(path, {}, diagnostics);
  return Run(scenario, diagnostics, options, {});
}

}  // namespace krafla::testing
