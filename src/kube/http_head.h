// The head of an HTTP/1 request: finds its end in bytes that arrive in pieces, within limits, and
// reads it (with the parser of Boost.Beast). No I/O. Bodies are not for us: nothing here reads one.
#pragma once

#include <cstddef>
#include <expected>
#include <map>
#include <string>
#include <string_view>

namespace krafla {

struct HeadLimits {
  size_t target = 8 << 10;  // bytes of the path with its query
  size_t line = 12 << 10;   // bytes of one header
  size_t total = 16 << 10;
  size_t headers = 64;
  size_t parameters = 32;  // of the query
};

struct HttpHead {
  std::string method;
  std::string path;                               // percent-decoded
  std::map<std::string, std::string> parameters;  // the same; of equal names the first counts
  std::string authorization;
  std::string accept;
  bool has_body = false;
  bool keep_alive = false;
};

// A request that is not answered with a page.
struct HeadRefusal {
  int status = 0;  // 400, 414, 431
  std::string_view why;
};

// Looks at each byte once, however small the pieces are.
class HeadScanner {
 public:
  explicit HeadScanner(const HeadLimits& limits) : limits_(limits) {}
  // `bytes`: what was received of this head so far, and of whatever follows. The length of the head
  // with its empty line; 0: more bytes are needed.
  std::expected<size_t, HeadRefusal> Scan(std::string_view bytes);
  // For the next request of the connection.
  void Restart() { *this = HeadScanner(limits_); }

 private:
  HeadLimits limits_;
  size_t next_ = 0;
  size_t line_begin_ = 0;
  size_t lines_ = 0;
};

// `head`: as long as the scanner says.
std::expected<HttpHead, HeadRefusal> ReadHead(std::string_view head, const HeadLimits& limits);

}  // namespace krafla
