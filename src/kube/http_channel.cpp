#include "kube/http_channel.h"

#include <curl/curl.h>
#include <strings.h>

#include <algorithm>
#include <array>
#include <atomic>
#include <condition_variable>
#include <deque>
#include <future>
#include <map>
#include <mutex>
#include <thread>
#include <unordered_map>
#include <utility>
#include <vector>

#include <fmt/format.h>

#include "base/check.h"
#include "kube/curl_options.h"

namespace krafla {

namespace {

using Clock = std::chrono::steady_clock;
using std::chrono::milliseconds;

constexpr long kConnectTimeoutMs = 5000;
constexpr milliseconds kGrace{200};  // for libcurl to notice by itself that time is up
constexpr size_t kMostSpareHandles = 128;
constexpr size_t kMostErrorBytes = 64 << 10;  // of an answer to a stream that is no stream
constexpr const char* kKeptBack = "kept back: somebody else may be the leader by now";

curl_blob Blob(const std::string& text) {
  return {const_cast<char*>(text.data()), text.size(), CURL_BLOB_NOCOPY};
}

}  // namespace

void InitializeHttp() {
  KRAFLA_CHECK(curl_global_init(CURL_GLOBAL_DEFAULT) == CURLE_OK, "libcurl does not start");
}

class HttpChannel::Impl {
 public:
  Impl(Credentials& credentials, HttpChannelOptions options)
      : credentials_(credentials), options_(std::move(options)), tokens_(options_.burst) {
    multi_ = MakeMulti();
    wake_ = multi_;
    listener_ = credentials_.AddListener([this] { Wake(); });
    thread_ = std::thread([this] { Run(); });
  }

  ~Impl() {
    credentials_.RemoveListener(listener_);
    stop_ = true;
    Wake();
    thread_.join();
    for (const SpareHandle& spare : spare_) curl_easy_cleanup(spare.easy);
  }

  void Send(HttpRequest request) {
    ++open_;
    {
      const std::scoped_lock lock(mutex_);
      waiting_[static_cast<size_t>(request.urgency)].push_back(std::move(request));
    }
    Wake();
  }

  void After(milliseconds delay, std::function<void()> task) {
    {
      const std::scoped_lock lock(mutex_);
      timers_.emplace(Clock::now() + delay, std::move(task));
    }
    Wake();
  }

  void Resume() {
    resume_ = true;
    Wake();
  }

  void CutOff() {
    std::promise<void> done;
    After(milliseconds(0), [&] {
      cut_off_ = true;
      KeepBackAll();
      done.set_value();
    });
    done.get_future().wait();
  }

  size_t open() const { return open_; }

 private:
  struct Transfer {
    Impl* channel = nullptr;
    HttpRequest request;
    std::shared_ptr<const Identity> identity;
    HeaderList headers;
    HttpResponse response;
    CURL* easy = nullptr;
    char error[CURL_ERROR_SIZE] = {};
    bool paused = false;
    bool is_probe = false;
    bool sent = false;
    bool reported = false;       // to on_outcome
    milliseconds time_limit{0};  // the request's, or less; 0: none
    Clock::time_point deadline = Clock::time_point::max();
    Clock::time_point sent_at;
    BootClock::time_point sent_boot;
  };

  // A handle that is set up for whoever we are and whom we trust: what differs from request to
  // request is set anew, the rest is kept.
  struct SpareHandle {
    CURL* easy = nullptr;
    std::shared_ptr<const Identity> identity;  // the handle points into it
    uint64_t ca_generation = 0;
  };

  static CURLM* MakeMulti() {
    CURLM* multi = curl_multi_init();
    KRAFLA_CHECK(multi != nullptr, "libcurl does not start");
    curl_multi_setopt(multi, CURLMOPT_PIPELINING, CURLPIPE_MULTIPLEX);
    return multi;
  }

  void Wake() {
    if (woken_.exchange(true)) return;  // it has not slept since
    const std::scoped_lock lock(wake_mutex_);
    if (wake_ != nullptr) curl_multi_wakeup(wake_);
  }

  // ---- the channel's thread from here on

  void Run() {
    while (!stop_) {
      woken_ = false;
      RunTimers();
      if (resume_.exchange(false)) ResumePaused();
      // Before anything more is written: we may have slept for longer than we wanted.
      if (SendUntil() <= Clock::now()) KeepBackAll();
      LaunchParked();
      StartWaiting();
      int running = 0;
      curl_multi_perform(multi_, &running);
      Collect();
      Expire();
      Watch();
      if (reconnect_) Reconnect();
      if (!stop_) curl_multi_poll(multi_, nullptr, 0, WaitMs(), nullptr);
    }
    FailAll("the channel is closed", true, {.closing = true});
    const std::scoped_lock lock(wake_mutex_);
    wake_ = nullptr;
    curl_multi_cleanup(multi_);
  }

  void RunTimers() {
    while (true) {
      std::function<void()> task;
      {
        const std::scoped_lock lock(mutex_);
        if (timers_.empty() || timers_.begin()->first > Clock::now()) return;
        task = std::move(timers_.begin()->second);
        timers_.erase(timers_.begin());
      }
      task();
    }
  }

  Clock::time_point SendUntil() const {
    if (cut_off_) return Clock::time_point::min();
    return options_.send_until ? options_.send_until() : Clock::time_point::max();
  }

  void KeepBackAll() {
    const size_t open = transfers_.size();
    FailAll(kKeptBack, true, {.kept_back = true});
    if (open != 0) DropConnections();  // and what the kernel still would send
    if (open != 0 && options_.log)
      options_.log(
          fmt::format("requests cut off: somebody else may be the leader by now "
                      "channel={} requests={}",
                      options_.name, open));
  }

  // It ended without an answer, at a time when nothing may be under way any more.
  void NoteKeptBack(Transfer& transfer) {
    if (!transfer.is_probe && SendUntil() <= Clock::now()) transfer.response.kept_back = true;
  }

  void ResumePaused() {
    std::vector<CURL*> paused;
    for (auto& [easy, transfer] : transfers_)
      if (transfer->paused) paused.push_back(easy);
    for (CURL* easy : paused) {
      const auto it = transfers_.find(easy);
      if (it == transfers_.end()) continue;
      it->second->paused = false;
      curl_easy_pause(easy, CURLPAUSE_CONT);
    }
  }

  // Whether one more request may go out now, by rate.
  bool TakeToken() {
    if (options_.per_second <= 0) return true;
    const auto now = Clock::now();
    const double seconds = std::chrono::duration<double>(now - tokens_at_).count();
    tokens_ = std::min(options_.burst, tokens_ + seconds * options_.per_second);
    tokens_at_ = now;
    if (tokens_ < 1) return false;
    tokens_ -= 1;
    return true;
  }

  void StartWaiting() {
    rate_limited_ = false;
    while (transfers_.size() + parked_.size() < options_.max_in_flight) {
      std::optional<HttpRequest> next;
      {
        const std::scoped_lock lock(mutex_);
        for (auto& queue : waiting_) {
          if (queue.empty()) continue;
          if (!TakeToken()) {
            rate_limited_ = true;
            return;
          }
          next = std::move(queue.front());
          queue.pop_front();
          break;
        }
      }
      if (!next) return;
      Start(std::move(*next), false);
    }
  }

  void Start(HttpRequest request, bool is_probe) {
    auto transfer = std::make_unique<Transfer>();
    transfer->channel = this;
    transfer->request = std::move(request);
    transfer->is_probe = is_probe;
    const Clock::time_point until = is_probe ? Clock::time_point::max() : SendUntil();
    const Clock::time_point now = Clock::now();
    if (until <= now) {
      transfer->response.kept_back = true;
      return Finish(std::move(transfer), kKeptBack);
    }
    transfer->time_limit = transfer->request.timeout;
    if (until != Clock::time_point::max()) {
      const milliseconds left = std::chrono::ceil<milliseconds>(until - now);
      if (transfer->time_limit.count() == 0 || left < transfer->time_limit)
        transfer->time_limit = left;
    }
    if (transfer->time_limit.count() > 0) transfer->deadline = now + transfer->time_limit;
    Launch(std::move(transfer));
  }

  // While an exec plugin runs and there are no credentials, the transfer is parked: the channel has
  // other work.
  void Launch(std::unique_ptr<Transfer> transfer) {
    Result<std::shared_ptr<const Identity>> identity = credentials_.Current();
    // Any answer to a probe says that the connection is alive, a 401 as well.
    if (transfer->is_probe && (!identity || *identity == nullptr)) identity = last_identity_;
    if (!identity) {
      transfer->response.why = NoAnswer::kNoCredentials;
      return Finish(std::move(transfer), identity.error().message);
    }
    const Clock::time_point now = Clock::now();
    const bool limited = transfer->time_limit.count() > 0;
    if (*identity == nullptr) {
      if (limited) next_expiry_ = std::min(next_expiry_, transfer->deadline);
      parked_.push_back(std::move(transfer));
      return;
    }
    transfer->identity = last_identity_ = std::move(*identity);
    if (limited)
      transfer->time_limit =
          std::max(milliseconds(1), std::chrono::ceil<milliseconds>(transfer->deadline - now));
    if (const Result<bool> ready = SetUp(*transfer); !ready)
      return Finish(std::move(transfer), ready.error().message);
    CURL* easy = transfer->easy;
    if (limited) {
      transfer->deadline = now + transfer->time_limit + kGrace;
      next_expiry_ = std::min(next_expiry_, transfer->deadline);
    }
    transfer->sent = true;
    transfer->sent_at = now;
    transfer->sent_boot = BootClock::now();
    transfers_.emplace(easy, std::move(transfer));
    curl_multi_add_handle(multi_, easy);
  }

  void LaunchParked() {
    if (parked_.empty()) return;
    if (const auto identity = credentials_.Current(); identity && *identity == nullptr) return;
    for (auto& transfer : std::exchange(parked_, {})) Launch(std::move(transfer));
  }

  Result<bool> SetUp(Transfer& t) {
    if (const Result<bool> ca = RefreshCa(); !ca) return ca;
    SpareHandle spare;
    if (spare_.empty()) {
      spare.easy = curl_easy_init();
      KRAFLA_CHECK(spare.easy != nullptr, "libcurl does not start");
    } else {
      spare = std::move(spare_.back());
      spare_.pop_back();
    }
    t.easy = spare.easy;
    if (spare.identity != t.identity || spare.ca_generation != ca_generation_) {
      curl_easy_reset(t.easy);
      SetUpForAll(t);
    }
    CURL* e = t.easy;
    curl_easy_setopt(e, CURLOPT_PRIVATE, &t);
    curl_easy_setopt(e, CURLOPT_ERRORBUFFER, t.error);
    curl_easy_setopt(e, CURLOPT_WRITEDATA, &t);
    curl_easy_setopt(e, CURLOPT_HEADERDATA, &t);
    curl_easy_setopt(e, CURLOPT_PREREQDATA, &t);
    curl_easy_setopt(e, CURLOPT_TIMEOUT_MS, static_cast<long>(t.time_limit.count()));
    SetAddress(e, credentials_.connection(), t.request.target, connect_to_);
    SetHeaders(t);
    return true;
  }

  void SetUpForAll(Transfer& t) {
    const KubeConnection& to = credentials_.connection();
    CURL* e = t.easy;
    curl_easy_setopt(e, CURLOPT_NOSIGNAL, 1L);
#if LIBCURL_VERSION_NUM >= 0x075700
    // A name that is being looked up has a thread of libcurl's own; otherwise a request that ends
    // meanwhile waits for it, and this thread with it.
    curl_easy_setopt(e, CURLOPT_QUICK_EXIT, 1L);
#endif
    // Over TLS, HTTP/2 is agreed on: requests wait for a connection that is being made, to share
    // it. Without TLS it is HTTP/1.1, and one that waits for a connection with an open watch waits
    // for ever: each request that is under way has a connection of its own.
    const bool may_share = to.server.starts_with("https://");
    curl_easy_setopt(e, CURLOPT_HTTP_VERSION,
                     static_cast<long>(may_share ? CURL_HTTP_VERSION_2TLS : CURL_HTTP_VERSION_1_1));
    curl_easy_setopt(e, CURLOPT_PIPEWAIT, may_share ? 1L : 0L);
    curl_easy_setopt(e, CURLOPT_PROTOCOLS_STR, "http,https");
    curl_easy_setopt(e, CURLOPT_CONNECTTIMEOUT_MS, kConnectTimeoutMs);
    curl_easy_setopt(e, CURLOPT_SOCKOPTFUNCTION, &SetSocketOptions);
    curl_easy_setopt(e, CURLOPT_WRITEFUNCTION, &OnBody);
    curl_easy_setopt(e, CURLOPT_HEADERFUNCTION, &OnHeader);
    curl_easy_setopt(e, CURLOPT_PREREQFUNCTION, &OnConnected);
    curl_easy_setopt(e, CURLOPT_SUPPRESS_CONNECT_HEADERS, 1L);  // a proxy's are not the server's
    if (!to.proxy_url.empty()) {
      curl_easy_setopt(e, CURLOPT_PROXY, to.proxy_url.c_str());
    } else if (IsLoopbackServer(to.server)) {
      // `kubectl proxy`: http_proxy is not for it, as in Go.
      curl_easy_setopt(e, CURLOPT_NOPROXY, "*");
    }
    if (to.server.starts_with("https://")) SetTls(t);
  }

  // Read anew when nothing is open, so that a rotated one is taken up with the next connection.
  Result<bool> RefreshCa() {
    const KubeConnection& to = credentials_.connection();
    if (!to.server.starts_with("https://") || to.skip_tls_verify || to.ca.empty()) return true;
    if (!ca_.empty() && !transfers_.empty()) return true;
    Result<std::string> ca = credentials_.ReadCa();
    if (!ca) return Fail(ca.error().message);
    if (*ca == ca_) return true;
    ca_ = std::move(*ca);
    ++ca_generation_;
    return true;
  }

  void SetTls(Transfer& t) {
    const KubeConnection& to = credentials_.connection();
    CURL* e = t.easy;
    const bool verify = !to.skip_tls_verify;
    curl_easy_setopt(e, CURLOPT_SSL_VERIFYPEER, verify ? 1L : 0L);
    curl_easy_setopt(e, CURLOPT_SSL_VERIFYHOST, verify ? 2L : 0L);
    curl_easy_setopt(e, CURLOPT_SSLVERSION, static_cast<long>(CURL_SSLVERSION_TLSv1_2));
    if (verify && !to.ca.empty()) {
      curl_blob blob = Blob(ca_);
      blob.flags = CURL_BLOB_COPY;
      curl_easy_setopt(e, CURLOPT_CAINFO_BLOB, &blob);
    }
    if (!t.identity->client_certificate.empty()) {
      const curl_blob certificate = Blob(t.identity->client_certificate);
      const curl_blob key = Blob(t.identity->client_key);
      curl_easy_setopt(e, CURLOPT_SSLCERT_BLOB, &certificate);
      curl_easy_setopt(e, CURLOPT_SSLKEY_BLOB, &key);
    }
  }

  void SetHeaders(Transfer& t) {
    const KubeConnection& to = credentials_.connection();
    CURL* e = t.easy;
    Append(t.headers, "Accept: application/json");
    Append(t.headers, "User-Agent: " + options_.user_agent);
    if (!t.identity->authorization.empty())
      Append(t.headers, "Authorization: " + t.identity->authorization);
    if (!to.impersonate_user.empty()) Append(t.headers, "Impersonate-User: " + to.impersonate_user);
    if (!to.impersonate_uid.empty()) Append(t.headers, "Impersonate-Uid: " + to.impersonate_uid);
    for (const std::string& group : to.impersonate_groups)
      Append(t.headers, "Impersonate-Group: " + group);
    if (!t.request.content_type.empty())
      Append(t.headers, "Content-Type: " + t.request.content_type);
    Append(t.headers, "Expect:");
    curl_easy_setopt(e, CURLOPT_HTTPHEADER, t.headers.get());
    if (t.request.method == "GET") {
      curl_easy_setopt(e, CURLOPT_CUSTOMREQUEST, nullptr);
      curl_easy_setopt(e, CURLOPT_POSTFIELDS, nullptr);
      curl_easy_setopt(e, CURLOPT_HTTPGET, 1L);
    } else {
      curl_easy_setopt(e, CURLOPT_POST, 1L);
      curl_easy_setopt(e, CURLOPT_POSTFIELDSIZE_LARGE,
                       static_cast<curl_off_t>(t.request.body.size()));
      curl_easy_setopt(e, CURLOPT_POSTFIELDS, t.request.body.data());
      curl_easy_setopt(e, CURLOPT_CUSTOMREQUEST, t.request.method.c_str());
    }
  }

  // There is a connection: the request leaves now. It may have waited for that.
  static int OnConnected(void* data, char*, char*, int, int) {
    const Transfer& t = *static_cast<Transfer*>(data);
    const bool too_late = !t.is_probe && t.channel->SendUntil() <= Clock::now();
    return too_late ? CURL_PREREQFUNC_ABORT : CURL_PREREQFUNC_OK;
  }

  static size_t OnHeader(char* text, size_t size, size_t count, void* data) {
    Transfer& t = *static_cast<Transfer*>(data);
    t.channel->Heard();
    const std::string_view line(text, size * count);
    t.channel->NoteDate(t, line);
    // An empty line is the last one.
    if ((t.request.on_open || t.request.on_data) && (line == "\r\n" || line == "\n")) {
      long status = 0;
      curl_easy_getinfo(t.easy, CURLINFO_RESPONSE_CODE, &status);
      if (status >= 200 && status < 300) {
        t.channel->Report(t, {.status = static_cast<int>(status)});
        if (t.request.on_open) t.request.on_open();
      }
    }
    return line.size();
  }

  void NoteDate(const Transfer& t, std::string_view line) {
    constexpr std::string_view kName = "date:";
    if (!options_.on_date || line.size() <= kName.size() ||
        strncasecmp(line.data(), kName.data(), kName.size()) != 0)
      return;
    const Clock::time_point now = Clock::now();
    if (now < next_date_) return;
    const time_t date = curl_getdate(std::string(line.substr(kName.size())).c_str(), nullptr);
    if (date <= 0) return;  // says nothing
    next_date_ = now + std::chrono::seconds(1);
    options_.on_date(date, t.sent_boot);
  }

  void Heard() {
    heard_ = Clock::now();
    said_silent_ = false;
  }

  static size_t OnBody(char* text, size_t size, size_t count, void* data) {
    Transfer& t = *static_cast<Transfer*>(data);
    t.channel->Heard();
    const std::string_view piece(text, size * count);
    if (t.request.on_data) {
      long status = 0;
      curl_easy_getinfo(t.easy, CURLINFO_RESPONSE_CODE, &status);
      if (status >= 200 && status < 300) {
        if (t.request.on_data(piece)) {
          // Fewer than there are: an error, with which the transfer ends.
          return t.request.is_useless && t.request.is_useless() ? 0 : piece.size();
        }
        t.paused = true;
        return CURL_WRITEFUNC_PAUSE;
      }
      if (t.response.body.size() + piece.size() > kMostErrorBytes) return piece.size();
    }
    t.response.body.append(piece);
    return piece.size();
  }

  void Collect() {
    int left = 0;
    bool stalled = false;
    while (CURLMsg* message = curl_multi_info_read(multi_, &left)) {
      if (message->msg != CURLMSG_DONE) continue;
      const CURLcode code = message->data.result;
      const auto it = transfers_.find(message->easy_handle);
      std::unique_ptr<Transfer> transfer = std::move(it->second);
      transfers_.erase(it);
      curl_multi_remove_handle(multi_, transfer->easy);
      long status = 0;
      curl_easy_getinfo(transfer->easy, CURLINFO_RESPONSE_CODE, &status);
      curl_off_t retry_after = 0;
      curl_easy_getinfo(transfer->easy, CURLINFO_RETRY_AFTER, &retry_after);
      if (retry_after > 0) transfer->response.retry_after = std::chrono::seconds(retry_after);
      std::string error;
      if (code != CURLE_OK) {
        error = transfer->error[0] != 0 ? transfer->error : curl_easy_strerror(code);
        transfer->response.why = WhyNoAnswer(transfer->easy, code);
        stalled = stalled || (code == CURLE_OPERATION_TIMEDOUT && IsSilentFor(*transfer));
        NoteKeptBack(*transfer);
      } else {
        transfer->response.status = static_cast<int>(status);
      }
      if (status == 401) credentials_.Refused(transfer->identity);
      Finish(std::move(transfer), std::move(error));
    }
    if (stalled) reconnect_ = true;
  }

  // Nothing was heard for as long as the request itself would have waited.
  bool IsSilentFor(const Transfer& transfer) const {
    return transfer.request.timeout.count() > 0 &&
           Clock::now() - heard_ >= transfer.request.timeout;
  }

  void Finish(std::unique_ptr<Transfer> transfer, std::string error) {
    if (transfer->easy != nullptr) {
      // Nothing of the request that ends here may be found in the next one.
      for (const CURLoption option :
           {CURLOPT_PRIVATE, CURLOPT_ERRORBUFFER, CURLOPT_WRITEDATA, CURLOPT_HEADERDATA,
            CURLOPT_PREREQDATA, CURLOPT_HTTPHEADER, CURLOPT_POSTFIELDS})
        curl_easy_setopt(transfer->easy, option, nullptr);
      if (spare_.size() < kMostSpareHandles) {
        spare_.push_back({transfer->easy, transfer->identity, ca_generation_});
      } else {
        curl_easy_cleanup(transfer->easy);
      }
      transfer->easy = nullptr;
    }
    transfer->response.error = std::move(error);
    if (transfer->sent && !transfer->response.closing && !transfer->response.kept_back)
      Report(*transfer, transfer->response);
    if (!transfer->is_probe) --open_;
    if (transfer->request.on_done) transfer->request.on_done(std::move(transfer->response));
  }

  void Report(Transfer& transfer, const HttpResponse& response) {
    if (!options_.on_outcome || transfer.is_probe || std::exchange(transfer.reported, true)) return;
    options_.on_outcome({.method = transfer.request.method,
                         .target = transfer.request.target,
                         .response = response,
                         .duration = Clock::now() - transfer.sent_at});
  }

  // libcurl does not look at the time of requests that wait for a connection to share.
  void Expire() {
    const auto now = Clock::now();
    if (now < next_expiry_) return;
    next_expiry_ = Clock::time_point::max();
    std::vector<std::unique_ptr<Transfer>> late;
    for (auto it = transfers_.begin(); it != transfers_.end();) {
      if (it->second->deadline > now) {
        next_expiry_ = std::min(next_expiry_, it->second->deadline);
        ++it;
        continue;
      }
      curl_multi_remove_handle(multi_, it->first);
      late.push_back(std::move(it->second));
      it = transfers_.erase(it);
    }
    std::vector<std::unique_ptr<Transfer>> late_without_credentials;
    for (auto& transfer : std::exchange(parked_, {})) {
      const bool is_late = transfer->deadline <= now;
      if (!is_late) next_expiry_ = std::min(next_expiry_, transfer->deadline);
      (is_late ? late_without_credentials : parked_).push_back(std::move(transfer));
    }
    for (auto& transfer : late_without_credentials) {
      transfer->response.why = NoAnswer::kNoCredentials;
      NoteKeptBack(*transfer);
      Finish(std::move(transfer),
             "not sent: the exec plugin that gives the credentials still runs");
    }
    bool stalled = false;
    for (auto& transfer : late) {
      stalled = stalled || IsSilentFor(*transfer);
      NoteKeptBack(*transfer);
      Finish(std::move(transfer), "no answer in time");
    }
    if (stalled) reconnect_ = true;
  }

  // Asks the small question, when it is time for it.
  void Watch() {
    if (!options_.watchdog || transfers_.empty() || probing_) return;
    if (Clock::now() - heard_ < options_.silence) return;
    probing_ = true;
    HttpRequest question{.target = "/version", .timeout = options_.patience};
    question.on_done = [this](HttpResponse answer) {
      probing_ = false;
      if (answer.status == 0 && !stop_) reconnect_ = true;
    };
    Start(std::move(question), true);
  }

  // Everything that is open fails and the connections are closed: what hangs on one that no longer
  // answers would wait for ever.
  void Reconnect() {
    // Once, until something is heard again: whoever asks tells what becomes of it.
    if (options_.log && !std::exchange(said_silent_, true))
      options_.log(fmt::format("connection does not answer; connecting anew channel={} streams={}",
                               options_.name, transfers_.size()));
    FailAll("the connection does not answer", false, {});
    DropConnections();
    heard_ = Clock::now();
    reconnect_ = false;  // the question that was open has failed with the rest
  }

  // Nothing may be open.
  void DropConnections() {
    CURLM* fresh = MakeMulti();
    {
      const std::scoped_lock lock(wake_mutex_);
      wake_ = fresh;
    }
    curl_multi_cleanup(multi_);
    multi_ = fresh;
    curl_multi_wakeup(multi_);  // whoever has woken the old one is not forgotten
  }

  struct HowItFails {
    bool kept_back = false;
    bool closing = false;
  };
  void FailAll(const std::string& why, bool waiting_too, HowItFails how) {
    auto transfers = std::exchange(transfers_, {});
    for (auto& [easy, transfer] : transfers) curl_multi_remove_handle(multi_, easy);
    for (auto& [easy, transfer] : transfers) {
      transfer->response.kept_back = how.kept_back && !transfer->is_probe;
      transfer->response.closing = how.closing;
      Finish(std::move(transfer), why);
    }
    if (!waiting_too) return;
    for (auto& transfer : std::exchange(parked_, {})) {
      transfer->response.kept_back = how.kept_back;
      transfer->response.closing = how.closing;
      Finish(std::move(transfer), why);
    }
    std::array<std::deque<HttpRequest>, kUrgencies> waiting;
    {
      const std::scoped_lock lock(mutex_);
      waiting = std::exchange(waiting_, {});
    }
    for (auto& queue : waiting) {
      for (HttpRequest& request : queue) {
        --open_;
        if (request.on_done)
          request.on_done({.error = why, .kept_back = how.kept_back, .closing = how.closing});
      }
    }
  }

  int WaitMs() {
    auto until = Clock::now() + std::chrono::seconds(60);
    {
      const std::scoped_lock lock(mutex_);
      if (!timers_.empty()) until = std::min(until, timers_.begin()->first);
      if (transfers_.size() + parked_.size() < options_.max_in_flight && !rate_limited_)
        for (const auto& queue : waiting_)
          if (!queue.empty()) return 0;
    }
    until = std::min(until, next_expiry_);
    if (open_ != 0) until = std::min(until, std::max(SendUntil(), Clock::now()));
    if (rate_limited_) {
      const std::chrono::duration<double> next((1 - tokens_) / options_.per_second);
      until = std::min(
          until, Clock::now() + std::max(milliseconds(1), std::chrono::ceil<milliseconds>(next)));
    }
    if (options_.watchdog && !transfers_.empty() && !probing_)
      until = std::min(until, heard_ + options_.silence);
    const auto wait = std::chrono::ceil<milliseconds>(until - Clock::now());
    return static_cast<int>(std::max<int64_t>(0, wait.count()));
  }

  Credentials& credentials_;
  const HttpChannelOptions options_;
  uint64_t listener_ = 0;

  std::mutex mutex_;  // waiting_, timers_
  std::array<std::deque<HttpRequest>, kUrgencies> waiting_;
  std::multimap<Clock::time_point, std::function<void()>> timers_;
  std::mutex wake_mutex_;
  CURLM* wake_ = nullptr;
  std::atomic<bool> stop_ = false;
  std::atomic<bool> resume_ = false;
  std::atomic<bool> woken_ = false;
  std::atomic<size_t> open_ = 0;

  // Of the channel's thread alone.
  CURLM* multi_ = nullptr;  // set before the thread starts
  std::unordered_map<CURL*, std::unique_ptr<Transfer>> transfers_;
  std::vector<std::unique_ptr<Transfer>> parked_;  // not sent: an exec plugin is running
  std::shared_ptr<const Identity> last_identity_;
  std::vector<SpareHandle> spare_;
  HeaderList connect_to_;
  std::string ca_;
  uint64_t ca_generation_ = 1;
  Clock::time_point heard_ = Clock::now();
  Clock::time_point next_date_;  // that is looked at
  bool said_silent_ = false;     // that nothing is heard was logged
  bool probing_ = false;
  bool reconnect_ = false;
  bool rate_limited_ = false;
  bool cut_off_ = false;
  Clock::time_point next_expiry_ = Clock::time_point::max();
  double tokens_ = 0;
  Clock::time_point tokens_at_ = Clock::now();

  std::thread thread_;
};

HttpChannel::HttpChannel(Credentials& credentials, HttpChannelOptions options)
    : impl_(std::make_unique<Impl>(credentials, std::move(options))) {}
HttpChannel::~HttpChannel() = default;

void HttpChannel::Send(HttpRequest request) {
  impl_->Send(std::move(request));
}

void HttpChannel::After(std::chrono::milliseconds delay, std::function<void()> task) {
  impl_->After(delay, std::move(task));
}

void HttpChannel::CutOff() {
  impl_->CutOff();
}

void HttpChannel::Resume() {
  impl_->Resume();
}

HttpResponse HttpChannel::Ask(HttpRequest request) {
  std::mutex mutex;
  std::condition_variable answered;
  std::optional<HttpResponse> response;
  request.on_done = [&](HttpResponse answer) {
    const std::scoped_lock lock(mutex);
    response = std::move(answer);
    answered.notify_one();
  };
  impl_->Send(std::move(request));
  std::unique_lock lock(mutex);
  answered.wait(lock, [&] { return response.has_value(); });
  return std::move(*response);
}

size_t HttpChannel::open_requests() const {
  return impl_->open();
}

}  // namespace krafla
