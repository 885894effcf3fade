#include "app/serve_command.h"

#include <chrono>
#include <cstdio>
#include <mutex>
#include <ostream>
#include <sstream>

#include <fmt/format.h>

#include "app/command_inputs.h"
#include "app/serve_flags.h"
#include "app/version.h"
#include "check/run_check.h"
#include "kube/serve.h"

namespace krafla {

namespace {

// "2026-03-10T22:30:00.123Z message key=value", one line at a time. A line that cannot be written
// is lost: a full disk behind the log must not end the scheduling.
void WriteLogLine(const std::string& line) {
  static std::mutex mutex;
  const auto since_epoch = std::chrono::system_clock::now().time_since_epoch();
  const int64_t ns = std::chrono::duration_cast<std::chrono::nanoseconds>(since_epoch).count();
  std::string time = FormatRfc3339({ns});
  time.pop_back();
  const std::string text = fmt::format("{}.{:03}Z {}\n", time, ns / 1'000'000 % 1000, line);
  const std::scoped_lock lock(mutex);
  std::fwrite(text.data(), 1, text.size(), stderr);
}

// What krafla check warns of beside what reading the configuration tells.
std::vector<std::string> LintLines(const std::string& file, const std::string& text,
                                   const std::optional<std::string>& profile) {
  Diagnostics unused;
  std::istringstream nothing;
  const CheckReport report = RunCheck({.config_file = file,
                                       .config_text = text,
                                       .profile = profile,
                                       .cluster = {},
                                       .time = TimeOf({}, unused)},
                                      nothing);
  std::vector<std::string> lines;
  for (const Finding& finding : report.findings) {
    const bool told = finding.code.starts_with("K1");
    if (told || finding.level == FindingLevel::kNote) continue;
    lines.push_back(
        ToString({.severity = Severity::kWarning,
                  .file = finding.place.file.empty() ? file : finding.place.file,
                  .location = finding.place.location,
                  .object = fmt::format("{} {}", finding.code, finding.slug),
                  .field = finding.object,
                  .message = fmt::format("{}; what will happen: {}; fix: {}", finding.message,
                                         finding.consequence, finding.fix)}));
  }
  return lines;
}

}  // namespace

int ServeCommand(const std::vector<std::string>& arguments, std::ostream& out, std::ostream& err) {
  Diagnostics diagnostics;
  ServeFlags flags = ParseServeFlags(arguments, diagnostics);
  if (flags.show_help) {
    out << ServeHelp();
    return 0;
  }
  if (flags.show_version) {
    out << Version() << "\n";
    return 0;
  }
  if (!flags.without_meaning.empty())
    diagnostics.Warning(
        {}, {},
        fmt::format("accepted and without effect: {}", fmt::join(flags.without_meaning, ", ")));
  Print(diagnostics, err);
  if (diagnostics.HasErrors()) return kWrongInput;
  diagnostics = {};

  ServeOptions& options = flags.options;
  const std::optional<std::string> profile =
      flags.compatibility.empty() ? std::nullopt : std::optional(flags.compatibility);
  options.read_config = [&](Diagnostics& problems, std::string& text) {
    SchedulerConfig config =
        ReadConfig(options.config_path, flags.lenient, profile, problems, &text);
    const EvictionLimits& given = flags.eviction_limits;
    EvictionLimits& limits = config.eviction_limits;
    if (given.per_minute > 0) limits.per_minute = given.per_minute;
    if (given.per_cycle > 0) limits.per_cycle = given.per_cycle;
    limits.exempt_drains = limits.exempt_drains || given.exempt_drains;
    return config;
  };
  // Volcano's default is nobody's mistake.
  if (!options.config_path.empty())
    options.lint_config = [&](const std::string& text) {
      return LintLines(options.config_path, text, profile);
    };
  options.lenient = flags.lenient;
  options.profile = profile;
  options.version = Version();
  options.log = &WriteLogLine;
  const int code = Serve(options, diagnostics);
  Print(diagnostics, err);
  return code;
}

}  // namespace krafla
