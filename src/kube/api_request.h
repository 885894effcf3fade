// One request to a page of krafla serve, and the answer to it: what the HTTP server
// (kube/status_server.h) passes to the pages (kube/api_pages.h) and to the check of the caller
// (kube/page_access.h), and gets back.
#pragma once

#include <functional>
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
  // Whose token was checked; empty: none had to be. Callers share time by it.
  std::string user = {};
  // True: the client has gone or has closed its end. Asked by pages that take long. Empty: unknown.
  std::function<bool()> given_up = {};
};

struct ApiAnswer {
  int status = 200;
  std::string body;
  std::string content_type = "application/json";
  std::optional<int> retry_after_s;
  // Further headers, such as WWW-Authenticate. No control characters.
  std::vector<std::pair<std::string, std::string>> headers = {};
};

// JSON ({"error":"…"}) for a page of the API, else a line of text.
ApiAnswer ProblemAnswer(const ApiRequest& request, int status, const std::string& message);
// Whether the request is for a page of the API.
bool IsApiPath(const std::string& path);

// Whether the caller may read the page.
struct AccessVerdict {
  std::optional<ApiAnswer> refusal = {};  // none: the caller may
  std::string user = {};                  // whose token it is; empty: no token was looked at
};
using AccessVerdictCallback = std::function<void(AccessVerdict verdict)>;
// Returns at once: the verdict, or nothing. Then `later` runs once, on any thread; without `later`
// nothing is asked, and only a verdict that is known already is returned.
using AuthorizeRequest = std::function<std::optional<AccessVerdict>(const ApiRequest& request,
                                                                    AccessVerdictCallback later)>;

}  // namespace krafla
