#include "manifest/object_likeness.h"

#ifdef __SSE2__
#include <emmintrin.h>
#endif

#include <algorithm>
#include <bit>
#include <cstring>
#include <functional>

#include "manifest/json_scanner.h"

namespace krafla {

namespace {

// The first character from `at` on that is not plain text of a string: the quote that ends it, or
// something that somebody else has to look at. Not behind `end`.
const char* FindEndOfPlainText(const char* at, const char* end) {
#ifdef __SSE2__
  const __m128i quote = _mm_set1_epi8('"');
  const __m128i escape = _mm_set1_epi8('\\');
  const __m128i blank = _mm_set1_epi8(' ');
  const __m128i last = _mm_set1_epi8('~');
  for (; at < end; at += sizeof(__m128i)) {
    const __m128i bytes = _mm_loadu_si128(reinterpret_cast<const __m128i*>(at));
    // Bytes above 127 are negative, and so less than a blank.
    const auto found = static_cast<unsigned>(_mm_movemask_epi8(
        _mm_or_si128(_mm_or_si128(_mm_cmpeq_epi8(bytes, quote), _mm_cmpeq_epi8(bytes, escape)),
                     _mm_or_si128(_mm_cmplt_epi8(bytes, blank), _mm_cmpgt_epi8(bytes, last)))));
    if (found != 0) return std::min(at + std::countr_zero(found), end);
  }
  return end;
#else
  const auto is_plain = [](char c) { return c >= ' ' && c <= '~' && c != '"' && c != '\\'; };
  while (at < end && is_plain(*at)) ++at;
  return at;
#endif
}

// Behind the value that begins there; null when there is none.
const char* FindEndOfValue(const char* at, const char* end, std::string_view before) {
  // Often it is the same. Of a number that would not tell: its text could go on.
  const bool has_closing = before.back() == '"' || before.back() == '}' || before.back() == ']';
  if (has_closing && static_cast<size_t>(end - at) >= before.size() &&
      std::memcmp(at, before.data(), before.size()) == 0)
    return at + before.size();
  // In a list more text follows, not the zero that ends it: a value that is not closed may run into
  // that, and the caller sees that it did.
  JsonScanner scanner({at, static_cast<size_t>(end - at)});
  return scanner.SkipValue() && scanner.offset() > 0 ? at + scanner.offset() : nullptr;
}

}  // namespace

void ObjectLikeness::Begin(std::string_view json) {
  Forget();
  json_ = json;
}

void ObjectLikeness::Forget() {
  parts_.clear();
  text_.clear();
  kept_ = false;
}

void ObjectLikeness::NoteText(Part part, std::string_view text) {
  const std::less<const char*> before;
  const char* const end = json_.data() + json_.size();
  if (text.empty() || before(text.data(), json_.data()) || !before(text.data(), end)) return;
  const auto begin = static_cast<uint32_t>(text.data() - json_.data());
  parts_.push_back({begin, begin + static_cast<uint32_t>(text.size()), part});
}

void ObjectLikeness::NotePassedOver(std::string_view value) {
  NoteText(Part::kPassedOver, value);
}

void ObjectLikeness::Keep() {
  std::ranges::sort(parts_, {}, &Place::begin);
  // One that was noted twice would be two things at once.
  for (size_t i = 1; i < parts_.size(); ++i)
    if (parts_[i].begin < parts_[i - 1].end) return Forget();
  text_ = json_;
  kept_ = true;
}

bool ObjectLikeness::Matches(std::string_view json, std::vector<Difference>& differences) const {
  if (!kept_) return false;
  differences.clear();
  const char* at = json.data();
  const char* const end = at + json.size();
  const char* same = text_.data();
  const auto pass = [&](size_t size) {
    if (static_cast<size_t>(end - at) < size || std::memcmp(at, same, size) != 0) return false;
    at += size;
    return true;
  };
  for (const Place& place : parts_) {
    const char* const begin = text_.data() + place.begin;
    if (!pass(static_cast<size_t>(begin - same))) return false;
    same = text_.data() + place.end;
    if (place.part == Part::kPassedOver) {
      at = FindEndOfValue(at, end, {begin, same});
      if (at == nullptr || at > end) return false;
      continue;
    }
    const char* const text_end = FindEndOfPlainText(at, end);
    if (text_end == at) return false;
    differences.push_back({place.part, {at, text_end}});
    at = text_end;
  }
  return pass(static_cast<size_t>(text_.data() + text_.size() - same)) && at == end;
}

}  // namespace krafla
