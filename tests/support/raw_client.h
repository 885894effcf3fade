// A client of a server on this machine that sends exactly the bytes a test gives it, also those
// that no HTTP library would send.
#pragma once

#include <chrono>
#include <string>
#include <string_view>

namespace krafla::testing {

class RawClient {
 public:
  static constexpr std::chrono::milliseconds kPatience{10'000};

  // Its receive buffer is small: an answer of a megabyte does not fit into the kernel.
  // `from`: the address of this end, such as 127.0.0.2; empty: any.
  explicit RawClient(int port, const std::string& to = "127.0.0.1", const std::string& from = {});
  ~RawClient();
  RawClient(RawClient&& other) noexcept;
  RawClient& operator=(RawClient&&) = delete;

  bool connected() const { return connected_; }
  // False: the server has closed the connection.
  bool Send(std::string_view bytes);
  // No more is sent.
  void FinishSending();
  // Something has come, or the end; it is not taken.
  bool Waits(std::chrono::milliseconds patience = kPatience) const;
  // All that comes until the server closes the connection.
  std::string ReceiveAll(std::chrono::milliseconds patience = kPatience);
  // One answer with its body; empty: there was none. Not for answers to HEAD.
  std::string ReceiveAnswer(std::chrono::milliseconds patience = kPatience);
  // The server closes the connection within this time; what it sends before is thrown away.
  bool EndsWithin(std::chrono::milliseconds patience);

 private:
  // False: no more comes, or not in time.
  bool ReceiveSome(std::chrono::steady_clock::time_point until);

  int fd_ = -1;
  bool connected_ = false;
  bool ended_ = false;
  std::string received_;
};

// An IPv4 address of this machine that is not loopback; empty: it has none.
std::string OwnAddress();

// Connects, sends, and receives until the end.
std::string Exchange(int port, std::string_view request, const std::string& to = "127.0.0.1");

struct Fetched {
  int status = 0;  // 0: no answer
  std::string headers;
  std::string body;
  std::string error;
};
// GET, as a well-behaved client does it, and over TLS too. `authority`: a file with certificates;
// empty: the server's certificate is not verified.
Fetched Fetch(const std::string& url, const std::string& authority = {},
              const std::string& header = {});

}  // namespace krafla::testing
