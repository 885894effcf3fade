#include "kube/listen_address.h"

#include <arpa/inet.h>
#include <netdb.h>
#include <netinet/in.h>
#include <netinet/tcp.h>
#include <sys/socket.h>
#include <unistd.h>

#include <charconv>
#include <cstring>
#include <memory>

#include <fmt/format.h>

namespace krafla {

namespace {

constexpr int kBacklog = 1024;
// What the kernel holds for a connection that is read or written slowly counts for the container's
// memory. Accepted sockets inherit these.
constexpr int kReceiveBytes = 16 << 10;
constexpr int kSendBytes = 128 << 10;

std::string HostInUrl(const std::string& host) {
  return host.find(':') != std::string::npos ? "[" + host + "]" : host;
}

// The errno of what failed, or 0 and a socket.
int ListenAt(const sockaddr* address, socklen_t size, bool both_families, int& fd) {
  fd = ::socket(address->sa_family, SOCK_STREAM | SOCK_NONBLOCK | SOCK_CLOEXEC, 0);
  if (fd < 0) return errno;
  const int yes = 1;
  const int no = 0;
  // Not SO_REUSEPORT: a second process would listen there too, and each would answer some.
  setsockopt(fd, SOL_SOCKET, SO_REUSEADDR, &yes, sizeof yes);
  if (address->sa_family == AF_INET6)
    setsockopt(fd, IPPROTO_IPV6, IPV6_V6ONLY, both_families ? &no : &yes, sizeof yes);
  setsockopt(fd, IPPROTO_TCP, TCP_NODELAY, &yes, sizeof yes);
  setsockopt(fd, SOL_SOCKET, SO_RCVBUF, &kReceiveBytes, sizeof kReceiveBytes);
  setsockopt(fd, SOL_SOCKET, SO_SNDBUF, &kSendBytes, sizeof kSendBytes);
  if (::bind(fd, address, size) == 0 && ::listen(fd, kBacklog) == 0) return 0;
  const int problem = errno;
  ::close(fd);
  fd = -1;
  return problem;
}

int PortOf(int fd) {
  sockaddr_storage bound{};
  socklen_t size = sizeof bound;
  if (getsockname(fd, reinterpret_cast<sockaddr*>(&bound), &size) != 0) return 0;
  return ntohs(bound.ss_family == AF_INET6 ? reinterpret_cast<sockaddr_in6*>(&bound)->sin6_port
                                           : reinterpret_cast<sockaddr_in*>(&bound)->sin_port);
}

ListeningSocket Listening(int fd, const std::string& host) {
  const int port = PortOf(fd);
  return {.fd = fd, .port = port, .at = fmt::format("{}:{}", HostInUrl(host), port)};
}

std::unexpected<Error> CannotListen(const std::string& host, int port, const char* why) {
  return Fail(fmt::format("cannot listen on {}:{}: {}", HostInUrl(host), port, why));
}

Result<ListeningSocket> ListenEverywhere(int port) {
  int fd = -1;
  sockaddr_in6 both{};
  both.sin6_family = AF_INET6;
  both.sin6_addr = in6addr_any;
  both.sin6_port = htons(static_cast<uint16_t>(port));
  const int problem = ListenAt(reinterpret_cast<sockaddr*>(&both), sizeof both, true, fd);
  if (problem == 0) return Listening(fd, "::");
  if (problem != EAFNOSUPPORT && problem != EADDRNOTAVAIL)
    return CannotListen("::", port, std::strerror(problem));
  sockaddr_in old{};  // IPv6 is off
  old.sin_family = AF_INET;
  old.sin_port = htons(static_cast<uint16_t>(port));
  if (const int again = ListenAt(reinterpret_cast<sockaddr*>(&old), sizeof old, false, fd))
    return CannotListen("0.0.0.0", port, std::strerror(again));
  return Listening(fd, "0.0.0.0");
}

}  // namespace

Result<ListenAddress> ParseListenAddress(const std::string& text) {
  const size_t colon = text.rfind(':');
  int port = -1;
  if (colon != std::string::npos) {
    const char* end = text.data() + text.size();
    const auto [last, error] = std::from_chars(text.data() + colon + 1, end, port);
    if (error != std::errc{} || last != end) port = -1;
  }
  std::string host = text.substr(0, colon);
  const bool bracketed = host.size() > 2 && host.front() == '[' && host.back() == ']';
  if (bracketed) host = host.substr(1, host.size() - 2);
  // Without brackets "::1" would be port 1 of "::".
  const bool ambiguous = !bracketed && host.find(':') != std::string::npos;
  if (port < 0 || port > 65535 || ambiguous)
    return Fail(fmt::format(
        "expected an address such as 127.0.0.1:8080, [::1]:8080 or :8080, got \"{}\"", text));
  return ListenAddress{host, port};
}

bool IsLoopbackHost(const std::string& host) {
  in_addr four{};
  if (inet_pton(AF_INET, host.c_str(), &four) == 1) return (ntohl(four.s_addr) >> 24) == 127;
  in6_addr six{};
  if (inet_pton(AF_INET6, host.c_str(), &six) == 1) return IN6_IS_ADDR_LOOPBACK(&six) != 0;
  return host == "localhost";
}

Result<ListeningSocket> OpenListeningSocket(const ListenAddress& address) {
  if (address.host.empty()) return ListenEverywhere(address.port);
  addrinfo hints{};
  hints.ai_family = AF_UNSPEC;
  hints.ai_socktype = SOCK_STREAM;
  hints.ai_flags = AI_PASSIVE;
  addrinfo* first = nullptr;
  if (const int problem =
          getaddrinfo(address.host.c_str(), std::to_string(address.port).c_str(), &hints, &first))
    return CannotListen(address.host, address.port, gai_strerror(problem));
  const std::unique_ptr<addrinfo, decltype(&freeaddrinfo)> found(first, freeaddrinfo);
  int problem = 0;
  for (const addrinfo* at = first; at != nullptr; at = at->ai_next) {
    int fd = -1;
    problem = ListenAt(at->ai_addr, at->ai_addrlen, false, fd);
    if (problem == 0) return Listening(fd, address.host);
  }
  return CannotListen(address.host, address.port, std::strerror(problem));
}

}  // namespace krafla
