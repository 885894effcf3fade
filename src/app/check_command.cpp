#include "app/check_command.h"

#include <istream>
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
    Result<std::string> text = ReadFile(options.config);
    if (text) {
      request.config_text = std::move(*text);
    } else {
      diagnostics.Error(options.config, {}, text.error().message);
    }
  }
  Print(diagnostics, err);
  if (diagnostics.HasErrors()) return kWrongInput;

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
