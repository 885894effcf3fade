#include "manifest/problem_report.h"

#include <fmt/format.h>

#include "manifest/json_path.h"

namespace krafla {

bool ProblemReport::Count(std::string_view file, Severity severity) {
  auto found = counts_.find(file);
  if (found == counts_.end()) found = counts_.emplace(std::string(file), Counts{}).first;
  int& count = severity == Severity::kError ? found->second.errors : found->second.warnings;
  return ++count <= kMaxPerFile;
}

void ProblemReport::Add(Diagnostic diagnostic) {
  if (lenient_ && diagnostic.severity == Severity::kError) {
    diagnostic.severity = Severity::kWarning;
    diagnostic.message += "; skipped";
  }
  if (Count(diagnostic.file, diagnostic.severity)) diagnostics_.Add(std::move(diagnostic));
}

void ProblemReport::Add(const ObjectText& text, const std::string& object,
                        const ObjectReader& reader) {
  for (const ObjectProblem& problem : reader.problems()) {
    const bool skipped = lenient_ && problem.severity == Severity::kError;
    const Severity severity = skipped ? Severity::kWarning : problem.severity;
    if (!Count(text.file, severity)) continue;
    Diagnostic diagnostic;
    diagnostic.severity = severity;
    diagnostic.file = text.file;
    if (text.locate) diagnostic.location = text.locate(problem.offset);
    diagnostic.object = object;
    diagnostic.field =
        problem.field.empty() ? JsonPathAt(reader.json(), problem.offset) : problem.field;
    diagnostic.message = problem.message + (skipped ? "; skipped" : "");
    diagnostics_.Add(std::move(diagnostic));
  }
}

void ProblemReport::Finish() {
  for (const auto& [file, counts] : counts_) {
    if (counts.errors > kMaxPerFile)
      diagnostics_.Error(file, {},
                         fmt::format("… and {} more errors", counts.errors - kMaxPerFile));
    if (counts.warnings > kMaxPerFile)
      diagnostics_.Warning(file, {},
                           fmt::format("… and {} more warnings", counts.warnings - kMaxPerFile));
  }
}

}  // namespace krafla
