// Result<T>: a value, or the sentence that says why there is none.
#pragma once

#include <expected>
#include <string>

namespace krafla {

struct Error {
  std::string message;
};

template <class T>
using Result = std::expected<T, Error>;

inline std::unexpected<Error> Fail(std::string message) {
  return std::unexpected<Error>(Error{std::move(message)});
}

}  // namespace krafla
