// 1. The first character tells JSON from YAML. A YAML document is made JSON, so that the rest is
//    the same for both.
// 2. One walk over a JSON text checks it and finds what may be objects (object_finder.h).
// 3. These are gone through: Lists are opened, the others are handed on as slices of the text.
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
#include "manifest/object_finder.h"
#include "manifest/yaml_to_json.h"

namespace krafla {

namespace {

constexpr std::string_view kUtf8Mark = "\xEF\xBB\xBF";
constexpr std::string_view kListSuffix = "List";
// A file that is wrong throughout is not worth a million messages.
constexpr int kMaxMessages = 20;

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
  bool ReadJson(std::string_view text);
  bool ReadYaml(std::string_view text);
  void ReportJsonProblem(const ObjectFinder& finder);

  // Of the objects found in text_ those with the indices [from, to), which stand in `list` if that
  // is not null.
  void Deliver(const std::vector<FoundObject>& found, size_t from, size_t to,
               const FoundObject* list);
  void DeliverOne(const FoundObject& object, const FoundObject* list);
  void DeliverTyped(const FoundObject& object, const FoundObject& list);

  Location LocateInObject(size_t offset) const {
    return locate_(object_begin_ + (offset > inserted_ ? offset - inserted_ : 0));
  }
  // At an offset of text_.
  void ErrorAt(size_t offset, std::string message);
  void Error(Location at, std::string message);

  const ObjectSink& sink_;
  Diagnostics& diagnostics_;
  std::string_view text_;                   // JSON: all of the file, or one document of YAML
  std::function<Location(size_t)> locate_;  // in text_
  ObjectText object_;
  size_t object_begin_ = 0;  // in text_
  size_t inserted_ = 0;      // bytes in front of the object's own
  std::string copy_;
  int messages_ = 0;
};

void TextReader::ErrorAt(size_t offset, std::string message) {
  // Looking for the line is the expensive part.
  if (messages_ < kMaxMessages) Error(locate_(offset), std::move(message));
}

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
  if (text.starts_with(kUtf8Mark)) text.remove_prefix(kUtf8Mark.size());
  const size_t first = text.find_first_not_of(" \t\r\n");
  if (first == std::string_view::npos) return false;
  if (text.substr(first).starts_with("{{")) {
    Error(LineTable(text).At(first),
          "'{{' is neither JSON nor YAML; is this a template that still has to be rendered?");
    return true;
  }
  if (text[first] != '{' && text[first] != '[') return ReadYaml(text);
  return ReadJson(text);
}

bool TextReader::ReadJson(std::string_view text) {
  LineTable lines(text);
  text_ = text;
  locate_ = [&lines](size_t offset) { return lines.At(offset); };
  ObjectFinder finder(text);
  for (bool first = true; !finder.AtEnd(); first = false) {
    const bool sound = finder.Next();
    // Documents in flow style look like JSON up to their separator; no JSON has one.
    if (first && (!sound || finder.AtSeparator()) && text.find("\n---") != std::string_view::npos)
      return ReadYaml(text);
    if (!sound) {
      ReportJsonProblem(finder);
      break;
    }
    const std::string_view value = finder.value();
    const size_t wrong = FindNotUtf8(value);
    if (wrong < value.size()) {
      ErrorAt(static_cast<size_t>(value.data() - text.data()) + wrong,
              "this byte is not UTF-8; save the file as UTF-8");
    } else {
      Deliver(finder.found(), 0, finder.found().size(), nullptr);
    }
  }
  return true;
}

void TextReader::ReportJsonProblem(const ObjectFinder& finder) {
  const JsonProblem& problem = finder.problem();
  std::string message = "this is not JSON: " + problem.message;
  if (problem.ended) {
    const FoundObject* open = finder.FindOpen();
    message = open == nullptr
                  ? "the file is incomplete: the list of objects is not closed"
                  : "the file is incomplete: it ends inside the object that starts at " +
                        Describe(locate_(open->text.begin));
  }
  ErrorAt(problem.offset, std::move(message));
}

bool TextReader::ReadYaml(std::string_view text) {
  YamlToJsonSink sink;
  sink.problem = [this](const YamlProblem& problem) { Error(problem.location, problem.message); };
  sink.document = [this](const PositionedJson& json) {
    text_ = json.text();
    locate_ = [&json](size_t offset) { return json.Locate(offset); };
    ObjectFinder finder(json.text());
    // Of a text that we wrote ourselves only the depth can be wrong.
    if (!finder.Next()) return ErrorAt(finder.problem().offset, finder.problem().message);
    Deliver(finder.found(), 0, finder.found().size(), nullptr);
  };
  return YamlToJson(text, sink) > 0;
}

void TextReader::Deliver(const std::vector<FoundObject>& found, size_t from, size_t to,
                         const FoundObject* list) {
  object_.in_document = found.size();
  for (size_t i = from; i < to; i = found[i].behind_items) {
    const FoundObject& object = found[i];
    const std::string_view kind = object.kind.Of(text_);
    const bool is_list =
        kind.ends_with(kListSuffix) && (object.has_items || kind.size() == kListSuffix.size());
    if (is_list && object.not_a_list_at != 0) {
      ErrorAt(object.not_a_list_at, "the items of a List must be a list");
    } else if (is_list) {
      Deliver(found, i + 1, object.behind_items, &object);
    } else {
      DeliverOne(object, list);
    }
  }
}

void TextReader::DeliverOne(const FoundObject& object, const FoundObject* list) {
  const std::string_view place = list == nullptr ? "a document" : "an item of a List";
  if (!object.is_object) {
    return ErrorAt(object.text.begin,
                   fmt::format("{} that is not an API object: expected a mapping with apiVersion "
                               "and kind",
                               place));
  }
  const bool typed_list = list != nullptr && list->kind.size > kListSuffix.size();
  const bool complete = object.kind.size > 0 && object.api_version.size > 0;
  if (typed_list && !complete) return DeliverTyped(object, *list);
  if (object.kind.size == 0) {
    return ErrorAt(object.text.begin,
                   fmt::format("{} without kind; is it an object of Kubernetes?", place));
  }
  object_begin_ = object.text.begin;
  inserted_ = 0;
  object_.json = object.text.Of(text_);
  sink_(object_);
}

// The items of a PodList need not say that they are pods.
void TextReader::DeliverTyped(const FoundObject& object, const FoundObject& list) {
  copy_.assign(1, '{');
  if (object.kind.size == 0) {
    std::string_view kind = list.kind.Of(text_);
    kind.remove_suffix(kListSuffix.size());
    copy_.append("\"kind\":\"").append(kind).append("\",");
  }
  if (object.api_version.size == 0 && list.api_version.size > 0) {
    copy_.append("\"apiVersion\":\"").append(list.api_version.Of(text_)).append("\",");
  }
  const std::string_view json = object.text.Of(text_);
  const bool has_fields = json.find('"') != std::string_view::npos;
  if (!has_fields) copy_.pop_back();
  object_begin_ = object.text.begin;
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
  if (text->CutShort()) return diagnostics.Error(name, {}, std::string(InputText::kBecameShorter));
  if (!any && warn_if_empty) diagnostics.Warning(name, {}, "is empty: there are no objects in it");
}

void ReadDirectory(const std::string& directory, const ObjectSink& sink, Diagnostics& diagnostics) {
  const size_t before = diagnostics.items().size();
  const std::vector<std::string> files = FindManifestFiles(directory, diagnostics);
  if (files.empty() && diagnostics.items().size() == before) {
    diagnostics.Warning(directory, {}, "there are no .yaml, .yml or .json files in this directory");
  }
  for (const std::string& file : files) {
    // A template that rendered to nothing is nothing to be warned of.
    ReadInput(file, InputText::FromFile(file), false, sink, diagnostics);
  }
}

}  // namespace

void ReadObjects(std::span<const std::string> inputs, std::istream& standard_input,
                 const ObjectSink& sink, Diagnostics& diagnostics) {
  for (const std::string& input : inputs) {
    std::error_code error;
    if (input == "-") {
      ReadInput(input, InputText::FromStream(standard_input), true, sink, diagnostics);
    } else if (std::filesystem::is_directory(input, error)) {
      ReadDirectory(input, sink, diagnostics);
    } else {
      ReadInput(input, InputText::FromFile(input), true, sink, diagnostics);
    }
  }
}

void ReadObjectsFromText(std::string_view text, std::string_view file_name, const ObjectSink& sink,
                         Diagnostics& diagnostics) {
  ReadInput(std::string(file_name), InputText::Copy(text), false, sink, diagnostics);
}

}  // namespace krafla
