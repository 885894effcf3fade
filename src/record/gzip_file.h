// Text files compressed with gzip that are written little by little and can be read while they are
// written, or after their writer was killed: up to the last flush everything is there.
#pragma once

#include <cstddef>
#include <memory>
#include <optional>
#include <string>
#include <string_view>

#include "base/result.h"

namespace krafla {

class GzipWriter {
 public:
  // Makes the file, readable by its owner only; there must be none of that name.
  static Result<std::unique_ptr<GzipWriter>> Create(const std::string& path);
  // Ends the file properly.
  ~GzipWriter();

  // Every call returns false when the file could not be written; nothing more is written then.
  bool Add(std::string_view text);
  // What was added is in the file when this returns.
  bool Flush();

  // In the file, compressed; what waits for a flush is not counted.
  size_t bytes() const;
  // Why it could not be written.
  const std::string& problem() const;

 private:
  struct State;
  explicit GzipWriter(std::unique_ptr<State> state);
  bool Deflate(int flush);
  std::unique_ptr<State> state_;
};

class GzipLines {
 public:
  static Result<std::unique_ptr<GzipLines>> Open(const std::string& path);
  ~GzipLines();

  // The next whole line, without its end; nothing at the end of the file, or where it is torn or
  // damaged.
  std::optional<std::string> Next();
  // The file ended before it was ended properly: its writer still runs or was killed.
  bool torn() const;
  // Not what a writer leaves behind, however it ended.
  const std::string& problem() const;

 private:
  struct State;
  explicit GzipLines(std::unique_ptr<State> state);
  bool Fill();
  std::unique_ptr<State> state_;
};

}  // namespace krafla
