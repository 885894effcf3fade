#include "manifest/json_scanner.h"

#include <fmt/format.h>
#include <simdjson.h>

#ifdef __SSE2__
#include <emmintrin.h>
#endif

#include <bit>
#include <bitset>
#include <cstdint>
#include <cstring>
#include <utility>

#include "base/did_you_mean.h"

namespace krafla {

namespace {

constexpr uint64_t kOnes = 0x0101010101010101;
[[maybe_unused]] constexpr uint64_t kHighBits = 0x8080808080808080;
constexpr ptrdiff_t kWord = sizeof(uint64_t);

uint64_t LoadWord(const char* p) {
  uint64_t word;
  std::memcpy(&word, p, sizeof word);
  return word;
}

#ifdef __SSE2__
// A bit for each of 16 bytes that ends a run of ordinary characters in a string: quotes,
// backslashes, control characters.
unsigned MarkSpecial16(const char* p) {
  const __m128i bytes = _mm_loadu_si128(reinterpret_cast<const __m128i*>(p));
  const __m128i controls = _mm_set1_epi8(0x1F);
  return static_cast<unsigned>(
      _mm_movemask_epi8(_mm_or_si128(_mm_or_si128(_mm_cmpeq_epi8(bytes, _mm_set1_epi8('"')),
                                                  _mm_cmpeq_epi8(bytes, _mm_set1_epi8('\\'))),
                                     _mm_cmpeq_epi8(_mm_max_epu8(bytes, controls), controls))));
}
#else
// The same for 8 bytes, at their highest bits. Only the lowest mark is exact (borrows may set
// others above it).
uint64_t MarkSpecial(uint64_t word) {
  const uint64_t quote = word ^ (kOnes * '"');
  const uint64_t backslash = word ^ (kOnes * '\\');
  return (((quote - kOnes) & ~quote) | ((backslash - kOnes) & ~backslash) |
          ((word - kOnes * 0x20) & ~word)) &
         kHighBits;
}
#endif

bool IsSpecial(char c) {
  return c == '"' || c == '\\' || static_cast<unsigned char>(c) < 0x20;
}

bool IsDigit(char c) {
  return c >= '0' && c <= '9';
}

int HexValue(char c) {
  if (IsDigit(c)) return c - '0';
  if (c >= 'a' && c <= 'f') return c - 'a' + 10;
  if (c >= 'A' && c <= 'F') return c - 'A' + 10;
  return -1;
}

// How many bytes the character at the start of `text` has; 0 when it is not UTF-8.
size_t CharacterLength(std::string_view text) {
  const auto byte = [&](size_t i) -> unsigned {
    return i < text.size() ? static_cast<unsigned char>(text[i]) : 0;
  };
  const auto follows = [&](size_t i) { return (byte(i) & 0xC0) == 0x80; };
  const unsigned first = byte(0);
  if (first < 0x80) return 1;
  if (first >= 0xC2 && first < 0xE0) return follows(1) ? 2 : 0;
  if (first >= 0xE0 && first < 0xF0) {
    const unsigned least = first == 0xE0 ? 0xA0 : 0x80;
    const unsigned most = first == 0xED ? 0x9F : 0xBF;  // no surrogates
    return byte(1) >= least && byte(1) <= most && follows(2) ? 3 : 0;
  }
  if (first >= 0xF0 && first < 0xF5) {
    const unsigned least = first == 0xF0 ? 0x90 : 0x80;
    const unsigned most = first == 0xF4 ? 0x8F : 0xBF;
    return byte(1) >= least && byte(1) <= most && follows(2) && follows(3) ? 4 : 0;
  }
  return 0;
}

// The character at the start of `text`, for messages.
std::string ShowCharacter(std::string_view text) {
  const size_t length = CharacterLength(text);
  if (length == 0) return fmt::format("the byte 0x{:02X}", static_cast<unsigned char>(text[0]));
  return fmt::format("'{}'", Printable(text.substr(0, length)));
}

}  // namespace

bool JsonScanner::Fail(const char* at, std::string message) {
  if (failed()) return false;
  next_ = at;
  problem_ = {static_cast<size_t>(at - begin_), at >= end_, std::move(message)};
  return false;
}

bool JsonScanner::FailExpected(const char* at, const char* expected) {
  if (at >= end_) return Fail(at, fmt::format("expected {}, but the text ends here", expected));
  return Fail(at, fmt::format("expected {}, got {}", expected,
                              ShowCharacter({at, static_cast<size_t>(end_ - at)})));
}

inline const char* JsonScanner::PassBlank(const char* p) const {
  // Mostly there is none, or one.
  if (static_cast<unsigned char>(*p) > ' ') return p;
  if (*p == ' ' && static_cast<unsigned char>(p[1]) > ' ') return p + 1;
  return PassMuchBlank(p);
}

const char* JsonScanner::PassMuchBlank(const char* p) const {
  for (;;) {
    // The zero behind the text ends the loop too.
    if (static_cast<unsigned char>(*p) > ' ') return p;
    if (*p == '\n') {
      ++p;
      // Indentation, the better part of what kubectl prints.
      while (end_ - p >= kWord && LoadWord(p) == kOnes * ' ') p += kWord;
    } else if (*p == ' ' || *p == '\r' || *p == '\t') {
      ++p;
    } else {
      return p;
    }
  }
}

// `p` is behind the quote that opens.
inline const char* JsonScanner::PassString(const char* p) {
  for (;;) {
#ifdef __SSE2__
    unsigned special = 0;
    while (end_ - p >= 16 && (special = MarkSpecial16(p)) == 0) p += 16;
    if (special != 0) [[likely]] {
      p += std::countr_zero(special);
      if (*p == '"') [[likely]]
        return p + 1;
    }
#else
    if constexpr (std::endian::native == std::endian::little) {
      uint64_t special = 0;
      while (end_ - p >= kWord && (special = MarkSpecial(LoadWord(p))) == 0) p += kWord;
      if (special != 0) p += std::countr_zero(special) / 8;
    }
#endif
    while (p < end_ && !IsSpecial(*p)) ++p;
    if (*p == '"' && p < end_) [[likely]]
      return p + 1;
    if (*p != '\\' || p >= end_) {
      if (p >= end_) {
        Fail(end_, "expected the quote that closes the string, but the text ends here");
      } else {
        Fail(p, fmt::format("the character {} must be escaped in a string; is the closing quote "
                            "missing?",
                            ShowCharacter({p, 1})));
      }
      return nullptr;
    }
    p = PassEscape(p);
    if (p == nullptr) return nullptr;
  }
}

const char* JsonScanner::PassEscape(const char* p) {
  switch (p[1]) {
    case '"':
    case '\\':
    case '/':
    case 'b':
    case 'f':
    case 'n':
    case 'r':
    case 't':
      return p + 2;
    case 'u':
      return PassUnicodeEscape(p);
    default:
      FailExpected(p + 1, "an escape such as \\n or \\\"");
      return nullptr;
  }
}

const char* JsonScanner::PassUnicodeEscape(const char* p) {
  const auto read = [&](const char* from) {
    int value = 0;
    for (int i = 2; i < 6; ++i) {
      const int digit = end_ - from > i ? HexValue(from[i]) : -1;
      if (digit < 0) return -1;
      value = value * 16 + digit;
    }
    return value;
  };
  const int first = read(p);
  if (first < 0) {
    Fail(end_ - p < 6 ? end_ : p, "expected four hexadecimal digits behind \\u");
    return nullptr;
  }
  if (first < 0xD800 || first > 0xDFFF) return p + 6;
  const int second =
      first < 0xDC00 && end_ - p > 7 && p[6] == '\\' && p[7] == 'u' ? read(p + 6) : -1;
  if (second < 0xDC00 || second > 0xDFFF) {
    const bool cut_off =
        end_ - p < 12 && std::memchr(p, '"', static_cast<size_t>(end_ - p)) == nullptr;
    Fail(cut_off ? end_ : p,
         fmt::format("the escape {} is one half of a character without the other",
                     std::string_view(p, 6)));
    return nullptr;
  }
  return p + 12;
}

inline const char* JsonScanner::PassNumber(const char* p) {
  const auto digits = [](const char* from) {
    while (IsDigit(*from)) ++from;
    return from;
  };
  const char* const start = p;
  if (*p == '-') ++p;
  const char* after = digits(p);
  bool wrong = after == p || (*p == '0' && after - p > 1);
  if (!wrong && *after == '.') {
    p = after + 1;
    after = digits(p);
    wrong = after == p;
  }
  if (!wrong && (*after == 'e' || *after == 'E')) {
    p = after + 1;
    if (*p == '+' || *p == '-') ++p;
    after = digits(p);
    wrong = after == p;
  }
  if (!wrong) return after;
  if (after >= end_) {
    Fail(end_, "expected the rest of a number, but the text ends here");
  } else {
    Fail(start, "this is not a number of JSON");
  }
  return nullptr;
}

const char* JsonScanner::PassWord(const char* p) {
  const std::string_view rest(p, static_cast<size_t>(end_ - p));
  for (const std::string_view word : {"true", "false", "null"}) {
    if (rest.starts_with(word)) return p + word.size();
    if (!rest.empty() && word.starts_with(rest)) {
      Fail(end_, fmt::format("expected {}, but the text ends here", word));
      return nullptr;
    }
  }
  FailExpected(p, "a value");
  return nullptr;
}

inline const char* JsonScanner::PassScalar(const char* p) {
  if (*p == '"') return PassString(p + 1);
  if (*p == '-' || IsDigit(*p)) return PassNumber(p);
  return PassWord(p);
}

// From a key to the first character of its value.
inline const char* JsonScanner::PassKey(const char* p) {
  if (*p != '"') {
    FailExpected(p, "a key in double quotes");
    return nullptr;
  }
  p = PassString(p + 1);
  if (p == nullptr) return nullptr;
  p = PassBlank(p);
  if (*p != ':') {
    FailExpected(p, "':' after the key");
    return nullptr;
  }
  return PassBlank(p + 1);
}

bool JsonScanner::SkipValue() {
  if (failed()) return false;
  std::bitset<kMaxDepth> is_object;
  int depth = depth_;
  const char* p = PassBlank(next_);
  for (;;) {
    // A value begins at p.
    const char bracket = *p;
    if (bracket == '{' || bracket == '[') {
      if (depth == kMaxDepth)
        return Fail(p, fmt::format("nested deeper than {} levels", kMaxDepth));
      is_object[static_cast<size_t>(depth++)] = bracket == '{';
      p = PassBlank(p + 1);
      if (*p != (bracket == '{' ? '}' : ']')) {
        if (bracket == '{' && (p = PassKey(p)) == nullptr) return false;
        continue;
      }
    } else {
      p = PassScalar(p);
      if (p == nullptr) return false;
      if (depth > depth_) p = PassBlank(p);
    }
    // A value has ended; p is behind it, or at the bracket that closes it and whatever it ends.
    for (;;) {
      if (depth == depth_) {
        next_ = p;
        return true;
      }
      const bool in_object = is_object[static_cast<size_t>(depth - 1)];
      if (*p == ',') {
        p = PassBlank(p + 1);
        if (in_object && (p = PassKey(p)) == nullptr) return false;
        break;
      }
      if (*p != (in_object ? '}' : ']')) {
        return FailExpected(
            p, in_object ? "',' or '}' after the value" : "',' or ']' after the value");
      }
      --depth;
      ++p;
      if (depth > depth_) p = PassBlank(p);
    }
  }
}

char JsonScanner::Peek() {
  next_ = PassBlank(next_);
  return *next_;
}

bool JsonScanner::TakeString(std::string_view& inside) {
  if (failed()) return false;
  if (Peek() != '"') return FailExpected(next_, "a string");
  const char* const begin = next_ + 1;
  const char* const behind = PassString(begin);
  if (behind == nullptr) return false;
  inside = {begin, static_cast<size_t>(behind - 1 - begin)};
  next_ = behind;
  return true;
}

bool JsonScanner::Enter(char bracket) {
  if (failed()) return false;
  if (Peek() != bracket) return FailExpected(next_, bracket == '{' ? "an object" : "a list");
  if (depth_ == kMaxDepth) {
    return Fail(next_, fmt::format("nested deeper than {} levels", kMaxDepth));
  }
  ++depth_;
  ++next_;
  entered_ = true;
  return true;
}

bool JsonScanner::Next(char closing, const char* expected) {
  if (failed()) return false;
  const bool first = std::exchange(entered_, false);
  const char c = Peek();
  if (c == closing) {
    ++next_;
    --depth_;
    return false;
  }
  if (first) return true;
  if (c != ',') return FailExpected(next_, expected);
  ++next_;
  Peek();
  return true;
}

bool JsonScanner::NextKey(std::string_view& key) {
  if (!Next('}', "',' or '}' after the value")) return false;
  if (*next_ != '"') return FailExpected(next_, "a key in double quotes");
  if (!TakeString(key)) return false;
  if (Peek() != ':') return FailExpected(next_, "':' after the key");
  ++next_;
  Peek();
  return true;
}

bool JsonScanner::NextItem() {
  return Next(']', "',' or ']' after the value");
}

size_t FindNotUtf8(std::string_view text) {
  if (simdjson::validate_utf8(text.data(), text.size())) return text.size();
  size_t at = 0;
  while (at < text.size()) {
    const size_t length = CharacterLength(text.substr(at));
    if (length == 0) break;
    at += length;
  }
  return at;
}

}  // namespace krafla
