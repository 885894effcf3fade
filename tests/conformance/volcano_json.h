// Recorded tables as values. What is asked of something that is not there is empty: the tables
// leave out Go's zero values, so absence means nothing special.
#pragma once

#include <simdjson.h>

#include <filesystem>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "base/result.h"

namespace krafla::volcano_tables {

// A value of a JsonFile; good as long as the file lives.
class Json {
 public:
  Json() = default;
  explicit Json(simdjson::dom::element element) : element_(element) {}

  bool present() const { return element_ && !element_->is_null(); }
  Json operator[](std::string_view key) const;

  std::string_view Text() const;
  double Number() const;
  int64_t Integer() const;
  bool Bool() const;
  bool IsText() const { return present() && element_->is_string(); }

  std::vector<Json> Items() const;
  std::vector<std::pair<std::string, Json>> Entries() const;
  size_t size() const;
  std::vector<std::string> Texts() const;

  // Compact JSON; "null" when absent.
  std::string Dump() const;

 private:
  std::optional<simdjson::dom::element> element_;
};

class JsonFile {
 public:
  static Result<JsonFile> Load(const std::filesystem::path& path);
  static Result<JsonFile> Parse(std::string_view text);

  Json root() const { return Json(root_); }

 private:
  JsonFile() : parser_(std::make_unique<simdjson::dom::parser>()) {}

  std::unique_ptr<simdjson::dom::parser> parser_;  // owns what `root_` points into
  simdjson::dom::element root_;
};

}  // namespace krafla::volcano_tables
