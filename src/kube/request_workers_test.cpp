#include "kube/request_workers.h"

#include <gtest/gtest.h>

#include <chrono>
#include <condition_variable>

namespace krafla {
namespace {

using std::chrono::milliseconds;

// Workers whose pages are held until the test releases them. A page's path is its name.
class RequestWorkersTest : public ::testing::Test {
 protected:
  void Start(RequestWorkers::Options options) {
    options.answer = [this](const ApiRequest& request) {
      std::unique_lock lock(mutex);
      begun.push_back(request.path);
      changed.notify_all();
      changed.wait(lock, [&] { return all_may_end || may_end > 0; });
      if (!all_may_end) --may_end;
      return ApiAnswer{.body = request.path};
    };
    options.deliver = [this](uint64_t, ApiAnswer answer) {
      const std::scoped_lock lock(mutex);
      delivered.push_back(answer.body);
      changed.notify_all();
    };
    options.busy = [](const ApiRequest& request) {
      return ApiAnswer{.status = 503, .body = "busy " + request.path};
    };
    options.log = [](const std::string&) {};
    workers.emplace(std::move(options));
  }
  ~RequestWorkersTest() override {
    {
      const std::scoped_lock lock(mutex);
      all_may_end = true;
      changed.notify_all();
    }
    workers.reset();
  }
  std::shared_ptr<PageWork> Offer(const std::string& peer, const std::string& path,
                                  const std::string& user = {}, bool loopback = false) {
    auto work = std::make_shared<PageWork>();
    work->request.path = path;
    work->request.user = user;
    work->request.loopback = loopback;
    work->peer = peer;
    return workers->Offer(work) ? work : nullptr;
  }
  void EndOne() {
    const std::scoped_lock lock(mutex);
    ++may_end;
    changed.notify_all();
  }
  // The pages that were begun, once there are so many.
  std::vector<std::string> Begun(size_t count) {
    std::unique_lock lock(mutex);
    changed.wait_for(lock, milliseconds(5000), [&] { return begun.size() >= count; });
    return begun;
  }
  std::vector<std::string> Delivered(size_t count) {
    std::unique_lock lock(mutex);
    changed.wait_for(lock, milliseconds(5000), [&] { return delivered.size() >= count; });
    return delivered;
  }

  using Names = std::vector<std::string>;
  std::mutex mutex;
  std::condition_variable changed;
  Names begun;
  Names delivered;
  int may_end = 0;
  bool all_may_end = false;
  std::optional<RequestWorkers> workers;
};

TEST_F(RequestWorkersTest, CallersTakeTurnsHoweverManyRequestsOneHas) {
  Start({.threads = 1, .most_waiting = 200, .most_of_a_caller = 200});
  for (int i = 0; i < 100; ++i) ASSERT_TRUE(Offer("10.0.0.1", "a" + std::to_string(i)));
  Begun(1);
  ASSERT_TRUE(Offer("10.0.0.2", "b0"));
  ASSERT_TRUE(Offer("10.0.0.2", "b1"));
  ASSERT_TRUE(Offer("10.0.0.3", "c0"));
  for (size_t i = 1; i < 6; ++i) {
    EndOne();
    Begun(i + 1);
  }
  EXPECT_EQ(Begun(6), (Names{"a0", "b0", "c0", "a1", "b1", "a2"}));
}

TEST_F(RequestWorkersTest, ACallerWithItsShareOfThreadsLeavesTheOthersFree) {
  Start({.threads = 2, .most_worked_on_of_a_caller = 1});
  ASSERT_TRUE(Offer("10.0.0.1", "a0"));
  ASSERT_TRUE(Offer("10.0.0.1", "a1"));
  EXPECT_EQ(Begun(1), Names{"a0"});
  ASSERT_TRUE(Offer("10.0.0.2", "b0"));
  EXPECT_EQ(Begun(2), (Names{"a0", "b0"})) << "a1 waits although a thread is free";
  EndOne();
  EndOne();
  EXPECT_EQ(Begun(3), (Names{"a0", "b0", "a1"}));
}

TEST_F(RequestWorkersTest, UsersBehindOneAddressAreDifferentCallers) {
  Start({.threads = 1, .most_worked_on_of_a_caller = 1});
  ASSERT_TRUE(Offer("127.0.0.1", "u0", "ursula", true));
  Begun(1);
  ASSERT_TRUE(Offer("127.0.0.1", "u1", "ursula", true));
  ASSERT_TRUE(Offer("127.0.0.1", "v0", "victor", true));
  // A user is no address, whatever it is called.
  ASSERT_TRUE(Offer("127.0.0.1", "w0", "127.0.0.1", true));
  EndOne();
  Begun(2);
  EndOne();
  EXPECT_EQ(Begun(3), (Names{"u0", "v0", "w0"}));
}

TEST_F(RequestWorkersTest, WhenAllPlacesAreTakenTheCallerWithMostOfThemGivesOne) {
  Start({.threads = 1, .most_waiting = 4, .most_of_a_caller = 100});
  ASSERT_TRUE(Offer("10.0.0.1", "a0"));
  Begun(1);
  for (const char* path : {"a1", "a2", "a3", "a4"}) ASSERT_TRUE(Offer("10.0.0.1", path));
  EXPECT_FALSE(Offer("10.0.0.1", "a5")) << "it has most of them itself";
  ASSERT_TRUE(Offer("10.0.0.2", "b0"));
  ASSERT_TRUE(Offer("10.0.0.2", "b1"));
  EXPECT_EQ(Delivered(2), (Names{"busy a4", "busy a3"})) << "the newest ones go";
  EXPECT_FALSE(Offer("10.0.0.2", "b2")) << "two and two is fair";
}

TEST_F(RequestWorkersTest, ACallerHasABoundedNumberOfRequests) {
  Start({.threads = 1, .most_waiting = 100, .most_of_a_caller = 3});
  for (const char* path : {"a0", "a1", "a2"}) ASSERT_TRUE(Offer("10.0.0.1", path));
  EXPECT_FALSE(Offer("10.0.0.1", "a3"));
  for (int i = 0; i < 10; ++i) EXPECT_TRUE(Offer("127.0.0.1", "l", "", true));
}

TEST_F(RequestWorkersTest, ARequestThatIsGivenUpWhileItWaitsIsNotWorkedOn) {
  Start({.threads = 1});
  ASSERT_TRUE(Offer("10.0.0.1", "a0"));
  Begun(1);
  const auto given_up = Offer("10.0.0.1", "a1");
  ASSERT_TRUE(given_up);
  ASSERT_TRUE(Offer("10.0.0.1", "a2"));
  given_up->abandoned = true;
  EndOne();
  EXPECT_EQ(Begun(2), (Names{"a0", "a2"}));
}

}  // namespace
}  // namespace krafla
