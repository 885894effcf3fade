// K7: the manifests as texts. What their reader refuses or warns of, what it passes over, and what
// is read but not supported.
#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <string>

#include "base/did_you_mean.h"
#include "check/check_input.h"
#include "check/check_rule.h"
#include "session/unsupported.h"

namespace krafla {

namespace {

using OddWord = WrittenObjects::OddWord;

std::string Message(const Diagnostic& problem) {
  return problem.field.empty() ? problem.message
                               : fmt::format("{}: {}", problem.field, problem.message);
}

// A file or a folder in which there is nothing to read.
bool IsAboutNothing(const Diagnostic& problem) {
  return problem.object.empty() && problem.field.empty() && problem.location.line == 0;
}

void Errors(const CheckInput& input, RuleReport& report) {
  for (const Diagnostics* problems : {&input.object_problems, &input.cluster_problems})
    for (const Diagnostic& problem : problems->items())
      if (problem.severity == Severity::kError)
        report.Add(
            {.place = {problem.file, problem.location},
             .object = problem.object,
             .message = Message(problem),
             .consequence = problem.object.empty()
                                ? "Krafla refuses the input"
                                : "Krafla refuses the input; with --lenient the object is skipped",
             .fix = "correct it; rules about the cluster are checked once all manifests can "
                    "be read"});
}

void Warnings(const CheckInput& input, RuleReport& report) {
  for (const Diagnostic& problem : input.object_problems.items()) {
    // Cooldowns and budgets have rules of their own; what has no file is about the whole input.
    if (problem.severity != Severity::kWarning || problem.file.empty() ||
        IsAboutCooldown(problem) || IsAboutBudget(problem))
      continue;
    report.Add({.place = {problem.file, problem.location},
                .object = problem.object,
                .message = Message(problem),
                .consequence = {},
                .fix = IsAboutNothing(problem)
                           ? "name a file or a folder that has manifests, or take "
                             "it out of --cluster"
                           : "correct the value"});
  }
}

void NotUsed(const CheckInput& input, RuleReport& report) {
  for (const Diagnostic& problem : input.object_problems.items())
    if (problem.severity == Severity::kWarning && problem.file.empty())
      report.Add({.place = {},
                  .object = {},
                  .message = Message(problem),
                  .consequence = "these objects have no effect on scheduling; the pods made from "
                                 "them have",
                  .fix = "nothing, if their pods are in the input"});
}

void Report(const CheckInput& input, RuleReport& report, OddWord::What what,
            std::string_view consequence, std::string_view fix) {
  for (const OddWord& odd : input.objects.odd_words()) {
    if (odd.what != what) continue;
    const bool is_phase = what == OddWord::What::kPodPhase;
    const bool is_refused =
        is_phase || (what == OddWord::What::kSpecKey && !odd.object.starts_with("Job "));
    report.AddAs(
        is_refused ? FindingLevel::kError : FindingLevel::kWarning,
        {.place = odd.place,
         .object = odd.object,
         .message = is_phase ? fmt::format("{}: unknown phase {}", odd.field, Quoted(odd.word))
                             : fmt::format("{}: unknown key {}", odd.field, Quoted(odd.word)),
         .consequence =
             is_refused ? fmt::format("Krafla refuses the input; with --lenient {}", consequence)
                        : std::string(consequence),
         .fix = odd.meant.empty() ? std::string(fix) : fmt::format("write {}", Quoted(odd.meant))});
  }
}

void PodPhase(const CheckInput& input, RuleReport& report) {
  Report(input, report, OddWord::What::kPodPhase,
         "the pod counts as Unknown: neither running nor "
         "waiting, it holds its node's resources and is no victim",
         "write Pending, Running, Succeeded, Failed or Unknown");
}

void SpecKey(const CheckInput& input, RuleReport& report) {
  Report(input, report, OddWord::What::kSpecKey, "its default counts", "take the key out");
}

void MetadataKey(const CheckInput& input, RuleReport& report) {
  Report(input, report, OddWord::What::kMetadataKey,
         "nobody reads it: the label or annotation that was meant is not set", "correct the key");
}

void NotSupported(const CheckInput& input, RuleReport& report) {
  const Cluster& cluster = *input.cluster;
  for (const JobId id : cluster.jobs_by_name) {
    const Job& job = cluster.jobs[id];
    if (job.needs_network_topology)
      report.Add({.place = input.PlaceOf(id, job.has_network_topology ? "spec.networkTopology"
                                                                      : "spec.subGroupPolicy"),
                  .object = input.Title(id),
                  .message = fmt::format("it {}", kNeedsTopology),
                  .consequence = "the job waits: it is not admitted, and none of its pods is "
                                 "scheduled",
                  .fix = "write mode: soft where the job may run without it"});
    const std::string claims = PodsThatNeedClaims(cluster, job);
    if (claims.empty()) continue;
    const auto pod = std::ranges::find_if(
        job.tasks, [&](TaskId task) { return cluster.tasks[task].needs_claims; });
    report.Add({.place = input.PlaceOf(*pod),
                .object = input.Title(id),
                .message = claims,
                .consequence = "these pods wait, and the job too where it cannot start without "
                               "them",
                .fix = "leave the pods to a scheduler that allocates ResourceClaims"});
  }
}

void NotLookedAt(const CheckInput& input, RuleReport& report) {
  const Cluster& cluster = *input.cluster;
  for (const JobId id : cluster.jobs_by_name) {
    const Job& job = cluster.jobs[id];
    const std::string passed_over = PassedOver(job);
    if (passed_over.empty()) continue;
    report.Add({.place = input.PlaceOf(
                    id, job.has_network_topology ? "spec.networkTopology" : "spec.subGroupPolicy"),
                .object = input.Title(id),
                .message = fmt::format("{}: not supported yet", passed_over),
                .consequence = "the job is scheduled as if it were not there: only minMember and "
                               "minTaskMember are kept together",
                .fix = "none, where the job may run without it"});
  }
}

constexpr FindingLevel kWarning = FindingLevel::kWarning;

constexpr std::array kRules = {
    CheckRule{"K701", "manifest-error", FindingLevel::kError, RuleNeeds::kNothing,
              "An object of the cluster cannot be read.", &Errors},
    CheckRule{"K702", "manifest-warning", kWarning, RuleNeeds::kNothing,
              "A value of an object is not understood and not used.", &Warnings},
    CheckRule{"K703", "kinds-not-used", FindingLevel::kNote, RuleNeeds::kNothing,
              "The input has objects of kinds that scheduling does not look at.", &NotUsed},
    CheckRule{"K704", "misspelt-phase", FindingLevel::kError, RuleNeeds::kNothing,
              "A pod has a phase that does not exist.", &PodPhase},
    CheckRule{"K705", "unknown-spec-key", FindingLevel::kError, RuleNeeds::kNothing,
              "The spec of a PodGroup, Queue or Volcano Job has an unknown key.", &SpecKey},
    CheckRule{"K706", "misspelt-annotation", kWarning, RuleNeeds::kNothing,
              "A label or annotation looks like a misspelt one of Volcano's.", &MetadataKey},
    CheckRule{"K707", "not-supported", kWarning, RuleNeeds::kCluster,
              "A job waits because it needs what is not supported: a hard network topology, or "
              "ResourceClaims.",
              &NotSupported},
    CheckRule{"K708", "not-looked-at", kWarning, RuleNeeds::kCluster,
              "A job is scheduled without its soft network topology or its sub-groups.",
              &NotLookedAt},
};

}  // namespace

std::span<const CheckRule> ManifestRules() {
  return kRules;
}

}  // namespace krafla
