// A name server that does not answer holds up the request that needs it, and not the channel.
#include <dlfcn.h>
#include <gtest/gtest.h>
#include <netdb.h>

#include <atomic>
#include <chrono>
#include <string_view>
#include <thread>

#include "kube/http_channel.h"

namespace {

using std::chrono::milliseconds;

constexpr std::string_view kSilentName = "silent.krafla.test";
constexpr milliseconds kSilence{3'000};
std::atomic<int> looking_up = 0;

}  // namespace

// Instead of the C library's, for libcurl too.
extern "C" int getaddrinfo(const char* name, const char* service, const addrinfo* hints,
                           addrinfo** result) {
  if (name != nullptr && name == kSilentName) {
    ++looking_up;
    std::this_thread::sleep_for(kSilence);
    --looking_up;
    return EAI_AGAIN;
  }
  static const auto real =
      reinterpret_cast<decltype(&::getaddrinfo)>(dlsym(RTLD_NEXT, "getaddrinfo"));
  return real(name, service, hints, result);
}

namespace krafla {
namespace {

TEST(HttpChannelDnsTest, ANameServerThatDoesNotAnswerDoesNotBlockTheChannel) {
  using Clock = std::chrono::steady_clock;
  InitializeHttp();
  Credentials credentials(KubeConnection{.server = "http://silent.krafla.test"},
                          ProcessSurroundings());
  const auto begun = Clock::now();
  {
    HttpChannel channel(credentials, {.name = "test"});
    const HttpResponse response = channel.Ask({.target = "/", .timeout = milliseconds(200)});
    EXPECT_EQ(response.status, 0);
    EXPECT_EQ(looking_up, 1);
    EXPECT_LT(Clock::now() - begun, milliseconds(2'000));
  }
  EXPECT_LT(Clock::now() - begun, milliseconds(2'500)) << "nor its end";
  // Its thread ends by itself; the process waits for it here.
  while (looking_up > 0) std::this_thread::sleep_for(milliseconds(10));
  std::this_thread::sleep_for(milliseconds(50));
}

}  // namespace
}  // namespace krafla
