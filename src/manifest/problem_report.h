// Turns what decoders noted into messages for the user, not more of them per file than anybody
// reads.
#pragma once

#include <map>
#include <string>
#include <string_view>

#include "base/diagnostics.h"
#include "manifest/object_reader.h"
#include "manifest/object_stream.h"

namespace krafla {

class ProblemReport {
 public:
  static constexpr int kMaxPerFile = 50;

  // Lenient: errors are warnings, because the object they are about is skipped.
  ProblemReport(Diagnostics& diagnostics, bool lenient)
      : diagnostics_(diagnostics), lenient_(lenient) {}

  void Add(const ObjectText& text, const std::string& object, const ObjectReader& reader);
  void Add(Diagnostic diagnostic);
  // Says how many were left unsaid.
  void Finish();

 private:
  struct Counts {
    int errors = 0;
    int warnings = 0;
  };
  // False when there were enough of that kind in that file.
  bool Count(std::string_view file, Severity severity);

  Diagnostics& diagnostics_;
  bool lenient_ = false;
  std::map<std::string, Counts, std::less<>> counts_;
};

}  // namespace krafla
