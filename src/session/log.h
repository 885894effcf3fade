// Log lines behind a verbosity level, as klog has them. Nothing is formatted when the level is off:
//   if (log.V(3)) log.Line("Considering Task <{}> on Node <{}>.", task, node);
#pragma once

#include <fmt/format.h>

#include <cstdio>
#include <string>

namespace krafla {

class Log {
 public:
  explicit Log(int verbosity = 0, std::FILE* out = stderr) : verbosity_(verbosity), out_(out) {}

  bool V(int level) const { return level <= verbosity_; }

  template <class... Args>
  void Line(fmt::format_string<Args...> format, Args&&... args) {
    Write(fmt::format(format, std::forward<Args>(args)...));
  }

  // Instead of a file, for tests.
  void CaptureTo(std::string* text) { capture_ = text; }

 private:
  void Write(const std::string& line);

  int verbosity_;
  std::FILE* out_;
  std::string* capture_ = nullptr;
};

}  // namespace krafla
