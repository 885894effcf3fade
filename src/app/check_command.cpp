#include "app/check_command.h"

#include <algorithm>
#include <istream>
#include <iterator>
#include <ostream>
#include <utility>

#include "app/command_inputs.h"
#include "app/version.h"
#include "check/check_output.h"
#include "check/run_check.h"

namespace krafla {

namespace {

constexpr int kWarningsFound = 1;

std::string Render(const CheckReport& report, const CheckCommandOptions& options) {
  if (options.output == "json") return CheckAsJson(report);
  if (options.output == "sarif") return CheckAsSarif(report, Version());
  return CheckAsText(report, options.color);
}

int Refuse(const Diagnostics& diagnostics, const CheckCommandOptions& options, std::ostream& out,
           std::ostream& err) {
  Print(diagnostics, err);
  // Whoever uploads SARIF wants a file whatever happened.
  if (options.output == "sarif") out << FailureAsSarif(diagnostics, Version()) << std::flush;
  return kWrongInput;
}

}  // namespace

int CheckCommand(const CheckCommandOptions& options, std::istream& in, std::ostream& out,
                 std::ostream& err) {
  Diagnostics diagnostics;
  CheckRequest request{.config_file = "default configuration",
                       .config_text = std::string(DefaultSchedulerConfigText()),
                       .profile = options.compatibility,
                       .cluster = options.cluster,
                       .time = TimeOf(options.now, diagnostics)};
  if (options.config.empty() && options.cluster.empty())
    diagnostics.Error({}, {}, "nothing to check: give --config, --cluster or both");
  if (!options.config.empty()) {
    request.config_file = options.config;
    Result<std::string> text = ReadFileOrInput(
        options.config,
        {.stream = &in,
         .for_cluster = std::ranges::find(options.cluster, "-") != options.cluster.end()});
    if (text) {
      request.config_text = std::move(*text);
    } else {
      diagnostics.Error(options.config, {}, text.error().message);
    }
  }
  if (diagnostics.HasErrors()) return Refuse(diagnostics, options, out, err);
  Print(diagnostics, err);

  const CheckReport report = RunCheck(request, in);
  out << Render(report, options);
  out.flush();
  if (!out) {
    err << "error: the findings could not be written\n";
    return kNotWritten;
  }
  if (report.CountOf(FindingLevel::kError) > 0) return kWrongInput;
  return options.strict && report.CountOf(FindingLevel::kWarning) > 0 ? kWarningsFound : 0;
}

}  // namespace krafla
