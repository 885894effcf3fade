// One request to a page of krafla serve, and the answer to it: what the HTTP server
// (kube/status_server.h) passes to the pages (kube/api_pages.h) and gets back.
#pragma once

#include <map>
#include <optional>
#include <string>
#include <utility>
#include <vector>

namespace krafla {

struct ApiRequest {
  std::string method = "GET";
  std::string path;                               // without the query, percent-decoded
  std::map<std::string, std::string> parameters;  // the query, percent-decoded
  std::string authorization = {};                 // these two headers as sent; empty: absent
  std::string accept = {};
  std::string peer = {};  // the client's address without its port: "10.0.0.7", "fd00::7"
  bool tls = false;
  bool loopback = false;  // both ends of the connection are loopback addresses
};

struct ApiAnswer {
  int status = 200;
  std::string body;
  std::string content_type = "application/json";
  std::optional<int> retry_after_s;
  // Further headers, such as WWW-Authenticate. No control characters.
  std::vector<std::pair<std::string, std::string>> headers = {};
};

}  // namespace krafla
