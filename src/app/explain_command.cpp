#include "app/explain_command.h"

#include <algorithm>
#include <iostream>
#include <optional>

#include "app/command_inputs.h"
#include "app/explain_server.h"
#include "app/explanation_json.h"
#include "app/explanation_text.h"
#include "app/recalling_sink.h"
#include "cluster_state/cluster_builder.h"
#include "explain/explainer.h"
#include "explain/left_out.h"

namespace krafla {

int ExplainCommand(const ExplainCommandOptions& options, std::istream& in, std::ostream& out,
                   std::ostream& err) {
  if (!options.server.empty()) return ExplainFromServer(options, out, err);
  Diagnostics diagnostics;
  const auto only_with_server = [&](const std::string& value, const char* flag) {
    if (!value.empty()) diagnostics.Error(flag, {}, "only together with --server");
  };
  only_with_server(options.certificate_authority, "--certificate-authority");
  only_with_server(options.server_fingerprint, "--server-fingerprint");
  only_with_server(options.token_file, "--token-file");
  only_with_server(options.kubeconfig, "--kubeconfig");
  if (options.cluster.empty())
    diagnostics.Error({}, {}, "expected --cluster with manifests, or --server with an address");
  SessionOptions time = TimeOf(options.now, diagnostics);
  SchedulerConfig config =
      ReadConfig(options.config, options.lenient, options.compatibility, diagnostics, nullptr,
                 {.stream = &in,
                  .for_cluster = std::ranges::find(options.cluster, "-") != options.cluster.end()});
  const ReadClusterOptions read = ReadOptionsFor(config, options.lenient);
  ClusterBuilder builder(BuildOptionsOf(read));
  LeftOutObjects left_out(builder, {.asked_for = options.name,
                                    .default_queue = read.default_queue,
                                    .schedulers = read.scheduler_names});
  CycleMemory memory;
  RecallingSink recalling(left_out, time.now, memory);
  time.memory = &memory;
  ReadObjectsInto(recalling, options.cluster, in, read, diagnostics);
  Cluster cluster = std::move(builder).Build(diagnostics);
  Print(diagnostics, err);
  if (diagnostics.HasErrors()) return kWrongInput;

  std::optional<Explanation> explanation = left_out.Explain(options.kind, cluster);
  if (!explanation) {
    Explainer explainer(std::move(cluster), std::move(config), time);
    Result<Explanation> found = explainer.Explain(options.kind, options.name);
    if (!found) {
      err << "error: " << found.error().message << '\n';
      return kWrongInput;
    }
    explanation = std::move(*found);
    left_out.AddTo(*explanation);
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
