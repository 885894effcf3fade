#include "manifest/input_text.h"

#include <unistd.h>

#include <algorithm>
#include <filesystem>
#include <fstream>
#include <sstream>

#include <fmt/format.h>
#include <gtest/gtest.h>
#include <simdjson.h>

#include "manifest/object_stream.h"

namespace krafla {
namespace {

constexpr size_t kLarge = size_t{3} << 20;  // large enough to be mapped

class InputTextTest : public ::testing::Test {
 protected:
  void SetUp() override { std::filesystem::create_directories(folder); }
  void TearDown() override { std::filesystem::remove_all(folder); }

  std::string Write(const std::string& text) {
    std::ofstream(path, std::ios::binary) << text;
    return path;
  }
  // The room behind the end, as it is now.
  static std::string Padding(const InputText& text) {
    return {text.view().end(), simdjson::SIMDJSON_PADDING};
  }

  const std::string folder =
      (std::filesystem::temp_directory_path() / fmt::format("krafla-input-{}", ::getpid()))
          .string();
  const std::string path = folder + "/input.json";
  const std::string zeros = std::string(simdjson::SIMDJSON_PADDING, '\0');
};

TEST_F(InputTextTest, EverySizeIsReadAsItIs) {
  const auto page = static_cast<size_t>(::sysconf(_SC_PAGESIZE));
  for (const size_t size : {size_t{0}, size_t{1}, page, kLarge - 1, kLarge, kLarge + 1,
                            kLarge + page - 1, kLarge + page - 63}) {
    std::string wanted(size, 'x');
    for (size_t i = 0; i < size; i += 97) wanted[i] = static_cast<char>('a' + i % 26);
    const auto text = InputText::FromFile(Write(wanted));
    ASSERT_TRUE(text) << size;
    EXPECT_TRUE(text->view() == wanted) << size;
    EXPECT_EQ(Padding(*text), zeros) << size;
    EXPECT_FALSE(text->CutShort());
  }
}

TEST_F(InputTextTest, WhatIsAppendedLaterIsNotSeen) {
  for (const size_t size : {kLarge, kLarge + 10}) {
    const auto text = InputText::FromFile(Write(std::string(size, 'x')));
    ASSERT_TRUE(text);
    std::ofstream(path, std::ios::app) << std::string(10'000, 'y');
    EXPECT_EQ(text->view().size(), size);
    EXPECT_EQ(text->view().back(), 'x');
    EXPECT_EQ(Padding(*text), zeros);
    EXPECT_FALSE(text->CutShort());
  }
}

TEST_F(InputTextTest, WhatIsCutOffLaterIsZerosAndKnown) {
  const auto text = InputText::FromFile(Write(std::string(kLarge, 'x')));
  ASSERT_TRUE(text);
  EXPECT_EQ(std::count(text->view().begin(), text->view().end(), 'x'), kLarge);
  std::filesystem::resize_file(path, 100'000);
  EXPECT_FALSE(text->CutShort()) << "nobody has missed anything";
  EXPECT_EQ(text->view()[kLarge - 8192], '\0');
  EXPECT_TRUE(text->CutShort());
  EXPECT_EQ(text->view()[1], 'x');
}

TEST_F(InputTextTest, AFileThatIsCutOffWhileItIsReadIsAnError) {
  std::string objects;
  while (objects.size() < kLarge)
    objects += R"({"apiVersion":"v1","kind":"Node","metadata":{"name":"n"}})"
               "\n";
  Write(objects);
  Diagnostics diagnostics;
  const std::vector<std::string> inputs = {path};
  std::istringstream none;
  size_t seen = 0;
  ReadObjects(
      inputs, none,
      [&](const ObjectText&) {
        if (++seen == 1) std::filesystem::resize_file(path, 0);
      },
      diagnostics);
  EXPECT_GE(seen, 1u);
  ASSERT_TRUE(diagnostics.HasErrors());
  EXPECT_EQ(ToString(diagnostics.items().back()),
            path + ": error: has become shorter while it was read; is somebody writing it?");
}

}  // namespace
}  // namespace krafla
