#include "kube/check_drill.h"

#include <algorithm>

#include <fmt/format.h>

#include "base/check.h"

namespace krafla {

void CheckDrill::OnDecoding(WatchedKind kind, const std::string& key) const {
  const bool fails =
      std::find(decoded.begin(), decoded.end(), std::pair(kind, key)) != decoded.end();
  KRAFLA_CHECK(!fails, fmt::format("drill: {} {}", InfoOf(kind).name, key));
}

void CheckDrill::Wrap(const LiveCluster& live, PluginHooks& hooks) const {
  hooks.on_allocate = [this, &live, next = std::move(hooks.on_allocate)](TaskId task) {
    const Cluster& cluster = live.TablesAsTheyAre();
    const JobId job = cluster.tasks[task].job;
    const std::string pod = "Pod/" + cluster.TaskKey(task);
    const std::string group = job.valid() ? "PodGroup/" + cluster.JobKey(job) : std::string();
    for (const std::string& name : placed)
      KRAFLA_CHECK(name != pod && name != group, fmt::format("drill: {}", name));
    if (next) next(task);
  };
}

Result<CheckDrill> ParseCheckDrill(std::string_view text) {
  CheckDrill drill;
  while (!text.empty()) {
    const std::string_view item = text.substr(0, text.find(','));
    text.remove_prefix(std::min(item.size() + 1, text.size()));
    const auto wrong = [&] {
      return Fail(fmt::format(
          "\"{}\": expected decode:KIND/NAMESPACE/NAME, decode:KIND/NAME for kinds without "
          "namespaces, or place:PodGroup/NAMESPACE/NAME, place:Pod/NAMESPACE/NAME",
          item));
    };
    const size_t colon = std::min(item.find(':'), item.size());
    const std::string_view what = item.substr(0, colon);
    const std::string_view name = item.substr(std::min(colon + 1, item.size()));
    const size_t slash = name.find('/');
    if (slash == std::string_view::npos) return wrong();
    const auto info = std::find_if(kWatchedKinds.begin(), kWatchedKinds.end(),
                                   [&](const auto& k) { return k.name == name.substr(0, slash); });
    const std::string key(name.substr(slash + 1));
    if (info == kWatchedKinds.end() || key.empty()) return wrong();
    if (info->namespaced != (key.find('/') != std::string::npos)) return wrong();
    if (what == "decode") {
      drill.decoded.emplace_back(info->kind, key);
    } else if (what == "place" &&
               (info->kind == WatchedKind::kPod || info->kind == WatchedKind::kPodGroup)) {
      drill.placed.emplace_back(name);
    } else {
      return wrong();
    }
  }
  return drill;
}

}  // namespace krafla
