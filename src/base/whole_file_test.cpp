#include "base/whole_file.h"

#include <gtest/gtest.h>

#include <filesystem>
#include <fstream>
#include <string>

namespace krafla {
namespace {

TEST(WholeFile, IsReadOrSaysWhyNot) {
  const std::filesystem::path folder =
      std::filesystem::path(::testing::TempDir()) / "whole_file_test";
  std::filesystem::create_directories(folder);
  const std::string path = (folder / "text").string();
  const std::string text("two\nlines\0and what is behind them", 33);
  std::ofstream(path, std::ios::binary) << text;
  EXPECT_EQ(ReadWholeFile(path).value_or("nothing"), text);
  EXPECT_EQ(ReadWholeFile(folder.string()).error().message, "cannot be read: it is a folder");
  EXPECT_EQ(ReadWholeFile(path + ".gone").error().message,
            "cannot be read: No such file or directory");
  EXPECT_EQ(ReadWholeFile(path + "/inside").error().message, "cannot be read: Not a directory");
  EXPECT_EQ(ReadWholeFile("/dev/null").error().message, "cannot be read: it is not a file");
  std::filesystem::remove_all(folder);
}

}  // namespace
}  // namespace krafla
