#include "base/line_stream.h"

#include <gtest/gtest.h>

#include <vector>

namespace krafla {
namespace {

TEST(LineStream, EachLineIsPassedOnWhenItEnds) {
  std::vector<std::string> lines;
  const std::string large(100'000, 'x');
  {
    const LineStream stream([&](const std::string& line) { lines.push_back(line); });
    std::fputs("one", stream.file());
    EXPECT_TRUE(lines.empty());
    std::fputc('\n', stream.file());
    EXPECT_EQ(lines, (std::vector<std::string>{"one"}));
    std::fputs("two\nthree\n\n", stream.file());
    EXPECT_EQ(lines, (std::vector<std::string>{"one", "two", "three", ""}));
    std::fputs((large + "\nthe rest").c_str(), stream.file());
    EXPECT_EQ(lines.back(), large);
  }
  EXPECT_EQ(lines.back(), "the rest") << "nothing is lost at the end";
}

}  // namespace
}  // namespace krafla
