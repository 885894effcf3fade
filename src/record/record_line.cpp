#include "record/record_line.h"

#include <simdjson.h>

#include <fmt/format.h>

#include "base/did_you_mean.h"
#include "base/json_writer.h"
#include "manifest/json_scanner.h"
#include "record/memory_json.h"

namespace krafla {

namespace {

namespace ondemand = simdjson::ondemand;

void WriteTexts(JsonWriter& json, std::string_view key, const std::vector<std::string>& texts) {
  json.Key(key).BeginArray();
  for (const std::string& text : texts) json.String(text);
  json.EndArray();
}

constexpr JobPhase kPhases[] = {JobPhase::kPending, JobPhase::kInqueue, JobPhase::kRunning,
                                JobPhase::kUnknown, JobPhase::kCompleted};

}  // namespace

std::string HeadLine(const RecordHead& head) {
  JsonWriter json;
  json.BeginObject();
  json.Key("krafla").Integer(kRecordFormat);
  json.Key("version").String(head.version);
  json.Key("begun").Integer(head.begun.ns);
  json.Key("why").String(head.why);
  json.Key("zone").String(head.zone);
  json.Key("offset").Integer(head.offset_seconds);
  WriteTexts(json, "schedulerNames", head.world.scheduler_names);
  json.Key("nodeLabels").BeginArray();
  for (const auto& [key, value] : head.world.node_labels)
    json.BeginArray().String(key).String(value).EndArray();
  json.EndArray();
  json.Key("defaultQueue").String(head.world.build.default_queue);
  WriteTexts(json, "ignoredProvisioners", head.world.build.ignored_provisioners);
  json.Key("lenient").Bool(head.lenient);
  json.Key("profile");
  if (head.profile) {
    json.String(*head.profile);
  } else {
    json.Null();
  }
  json.EndObject();
  return json.text();
}

std::string MemoryLine(const CycleMemory& memory) {
  return fmt::format("{{\"memory\":{}}}", MemoryAsJson(memory));
}

std::string ConfigLine(std::string_view config) {
  JsonWriter json;
  json.BeginObject().Key("config").String(config).EndObject();
  return json.text();
}

std::string StateEndLine(size_t objects, uint64_t cycles) {
  return fmt::format("{{\"state\":\"complete\",\"objects\":{},\"cycles\":{}}}", objects, cycles);
}

namespace {

void WriteMark(JsonWriter& json, const AssumedMark& mark) {
  switch (mark.what) {
    case AssumedMark::What::kNone:
    case AssumedMark::What::kUnchanged:
      return;
    case AssumedMark::What::kBinding:
      json.Key("binding").String(mark.to);
      return;
    case AssumedMark::What::kReleasing:
      json.Key("releasing").Bool(true);
      return;
    case AssumedMark::What::kReserved:
      json.Key("reserved").String(mark.to);
      return;
    case AssumedMark::What::kSelected:
      json.Key("selected").String(mark.to);
      return;
    case AssumedMark::What::kAwaitsGroup:
      json.Key("awaitsGroup").String(mark.to);
      return;
  }
}

}  // namespace

std::string ChangeLine(const RecordedChange& change) {
  JsonWriter json;
  json.BeginObject();
  switch (change.what) {
    case RecordedChange::What::kMark:  // is a kPut by now
      break;
    case RecordedChange::What::kPut:
      json.Key("put").String(change.kind).Key("key").String(change.key);
      WriteMark(json, change.mark);
      if (change.phase) json.Key("phase").String(ToString(*change.phase));
      json.Key("object").Raw(change.object);
      break;
    case RecordedChange::What::kGone:
      json.Key("gone").String(change.kind).Key("key").String(change.key);
      break;
    case RecordedChange::What::kMemory:
      return MemoryLine(*change.memory);
    case RecordedChange::What::kConfig:
      return ConfigLine(change.object);
    case RecordedChange::What::kCycle:
      json.Key("cycle").Integer(static_cast<int64_t>(change.cycle->number));
      json.Key("at").Integer(change.cycle->at.ns);
      json.Key("ms").Number(change.cycle->wall_ms);
      WriteTexts(json, "decisions", DecisionLines(*change.cycle));
      break;
  }
  json.EndObject();
  return json.text();
}

namespace {

// One line while it is read: fields are asked for by name, in any order.
class LineReader {
 public:
  explicit LineReader(std::string_view line) : padded_(line) {
    // Looking for a second field in a text that is broken behind the first is not safe.
    JsonScanner scanner(std::string_view(padded_.data(), padded_.size()));
    sound_ = scanner.Peek() == '{' && scanner.SkipValue() && scanner.AtEnd() &&
             !parser_.iterate(padded_).get(document_) && !document_.get_object().get(root_);
  }
  bool sound() const { return sound_; }

  bool Has(std::string_view key) {
    ondemand::value value;
    return Find(key, value);
  }
  std::optional<std::string> Text(std::string_view key) {
    ondemand::value value;
    std::string_view text;
    if (!Find(key, value) || value.get_string().get(text)) return std::nullopt;
    return std::string(text);
  }
  std::optional<int64_t> Integer(std::string_view key) {
    ondemand::value value;
    int64_t number = 0;
    if (!Find(key, value) || value.get_int64().get(number)) return std::nullopt;
    return number;
  }
  bool Flag(std::string_view key) {
    ondemand::value value;
    bool flag = false;
    return Find(key, value) && !value.get_bool().get(flag) && flag;
  }
  // The text of an object.
  std::optional<std::string> Raw(std::string_view key) {
    ondemand::value value;
    ondemand::object object;
    std::string_view raw;
    if (!Find(key, value) || value.get_object().get(object) || object.raw_json().get(raw))
      return std::nullopt;
    return std::string(raw);
  }
  std::optional<std::vector<std::string>> Texts(std::string_view key) {
    ondemand::value value;
    ondemand::array list;
    if (!Find(key, value) || value.get_array().get(list)) return std::nullopt;
    std::vector<std::string> texts;
    for (auto item : list) {
      std::string_view text;
      if (item.get_string().get(text)) return std::nullopt;
      texts.emplace_back(text);
    }
    return texts;
  }
  std::optional<NodeLabels> Pairs(std::string_view key) {
    ondemand::value value;
    ondemand::array list;
    if (!Find(key, value) || value.get_array().get(list)) return std::nullopt;
    NodeLabels pairs;
    for (auto item : list) {
      ondemand::array pair;
      if (item.get_array().get(pair)) return std::nullopt;
      std::vector<std::string> texts;
      for (auto part : pair) {
        std::string_view text;
        if (part.get_string().get(text)) return std::nullopt;
        texts.emplace_back(text);
      }
      if (texts.size() != 2) return std::nullopt;
      pairs.emplace_back(texts[0], texts[1]);
    }
    return pairs;
  }

 private:
  bool Find(std::string_view key, ondemand::value& value) {
    return sound_ && !root_.reset().error() && !root_.find_field_unordered(key).get(value);
  }

  simdjson::padded_string padded_;
  ondemand::parser parser_;
  ondemand::document document_;
  ondemand::object root_;
  bool sound_ = false;
};

Result<RecordLine> ParseHead(LineReader& line, int64_t format) {
  if (format != kRecordFormat)
    return Fail(fmt::format("is a record of format {}; this program reads format {}", format,
                            kRecordFormat));
  RecordHead head;
  head.version = line.Text("version").value_or("");
  head.begun = {line.Integer("begun").value_or(Timestamp::kAbsentNs)};
  head.why = line.Text("why").value_or("");
  const auto zone = line.Text("zone");
  const auto offset = line.Integer("offset");
  const auto schedulers = line.Texts("schedulerNames");
  const auto labels = line.Pairs("nodeLabels");
  const auto queue = line.Text("defaultQueue");
  const auto provisioners = line.Texts("ignoredProvisioners");
  if (!zone || !offset || !schedulers || !labels || !queue || !provisioners)
    return Fail("has an incomplete head");
  head.zone = *zone;
  head.offset_seconds = static_cast<int>(*offset);
  head.world.scheduler_names = *schedulers;
  head.world.node_labels = *labels;
  head.world.build.default_queue = *queue;
  head.world.build.ignored_provisioners = *provisioners;
  head.world.build.lenient = true;
  head.lenient = line.Flag("lenient");
  head.profile = line.Text("profile");
  return head;
}

Result<RecordLine> ParsePut(LineReader& line, const std::string& kind_name) {
  const auto kind = RecordedKind(kind_name);
  auto key = line.Text("key");
  auto object = line.Raw("object");
  if (!kind || !key || !object)
    return Fail(fmt::format("has an object of kind {} that is incomplete", Quoted(kind_name)));
  RecordedChange change{
      .kind = *kind, .key = std::move(*key), .object = std::move(*object), .cycle = {}};
  for (const auto& [word, what] : {std::pair("binding", AssumedMark::What::kBinding),
                                   std::pair("reserved", AssumedMark::What::kReserved),
                                   std::pair("selected", AssumedMark::What::kSelected),
                                   std::pair("awaitsGroup", AssumedMark::What::kAwaitsGroup)})
    if (auto to = line.Text(word)) change.mark = {what, std::move(*to)};
  if (change.mark.what == AssumedMark::What::kAwaitsGroup && !GroupWaitOf(change.mark.to))
    return Fail(
        fmt::format("has an unknown reason to await a PodGroup {}: expected controllers, "
                    "never or delay",
                    Quoted(change.mark.to)));
  if (line.Flag("releasing")) change.mark = {AssumedMark::What::kReleasing, {}};
  if (const auto word = line.Text("phase")) {
    for (const JobPhase phase : kPhases)
      if (ToString(phase) == *word) change.phase = phase;
    if (!change.phase) return Fail(fmt::format("has an unknown phase {}", Quoted(*word)));
  }
  return change;
}

}  // namespace

Result<RecordLine> ParseRecordLine(std::string_view text) {
  LineReader line(text);
  if (!line.sound()) return Fail("has a line that is no JSON object");
  if (const auto kind = line.Text("put")) return ParsePut(line, *kind);
  if (const auto number = line.Integer("cycle")) {
    const auto at = line.Integer("at");
    auto decisions = line.Texts("decisions");
    if (!at || !decisions) return Fail(fmt::format("has an incomplete cycle {}", *number));
    return CycleLine{static_cast<uint64_t>(*number), {*at}, std::move(*decisions)};
  }
  if (const auto name = line.Text("gone")) {
    const auto kind = RecordedKind(*name);
    auto key = line.Text("key");
    if (!kind || !key) return Fail(fmt::format("has a removal of the unknown kind {}", *name));
    return RecordedChange{
        .what = RecordedChange::What::kGone, .kind = *kind, .key = std::move(*key), .cycle = {}};
  }
  if (const auto raw = line.Raw("memory")) {
    Result<CycleMemory> memory = MemoryFromJson(*raw);
    if (!memory) return Fail("has a line that cannot be read: " + memory.error().message);
    return RecordedChange{.what = RecordedChange::What::kMemory,
                          .memory = std::make_shared<const CycleMemory>(std::move(*memory)),
                          .cycle = {}};
  }
  if (auto config = line.Text("config"))
    return RecordedChange{
        .what = RecordedChange::What::kConfig, .object = std::move(*config), .cycle = {}};
  if (line.Has("state")) return StateEnd{static_cast<size_t>(line.Integer("objects").value_or(0))};
  if (const auto format = line.Integer("krafla")) return ParseHead(line, *format);
  return Fail("has a line that is none of a record");
}

}  // namespace krafla
