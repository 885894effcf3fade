#include "check/finding.h"

#include <algorithm>
#include <tuple>

namespace krafla {

std::string_view ToString(FindingLevel level) {
  switch (level) {
    case FindingLevel::kNote:
      return "note";
    case FindingLevel::kWarning:
      return "warning";
    case FindingLevel::kError:
      return "error";
  }
  return {};
}

void SortFindings(std::vector<Finding>& findings) {
  const auto key = [](const Finding& f) {
    const Location& at = f.place.location;
    return std::tuple(f.place.file.empty(), std::string_view(f.place.file), at.line == 0, at.line,
                      at.column, f.code, std::string_view(f.object), std::string_view(f.message));
  };
  std::stable_sort(findings.begin(), findings.end(),
                   [&](const Finding& a, const Finding& b) { return key(a) < key(b); });
}

}  // namespace krafla
