// Traces: a CSV file with a job per row. A row becomes the mapping it stands for, with the places
// of its cells, and is read like an entry of the workload.
#include <algorithm>
#include <array>
#include <charconv>
#include <utility>

#include <fmt/format.h>

#include "base/did_you_mean.h"
#include "sim/scenario_sections.h"

namespace krafla {

namespace {

constexpr std::array<std::string_view, 16> kColumns = {
    "at",  "name",     "namespace", "queue",   "priorityClass", "replicas",      "minAvailable",
    "cpu", "memory",   "gpu",       "runTime", "preemptable",   "revocableZone", "cooldown",
    "sla", "keepsWork"};

struct Cell {
  std::string text;
  Location at;
};

// Takes the lines of a CSV text apart: commas between cells, quotes around cells with commas,
// doubled quotes inside of them; lines that are blank or begin with # are passed over.
class CsvReader {
 public:
  CsvReader(std::string_view text, ScenarioProblems& problems) : rest_(text), problems_(problems) {}

  // False at the end.
  bool NextRow(std::vector<Cell>& row) {
    while (!rest_.empty()) {
      const size_t end = std::min(rest_.find('\n'), rest_.size());
      std::string_view line = rest_.substr(0, end);
      rest_.remove_prefix(std::min(end + 1, rest_.size()));
      ++line_;
      if (line.ends_with('\r')) line.remove_suffix(1);
      if (line.find_first_not_of(" \t") == std::string_view::npos || line.front() == '#') continue;
      SplitLine(line, row);
      return true;
    }
    return false;
  }

  int line() const { return line_; }

 private:
  void SplitLine(std::string_view line, std::vector<Cell>& row) {
    row.clear();
    size_t at = 0;
    while (true) {
      Cell cell{{}, {line_, static_cast<int>(at) + 1}};
      if (at < line.size() && line[at] == '"') {
        ++at;
        bool closed = false;
        while (at < line.size() && !closed) {
          if (line[at] == '"' && at + 1 < line.size() && line[at + 1] == '"') {
            cell.text += '"';
            at += 2;
          } else if (line[at] == '"') {
            closed = true;
            ++at;
          } else {
            cell.text += line[at++];
          }
        }
        if (!closed) problems_.Error("", cell.at, "the quote is not closed in this line");
      }
      const size_t comma = std::min(line.find(',', at), line.size());
      cell.text += line.substr(at, comma - at);
      while (cell.text.ends_with(' ')) cell.text.pop_back();
      cell.text.erase(0, std::min(cell.text.find_first_not_of(' '), cell.text.size()));
      row.push_back(std::move(cell));
      if (comma == line.size()) return;
      at = comma + 1;
    }
  }

  std::string_view rest_;
  ScenarioProblems& problems_;
  int line_ = 0;
};

// Which key of an entry each column is. A name with a slash is a resource.
bool ReadHeader(const std::vector<Cell>& header, std::vector<std::string>& keys,
                ScenarioProblems& problems) {
  const size_t before = problems.errors();
  for (const Cell& cell : header) {
    std::string key = cell.text == "arrival" ? "at" : cell.text;
    if (std::ranges::find(keys, key) != keys.end())
      problems.Error("", cell.at, fmt::format("the column {} is there twice", Quoted(cell.text)));
    if (std::ranges::find(kColumns, key) == kColumns.end() && key.find('/') == std::string::npos)
      problems.Error("", cell.at,
                     fmt::format("unknown column {}{}", Quoted(cell.text),
                                 DidYouMeanHint(cell.text, kColumns)));
    keys.push_back(std::move(key));
  }
  for (const std::string_view needed : {"at", "name"})
    if (std::ranges::find(keys, needed) == keys.end())
      problems.Error("", {header.front().at.line, 1},
                     fmt::format("the column {} is missing", Quoted(needed)));
  return problems.errors() == before;
}

std::optional<double> AsNumber(std::string_view text) {
  double number = 0;
  const auto [stop, error] = std::from_chars(text.data(), text.data() + text.size(), number);
  if (error != std::errc() || stop != text.data() + text.size() || !(number >= 0) || number > 1e9)
    return std::nullopt;
  return number;
}

void SetEntry(YamlNode& mapping, const std::string& key, const Cell& cell, std::string text) {
  YamlNode value{.kind = YamlKind::kScalar, .location = cell.at, .text = std::move(text)};
  for (YamlEntry& entry : mapping.entries) {
    if (entry.key != key) continue;
    entry.value = std::move(value);
    return;
  }
  mapping.entries.push_back({key, cell.at, std::move(value)});
}

// The row's own words over those of the entry. "at" is left to the caller.
YamlNode RowAsEntry(const YamlNode& defaults, const std::vector<std::string>& keys,
                    const std::vector<Cell>& row) {
  YamlNode entry = defaults;
  entry.location = row.front().at;
  YamlNode resources{.kind = YamlKind::kMapping, .location = row.front().at};
  for (size_t i = 0; i < keys.size() && i < row.size(); ++i) {
    if (row[i].text.empty() || keys[i] == "at") continue;
    if (keys[i].find('/') != std::string::npos) {
      SetEntry(resources, keys[i], row[i], row[i].text);
    } else if (keys[i] == "runTime" && AsNumber(row[i].text)) {
      SetEntry(entry, keys[i], row[i], row[i].text + "s");
    } else {
      SetEntry(entry, keys[i], row[i], row[i].text);
    }
  }
  if (!resources.entries.empty())
    entry.entries.push_back({"resources", row.front().at, std::move(resources)});
  return entry;
}

Result<Timestamp> RowTime(std::string_view text, Timestamp from, const ScenarioClock& clock) {
  if (const auto seconds = AsNumber(text))
    return Timestamp{from.ns + static_cast<int64_t>(*seconds * 1e9)};
  ScenarioClock shifted = clock;
  if (text.starts_with('+')) shifted.start = from;
  return ParseScenarioTime(text, shifted);
}

}  // namespace

void ReadTrace(Fields& entry, const std::string& path, std::string_view text, Timestamp from,
               ScenarioReading& reading) {
  // What the entry says beside the file is said for every row. It is read once for its mistakes.
  YamlNode defaults{.kind = YamlKind::kMapping, .location = entry.node().location};
  for (const YamlEntry& own : entry.node().entries)
    if (own.key != "trace" && own.key != "at") defaults.entries.push_back(own);
  for (const char* row_says : {"job", "name", "resources"})
    if (defaults.Find(row_says) != nullptr) entry.Error(row_says, "a trace has this in its rows");
  const size_t before = entry.problems().errors();
  {
    YamlNode probe = defaults;
    if (probe.Find("name") == nullptr)
      SetEntry(probe, "name", {"row", entry.node().location}, "row");
    Fields fields(probe, entry.path(), entry.problems());
    ReadJob(fields, reading);
    fields.Finish();
    for (const YamlEntry& own : defaults.entries) entry.Know(std::array{std::string_view(own.key)});
  }
  if (entry.problems().errors() != before) return;

  ScenarioProblems problems(path);
  CsvReader csv(text, problems);
  std::vector<Cell> row;
  std::vector<std::string> keys;
  if (!csv.NextRow(row)) {
    problems.Error("", {1, 1}, "the trace is empty; expected a row with the names of its columns");
  } else if (ReadHeader(row, keys, problems)) {
    const auto at_column = static_cast<size_t>(std::ranges::find(keys, "at") - keys.begin());
    while (csv.NextRow(row)) {
      if (row.size() != keys.size()) {
        problems.Error("", {csv.line(), 1},
                       fmt::format("expected {} cells, got {}", keys.size(), row.size()));
        continue;
      }
      const Cell& at = row[at_column];
      const Result<Timestamp> time = RowTime(at.text, from, reading.clock);
      if (!time)
        problems.Error("at", at.at, fmt::format("{}, or seconds such as 90", time.error().message));
      const YamlNode mapping = RowAsEntry(defaults, keys, row);
      Fields fields(mapping, "", problems);
      JobShape job = ReadJob(fields, reading);
      if (ClaimJobName(job, fields, reading) && time)
        reading.scenario.submissions.push_back({*time, std::move(job)});
    }
  }
  problems.MoveTo(reading.diagnostics);
}

}  // namespace krafla
