#include "manifest/input_text.h"

#include <fcntl.h>
#include <fmt/format.h>
#include <simdjson.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <cstring>
#include <istream>
#include <system_error>
#include <utility>

#include "base/large_pages.h"

namespace krafla {

namespace {

constexpr size_t kFirstBytes = size_t{64} << 10;
// Files from which on it pays to prepare the heap for their objects, which take about as much.
constexpr size_t kLargeFile = size_t{2} << 20;

std::string ErrorText(int error) {
  return std::error_code(error, std::generic_category()).message();
}

std::unexpected<Error> TooLarge() {
  return Fail(fmt::format("holds more than {} MiB; split it", InputText::kMaxBytes >> 20));
}

std::unexpected<Error> BecameShorter() {
  return Fail(std::string(InputText::kBecameShorter));
}

std::unexpected<Error> OutOfMemory(size_t bytes) {
  return Fail(fmt::format("cannot be read: no memory for {} bytes", bytes));
}

}  // namespace

void InputText::Release::operator()(char* data) const {
  if (mapped > 0) {
    (void)::munmap(data, mapped);
  } else {
    std::free(data);
  }
}

// A large file is read where the kernel keeps it: no memory of our own is filled and none is
// copied, but for its last page, behind whose end the kernel would show us what is appended later.
Result<bool> InputText::Map(int descriptor, size_t bytes) {
  const size_t page = static_cast<size_t>(::sysconf(_SC_PAGESIZE));
  const size_t whole = bytes / page * page;
  const size_t room = bytes + simdjson::SIMDJSON_PADDING;
  void* const at =
      ::mmap(nullptr, room, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
  if (at == MAP_FAILED) return false;
  data_ = {static_cast<char*>(at), Release{.mapped = room}};
  // It stands before there is anything that could strike.
  guard_ = ShrinkGuard::Over(data_.get(), whole);
  int flags = MAP_PRIVATE | MAP_FIXED;
#ifdef MAP_POPULATE
  flags |= MAP_POPULATE;
#endif
  if (!guard_ || ::mmap(at, whole, PROT_READ, flags, descriptor, 0) == MAP_FAILED) {
    guard_.reset();
    data_.reset();
    return false;
  }
  for (size_t have = whole; have < bytes;) {
    const ssize_t got =
        ::pread(descriptor, data_.get() + have, bytes - have, static_cast<off_t>(have));
    if (got == 0) return BecameShorter();
    if (got > 0) {
      have += static_cast<size_t>(got);
    } else if (errno != EINTR) {
      return Fail("cannot be read: " + ErrorText(errno));
    }
  }
  size_ = capacity_ = bytes;
  return true;
}

bool InputText::Reserve(size_t bytes) {
  // realloc moves large blocks by their page tables, so growing a pipe's text does not copy it.
  void* moved = std::realloc(data_.get(), bytes + simdjson::SIMDJSON_PADDING);
  if (moved == nullptr) return false;
  static_cast<void>(data_.release());
  data_ = {static_cast<char*>(moved), Release{}};
  capacity_ = bytes;
  UseLargePages(moved, bytes);
  return true;
}

Result<void> InputText::Grow() {
  if (size_ < capacity_) return {};
  if (size_ >= kMaxBytes) return TooLarge();
  const size_t bytes = std::min(std::max(kFirstBytes, capacity_ * 2), kMaxBytes);
  if (!Reserve(bytes)) return OutOfMemory(bytes);
  return {};
}

void InputText::Close() {
  std::memset(data_.get() + size_, 0, simdjson::SIMDJSON_PADDING);
}

Result<void> InputText::ReadAll(int descriptor) {
  for (;;) {
    if (auto grown = Grow(); !grown) return grown;
    const ssize_t got = ::read(descriptor, data_.get() + size_, capacity_ - size_);
    if (got == 0) break;
    if (got > 0) {
      size_ += static_cast<size_t>(got);
    } else if (errno != EINTR) {
      return Fail("cannot be read: " + ErrorText(errno));
    }
  }
  Close();
  return {};
}

Result<InputText> InputText::FromFile(const std::string& path) {
  const int descriptor = ::open(path.c_str(), O_RDONLY | O_CLOEXEC);
  if (descriptor < 0) return Fail("cannot be read: " + ErrorText(errno));
  InputText text;
  struct stat status{};
  Result<void> done;
  if (::fstat(descriptor, &status) == 0 && S_ISREG(status.st_mode) && status.st_size > 0) {
    const auto bytes = static_cast<size_t>(status.st_size);
    // One byte more than the file, so that the end is seen without growing.
    if (bytes >= kMaxBytes) {
      done = TooLarge();
    } else if (bytes >= kLargeFile) {
      PrepareHeap(6 * bytes);
    }
    if (done && bytes >= kLargeFile) {
      const Result<bool> mapped = text.Map(descriptor, bytes);
      if (!mapped || *mapped) {
        ::close(descriptor);
        if (!mapped) return std::unexpected(mapped.error());
        return text;
      }
    }
    if (done && !text.Reserve(bytes + 1)) {
      done = OutOfMemory(bytes);
    }
  }
  if (done) done = text.ReadAll(descriptor);
  ::close(descriptor);
  if (!done) return std::unexpected(done.error());
  return text;
}

Result<InputText> InputText::FromStream(std::istream& stream) {
  InputText text;
  for (;;) {
    if (auto grown = text.Grow(); !grown) return std::unexpected(grown.error());
    stream.read(text.data_.get() + text.size_,
                static_cast<std::streamsize>(text.capacity_ - text.size_));
    text.size_ += static_cast<size_t>(stream.gcount());
    if (stream.bad()) return Fail("cannot be read");
    if (!stream) break;
  }
  text.Close();
  return text;
}

Result<InputText> InputText::Copy(std::string_view from) {
  InputText text;
  if (from.size() > kMaxBytes) return TooLarge();
  if (!text.Reserve(from.size())) return OutOfMemory(from.size());
  if (!from.empty()) std::memcpy(text.data_.get(), from.data(), from.size());
  text.size_ = from.size();
  text.Close();
  return text;
}

}  // namespace krafla
