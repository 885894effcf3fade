#include "base/json_writer.h"
#include "check/check_output.h"

namespace krafla {

namespace {

void WriteFinding(const Finding& finding, JsonWriter& json) {
  json.BeginObject();
  json.Key("code").String(finding.code);
  json.Key("slug").String(finding.slug);
  json.Key("severity").String(ToString(finding.level));
  json.Key("file").String(finding.place.file);
  json.Key("line").Integer(finding.place.location.line);
  json.Key("column").Integer(finding.place.location.column);
  json.Key("object").String(finding.object);
  json.Key("message").String(finding.message);
  json.Key("consequence").String(finding.consequence);
  json.Key("fix").String(finding.fix);
  json.Key("details").BeginArray();
  for (const std::string& detail : finding.details) json.String(detail);
  json.EndArray();
  json.EndObject();
}

}  // namespace

std::string CheckAsJson(const CheckReport& report) {
  JsonWriter json;
  json.BeginObject();
  json.Key("findings").BeginArray();
  for (const Finding& finding : report.findings) WriteFinding(finding, json);
  json.EndArray();
  json.Key("summary").BeginObject();
  json.Key("errors").Integer(static_cast<int64_t>(report.CountOf(FindingLevel::kError)));
  json.Key("warnings").Integer(static_cast<int64_t>(report.CountOf(FindingLevel::kWarning)));
  json.Key("notes").Integer(static_cast<int64_t>(report.CountOf(FindingLevel::kNote)));
  json.Key("rulesChecked").Integer(static_cast<int64_t>(report.rules));
  json.Key("rulesNotChecked")
      .Integer(static_cast<int64_t>(report.rules_without_config + report.rules_without_cluster));
  json.EndObject();
  json.EndObject();
  return json.text() + "\n";
}

}  // namespace krafla
