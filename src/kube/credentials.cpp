#include "kube/credentials.h"

#include <condition_variable>
#include <utility>

#include <fmt/format.h>

#include "base/base64.h"
#include "base/log_text.h"

namespace krafla {

namespace {

constexpr std::chrono::minutes kReadAgain{1};

Result<std::string> ReadPem(const PemSource& source, const Surroundings& surroundings) {
  if (!source.data.empty() || source.file.empty()) return source.data;
  Result<std::string> text = surroundings.read(source.file);
  if (!text) return Fail(fmt::format("{}: {}", source.file, text.error().message));
  if (text->find("-----BEGIN ") == std::string::npos)
    return Fail(fmt::format("{}: is not PEM: it has no -----BEGIN line", source.file));
  return text;
}

}  // namespace

Credentials::Credentials(KubeConnection connection, Surroundings surroundings,
                         std::function<void(const std::string& line)> log, ExecTiming timing)
    : connection_(std::move(connection)),
      surroundings_(std::move(surroundings)),
      log_(std::move(log)) {
  if (!connection_.exec || connection_.server.starts_with("http://")) return;
  plugin_ = std::make_unique<ExecCredentialSource>(
      connection_,
      ExecCredentialSource::Options{.patience = timing.patience,
                                    .retry_wait = timing.retry_wait,
                                    .on_change =
                                        [this] {
                                          const std::scoped_lock lock(listeners_mutex_);
                                          for (const auto& [id, listener] : listeners_) listener();
                                        },
                                    .log = log_});
}

uint64_t Credentials::AddListener(std::function<void()> listener) {
  const std::scoped_lock lock(listeners_mutex_);
  listeners_.emplace(++last_listener_, std::move(listener));
  return last_listener_;
}

void Credentials::RemoveListener(uint64_t id) {
  const std::scoped_lock lock(listeners_mutex_);
  listeners_.erase(id);
}

void Credentials::Stop(std::chrono::milliseconds grace) {
  if (plugin_ != nullptr) plugin_->Stop(grace);
}

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
  if (plugin_ != nullptr) return CurrentOfPlugin();
  if (current_ != nullptr && Clock::now() < good_until_) return current_;
  good_until_ = Clock::now() + kReadAgain;
  Result<std::shared_ptr<const Identity>> fresh = Read(nullptr);
  if (!fresh && last_read_ == nullptr) return fresh;
  NoteUnreadable(unreadable_, fresh ? std::string() : fresh.error().message);
  if (fresh) last_read_ = *fresh;
  current_ = last_read_;
  return current_;
}

Result<std::shared_ptr<const Identity>> Credentials::Await() {
  std::mutex mutex;
  std::condition_variable changed;
  uint64_t changes = 0;
  const uint64_t listener = AddListener([&] {
    const std::scoped_lock lock(mutex);
    ++changes;
    changed.notify_all();
  });
  Result<std::shared_ptr<const Identity>> identity = Current();
  for (uint64_t seen = 0; identity && *identity == nullptr; identity = Current()) {
    std::unique_lock lock(mutex);
    changed.wait(lock, [&] { return changes != seen; });
    seen = changes;
  }
  RemoveListener(listener);
  return identity;
}

Result<std::shared_ptr<const Identity>> Credentials::CurrentOfPlugin() {
  const ExecCredentialSource::Answer answer = plugin_->Current();
  if (!answer.problem.empty()) return Fail(answer.problem);
  if (answer.credential == nullptr) return std::shared_ptr<const Identity>();
  if (current_ != nullptr && generation_ == answer.generation) return current_;
  Result<std::shared_ptr<const Identity>> fresh = Read(answer.credential.get());
  if (!fresh) return fresh;
  generation_ = answer.generation;
  current_ = std::move(*fresh);
  return current_;
}

void Credentials::Refused(const std::shared_ptr<const Identity>& identity) {
  const std::scoped_lock lock(mutex_);
  // Several requests may be refused with the same identity, and there may be a new one by now.
  if (identity != current_) return;
  if (plugin_ != nullptr) {
    plugin_->Refused(generation_);
  } else {
    current_ = nullptr;
  }
}

Result<std::shared_ptr<const Identity>> Credentials::Read(const ExecCredential* plugin) {
  auto identity = std::make_shared<Identity>();
  // On an unencrypted connection anyone in between could read and use it.
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
  if (plugin != nullptr) {
    token = plugin->token;
    if (!plugin->client_certificate.empty()) {
      identity->client_certificate = plugin->client_certificate;
      identity->client_key = plugin->client_key;
    }
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
