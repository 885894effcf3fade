#include "model/revocable_access.h"

#include <algorithm>
#include <string_view>

namespace krafla {

namespace {

bool AllowsAll(const Task& task, const AccessRules& rules) {
  if (task.zones.annotated) return task.zones.all;
  return !rules.needs_annotation && task.annotation_preemptable;
}

bool NamesSome(const Task& task, const AccessRules& rules) {
  return rules.named_zones && task.zones.annotated && task.zones.names != kEmptyStr;
}

}  // namespace

std::vector<std::string_view> NamedZones(std::string_view names) {
  std::vector<std::string_view> zones;
  while (!names.empty()) {
    const size_t comma = std::min(names.find(','), names.size());
    zones.push_back(names.substr(0, comma));
    names.remove_prefix(std::min(comma + 1, names.size()));
  }
  return zones;
}

bool RevocableAccess::Allows(StrId zone) const {
  return all || std::find(names.begin(), names.end(), zone) != names.end();
}

RevocableAccess AccessOf(const Task& task, const AccessRules& rules, const StringPool& strings) {
  RevocableAccess access{.all = AllowsAll(task, rules), .some = false, .names = {}};
  if (access.all || !NamesSome(task, rules)) return access;
  access.some = true;
  for (const std::string_view name : NamedZones(strings.Text(task.zones.names)))
    if (const StrId zone = strings.Find(name); zone.valid()) access.names.push_back(zone);
  return access;
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
