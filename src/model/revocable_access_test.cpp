#include "model/revocable_access.h"

#include <gtest/gtest.h>

namespace krafla {
namespace {

constexpr AccessRules kOurs;
constexpr AccessRules kVolcano{
    .named_zones = false, .needs_annotation = false, .silence_is_no = false};

StringPool& Strings() {
  static StringPool strings;
  return strings;
}
StrId Zone(std::string_view name) {
  return Strings().Intern(name);
}
RevocableAccess Access(const Task& task, const AccessRules& rules) {
  return AccessOf(task, rules, Strings());
}

Task ForAllZones() {
  Task task;
  task.zones = {.annotated = true, .all = true};
  return task;
}

Task ForZones(std::string_view names) {
  Task task;
  task.zones = {.annotated = true, .all = false, .names = Strings().Intern(names)};
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
    EXPECT_TRUE(Access(ForAllZones(), rules).Allows(Zone("rz1")));
    EXPECT_TRUE(IsRevocable(ForAllZones(), rules));
  }
}

TEST(RevocableAccess, WithoutAnnotationNoZoneIsOpen) {
  for (const AccessRules& rules : {kOurs, kVolcano}) {
    EXPECT_FALSE(Access(Task{}, rules).Any());
    EXPECT_FALSE(IsRevocable(Task{}, rules));
  }
}

// D13
TEST(RevocableAccess, ANamedZoneOpensThatZoneOnly) {
  for (const char* const known : {"rz1", "rz2", "rz3"}) Zone(known);
  const RevocableAccess access = Access(ForZones("rz1,rz3"), kOurs);
  EXPECT_TRUE(access.Allows(Zone("rz1")));
  EXPECT_FALSE(access.Allows(Zone("rz2")));
  EXPECT_TRUE(access.Allows(Zone("rz3")));
  EXPECT_TRUE(IsRevocable(ForZones("rz1"), kOurs));
}

TEST(RevocableAccess, AZoneNobodyElseKnowsIsNamedAllTheSame) {
  const RevocableAccess access = Access(ForZones("unheard-of-1,unheard-of-2"), kOurs);
  EXPECT_TRUE(access.Any());
  EXPECT_TRUE(access.names.empty());
}

// D13
TEST(RevocableAccess, VolcanoKnowsNoNames) {
  EXPECT_FALSE(Access(ForZones("rz1"), kVolcano).Any());
  EXPECT_FALSE(IsRevocable(ForZones("rz1"), kVolcano));
}

// D13, D30: in Volcano a zone annotation it does not understand hides the one that would open all
// zones.
TEST(RevocableAccess, ANameStandsBeforePreemptable) {
  Task task = SaysPreemptable();
  task.zones = {.annotated = true, .all = false, .names = Zone("rz1")};
  EXPECT_FALSE(Access(task, kVolcano).Any());
  EXPECT_TRUE(Access(task, kOurs).Allows(Zone("rz1")));
}

// D30
TEST(RevocableAccess, PreemptableAloneOpensNoZone) {
  EXPECT_FALSE(Access(SaysPreemptable(), kOurs).Any());
  EXPECT_FALSE(IsRevocable(SaysPreemptable(), kOurs));
}

// D30
TEST(RevocableAccess, InVolcanoThePreemptableAnnotationOpensAllZones) {
  EXPECT_TRUE(Access(SaysPreemptable(), kVolcano).all);
  EXPECT_TRUE(IsRevocable(SaysPreemptable(), kVolcano));
  Task by_label = SaysPreemptable();
  by_label.annotation_preemptable = false;
  EXPECT_FALSE(Access(by_label, kVolcano).Any());
}

TEST(RevocableAccess, AnEmptyAnnotationOpensNothing) {
  for (const AccessRules& rules : {kOurs, kVolcano})
    EXPECT_FALSE(Access(ForZones(""), rules).Any());
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
