#include "sim/summary.h"

#include <gtest/gtest.h>

#include <iostream>

#include "support/sample_run.h"

namespace krafla {
namespace {

TEST(Summary, Prints) {
  SummaryCollector collector(testing::SampleZone());
  testing::SampleRun({}, collector);
  std::cout << SummaryText(collector.Finish(), {}) << SummaryJson(collector.Finish()) << "\n";
}

}  // namespace
}  // namespace krafla
