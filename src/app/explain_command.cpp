#include "app/explain_command.h"

#include <iostream>

#include "app/command_inputs.h"
#include "app/explanation_json.h"
#include "app/explanation_text.h"
#include "explain/explainer.h"

namespace krafla {

int ExplainCommand(const ExplainCommandOptions& options, std::istream& in, std::ostream& out,
                   std::ostream& err) {
  Diagnostics diagnostics;
  const SessionOptions time = TimeOf(options.now, diagnostics);
  SchedulerConfig config =
      ReadConfig(options.config, options.lenient, options.compatibility, diagnostics);
  Cluster cluster =
      ReadCluster(options.cluster, in, ReadOptionsFor(config, options.lenient), diagnostics);
  Print(diagnostics, err);
  if (diagnostics.HasErrors()) return kWrongInput;

  Explainer explainer(std::move(cluster), std::move(config), time);
  const Result<Explanation> explanation = explainer.Explain(options.kind, options.name);
  if (!explanation) {
    err << "error: " << explanation.error().message << '\n';
    return kWrongInput;
  }
  out << (options.output == "json" ? ExplanationAsJson(*explanation)
                                   : ExplanationAsText(*explanation, options.color));
  out.flush();
  if (!out) {
    err << "error: the explanation could not be written\n";
    return kNotWritten;
  }
  return 0;
}

}  // namespace krafla
