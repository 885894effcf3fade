#include "manifest/positioned_json.h"

#include <algorithm>

namespace krafla {

void PositionedJson::Clear() {
  text_.clear();
  positions_.clear();
}

void PositionedJson::Mark(Location at) {
  positions_.push_back({static_cast<uint32_t>(text_.size()), static_cast<uint32_t>(at.line),
                        static_cast<uint32_t>(at.column)});
}

size_t PositionedJson::FirstFrom(size_t offset) const {
  const auto found =
      std::lower_bound(positions_.begin(), positions_.end(), offset,
                       [](const Position& position, size_t o) { return position.offset < o; });
  return static_cast<size_t>(found - positions_.begin());
}

void PositionedJson::AppendPositions(const PositionedJson& from, size_t first, size_t begin,
                                     size_t end) {
  for (size_t i = first; i < from.positions_.size() && from.positions_[i].offset < end; ++i) {
    Position position = from.positions_[i];
    position.offset = static_cast<uint32_t>(position.offset - begin + text_.size());
    positions_.push_back(position);
  }
}

void PositionedJson::AppendValue(const PositionedJson& from, size_t begin, size_t end) {
  AppendPositions(from, from.FirstFrom(begin + 1), begin, end);
  text_.append(from.text_, begin, end - begin);
}

void PositionedJson::AppendSlice(const PositionedJson& from, size_t begin, size_t end) {
  AppendPositions(from, from.FirstFrom(begin), begin, end);
  text_.append(from.text_, begin, end - begin);
}

PositionedJson PositionedJson::Copy(size_t begin) const {
  PositionedJson copy;
  copy.AppendSlice(*this, begin, text_.size());
  return copy;
}

size_t PositionedJson::WeightFrom(size_t begin) const {
  return text_.size() - begin + (positions_.size() - FirstFrom(begin)) * sizeof(Position);
}

void PositionedJson::Truncate(size_t size) {
  positions_.resize(FirstFrom(size));
  text_.resize(size);
}

void PositionedJson::Pad(size_t bytes) {
  if (text_.capacity() - text_.size() < bytes) text_.reserve(text_.size() + bytes);
}

Location PositionedJson::Locate(size_t offset) const {
  const auto behind =
      std::upper_bound(positions_.begin(), positions_.end(), offset,
                       [](size_t o, const Position& position) { return o < position.offset; });
  if (behind == positions_.begin()) return {};
  const Position& position = *(behind - 1);
  return {static_cast<int>(position.line), static_cast<int>(position.column)};
}

}  // namespace krafla
