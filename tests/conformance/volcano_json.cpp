#include "conformance/volcano_json.h"

#include <sstream>

namespace krafla::volcano_tables {

Json Json::operator[](std::string_view key) const {
  if (!present() || !element_->is_object()) return {};
  simdjson::dom::element value;
  if (element_->at_key(key).get(value) != simdjson::SUCCESS) return {};
  return Json(value);
}

std::string_view Json::Text() const {
  std::string_view text;
  if (!present() || element_->get_string().get(text) != simdjson::SUCCESS) return {};
  return text;
}

double Json::Number() const {
  double number = 0;
  if (!present() || element_->get_double().get(number) != simdjson::SUCCESS) return 0;
  return number;
}

int64_t Json::Integer() const {
  int64_t number = 0;
  if (!present() || element_->get_int64().get(number) != simdjson::SUCCESS)
    return static_cast<int64_t>(Number());
  return number;
}

bool Json::Bool() const {
  bool value = false;
  if (!present() || element_->get_bool().get(value) != simdjson::SUCCESS) return false;
  return value;
}

std::vector<Json> Json::Items() const {
  std::vector<Json> items;
  simdjson::dom::array array;
  if (!present() || element_->get_array().get(array) != simdjson::SUCCESS) return items;
  for (simdjson::dom::element item : array) items.emplace_back(item);
  return items;
}

std::vector<std::pair<std::string, Json>> Json::Entries() const {
  std::vector<std::pair<std::string, Json>> entries;
  simdjson::dom::object object;
  if (!present() || element_->get_object().get(object) != simdjson::SUCCESS) return entries;
  for (const auto& [key, value] : object) entries.emplace_back(std::string(key), Json(value));
  return entries;
}

size_t Json::size() const {
  return Items().size() + Entries().size();
}

std::vector<std::string> Json::Texts() const {
  std::vector<std::string> texts;
  for (const Json& item : Items()) texts.emplace_back(item.Text());
  return texts;
}

std::string Json::Dump() const {
  if (!present()) return "null";
  std::ostringstream text;
  text << simdjson::minify(*element_);
  return text.str();
}

Result<JsonFile> JsonFile::Load(const std::filesystem::path& path) {
  JsonFile file;
  const simdjson::error_code error = file.parser_->load(path.string()).get(file.root_);
  if (error != simdjson::SUCCESS)
    return Fail(path.string() + ": " + simdjson::error_message(error));
  return file;
}

Result<JsonFile> JsonFile::Parse(std::string_view text) {
  JsonFile file;
  const simdjson::error_code error =
      file.parser_->parse(text.data(), text.size(), true).get(file.root_);
  if (error != simdjson::SUCCESS) return Fail(simdjson::error_message(error));
  return file;
}

}  // namespace krafla::volcano_tables
