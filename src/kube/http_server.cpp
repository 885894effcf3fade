#include "kube/http_server.h"

#include <fcntl.h>
#include <pthread.h>
#include <signal.h>
#include <sys/epoll.h>
#include <sys/eventfd.h>
#include <sys/socket.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <cstring>
#include <map>
#include <mutex>
#include <thread>
#include <utility>

#include <fmt/format.h>

#include "base/check.h"
#include "kube/http_connection.h"
#include "kube/request_workers.h"

namespace krafla {

namespace {

using Clock = HttpConnection::Clock;
using State = HttpConnection::State;
using std::chrono::milliseconds;

constexpr uint64_t kListener = 0;  // what an event of epoll is about; connections count from 2
constexpr uint64_t kWakeUp = 1;
constexpr int kEventsOfATurn = 32;
constexpr int kAcceptsOfATurn = 32;
constexpr size_t kSpareDescriptors = 2;
constexpr milliseconds kPauseWithoutDescriptors{100};
constexpr milliseconds kBetweenLooksAtFiles{1'000};
constexpr milliseconds kBetweenLogLines{60'000};

int OpenSpare() {
  return ::open("/dev/null", O_RDONLY | O_CLOEXEC);
}

bool IsOutOfDescriptors(int problem) {
  return problem == EMFILE || problem == ENFILE || problem == ENOBUFS || problem == ENOMEM;
}

// A late verdict about a caller.
struct LateVerdict {
  std::shared_ptr<PageWork> work;
  size_t lane = 0;
  bool reserved = false;  // counts in checks_reserved_
  AccessVerdict verdict;
};

// Late verdicts on their way to the thread of the connections, from any thread. Shared with the
// callbacks that put them in, because these may run when the server is gone.
class VerdictBox {
 public:
  explicit VerdictBox(int wake) : wake_(wake) {}

  void Put(LateVerdict verdict) {
    const std::scoped_lock lock(mutex_);
    if (wake_ < 0) return;
    verdicts_.push_back(std::move(verdict));
    const uint64_t one = 1;
    // It can only be full, and then the thread wakes up too.
    [[maybe_unused]] const ssize_t written = ::write(wake_, &one, sizeof one);
  }
  std::vector<LateVerdict> Take() {
    const std::scoped_lock lock(mutex_);
    return std::exchange(verdicts_, {});
  }
  // Before the descriptor is closed.
  void Close() {
    const std::scoped_lock lock(mutex_);
    wake_ = -1;
    verdicts_.clear();
  }

 private:
  std::mutex mutex_;
  int wake_;
  std::vector<LateVerdict> verdicts_;
};

}  // namespace

class HttpServer::Impl {
 public:
  Impl(HttpServerOptions options, ListeningSocket socket)
      : options_(std::move(options)), listening_(std::move(socket)) {
    epoll_ = ::epoll_create1(EPOLL_CLOEXEC);
    wake_ = ::eventfd(0, EFD_NONBLOCK | EFD_CLOEXEC);
    KRAFLA_CHECK(epoll_ >= 0 && wake_ >= 0, "no descriptor for the HTTP server's events");
    verdicts_ = std::make_shared<VerdictBox>(wake_);
    Watch(EPOLL_CTL_ADD, listening_.fd, EPOLLIN, kListener);
    Watch(EPOLL_CTL_ADD, wake_, EPOLLIN, kWakeUp);
    for (size_t i = 0; i < kSpareDescriptors; ++i)
      if (const int spare = OpenSpare(); spare >= 0) spares_.push_back(spare);
    host_.limits = &options_.limits;
    host_.transport = options_.transport;
    host_.tls_context = [this] { return options_.identity->context(); };
    host_.handle = [this](HttpConnection& connection, ApiRequest request) {
      return Handle(connection, std::move(request));
    };
    for (PageLane& lane : options_.lanes)
      workers_.push_back(std::make_unique<RequestWorkers>(RequestWorkers::Options{
          .threads = lane.workers,
          .most_waiting = lane.most_waiting,
          .most_of_a_caller = lane.most_of_a_caller,
          .most_worked_on_of_a_caller = lane.most_worked_on_of_a_caller,
          .low_priority = lane.low_priority,
          .answer = lane.answer,
          .deliver = [this](uint64_t to, ApiAnswer answer) { Deliver(to, std::move(answer)); },
          .busy = options_.busy,
          .log = options_.log}));
    thread_ = std::thread([this] { Loop(); });
    pthread_setname_np(thread_.native_handle(), options_.name.substr(0, 15).c_str());
  }

  ~Impl() {
    stopping_ = true;
    WakeUp();
    thread_.join();
    verdicts_->Close();
    connections_.clear();
    workers_.clear();
    for (const int spare : spares_) ::close(spare);
    ::close(listening_.fd);
    ::close(wake_);
    ::close(epoll_);
  }

  const ListeningSocket& listening() const { return listening_; }

 private:
  void Loop() {
    // OpenSSL writes to sockets without MSG_NOSIGNAL.
    sigset_t broken_pipe;
    sigemptyset(&broken_pipe);
    sigaddset(&broken_pipe, SIGPIPE);
    pthread_sigmask(SIG_BLOCK, &broken_pipe, nullptr);
    epoll_event events[kEventsOfATurn];
    while (!stopping_) {
      const int count = ::epoll_wait(epoll_, events, kEventsOfATurn, PatienceMs());
      KRAFLA_CHECK(count >= 0 || errno == EINTR, std::strerror(errno));
      now_ = Clock::now();
      bool knocks = false;
      for (int i = 0; i < count; ++i) {
        const uint64_t about = events[i].data.u64;
        if (about == kListener) {
          knocks = true;
        } else if (about == kWakeUp) {
          uint64_t ignored = 0;
          while (::read(wake_, &ignored, sizeof ignored) > 0) {
          }
        } else {
          OnEvent(about, events[i].events);
        }
      }
      TakeVerdicts();
      TakeDelivered();
      // Behind those that are here already: a flood of new ones does not hold them up.
      if (knocks) AcceptSome();
      for (const uint64_t id : std::exchange(again_, {})) Advance(id);
      DropLate();
      LookAtFiles();
    }
  }

  int PatienceMs() const {
    if (!again_.empty()) return 0;
    Clock::time_point next = now_ + kBetweenLooksAtFiles;
    if (!listens_) next = std::min(next, listen_again_);
    for (const auto& [id, connection] : connections_) next = std::min(next, connection->deadline());
    const auto wait = std::chrono::ceil<milliseconds>(next - Clock::now());
    return static_cast<int>(std::clamp<int64_t>(wait.count(), 0, 1000));
  }

  bool TryWatch(int operation, int fd, uint32_t events, uint64_t about) const {
    epoll_event event{};
    event.events = events;
    event.data.u64 = about;
    return ::epoll_ctl(epoll_, operation, fd, &event) == 0;
  }

  void Watch(int operation, int fd, uint32_t events, uint64_t about) const {
    KRAFLA_CHECK(TryWatch(operation, fd, events, about), std::strerror(errno));
  }

  void WakeUp() const {
    const uint64_t one = 1;
    // It can only be full, and then the thread wakes up too.
    [[maybe_unused]] const ssize_t written = ::write(wake_, &one, sizeof one);
  }

  // ---- connections

  struct Watched {
    std::unique_ptr<HttpConnection> connection;
    uint32_t interest = 0;
    HttpConnection* operator->() const { return connection.get(); }
  };

  void OnEvent(uint64_t id, uint32_t events) {
    const auto it = connections_.find(id);
    if (it == connections_.end()) return;
    const bool gone = (events & (EPOLLHUP | EPOLLERR)) != 0;
    if (gone && it->second->state() == State::kWorking) {
      Drop(id);
      return;
    }
    if ((events & EPOLLRDHUP) != 0) it->second->NoteEndOfClient();
    Advance(id);
  }

  void Advance(uint64_t id) {
    const auto it = connections_.find(id);
    if (it == connections_.end()) return;
    Watched& watched = it->second;
    const bool had_tls = watched->tls();
    if (!watched->Advance(now_)) {
      Drop(id);
      return;
    }
    if (watched->wants_another_turn()) again_.push_back(id);
    if (const uint32_t wanted = watched->interest(); wanted != watched.interest) {
      watched.interest = wanted;
      Watch(EPOLL_CTL_MOD, watched->fd(), wanted, id);
    }
    if (!had_tls && watched->tls()) BoundTls(id);
  }

  void Drop(uint64_t id) {
    connections_.erase(id);  // closes, and leaves epoll with it
    while (spares_.size() < kSpareDescriptors) {
      const int spare = OpenSpare();
      if (spare < 0) break;
      spares_.push_back(spare);
    }
    if (!listens_ && now_ >= listen_again_) ListenAgain();
  }

  void DropLate() {
    std::vector<uint64_t> late;
    for (const auto& [id, connection] : connections_)
      if (connection->deadline() <= now_) late.push_back(id);
    for (const uint64_t id : late) {
      Watched& watched = connections_.at(id);
      if (watched->state() != State::kWorking) {
        Drop(id);
        continue;
      }
      watched->GiveUpPage(options_.too_late(watched->request()), now_);
      Advance(id);
    }
    if (!listens_ && now_ >= listen_again_) ListenAgain();
  }

  // ---- new connections

  void AcceptSome() {
    for (int i = 0; i < kAcceptsOfATurn && listens_; ++i) {
      const int fd = ::accept4(listening_.fd, nullptr, nullptr, SOCK_NONBLOCK | SOCK_CLOEXEC);
      if (fd >= 0) {
        TakeVerdicts();  // those that came before it no longer count
        Admit(fd);
        continue;
      }
      const int problem = errno;
      if (problem == EAGAIN || problem == EWOULDBLOCK) return;
      if (IsOutOfDescriptors(problem)) MakeDescriptor(problem);
      // Otherwise that one connection has failed before it was accepted.
    }
  }

  // The process has no descriptor left: an idle connection gives its own, else a spare one goes.
  // Where there is none either, the listener rests for a moment instead of spinning.
  void MakeDescriptor(int problem) {
    Complain(fmt::format("cannot accept connections at={} error=\"{}\"", listening_.at,
                         std::strerror(problem)));
    if (const auto victim = Victim([](const HttpConnection&) { return true; })) {
      connections_.erase(*victim);
    } else if (!spares_.empty()) {
      ::close(spares_.back());
      spares_.pop_back();
    } else {
      listens_ = false;
      listen_again_ = now_ + kPauseWithoutDescriptors;
      Watch(EPOLL_CTL_MOD, listening_.fd, 0, kListener);
    }
  }

  void ListenAgain() {
    listens_ = true;
    Watch(EPOLL_CTL_MOD, listening_.fd, EPOLLIN, kListener);
  }

  void Admit(int fd) {
    HttpPeer peer = PeerOf(fd);
    const HttpServerLimits& limits = options_.limits;
    const size_t most_of_peer =
        peer.loopback ? limits.connections_of_loopback : limits.connections_of_a_peer;
    size_t of_peer = 0;
    for (const auto& [id, connection] : connections_)
      if (connection->peer().group == peer.group) ++of_peer;
    std::optional<uint64_t> victim;
    if (of_peer >= most_of_peer) {
      victim = Victim(
          [&](const HttpConnection& connection) { return connection.peer().group == peer.group; });
    } else if (connections_.size() >= limits.connections) {
      victim = Victim([](const HttpConnection&) { return true; });
    } else {
      victim = kListener;  // none is needed
    }
    if (!victim) {
      ::close(fd);
      return;
    }
    if (*victim != kListener) Drop(*victim);
    const uint64_t id = next_id_++;
    Watched watched{std::make_unique<HttpConnection>(id, fd, std::move(peer), host_, now_),
                    EPOLLIN};
    // The kernel bounds what a user watches and its memory: `watched` closes the connection then.
    if (!TryWatch(EPOLL_CTL_ADD, fd, EPOLLIN, id)) {
      Complain(fmt::format("cannot watch a connection at={} error=\"{}\"", listening_.at,
                           std::strerror(errno)));
      return;
    }
    connections_.emplace(id, std::move(watched));
    // Its request may be here already: then it is answered before anything can displace it.
    Advance(id);
  }

  void BoundTls(uint64_t newest) {
    size_t count = 0;
    for (const auto& [id, connection] : connections_)
      if (connection->tls()) ++count;
    if (count <= options_.limits.tls_connections) return;
    const auto victim = Victim([&](const HttpConnection& connection) {
      return connection.tls() && connection.id() != newest;
    });
    Drop(victim.value_or(newest));
  }

  // The connection that is closed to make place for another one: it is idle, has not sent its
  // request, or does not take its answer; of the peer that has most of those; the oldest one. A
  // client that has few connections keeps them, however many another one opens.
  template <class Filter>
  std::optional<uint64_t> Victim(Filter&& may_go) const {
    std::map<std::string_view, std::pair<size_t, const HttpConnection*>> by_peer;
    for (const auto& [id, watched] : connections_) {
      const HttpConnection& connection = *watched.connection;
      const bool in_work = connection.state() == State::kWorking ||
                           (connection.state() == State::kAnswer && !connection.IsSlowReader(now_));
      if (in_work || !may_go(connection)) continue;
      auto& [count, oldest] = by_peer[connection.peer().group];
      ++count;
      if (oldest == nullptr || connection.begun() < oldest->begun()) oldest = &connection;
    }
    const auto most = std::max_element(
        by_peer.begin(), by_peer.end(),
        [](const auto& a, const auto& b) { return a.second.first < b.second.first; });
    if (most == by_peer.end()) return std::nullopt;
    return most->second.second->id();
  }

  // ---- requests

  HttpConnection::Host::Handled Handle(const HttpConnection& connection, ApiRequest request) {
    HttpServerOptions::Route route = options_.route(request);
    if (route.answer) return {std::move(route.answer), nullptr};
    auto work = std::make_shared<PageWork>();
    work->request = std::move(request);
    work->connection = connection.id();
    work->peer = connection.peer().group;
    // The request is part of the work and does not outlive it.
    work->request.given_up = [raw = work.get()] { return raw->abandoned || raw->finished; };
    if (options_.authorize) {
      const bool within = MayCheckOneMore(*work);
      const bool reserved = !within && checks_reserved_ < options_.limits.checks_reserved &&
                            options_.was_allowed && options_.was_allowed(work->request);
      const bool may_wait = within || reserved;
      AccessVerdictCallback later;
      if (may_wait)
        later = [box = verdicts_, work, lane = route.lane, reserved](AccessVerdict late) {
          box->Put({work, lane, reserved, std::move(late)});
        };
      std::optional<AccessVerdict> verdict = options_.authorize(work->request, std::move(later));
      if (!verdict && !may_wait) return {options_.busy(work->request), nullptr};
      if (!verdict) {
        if (reserved) {
          ++checks_reserved_;
        } else {
          ++checks_pending_;
          ++checks_pending_by_peer_[work->peer];
        }
        return {std::nullopt, std::move(work)};
      }
      if (verdict->refusal) return {std::move(verdict->refusal), nullptr};
      work->request.user = std::move(verdict->user);
    }
    if (!workers_[route.lane]->Offer(work)) return {options_.busy(work->request), nullptr};
    return {std::nullopt, std::move(work)};
  }

  // A check whose connection has ended counts until its verdict is there: it still costs a request
  // to the API server.
  bool MayCheckOneMore(const PageWork& work) const {
    if (checks_pending_ >= options_.limits.checks_pending) return false;
    const auto of_peer = checks_pending_by_peer_.find(work.peer);
    return work.request.loopback || of_peer == checks_pending_by_peer_.end() ||
           of_peer->second < options_.limits.checks_pending_of_a_peer;
  }

  void TakeVerdicts() {
    for (LateVerdict& late : verdicts_->Take()) {
      if (late.reserved) {
        --checks_reserved_;
      } else {
        --checks_pending_;
        const auto of_peer = checks_pending_by_peer_.find(late.work->peer);
        if (--of_peer->second == 0) checks_pending_by_peer_.erase(of_peer);
      }
      if (late.work->abandoned) continue;
      late.work->request.user = std::move(late.verdict.user);
      if (!late.verdict.refusal && workers_[late.lane]->Offer(late.work)) continue;
      Finish(late.work->connection, late.verdict.refusal ? std::move(*late.verdict.refusal)
                                                         : options_.busy(late.work->request));
    }
  }

  // On any thread.
  void Deliver(uint64_t to, ApiAnswer answer) {
    {
      const std::scoped_lock lock(mutex_);
      delivered_.emplace_back(to, std::move(answer));
    }
    WakeUp();
  }

  void TakeDelivered() {
    std::vector<std::pair<uint64_t, ApiAnswer>> delivered;
    {
      const std::scoped_lock lock(mutex_);
      delivered.swap(delivered_);
    }
    for (auto& [id, answer] : delivered) Finish(id, std::move(answer));
  }

  void Finish(uint64_t id, ApiAnswer answer) {
    const auto it = connections_.find(id);
    // A page that was given up may be made all the same.
    if (it == connections_.end() || it->second->state() != State::kWorking) return;
    it->second->TakeAnswer(std::move(answer), now_);
    Advance(id);
    BoundHeld(id);
  }

  // Slow readers of large answers go, those that hold most first. The largest answer of all does
  // not count while the rest is within the bound: one answer may be larger than the bound itself.
  void BoundHeld(uint64_t newest) {
    while (true) {
      size_t held = 0;
      const HttpConnection* largest = nullptr;
      for (const auto& [id, watched] : connections_) {
        if (id == newest) continue;
        const HttpConnection& connection = *watched.connection;
        held += connection.bytes_held();
        if (largest == nullptr || connection.bytes_held() > largest->bytes_held())
          largest = &connection;
      }
      if (largest == nullptr || held - largest->bytes_held() <= options_.limits.bytes_held) return;
      Drop(largest->id());
    }
  }

  // ---- certificates, log

  void LookAtFiles() {
    if (options_.identity == nullptr || now_ < look_again_) return;
    look_again_ = now_ + kBetweenLooksAtFiles;
    if (const auto line = options_.identity->ReloadIfChanged()) options_.log(*line);
  }

  void Complain(const std::string& line) {
    if (now_ < complain_again_) return;
    complain_again_ = now_ + kBetweenLogLines;
    options_.log(line);
  }

  HttpServerOptions options_;
  const ListeningSocket listening_;
  HttpConnection::Host host_;
  int epoll_ = -1;
  int wake_ = -1;
  std::vector<int> spares_;  // descriptors to give up when the process has none left
  std::map<uint64_t, Watched> connections_;
  std::vector<uint64_t> again_;
  uint64_t next_id_ = 2;
  Clock::time_point now_ = Clock::now();
  bool listens_ = true;
  Clock::time_point listen_again_;
  Clock::time_point look_again_;
  Clock::time_point complain_again_;

  std::shared_ptr<VerdictBox> verdicts_;
  size_t checks_pending_ = 0;
  size_t checks_reserved_ = 0;
  std::map<std::string, size_t> checks_pending_by_peer_;

  std::mutex mutex_;
  std::vector<std::pair<uint64_t, ApiAnswer>> delivered_;
  std::vector<std::unique_ptr<RequestWorkers>> workers_;
  std::atomic<bool> stopping_ = false;
  std::thread thread_;
};

Result<std::unique_ptr<HttpServer>> HttpServer::Start(HttpServerOptions options) {
  KRAFLA_CHECK(options.transport == Transport::kPlain || options.identity != nullptr);
  Result<ListeningSocket> socket = OpenListeningSocket(options.address);
  if (!socket) return Fail(socket.error().message);
  return std::unique_ptr<HttpServer>(
      new HttpServer(std::make_unique<Impl>(std::move(options), std::move(*socket))));
}

HttpServer::HttpServer(std::unique_ptr<Impl> impl) : impl_(std::move(impl)) {}

HttpServer::~HttpServer() = default;

int HttpServer::port() const {
  return impl_->listening().port;
}

const std::string& HttpServer::at() const {
  return impl_->listening().at;
}

}  // namespace krafla
