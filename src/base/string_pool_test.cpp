#include "base/string_pool.h"

#include <gtest/gtest.h>

#include <string>
#include <utility>
#include <vector>

namespace krafla {
namespace {

TEST(StringPool, TheEmptyStringIsThereFromTheStart) {
  StringPool pool;
  EXPECT_EQ(pool.size(), 1u);
  EXPECT_EQ(pool.Intern(""), kEmptyStr);
  EXPECT_EQ(pool.Find(""), kEmptyStr);
  EXPECT_EQ(pool.Text(kEmptyStr), "");
  EXPECT_EQ(pool.size(), 1u);
}

TEST(StringPool, SameBytesSameId) {
  StringPool pool;
  const StrId a = pool.Intern("node-a");
  const StrId b = pool.Intern("node-b");
  EXPECT_NE(a, b);
  EXPECT_EQ(pool.Intern(std::string("node-") + "a"), a);
  EXPECT_EQ(pool.Text(a), "node-a");
  EXPECT_EQ(pool.size(), 3u);
}

TEST(StringPool, IdsFollowFirstAppearance) {
  StringPool pool;
  EXPECT_EQ(pool.Intern("z").value, 1u);
  EXPECT_EQ(pool.Intern("a").value, 2u);
  EXPECT_EQ(pool.Intern("z").value, 1u);
}

TEST(StringPool, FindDoesNotAdd) {
  StringPool pool;
  EXPECT_FALSE(pool.Find("absent").valid());
  EXPECT_EQ(pool.size(), 1u);
  const StrId id = pool.Intern("present");
  EXPECT_EQ(pool.Find("present"), id);
}

TEST(StringPool, BytesCountNotCharacters) {
  StringPool pool;
  const std::string with_zero("a\0b", 3);
  const StrId id = pool.Intern(with_zero);
  EXPECT_NE(id, pool.Intern("a"));
  EXPECT_EQ(pool.Text(id), with_zero);
}

TEST(StringPool, TheCallersBytesMayGo) {
  StringPool pool;
  std::string text = "temporary";
  const StrId id = pool.Intern(text);
  text.assign("overwritten");
  EXPECT_EQ(pool.Text(id), "temporary");
  EXPECT_EQ(pool.Find("temporary"), id);
}

// Views of texts are kept all over the cluster: they must outlast growth, long texts and a move.
TEST(StringPool, ViewsStayGoodWhileThePoolGrowsAndMoves) {
  StringPool pool;
  std::vector<std::pair<StrId, std::string>> expected;
  std::vector<std::string_view> views;
  auto add = [&](std::string text) {
    const StrId id = pool.Intern(text);
    views.push_back(pool.Text(id));
    expected.emplace_back(id, std::move(text));
  };
  for (int i = 0; i < 20'000; ++i) add("text-number-" + std::to_string(i));
  add(std::string(200'000, 'x'));  // longer than a block
  add("after the long one");
  const StringPool moved = std::move(pool);
  for (size_t i = 0; i < expected.size(); ++i) {
    ASSERT_EQ(moved.Text(expected[i].first), expected[i].second);
    ASSERT_EQ(views[i], expected[i].second);
    ASSERT_EQ(moved.Text(expected[i].first).data(), views[i].data());
    ASSERT_EQ(moved.Find(expected[i].second), expected[i].first);
  }
}

TEST(StringPool, WhatIsExpectedChangesNoAnswer) {
  StringPool pool;
  const StrId before = pool.Intern("before");
  pool.Expect(10'000);
  pool.Expect(0);
  pool.Prefetch("a text");
  EXPECT_EQ(pool.Find("a text"), StrId{});
  EXPECT_EQ(pool.Intern("before"), before);
  EXPECT_EQ(pool.Intern("a text").value, before.value + 1);
  EXPECT_EQ(pool.size(), 3u);
}

}  // namespace
}  // namespace krafla
