#include "record/folder_lock.h"

#include <signal.h>
#include <sys/wait.h>
#include <unistd.h>

#include <filesystem>

#include <fmt/format.h>
#include <gtest/gtest.h>

namespace krafla {
namespace {

class FolderLockTest : public ::testing::Test {
 protected:
  void SetUp() override { std::filesystem::create_directories(folder); }
  void TearDown() override { std::filesystem::remove_all(folder); }

  const std::string folder =
      (std::filesystem::temp_directory_path() / fmt::format("krafla-lock-{}", ::getpid())).string();
};

TEST_F(FolderLockTest, OnlyOneHasIt) {
  auto first = FolderLock::Take(folder);
  ASSERT_TRUE(first) << first.error().message;
  const auto second = FolderLock::Take(folder);
  ASSERT_FALSE(second);
  EXPECT_EQ(second.error().message, folder +
                                        " is in use: another krafla serve writes its record there; "
                                        "every process needs a folder of its own");
  first->reset();
  EXPECT_TRUE(FolderLock::Take(folder)) << "it was given back";
}

TEST_F(FolderLockTest, AProcessThatIsKilledHoldsNothing) {
  int ready[2];
  ASSERT_EQ(pipe(ready), 0);
  const pid_t child = fork();
  if (child == 0) {
    const auto taken = FolderLock::Take(folder);
    const char byte = taken ? 'y' : 'n';
    if (write(ready[1], &byte, 1) == 1) pause();
    _exit(1);
  }
  ASSERT_GT(child, 0);
  char byte = 0;
  ASSERT_EQ(read(ready[0], &byte, 1), 1);
  EXPECT_EQ(byte, 'y');
  EXPECT_FALSE(FolderLock::Take(folder)) << "another process has it";
  kill(child, SIGKILL);
  waitpid(child, nullptr, 0);
  EXPECT_TRUE(FolderLock::Take(folder));
  close(ready[0]);
  close(ready[1]);
}

TEST_F(FolderLockTest, AFolderThatIsNotThere) {
  const auto taken = FolderLock::Take(folder + "/none");
  ASSERT_FALSE(taken);
  EXPECT_EQ(taken.error().message,
            folder + "/none/.lock cannot be made: No such file or directory");
}

}  // namespace
}  // namespace krafla
