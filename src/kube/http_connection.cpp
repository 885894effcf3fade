#include "kube/http_connection.h"

#include <arpa/inet.h>
#include <netinet/in.h>
#include <sys/epoll.h>
#include <sys/socket.h>

#include <algorithm>
#include <cstring>

#include <fmt/format.h>

namespace krafla {

namespace {

constexpr unsigned char kTlsHandshake = 0x16;
constexpr size_t kBytesOfARead = 4096;
constexpr size_t kRequestsOfATurn = 16;
constexpr size_t kMostDrained = 256 << 10;

// Assigning an empty text would keep the memory of the old one.
void GiveBack(std::string& text) {
  std::string().swap(text);
}

std::string_view ReasonOf(int status) {
  switch (status) {
    case 200:
      return "OK";
    case 400:
      return "Bad Request";
    case 401:
      return "Unauthorized";
    case 403:
      return "Forbidden";
    case 404:
      return "Not Found";
    case 405:
      return "Method Not Allowed";
    case 413:
      return "Content Too Large";
    case 414:
      return "URI Too Long";
    case 429:
      return "Too Many Requests";
    case 431:
      return "Request Header Fields Too Large";
    case 500:
      return "Internal Server Error";
    case 503:
      return "Service Unavailable";
    default:
      return "Status";
  }
}

std::string TextOf(int family, const void* address) {
  char text[INET6_ADDRSTRLEN] = "";
  return inet_ntop(family, address, text, sizeof text) != nullptr ? text : "unknown";
}

// One end of a connection.
HttpPeer EndOf(const sockaddr_storage& storage) {
  if (storage.ss_family == AF_INET) {
    const auto& at = reinterpret_cast<const sockaddr_in&>(storage).sin_addr;
    const std::string text = TextOf(AF_INET, &at);
    return {text, text, (ntohl(at.s_addr) >> 24) == 127};
  }
  if (storage.ss_family != AF_INET6) return {"unknown", "unknown", false};
  in6_addr at = reinterpret_cast<const sockaddr_in6&>(storage).sin6_addr;
  if (IN6_IS_ADDR_V4MAPPED(&at)) {
    in_addr old{};
    std::memcpy(&old, at.s6_addr + 12, sizeof old);
    const std::string text = TextOf(AF_INET, &old);
    return {text, text, (ntohl(old.s_addr) >> 24) == 127};
  }
  HttpPeer end{TextOf(AF_INET6, &at), {}, IN6_IS_ADDR_LOOPBACK(&at) != 0};
  std::memset(at.s6_addr + 8, 0, 8);
  end.group = end.loopback ? end.address : TextOf(AF_INET6, &at) + "/64";
  return end;
}

}  // namespace

HttpPeer PeerOf(int fd) {
  sockaddr_storage far{};
  sockaddr_storage near{};
  socklen_t far_size = sizeof far;
  socklen_t near_size = sizeof near;
  if (getpeername(fd, reinterpret_cast<sockaddr*>(&far), &far_size) != 0 ||
      getsockname(fd, reinterpret_cast<sockaddr*>(&near), &near_size) != 0)
    return {"unknown", "unknown", false};
  HttpPeer peer = EndOf(far);
  peer.loopback = peer.loopback && EndOf(near).loopback;
  return peer;
}

HttpConnection::HttpConnection(uint64_t id, int fd, HttpPeer peer, const Host& host,
                               Clock::time_point now)
    : id_(id),
      stream_(fd),
      peer_(std::move(peer)),
      host_(host),
      begun_(now),
      deadline_(now + host.limits->head_time),
      scanner_(host.limits->head) {}

HttpConnection::~HttpConnection() {
  if (work_ != nullptr) work_->abandoned = true;
}

uint32_t HttpConnection::interest() const {
  switch (state_) {
    case State::kFirstByte:
    case State::kDrain:
      return EPOLLIN;
    case State::kWorking:
      // The next request stays in the kernel until this one is answered.
      return client_ended_ ? 0U : static_cast<uint32_t>(EPOLLRDHUP);
    default:
      return stream_.waits_to_write() ? EPOLLOUT : EPOLLIN;
  }
}

void HttpConnection::NoteEndOfClient() {
  client_ended_ = true;
  if (work_ != nullptr) work_->finished = true;
}

bool HttpConnection::IsSlowReader(Clock::time_point now) const {
  // The deadline is moved by every byte that is taken, up to the end of the answer's own time.
  return state_ == State::kAnswer &&
         now > deadline_ - host_.limits->progress_time + std::chrono::seconds(1);
}

bool HttpConnection::Advance(Clock::time_point now) {
  another_turn_ = false;
  size_t answered = 0;
  while (true) {
    Step step = Step::kWait;
    switch (state_) {
      case State::kFirstByte:
        step = ReadFirstByte();
        break;
      case State::kHandshake:
        step = Shake();
        break;
      case State::kHead:
        if (answered >= kRequestsOfATurn) {
          another_turn_ = true;
          return true;
        }
        step = ReadRequest(now);
        if (step == Step::kGoOn) ++answered;
        break;
      case State::kWorking:
        return true;
      case State::kAnswer:
        step = WriteAnswer(now);
        break;
      case State::kDrain:
        step = Drain();
        break;
    }
    if (step == Step::kEnd) return false;
    if (step == Step::kWait) return true;
  }
}

HttpConnection::Step HttpConnection::ReadFirstByte() {
  if (host_.transport == Transport::kPlain) {
    state_ = State::kHead;
    return Step::kGoOn;
  }
  unsigned char first = 0;
  const SocketStream::Outcome outcome = stream_.Peek(first);
  if (outcome == SocketStream::Outcome::kWait) return Step::kWait;
  if (outcome == SocketStream::Outcome::kEnd) return Step::kEnd;
  if (first == kTlsHandshake) {
    state_ = State::kHandshake;
    return stream_.StartTls(host_.tls_context()) ? Step::kGoOn : Step::kEnd;
  }
  if (host_.transport == Transport::kTls) return Step::kEnd;
  state_ = State::kHead;
  return Step::kGoOn;
}

HttpConnection::Step HttpConnection::Shake() {
  const SocketStream::Outcome outcome = stream_.Handshake();
  if (outcome == SocketStream::Outcome::kWait) return Step::kWait;
  if (outcome == SocketStream::Outcome::kEnd) return Step::kEnd;
  state_ = State::kHead;
  return Step::kGoOn;
}

HttpConnection::Step HttpConnection::ReadRequest(Clock::time_point now) {
  while (true) {
    const auto length = scanner_.Scan(in_);
    if (!length) {
      Refuse(length.error(), now);
      return Step::kGoOn;
    }
    if (*length > 0) {
      const auto head = ReadHead(std::string_view(in_).substr(0, *length), host_.limits->head);
      in_.erase(0, *length);
      scanner_.Restart();
      if (head) {
        Begin(*head, now);
      } else {
        Refuse(head.error(), now);
      }
      return Step::kGoOn;
    }
    // One byte beyond the limit: then the scanner says so.
    const size_t room = host_.limits->head.total + 1 - in_.size();
    char bytes[kBytesOfARead];
    const SocketStream::Moved got = stream_.Read(bytes, std::min(room, sizeof bytes));
    if (got.outcome == SocketStream::Outcome::kWait) return Step::kWait;
    if (got.outcome == SocketStream::Outcome::kEnd) return Step::kEnd;
    in_.append(bytes, got.bytes);
  }
}

void HttpConnection::Begin(const HttpHead& head, Clock::time_point now) {
  method_ = head.method;
  keep_alive_ = head.keep_alive && !head.has_body;
  const bool reads = method_ == "GET" || method_ == "HEAD";
  if (reads && head.has_body) {
    Refuse({413, "requests with a body are not taken"}, now);
    return;
  }
  Host::Handled handled = host_.handle(*this, {.method = head.method,
                                               .path = head.path,
                                               .parameters = head.parameters,
                                               .authorization = head.authorization,
                                               .accept = head.accept,
                                               .peer = peer_.address,
                                               .tls = stream_.tls(),
                                               .loopback = peer_.loopback});
  if (handled.answer) {
    SetAnswer(std::move(*handled.answer), now);
    return;
  }
  work_ = std::move(handled.work);
  if (client_ended_) work_->finished = true;
  state_ = State::kWorking;
  deadline_ = now + host_.limits->page_time;
}

void HttpConnection::Refuse(const HeadRefusal& refusal, Clock::time_point now) {
  keep_alive_ = false;
  SetAnswer({.status = refusal.status,
             .body = fmt::format("{}\n", refusal.why),
             .content_type = "text/plain"},
            now);
}

void HttpConnection::TakeAnswer(ApiAnswer answer, Clock::time_point now) {
  work_ = nullptr;
  SetAnswer(std::move(answer), now);
}

void HttpConnection::GiveUpPage(ApiAnswer answer, Clock::time_point now) {
  work_->abandoned = true;
  work_ = nullptr;
  keep_alive_ = false;
  SetAnswer(std::move(answer), now);
}

void HttpConnection::SetAnswer(ApiAnswer answer, Clock::time_point now) {
  head_ = fmt::format("HTTP/1.1 {} {}\r\nContent-Type: {}\r\nContent-Length: {}\r\n", answer.status,
                      ReasonOf(answer.status), answer.content_type, answer.body.size());
  if (answer.retry_after_s) head_ += fmt::format("Retry-After: {}\r\n", *answer.retry_after_s);
  for (const auto& [name, value] : answer.headers) head_ += fmt::format("{}: {}\r\n", name, value);
  head_ += "X-Content-Type-Options: nosniff\r\nCache-Control: no-store\r\n";
  head_ += keep_alive_ ? "Connection: keep-alive\r\n\r\n" : "Connection: close\r\n\r\n";
  body_ = MappedText();
  if (method_ == "HEAD") {
    // No body.
  } else if (answer.body.size() <= kBytesOfARead) {
    head_ += answer.body;  // one packet, most of the time
  } else {
    body_ = MappedText(std::move(answer.body));
  }
  sent_ = 0;
  state_ = State::kAnswer;
  answer_until_ = now + host_.limits->answer_time;
  deadline_ = std::min(answer_until_, now + host_.limits->progress_time);
}

HttpConnection::Step HttpConnection::WriteAnswer(Clock::time_point now) {
  while (bytes_unsent() > 0) {
    const bool in_head = sent_ < head_.size();
    const std::string_view rest =
        in_head ? std::string_view(head_).substr(sent_) : body_.view().substr(sent_ - head_.size());
    const SocketStream::Moved moved = stream_.Write(rest);
    if (moved.outcome == SocketStream::Outcome::kEnd) return Step::kEnd;
    if (moved.outcome == SocketStream::Outcome::kWait) return Step::kWait;
    sent_ += moved.bytes;
    deadline_ = std::min(answer_until_, now + host_.limits->progress_time);
  }
  GiveBack(head_);
  body_ = MappedText();
  sent_ = 0;
  method_.clear();
  begun_ = now;
  if (keep_alive_) {
    state_ = State::kHead;
    deadline_ = now + host_.limits->head_time;
    return Step::kGoOn;
  }
  GiveBack(in_);
  stream_.FinishWriting();
  state_ = State::kDrain;
  deadline_ = now + host_.limits->drain_time;
  return Step::kGoOn;
}

// A socket that is closed while bytes wait to be read is reset, and the client may lose the answer.
HttpConnection::Step HttpConnection::Drain() {
  while (drained_ < kMostDrained) {
    const SocketStream::Moved got = stream_.Discard();
    if (got.outcome == SocketStream::Outcome::kEnd) return Step::kEnd;
    if (got.outcome == SocketStream::Outcome::kWait) return Step::kWait;
    drained_ += got.bytes;
  }
  return Step::kEnd;
}

}  // namespace krafla
