#include <fmt/format.h>

#include <string>

#include "check/check_input.h"
#include "check/check_output.h"

namespace krafla {

namespace {

constexpr size_t kWidth = 100;

class CheckText {
 public:
  explicit CheckText(bool color) : color_(color) {}

  std::string Render(const CheckReport& report) {
    for (const Finding& finding : report.findings) Write(finding);
    Summarize(report);
    return std::move(text_);
  }

 private:
  std::string Paint(std::string_view code, std::string_view text) const {
    return color_ ? fmt::format("\x1b[{}m{}\x1b[0m", code, text) : std::string(text);
  }
  std::string_view ColorOf(FindingLevel level) const {
    switch (level) {
      case FindingLevel::kError:
        return "1;31";
      case FindingLevel::kWarning:
        return "1;33";
      case FindingLevel::kNote:
        return "1;36";
    }
    return {};
  }

  void Write(const Finding& finding) {
    const std::string place = PlaceText(finding.place);
    if (!place.empty()) text_ += Paint("1", place) + ": ";
    text_ += fmt::format("{}: {} {}\n", Paint(ColorOf(finding.level), ToString(finding.level)),
                         finding.code, finding.slug);
    Paragraph("  ", finding.object.empty()
                        ? finding.message
                        : fmt::format("{}: {}", finding.object, finding.message));
    if (!finding.consequence.empty()) Paragraph("  what will happen: ", finding.consequence);
    for (const std::string& detail : finding.details) text_ += fmt::format("    {}\n", detail);
    if (!finding.fix.empty()) Paragraph("  fix: ", finding.fix);
    text_ += '\n';
  }

  static std::string PlaceText(const Place& place) {
    if (place.file.empty() || place.location.line <= 0) return place.file;
    if (place.location.column <= 0) return fmt::format("{}:{}", place.file, place.location.line);
    return fmt::format("{}:{}:{}", place.file, place.location.line, place.location.column);
  }

  // Broken between words, later lines four blanks in.
  void Paragraph(std::string_view label, std::string_view words) {
    std::string line(label);
    bool at_start = true;
    while (!words.empty()) {
      const size_t blank = std::min(words.find(' '), words.size());
      const std::string_view word = words.substr(0, blank);
      words.remove_prefix(std::min(blank + 1, words.size()));
      if (!at_start && line.size() + 1 + word.size() > kWidth) {
        text_ += line + '\n';
        line = "    ";
        at_start = true;
      }
      line += fmt::format("{}{}", at_start ? "" : " ", word);
      at_start = false;
    }
    text_ += line + '\n';
  }

  void Summarize(const CheckReport& report) {
    if (report.findings.empty()) {
      text_ += fmt::format("{}: no findings; ", Paint("1;32", "clean"));
    } else {
      text_ += fmt::format("{}, {}, {}; ", Count(report.CountOf(FindingLevel::kError), "error"),
                           Count(report.CountOf(FindingLevel::kWarning), "warning"),
                           Count(report.CountOf(FindingLevel::kNote), "note"));
    }
    text_ += fmt::format("{} checked", Count(report.rules, "rule"));
    if (report.rules_without_config > 0)
      text_ += fmt::format(", {} wait until the configuration has no errors",
                           report.rules_without_config);
    if (report.rules_without_cluster > 0)
      text_ += fmt::format(
          ", {} {}", report.rules_without_cluster,
          report.cluster_given ? "wait until all manifests can be read" : "need --cluster");
    text_ += '\n';
  }

  bool color_;
  std::string text_;
};

}  // namespace

std::string CheckAsText(const CheckReport& report, bool color) {
  return CheckText(color).Render(report);
}

}  // namespace krafla
