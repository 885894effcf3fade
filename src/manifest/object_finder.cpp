#include "manifest/object_finder.h"

namespace krafla {

bool ObjectFinder::Next() {
  found_.clear();
  // Objects are seldom shorter than this. Memory that is not written to costs nothing.
  constexpr size_t kShortObject = 256;
  found_.reserve((text_.size() - scanner_.offset()) / kShortObject + 1);
  // A list by itself is no object; what it holds counts as if it stood in the file one after the
  // other.
  const bool is_list = scanner_.Peek() == '[';
  begin_ = scanner_.offset();
  return is_list ? ScanList() : ScanValue();
}

const FoundObject* ObjectFinder::FindOpen() const {
  for (auto object = found_.rbegin(); object != found_.rend(); ++object) {
    if (object->text.size == 0 && object->text.begin < problem().offset) return &*object;
  }
  return nullptr;
}

bool ObjectFinder::ScanList() {
  scanner_.EnterList();
  while (scanner_.NextItem()) {
    if (!ScanValue()) return false;
  }
  return !scanner_.failed();
}

bool ObjectFinder::ScanValue() {
  const size_t index = found_.size();
  const bool is_object = scanner_.Peek() == '{';
  FoundObject& object = found_.emplace_back();
  object.text.begin = Offset();
  object.is_object = is_object;
  if (!(is_object ? ScanFields(index) : scanner_.SkipValue())) return false;
  found_[index].text.size = Offset() - found_[index].text.begin;
  found_[index].behind_items = static_cast<uint32_t>(found_.size());
  return true;
}

bool ObjectFinder::ScanFields(size_t index) {
  scanner_.EnterObject();
  std::string_view key;
  while (scanner_.NextKey(key)) {
    if (!ScanField(key, index)) return false;
  }
  return !scanner_.failed();
}

bool ObjectFinder::ScanField(std::string_view key, size_t index) {
  FoundObject& object = found_[index];
  const char first = scanner_.Peek();
  if (key == "kind" && first == '"') return TakeText(object.kind);
  if (key == "apiVersion" && first == '"') return TakeText(object.api_version);
  if (key == "items") {
    object.has_items = first == '[' || first == 'n';
    if (!object.has_items) object.not_a_list_at = Offset();
    if (first == '[') return ScanList();
  }
  return scanner_.SkipValue();
}

bool ObjectFinder::TakeText(TextSlice& slice) {
  std::string_view inside;
  if (!scanner_.TakeString(inside)) return false;
  slice.begin = static_cast<uint32_t>(inside.data() - text_.data());
  slice.size = static_cast<uint32_t>(inside.size());
  return true;
}

}  // namespace krafla
