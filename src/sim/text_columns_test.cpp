#include "sim/text_columns.h"

#include <gtest/gtest.h>

#include <sstream>

namespace krafla {
namespace {

using Align = TextColumns::Align;

size_t LongestLine(const std::string& text) {
  size_t longest = 0;
  std::istringstream lines(text);
  for (std::string line; std::getline(lines, line);) longest = std::max(longest, TextWidth(line));
  return longest;
}

TEST(TextColumns, NoLineIsTooLongWhateverTheNamesAre) {
  const std::string name(60, 'n');
  for (const Align last : {Align::kLeft, Align::kRight}) {
    TextColumns table({{"FIRST"}, {"POD"}, {"BEFORE", Align::kRight}, {"BY"}, {"FOR JOB", last}});
    table.Row({"Mon 16 Mar 13:58:02", name, "2", "shuffle, zone-closed", name});
    const std::string text = table.Render("  ");
    EXPECT_LE(LongestLine(text), kTerminalColumns) << text;
    // The names give way, not what is short.
    EXPECT_NE(text.find("Mon 16 Mar 13:58:02"), std::string::npos) << text;
    EXPECT_NE(text.find("shuffle, zone-closed"), std::string::npos) << text;
  }
}

TEST(TextColumns, WhatFitsStaysAsItIs) {
  TextColumns table({{"POD"}, {"NODES", Align::kRight}});
  table.Row({"a/x-0", "12"});
  EXPECT_EQ(table.Render(), "POD    NODES\na/x-0     12\n");
}

}  // namespace
}  // namespace krafla
