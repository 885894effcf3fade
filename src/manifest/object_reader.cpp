#include "manifest/object_reader.h"

#ifdef __SSE2__
#include <emmintrin.h>
#endif

#include <algorithm>
#include <bit>
#include <charconv>
#include <cstring>
#include <system_error>

#include <fmt/format.h>

#include "base/did_you_mean.h"

namespace krafla {

namespace {

// What stands there, for messages.
std::string Shown(std::string_view token) {
  if (token.empty()) return "nothing";
  switch (token.front()) {
    case '{':
      return "an object";
    case '[':
      return "a list";
    case '"':
      return Quoted(token.substr(1, token.size() - 2));
    default:
      return Printable(token);
  }
}

// The first quote or backslash from `at` on: the end of a string, or the first thing in it that has
// to be decoded. The indexer has made sure that every string ends, and there is padding behind the
// last one.
const char* FindQuoteOrEscape(const char* at) {
#ifdef __SSE2__
  const __m128i quote = _mm_set1_epi8('"');
  const __m128i escape = _mm_set1_epi8('\\');
  for (;; at += sizeof(__m128i)) {
    const __m128i bytes = _mm_loadu_si128(reinterpret_cast<const __m128i*>(at));
    const auto found = static_cast<unsigned>(_mm_movemask_epi8(
        _mm_or_si128(_mm_cmpeq_epi8(bytes, quote), _mm_cmpeq_epi8(bytes, escape))));
    if (found != 0) return at + std::countr_zero(found);
  }
#else
  while (*at != '"' && *at != '\\') ++at;
  return at;
#endif
}

}  // namespace

const char* SourceMap::Find(size_t offset, const char* otherwise) const {
  auto behind = std::upper_bound(pieces_.begin(), pieces_.end(), offset,
                                 [](size_t o, const auto& piece) { return o < piece.first; });
  if (behind == pieces_.begin()) return otherwise;
  --behind;
  return behind->second + (offset - behind->first);
}

void ObjectReader::Start(std::string_view json) {
  json_ = json;
  sources_ = nullptr;
  likeness_ = nullptr;
  problems_.clear();
  errors_ = 0;
  malformed_ = false;
}

void ObjectReader::ReadCopy(std::string_view text, const SourceMap& sources) {
  copy_ = text;
  sources_ = &sources;
}

void ObjectReader::Note(Severity severity, const char* at, std::string field, std::string message) {
  if (sources_ != nullptr && at >= copy_.data() && at <= copy_.data() + copy_.size())
    at = sources_->Find(static_cast<size_t>(at - copy_.data()), json_.data());
  const bool inside = at >= json_.data() && at <= json_.data() + json_.size();
  problems_.push_back({severity, inside ? static_cast<size_t>(at - json_.data()) : 0,
                       std::move(field), std::move(message)});
  if (severity == Severity::kError) ++errors_;
}

void ObjectReader::WrongType(JsonValue& value, std::string_view expected) {
  Wrong(At(value), fmt::format("expected {}, got {}", expected, Shown(Token(value))));
}

void ObjectReader::Malformed(simdjson::error_code error) {
  if (malformed_) return;
  malformed_ = true;
  Note(Severity::kError, json_.data(), {},
       fmt::format("not valid JSON: {}", simdjson::error_message(error)));
}

void ObjectReader::UnknownWord(const char* at, std::string_view word,
                               std::span<const std::string_view> known) {
  Wrong(at, fmt::format("expected one of {}, got {}", fmt::join(known, ", "), Quoted(word)));
}

void ObjectReader::OddWord(const char* at, std::string_view what, std::string_view word,
                           std::span<const std::string_view> known) {
  if (odd_words_ == OddWords::kPassedOver) return;
  const std::string message =
      fmt::format("unknown {} {}{}", what, Quoted(word), DidYouMeanHint(word, known));
  if (odd_words_ == OddWords::kRefused) return Wrong(at, message);
  Warn(at, message + "; ignored");
}

std::string_view ObjectReader::Key(simdjson::ondemand::field& field) {
  const char* begin = field.key().raw();
  const char* end = FindQuoteOrEscape(begin);
  if (*end == '"') return {begin, static_cast<size_t>(end - begin)};
  std::string_view key;
  if (const auto error = field.unescaped_key().get(key)) Malformed(error);
  return key;
}

std::string_view ObjectReader::Raw(JsonValue& value) {
  std::string_view raw;
  switch (*At(value)) {
    case '{': {
      JsonObject object;
      simdjson::error_code error = value.get_object().get(object);
      if (!error) error = object.raw_json().get(raw);
      if (error) Malformed(error);
      break;
    }
    case '[': {
      simdjson::ondemand::array list;
      simdjson::error_code error = value.get_array().get(list);
      if (!error) error = list.raw_json().get(raw);
      if (error) Malformed(error);
      break;
    }
    default:
      raw = value.raw_json_token();
  }
  return TrimEnd(raw);
}

void ObjectReader::NotText(JsonValue& value, bool is_word) {
  const std::string_view token = Token(value);
  if (token != "true" && token != "false")
    return WrongType(value, is_word ? "text in quotes" : "text");
  Wrong(
      At(value),
      fmt::format("expected text in quotes, got {}: YAML reads {} without quotes as a boolean, so "
                  "write the word in quotes",
                  token, token == "true" ? "y, yes, on and true" : "n, no, off and false"));
}

std::string_view ObjectReader::Text(JsonValue& value) {
  const char* at = At(value);
  if (*at != '"') {
    // YAML takes yes, no and 010 for something else than text, which is a surprise to most.
    const bool is_word = *at != '{' && *at != '[';
    if (!IsNull(value)) NotText(value, is_word);
    return {};
  }
  const char* end = FindQuoteOrEscape(at + 1);
  if (*end == '"') return {at + 1, static_cast<size_t>(end - at - 1)};
  std::string_view text;
  if (const auto error = value.get_string().get(text)) Malformed(error);
  return text;
}

std::string_view ObjectReader::TextNotEmpty(JsonValue& value) {
  const char* at = At(value);
  const size_t problems_before = problems_.size();
  const std::string_view text = Text(value);
  if (text.empty() && problems_.size() == problems_before) Wrong(at, "must not be empty");
  return text;
}

std::optional<int64_t> ObjectReader::WholeNumber(JsonValue& value, int64_t least, int64_t most) {
  if (IsNull(value)) return {};
  const std::string_view token = Token(value);
  int64_t number = 0;
  const auto [end, error] = std::from_chars(token.data(), token.data() + token.size(), number);
  const bool whole = end == token.data() + token.size() && end != token.data();
  if (!whole || (error != std::errc{} && error != std::errc::result_out_of_range)) {
    WrongType(value, "a whole number");
    return {};
  }
  if (error == std::errc::result_out_of_range || number < least || number > most) {
    WrongType(value, fmt::format("a whole number from {} to {}", least, most));
    return {};
  }
  return number;
}

std::optional<int32_t> ObjectReader::Int32(JsonValue& value, int32_t least, int32_t most) {
  const std::optional<int64_t> number = WholeNumber(value, least, most);
  return number ? std::optional(static_cast<int32_t>(*number)) : std::nullopt;
}

bool ObjectReader::Bool(JsonValue& value, bool otherwise) {
  const std::string_view token = Token(value);
  if (token == "true") return true;
  if (token == "false") return false;
  if (!IsNull(value)) WrongType(value, "true or false");
  return otherwise;
}

namespace {

// Most times of an object are the same as the one before.
Result<Timestamp> ParseTime(std::string_view text) {
  static thread_local std::string last_text;
  static thread_local Timestamp last_time;
  if (!text.empty() && text == last_text) return last_time;
  Result<ZonedTimestamp> time = ParseRfc3339(text);
  if (!time) return std::unexpected(std::move(time.error()));
  last_text = text;
  last_time = time->time;
  return last_time;
}

}  // namespace

Timestamp ObjectReader::Time(JsonValue& value, std::string_view* written) {
  if (written != nullptr) *written = {};
  if (IsNull(value)) return {};
  const char* at = At(value);
  const size_t problems_before = problems_.size();
  const std::string_view text = Text(value);
  if (problems_.size() != problems_before) return {};
  if (written != nullptr) *written = text;
  Result<Timestamp> time = ParseTime(text);
  if (time) return *time;
  Wrong(at, std::move(time.error().message));
  return {};
}

std::optional<Timestamp> ObjectReader::FindTime(std::string_view text) {
  const Result<Timestamp> time = ParseTime(text);
  return time ? std::optional(*time) : std::nullopt;
}

Quantity ObjectReader::Amount(JsonValue& value) {
  if (IsNull(value)) return {};
  std::string_view token = Token(value);
  const bool is_number = token.front() == '-' || (token.front() >= '0' && token.front() <= '9');
  if (!is_number && token.front() != '"') {
    WrongType(value, "an amount such as \"500m\" or \"64Gi\"");
    return {};
  }
  const char* at = token.data();
  if (!is_number) {
    token = Text(value);
    // Kubernetes takes blanks around an amount for nothing.
    while (!token.empty() && token.front() == ' ') token.remove_prefix(1);
    token = TrimEnd(token);
  }
  Result<Quantity> amount = ParseQuantity(token);
  if (!amount) {
    Wrong(at, std::move(amount.error().message));
    return {};
  }
  if (amount->Negative()) {
    Wrong(at, fmt::format("expected an amount that is not negative, got {}", Printable(token)));
    return {};
  }
  return *amount;
}

}  // namespace krafla
