// JSON text that is being written, and where in the source file its keys and values came from.
#pragma once

#include <cstddef>
#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "base/diagnostics.h"
#include "manifest/json_string.h"

namespace krafla {

class PositionedJson {
 public:
  const std::string& text() const { return text_; }
  size_t size() const { return text_.size(); }
  // What it takes in memory.
  size_t weight() const { return text_.size() + positions_.size() * sizeof(Position); }

  void Clear();
  // What is appended next came from there.
  void Mark(Location at);
  void Append(char c) { text_ += c; }
  void Append(std::string_view text) { text_ += text; }
  // As a JSON string. `text` must be UTF-8.
  void AppendString(std::string_view text) { AppendJsonString(text_, text); }
  // [begin, end) of `from` with its positions, except the first: that of `begin` itself, which the
  // caller marks.
  void AppendValue(const PositionedJson& from, size_t begin, size_t end);
  // The same with all positions.
  void AppendSlice(const PositionedJson& from, size_t begin, size_t end);

  // The tail that starts at `begin`, as a text of its own.
  PositionedJson Copy(size_t begin) const;
  size_t WeightFrom(size_t begin) const;
  void Truncate(size_t size);
  // Makes sure that `bytes` behind the end can be read.
  void Pad(size_t bytes);

  // The source of the key or value that holds the byte at `offset`.
  Location Locate(size_t offset) const;

 private:
  struct Position {
    uint32_t offset;
    uint32_t line;
    uint32_t column;
  };

  // The index of the first position at or behind `offset`.
  size_t FirstFrom(size_t offset) const;
  void AppendPositions(const PositionedJson& from, size_t first, size_t begin, size_t end);

  std::string text_;
  std::vector<Position> positions_;  // by offset
};

}  // namespace krafla
