#include "check/check_rule.h"

#include <algorithm>
#include <utility>

namespace krafla {

void RuleReport::AddAs(FindingLevel level, Entry entry) {
  findings_.push_back({.code = rule_.code,
                       .slug = rule_.slug,
                       .level = level,
                       .place = std::move(entry.place),
                       .object = std::move(entry.object),
                       .message = std::move(entry.message),
                       .consequence = std::move(entry.consequence),
                       .fix = std::move(entry.fix),
                       .details = std::move(entry.details)});
}

std::vector<const CheckRule*> AllCheckRules() {
  std::vector<const CheckRule*> rules;
  for (const std::span<const CheckRule> group :
       {ReadingRules(), TierRules(), VictimRules(), WindowRules(), ZoneRules(), DrainRules(),
        JobBudgetRules(), CooldownRules(), QueueRules(), ReferenceRules(), ManifestRules()})
    for (const CheckRule& rule : group) rules.push_back(&rule);
  std::sort(rules.begin(), rules.end(),
            [](const CheckRule* a, const CheckRule* b) { return a->code < b->code; });
  return rules;
}

}  // namespace krafla
