// A whole input in memory, with the room behind its end that the JSON readers ask for.
//
// A large file is read where the kernel keeps it. What is appended to it meanwhile is not seen;
// what is cut off is noticed (CutShort). One whose bytes are overwritten while it is read gives
// what was there when they were looked at: whoever replaces a file should rename another one over
// it.
#pragma once

#include <cstddef>
#include <cstdlib>
#include <iosfwd>
#include <memory>
#include <optional>
#include <string>
#include <string_view>

#include "base/result.h"
#include "manifest/shrink_guard.h"

namespace krafla {

class InputText {
 public:
  // More is refused: offsets into a document are kept in 32 bits.
  static constexpr size_t kMaxBytes = 0xFFFF'0000;
  // What is said of a file that is CutShort.
  static constexpr std::string_view kBecameShorter =
      "has become shorter while it was read; is somebody writing it?";

  static Result<InputText> FromFile(const std::string& path);
  static Result<InputText> FromStream(std::istream& stream);
  static Result<InputText> Copy(std::string_view text);

  // Followed by at least simdjson::SIMDJSON_PADDING zero bytes.
  std::string_view view() const { return {data_.get(), size_}; }
  // The file has become shorter since: what was read of it is not what was there.
  bool CutShort() const { return guard_ && guard_->Struck(); }

 private:
  struct Release {
    size_t mapped;  // bytes, when it is a file that the kernel shows us; else 0
    void operator()(char* data) const;
  };

  InputText() = default;
  bool Reserve(size_t bytes);
  // False: it has to be read instead.
  Result<bool> Map(int descriptor, size_t bytes);
  // Room for one more byte at least; says why not.
  Result<void> Grow();
  Result<void> ReadAll(int descriptor);
  void Close();

  std::unique_ptr<char, Release> data_;
  std::optional<ShrinkGuard> guard_;  // gone before the mapping is
  size_t size_ = 0;
  size_t capacity_ = 0;  // without the padding
};

}  // namespace krafla
