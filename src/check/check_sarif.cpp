// SARIF 2.1.0 (OASIS standard, 2020): the format in which code review and editors take findings.
#include <fmt/format.h>

#include <algorithm>

#include "base/json_writer.h"
#include "check/check_output.h"
#include "check/check_rule.h"

namespace krafla {

namespace {

constexpr std::string_view kSchema =
    "https://docs.oasis-open.org/sarif/sarif/v2.1.0/errata01/os/schemas/sarif-schema-2.1.0.json";

// "never-consulted" as "NeverConsulted", which SARIF recommends for names.
std::string PascalCase(std::string_view slug) {
  std::string name;
  bool upper = true;
  for (const char c : slug) {
    if (c == '-') {
      upper = true;
      continue;
    }
    name += upper && c >= 'a' && c <= 'z' ? static_cast<char>(c - 'a' + 'A') : c;
    upper = false;
  }
  return name;
}

// A path as a URI reference: everything but unreserved characters and slashes is escaped. An
// absolute path becomes a file URI.
std::string UriOf(std::string_view file) {
  std::string uri = file.starts_with('/') ? "file://" : "";
  for (const char c : file) {
    const bool plain = (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || (c >= '0' && c <= '9') ||
                       c == '-' || c == '.' || c == '_' || c == '~' || c == '/';
    if (plain) {
      uri += c;
    } else {
      uri += fmt::format("%{:02X}", static_cast<unsigned char>(c));
    }
  }
  return uri;
}

void Text(JsonWriter& json, std::string_view key, std::string_view text) {
  json.Key(key).BeginObject().Key("text").String(text).EndObject();
}

void WriteRule(const CheckRule& rule, JsonWriter& json) {
  json.BeginObject();
  json.Key("id").String(rule.code);
  json.Key("name").String(PascalCase(rule.slug));
  Text(json, "shortDescription", rule.title);
  Text(json, "help",
       fmt::format("docs/check.md explains {} ({}) with an example.", rule.code, rule.slug));
  json.Key("defaultConfiguration").BeginObject();
  json.Key("level").String(ToString(rule.level));
  json.EndObject();
  json.EndObject();
}

std::string MessageOf(const Finding& finding) {
  std::string text = finding.object.empty()
                         ? finding.message
                         : fmt::format("{}: {}", finding.object, finding.message);
  text += '.';
  if (!finding.consequence.empty())
    text += fmt::format(" What will happen: {}.", finding.consequence);
  for (const std::string& detail : finding.details) text += fmt::format(" [{}]", detail);
  if (!finding.fix.empty()) text += fmt::format(" Fix: {}.", finding.fix);
  return text;
}

void WritePlace(const Place& place, JsonWriter& json) {
  json.Key("locations").BeginArray();
  if (!place.file.empty()) {
    json.BeginObject().Key("physicalLocation").BeginObject();
    json.Key("artifactLocation").BeginObject();
    json.Key("uri").String(place.file == "-" ? "stdin" : UriOf(place.file));
    json.EndObject();
    if (const Location& at = place.location; at.line > 0) {
      json.Key("region").BeginObject();
      json.Key("startLine").Integer(at.line);
      if (at.column > 0) json.Key("startColumn").Integer(at.column);
      json.EndObject();
    }
    json.EndObject().EndObject();
  }
  json.EndArray();
}

void WriteResult(const Finding& finding, size_t rule_index, JsonWriter& json) {
  json.BeginObject();
  json.Key("ruleId").String(finding.code);
  json.Key("ruleIndex").Integer(static_cast<int64_t>(rule_index));
  json.Key("level").String(ToString(finding.level));
  Text(json, "message", MessageOf(finding));
  WritePlace(finding.place, json);
  json.EndObject();
}

// Everything up to the rules; what follows belongs into the same run.
void BeginRun(std::string_view version, const std::vector<const CheckRule*>& rules,
              JsonWriter& json) {
  json.BeginObject();
  json.Key("$schema").String(kSchema);
  json.Key("version").String("2.1.0");
  json.Key("runs").BeginArray().BeginObject();
  json.Key("tool").BeginObject().Key("driver").BeginObject();
  json.Key("name").String("krafla check");
  json.Key("version").String(version.substr(version.rfind(' ') + 1));  // without the program's name
  json.Key("rules").BeginArray();
  for (const CheckRule* rule : rules) WriteRule(*rule, json);
  json.EndArray();
  json.EndObject().EndObject();
  json.Key("columnKind").String("unicodeCodePoints");
}

std::string EndRun(JsonWriter& json) {
  json.EndObject().EndArray();
  json.EndObject();
  return json.text() + "\n";
}

}  // namespace

std::string FailureAsSarif(const Diagnostics& diagnostics, std::string_view version) {
  JsonWriter json;
  BeginRun(version, AllCheckRules(), json);
  json.Key("invocations").BeginArray().BeginObject();
  json.Key("executionSuccessful").Bool(false);
  json.Key("toolExecutionNotifications").BeginArray();
  for (const Diagnostic& problem : diagnostics.items()) {
    json.BeginObject();
    json.Key("level").String(problem.severity == Severity::kError ? "error" : "warning");
    Text(json, "message", ToString(problem));
    // "--now" is no file.
    const bool is_option = problem.file.starts_with("--");
    WritePlace(is_option ? Place{} : Place{problem.file, problem.location}, json);
    json.EndObject();
  }
  json.EndArray();
  json.EndObject().EndArray();
  json.Key("results").BeginArray().EndArray();
  return EndRun(json);
}

std::string CheckAsSarif(const CheckReport& report, std::string_view version) {
  const std::vector<const CheckRule*> rules = AllCheckRules();
  JsonWriter json;
  BeginRun(version, rules, json);
  json.Key("results").BeginArray();
  for (const Finding& finding : report.findings) {
    const auto rule = std::ranges::find(rules, finding.code, &CheckRule::code);
    WriteResult(finding, static_cast<size_t>(rule - rules.begin()), json);
  }
  json.EndArray();
  return EndRun(json);
}

}  // namespace krafla
