#include "sim/report.h"

#include <fmt/format.h>

#include <algorithm>
#include <filesystem>
#include <fstream>

#include "base/json_writer.h"
#include "sim/report_page.h"

namespace krafla {

namespace {

std::string EscapeHtml(std::string_view text) {
  std::string result;
  for (const char c : text) {
    switch (c) {
      case '&':
        result += "&amp;";
        break;
      case '<':
        result += "&lt;";
        break;
      case '>':
        result += "&gt;";
        break;
      case '"':
        result += "&quot;";
        break;
      default:
        result += c;
    }
  }
  return result;
}

// JSON inside of a script element: nothing in it may look like the end of that element. A "<" can
// only be inside of a JSON string, where it may be written so.
std::string EscapeForScript(std::string_view json) {
  std::string result;
  result.reserve(json.size());
  for (const char c : json) {
    if (c == '<') {
      result += "\\u003c";
    } else {
      result += c;
    }
  }
  return result;
}

void WriteNotes(JsonWriter& json, const ReportNotes& notes) {
  json.BeginObject();
  json.Key("command").String(notes.command);
  json.Key("expectations").BeginArray();
  for (const ReportExpectation& expectation : notes.expectations) {
    json.BeginObject();
    json.Key("text").String(expectation.text);
    json.Key("met").Bool(expectation.met);
    json.Key("detail").String(expectation.detail);
    json.EndObject();
  }
  json.EndArray();
  json.EndObject();
}

}  // namespace

std::string ReportHtml(const ReportCollector& collector, const Summary& summary,
                       const ReportNotes& notes) {
  JsonWriter json;
  json.BeginObject();
  json.Key("run");
  collector.WriteJson(json, summary);
  json.Key("summary");
  WriteSummaryJson(json, summary);
  json.Key("notes");
  WriteNotes(json, notes);
  json.EndObject();

  const ReportPage page = EmbeddedReportPage();
  std::string html;
  std::string_view rest = page.html;
  const auto put = [&](std::string_view mark, std::string_view text) {
    const size_t at = rest.find(mark);
    html += rest.substr(0, at);
    html += text;
    rest.remove_prefix(at + mark.size());
  };
  put("{{TITLE}}", EscapeHtml(summary.scenario.empty() ? "simulation" : summary.scenario));
  put("{{STYLE}}", page.css);
  put("{{DATA}}", EscapeForScript(json.text()));
  put("{{SCRIPT}}", page.js);
  html += rest;
  return html;
}

Result<std::string> WriteReport(const std::string& folder, const ReportCollector& collector,
                                const Summary& summary, const ReportNotes& notes) {
  std::error_code error;
  std::filesystem::create_directories(folder, error);
  if (error) return Fail(fmt::format("cannot make folder {}: {}", folder, error.message()));
  const std::string path = (std::filesystem::path(folder) / "index.html").string();
  std::ofstream file(path, std::ios::binary | std::ios::trunc);
  if (!file) return Fail(fmt::format("cannot write {}", path));
  const std::string html = ReportHtml(collector, summary, notes);
  file.write(html.data(), static_cast<std::streamsize>(html.size()));
  file.close();
  if (!file) return Fail(fmt::format("cannot write {}: is the disk full?", path));
  return path;
}

}  // namespace krafla
