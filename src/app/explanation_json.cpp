#include "app/explanation_json.h"

#include <cctype>

#include "base/json_writer.h"

namespace krafla {

namespace {

// "let go" -> "letGo"; a column without a heading is its note.
std::string KeyOf(std::string_view column) {
  std::string key;
  bool upper = false;
  for (const char ch : column) {
    if (std::isalnum(static_cast<unsigned char>(ch)) == 0) {
      upper = !key.empty();
      continue;
    }
    key += upper ? static_cast<char>(std::toupper(static_cast<unsigned char>(ch))) : ch;
    upper = false;
  }
  return key.empty() ? "note" : key;
}

void WriteTables(JsonWriter& json, const std::vector<ExplanationTable>& tables) {
  json.Key("tables").BeginObject();
  for (const ExplanationTable& table : tables) {
    json.Key(table.name).BeginObject();
    json.Key("rows").BeginArray();
    for (const std::vector<Cell>& row : table.rows) {
      json.BeginObject();
      for (size_t i = 0; i < row.size(); ++i) {
        json.Key(KeyOf(table.columns[i]));
        if (row[i].number) {
          json.Number(*row[i].number);
        } else {
          json.String(row[i].text);
        }
      }
      json.EndObject();
    }
    json.EndArray();
    json.Key("leftOut").Integer(static_cast<int64_t>(table.left_out));
    json.EndObject();
  }
  json.EndObject();
}

void WriteTexts(JsonWriter& json, std::string_view key, const std::vector<std::string>& texts) {
  json.Key(key).BeginArray();
  for (const std::string& text : texts) json.String(text);
  json.EndArray();
}

void WritePlaces(JsonWriter& json, std::string_view key,
                 const std::vector<std::pair<std::string, std::string>>& places) {
  json.Key(key).BeginObject();
  for (const auto& [pod, node] : places) json.Key(pod).String(node);
  json.EndObject();
}

void WriteGate(JsonWriter& json, const Gate& gate) {
  json.BeginObject();
  json.Key("gate").String(gate.name);
  json.Key("action").String(gate.action);
  json.Key("verdict").String(ToString(gate.verdict));
  json.Key("text").String(gate.text);
  json.Key("numbers").BeginObject();
  for (const NamedNumber& number : gate.numbers) json.Key(number.name).Number(number.value);
  json.EndObject();
  WriteTables(json, gate.tables);
  json.EndObject();
}

void WriteFlip(JsonWriter& json, const Flip& flip) {
  json.BeginObject();
  json.Key("kind").String(flip.kind);
  json.Key("change").String(flip.change);
  WriteTexts(json, "evicts", flip.evicts);
  WritePlaces(json, "binds", flip.binds);
  WritePlaces(json, "pipelines", flip.pipelines);
  WriteTexts(json, "loses", flip.loses);
  json.Key("caution");
  if (flip.caution.empty()) {
    json.Null();
  } else {
    json.String(flip.caution);
  }
  json.EndObject();
}

}  // namespace

std::string ExplanationAsJson(const Explanation& e) {
  JsonWriter json;
  json.BeginObject();
  json.Key("kind").String(e.kind);
  json.Key("name").String(e.name);
  json.Key("answer").String(e.answer);
  WriteTexts(json, "facts", e.facts);
  json.Key("gates").BeginArray();
  for (const Gate& gate : e.gates) WriteGate(json, gate);
  json.EndArray();
  WriteTables(json, e.tables);
  json.Key("flips");
  if (e.flips) {
    json.BeginObject();
    json.Key("tried").Integer(static_cast<int64_t>(e.flips->tried));
    json.Key("notTried").Integer(static_cast<int64_t>(e.flips->left_out));
    json.Key("work").BeginArray();
    for (const Flip& flip : e.flips->flips) WriteFlip(json, flip);
    json.EndArray();
    json.Key("noHelp").BeginArray();
    for (const VainChange& change : e.flips->in_vain) {
      json.BeginObject();
      json.Key("kind").String(change.kind);
      json.Key("change").String(change.change);
      json.EndObject();
    }
    json.EndArray();
    json.EndObject();
  } else {
    json.Null();
  }
  json.EndObject();
  return json.text() + "\n";
}

}  // namespace krafla
