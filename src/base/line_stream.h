// A C stream whose lines go to a function, for those who write to a FILE and whose lines need a
// form that is given elsewhere.
//
// Written to by one thread at a time.
#pragma once

#include <cstdio>
#include <functional>
#include <memory>
#include <string>

namespace krafla {

class LineStream {
 public:
  // `write` is given each line without its end, on the thread that has ended it.
  explicit LineStream(std::function<void(const std::string& line)> write);
  ~LineStream();
  LineStream(const LineStream&) = delete;
  LineStream& operator=(const LineStream&) = delete;

  std::FILE* file() const { return file_; }

 private:
  struct State;
  std::unique_ptr<State> state_;
  std::FILE* file_;
};

}  // namespace krafla
