#include "kube/api_text.h"

#include <array>
#include <set>

#include <fmt/format.h>
#include <simdjson.h>

#include "base/diagnostics.h"
#include "base/did_you_mean.h"
#include "manifest/object_stream.h"
#include "model/well_known.h"

namespace krafla {

namespace {

namespace ondemand = simdjson::ondemand;
using simdjson::SIMDJSON_PADDING;

constexpr std::string_view kInitialEventsEnd = "k8s.io/initial-events-end";

std::string_view TextOf(ondemand::value value) {
  std::string_view text;
  if (value.get_string().get(text)) return {};
  return text;
}

// Walks the fields of a value that should be an object; false when it is none or is broken.
template <class Fn>
bool ForEachField(ondemand::value value, Fn&& fn) {
  ondemand::object object;
  if (value.get_object().get(object)) return false;
  for (auto result : object) {
    ondemand::field field;
    std::string_view key;
    if (std::move(result).get(field) || field.unescaped_key().get(key)) return false;
    fn(key, field.value());
  }
  return true;
}

struct Metadata {
  ObjectHead head;
  std::string_view managed_fields;  // raw JSON, until the parser is used again; empty: none
  bool initial_events_end = false;
};

template <class Fn>
void ForEachItem(ondemand::value value, Fn&& fn) {
  ondemand::array list;
  if (value.get_array().get(list)) return;
  for (auto result : list) {
    ondemand::value item;
    if (std::move(result).get(item)) return;
    fn(item);
  }
}

void ReadOwners(ondemand::value owners, ObjectHead& head) {
  ForEachItem(owners, [&](ondemand::value owner) {
    std::string_view uid;
    bool is_controller = false;
    ForEachField(owner, [&](std::string_view key, ondemand::value field) {
      if (key == "uid") uid = TextOf(field);
      if (key == "controller")
        is_controller = !field.get_bool().get(is_controller) && is_controller;
    });
    if (is_controller) head.controller_uid = uid;
  });
}

// The field managers of Volcano's controller manager: that of its name, and the one by which its
// queue controller applies a queue's state.
bool IsVolcanoController(std::string_view manager) {
  return manager == "vc-controller-manager" || manager == "queue-controller";
}

// Parses managedFields only where one of those names is part of them.
bool HasVolcanoController(std::string_view managed_fields) {
  if (managed_fields.find("vc-controller-manager") == std::string_view::npos &&
      managed_fields.find("queue-controller") == std::string_view::npos)
    return false;
  const simdjson::padded_string padded(managed_fields);
  simdjson::dom::parser parser;
  simdjson::dom::array entries;
  if (parser.parse(padded).get(entries)) return false;
  for (const simdjson::dom::element entry : entries)
    if (std::string_view name; !entry["manager"].get(name) && IsVolcanoController(name))
      return true;
  return false;
}

// `with_managers`: managedFields are long, and of most objects they say nothing.
bool ReadMetadata(ondemand::value value, bool with_managers, Metadata& meta) {
  return ForEachField(value, [&](std::string_view key, ondemand::value field) {
    if (key == "name") {
      meta.head.name = TextOf(field);
    } else if (key == "namespace") {
      meta.head.ns = TextOf(field);
    } else if (key == "uid") {
      meta.head.uid = TextOf(field);
    } else if (key == "resourceVersion") {
      meta.head.resource_version = TextOf(field);
    } else if (key == "ownerReferences") {
      ReadOwners(field, meta.head);
    } else if (with_managers && key == "managedFields") {
      ondemand::array list;
      std::string_view raw;
      if (!field.get_array().get(list) && !list.raw_json().get(raw)) meta.managed_fields = raw;
    } else if (key == "annotations") {
      ForEachField(field, [&](std::string_view name, ondemand::value text) {
        if (name == kInitialEventsEnd) meta.initial_events_end = TextOf(text) == "true";
        if (name == keys::kZoneEvictions) meta.head.memory.zone_evictions = TextOf(text);
        if (name == keys::kEvictions) meta.head.memory.evictions = TextOf(text);
        if (name == keys::kLastLoss) meta.head.memory.loss = TextOf(text);
      });
    }
  });
}

// Annotations that the manager has written, by their fields ("f:krafla.io/evictions").
std::set<std::string> AnnotationsOf(std::string_view manager, std::string_view managed_fields) {
  std::set<std::string> owned;
  const simdjson::padded_string padded(managed_fields);
  simdjson::dom::parser parser;
  simdjson::dom::array entries;
  if (parser.parse(padded).get(entries)) return owned;
  for (const simdjson::dom::element entry : entries) {
    std::string_view name;
    simdjson::dom::object annotations;
    if (entry["manager"].get(name) || name != manager ||
        entry["fieldsV1"]["f:metadata"]["f:annotations"].get(annotations))
      continue;
    for (const auto& [field, ignored] : annotations) owned.emplace(field);
  }
  return owned;
}

// What others have written under our names is taken out. managedFields keep mistakes out, such as a
// copied manifest; they are no proof, because a request may name any manager. What keeps a tenant
// from writing these annotations is deploy/admission-policy.yaml. Objects without managedFields are
// taken as they are: nothing is known of them.
void KeepOwnMemory(Metadata& meta) {
  GroupMemory& memory = meta.head.memory;
  if (memory.empty() || meta.managed_fields.empty()) return;
  const std::set<std::string> owned = AnnotationsOf(kFieldManager, meta.managed_fields);
  const auto keep = [&](std::string_view key, std::string& text) {
    if (text.empty() || owned.contains(fmt::format("f:{}", key))) return;
    text.clear();
    if (!meta.head.foreign_memory.empty()) meta.head.foreign_memory += ',';
    meta.head.foreign_memory += key;
  };
  keep(keys::kZoneEvictions, memory.zone_evictions);
  keep(keys::kEvictions, memory.evictions);
  keep(keys::kLastLoss, memory.loss);
}

}  // namespace

struct ApiTextParser::Parsers {
  ondemand::parser line;
  ondemand::parser object;
  std::string padded;

  Result<Metadata> ReadObject(const std::string& text) {
    ondemand::document document;
    ondemand::object root;
    if (object.iterate(text.data(), text.size(), text.size() + SIMDJSON_PADDING).get(document) ||
        document.get_object().get(root))
      return Fail("is no JSON object");
    Metadata meta;
    bool has_metadata = false;
    bool has_status = false;
    // Metadata comes first as a rule; only PodGroups and Queues are looked at further.
    for (auto result : root) {
      ondemand::field field;
      std::string_view key;
      if (std::move(result).get(field) || field.unescaped_key().get(key)) return Fail("is broken");
      if (key == "kind") {
        const std::string_view kind = TextOf(field.value());
        has_status = kind == "PodGroup" || kind == "Queue";
      } else if (key == "metadata") {
        if (!ReadMetadata(field.value(), has_status, meta))
          return Fail("has metadata that cannot be read");
        has_metadata = true;
        if (!has_status) break;
      } else if (key == "status" && has_status) {
        ondemand::object status;
        std::string_view raw;
        if (field.value().get_object().get(status) || status.raw_json().get(raw)) continue;
        meta.head.status = raw;
      }
    }
    if (!has_metadata) return Fail("has no metadata");
    meta.head.written_by_controllers = HasVolcanoController(meta.managed_fields);
    KeepOwnMemory(meta);
    return meta;
  }
};

ApiTextParser::ApiTextParser() : parsers_(std::make_unique<Parsers>()) {}
ApiTextParser::~ApiTextParser() = default;

std::string Padded(std::string_view json) {
  std::string text;
  text.reserve(json.size() + SIMDJSON_PADDING);
  text = json;
  return text;
}

Result<WatchLine> ApiTextParser::ParseWatchLine(std::string_view line) {
  std::string& padded = parsers_->padded;
  padded.reserve(line.size() + SIMDJSON_PADDING);
  padded = line;
  ondemand::document document;
  ondemand::object root;
  if (parsers_->line.iterate(padded.data(), padded.size(), padded.capacity()).get(document) ||
      document.get_object().get(root))
    return Fail("a line of the watch is no JSON object");
  std::string_view type;
  WatchLine event;
  bool has_object = false;
  for (auto result : root) {
    ondemand::field field;
    std::string_view key;
    if (std::move(result).get(field) || field.unescaped_key().get(key))
      return Fail("a line of the watch is broken");
    if (key == "type") {
      type = TextOf(field.value());
    } else if (key == "object") {
      ondemand::object object;
      std::string_view raw;
      if (field.value().get_object().get(object)) continue;  // an ERROR in a foreign form
      if (object.raw_json().get(raw)) return Fail("the object of an event is broken");
      event.object = Padded(raw);
      has_object = true;
    }
  }
  using Word = std::pair<std::string_view, WatchEventType>;
  constexpr std::array kWords = {
      Word{"ADDED", WatchEventType::kAdded}, Word{"MODIFIED", WatchEventType::kModified},
      Word{"DELETED", WatchEventType::kDeleted}, Word{"BOOKMARK", WatchEventType::kBookmark},
      Word{"ERROR", WatchEventType::kError}};
  bool known = false;
  for (const auto& [word, value] : kWords) {
    if (word != type) continue;
    event.type = value;
    known = true;
  }
  if (!known) return Fail(fmt::format("an event of the unknown type {}", Quoted(type)));
  if (!has_object && event.type == WatchEventType::kError) {
    event.error_message = "an ERROR event without a Status";
    return event;
  }
  if (!has_object) return Fail("an event without object");
  if (event.type == WatchEventType::kError) {
    event.error_message = MessageOf(event.object);
    ondemand::document status;
    int64_t code = 0;
    if (!parsers_->object
             .iterate(event.object.data(), event.object.size(),
                      event.object.size() + SIMDJSON_PADDING)
             .get(status) &&
        !status["code"].get_int64().get(code))
      event.error_code = static_cast<int>(code);
    return event;
  }
  Result<Metadata> meta = parsers_->ReadObject(event.object);
  if (!meta) return Fail("the object of an event " + meta.error().message);
  event.head = std::move(meta->head);
  event.initial_events_end = meta->initial_events_end;
  // A watch goes on from the last version, and an object is known by its name.
  if (event.type != WatchEventType::kBookmark && event.head.name.empty())
    return Fail("the object of an event has no metadata.name");
  if (event.head.resource_version.empty())
    return Fail("the object of an event has no metadata.resourceVersion");
  return event;
}

Result<ObjectHead> ApiTextParser::ParseHead(const std::string& padded_object) {
  Result<Metadata> meta = parsers_->ReadObject(padded_object);
  if (!meta) return Fail(meta.error().message);
  return std::move(meta->head);
}

Result<ApiTextParser::ListPage> ApiTextParser::ParseList(
    const std::string& body,
    const std::function<void(std::string object, ObjectHead head)>& on_object) {
  const std::string padded = Padded(body);
  ListPage page;
  {
    ondemand::document document;
    ondemand::object root;
    if (parsers_->line.iterate(padded.data(), padded.size(), padded.size() + SIMDJSON_PADDING)
            .get(document) ||
        document.get_object().get(root))
      return Fail("the list is not a JSON object");
    // Anything else that has metadata would count as an empty list, and every object as deleted.
    ondemand::value kind;
    if (root.find_field_unordered("kind").get(kind) || !TextOf(kind).ends_with("List"))
      return Fail("expected an object whose kind ends with List");
    ondemand::value metadata;
    if (root.find_field_unordered("metadata").get(metadata) ||
        !ForEachField(metadata, [&](std::string_view key, ondemand::value field) {
          if (key == "resourceVersion") page.resource_version = TextOf(field);
          if (key == "continue") page.continue_token = TextOf(field);
        }))
      return Fail("the list has no metadata that can be read");
    if (page.resource_version.empty()) return Fail("the list has no metadata.resourceVersion");
    ondemand::value items;
    if (root.find_field_unordered("items").get(items)) return Fail("the list has no items");
    bool no_items = false;
    if (!items.is_null().get(no_items) && !no_items) {
      ondemand::array array;
      size_t count = 0;
      if (items.get_array().get(array) || array.count_elements().get(count))
        return Fail("the items of the list are cut off or are not an array");
    }
  }
  Diagnostics problems;
  ReadObjectsFromText(
      body, "list",
      [&](const ObjectText& text) {
        std::string object = Padded(text.json);
        Result<ObjectHead> head = ParseHead(object);
        // An object without a name cannot be followed; no API server sends one.
        if (head && !head->name.empty()) return on_object(std::move(object), std::move(*head));
        ++page.unnamed;
      },
      problems);
  if (problems.HasErrors()) return Fail(ToString(problems.items().front()));
  return page;
}

namespace {

// On one line, and no longer than a line of a log should be.
std::string OneLine(std::string_view text) {
  constexpr size_t kMost = 500;
  std::string line;
  for (const char c : text.substr(0, kMost))
    line.push_back(static_cast<unsigned char>(c) < 0x20 || c == 0x7f ? ' ' : c);
  if (text.size() > kMost) line += "…";
  return line;
}

}  // namespace

std::string MessageOf(std::string_view body) {
  const simdjson::padded_string padded(body);
  ondemand::parser parser;
  ondemand::document document;
  std::string_view message;
  if (!parser.iterate(padded).get(document) && !document["message"].get_string().get(message))
    return OneLine(message);
  return OneLine(body);
}

}  // namespace krafla
