// The lines of a gzip file of JSON lines.
#pragma once

#include <string>
#include <vector>

namespace krafla::testing {

// Fails the running test when the file cannot be read.
std::vector<std::string> ReadGzipLines(const std::string& path);

}  // namespace krafla::testing
