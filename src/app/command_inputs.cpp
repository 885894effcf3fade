#include "app/command_inputs.h"

#include <chrono>
#include <iterator>
#include <limits>
#include <ostream>

#include <fmt/format.h>

#include "base/did_you_mean.h"
#include "base/whole_file.h"
#include "scheduler/vocabulary.h"
#include "session/tdm_settings.h"

namespace krafla {

void Print(const Diagnostics& diagnostics, std::ostream& err) {
  for (const Diagnostic& d : diagnostics.items()) err << ToString(d) << '\n';
}

Result<std::string> ReadFileOrInput(const std::string& path, const StandardInput& input) {
  if (path != "-" || input.stream == nullptr) return ReadFile(path);
  if (input.for_cluster)
    return Fail("standard input cannot be both the configuration and the cluster");
  std::string text((std::istreambuf_iterator<char>(*input.stream)),
                   std::istreambuf_iterator<char>());
  if (input.stream->bad()) return Fail("cannot be read");
  return text;
}

Result<std::string> ReadFile(const std::string& path) {
  if (path == "-") return Fail("standard input is not read here; give a file");
  return ReadWholeFile(path);
}

SchedulerConfig ReadConfig(const std::string& path, bool lenient,
                           const std::optional<std::string>& profile, Diagnostics& diagnostics,
                           std::string* read_text, const StandardInput& input) {
  std::string text(DefaultSchedulerConfigText());
  ConfigReadOptions read{
      .file_name = "default configuration", .lenient = lenient, .profile = profile};
  if (!path.empty()) {
    read.file_name = path;
    Result<std::string> file = ReadFileOrInput(path, input);
    if (!file) {
      diagnostics.Error(path, {}, file.error().message);
      return {};
    }
    text = std::move(*file);
  }
  if (read_text != nullptr) *read_text = text;
  SchedulerConfig config = ReadSchedulerConfig(text, BuiltInVocabulary(), read, diagnostics);
  if (lenient)
    for (const TdmZone& zone : ReadTdmSettings(config, TimeZone{}).zones)
      if (!zone.readable())
        diagnostics.Warning(read.file_name, zone.location,
                            fmt::format("zone {} stays configured and is never open: its window "
                                        "cannot be read",
                                        Printable(zone.name)));
  return config;
}

SessionOptions TimeOf(const std::string& now_text, Diagnostics& diagnostics) {
  SessionOptions time;
  if (now_text.empty()) {
    const auto since_epoch = std::chrono::system_clock::now().time_since_epoch();
    time.now.ns = std::chrono::duration_cast<std::chrono::nanoseconds>(since_epoch).count();
    time.zone = LocalTimeZone();
    return time;
  }
  const Result<ZonedTimestamp> now = ParseRfc3339(now_text);
  if (!now) {
    diagnostics.Error("--now", {}, now.error().message);
    return time;
  }
  if (now->time.ns == std::numeric_limits<int64_t>::max() ||
      now->time.ns <= std::numeric_limits<int64_t>::min() + 1) {
    diagnostics.Error("--now", {},
                      "expected an instant between the years 1678 and 2261, got " + now_text);
    return time;
  }
  time.now = now->time;
  time.zone = FixedOffset(now->offset_seconds);
  return time;
}

ReadClusterOptions ReadOptionsFor(const SchedulerConfig& config, bool lenient) {
  ReadClusterOptions read;
  read.lenient = lenient;
  read.count_undeclared_csi_drivers = !config.compatibility.csi_attach_limit;
  read.leave_out_pods_without_claims = !config.compatibility.missing_claims;
  return read;
}

}  // namespace krafla
