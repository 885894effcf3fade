#include "kube/http_head.h"

#include <boost/asio/buffer.hpp>
#include <boost/beast/http/empty_body.hpp>
#include <boost/beast/http/parser.hpp>

#include <optional>

namespace krafla {

namespace {

namespace http = boost::beast::http;

constexpr size_t kMethodAndVersion = 64;  // what the first line has beside its target

bool IsControl(char c) {
  const auto byte = static_cast<unsigned char>(c);
  return (byte < 0x20 && c != '\t' && c != '\r') || byte == 0x7f;
}

int HexDigit(char c) {
  if (c >= '0' && c <= '9') return c - '0';
  if (c >= 'a' && c <= 'f') return c - 'a' + 10;
  if (c >= 'A' && c <= 'F') return c - 'A' + 10;
  return -1;
}

// None: an escape that is none.
std::optional<std::string> PercentDecoded(std::string_view text, bool plus_is_blank) {
  std::string decoded;
  decoded.reserve(text.size());
  for (size_t i = 0; i < text.size(); ++i) {
    if (text[i] == '+' && plus_is_blank) {
      decoded += ' ';
    } else if (text[i] != '%') {
      decoded += text[i];
    } else {
      const int high = i + 2 < text.size() ? HexDigit(text[i + 1]) : -1;
      const int low = i + 2 < text.size() ? HexDigit(text[i + 2]) : -1;
      if (high < 0 || low < 0) return std::nullopt;
      decoded += static_cast<char>(high * 16 + low);
      i += 2;
    }
  }
  return decoded;
}

std::optional<HeadRefusal> ReadTarget(std::string_view target, const HeadLimits& limits,
                                      HttpHead& head) {
  if (target.size() > limits.target) return HeadRefusal{414, "the address is too long"};
  if (const size_t fragment = target.find('#'); fragment != std::string_view::npos)
    return HeadRefusal{400, "the address has a fragment"};
  // "http://host/path", as sent to a proxy.
  if (target.starts_with("http://") || target.starts_with("https://")) {
    const size_t path = target.find('/', target.find("://") + 3);
    target = path == std::string_view::npos ? "/" : target.substr(path);
  }
  if (!target.starts_with('/') && target != "*") return HeadRefusal{400, "the address has no path"};
  const size_t question = target.find('?');
  const std::optional<std::string> path = PercentDecoded(target.substr(0, question), false);
  if (!path) return HeadRefusal{400, "the address has a wrong percent-escape"};
  head.path = *path;
  if (question == std::string_view::npos) return std::nullopt;
  std::string_view query = target.substr(question + 1);
  while (!query.empty()) {
    const std::string_view part = query.substr(0, query.find('&'));
    query.remove_prefix(part.size() == query.size() ? part.size() : part.size() + 1);
    if (part.empty()) continue;
    const size_t equals = part.find('=');
    const std::optional<std::string> name = PercentDecoded(part.substr(0, equals), true);
    const std::optional<std::string> value = PercentDecoded(
        equals == std::string_view::npos ? std::string_view{} : part.substr(equals + 1), true);
    if (!name || !value) return HeadRefusal{400, "the query has a wrong percent-escape"};
    head.parameters.emplace(*name, *value);
    if (head.parameters.size() > limits.parameters)
      return HeadRefusal{400, "the query has too many parameters"};
  }
  return std::nullopt;
}

std::string Copy(const http::request<http::empty_body>& request, http::field name) {
  const auto value = request[name];
  return {value.data(), value.size()};
}

}  // namespace

std::expected<size_t, HeadRefusal> HeadScanner::Scan(std::string_view bytes) {
  for (; next_ < bytes.size(); ++next_) {
    const char c = bytes[next_];
    const bool first_of_line = next_ == line_begin_;
    if (next_ == 0 && (c < 'A' || c > 'Z'))
      return std::unexpected(HeadRefusal{400, "expected an HTTP request"});
    if (next_ >= limits_.total)
      return std::unexpected(HeadRefusal{431, "the headers are too large"});
    const bool after_return = !first_of_line && bytes[next_ - 1] == '\r';
    if (after_return != (c == '\n'))
      return std::unexpected(HeadRefusal{400, "expected lines that end with CR and LF"});
    if (c == '\n') {
      if (next_ - line_begin_ == 1) return next_ + 1;
      line_begin_ = next_ + 1;
      if (++lines_ > limits_.headers + 1)
        return std::unexpected(HeadRefusal{431, "there are too many headers"});
      continue;
    }
    if (IsControl(c)) return std::unexpected(HeadRefusal{400, "a control character in the head"});
    if (first_of_line && lines_ > 0 && (c == ' ' || c == '\t'))
      return std::unexpected(HeadRefusal{400, "a header that is folded into two lines"});
    const size_t length = next_ - line_begin_;
    if (lines_ == 0 && length >= limits_.target + kMethodAndVersion)
      return std::unexpected(HeadRefusal{414, "the address is too long"});
    if (lines_ > 0 && length > limits_.line)
      return std::unexpected(HeadRefusal{431, "a header is too long"});
  }
  return 0;
}

std::expected<HttpHead, HeadRefusal> ReadHead(std::string_view text, const HeadLimits& limits) {
  http::request_parser<http::empty_body> parser;
  parser.header_limit(static_cast<uint32_t>(limits.total + 1));
  parser.skip(true);  // whatever follows is no body for us
  boost::beast::error_code error;
  parser.put(boost::asio::buffer(text.data(), text.size()), error);
  if (error || !parser.is_header_done())
    return std::unexpected(HeadRefusal{400, "expected an HTTP/1.1 request"});
  const http::request<http::empty_body>& request = parser.get();
  HttpHead head;
  head.method = std::string(request.method_string().data(), request.method_string().size());
  head.authorization = Copy(request, http::field::authorization);
  head.accept = Copy(request, http::field::accept);
  const std::string length = Copy(request, http::field::content_length);
  head.has_body = request.find(http::field::transfer_encoding) != request.end() ||
                  length.find_first_not_of('0') != std::string::npos;
  head.keep_alive = parser.keep_alive() && request.version() == 11;
  const auto target = request.target();
  if (const auto refused = ReadTarget({target.data(), target.size()}, limits, head))
    return std::unexpected(*refused);
  return head;
}

}  // namespace krafla
