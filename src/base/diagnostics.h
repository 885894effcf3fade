// Everything that is wrong with an input, collected so that the user sees all of it at once.
#pragma once

#include <string>
#include <vector>

namespace krafla {

// Where in a text; line and column count from 1, 0 means unknown.
struct Location {
  int line = 0;
  int column = 0;
};

enum class Severity { kWarning, kError };

struct Diagnostic {
  Severity severity = Severity::kError;
  std::string file;  // as the user named it, "-" for standard input
  Location location;
  std::string object;   // "Pod default/web-0", empty when the matter is the file itself
  std::string field;    // "spec.containers[0].resources.requests.cpu"
  std::string message;  // what is wrong and what was expected
};

class Diagnostics {
 public:
  void Add(Diagnostic diagnostic) { items_.push_back(std::move(diagnostic)); }
  void Error(std::string file, Location at, std::string message) {
    Add({Severity::kError, std::move(file), at, {}, {}, std::move(message)});
  }
  void Warning(std::string file, Location at, std::string message) {
    Add({Severity::kWarning, std::move(file), at, {}, {}, std::move(message)});
  }
  bool HasErrors() const;
  const std::vector<Diagnostic>& items() const { return items_; }

 private:
  std::vector<Diagnostic> items_;
};

// "cluster.yaml:12:9: error: Pod default/web-0: spec.priority: expected a whole number, got "high""
std::string ToString(const Diagnostic& diagnostic);

}  // namespace krafla
