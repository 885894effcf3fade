// Writes JSON text, compact, in the order it is told. Numbers that are whole are written without a
// point. Control characters are escaped (those of C1 and DEL too, which JSON would allow); bytes
// that are not UTF-8 become U+FFFD.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

namespace krafla {

class JsonWriter {
 public:
  JsonWriter& BeginObject();
  JsonWriter& EndObject();
  JsonWriter& BeginArray();
  JsonWriter& EndArray();
  JsonWriter& Key(std::string_view key);
  JsonWriter& String(std::string_view text);
  JsonWriter& Number(double value);
  JsonWriter& Integer(int64_t value);
  JsonWriter& Bool(bool value);
  JsonWriter& Null();
  // A value that is JSON already.
  JsonWriter& Raw(std::string_view json);

  const std::string& text() const { return text_; }

 private:
  void Separate();
  void Quote(std::string_view text);

  std::string text_;
  std::vector<bool> has_items_;
  bool after_key_ = false;
};

}  // namespace krafla
