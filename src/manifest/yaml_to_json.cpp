// 1. libyaml delivers events; each is written out as JSON at once, with a mark of where it came
//    from.
// 2. A stack of frames knows what the next value is: an item, a key, or the value of a key.
// 3. What carries an anchor is copied aside when it is complete, and pasted for each alias.
// 4. The value of a merge key is written like any other, then cut out again and kept with its
//    mapping; when the mapping ends, the keys it does not have itself are pasted behind its own.
// 5. A document with a problem is dropped and the next one read; after a syntax error there is no
//    next one.
#include "manifest/yaml_to_json.h"

#include <fmt/format.h>
#include <simdjson.h>

#include <algorithm>
#include <array>
#include <map>
#include <set>
#include <string>
#include <utility>
#include <vector>

#include "base/did_you_mean.h"
#include "base/yaml_events.h"
#include "manifest/json_scanner.h"
#include "manifest/yaml_scalar.h"

namespace krafla {

namespace {

constexpr std::string_view kCoreTagPrefix = "tag:yaml.org,2002:";
// Positions are kept in 32 bits.
constexpr size_t kMaxJsonBytes = 0xF000'0000;
constexpr size_t kMaxCopiedBytes = size_t{1} << 30;

std::string_view View(const yaml_char_t* text) {
  return text == nullptr ? std::string_view() : reinterpret_cast<const char*>(text);
}

std::string ShowTag(std::string_view tag) {
  const bool core = tag.starts_with(kCoreTagPrefix);
  return (core ? "!!" : "") + Printable(core ? tag.substr(kCoreTagPrefix.size()) : tag);
}

struct Anchor {
  PositionedJson value;
  bool open = false;  // its value is not complete yet
};

struct Frame {
  bool is_mapping = false;
  bool key_is_next = false;
  bool merging = false;  // the value that is being written belongs to a merge key
  bool any = false;      // something was written into it
  size_t begin = 0;
  size_t merge_begin = 0;
  size_t first_key = 0;
  std::string anchor;
  std::vector<PositionedJson> merges;
};

// A key in the text, quotes included.
struct Key {
  size_t begin;
  size_t end;
};

class Converter {
 public:
  Converter(std::string_view text, const YamlToJsonSink& sink, const YamlToJsonLimits& limits)
      : events_(text),
        sink_(sink),
        max_depth_(limits.max_depth),
        copies_left_(std::min(limits.max_copied_bytes + limits.max_copied_per_byte * text.size(),
                              kMaxCopiedBytes)) {}

  size_t Run();

 private:
  void Handle(const yaml_event_t& event);
  void StartDocument();
  void EndDocument();
  void AddScalar(const yaml_event_t& event);
  void AddAlias(const yaml_event_t& event);
  void StartCollection(bool is_mapping, Location at, std::string_view anchor, std::string_view tag);
  void EndCollection();
  void WrongKey(bool is_mapping, Location at);

  bool KeyIsNext() const {
    return !frames_.empty() && frames_.back().is_mapping && frames_.back().key_is_next;
  }
  // What stands before and behind every value that is not a key.
  void BeginValue(Location at);
  void EndValue();
  void WriteScalar(std::string_view text, const YamlScalar& scalar);
  void BeginKey(Location at);
  void EndKey(size_t begin);
  void WriteScalarKey(std::string_view text, const YamlScalar& scalar, Location at);
  void WriteAliasKey(const PositionedJson& value, Location at);

  YamlScalar Resolve(std::string_view text, std::string_view tag, bool plain, Location at);
  void KeepAnchor(std::string_view name, size_t begin);
  void FindRepeatedKey(const Frame& frame);
  void ReportRepeatedKey(Key first, Key second);
  void TakeMerge(Frame& frame);
  void WriteMerges(Frame& frame);
  void WriteMerge(JsonScanner& scanner, const PositionedJson& source, Frame& frame,
                  std::set<std::string, std::less<>>& seen);
  bool CountCopy(size_t weight, Location at);

  // Drops the document.
  void Wrong(Location at, std::string message);
  // Ends the reading.
  void Stop(Location at, std::string message);

  YamlEvents events_;
  const YamlToJsonSink& sink_;
  size_t max_depth_;
  size_t copies_left_;

  PositionedJson out_;
  std::vector<Frame> frames_;
  std::vector<Key> keys_;  // of all open mappings
  std::map<std::string, Anchor, std::less<>> anchors_;
  std::string number_;
  size_t documents_ = 0;
  bool wrong_ = false;  // the document; the rest of it is passed over
  bool stopped_ = false;
};

size_t Converter::Run() {
  bool ended = false;
  while (!stopped_ && !ended) {
    if (!events_.Next()) {
      const YamlProblem problem = events_.DescribeError();
      Stop(problem.location, problem.message);
      break;
    }
    ended = events_.current().type == YAML_STREAM_END_EVENT;
    Handle(events_.current());
  }
  if (stopped_) ++documents_;
  return documents_;
}

void Converter::Handle(const yaml_event_t& event) {
  if (event.type == YAML_DOCUMENT_START_EVENT) return StartDocument();
  if (event.type == YAML_DOCUMENT_END_EVENT) return EndDocument();
  if (wrong_) return;
  const Location at = ToLocation(event.start_mark);
  if (out_.size() > kMaxJsonBytes) return Stop(at, "the document is too large");
  switch (event.type) {
    case YAML_SCALAR_EVENT:
      return AddScalar(event);
    case YAML_ALIAS_EVENT:
      return AddAlias(event);
    case YAML_SEQUENCE_START_EVENT:
      return StartCollection(false, at, View(event.data.sequence_start.anchor),
                             View(event.data.sequence_start.tag));
    case YAML_MAPPING_START_EVENT:
      return StartCollection(true, at, View(event.data.mapping_start.anchor),
                             View(event.data.mapping_start.tag));
    case YAML_SEQUENCE_END_EVENT:
    case YAML_MAPPING_END_EVENT:
      return EndCollection();
    default:  // begin and end of the stream
      return;
  }
}

void Converter::StartDocument() {
  out_.Clear();
  frames_.clear();
  keys_.clear();
  anchors_.clear();
}

void Converter::EndDocument() {
  if (std::exchange(wrong_, false)) {
    ++documents_;
    return;
  }
  if (out_.text() == "null") return;
  ++documents_;
  out_.Pad(simdjson::SIMDJSON_PADDING);
  sink_.document(out_);
}

void Converter::AddScalar(const yaml_event_t& event) {
  const auto& scalar = event.data.scalar;
  const Location at = ToLocation(event.start_mark);
  const std::string_view text(reinterpret_cast<const char*>(scalar.value), scalar.length);
  const std::string_view tag = View(scalar.tag);
  const bool plain = scalar.style == YAML_PLAIN_SCALAR_STYLE;
  const bool is_key = KeyIsNext();
  if (is_key && plain && tag.empty() && text == "<<") {
    frames_.back().key_is_next = false;
    frames_.back().merging = true;
    frames_.back().merge_begin = out_.size();
    return;
  }
  const YamlScalar resolved = Resolve(text, tag, plain, at);
  if (wrong_) return;
  size_t begin = 0;
  if (is_key) {
    BeginKey(at);
    begin = out_.size();
    WriteScalarKey(text, resolved, at);
    if (wrong_) return;
  } else {
    BeginValue(at);
    begin = out_.size();
    WriteScalar(text, resolved);
  }
  if (scalar.anchor != nullptr) KeepAnchor(View(scalar.anchor), begin);
  is_key ? EndKey(begin) : EndValue();
}

// Tags of the core schema say what the value shows anyway, or make text of it; others ask for types
// that JSON does not have.
YamlScalar Converter::Resolve(std::string_view text, std::string_view tag, bool plain,
                              Location at) {
  if (tag.empty()) return plain ? ResolvePlainScalar(text, number_) : YamlScalar{};
  if (tag == "!") return {};
  using Kind = YamlScalarKind;
  const std::string_view name =
      tag.starts_with(kCoreTagPrefix) ? tag.substr(kCoreTagPrefix.size()) : std::string_view();
  if (name == "str") return {};
  const YamlScalar scalar = ResolvePlainScalar(text, number_);
  const bool is_bool = scalar.kind == Kind::kTrue || scalar.kind == Kind::kFalse;
  const bool is_float = scalar.kind == Kind::kFloat || scalar.kind == Kind::kNotFinite;
  const std::array<std::pair<std::string_view, bool>, 4> known = {{
      {"null", scalar.kind == Kind::kNull},
      {"bool", is_bool},
      {"int", scalar.kind == Kind::kInteger},
      {"float", is_float || scalar.kind == Kind::kInteger},
  }};
  for (const auto& [kind, fits] : known) {
    if (kind != name) continue;
    if (!fits) Wrong(at, fmt::format("the tag {} does not fit {}", ShowTag(tag), Quoted(text)));
    return scalar;
  }
  Wrong(at, fmt::format("the tag {} is not understood; leave it out", ShowTag(tag)));
  return {};
}

void Converter::WriteScalar(std::string_view text, const YamlScalar& scalar) {
  switch (scalar.kind) {
    case YamlScalarKind::kNull:
      return out_.Append("null");
    case YamlScalarKind::kTrue:
      return out_.Append("true");
    case YamlScalarKind::kFalse:
      return out_.Append("false");
    case YamlScalarKind::kInteger:
    case YamlScalarKind::kFloat:
      return out_.Append(scalar.number);
    case YamlScalarKind::kNotFinite:
      return Wrong(
          out_.Locate(out_.size()),
          fmt::format("{} is not a number that JSON can write; put it in quotes if it is text",
                      text));
    case YamlScalarKind::kText:
      return out_.AppendString(text);
  }
}

// Keys are text in JSON; kubectl writes numbers and booleans as it reads them, not as they stand
// there.
void Converter::WriteScalarKey(std::string_view text, const YamlScalar& scalar, Location at) {
  switch (scalar.kind) {
    case YamlScalarKind::kNull:
      return Wrong(at, text.empty() ? std::string("a key is missing before the ':'")
                                    : fmt::format("{} cannot be a key; put it in quotes", text));
    case YamlScalarKind::kTrue:
      return out_.AppendString("true");
    case YamlScalarKind::kFalse:
      return out_.AppendString("false");
    case YamlScalarKind::kInteger:
    case YamlScalarKind::kFloat:
      return out_.AppendString(scalar.number);
    case YamlScalarKind::kNotFinite:
    case YamlScalarKind::kText:
      return out_.AppendString(text);
  }
}

void Converter::WriteAliasKey(const PositionedJson& value, Location at) {
  const std::string& text = value.text();
  if (text.starts_with('{') || text.starts_with('[') || text == "null") {
    return Wrong(at, "expected a word as the key of a mapping");
  }
  const bool quoted = text.starts_with('"');
  if (!quoted) out_.Append('"');
  out_.Append(text);
  if (!quoted) out_.Append('"');
}

void Converter::BeginKey(Location at) {
  if (std::exchange(frames_.back().any, true)) out_.Append(',');
  out_.Mark(at);
}

void Converter::EndKey(size_t begin) {
  keys_.push_back({begin, out_.size()});
  out_.Append(':');
  frames_.back().key_is_next = false;
}

void Converter::BeginValue(Location at) {
  if (!frames_.empty() && !frames_.back().is_mapping && std::exchange(frames_.back().any, true)) {
    out_.Append(',');
  }
  out_.Mark(at);
}

void Converter::EndValue() {
  if (wrong_ || frames_.empty() || !frames_.back().is_mapping) return;
  frames_.back().key_is_next = true;
  if (frames_.back().merging) TakeMerge(frames_.back());
}

void Converter::AddAlias(const yaml_event_t& event) {
  const Location at = ToLocation(event.start_mark);
  const std::string_view name = View(event.data.alias.anchor);
  const auto found = anchors_.find(name);
  if (found == anchors_.end()) {
    return Wrong(at, fmt::format("the alias *{0} has no anchor: nothing above is marked &{0}",
                                 Printable(name)));
  }
  if (found->second.open) {
    return Wrong(
        at, fmt::format("the alias *{} stands inside the value it refers to", Printable(name)));
  }
  const PositionedJson& value = found->second.value;
  if (!CountCopy(value.weight(), at)) return;
  if (KeyIsNext()) {
    BeginKey(at);
    const size_t begin = out_.size();
    WriteAliasKey(value, at);
    if (!wrong_) EndKey(begin);
    return;
  }
  BeginValue(at);
  out_.AppendValue(value, 0, value.size());
  EndValue();
}

void Converter::StartCollection(bool is_mapping, Location at, std::string_view anchor,
                                std::string_view tag) {
  if (frames_.size() == max_depth_) {
    return Stop(at, fmt::format("the document nests deeper than {} levels", max_depth_));
  }
  if (KeyIsNext()) return WrongKey(is_mapping, at);
  const std::string_view fitting = is_mapping ? "tag:yaml.org,2002:map" : "tag:yaml.org,2002:seq";
  if (!tag.empty() && tag != "!" && tag != fitting) {
    return Wrong(at, fmt::format("the tag {} is not understood; leave it out", ShowTag(tag)));
  }
  BeginValue(at);
  if (!anchor.empty()) anchors_[std::string(anchor)].open = true;
  Frame& frame = frames_.emplace_back();
  frame.is_mapping = is_mapping;
  frame.key_is_next = is_mapping;
  frame.begin = out_.size();
  frame.first_key = keys_.size();
  frame.anchor = anchor;
  out_.Append(is_mapping ? '{' : '[');
}

void Converter::WrongKey(bool is_mapping, Location at) {
  const Location outer = out_.Locate(frames_.back().begin);
  if (is_mapping && outer.line == at.line && outer.column + 1 == at.column) {
    return Wrong(outer, "'{{' is not YAML; is this a template that still has to be rendered?");
  }
  Wrong(at, fmt::format("expected a word as the key of a mapping, got a {}",
                        is_mapping ? "mapping" : "list"));
}

void Converter::EndCollection() {
  Frame& frame = frames_.back();
  if (frame.is_mapping) {
    FindRepeatedKey(frame);
    if (!wrong_ && !frame.merges.empty()) WriteMerges(frame);
    if (wrong_) return;
    keys_.resize(frame.first_key);
  }
  out_.Append(frame.is_mapping ? '}' : ']');
  if (!frame.anchor.empty()) KeepAnchor(frame.anchor, frame.begin);
  frames_.pop_back();
  EndValue();
}

void Converter::KeepAnchor(std::string_view name, size_t begin) {
  if (wrong_ || !CountCopy(out_.WeightFrom(begin), out_.Locate(begin))) return;
  anchors_.insert_or_assign(std::string(name), Anchor{out_.Copy(begin), false});
}

bool Converter::CountCopy(size_t weight, Location at) {
  if (weight <= copies_left_) {
    copies_left_ -= weight;
    return true;
  }
  Stop(at, "the anchors and aliases of the file unfold to too much text; write the values out");
  return false;
}

// Written by the same hand, keys are equal when their JSON is.
void Converter::FindRepeatedKey(const Frame& frame) {
  const std::string_view text = out_.text();
  const auto view = [&](Key key) { return text.substr(key.begin, key.end - key.begin); };
  const auto first = keys_.begin() + static_cast<ptrdiff_t>(frame.first_key);
  constexpr ptrdiff_t kFew = 16;
  if (keys_.end() - first <= kFew) {
    for (auto b = first; b != keys_.end(); ++b) {
      for (auto a = first; a != b; ++a) {
        if (view(*a) == view(*b)) return ReportRepeatedKey(*a, *b);
      }
    }
    return;
  }
  std::vector<Key> sorted(first, keys_.end());
  std::sort(sorted.begin(), sorted.end(), [&](Key a, Key b) {
    const int order = view(a).compare(view(b));
    return order != 0 ? order < 0 : a.begin < b.begin;
  });
  const auto repeated = std::adjacent_find(sorted.begin(), sorted.end(),
                                           [&](Key a, Key b) { return view(a) == view(b); });
  if (repeated != sorted.end()) ReportRepeatedKey(*repeated, *(repeated + 1));
}

void Converter::ReportRepeatedKey(Key first, Key second) {
  const std::string inside = out_.text().substr(second.begin + 1, second.end - second.begin - 2);
  Wrong(out_.Locate(second.begin), fmt::format("the key {} is given twice; the first is at {}",
                                               Quoted(inside), Describe(out_.Locate(first.begin))));
}

void Converter::TakeMerge(Frame& frame) {
  const size_t begin = frame.merge_begin;
  const Location at = out_.Locate(begin);
  frame.merging = false;
  if (!CountCopy(out_.WeightFrom(begin), at)) return;
  PositionedJson value = out_.Copy(begin);
  out_.Truncate(begin);
  bool fits = value.text().starts_with('{');
  if (value.text().starts_with('[')) {
    fits = true;
    JsonScanner scanner(value.text());
    scanner.EnterList();
    while (fits && scanner.NextItem()) fits = scanner.Peek() == '{' && scanner.SkipValue();
  }
  if (!fits) return Wrong(at, "a merge key (<<) takes a mapping or a list of mappings");
  frame.merges.push_back(std::move(value));
}

void Converter::WriteMerges(Frame& frame) {
  std::set<std::string, std::less<>> seen;
  for (size_t i = frame.first_key; i < keys_.size(); ++i) {
    seen.insert(out_.text().substr(keys_[i].begin + 1, keys_[i].end - keys_[i].begin - 2));
  }
  for (const PositionedJson& source : frame.merges) {
    JsonScanner scanner(source.text());
    if (scanner.Peek() == '{') {
      WriteMerge(scanner, source, frame, seen);
      continue;
    }
    scanner.EnterList();
    while (!wrong_ && scanner.NextItem()) WriteMerge(scanner, source, frame, seen);
  }
}

void Converter::WriteMerge(JsonScanner& scanner, const PositionedJson& source, Frame& frame,
                           std::set<std::string, std::less<>>& seen) {
  scanner.EnterObject();
  std::string_view key;
  while (scanner.NextKey(key)) {
    const auto begin = static_cast<size_t>(key.data() - source.text().data()) - 1;
    if (!scanner.SkipValue()) break;
    if (!seen.emplace(key).second) continue;
    if (std::exchange(frame.any, true)) out_.Append(',');
    out_.AppendSlice(source, begin, scanner.offset());
  }
  // The text is our own, so that only its depth can be wrong.
  if (scanner.failed()) Wrong(source.Locate(0), scanner.problem().message);
}

void Converter::Wrong(Location at, std::string message) {
  if (wrong_) return;
  wrong_ = true;
  sink_.problem({at, std::move(message)});
}

void Converter::Stop(Location at, std::string message) {
  stopped_ = true;
  Wrong(at, std::move(message));
}

}  // namespace

size_t YamlToJson(std::string_view text, const YamlToJsonSink& sink,
                  const YamlToJsonLimits& limits) {
  return Converter(text, sink, limits).Run();
}

}  // namespace krafla
