// The bytes of one accepted connection, plain or TLS. Nothing here waits: what cannot be done now
// says so, and the owner asks again when the socket is ready.
#pragma once

#include <cstddef>
#include <cstdint>
#include <string_view>

struct ssl_st;      // SSL of OpenSSL
struct ssl_ctx_st;  // SSL_CTX

namespace krafla {

class SocketStream {
 public:
  // Takes the descriptor, which is non-blocking.
  explicit SocketStream(int fd) : fd_(fd) {}
  ~SocketStream();
  SocketStream(const SocketStream&) = delete;
  SocketStream& operator=(const SocketStream&) = delete;

  enum class Outcome : uint8_t { kDone, kWait, kEnd };
  struct Moved {
    Outcome outcome = Outcome::kWait;
    size_t bytes = 0;  // kDone: one at least
  };

  // The first byte, which stays where it is. kEnd: the client has gone.
  Outcome Peek(unsigned char& first) const;
  // From here on the bytes are encrypted. False: out of memory.
  bool StartTls(ssl_ctx_st* context);
  Outcome Handshake();
  Moved Read(char* to, size_t most);
  Moved Write(std::string_view bytes);
  // Throws away what the client still sends, encrypted or not.
  Moved Discard();
  // No more is written; the client sees the end behind what it was sent.
  void FinishWriting();

  int fd() const { return fd_; }
  bool tls() const { return ssl_ != nullptr; }
  // After kWait: for what. TLS may have to read in order to write, and the other way round.
  bool waits_to_write() const { return waits_to_write_; }

 private:
  Moved OfSsl(int result);

  int fd_;
  ssl_st* ssl_ = nullptr;
  bool waits_to_write_ = false;
};

}  // namespace krafla
