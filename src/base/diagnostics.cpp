#include "base/diagnostics.h"

#include <algorithm>

namespace krafla {

bool Diagnostics::HasErrors() const {
  return std::any_of(items_.begin(), items_.end(),
                     [](const Diagnostic& d) { return d.severity == Severity::kError; });
}

std::string ToString(const Diagnostic& diagnostic) {
  std::string text = diagnostic.file;
  if (diagnostic.location.line > 0) {
    text += ':' + std::to_string(diagnostic.location.line);
    if (diagnostic.location.column > 0) text += ':' + std::to_string(diagnostic.location.column);
  }
  if (!text.empty()) text += ": ";
  text += diagnostic.severity == Severity::kError ? "error: " : "warning: ";
  if (!diagnostic.object.empty()) text += diagnostic.object + ": ";
  if (!diagnostic.field.empty()) text += diagnostic.field + ": ";
  return text + diagnostic.message;
}

}  // namespace krafla
