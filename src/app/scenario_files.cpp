#include "app/scenario_files.h"

#include <algorithm>
#include <filesystem>
#include <set>

namespace krafla {

namespace {

namespace fs = std::filesystem;

bool IsYaml(const fs::path& path) {
  return path.extension() == ".yaml" || path.extension() == ".yml";
}

bool IsUsedByScenarios(const fs::path& path) {
  return std::any_of(path.begin(), path.end(),
                     [](const fs::path& part) { return part == "files"; });
}

}  // namespace

std::vector<std::string> FindScenarioFiles(const std::vector<std::string>& arguments,
                                           Diagnostics& diagnostics) {
  std::vector<std::string> files;
  std::set<std::string> seen;
  const auto take = [&](const fs::path& path) {
    if (seen.insert(path.lexically_normal().string()).second) files.push_back(path.string());
  };
  for (const std::string& argument : arguments) {
    std::error_code error;
    if (fs::is_directory(argument, error)) {
      // The name of the folder itself is the user's choice.
      std::vector<fs::path> found;
      for (const auto& entry : fs::recursive_directory_iterator(argument, error))
        if (entry.is_regular_file() && IsYaml(entry.path()) &&
            !IsUsedByScenarios(fs::relative(entry.path(), argument)))
          found.push_back(entry.path());
      std::sort(found.begin(), found.end());
      if (found.empty() && arguments.size() == 1)
        diagnostics.Error(argument, {}, "expected scenario files (.yaml) in the folder, got none");
      const bool passed_over = arguments.size() > 1 && IsUsedByScenarios(argument);
      for (const fs::path& path : found)
        if (!passed_over) take(path);
    } else if (arguments.size() == 1 || (IsYaml(argument) && !IsUsedByScenarios(argument)) ||
               !fs::exists(argument, error)) {
      take(argument);
    }
  }
  return files;
}

}  // namespace krafla
