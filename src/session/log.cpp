#include "session/log.h"

namespace krafla {

void Log::Write(const std::string& line) {
  if (capture_ != nullptr) {
    capture_->append(line).push_back('\n');
    return;
  }
  std::fwrite(line.data(), 1, line.size(), out_);
  std::fputc('\n', out_);
}

}  // namespace krafla
