#include "base/line_stream.h"

#include <sys/types.h>

#include <string_view>
#include <utility>

#include "base/check.h"

namespace krafla {

struct LineStream::State {
  std::function<void(const std::string& line)> write;
  std::string partial;

  static ssize_t Take(void* cookie, const char* text, size_t size) {
    auto& [write, partial] = *static_cast<State*>(cookie);
    std::string_view rest(text, size);
    for (size_t end = 0; (end = rest.find('\n')) != std::string_view::npos;) {
      partial.append(rest.substr(0, end));
      write(std::exchange(partial, {}));
      rest.remove_prefix(end + 1);
    }
    partial.append(rest);
    return static_cast<ssize_t>(size);
  }
};

LineStream::LineStream(std::function<void(const std::string& line)> write)
    : state_(std::make_unique<State>(State{std::move(write), {}})) {
  file_ = fopencookie(state_.get(), "w",
                      {.read = nullptr, .write = &State::Take, .seek = nullptr, .close = nullptr});
  KRAFLA_CHECK(file_ != nullptr, "out of memory");
  // A line is passed on when it ends, not when a buffer is full.
  std::setvbuf(file_, nullptr, _IOLBF, BUFSIZ);
}

LineStream::~LineStream() {
  std::fclose(file_);
  if (!state_->partial.empty()) state_->write(state_->partial);
}

}  // namespace krafla
