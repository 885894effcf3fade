// How a check goes:
//   1. The configuration is read strictly; each problem is a finding, and the value is what the
//      rules look at.
//   2. The manifests are read twice in one pass: into a cluster, as `run` does, and word by word,
//      for the places and for what the first reading passes over.
//   3. A session is opened on both, so that plugins can be asked what they answer.
//   4. Every rule is asked whose needs are met. Rules that conclude from what is missing are not
//      asked about a configuration with errors: what is missing may only be misspelt.
#include "check/run_check.h"

#include <algorithm>
#include <memory>
#include <utility>

#include "check/check_input.h"
#include "check/check_rule.h"
#include "manifest/object_decoder.h"
#include "manifest/object_stream.h"
#include "manifest/read_cluster.h"
#include "scheduler/vocabulary.h"

namespace krafla {

namespace {

struct ReadManifests {
  Cluster cluster;
  WrittenObjects objects;
  Diagnostics object_problems;
  Diagnostics cluster_problems;

  bool sound() const { return !object_problems.HasErrors() && !cluster_problems.HasErrors(); }
};

void ReadAll(const CheckRequest& request, const SchedulerConfig& config, std::istream& in,
             ReadManifests& to) {
  ReadClusterOptions options;
  options.finds_odd_words = false;  // WrittenObjects does, and rules name them
  options.count_undeclared_csi_drivers = !config.compatibility.csi_attach_limit;
  options.leave_out_pods_without_claims = !config.compatibility.missing_claims;
  ClusterBuilder builder(BuildOptionsOf(options));
  ReadObjectsInto(builder, request.cluster, in, options, to.object_problems, nullptr,
                  [&](const ObjectText& text) { to.objects.Read(text); });
  to.cluster = std::move(builder).Build(to.cluster_problems);
}

bool HasErrors(const std::vector<ConfigProblem>& problems) {
  return std::ranges::any_of(problems, [](const ConfigProblem& problem) {
    return problem.diagnostic.severity == Severity::kError;
  });
}

}  // namespace

size_t CheckReport::CountOf(FindingLevel level) const {
  return static_cast<size_t>(std::ranges::count(findings, level, &Finding::level));
}

CheckReport RunCheck(const CheckRequest& request, std::istream& standard_input) {
  std::vector<ConfigProblem> config_problems;
  const SchedulerConfig config = ReadSchedulerConfig(
      request.config_text, BuiltInVocabulary(),
      {.file_name = request.config_file, .lenient = false, .profile = request.profile},
      config_problems);

  CheckReport report;
  report.cluster_given = !request.cluster.empty();
  ReadManifests manifests;
  if (report.cluster_given) ReadAll(request, config, standard_input, manifests);
  const bool sound = report.cluster_given && manifests.sound();
  Cluster nothing;
  const PluginProbe probe(sound ? manifests.cluster : nothing, config, request.time);
  const TdmSettings tdm = ReadTdmSettings(config, request.time.zone);

  const CheckInput input{.config_file = request.config_file,
                         .config = config,
                         .config_problems = config_problems,
                         .now = request.time.now,
                         .probe = probe,
                         .tdm = tdm,
                         .cluster = sound ? &manifests.cluster : nullptr,
                         .objects = manifests.objects,
                         .object_problems = manifests.object_problems,
                         .cluster_problems = manifests.cluster_problems};
  const bool config_is_sound = !HasErrors(config_problems);
  for (const CheckRule* rule : AllCheckRules()) {
    if (rule->needs != RuleNeeds::kNothing && !config_is_sound) {
      ++report.rules_without_config;
    } else if (rule->needs == RuleNeeds::kCluster && !sound) {
      ++report.rules_without_cluster;
    } else {
      ++report.rules;
      RuleReport rule_report(*rule, report.findings);
      rule->check(input, rule_report);
    }
  }
  SortFindings(report.findings);
  return report;
}

}  // namespace krafla
