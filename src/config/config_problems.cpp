#include "config/config_problems.h"

#include <fmt/format.h>

#include <algorithm>
#include <tuple>
#include <utility>

#include "base/did_you_mean.h"

namespace krafla {

namespace {

std::string WithConsequence(std::string message, std::string_view consequence) {
  if (consequence.empty()) return message;
  const bool asks = message.ends_with('?');
  message += asks ? " " : "; ";
  const size_t begin = message.size();
  message += consequence;
  if (asks && message[begin] >= 'a' && message[begin] <= 'z') {
    message[begin] = static_cast<char>(message[begin] - 'a' + 'A');
  }
  return message;
}

}  // namespace

void ConfigProblems::Error(const ConfigSubject& subject, Location at, std::string message) {
  if (MakeRoom(Severity::kError)) Add(Severity::kError, subject, at, std::move(message));
}

void ConfigProblems::Warning(const ConfigSubject& subject, Location at, std::string message) {
  if (MakeRoom(Severity::kWarning)) Add(Severity::kWarning, subject, at, std::move(message));
}

void ConfigProblems::OptionError(std::string_view option, std::string message) {
  if (!MakeRoom(Severity::kError)) return;
  items_.push_back({Severity::kError, {}, {}, {}, std::string(option), std::move(message)});
}

void ConfigProblems::Complain(const ConfigSubject& subject, Location at, std::string message,
                              std::string_view consequence) {
  if (options_.lenient) {
    Warning(subject, at, WithConsequence(std::move(message), consequence));
  } else {
    Error(subject, at, std::move(message));
  }
}

void ConfigProblems::ComplainUnknown(const ConfigSubject& subject, Location at,
                                     std::string_view what, std::string_view word,
                                     std::span<const std::string_view> known,
                                     std::string_view consequence) {
  const Severity severity = options_.lenient ? Severity::kWarning : Severity::kError;
  if (!MakeRoom(severity)) return;  // before the search for the nearest word, which takes time
  std::string message =
      fmt::format("unknown {} {}{}", what, Quoted(word), DidYouMeanHint(word, known));
  if (options_.lenient) message = WithConsequence(std::move(message), consequence);
  Add(severity, subject, at, std::move(message));
}

bool ConfigProblems::MakeRoom(Severity severity) {
  int& count = severity == Severity::kError ? errors_ : warnings_;
  ++count;
  if (count == kMaxListed + 1) {
    const char* what = severity == Severity::kError ? "errors" : "warnings";
    Add(severity, {}, {}, fmt::format("more than {} {}; the rest is not listed", kMaxListed, what));
  }
  return count <= kMaxListed;
}

void ConfigProblems::Add(Severity severity, const ConfigSubject& subject, Location at,
                         std::string message) {
  items_.push_back({severity, options_.file_name, at, Printable(subject.object),
                    Printable(subject.field), std::move(message)});
}

void ConfigProblems::MoveTo(Diagnostics& diagnostics) {
  // Matters without a line (the command line, "not listed") come last.
  const auto position = [](const Diagnostic& d) {
    return std::tuple(d.location.line == 0, d.location.line, d.location.column);
  };
  std::stable_sort(items_.begin(), items_.end(), [&](const Diagnostic& a, const Diagnostic& b) {
    return position(a) < position(b);
  });
  for (Diagnostic& item : items_) diagnostics.Add(std::move(item));
  items_.clear();
}

}  // namespace krafla
