#include "support/gzip_lines.h"

#include <gtest/gtest.h>
#include <zlib.h>

namespace krafla::testing {

std::vector<std::string> ReadGzipLines(const std::string& path) {
  std::vector<std::string> lines;
  gzFile file = gzopen(path.c_str(), "rb");
  if (file == nullptr) {
    ADD_FAILURE() << "cannot open " << path;
    return lines;
  }
  std::string text;
  std::vector<char> buffer(1 << 16);
  int n = 0;
  while ((n = gzread(file, buffer.data(), static_cast<unsigned>(buffer.size()))) > 0)
    text.append(buffer.data(), static_cast<size_t>(n));
  EXPECT_EQ(n, 0) << "broken gzip file " << path;
  gzclose(file);
  size_t begin = 0;
  while (begin < text.size()) {
    const size_t end = text.find('\n', begin);
    if (end == std::string::npos) {
      lines.push_back(text.substr(begin));
      break;
    }
    if (end > begin) lines.push_back(text.substr(begin, end - begin));
    begin = end + 1;
  }
  return lines;
}

}  // namespace krafla::testing
