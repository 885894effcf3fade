#include "manifest/first_places.h"

#include <fmt/format.h>
#include <simdjson.h>

#include <string_view>

#include "base/did_you_mean.h"
#include "manifest/object_reader.h"

namespace krafla {

namespace {

bool IsDuplicate(const Diagnostic& problem) {
  return problem.message.starts_with(kDuplicateMessage);
}

// Looks for objects by the titles they have in messages: "Pod default/web-0", "Node n1".
class FirstPlaces {
 public:
  void Want(const std::string& object) { places_.try_emplace(object); }
  bool Wanted() const { return !places_.empty(); }

  void Look(const ObjectText& text) {
    reader_.Start(text.json);
    simdjson::ondemand::document document;
    JsonObject root;
    if (parser_
            .iterate(text.json.data(), text.json.size(),
                     text.json.size() + simdjson::SIMDJSON_PADDING)
            .get(document) ||
        document.get_object().get(root))
      return;
    std::string_view kind;
    std::string_view name;
    std::string_view ns = "default";
    reader_.ForEachField(root, [&](std::string_view key, JsonValue& value) {
      if (key == "kind") kind = reader_.Text(value);
      if (key != "metadata") return;
      reader_.ForEachField(value, [&](std::string_view part, JsonValue& field) {
        if (part == "name") name = reader_.Text(field);
        if (part == "namespace" && !ObjectReader::IsNull(field)) ns = reader_.Text(field);
      });
    });
    for (const std::string& title : {fmt::format("{} {}/{}", kind, Printable(ns), Printable(name)),
                                     fmt::format("{} {}", kind, Printable(name))})
      if (const auto it = places_.find(title); it != places_.end() && it->second.empty())
        it->second = Place(text);
  }

  const std::string& Find(const std::string& object) const { return places_.at(object); }

 private:
  static std::string Place(const ObjectText& text) {
    const Location at = text.locate ? text.locate(0) : Location{};
    return fmt::format("{}:{}:{}", text.file, at.line, at.column);
  }

  std::map<std::string, std::string> places_;
  ObjectReader reader_;
  simdjson::ondemand::parser parser_;
};

}  // namespace

void AddWithFirstPlaces(const Diagnostics& problems, const ReadAgain& read_again, Diagnostics& to) {
  FirstPlaces places;
  for (const Diagnostic& problem : problems.items())
    if (IsDuplicate(problem)) places.Want(problem.object);
  if (places.Wanted()) {
    Diagnostics said_before;
    read_again([&](const ObjectText& text) { places.Look(text); }, said_before);
  }
  for (Diagnostic problem : problems.items()) {
    if (IsDuplicate(problem))
      if (const std::string& place = places.Find(problem.object); !place.empty())
        problem.message.insert(kDuplicateMessage.size(), ", at " + place);
    to.Add(std::move(problem));
  }
}

}  // namespace krafla
