// How a zone gets empty once it is closed: cycles run one after the other, an evict period apart,
// with nothing else happening in the cluster but what they decide. Evicted pods come back as
// waiting pods of their jobs, as a job controller makes them, and run at once where they are bound.
#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "explain/cycle_run.h"

namespace krafla {

struct DrainStep {
  Timestamp at;
  std::vector<std::string> pods;  // taken off this zone, by name
  size_t elsewhere = 0;           // others of their gangs, taken off other nodes
  std::string pause;              // why not more of them went; empty: nobody is left
};

struct DrainForecast {
  Timestamp begin;
  std::vector<DrainStep> steps;   // those in which somebody went
  std::vector<std::string> stay;  // pods that offer themselves and are still there at the end
  std::vector<std::string> held;  // "research/batch: why", for jobs that hold it up
  bool complete = false;          // all that offer themselves are gone
  bool cut_short = false;         // there was no time to see the end
  bool reopened = false;          // the window opened before that
  Timestamp end;                  // of the last step, or of the forecast
};

// From `begin` on, when the zone is closed or, with a lead, about to be.
DrainForecast ForecastDrain(const CycleInputs& inputs, std::string_view zone, Timestamp begin);

}  // namespace krafla
