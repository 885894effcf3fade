#include "manifest/parcel_decoder.h"

#include <gtest/gtest.h>

#include <fmt/format.h>
#include <simdjson.h>

#include "cluster_state/live_cluster.h"

namespace krafla {
namespace {

// One thread's decoder, and a cluster that is told.
class ParcelDecoderTest : public ::testing::Test {
 protected:
  static DecodeOptions Options() { return {.lenient = true, .finds_odd_words = false}; }

  static std::string Pod(const std::string& name, const std::string& extra_request = "",
                         const std::string& image = "i") {
    return fmt::format(
        R"({{"apiVersion":"v1","kind":"Pod","metadata":{{"name":"{0}","namespace":"a","uid":"u-{0}",)"
        R"("labels":{{"app":"x","own":"{0}"}}}},"spec":{{"schedulerName":"volcano","containers":[)"
        R"({{"name":"c","image":"{2}","resources":{{"requests":{{"cpu":"1"{1}}}}}}}]}},)"
        R"("status":{{"phase":"Pending"}}}})",
        name, extra_request, image);
  }
  std::unique_ptr<FactParcel> Decode(const std::string& json) {
    padded = json;
    padded.reserve(json.size() + simdjson::SIMDJSON_PADDING);
    return decoder.Decode(padded, "object");
  }
  std::unique_ptr<FactParcel> Send(const std::string& json) {
    std::unique_ptr<FactParcel> parcel = Decode(json);
    decoder.NoteSent();
    receiver.Learn(*parcel);
    return parcel;
  }
  bool Tell(const std::string& json) { return receiver.Deliver(*Send(json), live); }

  const PodFacts* Find(const std::string& name) {
    return live.FindPod(live.strings().Find("a"), live.strings().Find(name));
  }
  std::string Label(const std::string& pod, const std::string& key) {
    const LabelSet& labels = live.labels(Find(pod)->task.labels);
    const StrId value = FindLabel(labels, live.strings().Find(key));
    return value.valid() ? std::string(live.strings().Text(value)) : "none";
  }

  ParcelDecoder decoder{Options()};
  FactReceiver receiver;
  LiveCluster live{BuildOptions{}};
  std::string padded;
};

TEST_F(ParcelDecoderTest, FactsArriveInTheNumbersOfTheCluster) {
  for (const char* other : {"numbers", "of", "its", "own"}) live.strings().Intern(other);
  EXPECT_TRUE(Tell(Pod("p1")));
  EXPECT_TRUE(Tell(Pod("p2", R"(,"nvidia.com/gpu":"2")")));
  ASSERT_NE(Find("p1"), nullptr);
  EXPECT_EQ(live.strings().Text(Find("p1")->task.uid), "u-p1");
  EXPECT_EQ(Label("p1", "own"), "p1");
  EXPECT_EQ(Label("p2", "app"), "x");
  const Cluster& c = live.cluster();
  ASSERT_EQ(c.tasks.size(), 2u);
  const int gpus = c.kinds.Find("nvidia.com/gpu");
  ASSERT_GE(gpus, 0);
  EXPECT_EQ(live.spec(Find("p2")->task.spec).request.Get(gpus), 2000);
  EXPECT_EQ(live.spec(Find("p1")->task.spec).request.cpu(), 1000);
}

TEST_F(ParcelDecoderTest, WhatWasToldIsNotToldAgain) {
  const auto first = Send(Pod("p1"));
  EXPECT_TRUE(first->first);
  EXPECT_EQ(first->specs.size(), 1u);
  const auto second = Send(Pod("p2"));
  EXPECT_FALSE(second->first);
  EXPECT_EQ(second->specs.size(), 0u);
  EXPECT_EQ(second->texts, "p2u-p2") << "its name, which is a label's value too, and its UID";
  EXPECT_TRUE(receiver.Deliver(*second, live));
  EXPECT_EQ(Label("p2", "app"), "x") << "told by a parcel that was not used";
}

TEST_F(ParcelDecoderTest, AParcelThatWasNotSentIsPackedAgain) {
  Send(Pod("p1"));
  const auto lost = Decode(Pod("p2", "", "another"));
  const auto sent = Send(Pod("p2", "", "another"));
  EXPECT_EQ(sent->texts, lost->texts);
  EXPECT_EQ(sent->specs.size(), 1u);
  EXPECT_TRUE(receiver.Deliver(*sent, live));
  EXPECT_EQ(Label("p2", "own"), "p2");
}

TEST_F(ParcelDecoderTest, DictionariesBeginAnewAndStaySmall) {
  int begun = 0;
  for (int i = 0; i < 100'000; ++i) {
    const auto parcel = Send(Pod(fmt::format("p{}", i), "", fmt::format("i{}", i % 7)));
    if (parcel->first) ++begun;
    ASSERT_TRUE(receiver.Deliver(*parcel, live));
    ASSERT_EQ(Label(fmt::format("p{}", i), "own"), fmt::format("p{}", i));
    if (i >= 10)
      live.RemovePod(live.strings().Find("a"), live.strings().Find(fmt::format("p{}", i - 10)));
    if (!live.IsCrowded()) continue;
    live.Compact();
    receiver.ForgetNumbers();
  }
  EXPECT_GT(begun, 3);
  EXPECT_LT(begun, 20);
  EXPECT_EQ(live.cluster().tasks.size(), 10u);
  EXPECT_LT(live.strings().size(), 70'000u);
}

TEST_F(ParcelDecoderTest, WhatIsWrongIsSaid) {
  Tell(Pod("p1"));
  const auto parcel = Send(
      R"({"apiVersion":"v1","kind":"Pod","metadata":{"name":"p1","namespace":"a"},"spec":{"containers":)"
      R"([{"resources":7}]}})");
  ASSERT_EQ(parcel->problems.size(), 1u);
  EXPECT_NE(parcel->problems[0].find("spec.containers[0].resources: expected"), std::string::npos)
      << parcel->problems[0];
  EXPECT_TRUE(std::holds_alternative<std::monostate>(parcel->facts));
  const uint64_t version = live.version();
  EXPECT_TRUE(receiver.Deliver(*parcel, live));
  EXPECT_EQ(live.version(), version);
}

TEST_F(ParcelDecoderTest, WhatIsNoJsonInTheMiddleOfAPodIsSaid) {
  const auto parcel = Send(
      R"({"apiVersion":"v1","kind":"Pod","metadata":{"name":"p1","namespace":"a"},"spec":{"containers":)"
      R"([{"name":"c","resources":{"requests":"cpu":"1"}}}]}})");
  EXPECT_FALSE(parcel->problems.empty());
  EXPECT_TRUE(std::holds_alternative<std::monostate>(parcel->facts));
}

TEST_F(ParcelDecoderTest, TooManyKindsOfResourcesLeaveTheObjectOut) {
  for (int i = live.kinds().size(); i < ResourceKinds::kMax; ++i)
    ASSERT_GE(live.kinds().Intern(fmt::format("example.com/kind-{}", i)), 0);
  EXPECT_FALSE(Tell(Pod("p1", R"(,"example.com/one-more":"1")")));
  EXPECT_EQ(Find("p1"), nullptr);
  EXPECT_TRUE(Tell(Pod("p2")));
}

}  // namespace
}  // namespace krafla
