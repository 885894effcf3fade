#include "support/raw_client.h"

#include <arpa/inet.h>
#include <curl/curl.h>
#include <ifaddrs.h>
#include <net/if.h>
#include <netinet/in.h>
#include <poll.h>
#include <sys/socket.h>
#include <unistd.h>

#include <charconv>
#include <memory>
#include <utility>

namespace krafla::testing {

namespace {

using Clock = std::chrono::steady_clock;
using std::chrono::milliseconds;

struct SocketAddress {
  sockaddr_storage bytes{};
  socklen_t size = 0;
};

SocketAddress AddressOf(const std::string& host, int port) {
  SocketAddress address;
  if (host.find(':') != std::string::npos) {
    auto& in6 = reinterpret_cast<sockaddr_in6&>(address.bytes);
    in6.sin6_family = AF_INET6;
    in6.sin6_port = htons(static_cast<uint16_t>(port));
    inet_pton(AF_INET6, host.c_str(), &in6.sin6_addr);
    address.size = sizeof in6;
  } else {
    auto& in = reinterpret_cast<sockaddr_in&>(address.bytes);
    in.sin_family = AF_INET;
    in.sin_port = htons(static_cast<uint16_t>(port));
    inet_pton(AF_INET, host.c_str(), &in.sin_addr);
    address.size = sizeof in;
  }
  return address;
}

size_t Append(const char* piece, size_t, size_t bytes, std::string* to) {
  to->append(piece, bytes);
  return bytes;
}

}  // namespace

RawClient::RawClient(int port, const std::string& to, const std::string& from) {
  const SocketAddress far = AddressOf(to, port);
  fd_ = ::socket(far.bytes.ss_family, SOCK_STREAM | SOCK_CLOEXEC, 0);
  const int buffer = 64 << 10;
  ::setsockopt(fd_, SOL_SOCKET, SO_RCVBUF, &buffer, sizeof buffer);
  if (!from.empty()) {
    const SocketAddress near = AddressOf(from, 0);
    if (::bind(fd_, reinterpret_cast<const sockaddr*>(&near.bytes), near.size) != 0) return;
  }
  connected_ = ::connect(fd_, reinterpret_cast<const sockaddr*>(&far.bytes), far.size) == 0;
}

RawClient::RawClient(RawClient&& other) noexcept
    : fd_(std::exchange(other.fd_, -1)),
      connected_(other.connected_),
      ended_(other.ended_),
      received_(std::move(other.received_)) {}

RawClient::~RawClient() {
  if (fd_ >= 0) ::close(fd_);
}

bool RawClient::Send(std::string_view bytes) {
  while (!bytes.empty()) {
    const ssize_t sent = ::send(fd_, bytes.data(), bytes.size(), MSG_NOSIGNAL);
    if (sent <= 0) return false;
    bytes.remove_prefix(static_cast<size_t>(sent));
  }
  return true;
}

void RawClient::FinishSending() {
  ::shutdown(fd_, SHUT_WR);
}

bool RawClient::Waits(milliseconds patience) const {
  pollfd waits{fd_, POLLIN, 0};
  return ::poll(&waits, 1, static_cast<int>(patience.count())) > 0;
}

bool RawClient::ReceiveSome(Clock::time_point until) {
  if (ended_) return false;
  const auto left = std::chrono::ceil<milliseconds>(until - Clock::now());
  pollfd waits{fd_, POLLIN, 0};
  if (left.count() <= 0 || ::poll(&waits, 1, static_cast<int>(left.count())) <= 0) return false;
  char bytes[16384];
  const ssize_t got = ::recv(fd_, bytes, sizeof bytes, 0);
  if (got <= 0) {
    ended_ = true;
    return false;
  }
  received_.append(bytes, static_cast<size_t>(got));
  return true;
}

std::string RawClient::ReceiveAll(milliseconds patience) {
  const auto until = Clock::now() + patience;
  while (ReceiveSome(until)) {
  }
  return std::exchange(received_, {});
}

std::string RawClient::ReceiveAnswer(milliseconds patience) {
  const auto until = Clock::now() + patience;
  constexpr std::string_view kLength = "\r\nContent-Length: ";
  do {
    const size_t end = received_.find("\r\n\r\n");
    if (end == std::string::npos) continue;
    const size_t at = received_.find(kLength);
    size_t length = 0;
    if (at < end)
      std::from_chars(received_.data() + at + kLength.size(), received_.data() + end, length);
    const size_t whole = end + 4 + length;
    if (received_.size() < whole) continue;
    std::string answer = received_.substr(0, whole);
    received_.erase(0, whole);
    return answer;
  } while (ReceiveSome(until));
  return {};
}

bool RawClient::EndsWithin(milliseconds patience) {
  const auto until = Clock::now() + patience;
  while (ReceiveSome(until)) received_.clear();
  return ended_;
}

std::string OwnAddress() {
  ifaddrs* first = nullptr;
  if (::getifaddrs(&first) != 0) return {};
  const std::unique_ptr<ifaddrs, decltype(&::freeifaddrs)> all(first, ::freeifaddrs);
  for (const ifaddrs* one = first; one != nullptr; one = one->ifa_next) {
    if (one->ifa_addr == nullptr || one->ifa_addr->sa_family != AF_INET ||
        (one->ifa_flags & IFF_UP) == 0 || (one->ifa_flags & IFF_LOOPBACK) != 0)
      continue;
    char text[INET_ADDRSTRLEN] = "";
    const auto& in = reinterpret_cast<const sockaddr_in&>(*one->ifa_addr);
    if (inet_ntop(AF_INET, &in.sin_addr, text, sizeof text) != nullptr) return text;
  }
  return {};
}

std::string Exchange(int port, std::string_view request, const std::string& to) {
  RawClient client(port, to);
  client.Send(request);
  return client.ReceiveAll();
}

Fetched Fetch(const std::string& url, const std::string& authority, const std::string& header) {
  const std::unique_ptr<CURL, decltype(&curl_easy_cleanup)> easy(curl_easy_init(),
                                                                 curl_easy_cleanup);
  Fetched fetched;
  curl_easy_setopt(easy.get(), CURLOPT_URL, url.c_str());
  curl_easy_setopt(easy.get(), CURLOPT_NOSIGNAL, 1L);
  curl_easy_setopt(easy.get(), CURLOPT_NOPROXY, "*");
  curl_easy_setopt(easy.get(), CURLOPT_TIMEOUT_MS, static_cast<long>(RawClient::kPatience.count()));
  curl_easy_setopt(easy.get(), CURLOPT_WRITEFUNCTION, &Append);
  curl_easy_setopt(easy.get(), CURLOPT_WRITEDATA, &fetched.body);
  curl_easy_setopt(easy.get(), CURLOPT_HEADERFUNCTION, &Append);
  curl_easy_setopt(easy.get(), CURLOPT_HEADERDATA, &fetched.headers);
  if (authority.empty()) {
    curl_easy_setopt(easy.get(), CURLOPT_SSL_VERIFYPEER, 0L);
    curl_easy_setopt(easy.get(), CURLOPT_SSL_VERIFYHOST, 0L);
  } else {
    curl_easy_setopt(easy.get(), CURLOPT_CAINFO, authority.c_str());
  }
  curl_slist* const headers = header.empty() ? nullptr : curl_slist_append(nullptr, header.c_str());
  curl_easy_setopt(easy.get(), CURLOPT_HTTPHEADER, headers);
  const CURLcode result = curl_easy_perform(easy.get());
  curl_slist_free_all(headers);
  long status = 0;
  curl_easy_getinfo(easy.get(), CURLINFO_RESPONSE_CODE, &status);
  fetched.status = static_cast<int>(status);
  if (result != CURLE_OK) fetched.error = curl_easy_strerror(result);
  return fetched;
}

}  // namespace krafla::testing
