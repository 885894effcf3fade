#include "kube/check_drill.h"

#include <gtest/gtest.h>

namespace krafla {
namespace {

TEST(CheckDrill, NamesObjectsByKindAndName) {
  const Result<CheckDrill> drill =
      ParseCheckDrill("decode:Pod/team/p1,decode:Node/n1,place:PodGroup/team/g");
  ASSERT_TRUE(drill) << drill.error().message;
  using Decoded = decltype(drill->decoded);
  EXPECT_EQ(drill->decoded, (Decoded{{WatchedKind::kPod, "team/p1"}, {WatchedKind::kNode, "n1"}}));
  EXPECT_EQ(drill->placed, std::vector<std::string>{"PodGroup/team/g"});
  EXPECT_TRUE(ParseCheckDrill("")->empty());
}

TEST(CheckDrill, RefusesWhatItDoesNotKnow) {
  for (const char* text : {"Pod/a/b", "decode:Pod/b", "decode:Node/a/b", "place:Node/n",
                           "decode:Thing/a", "decode:Pod/", "decode:Pod/a/b,,"}) {
    const Result<CheckDrill> drill = ParseCheckDrill(text);
    EXPECT_FALSE(drill) << text;
    if (!drill) {
      EXPECT_NE(drill.error().message.find("expected decode:KIND"), std::string::npos);
    }
  }
}

}  // namespace
}  // namespace krafla
