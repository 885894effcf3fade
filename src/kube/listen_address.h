// Where a server listens: the address of a flag, and the socket that listens there.
#pragma once

#include <string>

#include "base/result.h"

namespace krafla {

struct ListenAddress {
  std::string host;  // empty: every address, IPv4 and IPv6
  int port = 0;      // 0: any that is free
  bool operator==(const ListenAddress&) const = default;
};
// "127.0.0.1:8080", ":8080", "[::1]:8080".
Result<ListenAddress> ParseListenAddress(const std::string& text);

// "localhost", "127.0.0.2", "::1". A token may be sent there without TLS.
bool IsLoopbackHost(const std::string& host);

struct ListeningSocket {
  int fd = -1;  // non-blocking; the caller closes it
  int port = 0;
  std::string at;  // "127.0.0.1:8080", "[::]:8080"
};
// With an empty host: one socket for both families, or IPv4 alone where IPv6 is off.
Result<ListeningSocket> OpenListeningSocket(const ListenAddress& address);

}  // namespace krafla
