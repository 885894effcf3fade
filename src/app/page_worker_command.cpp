#include "app/page_worker_command.h"

#include <unistd.h>

#include <array>
#include <cerrno>
#include <charconv>
#include <cstring>
#include <iterator>
#include <optional>

#include <fmt/format.h>

#include "app/command_inputs.h"
#include "app/explanation_json.h"
#include "app/explanation_text.h"
#include "base/check.h"
#include "base/did_you_mean.h"
#include "kube/page_maker.h"
#include "kube/page_process.h"

namespace krafla {

namespace {

// The lines of standard input.
class InputLines {
 public:
  std::optional<std::string> Next() {
    while (true) {
      if (const size_t end = text_.find('\n', looked_at_); end != std::string::npos) {
        std::string line = text_.substr(begin_, end - begin_);
        begin_ = looked_at_ = end + 1;
        return line;
      }
      text_.erase(0, begin_);
      begin_ = 0;
      looked_at_ = text_.size();
      const ssize_t got = ::read(STDIN_FILENO, bytes_.data(), bytes_.size());
      if (got < 0 && errno == EINTR) continue;
      KRAFLA_CHECK(got >= 0, std::strerror(errno));
      if (got == 0) return std::nullopt;
      text_.append(bytes_.data(), static_cast<size_t>(got));
    }
  }

 private:
  std::array<char, 256 << 10> bytes_;
  std::string text_;
  size_t begin_ = 0;
  size_t looked_at_ = 0;
};

bool WriteAll(std::string_view text) {
  while (!text.empty()) {
    const ssize_t written = ::write(STDOUT_FILENO, text.data(), text.size());
    if (written < 0 && errno == EINTR) continue;
    if (written < 0) return false;  // krafla serve no longer waits for it
    text.remove_prefix(static_cast<size_t>(written));
  }
  return true;
}

template <class Number>
bool TakeFlag(std::string_view word, std::string_view flag, Number least, Number& value) {
  if (!word.starts_with(flag)) return false;
  word.remove_prefix(flag.size());
  const char* const end = word.data() + word.size();
  const auto [stop, error] = std::from_chars(word.data(), end, value);
  return error == std::errc{} && stop == end && value >= least;
}

}  // namespace

std::string RenderExplanation(const Explanation& explanation, const std::string& as) {
  return as == "json" ? ExplanationAsJson(explanation)
                      : ExplanationAsText(explanation, as == "color");
}

int PageWorkerCommand(const std::vector<std::string>& arguments, std::ostream& err) {
  PageProcessLimits limits;
  for (const std::string& word : arguments) {
    if (TakeFlag(word, "--memory=", PageProcesses::kLeastMemory, limits.memory_bytes) ||
        TakeFlag(word, "--seconds=", int64_t{1}, limits.seconds) ||
        TakeFlag(word, "--parent=", pid_t{1}, limits.parent))
      continue;
    err << fmt::format("error: {}: unexpected {}\n", kPageWorkerCommand, Quoted(word));
    return kWrongInput;
  }
  if (limits.memory_bytes == 0 || limits.seconds == 0 || limits.parent == 0) {
    err << fmt::format(
        "error: {}: is started by krafla serve alone; expected --memory=BYTES --seconds=N "
        "--parent=PID\n",
        kPageWorkerCommand);
    return kWrongInput;
  }
  ApplyLimits(limits);
  InputLines lines;
  const PageResult result = MakePage([&] { return lines.Next(); }, &RenderExplanation);
  return WriteAll(WriteResult(result)) ? 0 : 1;
}

}  // namespace krafla
