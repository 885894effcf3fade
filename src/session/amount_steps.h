// A few amounts of each kind that tasks ask for, in rising order. Columns of nodes' amounts are
// marked at them (amount_columns.h): a question that asks for one of them is answered by the marks,
// and one between two of them leaves few nodes to be compared.
#pragma once

#include <vector>

#include "model/cluster.h"
#include "session/rising_steps.h"

namespace krafla {

struct AmountSteps {
  static constexpr size_t kMost = RisingSteps::kMost;  // of a kind

  std::vector<std::vector<double>> by_kind;

  // What classes of tasks ask for, each amount less `slack`.
  static AmountSteps Of(const Cluster& cluster, double slack);
};

}  // namespace krafla
