// Where a failed internal check need not end the program. Inside a RecoveryScope a failing
// KRAFLA_CHECK throws FailedCheck; outside of one it aborts. RunRecovering puts a scope around a
// call and returns what failed. Whatever the call was changing is half-changed then, and its caller
// discards it. Used by krafla serve around one object and around the decisions of one cycle.
#pragma once

#include <exception>
#include <new>
#include <optional>
#include <string>
#include <utility>

namespace krafla {

class FailedCheck final : public std::exception {
 public:
  explicit FailedCheck(std::string text) : text_(std::move(text)) {}
  const char* what() const noexcept override { return text_.c_str(); }

 private:
  std::string text_;
};

// Of the thread that opens it; scopes nest.
class RecoveryScope {
 public:
  RecoveryScope();
  ~RecoveryScope();
  RecoveryScope(const RecoveryScope&) = delete;
  RecoveryScope& operator=(const RecoveryScope&) = delete;

  // A check that fails now is caught by a scope of this thread.
  static bool Active();
  // Whether scopes have an effect. Builds with KRAFLA_VERIFY begin without: there a failed check
  // ends the test. Tests of the recovery itself switch it on.
  static void Enable(bool enabled);
  static bool Enabled();
};

// Calls f; returns what failed, nothing when all went well. An exception of a library counts as a
// failed check; lack of memory does not, and is passed on.
template <class F>
std::optional<std::string> RunRecovering(F&& f) {
  if (!RecoveryScope::Enabled()) {
    f();
    return std::nullopt;
  }
  const RecoveryScope scope;
  try {
    f();
    return std::nullopt;
  } catch (const std::bad_alloc&) {
    throw;
  } catch (const std::exception& failure) {
    return failure.what();
  }
}

}  // namespace krafla
