// K1: the configuration as a text. The reader of the configuration finds these; here each kind of
// mistake gets its code, what it leads to and a way out.
#include <fmt/format.h>

#include <array>
#include <string>

#include "base/did_you_mean.h"
#include "check/check_input.h"
#include "check/check_rule.h"

namespace krafla {

namespace {

// "unknown plugin "gan"; did you mean "gang"?" without the question, which the fix answers.
std::string WithoutQuestion(const ConfigProblem& problem) {
  const std::string& message = problem.diagnostic.message;
  const size_t question = message.rfind("; did you mean ");
  return problem.suggestion.empty() || question == std::string::npos ? message
                                                                     : message.substr(0, question);
}

std::string WithField(const ConfigProblem& problem) {
  const std::string& field = problem.diagnostic.field;
  const std::string message = WithoutQuestion(problem);
  return field.empty() ? message : fmt::format("{}: {}", field, message);
}

std::string WhatHappens(const ConfigProblem& problem) {
  if (problem.diagnostic.severity == Severity::kWarning) return {};
  const std::string refused = "Krafla refuses the configuration as a whole";
  if (problem.consequence.empty()) return refused;
  return fmt::format("{}; with --lenient {}", refused, problem.consequence);
}

std::string Suggested(const ConfigProblem& problem, std::string_view otherwise) {
  return problem.suggestion.empty() ? std::string(otherwise)
                                    : fmt::format("write {}", Quoted(problem.suggestion));
}

template <ConfigTopic kTopic, class Consequence, class Fix>
void ReportTopic(const CheckInput& input, RuleReport& report, Consequence&& consequence,
                 Fix&& fix) {
  for (const ConfigProblem& problem : input.config_problems) {
    if (problem.topic != kTopic) continue;
    const bool is_error = problem.diagnostic.severity == Severity::kError;
    report.AddAs(is_error ? FindingLevel::kError : FindingLevel::kWarning,
                 {.place = {problem.diagnostic.file, problem.diagnostic.location},
                  .object = problem.diagnostic.object,
                  .message = WithField(problem),
                  .consequence = consequence(problem),
                  .fix = fix(problem)});
  }
}

void Syntax(const CheckInput& input, RuleReport& report) {
  ReportTopic<ConfigTopic::kSyntax>(input, report, WhatHappens, [](const ConfigProblem&) {
    return "correct the YAML at this place";
  });
}

void Structure(const CheckInput& input, RuleReport& report) {
  ReportTopic<ConfigTopic::kStructure>(input, report, WhatHappens, [](const ConfigProblem&) {
    return "give the part the shape docs/configuration.md shows";
  });
}

void UnknownKey(const CheckInput& input, RuleReport& report) {
  ReportTopic<ConfigTopic::kUnknownKey>(input, report, WhatHappens, [](const ConfigProblem& p) {
    return Suggested(p, "take the key out");
  });
}

void UnknownAction(const CheckInput& input, RuleReport& report) {
  ReportTopic<ConfigTopic::kUnknownAction>(input, report, WhatHappens, [](const ConfigProblem& p) {
    return Suggested(p, "take the action out, or use one of those named");
  });
}

void UnknownPlugin(const CheckInput& input, RuleReport& report) {
  ReportTopic<ConfigTopic::kUnknownPlugin>(input, report, WhatHappens, [](const ConfigProblem& p) {
    return Suggested(p, "take the plugin out, or use one of those named");
  });
}

void NotAvailable(const CheckInput& input, RuleReport& report) {
  ReportTopic<ConfigTopic::kNotAvailable>(input, report, WhatHappens, [](const ConfigProblem&) {
    return "take it out; docs/plugins.md lists what there is";
  });
}

void UnknownSwitch(const CheckInput& input, RuleReport& report) {
  ReportTopic<ConfigTopic::kUnknownSwitch>(input, report, WhatHappens, [](const ConfigProblem& p) {
    return Suggested(p, "take the key out; docs/configuration.md lists all switches");
  });
}

void UnknownArgument(const CheckInput& input, RuleReport& report) {
  ReportTopic<ConfigTopic::kUnknownArgument>(
      input, report, WhatHappens,
      [](const ConfigProblem& p) { return Suggested(p, "take the argument out"); });
}

bool IsWindow(const ConfigProblem& problem) {
  return problem.diagnostic.field.starts_with("tdm.revocable-zone.");
}

void BadValue(const CheckInput& input, RuleReport& report) {
  ReportTopic<ConfigTopic::kBadValue>(
      input, report,
      [](const ConfigProblem& p) {
        return IsWindow(p) ? "Krafla refuses the configuration as a whole; with --lenient the zone "
                             "stays configured and never opens"
                           : WhatHappens(p);
      },
      [](const ConfigProblem& p) {
        return IsWindow(p)
                   ? "write the hours in which the zone is open, or take the zone out"
                   : fmt::format("give {} a value of that form, or take it out to have its default",
                                 p.diagnostic.field);
      });
}

void BadCompatibility(const CheckInput& input, RuleReport& report) {
  ReportTopic<ConfigTopic::kCompatibility>(input, report, WhatHappens, [](const ConfigProblem& p) {
    return Suggested(p, "see docs/deviations.md for the names of profiles and switches");
  });
}

void RepeatedPlugin(const CheckInput& input, RuleReport& report) {
  ReportTopic<ConfigTopic::kRepeatedPlugin>(
      input, report,
      [&](const ConfigProblem& p) {
        std::string text =
            "it is one plugin, asked at both places; only the arguments of its last entry count";
        const std::string& object = p.diagnostic.object;
        const PluginHooks* hooks = input.probe.HooksOf(object.substr(object.find(' ') + 1));
        if (hooks != nullptr && hooks->score) text += ", and its node scores are added twice";
        return text;
      },
      [](const ConfigProblem&) { return "keep one of the entries"; });
}

void RepeatedSettings(const CheckInput& input, RuleReport& report) {
  ReportTopic<ConfigTopic::kRepeatedSettings>(
      input, report,
      [](const ConfigProblem& p) {
        const std::string happens = WhatHappens(p);
        return happens.empty() ? "the second entry has no effect" : happens;
      },
      [](const ConfigProblem&) { return "keep one of the two"; });
}

void NoQueueShares(const CheckInput& input, RuleReport& report) {
  ReportTopic<ConfigTopic::kNoQueueShares>(
      input, report,
      [](const ConfigProblem&) {
        return "without shares of queues reclaim would take pods from every other queue, and these "
               "would take them back";
      },
      [](const ConfigProblem&) {
        return "list proportion in its place, and give the queues a spec.weight";
      });
}

constexpr FindingLevel kError = FindingLevel::kError;
constexpr FindingLevel kWarning = FindingLevel::kWarning;

constexpr std::array kRules = {
    CheckRule{"K101", "config-syntax", kError, RuleNeeds::kNothing,
              "The configuration is not YAML.", &Syntax},
    CheckRule{"K102", "config-structure", kError, RuleNeeds::kNothing,
              "A part of the configuration is missing or has the wrong shape.", &Structure},
    CheckRule{"K103", "unknown-key", kError, RuleNeeds::kNothing,
              "A key of the file, a tier or an action's configuration is unknown.", &UnknownKey},
    CheckRule{"K104", "unknown-action", kError, RuleNeeds::kNothing, "An action is unknown.",
              &UnknownAction},
    CheckRule{"K105", "unknown-plugin", kError, RuleNeeds::kNothing, "A plugin is unknown.",
              &UnknownPlugin},
    CheckRule{"K106", "not-available", kError, RuleNeeds::kNothing,
              "An action or a plugin of Volcano is not available in Krafla.", &NotAvailable},
    CheckRule{"K107", "unknown-switch", kError, RuleNeeds::kNothing,
              "A switch of a plugin is unknown.", &UnknownSwitch},
    CheckRule{"K108", "unknown-argument", kError, RuleNeeds::kNothing,
              "An argument of a plugin or an action is unknown.", &UnknownArgument},
    CheckRule{"K109", "bad-value", kError, RuleNeeds::kNothing,
              "A value cannot be read: a window, a duration, a number, a boolean, a time zone.",
              &BadValue},
    CheckRule{"K110", "bad-compatibility", kError, RuleNeeds::kNothing,
              "The compatibility block has an unknown profile or switch.", &BadCompatibility},
    CheckRule{"K111", "plugin-listed-twice", kWarning, RuleNeeds::kNothing,
              "A plugin is listed twice.", &RepeatedPlugin},
    CheckRule{"K112", "settings-given-twice", kWarning, RuleNeeds::kNothing,
              "An action is configured twice, or a switch is given in both spellings.",
              &RepeatedSettings},
    CheckRule{"K113", "no-queue-shares", kWarning, RuleNeeds::kNothing,
              "The only plugin that shares the cluster among queues is not available.",
              &NoQueueShares},
};

}  // namespace

std::span<const CheckRule> ReadingRules() {
  return kRules;
}

}  // namespace krafla
