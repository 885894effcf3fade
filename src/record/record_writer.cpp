#include "record/record_writer.h"

#include <sys/stat.h>

#include <algorithm>
#include <charconv>
#include <cstring>
#include <filesystem>

#include <fmt/format.h>

#include "base/log_text.h"

namespace krafla {

namespace {

namespace fs = std::filesystem;

constexpr std::string_view kPrefix = "record-";
constexpr std::string_view kSuffix = ".jsonl.gz";
constexpr size_t kLargestSegment = 64u << 20;
constexpr std::chrono::seconds kFlushPeriod{1};
constexpr std::chrono::seconds kPauseAfterFailure{60};

// "record-000000017-20260310T223000Z.jsonl.gz"
std::string SegmentName(uint64_t number, Timestamp begun) {
  std::string time = FormatRfc3339(begun);
  std::erase_if(time, [](char c) { return c == '-' || c == ':'; });
  return fmt::format("{}{:09}-{}{}", kPrefix, number, time, kSuffix);
}

bool IsSegment(std::string_view name) {
  return name.starts_with(kPrefix) && name.ends_with(kSuffix);
}

uint64_t NumberOf(std::string_view name) {
  uint64_t number = 0;
  std::from_chars(name.data() + kPrefix.size(), name.data() + name.size(), number);
  return number;
}

size_t SizeOf(const std::string& path) {
  std::error_code error;
  const auto size = fs::file_size(path, error);
  return error ? 0 : static_cast<size_t>(size);
}

}  // namespace

Result<std::vector<std::string>> RecordSegments(const std::string& folder) {
  std::error_code error;
  std::vector<std::string> names;
  for (fs::directory_iterator it(folder, error), end; !error && it != end; it.increment(error)) {
    const std::string name = it->path().filename().string();
    if (IsSegment(name)) names.push_back(name);
  }
  if (error) return Fail(fmt::format("{} cannot be read: {}", folder, error.message()));
  std::sort(names.begin(), names.end(), [](const std::string& a, const std::string& b) {
    return std::pair(NumberOf(a), a) < std::pair(NumberOf(b), b);
  });
  for (std::string& name : names) name = (fs::path(folder) / name).string();
  return names;
}

Result<std::unique_ptr<RecordWriter>> RecordWriter::Start(Options options) {
  if (options.segment_bytes == 0)
    options.segment_bytes = std::min(kLargestSegment, options.most_bytes / 8);
  std::error_code error;
  if (!fs::is_directory(options.folder, error)) {
    fs::create_directories(options.folder, error);
    if (error) return Fail(fmt::format("{} cannot be made: {}", options.folder, error.message()));
    fs::permissions(options.folder, fs::perms::owner_all, error);
  }
  Result<std::unique_ptr<FolderLock>> lock = FolderLock::Take(options.folder);
  if (!lock) return Fail(lock.error().message);
  if (*lock == nullptr && options.log)
    options.log(
        fmt::format("warning: the record's folder cannot be locked: nobody else may write "
                    "there folder={}",
                    LogQuoted(options.folder)));
  const Result<std::vector<std::string>> there = RecordSegments(options.folder);
  if (!there) return Fail(there.error().message);
  const std::string probe = (fs::path(options.folder) / ".probe").string();
  fs::remove(probe, error);
  if (const auto made = GzipWriter::Create(probe); !made) return Fail(made.error().message);
  fs::remove(probe, error);
  std::unique_ptr<RecordWriter> writer(new RecordWriter(std::move(options)));
  writer->lock_ = std::move(*lock);
  if (!there->empty())
    writer->next_number_ = NumberOf(fs::path(there->back()).filename().string()) + 1;
  return writer;
}

RecordWriter::~RecordWriter() = default;

void RecordWriter::Prepare(const KeptState& before) {
  if (before.config()->empty()) return;  // nothing has begun
  if (file_ != nullptr) {
    // A state that is large compared to a segment is not written again before as much has followed.
    const size_t changes = file_->bytes() - std::min(file_->bytes(), state_bytes_);
    if (changes < std::max(options_.segment_bytes - std::min(options_.segment_bytes, state_bytes_),
                           state_bytes_))
      return;
    file_.reset();
    why_ = "the last segment was full";
  }
  if (Clock::now() < not_before_) return;
  Begin(before);
}

void RecordWriter::Begin(const KeptState& state) {
  MakeRoom(options_.segment_bytes);
  options_.head.begun = options_.now();
  options_.head.why = why_;
  path_ = (fs::path(options_.folder) / SegmentName(next_number_++, options_.head.begun)).string();
  Result<std::unique_ptr<GzipWriter>> file = GzipWriter::Create(path_);
  if (!file) return Failed(file.error().message);
  file_ = std::move(*file);
  ++counts_.segments;
  Line(HeadLine(options_.head));
  Line(ConfigLine(*state.config()));
  Line(MemoryLine(*state.memory()));
  const std::vector<KeptState::Entry> entries = state.Entries();
  for (const KeptState::Entry& entry : entries)
    Line(ChangeLine({.what = RecordedChange::What::kPut,
                     .kind = entry.kind,
                     .key = entry.key,
                     .object = *entry.object.text,
                     .mark = entry.object.mark,
                     .phase = entry.object.phase,
                     .memory = {},
                     .cycle = {}}));
  Line(StateEndLine(entries.size(), state.cycles()));
  Flush();
  if (file_ == nullptr) return;
  state_bytes_ = file_->bytes();
  why_ = "the last segment was full";
  said_ = false;
}

void RecordWriter::Line(const std::string& line) {
  if (file_ == nullptr) return;
  unflushed_ = true;
  if (!file_->Add(line) || !file_->Add("\n")) Failed(file_->problem());
}

void RecordWriter::Write(const RecordedChange& change) {
  if (file_ != nullptr) Line(ChangeLine(change));
}

void RecordWriter::Gap() {
  ++counts_.gaps;
  file_.reset();
  unflushed_ = false;
  why_ = "a gap";
}

void RecordWriter::Failed(const std::string& why) {
  ++counts_.failures;
  if (!said_ && options_.log)
    options_.log(fmt::format("record cannot be written; tried again every {} s file={} error={}",
                             kPauseAfterFailure.count(), path_, LogQuoted(why)));
  said_ = true;
  file_.reset();
  unflushed_ = false;
  why_ = "a gap";
  not_before_ = Clock::now() + kPauseAfterFailure;
}

std::optional<RecordWriter::Clock::time_point> RecordWriter::FlushDue() const {
  if (!unflushed_) return std::nullopt;
  return last_flush_ + kFlushPeriod;
}

void RecordWriter::EndBatch() {
  if (!unflushed_ || Clock::now() - last_flush_ < kFlushPeriod) return;
  Flush();
}

void RecordWriter::Flush() {
  last_flush_ = Clock::now();
  unflushed_ = false;
  if (file_ == nullptr) return;
  if (!file_->Flush()) return Failed(file_->problem());
  counts_.bytes = older_bytes_ + file_->bytes();
}

void RecordWriter::MakeRoom(size_t room) {
  Result<std::vector<std::string>> segments = RecordSegments(options_.folder);
  if (!segments) return;
  size_t total = 0;
  for (const std::string& path : *segments) total += SizeOf(path);
  for (const std::string& path : *segments) {
    if (total + room <= options_.most_bytes) break;
    const size_t size = SizeOf(path);
    std::error_code error;
    if (fs::remove(path, error)) total -= std::min(total, size);
  }
  older_bytes_ = total;
}

}  // namespace krafla
