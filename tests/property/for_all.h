// Runs a property on many random clusters. A failure is shrunk and shown with its seed, its
// configuration and its cluster, also when it is a CHECK that ends the process.
#pragma once

#include <functional>
#include <string>

#include "property/random_cluster.h"

namespace krafla::testing {

// The property says what is wrong, or nothing. Fails the running test at the first cluster, made as
// small as it gets, of which something is said. The clusters depend on the test's name alone,
// unless --gtest_random_seed asks for others.
void ForAll(int cases, const Wanted& wanted,
            const std::function<std::string(const RandomCluster&)>& property);

// The same for anything else that can be drawn. `draw` uses rapidcheck's generators and is called
// once per case.
struct DrawnCase {
  std::string description;                // everything one needs to see a failure again
  std::function<std::string()> property;  // says what is wrong, or nothing
};
void ForAllDrawn(int cases, const std::function<DrawnCase()>& draw);

}  // namespace krafla::testing
