// The sections cluster, queues and priorityClasses.
#include <algorithm>
#include <array>
#include <filesystem>
#include <utility>

#include <fmt/format.h>

#include "base/did_you_mean.h"
#include "base/json_writer.h"
#include "base/whole_file.h"
#include "cluster_state/fact_sink.h"
#include "manifest/read_cluster.h"
#include "model/well_known.h"
#include "sim/scenario_sections.h"

namespace krafla {

namespace {

constexpr int64_t kMaxNodes = 100'000;
constexpr std::string_view kDefaultPods = "110";

// Where the one place for a number stands in "n-%03d"; npos when there is none.
struct NumberPlace {
  size_t begin = std::string_view::npos;
  size_t end = 0;
  bool sound = true;
};

NumberPlace FindNumberPlace(std::string_view name) {
  NumberPlace place;
  for (size_t i = 0; i < name.size(); ++i) {
    if (name[i] != '%') continue;
    if (place.begin != std::string_view::npos) place.sound = false;
    place.begin = i;
    size_t end = i + 1;
    if (end + 1 < name.size() && name[end] == '0' && name[end + 1] >= '1' && name[end + 1] <= '9')
      end += 2;
    if (end >= name.size() || name[end] != 'd') {
      place.sound = false;
      return place;
    }
    place.end = end + 1;
    i = end;
  }
  return place;
}

std::optional<std::string> WrongTaint(std::string_view taint) {
  constexpr std::array<std::string_view, 3> kEffects = {"NoSchedule", "PreferNoSchedule",
                                                        "NoExecute"};
  const size_t colon = taint.rfind(':');
  const std::string_view effect =
      colon == std::string_view::npos ? std::string_view() : taint.substr(colon + 1);
  if (colon == std::string_view::npos || colon == 0)
    return fmt::format("expected key=value:Effect, got {}", Quoted(taint));
  if (std::ranges::find(kEffects, effect) == kEffects.end())
    return fmt::format("unknown effect {}{}", Quoted(effect), DidYouMeanHint(effect, kEffects));
  return std::nullopt;
}

// False after a complaint.
bool ReadNodeName(Fields& fields, NodeShape& shape) {
  if (const auto name = fields.Text("name")) {
    shape.name = *name;
  } else if (shape.count == 1) {
    shape.name = "node-1";
  }
  const NumberPlace place = FindNumberPlace(shape.name);
  if (!place.sound) {
    fields.Error("name", fmt::format("expected one place for the number, %d or %03d, got {}",
                                     Quoted(shape.name)));
    return false;
  }
  std::string example = shape.name;
  if (place.begin != std::string_view::npos) {
    example = fmt::format("{}1{}", shape.name.substr(0, place.begin), shape.name.substr(place.end));
  } else if (shape.count > 1) {
    fields.Error("name", fmt::format("{} nodes need a place for the number; write {}", shape.count,
                                     Quoted(shape.name + "-%d")));
    return false;
  }
  const auto wrong = WrongName(example);
  if (wrong) fields.Error("name", *wrong);
  return !wrong;
}

void ReadNodes(const YamlNode& node, const std::string& path, ScenarioReading& reading,
               ScenarioProblems& problems) {
  Fields fields(node, path, problems);
  if (!node.IsMapping()) {
    if (node.IsNull()) problems.Error(path, node.location, "expected a mapping, got nothing");
    return;
  }
  NodeShape shape;
  shape.place = problems.PlaceOf(node.location);
  shape.count = static_cast<int32_t>(fields.Whole("count", 0, kMaxNodes).value_or(1));
  const bool named = ReadNodeName(fields, shape);
  shape.resources = fields.Amounts("resources");
  const std::pair<std::string_view, std::string_view> shorthands[] = {
      {"cpu", "cpu"}, {"memory", "memory"}, {"pods", "pods"}, {"gpu", "nvidia.com/gpu"}};
  for (const auto& [key, resource] : shorthands) {
    const auto amount = fields.Amount(key);
    if (!amount) continue;
    if (!shape.resources.emplace(resource, *amount).second)
      fields.Error(key, "given under resources already");
  }
  shape.resources.emplace("pods", kDefaultPods);
  for (const char* needed : {"cpu", "memory"})
    if (!shape.resources.contains(needed) && node.Find(needed) == nullptr)
      fields.Error("", fmt::format("expected {}, got nothing", needed));
  shape.labels = fields.Texts("labels");
  if (const auto zone = fields.Text("zone")) {
    if (!shape.labels.emplace(keys::kRevocableZone, *zone).second)
      fields.Error("zone", fmt::format("given by the label {} already", keys::kRevocableZone));
  }
  shape.taints = fields.Words("taints");
  for (const std::string& taint : shape.taints)
    if (const auto wrong = WrongTaint(taint)) fields.Error("taints", *wrong);
  fields.Finish();

  if (named) {
    for (int32_t i = 1; i <= shape.count; ++i) {
      const std::string name = NodeName(shape, i);
      if (reading.names.nodes.insert(name).second) continue;
      fields.Error("name", fmt::format("there is a node {} already", Quoted(name)));
      break;
    }
  }
  if (reading.names.nodes.size() > static_cast<size_t>(kMaxNodes))
    fields.Error("count", fmt::format("the cluster has more than {} nodes", kMaxNodes));
  reading.scenario.nodes.push_back(std::move(shape));
}

void WriteTexts(JsonWriter& json, std::string_view key, const TextTable& texts) {
  if (texts.empty()) return;
  json.Key(key).BeginObject();
  for (const auto& [name, text] : texts) json.Key(name).String(text);
  json.EndObject();
}

void BeginObject(JsonWriter& json, std::string_view api_version, std::string_view kind,
                 const std::string& name, const TextTable& annotations) {
  json.BeginObject().Key("apiVersion").String(api_version).Key("kind").String(kind);
  json.Key("metadata").BeginObject().Key("name").String(name);
  WriteTexts(json, "annotations", annotations);
  json.EndObject();
}

void AppendLine(JsonWriter& json, ScenarioReading& reading) {
  reading.scenario.queues_yaml += json.text() + "\n";
}

// Calls `read(name, value, path)` for each object of a section that is a mapping by name or a list
// of mappings with names.
template <class Read>
void ForEachNamed(const YamlNode& node, std::string_view section, ScenarioProblems& problems,
                  std::set<std::string, std::less<>>& names, const Read& read) {
  const auto take = [&](const std::string& name, Location at, const YamlNode& value,
                        const std::string& path) {
    if (const auto wrong = WrongName(name)) return problems.Error(path, at, *wrong);
    if (!names.insert(name).second)
      return problems.Error(path, at, fmt::format("{} is there already", Quoted(name)));
    read(name, value, path);
  };
  if (node.IsMapping()) {
    for (const YamlEntry& entry : node.entries)
      take(entry.key, entry.key_location, entry.value, fmt::format("{}.{}", section, entry.key));
    return;
  }
  if (!node.IsSequence()) {
    problems.Error(std::string(section), node.location,
                   fmt::format("expected a mapping by name, got {}", Describe(node)));
    return;
  }
  for (size_t i = 0; i < node.items.size(); ++i) {
    const YamlNode& item = node.items[i];
    const std::string path = IndexedPath(section, i);
    const YamlEntry* name = item.Find("name");
    if (name == nullptr || !name->value.IsScalar()) {
      problems.Error(path, item.location, "expected a mapping with a name");
      continue;
    }
    take(name->value.text, name->value.location, item, path);
  }
}

void WriteQueue(const std::string& name, const YamlNode& node, const std::string& path,
                ScenarioReading& reading, ScenarioProblems& problems) {
  Fields fields(node, path, problems);
  fields.Know(std::array<std::string_view, 1>{"name"});
  constexpr int64_t kMost = 2'147'483'647;
  const int64_t weight = fields.Whole("weight", 0, kMost).value_or(1);
  const auto priority = fields.Whole("priority", -kMost, kMost);
  const auto reclaimable = fields.Bool("reclaimable");
  const auto parent = fields.Name("parent");
  const TextTable capability = fields.Amounts("capability");
  const TextTable guarantee = fields.Amounts("guarantee");
  const TextTable deserved = fields.Amounts("deserved");
  const TextTable annotations = fields.Texts("annotations");
  const auto state = fields.Text("state");
  constexpr std::array<std::string_view, 2> kStates = {"Open", "Closed"};
  if (state && std::ranges::find(kStates, *state) == kStates.end())
    fields.Error("state", fmt::format("unknown state {}{}", Quoted(*state),
                                      DidYouMeanHint(*state, kStates)));
  fields.Finish();

  JsonWriter json;
  BeginObject(json, "scheduling.volcano.sh/v1beta1", "Queue", name, annotations);
  json.Key("spec").BeginObject().Key("weight").Integer(weight);
  if (priority) json.Key("priority").Integer(*priority);
  if (reclaimable) json.Key("reclaimable").Bool(*reclaimable);
  if (parent) json.Key("parent").String(*parent);
  WriteTexts(json, "capability", capability);
  if (!guarantee.empty()) {
    json.Key("guarantee").BeginObject();
    WriteTexts(json, "resource", guarantee);
    json.EndObject();
  }
  WriteTexts(json, "deserved", deserved);
  json.EndObject();
  if (state) json.Key("status").BeginObject().Key("state").String(*state).EndObject();
  json.EndObject();
  AppendLine(json, reading);
}

void WritePriorityClass(const std::string& name, const YamlNode& node, const std::string& path,
                        ScenarioReading& reading, ScenarioProblems& problems) {
  // "urgent: 1000" is short for "urgent: {value: 1000}".
  YamlNode longhand = node;
  if (node.IsScalar()) {
    longhand = YamlNode{.kind = YamlKind::kMapping, .location = node.location};
    longhand.entries.push_back({"value", node.location, node});
  }
  Fields fields(longhand, path, problems);
  fields.Know(std::array<std::string_view, 1>{"name"});
  const auto value = fields.Whole("value", -2'000'000'000, 2'000'000'000);
  if (!value && longhand.Find("value") == nullptr)
    fields.Error("value", "expected a whole number, got nothing");
  const auto is_default = fields.Bool("globalDefault");
  const auto policy = fields.Text("preemptionPolicy");
  constexpr std::array<std::string_view, 2> kPolicies = {"PreemptLowerPriority", "Never"};
  if (policy && std::ranges::find(kPolicies, *policy) == kPolicies.end())
    fields.Error("preemptionPolicy", fmt::format("unknown policy {}{}", Quoted(*policy),
                                                 DidYouMeanHint(*policy, kPolicies)));
  fields.Finish();

  JsonWriter json;
  BeginObject(json, "scheduling.k8s.io/v1", "PriorityClass", name, {});
  json.Key("value").Integer(value.value_or(0));
  if (is_default) json.Key("globalDefault").Bool(*is_default);
  if (policy) json.Key("preemptionPolicy").String(*policy);
  json.EndObject();
  AppendLine(json, reading);
}

// A queue may stand before its parent. Manifests of the workload may bring one later, so that this
// is no error; and Volcano makes the root itself.
void CheckParents(const YamlNode& queues, const ScenarioReading& reading,
                  ScenarioProblems& problems) {
  const std::vector<std::string_view> names(reading.names.queues.begin(),
                                            reading.names.queues.end());
  const auto check = [&](const YamlNode& queue, const std::string& path) {
    const YamlEntry* parent = queue.Find("parent");
    if (parent == nullptr || !parent->value.IsScalar()) return;
    const std::string& name = parent->value.text;
    if (name.empty() || name == "root" || reading.names.queues.contains(name)) return;
    problems.Warning(
        path + ".parent", parent->value.location,
        fmt::format("there is no queue {}{}", Quoted(name), DidYouMeanHint(name, names)));
  };
  for (const YamlEntry& entry : queues.entries) check(entry.value, "queues." + entry.key);
  for (size_t i = 0; i < queues.items.size(); ++i) check(queues.items[i], IndexedPath("queues", i));
}

// Takes down the names jobs refer to and nothing else.
class NameSink final : public FactSink {
 public:
  NameSink(Cluster& cluster, ValueIndexes& indexes, ScenarioNames& names)
      : FactSink(cluster, indexes), names_(names) {}

  Added AddPod(PodFacts, Origin) override { return Added::kYes; }
  Added AddPodGroup(PodGroupFacts, Origin) override { return Added::kYes; }
  bool AddQueue(QueueFacts facts) override {
    return names_.queues.emplace(strings().Text(facts.queue.name)).second;
  }
  bool AddNode(NodeFacts facts) override {
    return names_.nodes.emplace(strings().Text(facts.node.name)).second;
  }
  bool AddPriorityClass(PriorityClassFacts facts) override {
    return names_.priority_classes.emplace(strings().Text(facts.name)).second;
  }
  bool AddNamespace(Namespace) override { return true; }
  bool AddBudget(PodDisruptionBudget) override { return true; }
  bool AddClaim(PersistentVolumeClaim) override { return true; }
  bool AddVolume(PersistentVolume) override { return true; }
  bool AddStorageClass(StorageClass) override { return true; }
  bool AddCsiNode(CsiNode) override { return true; }
  bool AddResourceQuotaName(StrId, StrId) override { return true; }

 private:
  ScenarioNames& names_;
};

std::optional<std::string> ReadWhole(Fields& fields, std::string_view key, const std::string& path,
                                     std::string_view where) {
  Result<std::string> text = ReadWholeFile(path);
  if (text) return std::move(*text);
  fields.Error(key, fmt::format("{} {}; {}", Quoted(path), text.error().message, where));
  return std::nullopt;
}

}  // namespace

std::string NodeName(const NodeShape& shape, int32_t number) {
  const NumberPlace place = FindNumberPlace(shape.name);
  if (!place.sound || place.begin == std::string_view::npos) return shape.name;
  const int width = place.end - place.begin == 4 ? shape.name[place.begin + 2] - '0' : 0;
  return fmt::format("{}{:0{}}{}", shape.name.substr(0, place.begin), number, width,
                     shape.name.substr(place.end));
}

std::string ResolvePath(const std::string& file, const std::string& folder) {
  const std::filesystem::path path(file);
  if (path.is_absolute() || folder.empty()) return file;
  return (std::filesystem::path(folder) / path).lexically_normal().string();
}

std::optional<std::string> ReadNamedFile(Fields& fields, std::string_view key,
                                         const std::string& path) {
  return ReadWhole(fields, key, path, "files are looked for beside the scenario");
}

std::optional<std::string> ReadOptionFile(Fields& fields, std::string_view key,
                                          const std::string& path) {
  return ReadWhole(fields, key, path,
                   path == "-" ? "standard input is not read here: give a file"
                               : "files named by options are looked for in the current directory");
}

void ReadManifestNames(const std::string& path, ScenarioReading& reading) {
  Cluster values;
  ValueIndexes indexes;
  NameSink sink(values, indexes, reading.names);
  std::istream nothing(nullptr);
  const std::string inputs[] = {path};
  ReadObjectsInto(sink, inputs, nothing, {}, reading.diagnostics);
}

void ReadCluster(const YamlNode& node, ScenarioReading& reading, ScenarioProblems& problems) {
  Fields fields(node, "cluster", problems);
  if (!node.IsMapping()) return;
  for (const std::string& file : fields.Words("manifests")) {
    const std::string path = ResolvePath(file, reading.folder);
    std::error_code error;
    if (!std::filesystem::exists(path, error)) {
      fields.Error("manifests", fmt::format("{} does not exist; files are looked for beside the "
                                            "scenario",
                                            Quoted(path)));
      continue;
    }
    reading.scenario.manifests.push_back(path);
    ReadManifestNames(path, reading);
  }
  if (const YamlNode* nodes = fields.Find("nodes")) {
    const std::vector<const YamlNode*> items = ItemsOf(*nodes);
    for (size_t i = 0; i < items.size(); ++i)
      ReadNodes(*items[i], IndexedPath("cluster.nodes", i, nodes->IsSequence()), reading, problems);
  }
  if (reading.names.nodes.empty() && !problems.HasErrors())
    fields.Error("", "expected nodes or manifests with nodes, got none");
  fields.Finish();
}

void ReadQueues(const YamlNode* node, ScenarioReading& reading, ScenarioProblems& problems) {
  if (node != nullptr) {
    ForEachNamed(*node, "queues", problems, reading.names.queues,
                 [&](const std::string& name, const YamlNode& value, const std::string& path) {
                   WriteQueue(name, value, path, reading, problems);
                 });
  }
  // Every cluster has it.
  if (reading.names.queues.insert("default").second)
    WriteQueue("default", {}, "queues.default", reading, problems);
  if (node != nullptr) CheckParents(*node, reading, problems);
}

void ReadPriorityClasses(const YamlNode* node, ScenarioReading& reading,
                         ScenarioProblems& problems) {
  if (node == nullptr) return;
  ForEachNamed(*node, "priorityClasses", problems, reading.names.priority_classes,
               [&](const std::string& name, const YamlNode& value, const std::string& path) {
                 WritePriorityClass(name, value, path, reading, problems);
               });
}

}  // namespace krafla
