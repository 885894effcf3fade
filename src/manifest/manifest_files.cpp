#include "manifest/manifest_files.h"

#include <algorithm>
#include <filesystem>
#include <string_view>
#include <system_error>
#include <utility>

namespace krafla {

namespace {

bool IsManifestName(std::string_view name) {
  return name.ends_with(".yaml") || name.ends_with(".yml") || name.ends_with(".json");
}

class Finder {
 public:
  explicit Finder(Diagnostics& diagnostics) : diagnostics_(diagnostics) {}

  void Visit(const std::string& directory);
  std::vector<std::string> TakeFiles() { return std::move(files_); }

 private:
  // Sorted names; reports what cannot be listed.
  std::vector<std::string> List(const std::string& directory);
  void CannotRead(const std::string& path, const std::error_code& error) {
    diagnostics_.Error(path, {}, "cannot be read: " + error.message());
  }

  Diagnostics& diagnostics_;
  std::vector<std::string> files_;
};

std::vector<std::string> Finder::List(const std::string& directory) {
  std::vector<std::string> names;
  std::error_code error;
  std::filesystem::directory_iterator entry(directory, error);
  while (!error && entry != std::filesystem::directory_iterator()) {
    std::string name = entry->path().filename().string();
    if (!name.starts_with('.')) names.push_back(std::move(name));
    entry.increment(error);
  }
  if (error) CannotRead(directory, error);
  std::sort(names.begin(), names.end());
  return names;
}

void Finder::Visit(const std::string& directory) {
  for (const std::string& name : List(directory)) {
    const std::string path = directory + (directory.ends_with('/') ? "" : "/") + name;
    std::error_code error;
    const auto itself = std::filesystem::symlink_status(path, error);
    if (!error && std::filesystem::is_directory(itself)) {
      Visit(path);
    } else if (IsManifestName(name)) {
      const auto target = std::filesystem::status(path, error);
      if (error || target.type() == std::filesystem::file_type::not_found) {
        CannotRead(path,
                   error ? error : std::make_error_code(std::errc::no_such_file_or_directory));
      } else if (std::filesystem::is_regular_file(target)) {
        files_.push_back(path);
      }
    }
  }
}

}  // namespace

std::vector<std::string> FindManifestFiles(const std::string& directory, Diagnostics& diagnostics) {
  Finder finder(diagnostics);
  finder.Visit(directory);
  return finder.TakeFiles();
}

}  // namespace krafla
