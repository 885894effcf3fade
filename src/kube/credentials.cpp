#include "kube/credentials.h"

#include <algorithm>
#include <utility>

#include <fmt/format.h>

#include "base/base64.h"
#include "base/log_text.h"

namespace krafla {

namespace {

constexpr std::chrono::minutes kReadAgain{1};
constexpr std::chrono::seconds kPluginAgain{5};  // after a run that failed

Result<std::string> ReadPem(const PemSource& source, const Surroundings& surroundings) {
  if (!source.data.empty() || source.file.empty()) return source.data;
  Result<std::string> text = surroundings.read(source.file);
  if (!text) return Fail(fmt::format("{}: {}", source.file, text.error().message));
  if (text->find("-----BEGIN ") == std::string::npos)
    return Fail(fmt::format("{}: is not PEM: it has no -----BEGIN line", source.file));
  return text;
}

// How long an answer with this end is used: a minute less, if there is as much.
Credentials::Clock::time_point GoodUntil(Timestamp expires) {
  const auto now = Credentials::Clock::now();
  if (!expires.Present()) return Credentials::Clock::time_point::max();
  const auto wall = std::chrono::duration_cast<std::chrono::nanoseconds>(
      std::chrono::system_clock::now().time_since_epoch());
  const std::chrono::nanoseconds left(expires.ns - wall.count());
  return now + std::max(left / 2, left - std::chrono::minutes(1));
}

}  // namespace

Credentials::Credentials(KubeConnection connection, Surroundings surroundings,
                         std::function<void(const std::string& line)> log)
    : connection_(std::move(connection)),
      surroundings_(std::move(surroundings)),
      log_(std::move(log)) {}

void Credentials::NoteUnreadable(bool& known, const std::string& problem) {
  const bool unreadable = !problem.empty();
  if (std::exchange(known, unreadable) == unreadable || !log_) return;
  log_(unreadable ? fmt::format("warning: credentials can no longer be read; what was read before "
                                "stays error={}",
                                LogQuoted(problem))
                  : std::string("credentials can be read again"));
}

Result<std::string> Credentials::ReadCa() {
  const std::scoped_lock lock(mutex_);
  Result<std::string> ca = ReadPem(connection_.ca, surroundings_);
  if (!ca && last_ca_.empty()) return ca;
  NoteUnreadable(ca_unreadable_, ca ? std::string() : ca.error().message);
  if (ca) last_ca_ = *ca;
  return last_ca_;
}

Result<std::shared_ptr<const Identity>> Credentials::Current() {
  const std::scoped_lock lock(mutex_);
  if (current_ != nullptr && Clock::now() < good_until_) return current_;
  Result<std::shared_ptr<const Identity>> fresh = Read();
  // What a plugin gave may have expired: nobody but the plugin can tell.
  if (!fresh && (last_read_ == nullptr || connection_.exec)) return fresh;
  NoteUnreadable(unreadable_, fresh ? std::string() : fresh.error().message);
  if (fresh) last_read_ = *fresh;
  current_ = last_read_;
  return current_;
}

void Credentials::Refused(const std::shared_ptr<const Identity>& identity) {
  const std::scoped_lock lock(mutex_);
  // Others may have been refused with the same one, and it may be another one by now.
  if (identity == current_) current_ = nullptr;
}

Result<std::shared_ptr<const Identity>> Credentials::Read() {
  good_until_ = Clock::now() + kReadAgain;
  auto identity = std::make_shared<Identity>();
  // Nobody who listens in is to be able to use what we know.
  if (connection_.server.starts_with("http://")) return identity;

  const auto pem = [&](const PemSource& source, std::string& target) -> Result<bool> {
    Result<std::string> text = ReadPem(source, surroundings_);
    if (!text) return Fail(text.error().message);
    target = std::move(*text);
    return true;
  };
  if (const auto read = pem(connection_.client_certificate, identity->client_certificate); !read)
    return Fail(read.error().message);
  if (const auto read = pem(connection_.client_key, identity->client_key); !read)
    return Fail(read.error().message);

  std::string token = connection_.token;
  if (!connection_.token_file.empty()) {
    Result<std::string> text = surroundings_.read(connection_.token_file);
    if (!text) return Fail(fmt::format("{}: {}", connection_.token_file, text.error().message));
    while (!text->empty() && (text->back() == '\n' || text->back() == '\r')) text->pop_back();
    if (text->empty()) return Fail(fmt::format("{}: is empty", connection_.token_file));
    token = std::move(*text);
  }
  if (connection_.exec) {
    // Everybody who wants to ask something comes here; a plugin that fails is left alone for a
    // while.
    if (!exec_problem_.empty() && Clock::now() < exec_again_) return Fail(exec_problem_);
    Result<ExecCredential> credential = RunExecPlugin(*connection_.exec, connection_);
    exec_problem_ = credential ? std::string() : credential.error().message;
    exec_again_ = Clock::now() + kPluginAgain;
    if (!credential) return Fail(exec_problem_);
    token = std::move(credential->token);
    if (!credential->client_certificate.empty()) {
      identity->client_certificate = std::move(credential->client_certificate);
      identity->client_key = std::move(credential->client_key);
    }
    good_until_ = GoodUntil(credential->expires);
  }
  if (!token.empty()) {
    identity->authorization = "Bearer " + token;
  } else if (!connection_.username.empty()) {
    identity->authorization =
        "Basic " + EncodeBase64(connection_.username + ":" + connection_.password);
  }
  return identity;
}

}  // namespace krafla
