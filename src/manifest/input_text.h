// A whole input in memory, with the room behind its end that the JSON readers ask for.
#pragma once

#include <cstddef>
#include <cstdlib>
#include <iosfwd>
#include <memory>
#include <string>
#include <string_view>

#include "base/result.h"

namespace krafla {

class InputText {
 public:
  // More is refused: offsets into a document are kept in 32 bits.
  static constexpr size_t kMaxBytes = 0xFFFF'0000;

  static Result<InputText> FromFile(const std::string& path);
  static Result<InputText> FromStream(std::istream& stream);
  static Result<InputText> Copy(std::string_view text);

  // Followed by at least simdjson::SIMDJSON_PADDING zero bytes.
  std::string_view view() const { return {data_.get(), size_}; }

 private:
  struct Release {
    size_t mapped;  // bytes, when it is a file that the kernel shows us; else 0
    void operator()(char* data) const;
  };

  InputText() = default;
  bool Reserve(size_t bytes);
  bool Map(int descriptor, size_t bytes);
  // Room for one more byte at least; says why not.
  Result<void> Grow();
  Result<void> ReadAll(int descriptor);
  void Close();

  std::unique_ptr<char, Release> data_;
  size_t size_ = 0;
  size_t capacity_ = 0;  // without the padding
};

}  // namespace krafla
