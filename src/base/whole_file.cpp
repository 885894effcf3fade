#include "base/whole_file.h"

#include <cerrno>
#include <filesystem>
#include <fstream>
#include <iterator>
#include <system_error>

namespace krafla {

Result<std::string> ReadWholeFile(const std::string& path) {
  const auto cannot = [](const std::string& why) { return Fail("cannot be read: " + why); };
  std::error_code error;
  const std::filesystem::file_status status = std::filesystem::status(path, error);
  if (error) return cannot(error.message());
  if (std::filesystem::is_directory(status)) return cannot("it is a folder");
  if (!std::filesystem::is_regular_file(status) && !std::filesystem::is_fifo(status))
    return cannot("it is not a file");
  std::ifstream file(path, std::ios::binary);
  if (!file.is_open()) return cannot(std::generic_category().message(errno));
  std::string text((std::istreambuf_iterator<char>(file)), std::istreambuf_iterator<char>());
  if (file.bad()) return cannot("reading it broke off");
  return text;
}

}  // namespace krafla
