#include "base/json_writer.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>

#include "base/escape.h"

namespace krafla {

void JsonWriter::Separate() {
  if (after_key_) {
    after_key_ = false;
    return;
  }
  if (has_items_.empty()) return;
  if (has_items_.back()) text_ += ',';
  has_items_.back() = true;
}

JsonWriter& JsonWriter::BeginObject() {
  Separate();
  text_ += '{';
  has_items_.push_back(false);
  return *this;
}

JsonWriter& JsonWriter::EndObject() {
  text_ += '}';
  has_items_.pop_back();
  return *this;
}

JsonWriter& JsonWriter::BeginArray() {
  Separate();
  text_ += '[';
  has_items_.push_back(false);
  return *this;
}

JsonWriter& JsonWriter::EndArray() {
  text_ += ']';
  has_items_.pop_back();
  return *this;
}

JsonWriter& JsonWriter::Key(std::string_view key) {
  Separate();
  Quote(key);
  text_ += ':';
  after_key_ = true;
  return *this;
}

JsonWriter& JsonWriter::String(std::string_view text) {
  Separate();
  Quote(text);
  return *this;
}

JsonWriter& JsonWriter::Number(double value) {
  Separate();
  if (!std::isfinite(value)) {
    text_ += "null";  // JSON has no word for it
  } else if (value == std::floor(value) && std::abs(value) < 9e15) {
    text_ += fmt::format("{}", static_cast<int64_t>(value));
  } else {
    text_ += fmt::format("{}", value);
  }
  return *this;
}

JsonWriter& JsonWriter::Integer(int64_t value) {
  Separate();
  text_ += fmt::format("{}", value);
  return *this;
}

JsonWriter& JsonWriter::Bool(bool value) {
  Separate();
  text_ += value ? "true" : "false";
  return *this;
}

JsonWriter& JsonWriter::Null() {
  Separate();
  text_ += "null";
  return *this;
}

JsonWriter& JsonWriter::Raw(std::string_view json) {
  Separate();
  text_ += json;
  return *this;
}

void JsonWriter::Quote(std::string_view text) {
  text_ += '"';
  for (size_t at = 0; at < text.size();) {
    const char c = text[at];
    const auto byte = static_cast<unsigned char>(c);
    if (byte >= 0x80) {
      const size_t length = Utf8LengthAt(text, at);
      if (length == 0) {
        text_ += "\\ufffd";  // JSON is UTF-8
      } else if (IsControlAt(text, at, length)) {
        text_ += fmt::format("\\u00{:02x}", static_cast<unsigned char>(text[at + 1]));
      } else {
        text_ += text.substr(at, length);
      }
      at += std::max<size_t>(1, length);
      continue;
    }
    ++at;
    switch (c) {
      case '"':
        text_ += "\\\"";
        break;
      case '\\':
        text_ += "\\\\";
        break;
      case '\n':
        text_ += "\\n";
        break;
      case '\t':
        text_ += "\\t";
        break;
      case '\r':
        text_ += "\\r";
        break;
      default:
        if (byte < 0x20 || byte == 0x7F) {
          text_ += fmt::format("\\u{:04x}", byte);
        } else {
          text_ += c;
        }
    }
  }
  text_ += '"';
}

}  // namespace krafla
