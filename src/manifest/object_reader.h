// One API object while it is read: typed values out of its JSON, and a list of what is wrong with
// it.
//
// A value that is null counts as absent everywhere, as in Kubernetes. Reading never stops at a
// wrong value: the problem is noted, a default is given back, and the rest is read, so that the
// user sees all problems at once. Texts that are given out live as long as the JSON and the
// parser's present document.
#pragma once

#include <cstdint>
#include <cstring>
#include <limits>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include <simdjson.h>

#include "base/diagnostics.h"
#include "base/timestamp.h"
#include "manifest/object_likeness.h"
#include "model/quantity.h"

namespace krafla {

using JsonValue = simdjson::ondemand::value;
using JsonObject = simdjson::ondemand::object;

// A key of an object. Compared with one that is written down here it costs no call: that is what
// reading does most.
struct JsonKey : std::string_view {
  using std::string_view::string_view;
  explicit JsonKey(std::string_view key) : std::string_view(key) {}
  template <size_t N>
  friend bool operator==(JsonKey key, const char (&word)[N]) {
    return key.size() == N - 1 && std::memcmp(key.data(), word, N - 1) == 0;
  }
};

struct ObjectProblem {
  Severity severity = Severity::kError;
  size_t offset = 0;  // into the object's JSON
  std::string field;  // given when another than the field at `offset` is meant (it is missing)
  std::string message;
};

// Where the pieces of a text were copied from. Pieces are added from left to right.
class SourceMap {
 public:
  void Clear() { pieces_.clear(); }
  void Add(size_t offset, const char* source) { pieces_.emplace_back(offset, source); }
  // Forgets the pieces from `offset` on: that text was taken back.
  void Cut(size_t offset) {
    while (!pieces_.empty() && pieces_.back().first >= offset) pieces_.pop_back();
  }
  // The source of the byte at `offset`; `otherwise` for text that was not copied.
  const char* Find(size_t offset, const char* otherwise) const;

 private:
  std::vector<std::pair<size_t, const char*>> pieces_;
};

// What to do about a word that nobody knows: a key of a spec, a phase.
enum class OddWords : uint8_t {
  kRefused,     // it is an error
  kNamed,       // a warning; the object is read as if the word were not there
  kPassedOver,  // nothing: an API server has accepted it, or somebody else looks for them
};

class ObjectReader {
 public:
  void SetOddWords(OddWords odd_words) { odd_words_ = odd_words; }
  void Start(std::string_view json);
  // From here to the next call values come from `text`, which was pieced together from the object's
  // JSON.
  void ReadCopy(std::string_view text, const SourceMap& sources);
  void EndCopy() { sources_ = nullptr; }
  // Who wants to know which parts of the text may be others; null: nobody.
  void NoteInto(ObjectLikeness* likeness) { likeness_ = likeness; }
  void NoteText(ObjectLikeness::Part part, std::string_view text) {
    if (likeness_ != nullptr) likeness_->NoteText(part, text);
  }
  // Nothing that is read depends on this value, which is not looked at afterwards.
  void PassOver(JsonValue& value) {
    if (likeness_ != nullptr) likeness_->NotePassedOver(Raw(value));
  }
  void PassOver(std::string_view raw) {
    if (likeness_ != nullptr) likeness_->NotePassedOver(raw);
  }

  std::string_view json() const { return json_; }
  const std::vector<ObjectProblem>& problems() const { return problems_; }
  bool HasErrors() const { return errors_ > 0; }
  bool malformed() const { return malformed_; }  // nothing more can be read
  int errors() const { return errors_; }

  void Wrong(const char* at, std::string message) {
    Note(Severity::kError, at, {}, std::move(message));
  }
  void Wrong(JsonValue& at, std::string message) { Wrong(At(at), std::move(message)); }
  // About a field that is not there, or not at a place that can be shown.
  void WrongField(std::string field, std::string message) {
    Note(Severity::kError, json_.data(), std::move(field), std::move(message));
  }
  void Warn(const char* at, std::string message) {
    Note(Severity::kWarning, at, {}, std::move(message));
  }
  // A word that is not among those known at its place, with the nearest of them. `what`: "key".
  void OddWord(const char* at, std::string_view what, std::string_view word,
               std::span<const std::string_view> known);
  // "expected text, got a list"
  void WrongType(JsonValue& value, std::string_view expected);
  void Malformed(simdjson::error_code error);

  // Where the value begins; good before the value is read.
  static const char* At(JsonValue& value) { return value.raw_json_token().data(); }
  // The value's first token: all of a string, number or word, only the bracket of a list or object.
  static std::string_view Token(JsonValue& value) { return TrimEnd(value.raw_json_token()); }
  static bool IsNull(JsonValue& value) { return *At(value) == 'n' && Token(value) == "null"; }
  // The bytes of the whole value.
  std::string_view Raw(JsonValue& value);

  // Calls f(JsonKey key, JsonValue& value).
  template <class F>
  void ForEachField(JsonObject object, F&& f);
  template <class F>
  void ForEachField(JsonValue& value, F&& f);
  // The same until f returns false.
  template <class F>
  void WhileFields(JsonObject object, F&& f);
  // Calls f(JsonValue& item).
  template <class F>
  void ForEachItem(JsonValue& value, F&& f);

  std::string_view Text(JsonValue& value);
  // Text, and an error when it is empty or null.
  std::string_view TextNotEmpty(JsonValue& value);
  // Nothing for null and for what is wrong.
  std::optional<int64_t> WholeNumber(JsonValue& value, int64_t least, int64_t most);
  std::optional<int32_t> Int32(JsonValue& value,
                               int32_t least = std::numeric_limits<int32_t>::min(),
                               int32_t most = std::numeric_limits<int32_t>::max());
  bool Bool(JsonValue& value, bool otherwise = false);
  // `written`: where to put its text, or nothing where there is no instant.
  Timestamp Time(JsonValue& value, std::string_view* written = nullptr);
  // The same of a text that stands for itself; nothing when it is not an instant.
  static std::optional<Timestamp> FindTime(std::string_view text);
  // Zero for null. Negative amounts are errors.
  Quantity Amount(JsonValue& value);
  // One of a few words; the empty text and null are `otherwise`.
  template <class E>
  E Word(JsonValue& value, std::span<const std::pair<std::string_view, E>> words, E otherwise);

 private:
  static std::string_view TrimEnd(std::string_view text) {
    while (!text.empty() && static_cast<unsigned char>(text.back()) <= ' ') text.remove_suffix(1);
    return text;
  }
  std::string_view Key(simdjson::ondemand::field& field);
  void Note(Severity severity, const char* at, std::string field, std::string message);
  void NotText(JsonValue& value, bool is_word);
  void UnknownWord(const char* at, std::string_view word, std::span<const std::string_view> known);

  std::string_view json_;
  std::string_view copy_;
  const SourceMap* sources_ = nullptr;  // of copy_, while that is read
  ObjectLikeness* likeness_ = nullptr;
  std::vector<ObjectProblem> problems_;
  OddWords odd_words_ = OddWords::kRefused;
  int errors_ = 0;
  bool malformed_ = false;
};

template <class F>
void ObjectReader::WhileFields(JsonObject object, F&& f) {
  for (auto result : object) {
    simdjson::ondemand::field field;
    if (const auto error = std::move(result).get(field)) return Malformed(error);
    const JsonKey key(Key(field));
    JsonValue value = field.value();
    if (!f(key, value) || malformed_) return;
  }
}

template <class F>
void ObjectReader::ForEachField(JsonObject object, F&& f) {
  WhileFields(object, [&](JsonKey key, JsonValue& value) {
    f(key, value);
    return true;
  });
}

template <class F>
void ObjectReader::ForEachField(JsonValue& value, F&& f) {
  if (IsNull(value)) return;
  JsonObject object;
  if (value.get_object().get(object)) return WrongType(value, "an object");
  ForEachField(object, std::forward<F>(f));
}

template <class F>
void ObjectReader::ForEachItem(JsonValue& value, F&& f) {
  if (IsNull(value)) return;
  simdjson::ondemand::array list;
  if (value.get_array().get(list)) return WrongType(value, "a list");
  for (auto result : list) {
    JsonValue item;
    if (const auto error = std::move(result).get(item)) return Malformed(error);
    f(item);
    if (malformed_) return;
  }
}

template <class E>
E ObjectReader::Word(JsonValue& value, std::span<const std::pair<std::string_view, E>> words,
                     E otherwise) {
  const char* at = At(value);
  const size_t problems_before = problems_.size();
  const std::string_view text = Text(value);
  if (text.empty() || problems_.size() != problems_before) return otherwise;
  for (const auto& [word, meaning] : words)
    if (word == text) return meaning;
  std::vector<std::string_view> known;
  for (const auto& entry : words) known.push_back(entry.first);
  UnknownWord(at, text, known);
  return otherwise;
}

}  // namespace krafla
