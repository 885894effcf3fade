#include "record/gzip_file.h"

#include <fcntl.h>
#include <unistd.h>
#include <zlib.h>

#include <array>
#include <cerrno>
#include <cstring>
#include <fstream>

#include <fmt/format.h>

namespace krafla {

namespace {

constexpr int kGzip = 15 + 16;  // the largest window, and gzip's frame around it
// Fast: a record must not cost as much as the scheduling.
constexpr int kLevel = 3;

// zlib's types know no const.
Bytef* In(std::string_view text) {
  return reinterpret_cast<Bytef*>(const_cast<char*>(text.data()));
}

}  // namespace

struct GzipWriter::State {
  z_stream stream{};
  int file = -1;
  size_t bytes = 0;
  std::string problem;
  std::array<Bytef, 1 << 16> buffer;
};

GzipWriter::GzipWriter(std::unique_ptr<State> state) : state_(std::move(state)) {}

Result<std::unique_ptr<GzipWriter>> GzipWriter::Create(const std::string& path) {
  auto state = std::make_unique<State>();
  state->file = open(path.c_str(), O_WRONLY | O_CREAT | O_EXCL | O_CLOEXEC, 0600);
  if (state->file < 0)
    return Fail(fmt::format("{} cannot be made: {}", path, std::strerror(errno)));
  if (deflateInit2(&state->stream, kLevel, Z_DEFLATED, kGzip, 8, Z_DEFAULT_STRATEGY) != Z_OK) {
    close(state->file);
    return Fail(fmt::format("{} cannot be written: no memory", path));
  }
  return std::unique_ptr<GzipWriter>(new GzipWriter(std::move(state)));
}

GzipWriter::~GzipWriter() {
  Deflate(Z_FINISH);
  deflateEnd(&state_->stream);
  close(state_->file);
}

bool GzipWriter::Deflate(int flush) {
  State& s = *state_;
  if (!s.problem.empty()) return false;
  do {
    s.stream.next_out = s.buffer.data();
    s.stream.avail_out = static_cast<uInt>(s.buffer.size());
    deflate(&s.stream, flush);
    const Bytef* from = s.buffer.data();
    while (from < s.stream.next_out) {
      const ssize_t written = write(s.file, from, static_cast<size_t>(s.stream.next_out - from));
      if (written < 0 && errno == EINTR) continue;
      if (written < 0) {
        s.problem = std::strerror(errno);
        return false;
      }
      from += written;
      s.bytes += static_cast<size_t>(written);
    }
  } while (s.stream.avail_out == 0);
  return true;
}

bool GzipWriter::Add(std::string_view text) {
  state_->stream.next_in = In(text);
  state_->stream.avail_in = static_cast<uInt>(text.size());
  return Deflate(Z_NO_FLUSH);
}

bool GzipWriter::Flush() {
  return Deflate(Z_SYNC_FLUSH);
}

size_t GzipWriter::bytes() const {
  return state_->bytes;
}

const std::string& GzipWriter::problem() const {
  return state_->problem;
}

struct GzipLines::State {
  std::ifstream file;
  z_stream stream{};
  std::array<char, 1 << 16> in;
  std::array<Bytef, 1 << 18> out;
  std::string text;  // inflated and not yet handed out
  size_t begin = 0;
  bool ended = false;    // properly
  bool no_more = false;  // there is nothing left to read
  std::string problem;
};

GzipLines::GzipLines(std::unique_ptr<State> state) : state_(std::move(state)) {}

Result<std::unique_ptr<GzipLines>> GzipLines::Open(const std::string& path) {
  auto state = std::make_unique<State>();
  state->file.open(path, std::ios::binary);
  if (!state->file) return Fail(fmt::format("cannot be read: {}", std::strerror(errno)));
  if (inflateInit2(&state->stream, kGzip) != Z_OK) return Fail("cannot be read: no memory");
  return std::unique_ptr<GzipLines>(new GzipLines(std::move(state)));
}

GzipLines::~GzipLines() {
  inflateEnd(&state_->stream);
}

// One step of inflating; false: there is no more.
bool GzipLines::Fill() {
  State& s = *state_;
  if (s.no_more) return false;
  if (s.stream.avail_in == 0) {
    s.file.read(s.in.data(), static_cast<std::streamsize>(s.in.size()));
    s.stream.next_in = In({s.in.data(), s.in.size()});
    s.stream.avail_in = static_cast<uInt>(s.file.gcount());
    if (s.stream.avail_in == 0) {
      s.no_more = true;
      return false;
    }
  }
  s.stream.next_out = s.out.data();
  s.stream.avail_out = static_cast<uInt>(s.out.size());
  const int result = inflate(&s.stream, Z_NO_FLUSH);
  if (s.begin > 0) {
    s.text.erase(0, s.begin);
    s.begin = 0;
  }
  s.text.append(reinterpret_cast<const char*>(s.out.data()), s.out.size() - s.stream.avail_out);
  if (result == Z_STREAM_END) {
    s.ended = s.no_more = true;
  } else if (result != Z_OK && result != Z_BUF_ERROR) {
    s.no_more = true;
    s.problem =
        fmt::format("is damaged ({})",
                    s.stream.msg != nullptr ? s.stream.msg : "not compressed as it should be");
  }
  return true;
}

std::optional<std::string> GzipLines::Next() {
  State& s = *state_;
  size_t looked = s.begin;
  while (true) {
    const size_t end = s.text.find('\n', looked);
    if (end != std::string::npos) {
      std::string line = s.text.substr(s.begin, end - s.begin);
      s.begin = end + 1;
      return line;
    }
    const size_t rest = s.text.size() - s.begin;
    if (!Fill()) return std::nullopt;
    looked = s.begin + rest;
  }
}

bool GzipLines::torn() const {
  return state_->no_more && !state_->ended && state_->problem.empty();
}

const std::string& GzipLines::problem() const {
  return state_->problem;
}

}  // namespace krafla
