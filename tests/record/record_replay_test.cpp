// A scheduler's life is recorded and lived once more: the same decisions, byte for byte.
#include <gtest/gtest.h>
#include <simdjson.h>
#include <unistd.h>

#include <filesystem>
#include <fstream>
#include <sstream>

#include <fmt/format.h>

#include "app/run_command.h"
#include "base/recovery.h"
#include "property/for_all.h"
#include "record/record_writer.h"
#include "record/recorded_life.h"
#include "record/replay.h"

namespace krafla::testing {
namespace {

namespace fs = std::filesystem;

class Folder {
 public:
  Folder() : path_(fs::temp_directory_path() / fmt::format("krafla-record-{}", getpid())) {
    fs::remove_all(path_);
  }
  ~Folder() { fs::remove_all(path_); }
  std::string text() const { return path_.string(); }
  std::vector<std::string> Segments() const { return *RecordSegments(text()); }

 private:
  fs::path path_;
};

struct Recorder {
  std::unique_ptr<RecordWriter> writer;
  KeptState state;
  std::optional<RecordedLife> life;

  Recorder(const RandomCluster& random, uint64_t seed, const std::string& folder,
           size_t segment_bytes = 64u << 20, size_t most_bytes = size_t{1} << 30) {
    life.emplace(random, seed, [this](RecordedChange change) { Take(std::move(change)); });
    Result<std::unique_ptr<RecordWriter>> made =
        RecordWriter::Start({.folder = folder,
                             .most_bytes = most_bytes,
                             .segment_bytes = segment_bytes,
                             .head = life->Head(),
                             .now = [this] { return life->now(); },
                             .log = {}});
    EXPECT_TRUE(made) << made.error().message;
    writer = std::move(*made);
  }
  void Take(RecordedChange change) {
    writer->Prepare(state);
    if (state.Apply(change)) writer->Write(change);
    if (change.what == RecordedChange::What::kCycle) writer->Flush();
  }
};

std::string ReadAll(const std::string& path) {
  std::ifstream file(path, std::ios::binary);
  std::stringstream text;
  text << file.rdbuf();
  return text.str();
}

TEST(RecordReplay, ReproducesTheDecisionsByteForByte) {
  uint64_t evictions = 0;
  int releases = 0;
  int lives_with_controllers = 0;
  ForAll(120, {.pending_pods = true, .contest = true}, [&](const RandomCluster& random) {
    Folder folder;
    std::vector<std::string> decided;
    {
      // Some lives fit into one segment, some take many.
      Recorder recorder(random, random.shape.seed, folder.text(),
                        random.shape.seed % 2 == 0 ? 2000 : 1 << 20);
      recorder.life->Run(12);
      decided = recorder.life->decisions();
      releases += recorder.life->releases();
      lives_with_controllers += recorder.life->controllers_seen() ? 1 : 0;
    }
    std::vector<std::string> replayed;
    uint64_t cycles = 0;
    for (const std::string& path : folder.Segments()) {
      const Result<ReplayResult> result =
          ReplaySegment(path, [&](uint64_t, Timestamp, const std::vector<std::string>& decisions) {
            for (const std::string& line : decisions) {
              replayed.push_back(line);
              if (line.starts_with("evict")) ++evictions;
            }
          });
      if (!result) return result.error().message;
      if (result->difference)
        return fmt::format("cycle {}: recorded \"{}\" replayed \"{}\"", result->difference->cycle,
                           result->difference->recorded, result->difference->replayed);
      if (result->torn) return std::string("torn");
      cycles += result->cycles;
    }
    if (cycles != 12) return fmt::format("{} cycles", cycles);
    if (replayed != decided) return std::string("other decisions");
    return std::string();
  });
  EXPECT_GT(evictions, 20u) << "the lives are too quiet to show anything";
  EXPECT_GT(releases, 50) << "pods that waited for their PodGroup and were scheduled alone";
  EXPECT_GT(lives_with_controllers, 10);
}

// What is quarantined is taken out in the record, or replaced by what counts in its place: a replay
// needs no failing check to decide the same.
TEST(RecordReplay, ReproducesTheDecisionsOfALifeWithQuarantinedObjects) {
  const bool before = RecoveryScope::Enabled();
  RecoveryScope::Enable(true);
  size_t quarantined = 0;
  ForAll(60, {.pending_pods = true, .contest = true}, [&](const RandomCluster& random) {
    Folder folder;
    std::vector<std::string> decided;
    {
      Recorder recorder(random, random.shape.seed, folder.text());
      CheckDrill drill;
      Dice dice(random.shape.seed);
      for (const auto& [name, job] : random.jobs)
        if (dice.Chance(25)) drill.placed.push_back("PodGroup/" + name);
      for (const auto& [name, pod] : random.pods)
        if (dice.Chance(10)) drill.decoded.emplace_back(WatchedKind::kPod, name);
      recorder.life->Break(std::move(drill));
      recorder.life->Run(12);
      quarantined += recorder.life->quarantined();
      decided = recorder.life->decisions();
    }
    std::vector<std::string> replayed;
    for (const std::string& path : folder.Segments()) {
      const Result<ReplayResult> result =
          ReplaySegment(path, [&](uint64_t, Timestamp, const std::vector<std::string>& decisions) {
            replayed.insert(replayed.end(), decisions.begin(), decisions.end());
          });
      if (!result) return result.error().message;
      if (result->difference)
        return fmt::format("cycle {}: recorded \"{}\" replayed \"{}\"", result->difference->cycle,
                           result->difference->recorded, result->difference->replayed);
    }
    return replayed == decided ? std::string() : std::string("other decisions");
  });
  EXPECT_GT(quarantined, 20u) << "too little breaks to show anything";
  RecoveryScope::Enable(before);
}

RandomCluster Sample(uint64_t seed = 7) {
  Shape shape{.seed = seed, .nodes = 4, .queues = 2, .jobs = 6, .features = {}};
  shape.features = {Feature::kPriorities, Feature::kGangs, Feature::kBound};
  return MakeCluster(shape, {.profile = "krafla", .contest = true});
}

TEST(RecordReplay, ATornTailIsReadUpToTheLastWholeLine) {
  Folder folder;
  {
    Recorder recorder(Sample(), 3, folder.text());
    recorder.life->Run(20);
  }
  ASSERT_EQ(folder.Segments().size(), 1u);
  const std::string path = folder.Segments()[0];
  const std::string whole = ReadAll(path);
  uint64_t most = 0;
  size_t unreadable = 0;
  for (size_t size = 0; size < whole.size(); size += 37) {
    std::ofstream(path, std::ios::binary | std::ios::trunc) << whole.substr(0, size);
    const Result<ReplayResult> result = ReplaySegment(path, {});
    ASSERT_TRUE(result) << size << ": " << result.error().message;
    EXPECT_TRUE(result->torn);
    EXPECT_FALSE(result->difference);
    EXPECT_EQ(result->objects.has_value(), result->missing_state.empty());
    if (!result->objects) {
      // Before the state is complete there is nothing to begin with.
      EXPECT_EQ(most, 0u) << size << ": " << result->missing_state;
      EXPECT_EQ(result->cycles, 0u);
      EXPECT_TRUE(result->missing_state.contains("complete state")) << result->missing_state;
      ++unreadable;
      continue;
    }
    EXPECT_GE(result->cycles, most) << "a longer file has as much at least";
    most = result->cycles;
  }
  EXPECT_GT(unreadable, 0u);
  EXPECT_GE(most, 19u);
}

// As `krafla run --replay` tells it.
struct Told {
  int code = 0;
  std::string out;
  std::string err;
};
Told ReplayTold(const std::string& path, const std::string& output = "text") {
  std::stringstream in;
  std::stringstream out;
  std::stringstream err;
  const int code = RunCommand({.cluster = {}, .replay = path, .output = output}, in, out, err);
  return {code, out.str(), err.str()};
}

TEST(RecordReplay, ARecordWithoutACycleIsNotAsRecorded) {
  Folder folder;
  {
    Recorder recorder(Sample(), 3, folder.text());
    recorder.life->Run(3);
  }
  ASSERT_EQ(folder.Segments().size(), 1u);
  const std::string path = folder.Segments()[0];
  EXPECT_EQ(ReplayTold(path).code, 0);
  EXPECT_TRUE(ReplayTold(path).out.contains("3 cycles")) << ReplayTold(path).out;

  // The state is whole, and nothing of what came behind it is left.
  std::string state;
  {
    const auto lines = GzipLines::Open(path);
    for (bool whole = false; !whole;) {
      const std::optional<std::string> line = (*lines)->Next();
      ASSERT_TRUE(line);
      whole = line->starts_with("{\"state\":");
      state += *line + "\n";
    }
  }
  fs::remove(path);
  (*GzipWriter::Create(path))->Add(state);
  const std::string whole_file = ReadAll(path);
  for (const char* output : {"text", "json"}) {
    const Told told = ReplayTold(folder.text(), output);
    EXPECT_EQ(told.code, 2);
    EXPECT_EQ(told.out, "");
    EXPECT_TRUE(told.err.contains(path + ": holds a state of ")) << told.err;
    EXPECT_TRUE(told.err.contains("it was ended before one ran")) << told.err;
    EXPECT_TRUE(told.err.contains("there is nothing to replay")) << told.err;
  }
  // Without gzip's end, as a writer leaves it that is killed.
  std::ofstream(path, std::ios::binary | std::ios::trunc)
      << whole_file.substr(0, whole_file.size() - 8);
  const Told torn = ReplayTold(path);
  EXPECT_EQ(torn.code, 2);
  EXPECT_TRUE(torn.err.contains("its end is missing, and the first cycle with it")) << torn.err;
}

TEST(RecordReplay, ASegmentWithoutACycleAmongOthersIsAWarning) {
  Folder folder;
  {
    Recorder recorder(Sample(), 3, folder.text());
    recorder.life->Run(3);
  }
  const std::string path = folder.Segments()[0];
  std::string state;
  {
    const auto lines = GzipLines::Open(path);
    for (bool whole = false; !whole;) {
      const std::optional<std::string> line = (*lines)->Next();
      ASSERT_TRUE(line);
      whole = line->starts_with("{\"state\":");
      state += *line + "\n";
    }
  }
  const std::string next = folder.text() + "/record-000000002-20300101T000000Z.jsonl.gz";
  (*GzipWriter::Create(next))->Add(state);
  ASSERT_EQ(folder.Segments().size(), 2u);
  const Told told = ReplayTold(folder.text());
  EXPECT_EQ(told.code, 0) << told.err;
  EXPECT_TRUE(told.out.contains("3 cycles")) << told.out;
  EXPECT_TRUE(told.err.starts_with("warning: " + next + ": holds a state of ")) << told.err;
}

std::vector<std::string> LinesOf(const std::string& path) {
  std::vector<std::string> lines;
  const auto file = GzipLines::Open(path);
  while (std::optional<std::string> line = (*file)->Next()) lines.push_back(std::move(*line));
  return lines;
}

// A segment of the first `whole` of these lines and half of the next, without gzip's end, as a
// writer leaves it that is killed.
void WriteTorn(const std::string& path, const std::vector<std::string>& lines, size_t whole) {
  std::string text;
  for (size_t i = 0; i < whole; ++i) text += lines[i] + "\n";
  text += lines[whole].substr(0, lines[whole].size() / 2);
  fs::remove(path);
  (*GzipWriter::Create(path))->Add(text);
  constexpr size_t kGzipEnd = 8;
  fs::resize_file(path, fs::file_size(path) - kGzipEnd);
}

// Nothing of it can be replayed; the others can. As with any other end that is missing.
TEST(RecordReplay, AStateThatIsTornIsAWarningAmongOthersAndAnErrorAlone) {
  Folder folder;
  {
    Recorder recorder(Sample(), 3, folder.text());
    recorder.life->Run(3);
  }
  const std::string good = folder.Segments()[0];
  const std::string torn = folder.text() + "/record-000000002-20300101T000000Z.jsonl.gz";
  const std::vector<std::string> lines = LinesOf(good);
  size_t state_end = 0;
  while (!lines[state_end].starts_with("{\"state\":")) ASSERT_LT(++state_end, lines.size());
  const std::string rest = R"(the rest of the state up to {"state":"complete",…})";
  for (const auto& [whole, expected] :
       {std::pair(size_t{0}, std::string(R"(the head {"krafla":1,…})")),
        std::pair(size_t{1}, std::string(R"(the configuration {"config":"…"})")),
        std::pair(size_t{2}, rest), std::pair(state_end, rest)}) {
    WriteTorn(torn, lines, whole);
    const std::string sentence = fmt::format(
        "{}: holds no complete state: it ends before the end of line {}, where {} was "
        "expected\n",
        torn, whole + 1, expected);
    const Told told = ReplayTold(folder.text());
    EXPECT_EQ(told.code, 0);
    EXPECT_EQ(told.err, "warning: " + sentence);
    EXPECT_TRUE(
        told.out.contains("the end of its state is missing; nothing of the segment can be "
                          "replayed\n3 cycles, "))
        << told.out;
    EXPECT_TRUE(told.out.ends_with(": as recorded\n")) << told.out;

    for (const char* output : {"text", "json"}) {
      const Told alone = ReplayTold(torn, output);
      EXPECT_EQ(alone.code, 2);
      EXPECT_EQ(alone.out, "");
      EXPECT_TRUE(alone.err.starts_with("error: " + sentence)) << alone.err;
      EXPECT_TRUE(alone.err.contains("there is nothing to replay")) << alone.err;
    }
  }
}

// The keys of each segment in a replay's JSON, in order; its cycles are left out.
std::vector<std::vector<std::string>> KeysOfSegments(const std::string& text) {
  namespace dom = simdjson::dom;
  dom::parser parser;
  dom::element root;
  std::vector<std::vector<std::string>> segments;
  if (parser.parse(text).get(root)) return segments;
  for (const dom::element segment : root["segments"].get_array()) {
    segments.emplace_back();
    for (const dom::key_value_pair field : segment.get_object())
      segments.back().emplace_back(field.key);
  }
  return segments;
}

TEST(RecordReplay, EverySegmentHasTheSameKeysInJson) {
  Folder folder;
  {
    Recorder recorder(Sample(), 3, folder.text());
    recorder.life->Run(3);
  }
  const std::vector<std::string> lines = LinesOf(folder.Segments()[0]);
  const auto segment = [&](int number) {
    return fmt::format("{}/record-{:09}-20300101T000000Z.jsonl.gz", folder.text(), number);
  };
  WriteTorn(segment(2), lines, 2);
  WriteTorn(segment(3), lines, lines.size() - 1);
  (*GzipWriter::Create(segment(4)))->Add(lines[0] + "\n{\"cycle\":true}\n");
  std::string other;  // decides something else; nothing is replayed behind it
  for (const std::string& line : lines) other += line + "\n";
  const size_t bind = other.find("\"bind ");
  ASSERT_NE(bind, other.npos);
  other.replace(bind, 6, "\"bond ");
  (*GzipWriter::Create(segment(5)))->Add(other);

  const Told told = ReplayTold(folder.text(), "json");
  EXPECT_EQ(told.code, 1);
  const std::vector<std::string> keys = {"file", "cycles",     "objects", "changes",
                                         "torn", "difference", "error",   "warning"};
  EXPECT_EQ(KeysOfSegments(told.out), std::vector(5, keys)) << told.out;
  // What is said of a segment on standard error is in its entry too.
  for (const char* wanted :
       {R"("objects":null,"changes":0,"torn":true,"difference":null,"error":null,"warning":"/)",
        R"("torn":true,"difference":null,"error":null,"warning":null})",
        R"("objects":null,"changes":null,"torn":false,"difference":null,"error":"/)",
        R"("torn":false,"difference":{"cycle":1,"at":"2026-03-10T12:00:00.000000000Z","decision":)",
        R"("error":null,"warning":null}],"equal":false})"})
    EXPECT_TRUE(told.out.contains(wanted)) << wanted << "\n" << told.out;
}

// A writer ends a file properly only behind the state: this is damage, whatever is beside it.
TEST(RecordReplay, AFileThatIsWholeWithoutItsStateIsAnErrorAmongOthers) {
  Folder folder;
  {
    Recorder recorder(Sample(), 3, folder.text());
    recorder.life->Run(3);
  }
  const std::string head = LinesOf(folder.Segments()[0])[0];
  const std::string next = folder.text() + "/record-000000002-20300101T000000Z.jsonl.gz";
  (*GzipWriter::Create(next))->Add(head + "\n");
  const Told told = ReplayTold(folder.text());
  EXPECT_EQ(told.code, 2);
  EXPECT_TRUE(told.err.starts_with("error: " + next + ": holds no complete state: it ends before " +
                                   "the end of line 2, where the configuration "))
      << told.err;
  EXPECT_TRUE(told.out.ends_with("as recorded; 1 segment could not be read to the end\n"))
      << told.out;
}

// Each segment has a state of its own: what can be read is replayed, and the exit code tells that
// it was not all.
TEST(RecordReplay, ADamagedSegmentDoesNotEndTheReplayOfOthers) {
  Folder folder;
  {
    Recorder recorder(Sample(), 3, folder.text());
    recorder.life->Run(3);
  }
  const std::string whole = folder.Segments()[0];
  const std::string damaged = folder.text() + "/record-000000000-20200101T000000Z.jsonl.gz";
  std::string text;
  {
    const auto lines = GzipLines::Open(whole);
    while (const std::optional<std::string> line = (*lines)->Next()) text += *line + "\n";
  }
  (*GzipWriter::Create(damaged))->Add(text + "{\"cycle\":true}\n");
  ASSERT_EQ(folder.Segments(), (std::vector{damaged, whole}));

  const Told told = ReplayTold(folder.text());
  EXPECT_EQ(told.code, 2);
  EXPECT_TRUE(told.err.starts_with("error: " + damaged + ": line ")) << told.err;
  EXPECT_TRUE(told.out.contains("the rest of the segment cannot be read\nsegment record-000000001"))
      << told.out;
  EXPECT_TRUE(told.out.contains("\n6 cycles, ")) << told.out;
  EXPECT_TRUE(told.out.ends_with("as recorded; 1 segment could not be read to the end\n"))
      << told.out;

  const Told json = ReplayTold(folder.text(), "json");
  EXPECT_EQ(json.code, 2);
  EXPECT_TRUE(json.out.contains(R"("objects":null,"changes":null,"torn":false,"difference":null,)"
                                R"("error":")" +
                                damaged + ": line "))
      << json.out;
  EXPECT_TRUE(json.out.ends_with("\"equal\":true}\n")) << json.out;

  for (const std::string& path : {whole, damaged}) fs::remove(path);
  (*GzipWriter::Create(damaged))->Add("{\"cycle\":true}\n");
  const Told alone = ReplayTold(folder.text());
  EXPECT_EQ(alone.code, 2);
  EXPECT_EQ(alone.out, "");
  EXPECT_TRUE(alone.err.contains("there is nothing to replay")) << alone.err;
}

TEST(RecordReplay, WhatIsNoRecordIsAnError) {
  Folder folder;
  {
    Recorder recorder(Sample(), 3, folder.text());
    recorder.life->Run(5);
  }
  const std::string path = folder.Segments()[0];
  std::string bytes = ReadAll(path);
  for (size_t i = bytes.size() / 2; i < bytes.size() / 2 + 8; ++i) bytes[i] ^= 0x5a;
  std::ofstream(path, std::ios::binary | std::ios::trunc) << bytes;
  // Whatever the damage did, it is noticed.
  const Result<ReplayResult> damaged = ReplaySegment(path, {});
  EXPECT_TRUE(!damaged || damaged->difference || damaged->torn);
  std::ofstream(path, std::ios::binary | std::ios::trunc) << "not compressed\n";
  const Result<ReplayResult> plain = ReplaySegment(path, {});
  ASSERT_FALSE(plain);
  EXPECT_NE(plain.error().message.find("is damaged"), std::string::npos) << plain.error().message;
  EXPECT_FALSE(ReplaySegment(folder.text() + "/none", {}));
}

TEST(RecordReplay, ADamagedLineIsAnErrorOrAnotherLine) {
  const std::string line =
      R"({"put":"Pod","key":"a/b","object":{"kind":"Pod","metadata":{"name":"b","labels":{"x":"\""}},)"
      R"("spec":{"list":[1,2,{"y":null}]}},"binding":"n1","phase":"Pending"})";
  ASSERT_TRUE(ParseRecordLine(line));
  for (size_t size = 0; size < line.size(); ++size)
    EXPECT_FALSE(ParseRecordLine(line.substr(0, size))) << size;
  for (size_t at = 0; at < line.size(); ++at) {
    for (const char wrong : {'{', '}', '"', '[', ']', ',', '\\', '\x01', '\xff'}) {
      std::string damaged = line;
      damaged[at] = wrong;
      (void)ParseRecordLine(damaged);  // whatever it is, it is read to its end
    }
  }
}

TEST(RecordReplay, AnotherDecisionIsShown) {
  Folder folder;
  {
    Recorder recorder(Sample(), 3, folder.text());
    recorder.life->Run(1);
  }
  const std::string path = folder.Segments()[0];
  const auto lines = GzipLines::Open(path);
  std::string changed;
  bool done = false;
  while (std::optional<std::string> line = (*lines)->Next()) {
    if (const size_t at = line->find("\"bind "); at != std::string::npos && !done) {
      line->replace(at, 6, "\"bond ");
      done = true;
    }
    changed += *line + "\n";
  }
  ASSERT_TRUE(done) << changed;
  fs::remove(path);
  (*GzipWriter::Create(path))->Add(changed);
  const Result<ReplayResult> result = ReplaySegment(path, {});
  ASSERT_TRUE(result) << result.error().message;
  ASSERT_TRUE(result->difference);
  EXPECT_EQ(result->difference->cycle, 1u);
  EXPECT_TRUE(result->difference->recorded.starts_with("bond "));
  EXPECT_TRUE(result->difference->replayed.starts_with("bind "));
}

TEST(RecordReplay, TheWordsOfAReasonAreNotADecision) {
  const std::string was =
      "evict a/low-0 from n1: evicted by preempt for a/high-0 (job priority 9 over 1), allowed by "
      "priority, gang [priority]";
  EXPECT_TRUE(SameDecision(was,
                           "evict a/low-0 from n1: evicted by preempt for a/high-0 (the more "
                           "important job) [importance]"));
  for (const char* other :
       {"evict a/low-1 from n1: evicted by preempt for a/high-0 (job priority 9 over 1)",
        "evict a/low-0 from n2: evicted by preempt for a/high-0 (job priority 9 over 1)",
        "evict a/low-0 from n1: evicted by reclaim for a/high-0 (job priority 9 over 1)",
        "evict a/low-0 from n1: evicted by preempt for a/high-1 (job priority 9 over 1)",
        "evict a/low-0 from n1: evicted by preempt (job priority 9 over 1)", ""})
    EXPECT_FALSE(SameDecision(was, other)) << other;
  EXPECT_FALSE(SameDecision("bind a/x to n1 by allocate", "bind a/x to n1 by backfill"));
}

// As a record of another version would have it.
TEST(RecordReplay, ARecordWithOtherWordsIsReplayedWithoutADifference) {
  bool done = false;
  for (uint64_t seed = 1; seed <= 40 && !done; ++seed) {
    Folder folder;
    {
      Recorder recorder(Sample(), seed, folder.text());
      recorder.life->Run(20);
    }
    const std::string path = folder.Segments()[0];
    std::string changed;
    {
      const auto lines = GzipLines::Open(path);
      while (std::optional<std::string> line = (*lines)->Next()) {
        for (size_t at = line->find("\"evict "); at != std::string::npos;
             at = line->find("\"evict ", at + 1)) {
          line->insert(line->find(" (", at) + 2, "as it was said then: ");
          done = true;
        }
        changed += *line + "\n";
      }
    }
    fs::remove(path);
    (*GzipWriter::Create(path))->Add(changed);
    const Result<ReplayResult> result = ReplaySegment(path, {});
    ASSERT_TRUE(result) << result.error().message;
    EXPECT_FALSE(result->difference) << (result->difference ? result->difference->recorded : "");
  }
  EXPECT_TRUE(done);
}

TEST(RecordWriter, KeepsNoMoreThanItMay) {
  Folder folder;
  const size_t most = 8000;
  {
    Recorder recorder(Sample(), 3, folder.text(), 1500, most);
    recorder.life->Run(400);
    EXPECT_GT(recorder.writer->counts().segments, 5u);
  }
  size_t total = 0;
  for (const std::string& path : folder.Segments()) total += fs::file_size(path);
  EXPECT_LE(total, most + 1500);
  EXPECT_GT(folder.Segments().size(), 1u);
  // What is left can be replayed from its first segment on.
  for (const std::string& path : folder.Segments()) {
    const Result<ReplayResult> result = ReplaySegment(path, {});
    ASSERT_TRUE(result) << result.error().message;
    EXPECT_FALSE(result->difference);
  }
}

TEST(RecordWriter, NoSecretIsWritten) {
  Folder folder;
  {
    Recorder recorder(Sample(), 3, folder.text());
    recorder.life->Run(5);
  }
  bool pods = false;
  for (const std::string& path : folder.Segments()) {
    const auto lines = GzipLines::Open(path);
    while (const std::optional<std::string> line = (*lines)->Next()) {
      pods = pods || line->find("bare-") != std::string::npos;
      EXPECT_EQ(line->find("s3cret"), std::string::npos);
      EXPECT_EQ(line->find("TOKEN"), std::string::npos);
    }
  }
  EXPECT_TRUE(pods);
}

TEST(RecordWriter, TwoDoNotWriteIntoOneFolder) {
  const std::string folder = ::testing::TempDir() + "/krafla-record-of-two";
  std::filesystem::remove_all(folder);
  {
    const auto first = RecordWriter::Start({.folder = folder, .head = {}, .now = {}});
    ASSERT_TRUE(first) << first.error().message;
    const auto second = RecordWriter::Start({.folder = folder, .head = {}, .now = {}});
    ASSERT_FALSE(second);
    EXPECT_TRUE(second.error().message.starts_with(folder + " is in use"))
        << second.error().message;
  }
  EXPECT_TRUE(RecordWriter::Start({.folder = folder, .head = {}, .now = {}}));
  std::filesystem::remove_all(folder);
}

TEST(RecordWriter, AFolderThatCannotBeMadeIsAnError) {
  const auto made = RecordWriter::Start({.folder = "/proc/krafla/record", .head = {}, .now = {}});
  ASSERT_FALSE(made);
  EXPECT_NE(made.error().message.find("cannot be made"), std::string::npos);
}

}  // namespace
}  // namespace krafla::testing
