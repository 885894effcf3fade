#include "kube/socket_stream.h"

#include <openssl/err.h>
#include <openssl/ssl.h>
#include <sys/socket.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <limits>

namespace krafla {

namespace {

bool IsForLater(int problem) {
  return problem == EAGAIN || problem == EWOULDBLOCK || problem == EINTR;
}

int AsInt(size_t bytes) {
  return static_cast<int>(std::min<size_t>(bytes, std::numeric_limits<int>::max()));
}

}  // namespace

SocketStream::~SocketStream() {
  SSL_free(ssl_);
  ::close(fd_);
}

SocketStream::Outcome SocketStream::Peek(unsigned char& first) const {
  const ssize_t got = ::recv(fd_, &first, 1, MSG_PEEK);
  if (got > 0) return Outcome::kDone;
  return got < 0 && IsForLater(errno) ? Outcome::kWait : Outcome::kEnd;
}

bool SocketStream::StartTls(ssl_ctx_st* context) {
  ERR_clear_error();
  ssl_ = SSL_new(context);
  if (ssl_ == nullptr || SSL_set_fd(ssl_, fd_) != 1) return false;
  SSL_set_accept_state(ssl_);
  return true;
}

SocketStream::Moved SocketStream::OfSsl(int result) {
  if (result > 0) return {Outcome::kDone, static_cast<size_t>(result)};
  const int why = SSL_get_error(ssl_, result);
  waits_to_write_ = why == SSL_ERROR_WANT_WRITE;
  if (why == SSL_ERROR_WANT_READ || why == SSL_ERROR_WANT_WRITE) return {Outcome::kWait, 0};
  ERR_clear_error();
  return {Outcome::kEnd, 0};
}

SocketStream::Outcome SocketStream::Handshake() {
  ERR_clear_error();
  return OfSsl(SSL_do_handshake(ssl_)).outcome;
}

SocketStream::Moved SocketStream::Read(char* to, size_t most) {
  if (ssl_ != nullptr) {
    ERR_clear_error();
    return OfSsl(SSL_read(ssl_, to, AsInt(most)));
  }
  waits_to_write_ = false;
  const ssize_t got = ::recv(fd_, to, most, 0);
  if (got > 0) return {Outcome::kDone, static_cast<size_t>(got)};
  return {got < 0 && IsForLater(errno) ? Outcome::kWait : Outcome::kEnd, 0};
}

SocketStream::Moved SocketStream::Write(std::string_view bytes) {
  if (ssl_ != nullptr) {
    ERR_clear_error();
    return OfSsl(SSL_write(ssl_, bytes.data(), AsInt(bytes.size())));
  }
  waits_to_write_ = true;
  const ssize_t sent = ::send(fd_, bytes.data(), bytes.size(), MSG_NOSIGNAL);
  if (sent > 0) return {Outcome::kDone, static_cast<size_t>(sent)};
  return {sent < 0 && IsForLater(errno) ? Outcome::kWait : Outcome::kEnd, 0};
}

SocketStream::Moved SocketStream::Discard() {
  char bytes[4096];
  waits_to_write_ = false;
  const ssize_t got = ::recv(fd_, bytes, sizeof bytes, 0);
  if (got > 0) return {Outcome::kDone, static_cast<size_t>(got)};
  return {got < 0 && IsForLater(errno) ? Outcome::kWait : Outcome::kEnd, 0};
}

void SocketStream::FinishWriting() {
  if (ssl_ != nullptr && SSL_is_init_finished(ssl_) == 1) {
    ERR_clear_error();
    SSL_shutdown(ssl_);
    ERR_clear_error();
  }
  ::shutdown(fd_, SHUT_WR);
}

}  // namespace krafla
