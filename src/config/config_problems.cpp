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

ConfigTopic TopicOfUnknown(std::string_view what, const ConfigSubject& subject) {
  if (what == "action") return ConfigTopic::kUnknownAction;
  if (what == "plugin") return ConfigTopic::kUnknownPlugin;
  if (what == "argument") return ConfigTopic::kUnknownArgument;
  if (what == "profile" || what == "switch") return ConfigTopic::kCompatibility;
  return subject.object.starts_with("plugin") ? ConfigTopic::kUnknownSwitch
                                              : ConfigTopic::kUnknownKey;
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
  items_.push_back(
      {{Severity::kError, {}, {}, {}, std::string(option), std::move(message)}, {}, {}, {}});
}

void ConfigProblems::Complain(const ConfigSubject& subject, Location at, std::string message,
                              std::string_view consequence) {
  const Severity severity = options_.lenient ? Severity::kWarning : Severity::kError;
  if (!MakeRoom(severity)) return;
  if (options_.lenient) message = WithConsequence(std::move(message), consequence);
  Add(severity, subject, at, std::move(message)).consequence = consequence;
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
  ConfigProblem& problem = Add(severity, subject, at, std::move(message));
  problem.topic = TopicOfUnknown(what, subject);
  problem.consequence = consequence;
  if (const auto near = DidYouMean(word, known)) problem.suggestion = *near;
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

ConfigProblem& ConfigProblems::Add(Severity severity, const ConfigSubject& subject, Location at,
                                   std::string message) {
  return items_.emplace_back(Diagnostic{severity, options_.file_name, at, Printable(subject.object),
                                        Printable(subject.field), std::move(message)},
                             subject.topic, std::string(), std::string());
}

void ConfigProblems::MoveTo(Diagnostics& diagnostics) {
  for (ConfigProblem& item : Take()) diagnostics.Add(std::move(item.diagnostic));
}

std::vector<ConfigProblem> ConfigProblems::Take() {
  // Matters without a line (the command line, "not listed") come last.
  const auto position = [](const ConfigProblem& problem) {
    const Location& at = problem.diagnostic.location;
    return std::tuple(at.line == 0, at.line, at.column);
  };
  std::stable_sort(
      items_.begin(), items_.end(),
      [&](const ConfigProblem& a, const ConfigProblem& b) { return position(a) < position(b); });
  return std::exchange(items_, {});
}

}  // namespace krafla
