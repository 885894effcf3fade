// K6: names that lead nowhere.
#include <fmt/format.h>

#include <array>
#include <string>
#include <vector>

#include "base/did_you_mean.h"
#include "check/check_input.h"
#include "check/check_rule.h"

namespace krafla {

namespace {

using Reference = WrittenObjects::Reference;
constexpr std::string_view kDefaultQueue = "default";

std::string Nearest(std::string_view name, const std::set<std::string, std::less<>>& known) {
  const std::vector<std::string_view> words(known.begin(), known.end());
  const auto near = DidYouMean(name, words);
  return near ? std::string(*near) : "";
}

void MissingQueue(const CheckInput& input, RuleReport& report) {
  for (const Reference& reference : input.objects.references()) {
    if (reference.to != Reference::To::kQueue) continue;
    const std::string_view name = reference.name.empty() ? kDefaultQueue : reference.name;
    if (input.objects.queues().contains(name)) continue;
    const std::string near = Nearest(name, input.objects.queues());
    std::string fix = fmt::format("create the Queue {}, or name another", Quoted(name));
    if (input.objects.queues().empty())
      fix += "; the input has no Queue at all: was it left out of the export?";
    if (!near.empty()) fix = fmt::format("write queue: {}", Printable(near));
    report.Add({.place = reference.place,
                .object = reference.object,
                .message = reference.name.empty()
                               ? std::string("it names no queue, and there is no Queue \"default\"")
                               : fmt::format("queue {} does not exist", Quoted(name)),
                .consequence = "the job is left out of every cycle: none of its pods is scheduled",
                .fix = std::move(fix)});
  }
}

void MissingPriorityClass(const CheckInput& input, RuleReport& report) {
  for (const Reference& reference : input.objects.references()) {
    if (reference.to != Reference::To::kPriorityClass) continue;
    if (input.objects.priority_classes().contains(reference.name)) continue;
    const std::string near = Nearest(reference.name, input.objects.priority_classes());
    std::string fix = fmt::format("create the PriorityClass {}", Quoted(reference.name));
    if (input.objects.priority_classes().empty())
      fix += "; the input has no PriorityClass at all: was it left out of the export?";
    if (!near.empty()) fix = fmt::format("write priorityClassName: {}", Printable(near));
    report.Add({.place = reference.place,
                .object = reference.object,
                .message = fmt::format("PriorityClass {} does not exist", Quoted(reference.name)),
                .consequence = reference.of_pod
                                   ? "the pod has no priority; an API server would refuse it"
                                   : "the job has the default priority: it does not preempt as it "
                                     "was meant to, and may be preempted",
                .fix = std::move(fix)});
  }
}

// The other references that lead nowhere, as whoever put the cluster together counted them.
void OtherReferences(const CheckInput& input, RuleReport& report) {
  for (const Diagnostic& problem : input.cluster_problems.items()) {
    if (problem.severity != Severity::kWarning) continue;
    // These two have findings of their own, object by object.
    if (problem.message.starts_with("queue \"") || problem.message.starts_with("PriorityClass \""))
      continue;
    report.Add({.place = {problem.file, problem.location},
                .object = problem.object,
                .message = problem.message,
                .consequence = "these pods take no part in scheduling as written",
                .fix = "correct the name, or add what is missing to the input"});
  }
}

constexpr FindingLevel kWarning = FindingLevel::kWarning;

constexpr std::array kRules = {
    CheckRule{"K601", "missing-queue", kWarning, RuleNeeds::kCluster,
              "A job names a queue that does not exist.", &MissingQueue},
    CheckRule{"K602", "missing-priority-class", kWarning, RuleNeeds::kCluster,
              "A job or a pod names a PriorityClass that does not exist.", &MissingPriorityClass},
    CheckRule{"K603", "missing-object", kWarning, RuleNeeds::kCluster,
              "Pods name a PodGroup, a node or a claim that does not exist, or another scheduler.",
              &OtherReferences},
};

}  // namespace

std::span<const CheckRule> ReferenceRules() {
  return kRules;
}

}  // namespace krafla
