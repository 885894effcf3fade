// 1. libyaml delivers events; a stack of half-built collections turns them into a tree.
// 2. A finished node goes to the collection on top of the stack: an item, a key or a value.
// 3. Whatever leaves the rest readable (a repeated key, an unknown tag) is noted and reading goes
//    on; what does not (syntax, a limit) stops it.
#include "base/yaml_node.h"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <map>
#include <optional>
#include <unordered_map>
#include <utility>

#include "base/did_you_mean.h"
#include "base/yaml_events.h"

namespace krafla {

namespace {

constexpr std::string_view kCoreTagPrefix = "tag:yaml.org,2002:";

size_t CountCharacters(std::string_view text) {
  return static_cast<size_t>(std::count_if(text.begin(), text.end(), [](char c) {
    return (static_cast<unsigned char>(c) & 0xC0) != 0x80;
  }));
}

bool IsPlainNull(std::string_view text) {
  return text.empty() || text == "~" || text == "null" || text == "Null" || text == "NULL";
}

std::string_view View(const yaml_char_t* text) {
  return text == nullptr ? std::string_view() : reinterpret_cast<const char*>(text);
}

bool IsContent(const yaml_event_t& event) {
  switch (event.type) {
    case YAML_SCALAR_EVENT:
      return event.data.scalar.style != YAML_PLAIN_SCALAR_STYLE ||
             !IsPlainNull(View(event.data.scalar.value));
    case YAML_ALIAS_EVENT:
    case YAML_SEQUENCE_START_EVENT:
    case YAML_MAPPING_START_EVENT:
      return true;
    default:
      return false;
  }
}

// What copying a node costs.
struct Weight {
  size_t nodes = 1;
  size_t bytes = 0;
  size_t height = 0;  // 0 for scalars
};

void Include(Weight& weight, const Weight& child) {
  weight.nodes += child.nodes;
  weight.bytes += child.bytes;
  weight.height = std::max(weight.height, child.height + 1);
}

// Recursion is as deep as the tree, which is bounded.
Weight Weigh(const YamlNode& node) {
  Weight weight{.bytes = node.text.size()};
  if (node.IsSequence() || node.IsMapping()) weight.height = 1;
  for (const YamlNode& item : node.items) Include(weight, Weigh(item));
  for (const YamlEntry& entry : node.entries) {
    weight.bytes += entry.key.size();
    Include(weight, Weigh(entry.value));
  }
  return weight;
}

class TreeBuilder {
 public:
  explicit TreeBuilder(const YamlLimits& limits) : limits_(limits) {}

  YamlTree Build(std::string_view text);

 private:
  // A collection that has begun and not ended.
  struct Frame {
    YamlNode node;
    std::string anchor;
    // Mappings: the key whose value comes next, and where each key was first seen.
    std::optional<YamlEntry> pending;
    bool drop_pending = false;
    std::unordered_map<std::string, Location> seen;
  };

  struct Anchor {
    YamlNode node = {};
    Weight weight = {};
    bool open = false;  // its node has not ended: an alias would contain itself
  };

  void Note(Location at, std::string message) { problems_.push_back({at, std::move(message)}); }
  // Notes what went wrong and ends the reading.
  void Stop(Location at, std::string message) {
    Note(at, std::move(message));
    stopped_ = true;
  }

  void Handle(const yaml_event_t& event);
  void AddScalar(const yaml_event_t& event);
  void AddAlias(const yaml_event_t& event);
  void StartCollection(YamlKind kind, Location at, std::string_view anchor, std::string_view tag);
  void EndCollection();
  void Place(YamlNode node, std::string_view anchor);
  void TakeKey(Frame& frame, YamlNode node);
  void KeepForAliases(const YamlNode& node, std::string_view anchor);
  void CheckTag(std::string_view tag, YamlKind kind, Location at);
  bool CountNodes(size_t nodes, Location at);
  bool CountCopy(const Weight& weight, Location at);

  const YamlLimits& limits_;
  std::vector<YamlProblem> problems_;
  bool stopped_ = false;
  int documents_ = 0;
  size_t nodes_ = 0;
  size_t copied_nodes_ = 0;
  size_t copied_bytes_ = 0;
  std::vector<Frame> stack_;
  std::map<std::string, Anchor, std::less<>> anchors_;
  YamlNode root_;
};

YamlTree TreeBuilder::Build(std::string_view text) {
  if (text.size() > limits_.max_bytes) {
    Stop({1, 1},
         fmt::format("the file has {} bytes; at most {} are read", text.size(), limits_.max_bytes));
  } else if (text.starts_with("\xFF\xFE") || text.starts_with("\xFE\xFF")) {
    Stop({1, 1}, "the file is encoded as UTF-16; save it as UTF-8");
  }
  if (!stopped_) {
    YamlEvents events(text);
    bool ended = false;
    while (!stopped_ && !ended) {
      if (!events.Next()) {
        const YamlProblem problem = events.DescribeError();
        Stop(problem.location, problem.message);
        break;
      }
      ended = events.current().type == YAML_STREAM_END_EVENT;
      Handle(events.current());
    }
  }
  // A second document stops the reading as well, but the first is whole by then.
  const bool complete = !stopped_ || documents_ > 1;
  return {complete ? std::move(root_) : YamlNode{}, std::move(problems_), complete};
}

void TreeBuilder::Handle(const yaml_event_t& event) {
  const Location at = ToLocation(event.start_mark);
  if (documents_ > 1) {
    // "---" at the end of a file is common and begins a document without content.
    if (IsContent(event)) Stop(at, "a second document starts here; the file may hold only one");
    return;
  }
  switch (event.type) {
    case YAML_DOCUMENT_START_EVENT:
      ++documents_;
      break;
    case YAML_SCALAR_EVENT:
      AddScalar(event);
      break;
    case YAML_ALIAS_EVENT:
      AddAlias(event);
      break;
    case YAML_SEQUENCE_START_EVENT:
      StartCollection(YamlKind::kSequence, at, View(event.data.sequence_start.anchor),
                      View(event.data.sequence_start.tag));
      break;
    case YAML_MAPPING_START_EVENT:
      StartCollection(YamlKind::kMapping, at, View(event.data.mapping_start.anchor),
                      View(event.data.mapping_start.tag));
      break;
    case YAML_SEQUENCE_END_EVENT:
    case YAML_MAPPING_END_EVENT:
      EndCollection();
      break;
    default:  // begin and end of the stream, end of a document
      break;
  }
}

void TreeBuilder::AddScalar(const yaml_event_t& event) {
  const auto& scalar = event.data.scalar;
  const std::string_view tag = View(scalar.tag);
  YamlNode node;
  node.location = ToLocation(event.start_mark);
  node.text.assign(reinterpret_cast<const char*>(scalar.value), scalar.length);
  const bool plain = scalar.style == YAML_PLAIN_SCALAR_STYLE;
  const bool tagged_null = tag == "tag:yaml.org,2002:null";
  const bool tagged_text = tag == "!" || tag == "tag:yaml.org,2002:str";
  node.quoted = tagged_text || (!plain && tag.empty());
  const bool null = tagged_null || (!node.quoted && IsPlainNull(node.text));
  node.kind = null ? YamlKind::kNull : YamlKind::kScalar;

  const bool in_quotes = scalar.style == YAML_SINGLE_QUOTED_SCALAR_STYLE ||
                         scalar.style == YAML_DOUBLE_QUOTED_SCALAR_STYLE;
  node.verbatim = tag.empty() && scalar.anchor == nullptr && (plain || in_quotes) &&
                  event.start_mark.line == event.end_mark.line &&
                  event.end_mark.column - event.start_mark.column ==
                      CountCharacters(node.text) + (in_quotes ? 2 : 0);

  CheckTag(tag, YamlKind::kScalar, node.location);
  if (!CountNodes(1, node.location)) return;
  Place(std::move(node), View(scalar.anchor));
}

void TreeBuilder::AddAlias(const yaml_event_t& event) {
  const Location at = ToLocation(event.start_mark);
  const std::string_view name = View(event.data.alias.anchor);
  const auto found = anchors_.find(name);
  if (found == anchors_.end()) {
    return Stop(at, fmt::format("the alias *{0} has no anchor: nothing above is marked &{0}",
                                Printable(name)));
  }
  const Anchor& anchor = found->second;
  if (anchor.open) {
    return Stop(at,
                fmt::format("the alias *{} stands inside the value it refers to", Printable(name)));
  }
  if (stack_.size() + anchor.weight.height > limits_.max_depth) {
    return Stop(at, fmt::format("the alias *{} makes the file nest deeper than {} levels",
                                Printable(name), limits_.max_depth));
  }
  if (!CountCopy(anchor.weight, at) || !CountNodes(anchor.weight.nodes, at)) return;
  YamlNode node = anchor.node;
  node.location = at;
  node.verbatim = false;
  Place(std::move(node), {});
}

void TreeBuilder::StartCollection(YamlKind kind, Location at, std::string_view anchor,
                                  std::string_view tag) {
  CheckTag(tag, kind, at);
  if (!CountNodes(1, at)) return;
  const bool key_expected =
      !stack_.empty() && stack_.back().node.IsMapping() && !stack_.back().pending;
  if (key_expected) {
    return Stop(at, fmt::format("expected a word as the key of a mapping, got a {}",
                                kind == YamlKind::kSequence ? "list" : "mapping"));
  }
  if (stack_.size() == limits_.max_depth) {
    return Stop(at, fmt::format("the file nests deeper than {} levels", limits_.max_depth));
  }
  Frame frame;
  frame.node.kind = kind;
  frame.node.location = at;
  frame.anchor = anchor;
  if (!anchor.empty()) anchors_[frame.anchor] = Anchor{.open = true};
  stack_.push_back(std::move(frame));
}

void TreeBuilder::EndCollection() {
  Frame frame = std::move(stack_.back());
  stack_.pop_back();
  Place(std::move(frame.node), frame.anchor);
}

void TreeBuilder::Place(YamlNode node, std::string_view anchor) {
  if (!anchor.empty()) KeepForAliases(node, anchor);
  if (stopped_) return;
  if (stack_.empty()) {
    root_ = std::move(node);
    return;
  }
  Frame& frame = stack_.back();
  if (frame.node.IsSequence()) {
    frame.node.items.push_back(std::move(node));
  } else if (!frame.pending) {
    TakeKey(frame, std::move(node));
  } else {
    frame.pending->value = std::move(node);
    if (!frame.drop_pending) frame.node.entries.push_back(std::move(*frame.pending));
    frame.pending.reset();
  }
}

void TreeBuilder::TakeKey(Frame& frame, YamlNode node) {
  const Location at = node.location;
  if (node.IsSequence() || node.IsMapping()) {
    return Stop(at, fmt::format("expected a word as the key of a mapping, got {}", Describe(node)));
  }
  frame.drop_pending = true;
  if (node.text == "<<" && !node.quoted) {
    Note(at, "merge keys (<<) are not understood; write the merged keys out");
  } else if (node.text.empty() && !node.quoted) {
    Note(at, "expected a key before the ':', got nothing");
  } else if (const auto [first, fresh] = frame.seen.try_emplace(node.text, at); !fresh) {
    Note(at, fmt::format("the key {} is given twice; the first is at {}", Quoted(node.text),
                         Describe(first->second)));
  } else {
    frame.drop_pending = false;
  }
  frame.pending = YamlEntry{std::move(node.text), at, {}};
}

void TreeBuilder::KeepForAliases(const YamlNode& node, std::string_view anchor) {
  const Weight weight = Weigh(node);
  if (CountCopy(weight, node.location)) {
    anchors_.insert_or_assign(std::string(anchor), Anchor{node, weight, false});
  }
}

// Tags of the core schema say what the value shows anyway; others ask for types we do not have.
void TreeBuilder::CheckTag(std::string_view tag, YamlKind kind, Location at) {
  if (tag.empty() || tag == "!") return;
  static constexpr std::array<std::pair<std::string_view, YamlKind>, 7> kCoreTags = {{
      {"str", YamlKind::kScalar},
      {"int", YamlKind::kScalar},
      {"float", YamlKind::kScalar},
      {"bool", YamlKind::kScalar},
      {"null", YamlKind::kScalar},
      {"seq", YamlKind::kSequence},
      {"map", YamlKind::kMapping},
  }};
  const bool in_core_space = tag.starts_with(kCoreTagPrefix);
  const std::string_view name = in_core_space ? tag.substr(kCoreTagPrefix.size()) : tag;
  const std::string written = (in_core_space ? "!!" : "") + Printable(name);
  const auto* found = std::find_if(kCoreTags.begin(), kCoreTags.end(),
                                   [&](const auto& known) { return known.first == name; });
  if (!in_core_space || found == kCoreTags.end()) {
    Note(at, fmt::format("the tag {} is not understood; leave it out", written));
  } else if (found->second != kind) {
    Note(at, fmt::format("the tag {} does not fit the value it stands before", written));
  }
}

bool TreeBuilder::CountNodes(size_t nodes, Location at) {
  nodes_ += nodes;
  if (nodes_ <= limits_.max_nodes) return true;
  Stop(at, fmt::format("the file holds more than {} values", limits_.max_nodes));
  return false;
}

bool TreeBuilder::CountCopy(const Weight& weight, Location at) {
  copied_nodes_ += weight.nodes;
  copied_bytes_ += weight.bytes;
  if (copied_nodes_ <= limits_.max_copied_nodes && copied_bytes_ <= limits_.max_copied_bytes) {
    return true;
  }
  Stop(at, fmt::format("the anchors and aliases of the file unfold to more than {} values or {} "
                       "bytes; write the values out",
                       limits_.max_copied_nodes, limits_.max_copied_bytes));
  return false;
}

}  // namespace

const YamlEntry* YamlNode::Find(std::string_view key) const {
  for (const YamlEntry& entry : entries) {
    if (entry.key == key) return &entry;
  }
  return nullptr;
}

Location YamlNode::At(size_t offset) const {
  if (!verbatim) return location;
  const size_t characters = CountCharacters(std::string_view(text).substr(0, offset));
  return {location.line, location.column + static_cast<int>(characters) + (quoted ? 1 : 0)};
}

YamlTree ParseYaml(std::string_view text, const YamlLimits& limits) {
  return TreeBuilder(limits).Build(text);
}

std::string Describe(const YamlNode& node) {
  switch (node.kind) {
    case YamlKind::kNull:
      return "nothing";
    case YamlKind::kScalar:
      return Quoted(node.text);
    case YamlKind::kSequence:
      return "a list";
    case YamlKind::kMapping:
      return "a mapping";
  }
  return {};
}

std::string Describe(Location location) {
  return fmt::format("line {}, column {}", location.line, location.column);
}

}  // namespace krafla
