// 1. The text becomes a tree with positions; what YAML itself forbids is noted there.
// 2. Each part of the tree is read by one function that complains and goes on, so that a user sees
//    every problem of the file at once.
// 3. Complaints are worded and sorted in one place, which also knows what `lenient` means for them.
#include "config/scheduler_config.h"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <map>
#include <utility>

#include "base/did_you_mean.h"
#include "base/yaml_node.h"
#include "config/config_arguments.h"
#include "config/config_compatibility.h"
#include "config/config_eviction_limits.h"
#include "config/config_names.h"
#include "config/config_problems.h"
#include "config/config_tree.h"

namespace krafla {

namespace {

constexpr std::string_view kTopLevelKeys[] = {"actions",        "tiers",         "configurations",
                                              "metrics",        "compatibility", "eviction-api",
                                              "eviction-limits"};

// Finding the column of a name takes time in proportion to what stands before it.
constexpr size_t kMaxActionsBytes = 16'384;

constexpr std::string_view kDefaultText = R"(actions: "enqueue, allocate, backfill"
tiers:
- plugins:
  - name: priority
  - name: gang
  - name: conformance
- plugins:
  - name: overcommit
  - name: drf
  - name: predicates
  - name: proportion
  - name: nodeorder
)";

std::string_view Trim(std::string_view text) {
  constexpr std::string_view kBlanks = " \t\r\n";
  const size_t begin = text.find_first_not_of(kBlanks);
  if (begin == std::string_view::npos) return {};
  return text.substr(begin, text.find_last_not_of(kBlanks) - begin + 1);
}

// The value under `key`; null when the key is absent or has no value, which mean the same here.
const YamlNode* FindValue(const YamlNode& mapping, std::string_view key) {
  const YamlEntry* entry = mapping.Find(key);
  return entry == nullptr || entry->value.IsNull() ? nullptr : &entry->value;
}

class ConfigReader {
 public:
  ConfigReader(const Vocabulary& vocabulary, const ConfigReadOptions& options,
               ConfigProblems& problems)
      : vocabulary_(vocabulary), options_(options), problems_(problems) {}

  SchedulerConfig Read(const YamlTree& tree);

 private:
  void ReadRoot(const YamlNode& root);
  void ReadActions(const YamlNode& root);
  void ReadActionName(const YamlNode& list, std::string_view segment);
  void ReadTiers(const YamlNode& root);
  Tier ReadTier(const YamlNode& node);
  void ReadPlugin(const YamlNode& node, Tier& tier);
  const VocabularyEntry* ReadName(const YamlNode& node, std::string_view what,
                                  std::span<const VocabularyEntry> known,
                                  std::span<const std::string_view> volcano, std::string& name);
  void ReadSwitches(const YamlNode& node, const std::string& owner, SwitchSet& enabled);
  void NoteRepeatedPlugin(const PluginOption& plugin);
  void NoteUnsupportedShares(const PluginOption& plugin, Location at, size_t position);
  void FallBackToProportion();
  void ReadConfigurations(const YamlNode& root);
  void ReadConfiguration(const YamlNode& node);

  // The name is not in the vocabulary: not built, or misspelt.
  void ComplainUnknownName(const ConfigSubject& subject, Location at, std::string_view what,
                           std::string_view name, std::span<const VocabularyEntry> known,
                           std::span<const std::string_view> volcano);

  const Vocabulary& vocabulary_;
  const ConfigReadOptions& options_;
  ConfigProblems& problems_;
  SchedulerConfig config_;
  std::map<std::string, Location> plugins_seen_;
  // The first plugin that is not built and shared the cluster among queues, or may have done so.
  struct UnsupportedShares {
    PluginOption option;
    size_t tier = 0;
    size_t position = 0;  // in its tier, among those that are built
  };
  std::optional<UnsupportedShares> unsupported_shares_;
  std::map<std::string, Location> configurations_seen_;
};

SchedulerConfig ConfigReader::Read(const YamlTree& tree) {
  for (const YamlProblem& problem : tree.problems) {
    problems_.Error({{}, {}, ConfigTopic::kSyntax}, problem.location, problem.message);
  }
  const YamlEntry* compatibility = tree.root.Find("compatibility");
  config_.compatibility = ReadCompatibility(
      compatibility == nullptr ? nullptr : &compatibility->value, options_, problems_);
  if (tree.complete) ReadRoot(tree.root);
  return std::move(config_);
}

void ConfigReader::ReadRoot(const YamlNode& root) {
  if (root.IsNull()) {
    problems_.Error({}, {1, 1}, "the configuration is empty; expected at least actions and tiers");
    return;
  }
  if (!root.IsMapping()) {
    problems_.Error(
        {}, root.location,
        fmt::format("expected a mapping with the keys actions and tiers, got {}", Describe(root)));
    return;
  }
  const YamlEntry* kind = root.Find("kind");
  if (kind != nullptr && kind->value.text == "ConfigMap") {
    problems_.Error({}, kind->key_location,
                    "this is a ConfigMap; expected the scheduler configuration inside it, the text "
                    "under its data");
    return;
  }
  for (const YamlEntry& entry : root.entries) {
    if (std::ranges::find(kTopLevelKeys, entry.key) != std::end(kTopLevelKeys)) continue;
    problems_.ComplainUnknown({}, entry.key_location, "key", entry.key, kTopLevelKeys,
                              "it is dropped");
  }
  if (const YamlNode* eviction_api = FindValue(root, "eviction-api"))
    config_.eviction_api =
        ReadBool(*eviction_api, {{}, "eviction-api"}, "it stays false", problems_).value_or(false);
  config_.eviction_limits = ReadEvictionLimits(FindValue(root, "eviction-limits"), problems_);
  ReadActions(root);
  ReadTiers(root);
  ReadConfigurations(root);
}

void ConfigReader::ReadActions(const YamlNode& root) {
  constexpr std::string_view kExpected =
      "expected names separated by commas, such as \"enqueue, allocate, backfill\"";
  const YamlNode* list = FindValue(root, "actions");
  if (list == nullptr) {
    const YamlEntry* entry = root.Find("actions");
    problems_.Error({{}, "actions"}, entry == nullptr ? root.location : entry->value.location,
                    fmt::format("missing; {}", kExpected));
    return;
  }
  if (!list->IsScalar() || Trim(list->text).empty()) {
    problems_.Error({{}, "actions"}, list->location,
                    fmt::format("{}, got {}", kExpected, Describe(*list)));
    return;
  }
  if (list->text.size() > kMaxActionsBytes) {
    problems_.Error(
        {{}, "actions"}, list->location,
        fmt::format("expected at most {} bytes, got {}", kMaxActionsBytes, list->text.size()));
    return;
  }
  std::string_view rest = list->text;
  while (true) {
    const size_t comma = rest.find(',');
    ReadActionName(*list, rest.substr(0, comma));
    if (comma == std::string_view::npos) break;
    rest.remove_prefix(comma + 1);
  }
  // A scheduler that does nothing is not what a lenient user asked for.
  if (options_.lenient && config_.actions.empty()) {
    problems_.Error({{}, "actions"}, list->location, "no known action is left");
  }
}

void ConfigReader::ReadActionName(const YamlNode& list, std::string_view segment) {
  const std::string_view name = Trim(segment);
  const std::string_view shown = name.empty() ? segment : name;
  const Location at = list.At(static_cast<size_t>(shown.data() - list.text.data()));
  const ConfigSubject subject{{}, "actions"};
  if (name.empty()) {
    problems_.Complain(subject, at, "expected the name of an action beside the comma, got nothing",
                       "the comma is passed over");
  } else if (FindEntry(vocabulary_.actions, name) == nullptr) {
    ComplainUnknownName(subject, at, "action", name, vocabulary_.actions, VolcanoActions());
  } else {
    config_.actions.push_back({std::string(name), at});
  }
}

void ConfigReader::ComplainUnknownName(const ConfigSubject& subject, Location at,
                                       std::string_view what, std::string_view name,
                                       std::span<const VocabularyEntry> known,
                                       std::span<const std::string_view> volcano) {
  constexpr std::string_view kConsequence = "it is left out";
  if (std::ranges::find(volcano, name) != volcano.end()) {
    problems_.Complain(
        {subject.object, subject.field, ConfigTopic::kNotAvailable}, at,
        fmt::format("{} {} of Volcano is not available in Krafla yet", what, Quoted(name)),
        kConsequence);
    return;
  }
  problems_.ComplainUnknown(subject, at, what, name, NamesOf(known), kConsequence);
}

void ConfigReader::ReadTiers(const YamlNode& root) {
  constexpr std::string_view kNoPlugins = "no plugin is loaded";
  const YamlNode* tiers = FindValue(root, "tiers");
  if (tiers == nullptr) {
    const YamlEntry* entry = root.Find("tiers");
    problems_.Complain({{}, "tiers"}, entry == nullptr ? root.location : entry->value.location,
                       "missing; expected a list of tiers, each with its plugins", kNoPlugins);
    return;
  }
  if (!tiers->IsSequence()) {
    problems_.Complain(
        {{}, "tiers"}, tiers->location,
        fmt::format("expected a list of tiers, each with its plugins, got {}", Describe(*tiers)),
        kNoPlugins);
    return;
  }
  for (const YamlNode& node : tiers->items) config_.tiers.push_back(ReadTier(node));
  FallBackToProportion();
}

// Volcano's own plugins are known by name. Of a name that is not Volcano's nothing is known: where
// `reclaim` is configured, which evicts by the queues' shares, it is taken for such a plugin.
void ConfigReader::NoteUnsupportedShares(const PluginOption& plugin, Location at, size_t position) {
  if (unsupported_shares_ || plugin.name.empty()) return;
  const bool is_volcanos =
      std::ranges::find(VolcanoPlugins(), plugin.name) != VolcanoPlugins().end();
  const bool shares =
      std::ranges::find(VolcanoSharePlugins(), plugin.name) != VolcanoSharePlugins().end();
  if (!shares && (is_volcanos || !config_.HasAction("reclaim"))) return;
  unsupported_shares_ = {plugin, config_.tiers.size(), position};
  unsupported_shares_->option.location = at;
}

// Without any queue shares `reclaim` takes pods from every other queue, and these take them back.
void ConfigReader::FallBackToProportion() {
  constexpr std::string_view kFallback = "proportion";
  if (!unsupported_shares_ || plugins_seen_.contains(std::string(kFallback)) ||
      FindEntry(vocabulary_.plugins, kFallback) == nullptr)
    return;
  PluginOption& option = unsupported_shares_->option;
  problems_.Warning({"plugin " + option.name, {}, ConfigTopic::kNoQueueShares}, option.location,
                    fmt::format("no other plugin shares the cluster among queues; {}proportion "
                                "takes its place: queues get shares by spec.weight, and "
                                "spec.deserved is not looked at",
                                options_.lenient ? "" : "with --lenient "));
  if (!options_.lenient) return;
  config_.replaced_share_plugin = option.name;
  option.name = kFallback;
  std::vector<PluginOption>& plugins = config_.tiers[unsupported_shares_->tier].plugins;
  plugins.insert(plugins.begin() + static_cast<ptrdiff_t>(unsupported_shares_->position),
                 std::move(option));
}

Tier ConfigReader::ReadTier(const YamlNode& node) {
  constexpr std::string_view kEmpty = "the tier is empty";
  constexpr std::string_view kKeys[] = {"plugins"};
  Tier tier;
  if (!node.IsMapping()) {
    problems_.Complain(
        {{}, "tiers"}, node.location,
        fmt::format("expected a tier, which is a mapping with the key plugins, got {}",
                    Describe(node)),
        kEmpty);
    return tier;
  }
  for (const YamlEntry& entry : node.entries) {
    if (entry.key == "plugins") continue;
    problems_.ComplainUnknown({{}, "tiers"}, entry.key_location, "key", entry.key, kKeys,
                              "it is dropped");
  }
  const YamlEntry* plugins = node.Find("plugins");
  if (plugins == nullptr || !plugins->value.IsSequence()) {
    problems_.Complain({{}, "tiers"}, plugins == nullptr ? node.location : plugins->value.location,
                       fmt::format("expected a list of plugins in the tier, got {}",
                                   plugins == nullptr ? "nothing" : Describe(plugins->value)),
                       kEmpty);
    return tier;
  }
  for (const YamlNode& plugin : plugins->value.items) ReadPlugin(plugin, tier);
  return tier;
}

void ConfigReader::ReadPlugin(const YamlNode& node, Tier& tier) {
  PluginOption plugin;
  const VocabularyEntry* entry =
      ReadName(node, "plugin", vocabulary_.plugins, VolcanoPlugins(), plugin.name);
  if (!node.IsMapping()) return;
  const std::string owner = plugin.name.empty() ? "plugin" : "plugin " + plugin.name;
  // Switches mean the same for every plugin, so they are checked even when the plugin is unknown.
  ReadSwitches(node, owner, plugin.enabled);
  if (entry == nullptr) {
    if (const YamlEntry* name = node.Find("name"))
      NoteUnsupportedShares(plugin, name->value.location, tier.plugins.size());
    return;
  }
  plugin.location = node.Find("name")->value.location;
  if (const YamlEntry* arguments = node.Find("arguments")) {
    plugin.arguments = ReadArguments(arguments->value, *entry, owner, problems_);
  }
  NoteRepeatedPlugin(plugin);
  tier.plugins.push_back(std::move(plugin));
}

// The name of a plugin or of an action's configuration. Null after a complaint.
const VocabularyEntry* ConfigReader::ReadName(const YamlNode& node, std::string_view what,
                                              std::span<const VocabularyEntry> known,
                                              std::span<const std::string_view> volcano,
                                              std::string& name) {
  constexpr std::string_view kConsequence = "it is left out";
  if (!node.IsMapping()) {
    const std::string advice = node.IsScalar() && FindEntry(known, node.text) != nullptr
                                   ? fmt::format("; write \"name: {}\"", node.text)
                                   : "";
    problems_.Complain({}, node.location,
                       fmt::format("expected a mapping with the name of {} {}, got {}{}",
                                   what == "action" ? "an" : "a", what, Describe(node), advice),
                       kConsequence);
    return nullptr;
  }
  const YamlEntry* entry = node.Find("name");
  if (entry == nullptr || !entry->value.IsScalar()) {
    problems_.Complain(
        {std::string(what), "name"}, entry == nullptr ? node.location : entry->value.location,
        fmt::format("expected the name of {} {}, got {}", what == "action" ? "an" : "a", what,
                    entry == nullptr ? "nothing" : Describe(entry->value)),
        kConsequence);
    return nullptr;
  }
  name = entry->value.text;
  const VocabularyEntry* found = FindEntry(known, name);
  if (found == nullptr) ComplainUnknownName({}, entry->value.location, what, name, known, volcano);
  return found;
}

void ConfigReader::ReadSwitches(const YamlNode& node, const std::string& owner,
                                SwitchSet& enabled) {
  std::array<const YamlEntry*, static_cast<size_t>(Switch::kCount)> given{};
  for (const YamlEntry& entry : node.entries) {
    if (entry.key == "name" || entry.key == "arguments") continue;
    const SwitchName* name = FindSwitch(entry.key);
    if (name == nullptr) {
      std::vector<std::string_view> known = {"name", "arguments"};
      for (const SwitchName& other : SwitchNames()) known.push_back(other.key);
      problems_.ComplainUnknown({owner, {}}, entry.key_location, "key", entry.key, known,
                                "it is dropped");
      continue;
    }
    const auto index = static_cast<size_t>(name->value);
    if (given[index] != nullptr) {
      problems_.Complain({owner, entry.key, ConfigTopic::kRepeatedSettings}, entry.key_location,
                         fmt::format("the same switch as {} at {}; keep one of the two",
                                     given[index]->key, Describe(given[index]->key_location)),
                         "the first one counts");
      continue;
    }
    given[index] = &entry;
    if (const auto value =
            ReadBool(entry.value, {owner, entry.key}, "the default is used", problems_)) {
      enabled.set(index, *value);
    }
  }
}

// Not an error for Volcano either; which of the two counts is for the session to say.
void ConfigReader::NoteRepeatedPlugin(const PluginOption& plugin) {
  const auto [first, fresh] = plugins_seen_.try_emplace(plugin.name, plugin.location);
  if (fresh) return;
  problems_.Warning(
      {"plugin " + plugin.name, {}, ConfigTopic::kRepeatedPlugin}, plugin.location,
      fmt::format("already listed at {}; expected each plugin once", Describe(first->second)));
}

void ConfigReader::ReadConfigurations(const YamlNode& root) {
  const YamlNode* configurations = FindValue(root, "configurations");
  if (configurations == nullptr) return;
  if (!configurations->IsSequence()) {
    problems_.Complain({{}, "configurations"}, configurations->location,
                       fmt::format("expected a list of actions with their arguments, got {}",
                                   Describe(*configurations)),
                       "it is dropped");
    return;
  }
  for (const YamlNode& node : configurations->items) ReadConfiguration(node);
}

void ConfigReader::ReadConfiguration(const YamlNode& node) {
  constexpr std::string_view kKeys[] = {"name", "arguments"};
  ActionArguments configuration;
  const VocabularyEntry* entry =
      ReadName(node, "action", vocabulary_.actions, VolcanoActions(), configuration.action);
  if (!node.IsMapping()) return;
  const std::string& action = configuration.action;
  const std::string owner = action.empty() ? "action" : "action " + action;
  for (const YamlEntry& other : node.entries) {
    if (std::ranges::find(kKeys, other.key) != std::end(kKeys)) continue;
    problems_.ComplainUnknown({owner, {}}, other.key_location, "key", other.key, kKeys,
                              "it is dropped");
  }
  if (entry == nullptr) return;
  if (const YamlEntry* arguments = node.Find("arguments")) {
    configuration.arguments = ReadArguments(arguments->value, *entry, owner, problems_);
  }
  const Location at = node.Find("name")->value.location;
  const auto [first, fresh] = configurations_seen_.try_emplace(action, at);
  if (!fresh) {
    problems_.Warning({owner, {}, ConfigTopic::kRepeatedSettings}, at,
                      fmt::format("already configured at {}; the first configuration counts",
                                  Describe(first->second)));
  }
  config_.configurations.push_back(std::move(configuration));
}

}  // namespace

bool SchedulerConfig::HasAction(std::string_view name) const {
  return std::ranges::any_of(actions,
                             [&](const ActionOption& action) { return action.name == name; });
}

const Arguments& SchedulerConfig::ArgumentsOf(std::string_view action) const {
  static const Arguments kNone;
  for (const ActionArguments& configuration : configurations) {
    if (configuration.action == action) return configuration.arguments;
  }
  return kNone;
}

SchedulerConfig ReadSchedulerConfig(std::string_view text, const Vocabulary& vocabulary,
                                    const ConfigReadOptions& options, Diagnostics& diagnostics) {
  return ReadSchedulerConfigTree(ParseYaml(text), vocabulary, options, diagnostics);
}

SchedulerConfig ReadSchedulerConfigTree(const YamlTree& tree, const Vocabulary& vocabulary,
                                        const ConfigReadOptions& options,
                                        Diagnostics& diagnostics) {
  ConfigProblems problems(options);
  SchedulerConfig config = ConfigReader(vocabulary, options, problems).Read(tree);
  problems.MoveTo(diagnostics);
  return config;
}

SchedulerConfig ReadSchedulerConfig(std::string_view text, const Vocabulary& vocabulary,
                                    const ConfigReadOptions& options,
                                    std::vector<ConfigProblem>& problems) {
  ConfigProblems found(options);
  SchedulerConfig config = ConfigReader(vocabulary, options, found).Read(ParseYaml(text));
  problems = found.Take();
  return config;
}

std::string_view DefaultSchedulerConfigText() {
  return kDefaultText;
}

}  // namespace krafla
