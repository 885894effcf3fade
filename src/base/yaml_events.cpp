#include "base/yaml_events.h"

#include <fmt/format.h>

#include <string>

#include "base/did_you_mean.h"

namespace krafla {

namespace {

constexpr std::string_view kUtf8Mark = "\xEF\xBB\xBF";

// One of libyaml's complaints, recognised by parts of its two phrases, in words for a reader.
struct Wording {
  std::string_view context;
  std::string_view problem;
  bool at_context;  // point at where the construct began: the end of the file helps nobody
  std::string_view sentence;  // {} is the position where the construct began
};

constexpr Wording kWordings[] = {
    {"quoted scalar", "end of stream", true,
     "the quoted text that starts here is not closed; the closing quote is missing"},
    {"quoted scalar", "document indicator", true,
     "the quoted text that starts here is not closed before the next '---' or '...'"},
    {"quoted scalar", "unknown escape", false,
     "this escape is not known; in double quotes write \\\\ for a backslash, or use single quotes"},
    {"flow sequence", "expected ',' or ']'", false,
     "expected ',' or ']' in the list that starts at {}"},
    {"flow mapping", "expected ',' or '}'", false,
     "expected ',' or '}}' in the mapping that starts at {}"},
    {"block mapping", "expected key", false,
     "expected the next key of the mapping that starts at {}; check the indentation"},
    {"block collection", "expected '-'", false,
     "expected the next '- ' of the list that starts at {}; check the indentation"},
    {"simple key", "expected ':'", true, "expected a ':' after the key that starts here"},
    {"", "mapping values are not allowed", false,
     "a ':' is not allowed here; check the indentation, or quote the text if the ':' belongs to "
     "it"},
    {"", "block sequence entries are not allowed", false,
     "a '- ' is not allowed here; check the indentation"},
    {"", "mapping keys are not allowed", false, "a '? ' is not allowed here"},
    {"", "tab character", false, "a tab is not allowed here; indent with spaces"},
    {"", "expected <document start>", false,
     "expected the end of the file here; check the indentation"},
    {"", "undefined tag handle", false, "this tag is not understood; leave it out"},
    {"", "incompatible YAML document", false, "expected YAML 1.1 or 1.2"},
    {"block node", "expected node content", false, "expected a value here"},
    {"flow node", "expected node content", false, "expected a key or a value here"},
};

bool Contains(std::string_view text, std::string_view part) {
  return text.find(part) != std::string_view::npos;
}

std::string_view View(const char* text) {
  return text == nullptr ? std::string_view() : text;
}

bool StartsCharacter(char c) {
  return (static_cast<unsigned char>(c) & 0xC0) != 0x80;
}

std::string_view WithoutMark(std::string_view text) {
  return text.starts_with(kUtf8Mark) ? text.substr(kUtf8Mark.size()) : text;
}

// The character (of one or more bytes) number `index`.
std::string_view CharacterAt(std::string_view text, size_t index) {
  text = WithoutMark(text);
  size_t begin = 0;
  for (; begin < text.size(); ++begin) {
    if (StartsCharacter(text[begin]) && index-- == 0) break;
  }
  size_t end = begin;
  while (end < text.size() && (end == begin || !StartsCharacter(text[end]))) ++end;
  return text.substr(begin, end - begin);
}

// libyaml gives no line for bytes it could not decode.
Location LocationOfByte(std::string_view text, size_t offset) {
  Location at{1, 1};
  const size_t begin = text.size() - WithoutMark(text).size();
  for (size_t i = begin; i < offset && i < text.size(); ++i) {
    if (text[i] == '\n') {
      at = {at.line + 1, 1};
    } else if (StartsCharacter(text[i])) {
      ++at.column;
    }
  }
  return at;
}

std::string CannotStart(std::string_view character) {
  if (character == "\t") return "a tab is not allowed here; indent with spaces";
  return fmt::format("a value cannot start with {}; put it in quotes", Quoted(character));
}

}  // namespace

YamlEvents::YamlEvents(std::string_view text) : text_(text) {
  usable_ = yaml_parser_initialize(&parser_) != 0;
  if (!usable_) return;
  yaml_parser_set_input_string(&parser_, reinterpret_cast<const unsigned char*>(text.data()),
                               text.size());
}

YamlEvents::~YamlEvents() {
  yaml_event_delete(&event_);
  if (usable_) yaml_parser_delete(&parser_);
}

bool YamlEvents::Next() {
  yaml_event_delete(&event_);
  return usable_ && yaml_parser_parse(&parser_, &event_) != 0;
}

YamlProblem YamlEvents::DescribeError() const {
  if (!usable_ || parser_.error == YAML_MEMORY_ERROR) {
    return {{}, "out of memory while reading YAML"};
  }
  const std::string_view problem = View(parser_.problem);
  const std::string_view context = View(parser_.context);
  if (parser_.error == YAML_READER_ERROR) {
    const Location at = LocationOfByte(text_, parser_.problem_offset);
    if (Contains(problem, "control characters")) {
      return {at, fmt::format("the control character U+{:04X} is not allowed in YAML",
                              parser_.problem_value)};
    }
    return {at, "this byte is not UTF-8; save the file as UTF-8"};
  }
  const Location at = ToLocation(parser_.problem_mark);
  const Location began = ToLocation(parser_.context_mark);
  if (Contains(problem, "cannot start any token")) {
    return {at, CannotStart(CharacterAt(text_, parser_.problem_mark.index))};
  }
  for (const Wording& wording : kWordings) {
    if (!Contains(context, wording.context) || !Contains(problem, wording.problem)) continue;
    return {wording.at_context ? began : at,
            fmt::format(fmt::runtime(wording.sentence), Describe(began))};
  }
  return {at, context.empty() ? fmt::format("this is not YAML: {}", problem)
                              : fmt::format("this is not YAML: {} {}", problem, context)};
}

}  // namespace krafla
