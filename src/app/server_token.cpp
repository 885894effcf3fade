#include "app/server_token.h"

#include <cctype>
#include <cerrno>
#include <filesystem>
#include <fstream>
#include <system_error>

#include <fmt/format.h>

#include "kube/credentials.h"
#include "kube/page_reviews.h"

namespace krafla {

namespace {

constexpr std::string_view kBearer = "Bearer ";
constexpr size_t kBytesOfSha256 = 32;
constexpr size_t kMostFileBytes = 16 << 10;

int HexDigit(char c) {
  if (c >= '0' && c <= '9') return c - '0';
  if (c >= 'a' && c <= 'f') return c - 'a' + 10;
  if (c >= 'A' && c <= 'F') return c - 'A' + 10;
  return -1;
}

}  // namespace

ServerToken ReadTokenFile(const std::string& path, Diagnostics& diagnostics) {
  const auto wrong = [&](const std::string& why) {
    diagnostics.Error("--token-file", {},
                      fmt::format("expected a file with a token: {}: {}", path, why));
    return ServerToken{};
  };
  std::error_code ignored;
  if (std::filesystem::is_directory(path, ignored)) return wrong("it is a folder");
  errno = 0;
  std::ifstream file(path, std::ios::binary);
  if (!file.is_open()) return wrong(std::generic_category().message(errno));
  // A bounded part: it may be a device that never ends.
  std::string text(kMostFileBytes, '\0');
  file.read(text.data(), static_cast<std::streamsize>(text.size()));
  text.resize(static_cast<size_t>(file.gcount()));
  if (file.bad()) return wrong("reading it broke off");
  while (!text.empty() && std::isspace(static_cast<unsigned char>(text.back())) != 0)
    text.pop_back();
  if (text.empty()) return wrong("it is empty");
  // What is in it is not shown: it may be a secret all the same.
  if (BearerToken(std::string(kBearer) + text) != text)
    return wrong("it holds more than one token of at most 12 KiB, without blanks");
  return {std::move(text), path};
}

ServerToken FindKubeToken(const std::string& path, const Surroundings& surroundings,
                          Diagnostics& diagnostics) {
  Diagnostics found;
  KubeConnection connection = FindKubeConnection({path, {}}, surroundings, found);
  if (found.HasErrors()) {
    ServerToken none;
    for (const Diagnostic& problem : found.items()) {
      if (problem.severity != Severity::kError) continue;
      if (none.origin.empty()) none.origin = ToString(problem);
      if (!path.empty()) diagnostics.Add(problem);
    }
    return none;
  }
  const std::string origin = connection.origin;
  Credentials credentials(std::move(connection), surroundings);
  const auto identity = credentials.Await();
  if (!identity) {
    if (!path.empty()) diagnostics.Error("--kubeconfig", {}, identity.error().message);
    return {{}, fmt::format("{}: {}", origin, identity.error().message)};
  }
  const std::string_view authorization = (*identity)->authorization;
  if (!authorization.starts_with(kBearer))
    return {{},
            fmt::format("the user of {} has no token (a client certificate or a password is not "
                        "taken here)",
                        origin)};
  if (!BearerToken(authorization))
    return {{}, fmt::format("the token of {} has blanks, or is longer than 12 KiB", origin)};
  return {std::string(authorization.substr(kBearer.size())), origin};
}

std::optional<std::string> ReadFingerprint(std::string_view text) {
  if (text.starts_with("sha256:") || text.starts_with("SHA256:")) text.remove_prefix(7);
  const bool colons = text.find(':') != std::string_view::npos;
  const size_t step = colons ? 3 : 2;
  if (text.size() != kBytesOfSha256 * step - (colons ? 1 : 0)) return std::nullopt;
  std::string bytes;
  for (size_t i = 0; i < text.size(); i += step) {
    const int high = HexDigit(text[i]);
    const int low = HexDigit(text[i + 1]);
    const bool separated = !colons || i + 2 == text.size() || text[i + 2] == ':';
    if (high < 0 || low < 0 || !separated) return std::nullopt;
    bytes += static_cast<char>(high * 16 + low);
  }
  return bytes;
}

}  // namespace krafla
