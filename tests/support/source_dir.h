// Where the repository is, for tests that read its files.
#pragma once

#include <string>

namespace krafla::testing {

// Made by the build in a file of its own: what tests are compiled to is the same in every clone.
std::string SourceDir();

}  // namespace krafla::testing
