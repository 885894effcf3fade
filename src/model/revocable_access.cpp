#include "model/revocable_access.h"

#include <algorithm>

namespace krafla {

namespace {

bool AllowsAll(const Task& task, const AccessRules& rules) {
  if (task.zones.annotated) return task.zones.all;
  return !rules.needs_annotation && task.annotation_preemptable;
}

bool NamesSome(const Task& task, const AccessRules& rules) {
  return rules.named_zones && task.zones.annotated && !task.zones.names.empty();
}

}  // namespace

bool RevocableAccess::Allows(StrId zone) const {
  return all || std::find(names.begin(), names.end(), zone) != names.end();
}

RevocableAccess AccessOf(const Task& task, const AccessRules& rules) {
  if (AllowsAll(task, rules)) return {.all = true, .names = {}};
  if (NamesSome(task, rules)) return {.all = false, .names = task.zones.names};
  return {};
}

bool IsRevocable(const Task& task, const AccessRules& rules) {
  return AllowsAll(task, rules) || NamesSome(task, rules);
}

bool OffersItself(const Task& task, const Job* job, const AccessRules& rules) {
  if (!task.preemptable) return false;  // the pod's own word goes before its PodGroup's
  if (!rules.silence_is_no) return true;
  return task.says_preemptable || (job != nullptr && job->preemptable);
}

}  // namespace krafla
