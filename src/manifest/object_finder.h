// The values in a JSON text that may be API objects: those of the text itself, and those in their
// `items`, to any depth. Which of the latter count is known only when all of a List was seen, since
// kubectl prints its kind behind the items.
#pragma once

#include <cstddef>
#include <cstdint>
#include <string_view>
#include <vector>

#include "manifest/json_scanner.h"

namespace krafla {

// Offsets in 32 bits: there may be as many of these as the text has commas. InputText is no larger.
struct TextSlice {
  uint32_t begin = 0;
  uint32_t size = 0;

  std::string_view Of(std::string_view text) const { return text.substr(begin, size); }
};

struct FoundObject {
  TextSlice text;
  // The index behind the last of those found in its `items`, which follow it.
  uint32_t behind_items = 0;
  TextSlice kind;  // between the quotes, as written; empty when absent
  TextSlice api_version;
  uint32_t not_a_list_at = 0;  // where `items` is something else than a list
  bool is_object = false;      // and not a number, say
  bool has_items = false;      // null counts: Go prints an empty list so
};

// Takes one JSON value of the text after the other.
class ObjectFinder {
 public:
  explicit ObjectFinder(std::string_view text) : text_(text), scanner_(text) {}

  bool AtEnd() { return scanner_.AtEnd(); }
  // Whether what comes next may be the line that separates documents of YAML.
  bool AtSeparator() { return scanner_.Peek() == '-'; }
  // Takes the next value; false after a problem.
  bool Next();
  std::string_view value() const { return text_.substr(begin_, scanner_.offset() - begin_); }
  const std::vector<FoundObject>& found() const { return found_; }
  const JsonProblem& problem() const { return scanner_.problem(); }
  // After a problem: where the innermost object begins that has no end; nothing when there is none.
  const FoundObject* FindOpen() const;

 private:
  bool ScanList();
  bool ScanValue();
  bool ScanFields(size_t index);
  bool ScanField(std::string_view key, size_t index);
  bool TakeText(TextSlice& slice);
  uint32_t Offset() const { return static_cast<uint32_t>(scanner_.offset()); }

  std::string_view text_;
  JsonScanner scanner_;
  size_t begin_ = 0;
  std::vector<FoundObject> found_;
};

}  // namespace krafla
