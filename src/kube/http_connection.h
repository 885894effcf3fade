// One connection of the HTTP server: its state, and the steps from one to the next. Which
// connections there may be, and what the pages are, is the server's (kube/http_server.cpp).
#pragma once

#include <chrono>
#include <cstdint>
#include <functional>
#include <memory>
#include <optional>
#include <string>

#include "kube/api_request.h"
#include "kube/http_head.h"
#include "kube/http_server.h"
#include "kube/mapped_text.h"
#include "kube/request_workers.h"
#include "kube/socket_stream.h"

namespace krafla {

struct HttpPeer {
  std::string address;  // "10.0.0.7", "fd00::7"
  std::string group;    // connections are counted by it: the address, or its /64
  bool loopback = false;
};
// Of a connected socket.
HttpPeer PeerOf(int fd);

class HttpConnection {
 public:
  using Clock = std::chrono::steady_clock;
  enum class State : uint8_t {
    kFirstByte,  // TLS or not
    kHandshake,
    kHead,     // waits for a request, or for the rest of one
    kWorking,  // a worker makes the page
    kAnswer,   // the client takes the answer
    kDrain,    // all is said; until the client sees it
  };
  // What the connection needs of its server.
  struct Host {
    const HttpServerLimits* limits = nullptr;
    Transport transport = Transport::kPlain;
    std::function<ssl_ctx_st*()> tls_context;
    // An answer, or the work that was handed to a worker.
    struct Handled {
      std::optional<ApiAnswer> answer;
      std::shared_ptr<PageWork> work;
    };
    std::function<Handled(HttpConnection& connection, ApiRequest request)> handle;
  };

  HttpConnection(uint64_t id, int fd, HttpPeer peer, const Host& host, Clock::time_point now);
  ~HttpConnection();

  // Goes on until it has to wait. False: it has ended.
  bool Advance(Clock::time_point now);
  // The page that the worker made; Advance follows.
  void TakeAnswer(ApiAnswer answer, Clock::time_point now);
  // The page takes too long: `answer` is sent instead, and the connection ends. What the worker
  // makes is thrown away. Only in kWorking; Advance follows.
  void GiveUpPage(ApiAnswer answer, Clock::time_point now);
  const ApiRequest& request() const { return work_->request; }  // in kWorking

  uint64_t id() const { return id_; }
  int fd() const { return stream_.fd(); }
  const HttpPeer& peer() const { return peer_; }
  State state() const { return state_; }
  bool tls() const { return stream_.tls(); }
  Clock::time_point begun() const { return begun_; }  // accept, or the end of the last answer
  Clock::time_point deadline() const { return deadline_; }
  size_t bytes_unsent() const { return head_.size() + body_.size() - sent_; }
  // What it keeps of an answer until the last byte is taken.
  size_t bytes_held() const { return bytes_unsent() == 0 ? 0 : head_.size() + body_.size(); }
  // More requests are here already, but the turn is over: advance again soon.
  bool wants_another_turn() const { return another_turn_; }
  // EPOLLIN, EPOLLOUT, EPOLLRDHUP or nothing.
  uint32_t interest() const;
  // The client sends no more. Pages that take long are given up then; the connection stays for the
  // answer.
  void NoteEndOfClient();
  // The client has not taken a byte of its answer for a while.
  bool IsSlowReader(Clock::time_point now) const;

 private:
  enum class Step : uint8_t { kGoOn, kWait, kEnd };
  Step ReadFirstByte();
  Step Shake();
  Step ReadRequest(Clock::time_point now);
  Step WriteAnswer(Clock::time_point now);
  Step Drain();
  void Begin(const HttpHead& head, Clock::time_point now);
  void Refuse(const HeadRefusal& refusal, Clock::time_point now);
  void SetAnswer(ApiAnswer answer, Clock::time_point now);

  const uint64_t id_;
  SocketStream stream_;
  const HttpPeer peer_;
  const Host& host_;
  State state_ = State::kFirstByte;
  Clock::time_point begun_;
  Clock::time_point deadline_;
  Clock::time_point answer_until_;
  bool another_turn_ = false;

  std::string in_;
  HeadScanner scanner_;
  std::shared_ptr<PageWork> work_;
  std::string method_;
  std::string head_;  // of the answer
  MappedText body_;
  size_t sent_ = 0;
  size_t drained_ = 0;
  bool keep_alive_ = false;
  bool client_ended_ = false;
};

}  // namespace krafla
