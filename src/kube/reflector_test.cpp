#include "kube/reflector.h"

#include <gtest/gtest.h>
#include <httplib.h>

#include <algorithm>
#include <atomic>
#include <mutex>
#include <thread>

#include <fmt/format.h>

namespace krafla {
namespace {

using std::chrono::milliseconds;
using What = ObjectMessage::What;
using Lines = std::vector<std::string>;

// Nodes, served the way an API server does; what it answers next is told by the test.
class ReflectorTest : public ::testing::Test {
 protected:
  static void SetUpTestSuite() { InitializeHttp(); }
  void SetUp() override {
    server.new_task_queue = [] { return new httplib::ThreadPool(8); };
    server.Get("/api/v1/nodes", [this](const httplib::Request& request,
                                       httplib::Response& response) { Serve(request, response); });
    const int port = server.bind_to_any_port("127.0.0.1");
    thread = std::thread([this] { server.listen_after_bind(); });
    while (!server.is_running()) std::this_thread::yield();  // else stop() says nothing to it
    credentials.emplace(KubeConnection{.server = fmt::format("http://127.0.0.1:{}", port)},
                        ProcessSurroundings());
  }
  void TearDown() override {
    stopping = true;
    reflector_channel.reset();
    server.stop();
    thread.join();
  }

  struct Answer {
    int status = 200;
    Lines lines;  // of a watch; the stream stays open unless `ends`
    bool ends = true;
    std::string body;  // of a list
    std::string retry_after;
  };
  void Serve(const httplib::Request& request, httplib::Response& response) {
    Answer answer{.ends = false};
    {
      const std::scoped_lock lock(mutex);
      std::string asked;
      for (const auto& [key, value] : request.params)
        if (key != "timeoutSeconds" && key != "allowWatchBookmarks")
          asked += (asked.empty() ? "" : "&") + key + "=" + value;
      // Before it watches on, the reflector asks for the server's version.
      if (asked == "limit=1") {
        response.set_content(Page({}, server_version, ""), "application/json");
        return;
      }
      queries.push_back(asked);
      if (watches_end && asked.starts_with("resourceVersion=")) {
        answer.ends = true;
      } else if (!answers.empty()) {
        answer = answers.front();
        answers.erase(answers.begin());
      }
    }
    response.status = answer.status;
    if (!answer.retry_after.empty()) response.set_header("Retry-After", answer.retry_after);
    if (answer.status != 200 || !answer.body.empty()) {
      response.set_content(answer.body, "application/json");
      return;
    }
    response.set_chunked_content_provider(
        "application/json", [this, answer](size_t, httplib::DataSink& sink) mutable {
          if (answer.lines.empty()) {
            const std::scoped_lock lock(mutex);
            answer.lines = std::exchange(late, {});
          }
          for (const std::string& line : std::exchange(answer.lines, {})) {
            // In two pieces, as a network might.
            const std::string text = line + "\n";
            sink.write(text.data(), text.size() / 2);
            sink.write(text.data() + text.size() / 2, text.size() - text.size() / 2);
          }
          // One whose client has gone would keep its thread.
          if (answer.ends || stopping || !sink.is_writable()) sink.done();
          std::this_thread::sleep_for(milliseconds(5));
          return true;
        });
  }

  static std::string Event(const std::string& type, const std::string& name, int version) {
    return fmt::format(
        R"({{"type":"{}","object":{{"kind":"Node","apiVersion":"v1","metadata":{{"name":"{}",)"
        R"("uid":"u","resourceVersion":"{}"}}}}}})",
        type, name, version);
  }
  static std::string Bookmark(int version, bool end) {
    return fmt::format(
        R"({{"type":"BOOKMARK","object":{{"kind":"Node","metadata":{{"resourceVersion":"{}",)"
        R"("annotations":{{{}}}}}}}}})",
        version, end ? R"("k8s.io/initial-events-end":"true")" : "");
  }
  static std::string Page(const Lines& names, int version, const std::string& next) {
    std::string items;
    for (const std::string& name : names)
      items += fmt::format(R"({}{{"metadata":{{"name":"{}","uid":"u","resourceVersion":"1"}}}})",
                           items.empty() ? "" : ",", name);
    return fmt::format(
        R"({{"kind":"NodeList","apiVersion":"v1","metadata":{{"resourceVersion":"{}",)"
        R"("continue":"{}"}},"items":[{}]}})",
        version, next, items);
  }

  void Start(Reflector::Options options = {}) {
    reflector_channel.emplace(*credentials, HttpChannelOptions{.name = "test"});
    channel = &*reflector_channel;
    inbox.OnRoom([this] { channel->Resume(); });
    options.log = [this](const std::string& line) {
      const std::scoped_lock lock(mutex);
      log.push_back(line);
    };
    reflector.emplace(WatchedKind::kNode, *reflector_channel, inbox, outages, options);
    reflector->Start();
  }
  // The messages until there are so many, as words.
  Lines Receive(size_t count) {
    const auto deadline = Inbox::Clock::now() + std::chrono::seconds(10);
    while (received.size() < count && Inbox::Clock::now() < deadline) {
      for (const ObjectMessage& m : inbox.Take(deadline).objects)
        received.push_back(m.what == What::kSyncBegins ? "begin"
                           : m.what == What::kSyncEnds ? "end"
                           : m.what == What::kGone     ? "-" + m.head.name
                                                       : m.head.name);
    }
    return std::exchange(received, {});
  }
  Lines Queries(size_t count) {
    for (int i = 0; i < 1000; ++i) {
      {
        const std::scoped_lock lock(mutex);
        if (queries.size() >= count) return queries;
      }
      std::this_thread::sleep_for(milliseconds(10));
    }
    return {};
  }

  httplib::Server server;
  std::thread thread;
  std::optional<Credentials> credentials;
  Inbox inbox;
  OutageLog outages{
      {.server = "x",
       .after = [this](milliseconds delay,
                       std::function<void()> task) { channel->After(delay, std::move(task)); },
       .log =
           [this](const std::string& line) {
             const std::scoped_lock lock(mutex);
             log.push_back(line);
           }}};
  std::optional<Reflector> reflector;
  std::optional<HttpChannel> reflector_channel;  // ends before the reflector does
  HttpChannel* channel = nullptr;                // for its own thread, also while it ends
  std::mutex mutex;
  std::vector<Answer> answers;
  int server_version = 1'000'000;
  Lines late;                // for a watch that is open
  bool watches_end = false;  // at once, without one of the answers
  Lines queries;
  Lines log;
  Lines received;
  std::atomic<bool> stopping = false;
};

constexpr const char* kWatchList =
    "resourceVersionMatch=NotOlderThan&sendInitialEvents=true&watch=true";

TEST_F(ReflectorTest, AWatchThatBeginsWithTheList) {
  answers = {{.lines = {Event("ADDED", "a", 9), Event("ADDED", "b", 3), Bookmark(10, true),
                        Event("DELETED", "a", 11), Event("MODIFIED", "b", 12)}}};
  Start();
  EXPECT_EQ(Receive(6), (Lines{"begin", "a", "b", "end", "-a", "b"}));
  EXPECT_EQ(Queries(2), (Lines{kWatchList, "resourceVersion=12&watch=true"}))
      << "it ended, and goes on where it was";
}

TEST_F(ReflectorTest, PageByPageWhereTheServerHasNoWatchList) {
  answers = {{.status = 400, .body = "{}"},
             {.body = Page({"a", "b"}, 5, "x/y")},
             {.body = Page({"c"}, 7, "")}};
  Start();
  EXPECT_EQ(Receive(5), (Lines{"begin", "a", "b", "c", "end"}));
  EXPECT_EQ(Queries(4), (Lines{kWatchList, "limit=500", "continue=x/y&limit=500",
                               "resourceVersion=7&watch=true"}));
}

TEST_F(ReflectorTest, AServerThatWantsTlsSaysNothingAboutWatchLists) {
  answers = {{.status = 400, .body = "Client sent an HTTP request to an HTTPS server.\n"},
             {.lines = {Event("ADDED", "a", 9), Bookmark(10, true)}, .ends = false}};
  Start();
  EXPECT_EQ(Receive(4), (Lines{"begin", "begin", "a", "end"}));
  EXPECT_EQ(Queries(2), (Lines{kWatchList, kWatchList}));
  const std::scoped_lock lock(mutex);
  for (const std::string& line : log) EXPECT_EQ(line.find("no watch-list"), line.npos) << line;
}

TEST_F(ReflectorTest, OnlyFieldsThatAreUsedGoFurther) {
  const std::string object =
      R"({"kind":"Node","apiVersion":"v1","metadata":{"name":"a","uid":"u","resourceVersion":"9",)"
      R"("managedFields":[{"manager":"kubelet"}],"annotations":{"foreign":"text"}},)"
      R"("spec":{"unschedulable":true,"podCIDR":"10.0.0.0/24"},)"
      R"("status":{"allocatable":{"cpu":"4"},"nodeInfo":{"machineID":"x"}}})";
  const std::string kept =
      R"({"kind":"Node","apiVersion":"v1","metadata":{"name":"a","uid":"u","annotations":{}},)"
      R"("spec":{"unschedulable":true},"status":{"allocatable":{"cpu":"4"}}})";
  const std::string page =
      R"({"kind":"NodeList","apiVersion":"v1","metadata":{"resourceVersion":"9"},"items":[)" +
      object + "]}";
  for (const bool watch_list : {true, false}) {
    answers = {watch_list ? Answer{.lines = {R"({"type":"ADDED","object":)" + object + "}"}}
                          : Answer{.body = page}};
    answers[0].ends = false;
    Start({.watch_list = watch_list});
    std::vector<ObjectMessage> objects;
    while (objects.size() < 2)
      for (ObjectMessage& m : inbox.Take(Inbox::Clock::now() + std::chrono::seconds(10)).objects)
        objects.push_back(std::move(m));
    ASSERT_EQ(objects[1].what, What::kSeen);
    EXPECT_EQ(objects[1].object, kept);
    EXPECT_TRUE(objects[1].reduced);
    EXPECT_GE(objects[1].object.capacity(), kept.size() + 64) << "simdjson reads behind the end";
    EXPECT_EQ(objects[1].head.resource_version, "9");
    reflector_channel.reset();
  }
}

TEST_F(ReflectorTest, AnExpiredVersionMeansANewList) {
  answers = {{.lines = {Bookmark(10, true)}},
             {.lines = {R"({"type":"ERROR","object":{"kind":"Status","code":410}})"}},
             {.lines = {Event("ADDED", "a", 20), Bookmark(20, true)}}};
  Start();
  EXPECT_EQ(Receive(5), (Lines{"begin", "end", "begin", "a", "end"}));
  EXPECT_EQ(Queries(3)[1], "resourceVersion=10&watch=true");
  EXPECT_EQ(Queries(3)[2], kWatchList);
}

TEST_F(ReflectorTest, AListThatBreaksOffIsBegunAgain) {
  answers = {{.lines = {Event("ADDED", "a", 9)}},
             {.lines = {Event("ADDED", "a", 9), Event("ADDED", "b", 9), Bookmark(10, true)}}};
  Start();
  EXPECT_EQ(Receive(6), (Lines{"begin", "a", "begin", "a", "b", "end"}));
}

TEST_F(ReflectorTest, BookmarksMoveThePlaceToGoOnFrom) {
  answers = {{.lines = {Bookmark(10, true), Bookmark(15, false)}}};
  Start();
  EXPECT_EQ(Queries(2)[1], "resourceVersion=15&watch=true");
}

TEST_F(ReflectorTest, AServerThatIsBusyIsLeftInPeace) {
  answers = {{.status = 429, .body = R"({"message":"busy"})", .retry_after = "1"},
             {.lines = {Bookmark(10, true)}}};
  const auto begin = std::chrono::steady_clock::now();
  Start();
  EXPECT_EQ(Receive(3), (Lines{"begin", "begin", "end"}));
  EXPECT_GE(std::chrono::steady_clock::now() - begin, milliseconds(1000));
  const std::scoped_lock lock(mutex);
  ASSERT_FALSE(log.empty());
  EXPECT_EQ(log[0],
            "API server answers with errors; retrying server=x verb=watch resource=nodes "
            "error=\"429 busy\"");
}

TEST_F(ReflectorTest, AChannelThatIsClosedIsNoFailure) {
  answers = {{.lines = {Bookmark(10, true)}, .ends = false}};
  Start();
  EXPECT_EQ(Receive(2), (Lines{"begin", "end"}));
  reflector_channel.reset();
  EXPECT_EQ(log, (Lines{"listed kind=Node"}));
}

// Nothing comes over it, and it works all the same.
TEST_F(ReflectorTest, AWatchThatIsOpenEndsAnOutage) {
  answers = {{.lines = {Bookmark(10, true)}}, {.status = 500, .body = R"({"message":"ill"})"}};
  Start();
  const auto ended = [&] {
    const std::scoped_lock lock(mutex);
    return std::any_of(log.begin(), log.end(), [](const std::string& line) {
      return line.starts_with("API server answers without errors again");
    });
  };
  for (int i = 0; i < 1000 && !ended(); ++i) std::this_thread::sleep_for(milliseconds(10));
  EXPECT_TRUE(ended());
}

TEST_F(ReflectorTest, ALineThatCannotBeReadMeansANewList) {
  answers = {{.lines = {Bookmark(10, true), "{nonsense", Event("ADDED", "lost", 11)}},
             {.lines = {Event("ADDED", "lost", 11), Bookmark(12, true)}}};
  Start();
  EXPECT_EQ(Receive(5), (Lines{"begin", "end", "begin", "lost", "end"}));
}

TEST_F(ReflectorTest, AStreamThatCannotBeReadIsNotListenedToUntilItEnds) {
  answers = {{.lines = {Bookmark(10, true), "{nonsense"}, .ends = false},
             {.lines = {Event("ADDED", "lost", 11), Bookmark(12, true)}, .ends = false}};
  Start();
  EXPECT_EQ(Receive(5), (Lines{"begin", "end", "begin", "lost", "end"}));
}

// Each of these is one line in the log, with the object where it can be seen, and a new list.
TEST_F(ReflectorTest, AnEventThatCannotBeReadIsOneLogLineAndNothingIsLost) {
  struct Case {
    std::string line;
    std::string logged;
  };
  const std::string head = R"({"type":"ADDED","object":{"kind":"Node","metadata":)";
  const Case cases[] = {
      {"{nonsense", R"(error="a line of the watch is no JSON object")"},
      {"\xff\xfe", R"(error="a line of the watch is no JSON object")"},
      {head + R"({"name":"a","uid":"u","resou)",
       R"(object=a error="a line of the watch is no JSON object")"},
      {head + R"({"uid":"u","resourceVersion":"11"}}})",
       R"(error="the object of an event has no metadata.name")"},
      {head + R"({"name":"a","uid":"u"}}})",
       R"(object=a error="the object of an event has no metadata.resourceVersion")"},
      {R"({"type":"EXPLODED","object":{}})",
       R"(error="an event of the unknown type \"EXPLODED\"")"},
      {R"({"type":"ADDED"})", R"(error="an event without object")"},
      {R"({"type":"ERROR","object":"it is broken"})",
       R"(error="ERROR event: an ERROR event without a Status")"},
      {R"({"type":"ERROR","object":null})",
       R"(error="ERROR event: an ERROR event without a Status")"},
      {R"({"type":"ERROR","object":{"kind":"Oops","message":"m","code":"410"}})",
       R"(error="ERROR event: m")"},
  };
  for (const Case& c : cases) {
    answers = {{.lines = {Bookmark(10, true), c.line, Event("ADDED", "lost", 11)}, .ends = false},
               {.lines = {Event("ADDED", "lost", 11), Bookmark(12, true)}, .ends = false}};
    log.clear();
    Start();
    EXPECT_EQ(Receive(5), (Lines{"begin", "end", "begin", "lost", "end"})) << c.line;
    reflector_channel.reset();
    EXPECT_EQ(log, (Lines{"listed kind=Node",
                          "watch cannot be read; listing again kind=Node " + c.logged}));
  }
}

TEST_F(ReflectorTest, AListThatCannotBeReadIsOneLogLineAndReadAgain) {
  const std::string page = Page({"a", "b"}, 5, "");
  answers = {{.body = page.substr(0, page.size() / 2)},
             {.body = page.substr(0, page.size() - 3)},
             {.body = R"({"kind":"Status","metadata":{},"status":"Success"})"},
             {.body = page}};
  Start({.watch_list = false});
  EXPECT_EQ(Receive(7), (Lines{"begin", "begin", "begin", "begin", "a", "b", "end"}))
      << "a cut list says nothing about what is gone";
  reflector_channel.reset();
  ASSERT_EQ(log.size(), 2u) << "once a minute";
  EXPECT_TRUE(log[0].starts_with("list cannot be read; listing again kind=Node error=")) << log[0];
}

// A proxy that breaks each stream would cause a list each time.
TEST_F(ReflectorTest, ListsAfterBrokenStreamsSlowDown) {
  for (int i = 0; i < 50; ++i)
    answers.push_back({.lines = {Bookmark(10, true), "{nonsense"}, .ends = false});
  Start();
  std::this_thread::sleep_for(milliseconds(3000));
  reflector_channel.reset();
  EXPECT_LE(queries.size(), 7u) << "100 ms, 200 ms, 400 ms, … or up to twice that";
  EXPECT_GE(queries.size(), 3u);
  EXPECT_EQ(log.size(), 2u);
}

TEST_F(ReflectorTest, AnObjectOfThreeMegabytesIsTakenAndLoggedOnce) {
  std::string large = Event("ADDED", "large", 9);
  large.insert(large.find(R"("uid")"),
               R"("annotations":{"a":")" + std::string(3u << 20, 'x') + R"("},)");
  answers = {
      {.lines = {large, Bookmark(10, true), large, Event("MODIFIED", "b", 12)}, .ends = false}};
  Start();
  EXPECT_EQ(Receive(5), (Lines{"begin", "large", "end", "large", "b"}));
  reflector_channel.reset();
  ASSERT_EQ(log.size(), 2u);
  EXPECT_TRUE(log[0].starts_with("object is unusually large kind=Node object=large bytes=3145"))
      << log[0];
}

TEST_F(ReflectorTest, NoPageIsAskedForWhileTheInboxIsFull) {
  answers = {{.body = Page({"a", "b"}, 5, "next")}, {.body = Page({"c"}, 7, "")}};
  ObjectMessage filler{
      ObjectMessage::What::kSeen, WatchedKind::kPod, std::string(64u << 20, 'x'), {}};
  filler.head.name = "filler";
  inbox.PutAlways(std::move(filler));
  Start({.watch_list = false});
  std::this_thread::sleep_for(milliseconds(300));
  {
    const std::scoped_lock lock(mutex);
    EXPECT_EQ(queries, Lines{}) << "nothing takes from the inbox";
  }
  EXPECT_EQ(Receive(6), (Lines{"filler", "begin", "a", "b", "c", "end"}));
}

// As after a restore of etcd: a watch from a version that is still to come would be silent.
TEST_F(ReflectorTest, AServerThatIsBehindWhatWasSeenIsListedAgain) {
  server_version = 7;
  answers = {{.lines = {Event("ADDED", "a", 9), Bookmark(10, true)}},
             {.lines = {Event("ADDED", "a", 5), Bookmark(7, true)}, .ends = false}};
  Start();
  EXPECT_EQ(Receive(6), (Lines{"begin", "a", "end", "begin", "a", "end"}));
  EXPECT_EQ(Queries(2), (Lines{kWatchList, kWatchList}));
  const std::scoped_lock lock(mutex);
  EXPECT_NE(std::find(log.begin(), log.end(),
                      "server is behind what was seen; listing again kind=Node server=7 seen=10"),
            log.end());
}

TEST_F(ReflectorTest, AServerThatIsAheadIsWatchedOn) {
  server_version = 10;
  answers = {{.lines = {Bookmark(10, true)}}};
  Start();
  EXPECT_EQ(Queries(2)[1], "resourceVersion=10&watch=true");
}

TEST_F(ReflectorTest, ABookmarkOfAnEarlierVersionMeansANewList) {
  answers = {{.lines = {Bookmark(10, true), Bookmark(4, false)}, .ends = false},
             {.lines = {Bookmark(4, true)}, .ends = false}};
  Start();
  EXPECT_EQ(Receive(4), (Lines{"begin", "end", "begin", "end"}));
}

TEST_F(ReflectorTest, AListThatIsAskedForFollowsWhenTheWatchEnds) {
  watches_end = true;
  answers = {{.lines = {Bookmark(10, true)}}, {.lines = {Bookmark(11, true)}, .ends = false}};
  Start();
  EXPECT_EQ(Receive(2), (Lines{"begin", "end"}));
  reflector->ListAgain();
  EXPECT_EQ(Receive(2), (Lines{"begin", "end"}));
}

TEST_F(ReflectorTest, AListThatIsAskedForFollowsTheNextEvent) {
  answers = {{.lines = {Bookmark(10, true)}, .ends = false},
             {.lines = {Event("ADDED", "b", 12), Bookmark(12, true)}, .ends = false}};
  Start();
  EXPECT_EQ(Receive(2), (Lines{"begin", "end"}));
  reflector->ListAgain();
  {
    const std::scoped_lock lock(mutex);
    late = {Event("ADDED", "a", 11)};
  }
  EXPECT_EQ(Receive(3), (Lines{"begin", "b", "end"})) << "without waiting for a bookmark";
}

TEST_F(ReflectorTest, TheEndOfAListSaysItsVersion) {
  for (const bool watch_list : {true, false}) {
    answers = {watch_list ? Answer{.lines = {Bookmark(10, true)}}
                          : Answer{.body = Page({}, 10, "")}};
    answers[0].ends = false;
    Start({.watch_list = watch_list});
    std::vector<ObjectMessage> marks;
    while (marks.size() < 2)
      for (ObjectMessage& m : inbox.Take(Inbox::Clock::now() + std::chrono::seconds(10)).objects)
        marks.push_back(std::move(m));
    EXPECT_EQ(marks[1].head.resource_version, "10");
    reflector_channel.reset();
  }
}

TEST(Backoff, DoublesUpToItsLimitAndIsNeverTheSameForTwo) {
  Backoff a(milliseconds(200), milliseconds(30'000), 1);
  Backoff b(milliseconds(200), milliseconds(30'000), 2);
  int64_t limit = 200;
  bool differ = false;
  for (int i = 0; i < 12; ++i) {
    const int64_t wait = a.Next().count();
    differ = differ || wait != b.Next().count();
    EXPECT_GE(wait, limit / 2);
    EXPECT_LE(wait, limit);
    limit = std::min<int64_t>(limit * 2, 30'000);
  }
  EXPECT_TRUE(differ);
  a.Reset();
  EXPECT_LE(a.Next().count(), 200);
}

}  // namespace
}  // namespace krafla
