#include "app/bench_command.h"

#include <gtest/gtest.h>

#include <sstream>

namespace krafla {
namespace {

TEST(BenchCommand, EveryKindDecidesWhatIsExpected) {
  for (const WarmKindInfo& kind : WarmKinds()) {
    for (const char* profile : {"krafla", "volcano"}) {
      BenchCommandOptions options;
      options.warm = kind.name;
      options.compatibility = profile;
      options.nodes = 12;
      options.waiting_gangs = 4;
      options.rounds = 7;
      std::ostringstream out;
      std::ostringstream err;
      EXPECT_EQ(BenchCommand(options, out, err), 0) << kind.name << ": " << err.str();
      EXPECT_NE(out.str().find("\"kind\":\"" + std::string(kind.name) + "\""), std::string::npos);
      EXPECT_NE(out.str().find("\"change_to_decision_ns\""), std::string::npos);
    }
  }
}

TEST(BenchCommand, AConfigurationThatIsNotThereIsNamed) {
  BenchCommandOptions options;
  options.warm = "pod";
  options.config = "no-such-file.yaml";
  std::ostringstream out;
  std::ostringstream err;
  EXPECT_EQ(BenchCommand(options, out, err), 2);
  EXPECT_NE(err.str().find("no-such-file.yaml"), std::string::npos);
  EXPECT_TRUE(out.str().empty());
}

// A cluster so small that whoever arrives finds no place, or takes one from others.
TEST(BenchCommand, AClusterThatIsTooSmallForAKindIsRefusedByItsOptions) {
  BenchCommandOptions options;
  options.warm = "crowd";
  options.nodes = 1;
  options.rounds = 3;
  std::ostringstream out;
  std::ostringstream err;
  EXPECT_EQ(BenchCommand(options, out, err), 2);
  EXPECT_NE(err.str().find("--nodes 1"), std::string::npos) << err.str();
  EXPECT_TRUE(out.str().empty());
}

}  // namespace
}  // namespace krafla
