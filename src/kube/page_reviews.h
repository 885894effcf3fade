// The two questions about a caller of krafla serve's pages, as the API server reads and answers
// them: TokenReview (whose token is this?) and SubjectAccessReview (may this user read that path?).
// No I/O. Used by kube/page_access.h.
#pragma once

#include <optional>
#include <string>
#include <string_view>

#include "base/result.h"
#include "kube/http_channel.h"

namespace krafla {

// The user of a token, as the API server describes it.
struct PageCaller {
  std::string name;
  std::string uid;
  std::string groups;  // JSON: a list of texts, or nothing
  std::string extra;   // JSON: an object of lists of texts, or nothing
};

// The token of "Bearer TOKEN". Nothing: another scheme, no token, or one that no API server issues
// (blanks, control characters, more than 12 KiB).
std::optional<std::string_view> BearerToken(std::string_view authorization);

// What a role must allow (verb get, nonResourceURLs) for the page at `path`. /metrics is asked for
// by its own name, as by every component of Kubernetes. Pages of the API are asked for below
// /krafla: every user may get /api/* by the role system:discovery.
std::string PathForAccess(const std::string& path);

HttpRequest TokenReviewRequest(std::string_view token);
HttpRequest AccessReviewRequest(const PageCaller& caller, const std::string& path);

// Nothing: the token is not valid. An error: the answer is not a TokenReview.
Result<std::optional<PageCaller>> ReadTokenReview(const std::string& body);
Result<bool> ReadAccessReview(const std::string& body);

}  // namespace krafla
