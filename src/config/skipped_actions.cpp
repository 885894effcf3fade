#include "config/skipped_actions.h"

#include <algorithm>

namespace krafla {

namespace {

constexpr std::string_view kHead = "# krafla skips these actions:";

}  // namespace

void LeaveOutActions(SchedulerConfig& config, std::span<const std::string> actions) {
  std::erase_if(config.actions, [&](const ActionOption& option) {
    return std::find(actions.begin(), actions.end(), option.name) != actions.end();
  });
}

std::string WithSkippedActions(std::string_view config, std::span<const std::string> actions) {
  if (actions.empty()) return std::string(config);
  std::string text(kHead);
  for (const std::string& action : actions) text += " " + action;
  return text.append("\n").append(config);
}

std::vector<std::string> SkippedActionsOf(std::string_view config) {
  if (!config.starts_with(kHead)) return {};
  std::string_view line = config.substr(0, config.find('\n'));
  line.remove_prefix(kHead.size());
  std::vector<std::string> actions;
  while (!line.empty()) {
    const size_t begin = std::min(line.find_first_not_of(' '), line.size());
    const size_t end = std::min(line.find(' ', begin), line.size());
    if (begin < end) actions.emplace_back(line.substr(begin, end - begin));
    line.remove_prefix(end);
  }
  return actions;
}

}  // namespace krafla
