#include "check/check_input.h"

#include <fmt/format.h>

#include <algorithm>
#include <initializer_list>

#include "config/find_plugin.h"
#include "model/well_known.h"

namespace krafla {

const PluginOption* CheckInput::FindPlugin(std::string_view name) const {
  return krafla::FindPlugin(config, name);
}

Place CheckInput::PlaceOfPlugin(std::string_view name) const {
  const PluginOption* plugin = FindPlugin(name);
  return InConfig(plugin == nullptr ? Location{} : plugin->location);
}

Place CheckInput::PlaceOfAction(std::string_view name) const {
  for (const ActionOption& action : config.actions)
    if (action.name == name) return InConfig(action.location);
  return InConfig(config.actions.empty() ? Location{} : config.actions.front().location);
}

Place CheckInput::PlaceOf(JobId job, std::string_view field) const {
  const Job& j = cluster->jobs[job];
  return objects.PlaceOf("PodGroup", cluster->Text(j.ns), cluster->Text(j.name), field);
}

Place CheckInput::PlaceOf(TaskId task, std::string_view field) const {
  const Task& t = cluster->tasks[task];
  return objects.PlaceOf("Pod", cluster->Text(t.ns), cluster->Text(t.name), field);
}

std::string CheckInput::Title(JobId job) const {
  return fmt::format("PodGroup {}", cluster->JobKey(job));
}

std::string CheckInput::Title(TaskId task) const {
  return fmt::format("Pod {}", cluster->TaskKey(task));
}

namespace {

bool IsAboutKeys(const Diagnostic& problem, std::initializer_list<std::string_view> keys) {
  return problem.severity == Severity::kWarning &&
         std::ranges::any_of(keys, [&](std::string_view key) {
           return problem.field.find(key) != std::string::npos;
         });
}

}  // namespace

bool IsAboutCooldown(const Diagnostic& problem) {
  return IsAboutKeys(problem, {keys::kCooldownTime, keys::kCooldownTimeAlternative});
}

bool IsAboutBudget(const Diagnostic& problem) {
  return IsAboutKeys(problem, {keys::kBudgetMinAvailable, keys::kBudgetMinAvailableLong,
                               keys::kBudgetMaxUnavailable, keys::kBudgetMaxUnavailableLong});
}

std::string Count(size_t count, std::string_view noun) {
  return fmt::format("{} {}{}", count, noun, count == 1 ? "" : "s");
}

std::string List(const std::vector<std::string>& words, size_t most) {
  std::string text;
  const size_t shown = std::min(words.size(), most);
  for (size_t i = 0; i < shown; ++i) {
    const bool last = i + 1 == words.size();
    text += fmt::format("{}{}", i == 0 ? "" : last ? " and " : ", ", words[i]);
  }
  if (shown < words.size()) text += fmt::format(" and {} more", words.size() - shown);
  return text;
}

}  // namespace krafla
