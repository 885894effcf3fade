#include "kube/curl_options.h"

#include <netinet/in.h>
#include <netinet/tcp.h>
#include <sys/socket.h>

#include <algorithm>

#include <fmt/format.h>

#include "base/check.h"
#include "kube/listen_address.h"

namespace krafla {

void Append(HeaderList& list, const std::string& line) {
  curl_slist* longer = curl_slist_append(list.get(), line.c_str());
  KRAFLA_CHECK(longer != nullptr, "out of memory");
  list.release();
  list.reset(longer);
}

// A peer that no longer acknowledges is given up by the kernel.
int SetSocketOptions(void*, curl_socket_t socket, curlsocktype) {
  const int on = 1;
  const int idle_s = 10;
  const int interval_s = 5;
  const unsigned timeout_ms = 20'000;
  // Data that the kernel has not sent when a connection is closed is dropped, not sent later: by
  // then another replica may lead.
  const linger at_once{.l_onoff = 1, .l_linger = 0};
  setsockopt(socket, SOL_SOCKET, SO_LINGER, &at_once, sizeof at_once);
  setsockopt(socket, SOL_SOCKET, SO_KEEPALIVE, &on, sizeof on);
  setsockopt(socket, IPPROTO_TCP, TCP_KEEPIDLE, &idle_s, sizeof idle_s);
  setsockopt(socket, IPPROTO_TCP, TCP_KEEPINTVL, &interval_s, sizeof interval_s);
  setsockopt(socket, IPPROTO_TCP, TCP_USER_TIMEOUT, &timeout_ms, sizeof timeout_ms);
  return CURL_SOCKOPT_OK;
}

// The name in the address is the one the certificate is checked against; CONNECT_TO says where
// that is when it is somewhere else.
void SetAddress(CURL* e, const KubeConnection& to, const std::string& target,
                HeaderList& connect_to) {
  if (to.tls_server_name.empty()) {
    curl_easy_setopt(e, CURLOPT_URL, (to.server + target).c_str());
    return;
  }
  const size_t begin = to.server.find("://") + 3;
  const size_t end = std::min(to.server.find('/', begin), to.server.size());
  const size_t colon = to.server.rfind(':', end - 1);
  const bool has_port = colon != std::string::npos && colon > begin &&
                        to.server.find(']', colon) == std::string::npos;
  const std::string port =
      has_port ? to.server.substr(colon + 1, end - colon - 1)
               : (to.server.starts_with("https") ? std::string("443") : std::string("80"));
  const std::string host = to.server.substr(begin, (has_port ? colon : end) - begin);
  if (connect_to == nullptr)
    Append(connect_to, fmt::format("{}:{}:{}:{}", to.tls_server_name, port, host, port));
  curl_easy_setopt(e, CURLOPT_CONNECT_TO, connect_to.get());
  curl_easy_setopt(e, CURLOPT_URL,
                   fmt::format("{}{}:{}{}{}", to.server.substr(0, begin), to.tls_server_name, port,
                               to.server.substr(end), target)
                       .c_str());
}

bool IsLoopbackServer(const std::string& url) {
  const std::unique_ptr<CURLU, decltype(&curl_url_cleanup)> parsed(curl_url(), &curl_url_cleanup);
  KRAFLA_CHECK(parsed != nullptr, "out of memory");
  if (curl_url_set(parsed.get(), CURLUPART_URL, url.c_str(), 0) != CURLUE_OK) return false;
  char* text = nullptr;
  if (curl_url_get(parsed.get(), CURLUPART_HOST, &text, 0) != CURLUE_OK) return false;
  std::string host = text;
  curl_free(text);
  if (host.starts_with('[') && host.ends_with(']')) host = host.substr(1, host.size() - 2);
  return IsLoopbackHost(host);
}

NoAnswer WhyNoAnswer(CURL* easy, CURLcode code) {
  switch (code) {
    case CURLE_PEER_FAILED_VERIFICATION: {
      // Of the chain, as OpenSSL numbers its errors. One is "unspecified": it was not looked at, or
      // was good, and the name is what is wrong.
      long verified = 0;
      curl_easy_getinfo(easy, CURLINFO_SSL_VERIFYRESULT, &verified);
      return verified > 1 ? NoAnswer::kUntrusted : NoAnswer::kOtherName;
    }
    case CURLE_SSL_CACERT_BADFILE:
    case CURLE_SSL_ISSUER_ERROR:
      return NoAnswer::kUntrusted;
    case CURLE_SSL_CERTPROBLEM:
      return NoAnswer::kOwnCertificate;
    case CURLE_HTTP2:
    case CURLE_HTTP2_STREAM:
    case CURLE_GOT_NOTHING:
    case CURLE_PARTIAL_FILE:
    case CURLE_SEND_ERROR:
    case CURLE_RECV_ERROR:
      return NoAnswer::kCutShort;
    default:
      return NoAnswer::kOther;
  }
}

}  // namespace krafla
