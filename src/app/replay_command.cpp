#include "app/replay_command.h"

#include <filesystem>
#include <optional>
#include <ostream>
#include <utility>

#include <fmt/format.h>

#include "app/command_inputs.h"
#include "base/json_writer.h"
#include "record/record_writer.h"
#include "record/replay.h"

namespace krafla {

namespace {

namespace fs = std::filesystem;

constexpr int kDifferent = 1;

// "2026-03-10T22:30:00.000000001Z"
std::string Instant(Timestamp at) {
  const int64_t rest = at.ns - at.UnixSeconds() * Timestamp::kNsPerSecond;
  return fmt::format("{}.{:09}Z", FormatRfc3339(at).substr(0, 19), rest);
}

std::string OrNone(const std::string& decision) {
  return decision.empty() ? "nothing" : decision;
}

void CountOrNull(JsonWriter& json, std::string_view key, std::optional<uint64_t> count) {
  json.Key(key);
  if (count) {
    json.Integer(static_cast<int64_t>(*count));
  } else {
    json.Null();
  }
}

void TextOrNull(JsonWriter& json, std::string_view key, std::string_view text) {
  json.Key(key);
  if (text.empty()) {
    json.Null();
  } else {
    json.String(text);
  }
}

// Empty: there was one.
std::string WhyNoCycle(const std::string& path, const ReplayResult& result) {
  if (result.cycles > 0) return {};
  if (!result.missing_state.empty()) return result.missing_state;
  return fmt::format("{}: holds a state of {} objects and no cycle: {}", path,
                     result.objects.value_or(0),
                     result.torn ? "its end is missing, and the first cycle with it"
                                 : "it was ended before one ran, or its scheduler did not lead");
}

// Everything that was replayed, for either kind of output.
class Report {
 public:
  explicit Report(std::ostream* text) : text_(text) {
    json_.BeginObject().Key("segments").BeginArray();
  }

  // Of the segments so far.
  uint64_t cycles() const { return cycles_; }
  // Segments without a cycle, and why there is none.
  const std::vector<std::string>& without_cycle() const { return without_cycle_; }
  // Segments that could not be read to their end, and why.
  const std::vector<std::string>& damaged() const { return damaged_; }

  // Whether nothing was decided otherwise. Each segment has a state of its own: one that is damaged
  // is no reason to leave the others out.
  bool Replay(const std::string& path) {
    const std::string name = fs::path(path).filename().string();
    Say(fmt::format("segment {}\n", name));
    json_.BeginObject().Key("file").String(name);
    json_.Key("cycles").BeginArray();
    const Result<ReplayResult> result = ReplaySegment(
        path, [&](uint64_t number, Timestamp at, const std::vector<std::string>& decisions) {
          Cycle(number, at, decisions);
        });
    json_.EndArray();
    if (!result) {
      EndSegment(nullptr, result.error().message, {});
      Say("the rest of the segment cannot be read\n");
      damaged_.push_back(result.error().message);
      return true;
    }
    const std::string no_cycle = WhyNoCycle(path, *result);
    EndSegment(&*result, {}, no_cycle);
    if (!no_cycle.empty()) without_cycle_.push_back(no_cycle);
    Tell(*result);
    return !result->difference;
  }

  std::string Summary(bool equal) {
    if (text_ == nullptr) {
      json_.EndArray().Key("equal").Bool(equal).EndObject();
      return json_.text() + "\n";
    }
    std::string text =
        fmt::format("{} cycle{}, {} decision{}: {}", cycles_, cycles_ == 1 ? "" : "s", decisions_,
                    decisions_ == 1 ? "" : "s", equal ? "as recorded" : "not as recorded");
    if (!damaged_.empty())
      text += fmt::format("; {} segment{} could not be read to the end", damaged_.size(),
                          damaged_.size() == 1 ? "" : "s");
    return text + "\n";
  }

 private:
  // As text. Not before the first cycle: without any there is nothing to tell.
  void Say(const std::string& text) {
    if (text_ == nullptr) return;
    if (begun_) {
      *text_ << text;
    } else {
      before_ += text;
    }
  }

  void Cycle(uint64_t number, Timestamp at, const std::vector<std::string>& decisions) {
    if (!begun_) {
      begun_ = true;
      Say(std::exchange(before_, {}));
    }
    ++cycles_;
    decisions_ += decisions.size();
    json_.BeginObject().Key("number").Integer(static_cast<int64_t>(number));
    json_.Key("at").String(Instant(at)).Key("decisions").BeginArray();
    for (const std::string& decision : decisions) json_.String(decision);
    json_.EndArray().EndObject();
    if (decisions.empty()) return;
    Say(fmt::format("cycle {} at {}\n", number, Instant(at)));
    for (const std::string& decision : decisions) Say(fmt::format("  {}\n", decision));
  }

  // Every segment has the same keys, whatever became of it: null is what is not there. `result` is
  // null for one that is damaged.
  void EndSegment(const ReplayResult* result, std::string_view error, std::string_view warning) {
    const bool read = result != nullptr;
    CountOrNull(json_, "objects", read ? result->objects : std::nullopt);
    CountOrNull(json_, "changes", read ? std::optional(result->changes) : std::nullopt);
    json_.Key("torn").Bool(read && result->torn);
    json_.Key("difference");
    if (read && result->difference) {
      const ReplayDifference& difference = *result->difference;
      json_.BeginObject().Key("cycle").Integer(static_cast<int64_t>(difference.cycle));
      json_.Key("at").String(Instant(difference.at));
      json_.Key("decision").Integer(static_cast<int64_t>(difference.index + 1));
      json_.Key("recorded").String(difference.recorded);
      json_.Key("replayed").String(difference.replayed).EndObject();
    } else {
      json_.Null();
    }
    TextOrNull(json_, "error", error);
    TextOrNull(json_, "warning", warning);
    json_.EndObject();
  }

  void Tell(const ReplayResult& result) {
    if (!result.missing_state.empty()) {
      Say("the end of its state is missing; nothing of the segment can be replayed\n");
    } else if (result.torn) {
      Say("the end of the segment is missing; all before it was replayed\n");
    }
    if (!result.difference) return;
    const ReplayDifference& difference = *result.difference;
    Say(fmt::format("difference in cycle {} at {}, decision {}:\n  recorded: {}\n  replayed: {}\n",
                    difference.cycle, Instant(difference.at), difference.index + 1,
                    OrNone(difference.recorded), OrNone(difference.replayed)));
  }

  std::ostream* text_;  // null: JSON
  bool begun_ = false;  // some cycle was replayed
  std::string before_;  // what was said before it
  JsonWriter json_;
  std::vector<std::string> without_cycle_;
  std::vector<std::string> damaged_;
  uint64_t cycles_ = 0;
  uint64_t decisions_ = 0;
};

}  // namespace

int ReplayCommand(const RunCommandOptions& options, std::ostream& out, std::ostream& err) {
  Diagnostics diagnostics;
  const auto not_with_replay = [&](bool given, const char* flag) {
    if (given)
      diagnostics.Error(flag, {}, "not together with --replay, which has it in the record");
  };
  not_with_replay(!options.cluster.empty(), "--cluster");
  not_with_replay(!options.config.empty(), "--config");
  not_with_replay(!options.now.empty(), "--now");
  not_with_replay(options.compatibility.has_value(), "--compatibility");
  std::vector<std::string> segments = {options.replay};
  std::error_code error;
  if (fs::is_directory(options.replay, error)) {
    Result<std::vector<std::string>> found = RecordSegments(options.replay);
    if (!found) {
      diagnostics.Error(options.replay, {}, found.error().message);
    } else if (found->empty()) {
      diagnostics.Error(options.replay, {}, "holds no segment of a record (record-*.jsonl.gz)");
    } else {
      segments = std::move(*found);
    }
  }
  Print(diagnostics, err);
  if (diagnostics.HasErrors()) return kWrongInput;

  const bool json = options.output == "json";
  Report report(json ? nullptr : &out);
  bool equal = true;
  for (const std::string& path : segments) {
    equal = report.Replay(path);
    if (!equal) break;
  }
  for (const std::string& problem : report.damaged()) err << "error: " << problem << "\n";
  const bool nothing = report.cycles() == 0;
  for (const std::string& segment : report.without_cycle())
    err << (nothing ? "error: " : "warning: ") << segment << "\n";
  if (nothing) {
    err << "error: there is nothing to replay: a replay needs a segment with a cycle behind its "
           "state\n";
    return kWrongInput;
  }
  out << report.Summary(equal);
  out.flush();
  if (!out) {
    err << "error: the replay could not be written\n";
    return kNotWritten;
  }
  if (!equal) return kDifferent;
  return report.damaged().empty() ? 0 : kWrongInput;
}

}  // namespace krafla
