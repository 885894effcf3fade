// A strict reader of JSON text that keeps nothing: it steps over values, checks all of them on the
// way, and says where and why a text is not JSON.
//
// Objects are decoded with simdjson, but not found with it: it would first index the whole text
// (for a List of 100 MB that is half as much again), it checks only what is looked at, so that a
// missing bracket shows up objects later, and it does not tell the place.
#pragma once

#include <cstddef>
#include <string>
#include <string_view>

namespace krafla {

struct JsonProblem {
  size_t offset = 0;
  bool ended = false;  // the text stops in the middle of a value
  std::string message;
};

class JsonScanner {
 public:
  static constexpr int kMaxDepth = 200;

  // `text` must outlive the scanner and be followed by a zero byte.
  explicit JsonScanner(std::string_view text)
      : begin_(text.data()), end_(text.data() + text.size()), next_(begin_) {}

  size_t offset() const { return static_cast<size_t>(next_ - begin_); }
  bool failed() const { return !problem_.message.empty(); }
  const JsonProblem& problem() const { return problem_; }

  // The next character that is not blank, without taking it; 0 at the end.
  char Peek();
  bool AtEnd() {
    Peek();
    return next_ == end_;
  }

  // Everything below returns false, and stays where it is, after a problem.

  // Takes one value of whatever kind.
  bool SkipValue();
  // Takes one string; `inside` is what stands between the quotes, escapes as they are.
  bool TakeString(std::string_view& inside);

  // Takes the bracket that opens an object or a list. NextKey and NextItem then move to each value
  // of it, which is to be taken before the next call; they return false and take the closing
  // bracket when there is none left.
  bool EnterObject() { return Enter('{'); }
  bool EnterList() { return Enter('['); }
  bool NextKey(std::string_view& key);
  bool NextItem();

 private:
  bool Enter(char bracket);
  bool Next(char closing, const char* expected);
  bool Fail(const char* at, std::string message);
  bool FailExpected(const char* at, const char* expected);
  const char* PassBlank(const char* p) const;
  const char* PassMuchBlank(const char* p) const;
  // These return null after a problem.
  const char* PassString(const char* p);
  const char* PassEscape(const char* p);
  const char* PassUnicodeEscape(const char* p);
  const char* PassNumber(const char* p);
  const char* PassWord(const char* p);
  const char* PassScalar(const char* p);
  const char* PassKey(const char* p);

  const char* begin_;
  const char* end_;
  const char* next_;
  int depth_ = 0;         // of what was entered and not left
  bool entered_ = false;  // the bracket that opens was the last thing taken
  JsonProblem problem_;
};

// The first byte that is not UTF-8; text.size() when all is well.
size_t FindNotUtf8(std::string_view text);

}  // namespace krafla
