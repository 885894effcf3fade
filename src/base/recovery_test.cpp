#include "base/recovery.h"

#include <gtest/gtest.h>

#include <stdexcept>

#include "base/check.h"

namespace krafla {
namespace {

class Recovery : public ::testing::Test {
 protected:
  Recovery() { RecoveryScope::Enable(true); }
  ~Recovery() override { RecoveryScope::Enable(before_); }

 private:
  const bool before_ = RecoveryScope::Enabled();
};

TEST_F(Recovery, AFailedCheckIsReturnedAsText) {
  const auto check = RunRecovering([] { KRAFLA_CHECK(1 + 1 == 3, "arithmetic"); });
  ASSERT_TRUE(check);
  EXPECT_NE(check->find("recovery_test.cpp:"), std::string::npos) << *check;
  EXPECT_NE(check->find("1 + 1 == 3 arithmetic"), std::string::npos) << *check;
  EXPECT_EQ(RunRecovering([] {}), std::nullopt);
}

TEST_F(Recovery, AnExceptionOfALibraryCountsAsAFailedCheck) {
  const auto check = RunRecovering([] { throw std::out_of_range("no such key"); });
  EXPECT_EQ(check, "no such key");
}

TEST_F(Recovery, LackOfMemoryIsPassedOn) {
  EXPECT_THROW(RunRecovering([] { throw std::bad_alloc(); }), std::bad_alloc);
}

TEST_F(Recovery, TheInnerScopeCatches) {
  std::optional<std::string> inner;
  const auto outer =
      RunRecovering([&] { inner = RunRecovering([] { KRAFLA_CHECK(false, "inner"); }); });
  EXPECT_TRUE(inner);
  EXPECT_FALSE(outer);
}

using RecoveryDeathTest = Recovery;

TEST_F(RecoveryDeathTest, OutsideOfAScopeAFailedCheckAborts) {
  EXPECT_DEATH(KRAFLA_CHECK(false, "no scope"), "this must hold and does not: false no scope");
  EXPECT_FALSE(RunRecovering([] {}));
  EXPECT_DEATH(KRAFLA_CHECK(false, "the scope has ended"), "the scope has ended");
}

TEST_F(RecoveryDeathTest, WhereRecoveryIsOffAFailedCheckAborts) {
  EXPECT_DEATH(
      {
        RecoveryScope::Enable(false);
        (void)RunRecovering([] { KRAFLA_CHECK(false, "as in tests of invariants"); });
      },
      "as in tests of invariants");
}

// What a destructor does while a check is being thrown must not throw again.
TEST_F(RecoveryDeathTest, ACheckThatFailsWhileAnotherOneIsThrownAborts) {
  struct ChecksAtEnd {
    ~ChecksAtEnd() { KRAFLA_CHECK(false, "the second"); }
  };
  EXPECT_DEATH((void)RunRecovering([] {
                 const ChecksAtEnd end;
                 KRAFLA_CHECK(false, "the first");
               }),
               "the second");
}

}  // namespace
}  // namespace krafla
