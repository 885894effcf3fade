#include "conformance/volcano_world.h"

#include <fmt/format.h>

#include <algorithm>

#include "config/config_names.h"
#include "session/action.h"
#include "session/plugin.h"

namespace krafla::volcano_tables {

namespace {

Arguments ArgumentsOf(const Json& recorded) {
  Arguments arguments;
  for (const auto& [key, value] : recorded.Entries())
    arguments.items.push_back(
        {key, value.IsText() ? std::string(value.Text()) : value.Dump(), Location{}});
  return arguments;
}

PluginOption PluginOf(const Json& recorded, std::vector<std::string>& problems) {
  PluginOption option;
  option.name = recorded["name"].Text();
  option.enabled.reset();
  option.arguments = ArgumentsOf(recorded["arguments"]);
  for (const auto& [key, value] : recorded.Entries()) {
    if (key == "name" || key == "arguments") continue;
    const SwitchName* known = FindSwitch(key);
    if (known == nullptr) {
      problems.push_back(fmt::format("plugin {}: there is no switch {}", option.name, key));
    } else {
      option.enabled.set(static_cast<size_t>(known->value), value.Bool());
    }
  }
  const auto entries = RegisteredPlugins();
  if (std::none_of(entries.begin(), entries.end(),
                   [&](const PluginEntry& entry) { return entry.name == option.name; }))
    problems.push_back(fmt::format("there is no plugin {}", option.name));
  return option;
}

// Volcano's tests put pods into its cache without asking whose they are.
std::vector<std::string> SchedulerNames(const Json& options) {
  std::vector<std::string> names = options["schedulerNames"].Texts();
  if (names.empty()) names.push_back("volcano");
  names.push_back("default-scheduler");
  return names;
}

}  // namespace

SchedulerConfig ConfigOf(const Json& scheduler, std::vector<std::string>& problems) {
  SchedulerConfig config;
  config.compatibility = Compatibility::Volcano();
  const auto entries = RegisteredActions();
  for (const std::string& name : scheduler["actions"].Texts()) {
    config.actions.push_back({name, Location{}});
    if (std::none_of(entries.begin(), entries.end(),
                     [&](const ActionEntry& entry) { return entry.name == name; }))
      problems.push_back(fmt::format("there is no action {}", name));
  }
  for (const Json& recorded : scheduler["tiers"].Items()) {
    Tier& tier = config.tiers.emplace_back();
    for (const Json& plugin : recorded["plugins"].Items())
      tier.plugins.push_back(PluginOf(plugin, problems));
  }
  for (const Json& recorded : scheduler["configurations"].Items())
    config.configurations.push_back(
        {std::string(recorded["name"].Text()), ArgumentsOf(recorded["arguments"])});
  return config;
}

void World::ReadObjects(std::span<const std::string> objects) {
  const std::string text =
      fmt::format(R"({{"apiVersion":"v1","kind":"List","items":[{}]}})", fmt::join(objects, ",\n"));
  Diagnostics diagnostics;
  cluster = ReadClusterFromText(text, "case", read, diagnostics);
  for (const Diagnostic& diagnostic : diagnostics.items())
    if (diagnostic.severity == Severity::kError) problems.push_back(ToString(diagnostic));
}

TaskId World::FindTask(std::string_view key) const {
  for (uint32_t t = 0; t < cluster.tasks.size(); ++t)
    if (cluster.TaskKey(TaskId(t)) == key) return TaskId(t);
  return {};
}

JobId World::FindJob(std::string_view key) const {
  for (JobId job : cluster.jobs_by_name)
    if (cluster.JobKey(job) == key) return job;
  return {};
}

NodeId World::FindNode(std::string_view name) const {
  for (NodeId node : cluster.nodes_by_name)
    if (cluster.NodeName(node) == name) return node;
  return {};
}

std::unique_ptr<World> MakeWorld(const Json& recorded, std::span<const std::string> supplied) {
  auto world = std::make_unique<World>();
  const Json scheduler = recorded["scheduler"];
  const Json options = scheduler["options"];
  world->config = ConfigOf(scheduler, world->problems);
  world->read.lenient = true;
  world->read.scheduler_names = SchedulerNames(options);
  if (!options["defaultQueue"].Text().empty())
    world->read.default_queue = options["defaultQueue"].Text();
  // A driver Volcano was told to ignore is one it does not count; the cases have no other.
  world->read.count_undeclared_csi_drivers = !recorded["ignoredCSIProvisioners"].present();

  const bool without_priorities = options.present() && !options["enablePriorityClass"].Bool();
  std::vector<std::string> objects(supplied.begin(), supplied.end());
  for (const Json& object : recorded["objects"].Items()) {
    if (without_priorities && object["kind"].Text() == "PriorityClass") continue;
    objects.push_back(object.Dump());
  }
  world->ReadObjects(objects);

  const Result<ZonedTimestamp> now = ParseRfc3339(recorded["now"].Text());
  if (now) {
    world->options.now = now->time;
  } else {
    world->problems.push_back("now: " + now.error().message);
  }
  return world;
}

std::string WithKind(std::string_view api_version, std::string_view kind, const Json& object) {
  std::string text = fmt::format(R"({{"apiVersion":"{}","kind":"{}")", api_version, kind);
  for (const auto& [key, value] : object.Entries())
    if (key != "apiVersion" && key != "kind") text += fmt::format(R"(,"{}":{})", key, value.Dump());
  return text + "}";
}

}  // namespace krafla::volcano_tables
