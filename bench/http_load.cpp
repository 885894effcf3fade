// A bare client for the end-to-end benchmark: sends requests to an API server over the same
// multiplexed connection as krafla serve, and does nothing else. What it reaches is what the server
// takes.
//
//   krafla_http_load KUBECONFIG [REQUESTS_AT_ONCE] < REQUESTS
//
// A line is a chain of requests, each sent when the one before it was answered with 2xx. A request
// is four fields between tabs: method, path, content type, body. Prints a JSON object with the
// number of requests, the failures and the seconds from the first to the last answer.
#include <charconv>
#include <chrono>
#include <condition_variable>
#include <iostream>
#include <mutex>
#include <string>
#include <vector>

#include <fmt/format.h>

#include "kube/api_text.h"
#include "kube/credentials.h"
#include "kube/http_channel.h"
#include "kube/kube_config.h"

namespace {

using namespace krafla;

constexpr size_t kFields = 4;

std::vector<std::string> SplitAtTabs(const std::string& line) {
  std::vector<std::string> fields(1);
  for (const char c : line) {
    if (c == '\t') {
      fields.emplace_back();
    } else {
      fields.back().push_back(c);
    }
  }
  return fields;
}

class Load {
 public:
  Load(Credentials& credentials, size_t at_once)
      : channel_(credentials,
                 {.name = "load", .user_agent = "krafla-http-load", .max_in_flight = at_once}) {}

  void Run(const std::vector<std::vector<std::string>>& chains) {
    open_ = chains.size();
    for (const std::vector<std::string>& chain : chains) Step(chain, 0);
    std::unique_lock lock(mutex_);
    done_.wait(lock, [&] { return open_ == 0; });
  }

  size_t answered() const { return answered_; }
  size_t failed() const { return failed_; }
  const std::string& first_failure() const { return first_failure_; }

 private:
  void Step(const std::vector<std::string>& chain, size_t at) {
    HttpRequest request{.method = chain[at],
                        .target = chain[at + 1],
                        .content_type = chain[at + 2],
                        .body = chain[at + 3],
                        .timeout = std::chrono::seconds(300)};
    request.on_done = [this, &chain, at](HttpResponse response) {
      if (response.ok() && at + kFields < chain.size()) {
        ++answered_;
        return Step(chain, at + kFields);
      }
      const std::scoped_lock lock(mutex_);
      ++answered_;
      if (!response.ok() && failed_++ == 0)
        first_failure_ =
            fmt::format("{} {}: {} {}", chain[at], chain[at + 1], response.status,
                        response.status == 0 ? response.error : MessageOf(response.body));
      if (--open_ == 0) done_.notify_one();
    };
    channel_.Send(std::move(request));
  }

  std::mutex mutex_;
  std::condition_variable done_;
  size_t open_ = 0;
  size_t answered_ = 0;
  size_t failed_ = 0;
  std::string first_failure_;
  HttpChannel channel_;  // ends before what its callbacks use
};

}  // namespace

int main(int argc, char** argv) {
  size_t at_once = 64;
  if (argc < 2 || argc > 3) {
    std::cerr << "usage: krafla_http_load KUBECONFIG [REQUESTS_AT_ONCE] < REQUESTS\n";
    return 2;
  }
  if (argc == 3) {
    const std::string_view text(argv[2]);
    const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), at_once);
    if (error != std::errc{} || end != text.data() + text.size() || at_once == 0) {
      std::cerr << fmt::format("{}: error: expected a number of requests\n", text);
      return 2;
    }
  }
  std::vector<std::vector<std::string>> chains;
  for (std::string line; std::getline(std::cin, line);) {
    chains.push_back(SplitAtTabs(line));
    if (chains.back().size() % kFields == 0) continue;
    std::cerr << fmt::format("line {}: error: expected four fields for each request\n",
                             chains.size());
    return 2;
  }
  Diagnostics problems;
  KubeConnection connection =
      FindKubeConnection({.kubeconfig = argv[1]}, ProcessSurroundings(), problems);
  for (const Diagnostic& problem : problems.items()) std::cerr << ToString(problem) << "\n";
  if (problems.HasErrors()) return 2;
  InitializeHttp();
  Credentials credentials(std::move(connection), ProcessSurroundings());
  Load load(credentials, at_once);
  const auto begin = std::chrono::steady_clock::now();
  load.Run(chains);
  const std::chrono::duration<double> seconds = std::chrono::steady_clock::now() - begin;
  std::cout << fmt::format("{{\"requests\":{},\"failed\":{},\"seconds\":{:.3f}}}\n",
                           load.answered(), load.failed(), seconds.count());
  if (load.failed() > 0) std::cerr << "first failure: " << load.first_failure() << "\n";
  return load.failed() > 0 ? 1 : 0;
}
