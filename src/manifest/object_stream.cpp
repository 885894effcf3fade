// 1. The first character tells JSON from YAML. A YAML document is made JSON, so that the rest is the same for both.
// 2. One walk over a JSON text checks it and notes the objects that may count: the text's own, and those in their
//    `items`, to any depth. Which of these are Lists is known only afterwards, since kubectl prints `kind` last.
// 3. The noted objects are gone through: Lists are opened, the others are handed on as slices of the text.
#include "manifest/object_stream.h"

#include <fmt/format.h>
#include <simdjson.h>

#include <filesystem>
#include <istream>
#include <system_error>
#include <utility>
#include <vector>

#include "base/yaml_node.h"
#include "manifest/input_text.h"
#include "manifest/json_scanner.h"
#include "manifest/line_table.h"
#include "manifest/manifest_files.h"
#include "manifest/yaml_to_json.h"

namespace krafla {

namespace {

constexpr std::string_view kUtf8Mark = "\xEF\xBB\xBF";
// A file that is wrong throughout is not worth a million messages.
constexpr int kMaxMessages = 20;

// A value that may be an API object. Its descendants, the values in its `items`, follow behind it.
struct Candidate {
  size_t begin = 0;
  size_t end = 0;
  size_t behind_items = 0;  // the index behind the last descendant
  std::string_view kind;    // as written between the quotes; empty when absent
  std::string_view api_version;
  bool is_object = false;
  bool has_items = false;      // null counts: Go prints an empty list so
  size_t not_a_list_at = 0;    // where `items` is something else
};

// Notes the candidates of one JSON value after the other.
class CandidateScanner {
 public:
  explicit CandidateScanner(std::string_view text) : scanner_(text) {}

  bool AtEnd() { return scanner_.AtEnd(); }
  // False after a problem.
  bool Next();
  // Of the value that Next took.
  size_t begin() const { return begin_; }
  size_t end() const { return scanner_.offset(); }
  const std::vector<Candidate>& candidates() const { return candidates_; }
  const JsonProblem& problem() const { return scanner_.problem(); }

 private:
  bool ScanList();
  bool ScanValue();
  bool ScanFields(size_t index);
  bool ScanField(std::string_view key, size_t index);

  JsonScanner scanner_;
  size_t begin_ = 0;
  std::vector<Candidate> candidates_;
};

bool CandidateScanner::Next() {
  candidates_.clear();
  // A list by itself is no object; what it holds counts as if it stood in the file one after the other.
  const bool is_list = scanner_.Peek() == '[';
  begin_ = scanner_.offset();
  return is_list ? ScanList() : ScanValue();
}

bool CandidateScanner::ScanList() {
  scanner_.EnterList();
  while (scanner_.NextItem()) {
    if (!ScanValue()) return false;
  }
  return !scanner_.failed();
}

bool CandidateScanner::ScanValue() {
  const size_t index = candidates_.size();
  const bool is_object = scanner_.Peek() == '{';
  Candidate& candidate = candidates_.emplace_back();
  candidate.begin = scanner_.offset();
  candidate.is_object = is_object;
  if (!(is_object ? ScanFields(index) : scanner_.SkipValue())) return false;
  candidates_[index].end = scanner_.offset();
  candidates_[index].behind_items = candidates_.size();
  return true;
}

bool CandidateScanner::ScanFields(size_t index) {
  scanner_.EnterObject();
  std::string_view key;
  while (scanner_.NextKey(key)) {
    if (!ScanField(key, index)) return false;
  }
  return !scanner_.failed();
}

bool CandidateScanner::ScanField(std::string_view key, size_t index) {
  Candidate& candidate = candidates_[index];
  const char first = scanner_.Peek();
  if (key == "kind" && first == '"') return scanner_.TakeString(candidate.kind);
  if (key == "apiVersion" && first == '"') return scanner_.TakeString(candidate.api_version);
  if (key == "items") {
    candidate.has_items = first == '[' || first == 'n';
    if (!candidate.has_items) candidate.not_a_list_at = scanner_.offset();
    if (first == '[') return ScanList();
  }
  return scanner_.SkipValue();
}

// One input, from its text to the sink.
class TextReader {
 public:
  TextReader(std::string_view file, const ObjectSink& sink, Diagnostics& diagnostics)
      : sink_(sink), diagnostics_(diagnostics) {
    object_.file = file;
    object_.locate = [this](size_t offset) { return LocateInObject(offset); };
  }

  // False when there was nothing in it, not even something wrong.
  bool Read(std::string_view text);

 private:
  using Candidates = std::vector<Candidate>;

  bool ReadJson(std::string_view text);
  bool ReadYaml(std::string_view text);
  void ReportJsonProblem(const CandidateScanner& scanner);
  // The candidates [from, to) of `text`, those inside a List with that List.
  void Deliver(std::string_view text, const Candidates& all, size_t from, size_t to,
               const Candidate* list);
  void DeliverOne(std::string_view text, const Candidate& candidate, const Candidate* list);
  void DeliverTyped(std::string_view json, const Candidate& candidate, const Candidate& list);
  bool IsUtf8(std::string_view text, size_t begin, size_t end);

  Location LocateInObject(size_t offset) const {
    return locate_(object_begin_ + (offset > inserted_ ? offset - inserted_ : 0));
  }
  void Error(Location at, std::string message);

  const ObjectSink& sink_;
  Diagnostics& diagnostics_;
  ObjectText object_;
  std::function<Location(size_t)> locate_;  // in the text
  size_t object_begin_ = 0;                 // in the text
  size_t inserted_ = 0;                     // bytes in front of the object's own
  std::string copy_;
  int messages_ = 0;
};

void TextReader::Error(Location at, std::string message) {
  if (++messages_ > kMaxMessages) return;
  if (messages_ == kMaxMessages) message += "; further problems like this are not listed";
  diagnostics_.Error(std::string(object_.file), at, std::move(message));
}

bool TextReader::Read(std::string_view text) {
  if (text.starts_with("\xFF\xFE") || text.starts_with("\xFE\xFF")) {
    Error({1, 1}, "the file is encoded as UTF-16; save it as UTF-8");
    return true;
  }
  const bool marked = text.starts_with(kUtf8Mark);
  const std::string_view content = marked ? text.substr(kUtf8Mark.size()) : text;
  const size_t first = content.find_first_not_of(" \t\r\n");
  if (first == std::string_view::npos) return false;
  const bool is_json = content[first] == '{' || content[first] == '[';
  return is_json ? ReadJson(content) : ReadYaml(content);
}

bool TextReader::ReadJson(std::string_view text) {
  LineTable lines(text);
  locate_ = [&lines](size_t offset) { return lines.At(offset); };
  CandidateScanner scanner(text);
  while (!scanner.AtEnd()) {
    if (!scanner.Next()) {
      ReportJsonProblem(scanner);
      break;
    }
    if (!IsUtf8(text, scanner.begin(), scanner.end())) continue;
    Deliver(text, scanner.candidates(), 0, scanner.candidates().size(), nullptr);
  }
  return true;
}

void TextReader::ReportJsonProblem(const CandidateScanner& scanner) {
  const JsonProblem& problem = scanner.problem();
  std::string message = "this is not JSON: " + problem.message;
  if (problem.ended) {
    // The last one noted that has no end is the innermost of those that are cut off.
    const Candidates& all = scanner.candidates();
    size_t open = all.size();
    while (open > 0 && all[open - 1].end != 0) --open;
    message = open == 0 ? "the file is incomplete: the list of objects is not closed"
                        : fmt::format("the file is incomplete: it ends inside the object that starts at {}",
                                      Describe(locate_(all[open - 1].begin)));
  }
  Error(locate_(problem.offset), std::move(message));
}

bool TextReader::IsUtf8(std::string_view text, size_t begin, size_t end) {
  const size_t wrong = begin + FindNotUtf8(text.substr(begin, end - begin));
  if (wrong == end) return true;
  Error(locate_(wrong), "this byte is not UTF-8; save the file as UTF-8");
  return false;
}

bool TextReader::ReadYaml(std::string_view text) {
  YamlToJsonSink sink;
  sink.problem = [this](const YamlProblem& problem) { Error(problem.location, problem.message); };
  sink.document = [this](const PositionedJson& json) {
    locate_ = [&json](size_t offset) { return json.Locate(offset); };
    CandidateScanner scanner(json.text());
    if (!scanner.Next()) return Error(locate_(scanner.problem().offset), scanner.problem().message);
    Deliver(json.text(), scanner.candidates(), 0, scanner.candidates().size(), nullptr);
  };
  return YamlToJson(text, sink) > 0;
}

void TextReader::Deliver(std::string_view text, const Candidates& all, size_t from, size_t to,
                         const Candidate* list) {
  for (size_t i = from; i < to; i = all[i].behind_items) {
    const Candidate& candidate = all[i];
    const bool is_list = candidate.kind.ends_with("List") &&
                         (candidate.has_items || candidate.kind == "List");
    if (is_list && candidate.not_a_list_at != 0) {
      Error(locate_(candidate.not_a_list_at), "the items of a List must be a list");
    } else if (is_list) {
      Deliver(text, all, i + 1, candidate.behind_items, &candidate);
    } else {
      DeliverOne(text, candidate, list);
    }
  }
}

void TextReader::DeliverOne(std::string_view text, const Candidate& candidate,
                            const Candidate* list) {
  const std::string_view json = text.substr(candidate.begin, candidate.end - candidate.begin);
  const std::string_view place = list == nullptr ? "a document" : "an item of a List";
  if (!candidate.is_object) {
    return Error(locate_(candidate.begin),
                 fmt::format("{} that is not an API object: expected a mapping with apiVersion and "
                             "kind",
                             place));
  }
  const bool typed_list = list != nullptr && list->kind != "List";
  const bool complete = !candidate.kind.empty() && !candidate.api_version.empty();
  if (typed_list && !complete) return DeliverTyped(json, candidate, *list);
  if (candidate.kind.empty()) {
    return Error(locate_(candidate.begin),
                 fmt::format("{} without kind; is it an object of Kubernetes?", place));
  }
  object_begin_ = candidate.begin;
  inserted_ = 0;
  object_.json = json;
  sink_(object_);
}

// The items of a PodList need not say that they are pods.
void TextReader::DeliverTyped(std::string_view json, const Candidate& candidate,
                              const Candidate& list) {
  copy_.assign(1, '{');
  if (candidate.kind.empty()) {
    const std::string_view kind = list.kind.substr(0, list.kind.size() - std::string_view("List").size());
    copy_.append("\"kind\":\"").append(kind).append("\",");
  }
  if (candidate.api_version.empty() && !list.api_version.empty()) {
    copy_.append("\"apiVersion\":\"").append(list.api_version).append("\",");
  }
  const bool has_fields = json.find('"') != std::string_view::npos;
  if (!has_fields) copy_.pop_back();
  object_begin_ = candidate.begin;
  inserted_ = copy_.size() - 1;
  copy_.append(json.substr(1));
  copy_.reserve(copy_.size() + simdjson::SIMDJSON_PADDING);
  object_.json = copy_;
  sink_(object_);
}

// Reads one input under the name its messages use.
void ReadInput(const std::string& name, Result<InputText> text, bool warn_if_empty,
               const ObjectSink& sink, Diagnostics& diagnostics) {
  if (!text) return diagnostics.Error(name, {}, text.error().message);
  const bool any = TextReader(name, sink, diagnostics).Read(text->view());
  if (!any && warn_if_empty) diagnostics.Warning(name, {}, "is empty: there are no objects in it");
}

}  // namespace

void ReadObjects(std::span<const std::string> inputs, std::istream& standard_input,
                 const ObjectSink& sink, Diagnostics& diagnostics) {
  for (const std::string& input : inputs) {
    std::error_code error;
    if (input == "-") {
      ReadInput(input, InputText::FromStream(standard_input), true, sink, diagnostics);
    } else if (!std::filesystem::is_directory(input, error)) {
      ReadInput(input, InputText::FromFile(input), true, sink, diagnostics);
    } else {
      const size_t before = diagnostics.items().size();
      const std::vector<std::string> files = FindManifestFiles(input, diagnostics);
      if (files.empty() && diagnostics.items().size() == before) {
        diagnostics.Warning(input, {}, "there are no .yaml, .yml or .json files in this directory");
      }
      for (const std::string& file : files) {
        // A template that rendered to nothing is nothing to be warned of.
        ReadInput(file, InputText::FromFile(file), false, sink, diagnostics);
      }
    }
  }
}

void ReadObjectsFromText(std::string_view text, std::string_view file_name, const ObjectSink& sink,
                         Diagnostics& diagnostics) {
  ReadInput(std::string(file_name), InputText::Copy(text), false, sink, diagnostics);
}

}  // namespace krafla
