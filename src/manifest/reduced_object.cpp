// Each kind has a pattern of the fields that stay: names, and in braces what stays of the value
// below; without braces all of it stays. Of a list the pattern holds for every item; in brackets
// before it, what items must have to stay: one of these fields, or a field of this text.
#include "manifest/reduced_object.h"

#include <algorithm>
#include <map>
#include <string>
#include <utility>
#include <vector>

#include <fmt/format.h>

#include "base/check.h"
#include "manifest/json_scanner.h"
#include "model/well_known.h"

namespace krafla {

namespace {

struct Pattern {
  // A dozen at most, so looking through all of them is quick. None: everything below stays.
  std::vector<std::string> names;
  std::vector<Pattern> below;  // of each
  // Of items of a list: a field, and as JSON what it must say, empty: whatever.
  std::vector<std::pair<std::string, std::string>> one_of;

  bool KeepsAll() const { return names.empty(); }
  const Pattern* Find(std::string_view name) const {
    for (size_t i = 0; i < names.size(); ++i)
      if (names[i] == name) return &below[i];
    return nullptr;
  }
  Pattern& Of(const std::string& name) {
    for (size_t i = 0; i < names.size(); ++i)
      if (names[i] == name) return below[i];
    names.push_back(name);
    return below.emplace_back();
  }
};

// "resources|type=Ready"
void ParseCondition(std::string_view text, Pattern& pattern) {
  while (!text.empty()) {
    const std::string_view word = text.substr(0, text.find('|'));
    text.remove_prefix(std::min(word.size() + 1, text.size()));
    const size_t equal = word.find('=');
    pattern.one_of.emplace_back(word.substr(0, equal),
                                equal == std::string_view::npos
                                    ? std::string()
                                    : fmt::format("\"{}\"", word.substr(equal + 1)));
  }
}

// "name,spec{nodeName,containers[image]{name,image}}"; returns behind the last character it took.
size_t ParsePattern(std::string_view text, size_t at, Pattern& pattern) {
  std::string name;
  const auto finish = [&] {
    if (!name.empty()) pattern.Of(name);
    name.clear();
  };
  while (at < text.size()) {
    const char c = text[at++];
    if (c == '[') {
      const size_t end = text.find(']', at);
      ParseCondition(text.substr(at, end - at), pattern.Of(name));
      at = end + 1;
    } else if (c == '{') {
      Pattern& below = pattern.Of(name);
      name.clear();
      at = ParsePattern(text, at, below);
    } else if (c == '}') {
      finish();
      return at;
    } else if (c == ',' || c == ' ' || c == '\n') {
      finish();
    } else {
      name.push_back(c);
    }
  }
  finish();
  return at;
}

constexpr std::string_view kMetadata =
    "name,namespace,uid,creationTimestamp,deletionTimestamp,labels";
constexpr std::string_view kContainers =
    "{name,image,resources{requests,limits,claims},ports,"
    "restartPolicy}";

std::string Metadata(std::initializer_list<std::string_view> annotations) {
  return fmt::format("apiVersion,kind,metadata{{{},annotations{{{}}}}}", kMetadata,
                     fmt::join(annotations, ","));
}

std::string PatternText(std::string_view kind) {
  if (kind == "Pod")
    return Metadata({keys::kGroupName, keys::kGroupNameVolcano, keys::kQueueName, keys::kTaskSpec,
                     keys::kTaskPriority, keys::kPreemptable, keys::kRevocableZone,
                     keys::kCooldownTime, keys::kCooldownTimeAlternative, keys::kExpectedRunTime}) +
           fmt::format(
               " spec{{nodeName,schedulerName,priorityClassName,priority,preemptionPolicy,"
               "containers{0},initContainers{0},volumes[persistentVolumeClaim|ephemeral|image]{{"
               "name,"
               "persistentVolumeClaim{{claimName}},ephemeral{{none}},image{{reference}}}},affinity,"
               "nodeSelector,tolerations,topologySpreadConstraints,overhead,"
               "resources{{requests,limits}},schedulingGates,hostNetwork,"
               "resourceClaims}} status{{phase,"
               "conditions[type=PodScheduled|type=Ready|type=DisruptionTarget|"
               "type=PodResizePending]{{type,status,reason,lastTransitionTime}},startTime,"
               "nominatedNodeName,"
               "containerStatuses{1},initContainerStatuses{1},resources,allocatedResources}}",
               kContainers, "[resources]{name,resources,allocatedResources}");
  if (kind == "PodGroup")
    return Metadata({keys::kPreemptable, keys::kRevocableZone, keys::kCooldownTime,
                     keys::kCooldownTimeAlternative, keys::kBudgetMinAvailable,
                     keys::kBudgetMaxUnavailable, keys::kBudgetMinAvailableLong,
                     keys::kBudgetMaxUnavailableLong, keys::kSlaWaitingTime,
                     keys::kSlaWaitingTimeShort}) +
           " spec{minMember,queue,priorityClassName,minResources,minTaskMember,networkTopology,"
           "subGroupPolicy} status{phase,conditions{type,status,reason,message}}";
  if (kind == "Node")
    return Metadata({"volcano.sh/oversubscription-cpu", "volcano.sh/oversubscription-memory"}) +
           " spec{unschedulable,taints} status{allocatable,capacity,images{names,sizeBytes}}";
  if (kind == "Queue")
    return Metadata({keys::kHierarchy, keys::kHierarchyWeights, keys::kCooldownTime,
                     keys::kCooldownTimeAlternative}) +
           " spec{weight,priority,reclaimable,capability,deserved,guarantee{resource},parent}"
           " status{state}";
  if (kind == "PriorityClass") return Metadata({"none"}) + " value,globalDefault,preemptionPolicy";
  if (kind == "Namespace") return Metadata({"none"});
  if (kind == "PodDisruptionBudget")
    return Metadata({"none"}) +
           " spec{selector} status{disruptionsAllowed,currentHealthy,disruptedPods}";
  if (kind == "PersistentVolumeClaim")
    return fmt::format(
        "apiVersion,kind,metadata{{{},ownerReferences{{kind,uid,controller}},annotations{{"
        "volume.beta.kubernetes.io/storage-class,pv.kubernetes.io/bind-completed,"
        "volume.kubernetes.io/selected-node}}}} spec{{volumeName,storageClassName,accessModes,"
        "volumeMode,selector,volumeAttributesClassName,resources{{requests}}}} status{{phase}}",
        kMetadata);
  if (kind == "PersistentVolume")
    return Metadata({"volume.beta.kubernetes.io/storage-class"}) +
           " spec{storageClassName,capacity,accessModes,volumeMode,volumeAttributesClassName,"
           "nodeAffinity{required},claimRef{namespace,name,uid},csi{driver,volumeHandle}}"
           " status{phase}";
  if (kind == "StorageClass")
    return Metadata({"none"}) +
           " provisioner,volumeBindingMode,parameters{csi.storage.k8s.io/csi-driver-name},"
           "allowedTopologies{matchLabelExpressions{key,values}}";
  if (kind == "CSINode")
    return Metadata({"none"}) + " spec{drivers{name,allocatable{count},topologyKeys}}";
  return {};
}

using Patterns = std::map<std::string, Pattern, std::less<>>;

Patterns AllPatterns() {
  Patterns patterns;
  for (const char* kind :
       {"Pod", "PodGroup", "Node", "Queue", "PriorityClass", "Namespace", "PodDisruptionBudget",
        "PersistentVolumeClaim", "PersistentVolume", "StorageClass", "CSINode"}) {
    const std::string text = PatternText(kind);
    const size_t end = ParsePattern(text, 0, patterns[kind]);
    KRAFLA_CHECK(end == text.size(), kind);
  }
  return patterns;
}

class Reducer {
 public:
  explicit Reducer(const std::string& json) : json_(json), scanner_(json) {
    out_.reserve(json.size() / 2);
  }

  std::optional<std::string> Run(const Pattern& pattern) {
    if (scanner_.Peek() != '{') return std::nullopt;
    Value(pattern);
    if (scanner_.failed() || !scanner_.AtEnd()) return std::nullopt;
    out_.shrink_to_fit();
    return std::move(out_);
  }

 private:
  // False: an item that does not stay.
  bool Value(const Pattern& pattern) {
    const char first = scanner_.Peek();
    if (first == '{' && !pattern.KeepsAll()) return Object(pattern);
    if (first == '[' && !pattern.KeepsAll()) {
      List(pattern);
      return true;
    }
    const size_t begin = scanner_.offset();
    if (scanner_.SkipValue())
      Copy(std::string_view(json_).substr(begin, scanner_.offset() - begin));
    return true;
  }

  // On one line: where there are line breaks, they stand between values.
  void Copy(std::string_view raw) {
    if (raw.find('\n') == std::string_view::npos) {
      out_ += raw;
      return;
    }
    bool in_text = false;
    for (size_t i = 0; i < raw.size(); ++i) {
      const char c = raw[i];
      if (in_text && c == '\\') {
        out_ += c;
        out_ += raw[++i];
        continue;
      }
      if (c == '"') in_text = !in_text;
      if (in_text || static_cast<unsigned char>(c) > ' ') out_ += c;
    }
  }

  bool Object(const Pattern& pattern) {
    bool stays = pattern.one_of.empty();
    if (!scanner_.EnterObject()) return stays;
    out_ += '{';
    bool any = false;
    std::string_view key;
    while (scanner_.NextKey(key)) {
      const Pattern* below = pattern.Find(key);
      if (below == nullptr) {
        if (!scanner_.SkipValue()) return stays;
        continue;
      }
      if (any) out_ += ',';
      any = true;
      out_ += '"';
      out_ += key;
      out_ += "\":";
      const size_t begin = out_.size();
      Value(*below);
      if (stays) continue;
      const std::string_view value = std::string_view(out_).substr(begin);
      for (const auto& [name, text] : pattern.one_of)
        stays = stays || (name == key && (text.empty() || text == value));
    }
    out_ += '}';
    return stays;
  }

  void List(const Pattern& pattern) {
    if (!scanner_.EnterList()) return;
    out_ += '[';
    bool any = false;
    while (scanner_.NextItem()) {
      const size_t begin = out_.size();
      if (any) out_ += ',';
      if (Value(pattern)) {
        any = true;
      } else {
        out_.resize(begin);
      }
    }
    out_ += ']';
  }

  const std::string& json_;
  JsonScanner scanner_;
  std::string out_;
};

}  // namespace

std::optional<std::string> ReduceObject(std::string_view kind, const std::string& json) {
  static const Patterns patterns = AllPatterns();
  const auto pattern = patterns.find(kind);
  if (pattern == patterns.end()) return std::nullopt;
  return Reducer(json).Run(pattern->second);
}

}  // namespace krafla
