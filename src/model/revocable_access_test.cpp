#include "model/revocable_access.h"

#include <gtest/gtest.h>

namespace krafla {
namespace {

constexpr AccessRules kOurs;
constexpr AccessRules kVolcano{
    .named_zones = false, .needs_annotation = false, .silence_is_no = false};
constexpr StrId kRz1{11};
constexpr StrId kRz2{12};
constexpr StrId kRz3{13};

Task ForAllZones() {
  Task task;
  task.zones = {.annotated = true, .all = true};
  return task;
}

Task ForZones(std::vector<StrId> names) {
  Task task;
  task.zones = {.annotated = true, .all = false, .names = std::move(names)};
  return task;
}

Task SaysPreemptable() {
  Task task;
  task.says_preemptable = true;
  task.annotation_preemptable = true;
  return task;
}

TEST(RevocableAccess, AStarOpensEveryZone) {
  for (const AccessRules& rules : {kOurs, kVolcano}) {
    EXPECT_TRUE(AccessOf(ForAllZones(), rules).Allows(kRz1));
    EXPECT_TRUE(IsRevocable(ForAllZones(), rules));
  }
}

TEST(RevocableAccess, WithoutAnnotationNoZoneIsOpen) {
  for (const AccessRules& rules : {kOurs, kVolcano}) {
    EXPECT_FALSE(AccessOf(Task{}, rules).Any());
    EXPECT_FALSE(IsRevocable(Task{}, rules));
  }
}

// D13
TEST(RevocableAccess, ANamedZoneOpensThatZoneOnly) {
  const RevocableAccess access = AccessOf(ForZones({kRz1, kRz3}), kOurs);
  EXPECT_TRUE(access.Allows(kRz1));
  EXPECT_FALSE(access.Allows(kRz2));
  EXPECT_TRUE(access.Allows(kRz3));
  EXPECT_TRUE(IsRevocable(ForZones({kRz1}), kOurs));
}

// D13
TEST(RevocableAccess, VolcanoKnowsNoNames) {
  EXPECT_FALSE(AccessOf(ForZones({kRz1}), kVolcano).Any());
  EXPECT_FALSE(IsRevocable(ForZones({kRz1}), kVolcano));
}

// D13, D30: in Volcano a zone annotation it does not understand hides the one that would open all
// zones.
TEST(RevocableAccess, ANameStandsBeforePreemptable) {
  Task task = SaysPreemptable();
  task.zones = {.annotated = true, .all = false, .names = {kRz1}};
  EXPECT_FALSE(AccessOf(task, kVolcano).Any());
  EXPECT_TRUE(AccessOf(task, kOurs).Allows(kRz1));
}

// D30
TEST(RevocableAccess, PreemptableAloneOpensNoZone) {
  EXPECT_FALSE(AccessOf(SaysPreemptable(), kOurs).Any());
  EXPECT_FALSE(IsRevocable(SaysPreemptable(), kOurs));
}

// D30
TEST(RevocableAccess, InVolcanoThePreemptableAnnotationOpensAllZones) {
  EXPECT_TRUE(AccessOf(SaysPreemptable(), kVolcano).all);
  EXPECT_TRUE(IsRevocable(SaysPreemptable(), kVolcano));
  Task by_label = SaysPreemptable();
  by_label.annotation_preemptable = false;
  EXPECT_FALSE(AccessOf(by_label, kVolcano).Any());
}

TEST(RevocableAccess, AnEmptyAnnotationOpensNothing) {
  for (const AccessRules& rules : {kOurs, kVolcano})
    EXPECT_FALSE(AccessOf(ForZones({}), rules).Any());
}

// D29
TEST(RevocableAccess, WhoSaysNothingDoesNotOfferItself) {
  const Job silent;
  EXPECT_FALSE(OffersItself(Task{}, &silent, kOurs));
  EXPECT_FALSE(OffersItself(Task{}, nullptr, kOurs));
  EXPECT_TRUE(OffersItself(SaysPreemptable(), &silent, kOurs));
  EXPECT_TRUE(OffersItself(SaysPreemptable(), nullptr, kOurs));
}

// D29
TEST(RevocableAccess, ThePodGroupSpeaksForASilentPod) {
  Job job;
  job.preemptable = true;
  EXPECT_TRUE(OffersItself(Task{}, &job, kOurs));
  Task refuses;
  refuses.preemptable = false;
  EXPECT_FALSE(OffersItself(refuses, &job, kOurs));
}

// D29
TEST(RevocableAccess, VolcanoTakesSilenceForAnOffer) {
  EXPECT_TRUE(OffersItself(Task{}, nullptr, kVolcano));
  Task refuses;
  refuses.preemptable = false;
  EXPECT_FALSE(OffersItself(refuses, nullptr, kVolcano));
}

}  // namespace
}  // namespace krafla
