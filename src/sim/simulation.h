// A simulation: a cluster in memory, under a virtual clock, around the scheduling loop that a live
// cluster uses. Everything that happens is told to the observers; nothing is printed or kept.
//
// Same scenario, same seed: the same events, byte for byte. One thread.
#pragma once

#include <cstdint>
#include <functional>
#include <memory>

#include "base/diagnostics.h"
#include "base/timestamp.h"
#include "config/scheduler_config.h"
#include "session/log.h"
#include "session/session.h"
#include "sim/scenario.h"
#include "sim/sim_event.h"

namespace krafla {

// Sees what the scheduler saw and what it made of it; for tests that judge decisions.
class CycleWitness {
 public:
  virtual ~CycleWitness() = default;
  // Before a cycle, at what the scheduler's clock shows.
  virtual void BeforeCycle(const Cluster& cluster, Timestamp scheduler_now) = 0;
  // After it, while its session is open and before anything takes effect.
  virtual void AfterCycle(const Session& session) = 0;
  // The scheduler's clock was set by so much.
  virtual void ClockWasSet(int64_t /*by_ns*/) {}
};

struct SimulationOptions {
  // A cycle at every grid point, due or not: the same events, only slower. For a test.
  bool every_tick = false;
  CycleWitness* witness = nullptr;
};

// How far a run has come; for a progress line.
struct Progress {
  Timestamp now;
  Timestamp begin;
  Timestamp end;
  uint64_t cycles = 0;
  uint64_t events = 0;
  int64_t running_pods = 0;
  int64_t pending_pods = 0;
  int64_t evictions = 0;
};

struct SimulationResult {
  Timestamp end;
  uint64_t cycles = 0;         // that ran
  uint64_t due_cycles = 0;     // of these; all of them unless every tick was asked for
  uint64_t skipped_ticks = 0;  // grid points at which none was due
  uint64_t events = 0;
  int64_t pods_created = 0;
  int64_t jobs_submitted = 0;
  int64_t jobs_completed = 0;
};

class Simulation {
 public:
  // Uses `config`, not the scenario's own: it may be another one, to compare. The scenario must
  // outlive the simulation.
  Simulation(const Scenario& scenario, SchedulerConfig config, Log& log,
             SimulationOptions options = {});
  ~Simulation();
  Simulation(const Simulation&) = delete;
  Simulation& operator=(const Simulation&) = delete;

  // Reads every manifest and every shape that the run will need, so that what is wrong with them
  // is said before it begins. False: there were errors, and Run must not be called. Run calls it
  // when nobody has; then errors are a bug of the caller.
  bool Prepare(Diagnostics& diagnostics);

  // Observers must live until Run has returned; they are told in the order of adding.
  void AddObserver(SimObserver* observer);

  // Once. `progress` (may be empty) is called every thousandth part of the simulated time.
  SimulationResult Run(const std::function<void(const Progress&)>& progress);

 private:
  class Impl;
  std::unique_ptr<Impl> impl_;
};

}  // namespace krafla
