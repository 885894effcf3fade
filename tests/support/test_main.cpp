// The main function of the test programs: googletest's, and the page processes that tests start of
// their own program, as krafla serve does of its.
#include <gtest/gtest.h>

#include <iostream>

#include "app/page_worker_command.h"

int main(int argc, char** argv) {
  if (argc >= 2 && argv[1] == krafla::kPageWorkerCommand)
    return krafla::PageWorkerCommand({argv + 2, argv + argc}, std::cerr);
  ::testing::InitGoogleTest(&argc, argv);
  return RUN_ALL_TESTS();
}
