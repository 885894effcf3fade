// Base64 as in RFC 4648, with padding: what Kubernetes wraps certificates in.
#pragma once

#include <string>
#include <string_view>

#include "base/result.h"

namespace krafla {

// Line breaks inside the text are passed over.
Result<std::string> DecodeBase64(std::string_view text);
std::string EncodeBase64(std::string_view bytes);

}  // namespace krafla
