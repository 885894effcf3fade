// How an object is read:
//   1. Kind, namespace and name; the rest is left alone for kinds no rule is about.
//   2. One pass over metadata, spec and status notes the places of the fields that findings point
//      at, the names the object refers to, and the words it should not have.
#include "check/written_objects.h"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <optional>
#include <span>

#include "base/did_you_mean.h"
#include "manifest/known_words.h"
#include "manifest/object_reader.h"
#include "model/well_known.h"

namespace krafla {

namespace {

constexpr std::string_view kMetadataKeys[] = {
    keys::kGroupName,
    keys::kGroupNameVolcano,
    keys::kQueueName,
    keys::kTaskSpec,
    keys::kTaskPriority,
    keys::kPreemptable,
    keys::kRevocableZone,
    keys::kCooldownTime,
    keys::kCooldownTimeAlternative,
    keys::kExpectedRunTime,
    keys::kZoneEvictions,
    keys::kEvictions,
    keys::kLastLoss,
    keys::kBudgetMinAvailable,
    keys::kBudgetMaxUnavailable,
    keys::kBudgetMinAvailableLong,
    keys::kBudgetMaxUnavailableLong,
    keys::kSlaWaitingTime,
    keys::kSlaWaitingTimeShort,
    keys::kHierarchy,
    keys::kHierarchyWeights,
};

// Every key a Volcano Job may have under `spec`, read by us or not.
constexpr std::string_view kJobSpec[] = {
    "schedulerName",    "minAvailable", "volumes",         "tasks",
    "policies",         "plugins",      "queue",           "runningEstimate",
    "maxRetry",         "minSuccess",   "networkTopology", "ttlSecondsAfterFinished",
    "priorityClassName"};

std::string_view DomainOf(std::string_view key) {
  const size_t slash = key.find('/');
  return slash == std::string_view::npos ? std::string_view() : key.substr(0, slash);
}

}  // namespace

std::string_view MeantMetadataKey(std::string_view key) {
  if (IsAmong(key, kMetadataKeys)) return {};
  // Whole keys share their domain and would all be near each other: what follows it is compared.
  const std::string_view domain = DomainOf(key);
  if (!domain.ends_with("volcano.sh") && domain != DomainOf(keys::kGroupName) &&
      domain != DomainOf(keys::kExpectedRunTime))
    return {};
  std::vector<std::string_view> tails;
  std::vector<std::string_view> whole;
  for (const std::string_view known : kMetadataKeys) {
    if (DomainOf(known) != domain) continue;
    tails.push_back(known.substr(domain.size() + 1));
    whole.push_back(known);
  }
  const std::optional<std::string_view> near = DidYouMean(key.substr(domain.size() + 1), tails);
  if (!near) return {};
  return whole[static_cast<size_t>(std::ranges::find(tails, *near) - tails.begin())];
}

class WrittenObjectReader {
 public:
  WrittenObjectReader(const ObjectText& text, WrittenObjects& to) : text_(text), to_(to) {}

  void Read() {
    reader_.Start(text_.json);
    JsonObject root;
    if (!Open(root)) return;
    reader_.ForEachField(root, [&](std::string_view key, JsonValue& value) {
      if (key == "kind") kind_ = reader_.Text(value);
      if (key == "apiVersion") api_version_ = reader_.Text(value);
      if (key == "metadata")
        reader_.ForEachField(value, [&](std::string_view part, JsonValue& field) {
          if (part == "name") name_ = reader_.Text(field);
          if (part == "namespace") ns_ = reader_.Text(field);
          if (part == "uid") has_uid_ = !reader_.Text(field).empty();
        });
    });
    if (name_.empty() || !IsOfInterest()) return;
    object_ = ns_.empty() ? fmt::format("{} {}", kind_, Printable(name_))
                          : fmt::format("{} {}/{}", kind_, Printable(ns_), Printable(name_));
    entry_.file = to_.FileNumber(text_.file);
    entry_.location = At(text_.json.data());
    document_.rewind();
    if (document_.get_object().get(root)) return;
    reader_.ForEachField(root, [&](std::string_view key, JsonValue& value) {
      if (key == "metadata") ReadMetadata(value);
      if (key == "spec") ReadSpec(value);
      if (key == "status" && kind_ == "Pod") ReadPodStatus(value);
    });
    NoteReferences();
    // Two objects of one name are an error that the other reading reports.
    to_.entries_.try_emplace(object_, std::move(entry_));
  }

 private:
  bool Open(JsonObject& root) {
    const auto error = parser_
                           .iterate(text_.json.data(), text_.json.size(),
                                    text_.json.size() + simdjson::SIMDJSON_PADDING)
                           .get(document_);
    return !error && !document_.get_object().get(root);
  }

  bool IsOfInterest() {
    const std::string_view group = DomainOf(api_version_);
    const bool volcano = group == "scheduling.volcano.sh";
    if (kind_ == "Queue" && volcano) {
      to_.queues_.emplace(name_);
      ns_ = {};
      return true;
    }
    if (kind_ == "PriorityClass") {
      to_.priority_classes_.emplace(name_);
      return false;
    }
    if (kind_ == "Node") {
      ns_ = {};
      return group.empty();
    }
    const bool known = (kind_ == "Pod" && group.empty()) || (kind_ == "PodGroup" && volcano) ||
                       (kind_ == "Job" && group == "batch.volcano.sh");
    if (known && ns_.empty()) ns_ = "default";
    return known;
  }

  Location At(const char* at) const {
    const size_t offset = static_cast<size_t>(at - text_.json.data());
    return text_.locate && offset < text_.json.size() ? text_.locate(offset) : Location{};
  }
  // Of a key; of its value when the key is not part of the text as it stands (it has escapes).
  Location AtKey(std::string_view key, JsonValue& value) const {
    const bool inside =
        key.data() > text_.json.data() && key.data() < text_.json.data() + text_.json.size();
    return At(inside ? key.data() - 1 : ObjectReader::At(value));
  }
  Place PlaceAt(Location at) const { return {std::string(text_.file), at}; }
  void Note(std::string field, Location at) { entry_.fields.emplace_back(std::move(field), at); }
  void Odd(WrittenObjects::OddWord::What what, Location at, std::string field,
           std::string_view word, std::string meant) {
    to_.odd_words_.push_back(
        {what, PlaceAt(at), object_, std::move(field), std::string(word), std::move(meant)});
  }

  void ReadMetadata(JsonValue& metadata) {
    reader_.ForEachField(metadata, [&](std::string_view part, JsonValue& map) {
      if (part != "annotations" && part != "labels") return;
      reader_.ForEachField(map, [&](std::string_view key, JsonValue& value) {
        if (IsAmong(key, kMetadataKeys)) {
          Note(std::string(key), At(ObjectReader::At(value)));
        } else if (const std::string_view meant = MeantMetadataKey(key); !meant.empty()) {
          Odd(WrittenObjects::OddWord::What::kMetadataKey, AtKey(key, value),
              fmt::format("metadata.{}", part), key, std::string(meant));
        }
      });
    });
  }

  void ReadSpec(JsonValue& spec) {
    const std::span<const std::string_view> known = SpecKeys();
    reader_.ForEachField(spec, [&](std::string_view key, JsonValue& value) {
      if (!known.empty() && !IsAmong(key, known)) {
        const auto near = DidYouMean(key, known);
        Odd(WrittenObjects::OddWord::What::kSpecKey, AtKey(key, value), "spec", key,
            near ? std::string(*near) : "");
        return;
      }
      const bool is_class = key == "priorityClassName";
      const bool is_queue = key == "queue" && kind_ != "Pod";
      if (!known.empty() || is_class)
        Note(fmt::format("spec.{}", key), At(ObjectReader::At(value)));
      if (key == "priority") has_priority_ = !ObjectReader::IsNull(value);
      if (is_class) priority_class_ = reader_.Text(value);
      if (is_queue) queue_ = reader_.Text(value);
      if (key == "guarantee" && kind_ == "Queue") ReadGuarantee(value);
    });
  }

  void ReadGuarantee(JsonValue& guarantee) {
    reader_.ForEachField(guarantee, [&](std::string_view key, JsonValue& value) {
      if (key != "resource")
        Odd(WrittenObjects::OddWord::What::kSpecKey, AtKey(key, value), "spec.guarantee", key,
            std::string(DidYouMean(key, kQueueGuaranteeKeys).value_or("resource")));
    });
  }

  std::span<const std::string_view> SpecKeys() const {
    if (kind_ == "PodGroup") return kPodGroupSpecKeys;
    if (kind_ == "Queue") return kQueueSpecKeys;
    if (kind_ == "Job") return kJobSpec;
    return {};
  }

  void ReadPodStatus(JsonValue& status) {
    reader_.ForEachField(status, [&](std::string_view key, JsonValue& value) {
      if (key != "phase") return;
      const Location at = At(ObjectReader::At(value));
      const std::string_view phase = reader_.Text(value);
      if (phase.empty() || IsAmong(phase, kPodPhases)) return;
      const auto near = DidYouMean(phase, kPodPhases);
      Odd(WrittenObjects::OddWord::What::kPodPhase, at, "status.phase", phase,
          near ? std::string(*near) : "");
    });
  }

  void NoteReferences() {
    using To = WrittenObjects::Reference::To;
    const bool is_pod = kind_ == "Pod";
    if (kind_ == "PodGroup" || kind_ == "Job")
      to_.references_.push_back(
          {To::kQueue, PlaceOfField("spec.queue"), object_, false, std::string(queue_)});
    // A pod that has passed an API server has its class' priority written in itself.
    const bool settled = is_pod && (has_priority_ || has_uid_);
    if ((kind_ == "PodGroup" || kind_ == "Job" || is_pod) && !priority_class_.empty() && !settled)
      to_.references_.push_back({To::kPriorityClass, PlaceOfField("spec.priorityClassName"),
                                 object_, is_pod, std::string(priority_class_)});
  }

  Place PlaceOfField(std::string_view field) const {
    for (const auto& [name, at] : entry_.fields)
      if (name == field) return PlaceAt(at);
    return PlaceAt(entry_.location);
  }

  const ObjectText& text_;
  WrittenObjects& to_;
  ObjectReader reader_;
  simdjson::ondemand::parser parser_;
  simdjson::ondemand::document document_;
  WrittenObjects::Entry entry_;
  std::string object_;
  std::string kind_;
  std::string api_version_;
  std::string ns_;
  std::string name_;
  std::string queue_;
  std::string priority_class_;
  bool has_uid_ = false;
  bool has_priority_ = false;
};

void WrittenObjects::Read(const ObjectText& text) {
  WrittenObjectReader(text, *this).Read();
}

uint32_t WrittenObjects::FileNumber(std::string_view file) {
  // Objects of one file follow each other.
  if (files_.empty() || files_.back() != file) files_.emplace_back(file);
  return static_cast<uint32_t>(files_.size() - 1);
}

// The pods and the PodGroup of a Volcano Job are called after it: <job>-<task>-<index>,
// <job>[-<uid>].
const WrittenObjects::Entry* WrittenObjects::FindMaker(std::string_view ns,
                                                       std::string_view name) const {
  for (size_t end = name.size(); end != std::string_view::npos && end > 0;
       end = name.rfind('-', end - 1)) {
    const auto found = entries_.find(fmt::format("Job {}/{}", ns, name.substr(0, end)));
    if (found != entries_.end()) return &found->second;
  }
  return nullptr;
}

const WrittenObjects::Entry* WrittenObjects::Find(std::string_view kind, std::string_view ns,
                                                  std::string_view name) const {
  const auto found = entries_.find(ns.empty() ? fmt::format("{} {}", kind, name)
                                              : fmt::format("{} {}/{}", kind, ns, name));
  return found != entries_.end() ? &found->second : FindMaker(ns, name);
}

Place WrittenObjects::PlaceOf(std::string_view kind, std::string_view ns, std::string_view name,
                              std::string_view field) const {
  return PlaceOfFirst(kind, ns, name, {field});
}

Place WrittenObjects::PlaceOfFirst(std::string_view kind, std::string_view ns,
                                   std::string_view name,
                                   std::initializer_list<std::string_view> fields) const {
  const Entry* entry = Find(kind, ns, name);
  if (entry == nullptr) return {};
  for (const std::string_view field : fields)
    for (const auto& [written, at] : entry->fields)
      if (written == field) return {files_[entry->file], at};
  return {files_[entry->file], entry->location};
}

bool WrittenObjects::HasField(std::string_view kind, std::string_view ns, std::string_view name,
                              std::string_view field) const {
  const Entry* entry = Find(kind, ns, name);
  return entry != nullptr &&
         std::any_of(entry->fields.begin(), entry->fields.end(),
                     [&](const auto& written) { return written.first == field; });
}

}  // namespace krafla
