#include "kube/reflector.h"

#include <algorithm>
#include <charconv>
#include <optional>
#include <utility>

#include <fmt/format.h>

#include "base/log_text.h"
#include "base/recovery.h"
#include "kube/api_client.h"
#include "manifest/reduced_object.h"

namespace krafla {

using std::chrono::milliseconds;

namespace {

constexpr milliseconds kFirstWait{200};
constexpr milliseconds kLongestWait{30'000};
std::optional<uint64_t> Number(const std::string& version) {
  uint64_t number = 0;
  const char* end = version.data() + version.size();
  const auto [last, error] = std::from_chars(version.data(), end, number);
  if (error != std::errc{} || last != end || version.empty()) return std::nullopt;
  return number;
}

constexpr size_t kLongestLine = 64u << 20;  // far beyond what an API server stores
constexpr size_t kLargeObject = 2u << 20;   // beyond what it stores by default
constexpr size_t kMostLarge = 1000;
constexpr milliseconds kLookForRoom{50};
constexpr std::chrono::minutes kUnreadableSeries{1};  // and between two lines about it

// What may stand in a query as it is.
std::string Escaped(std::string_view text) {
  std::string out;
  for (const char c : text) {
    const bool plain = (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || (c >= '0' && c <= '9') ||
                       c == '-' || c == '_' || c == '.' || c == '~';
    if (plain) {
      out.push_back(c);
    } else {
      out += fmt::format("%{:02X}", static_cast<unsigned char>(c));
    }
  }
  return out;
}

// The value of a field of metadata in text that may not be JSON; empty: it is not found.
std::string_view FieldOfMetadata(std::string_view text, std::string_view field) {
  constexpr size_t kLongestName = 253;
  const size_t metadata = text.find("\"metadata\"");
  if (metadata == std::string_view::npos) return {};
  const std::string key = fmt::format("\"{}\":\"", field);
  // Near its beginning: further on it may be a field of something else.
  constexpr size_t kNear = 1024;
  const size_t begin = text.substr(0, metadata + kNear).find(key, metadata);
  if (begin == std::string_view::npos) return {};
  const std::string_view value = text.substr(begin + key.size());
  return value.substr(0, std::min(value.find('"'), kLongestName));
}

}  // namespace

milliseconds Backoff::Next() {
  const int doubled = std::min(failures_++, 20);
  const auto most = std::min<int64_t>(most_.count(), first_.count() << doubled);
  // Between half and all of it.
  return milliseconds(
      std::uniform_int_distribution<int64_t>(std::max<int64_t>(1, most / 2), most)(random_));
}

Reflector::Reflector(WatchedKind kind, HttpChannel& channel, Inbox& inbox, OutageLog& outages,
                     Options options)
    : info_(InfoOf(kind)),
      channel_(channel),
      inbox_(inbox),
      outages_(outages),
      options_(std::move(options)),
      decoder_(
          {.lenient = true, .scheduler_names = options_.scheduler_names, .finds_odd_words = false}),
      backoff_(kFirstWait, kLongestWait, options_.seed ^ static_cast<uint64_t>(kind)),
      unreadable_backoff_(kFirstWait, kLongestWait,
                          options_.seed + 1 + static_cast<uint64_t>(kind)),
      random_(options_.seed + static_cast<uint64_t>(kind)) {}

void Reflector::Start() {
  channel_.After(milliseconds(0), [this] { List(); });
}

void Reflector::Log(const std::string& line) {
  if (options_.log) options_.log(line);
}

// What cannot be cut down goes on as it is: the decoder says what is wrong with it.
ObjectMessage Reflector::Seen(std::string object, ObjectHead head) {
  if (object.size() > kLargeObject) NoteLarge(head, object.size());
  ObjectMessage message{ObjectMessage::What::kSeen, info_.kind, {}, std::move(head)};
  std::optional<std::string> check = RunRecovering([&] {
    if (options_.before_decoding) options_.before_decoding(info_.kind, KeyOf(message.head));
    const std::optional<std::string> reduced = ReduceObject(info_.name, object);
    message.reduced = reduced.has_value();
    if (reduced) object = Padded(*reduced);
    // The "file" is the object, so that the problems of one object leave capacity for those of
    // others.
    message.parcel = decoder_.Decode(object, ObjectTitle(info_.kind, message.head));
  });
  message.object = std::move(object);
  if (!check) return message;
  message.failed_check = std::move(*check);
  message.parcel = nullptr;
  decoder_.BeginAnew();
  return message;
}

bool Reflector::Put(ObjectMessage::What what, ObjectHead head) {
  ObjectMessage message{what, info_.kind, {}, std::move(head)};
  if (what == ObjectMessage::What::kSyncBegins) {
    inbox_.PutAlways(std::move(message));
    return true;
  }
  return inbox_.TryPut(message);
}

void Reflector::List() {
  version_.clear();
  continue_token_.clear();
  list_again_ = false;
  Put(ObjectMessage::What::kSyncBegins);
  if (options_.watch_list) {
    WatchList();
  } else {
    ListPage();
  }
}

void Reflector::ListPage() {
  // A page is kept in full once it is answered, so none is requested while the inbox is full.
  if (!inbox_.HasRoom()) return channel_.After(kLookForRoom, [this] { ListPage(); });
  HttpRequest request;
  request.target = fmt::format("{}?limit={}", info_.path, options_.page_size);
  if (!continue_token_.empty()) request.target += "&continue=" + Escaped(continue_token_);
  request.timeout = milliseconds(60'000);
  request.on_done = [this](HttpResponse response) {
    if (response.closing) return;
    if (response.status == 410) {
      Log(fmt::format("list expired between pages; beginning again kind={}", info_.name));
      return List();
    }
    if (!response.ok()) return Retry(response, "list", &Reflector::List);
    // A page is not held back half-way: it is in memory already.
    const Result<ApiTextParser::ListPage> page =
        parser_.ParseList(response.body, [&](std::string object, ObjectHead head) {
          inbox_.PutAlways(Seen(std::move(object), std::move(head)));
          decoder_.NoteSent();
        });
    if (!page) {
      NoteUnreadable("list", page.error().message, response.body);
      return ListAfterUnreadable();
    }
    if (page->unnamed != 0)
      Log(fmt::format(
          "list has objects without metadata.name, which are left out kind={} objects={}",
          info_.name, page->unnamed));
    continue_token_ = page->continue_token;
    if (!continue_token_.empty()) return ListPage();
    version_ = page->resource_version;
    inbox_.PutAlways(
        {ObjectMessage::What::kSyncEnds, info_.kind, {}, {.resource_version = version_}});
    if (!std::exchange(synced_, true)) Log(fmt::format("listed kind={}", info_.name));
    backoff_.Reset();
    NoteItWorks();
    Watch();
  };
  channel_.Send(std::move(request));
}

void Reflector::WatchList() {
  Open("&sendInitialEvents=true&resourceVersionMatch=NotOlderThan", true);
}

void Reflector::Watch() {
  Open("&resourceVersion=" + Escaped(version_), false);
}

// Versions are revisions of etcd, and a list without a resourceVersion is consistent: its version
// is never below one that was seen before it was asked for, whichever API server answers and
// however far its watch cache lags. Only an etcd that has gone back can be below.
bool Reflector::IsBehind(const std::string& server_version) const {
  const std::optional<uint64_t> server = Number(server_version);
  const std::optional<uint64_t> seen = Number(version_);
  return server && seen && *server < *seen;
}

void Reflector::WatchOn() {
  if (list_again_) return List();
  HttpRequest request;
  request.target = fmt::format("{}?limit=1", info_.path);
  request.on_done = [this](HttpResponse response) {
    if (response.closing) return;
    if (!response.ok()) return Retry(response, "list", &Reflector::WatchOn);
    const Result<ApiTextParser::ListPage> page =
        parser_.ParseList(response.body, [](std::string, const ObjectHead&) {});
    if (page && IsBehind(page->resource_version)) {
      Log(fmt::format("server is behind what was seen; listing again kind={} server={} seen={}",
                      info_.name, page->resource_version, version_));
      return List();
    }
    Watch();
  };
  channel_.Send(std::move(request));
}

void Reflector::Open(const std::string& query, bool listing) {
  partial_.clear();
  taken_ = 0;
  too_old_ = false;
  broken_ = false;
  unreadable_ = false;
  // The server ends a watch after this while, not all at the same instant.
  const int seconds = std::uniform_int_distribution<int>(300, 600)(random_);
  HttpRequest request;
  request.target = fmt::format("{}?watch=true&allowWatchBookmarks=true&timeoutSeconds={}{}",
                               info_.path, seconds, query);
  request.timeout = std::chrono::seconds(seconds + 60);
  request.on_data = [this](std::string_view piece) { return OnData(piece); };
  request.is_useless = [this] { return broken_; };
  // A kind of which there is nothing new is silent for a minute, and well.
  if (!listing) request.on_open = [this] { NoteItWorks(); };
  request.on_done = [this, listing](HttpResponse response) {
    OnWatchDone(std::move(response), listing);
  };
  channel_.Send(std::move(request));
}

bool Reflector::OnData(std::string_view piece) {
  // After a "not now" the same piece comes again: what was worked off of it is not worked off
  // twice.
  size_t begin = taken_;
  while (begin < piece.size()) {
    const size_t end = piece.find('\n', begin);
    if (end == std::string_view::npos) break;
    if (partial_.empty()) {
      if (!OnLine(piece.substr(begin, end - begin))) {
        taken_ = begin;
        return false;
      }
    } else {
      const size_t before = partial_.size();
      partial_.append(piece.substr(begin, end - begin));
      if (!OnLine(partial_)) {
        partial_.resize(before);
        taken_ = begin;
        return false;
      }
      partial_.clear();
    }
    begin = end + 1;
  }
  partial_.append(piece.substr(begin));
  if (partial_.size() > kLongestLine) {
    NoteUnreadable("watch", fmt::format("a line is longer than {} bytes", kLongestLine), partial_);
    partial_.clear();
  }
  taken_ = 0;
  return true;
}

double Reflector::SecondsOfSilence() const {
  return std::chrono::duration<double>(std::chrono::steady_clock::now() - last_word_.load())
      .count();
}

bool Reflector::OnLine(std::string_view line) {
  last_word_ = std::chrono::steady_clock::now();
  if (broken_ || line.empty()) return true;
  Result<WatchLine> event = parser_.ParseWatchLine(line);
  if (!event) {
    NoteUnreadable("watch", event.error().message, line);
    return true;
  }
  // Asked for while this watch was open: bookmarks come once a minute, and not from every server.
  if (list_again_ && !version_.empty()) {
    broken_ = too_old_ = true;
    return true;
  }
  switch (event->type) {
    case WatchEventType::kError:
      if (event->error_code == 0) {
        NoteUnreadable("watch", fmt::format("ERROR event: {}", event->error_message), {});
        return true;
      }
      broken_ = true;
      too_old_ = event->error_code == 410;
      last_problem_ = event->error_message;
      return true;
    case WatchEventType::kBookmark:
      if (!version_.empty() && IsBehind(event->head.resource_version)) {
        broken_ = too_old_ = true;
        return true;
      }
      if (event->initial_events_end &&
          !Put(ObjectMessage::What::kSyncEnds, {.resource_version = event->head.resource_version}))
        return false;
      if (event->initial_events_end && !std::exchange(synced_, true))
        Log(fmt::format("listed kind={}", info_.name));
      break;
    case WatchEventType::kDeleted: {
      ObjectHead head = event->head;
      if (!Put(ObjectMessage::What::kGone, std::move(head))) return false;
      break;
    }
    case WatchEventType::kAdded:
    case WatchEventType::kModified: {
      ObjectMessage message = Seen(std::move(event->object), event->head);
      if (!inbox_.TryPut(message)) return false;
      decoder_.NoteSent();
      break;
    }
  }
  // While the list still comes, its objects have versions in any order: only the bookmark that ends
  // it says up to where we know everything.
  if (!version_.empty() || event->initial_events_end) {
    version_ = event->head.resource_version;
    relisting_ = false;
  }
  backoff_.Reset();
  NoteItWorks();
  return true;
}

void Reflector::NoteUnreadable(const char* what, const std::string& problem,
                               std::string_view text) {
  broken_ = true;
  unreadable_ = true;
  const auto now = std::chrono::steady_clock::now();
  if (last_unreadable_ && now - *last_unreadable_ >= kUnreadableSeries) unreadable_backoff_.Reset();
  last_unreadable_ = now;
  if (unreadable_told_ && now - *unreadable_told_ < kUnreadableSeries) return;
  unreadable_told_ = now;
  std::string object;
  if (std::string_view(what) == "watch") {
    const std::string_view ns = FieldOfMetadata(text, "namespace");
    const std::string_view name = FieldOfMetadata(text, "name");
    if (!name.empty())
      object = " object=" + LogWord(info_.namespaced && !ns.empty() ? fmt::format("{}/{}", ns, name)
                                                                    : std::string(name));
  }
  Log(fmt::format("{} cannot be read; listing again kind={}{} error={}", what, info_.name, object,
                  LogQuoted(problem)));
}

void Reflector::ListAfterUnreadable() {
  channel_.After(unreadable_backoff_.Next(), [this] { List(); });
}

void Reflector::NoteLarge(const ObjectHead& head, size_t bytes) {
  if (large_.size() >= kMostLarge) large_.clear();
  if (!large_.insert(head.uid).second) return;
  Log(fmt::format("object is unusually large kind={} object={} bytes={}", info_.name,
                  LogWord(KeyOf(head)), bytes));
}

void Reflector::NoteItWorks() {
  if (std::exchange(failing_, false)) outages_.Worked(std::string(info_.resource));
}

void Reflector::OnWatchDone(HttpResponse response, bool listing) {
  if (response.closing) return;
  if (unreadable_) return ListAfterUnreadable();
  if (too_old_ || response.status == 410) {
    Log(fmt::format("watch is too old; listing again kind={}", info_.name));
    // A server that says so is there: what it was waited for before does not count.
    if (!std::exchange(relisting_, true)) backoff_.Reset();
    channel_.After(backoff_.Next(), [this] { List(); });
    return;
  }
  // Older servers do not know the parameter, or know it and are told not to.
  if (listing && (response.status == 400 || response.status == 422) && !WantsHttps(response)) {
    options_.watch_list = false;
    Log(fmt::format("server has no watch-list; listing page by page kind={}", info_.name));
    return ListPage();
  }
  const bool complete = !version_.empty();
  if (response.ok() && !broken_ && complete) return WatchOn();
  if (broken_) response.error = last_problem_;
  if (response.ok() && response.error.empty()) response.error = "the list ended before its end";
  Retry(response, "watch", complete ? &Reflector::WatchOn : &Reflector::List);
}

void Reflector::Retry(const HttpResponse& response, const char* verb, void (Reflector::*next)()) {
  const milliseconds wait =
      std::max(backoff_.Next(), response.retry_after.value_or(milliseconds(0)));
  failing_ = true;
  outages_.Failed(verb, std::string(info_.resource), response);
  channel_.After(wait, [this, next] { (this->*next)(); });
}

}  // namespace krafla
