// What kube/http_channel.cpp sets on libcurl's handles: addresses, header lists, socket options;
// and what libcurl's errors mean.
#pragma once

#include <curl/curl.h>

#include <memory>
#include <string>

#include "kube/http_channel.h"
#include "kube/kube_config.h"

namespace krafla {

struct ListDeleter {
  void operator()(curl_slist* list) const { curl_slist_free_all(list); }
};
using HeaderList = std::unique_ptr<curl_slist, ListDeleter>;

void Append(HeaderList& list, const std::string& line);

// For CURLOPT_SOCKOPTFUNCTION.
int SetSocketOptions(void*, curl_socket_t socket, curlsocktype);

// The address of `target` on the server. `connect_to` is filled at the first call where the
// certificate is checked against another name than the address has.
void SetAddress(CURL* easy, const KubeConnection& to, const std::string& target,
                HeaderList& connect_to);

// The server is on this machine's loopback.
bool IsLoopbackServer(const std::string& url);

NoAnswer WhyNoAnswer(CURL* easy, CURLcode code);

}  // namespace krafla
