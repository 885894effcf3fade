// Any bytes as a scheduler configuration. An odd first byte reads leniently.
#include <cstddef>
#include <cstdint>
#include <string_view>

#include "base/check.h"
#include "config/scheduler_config.h"

namespace krafla {
namespace {

Vocabulary FuzzVocabulary() {
  Vocabulary vocabulary;
  vocabulary.plugins = {
      {"gang", {}},
      {"predicates", {{"predicate.CacheEnable", ArgumentType::kBool, "", {}}}},
      {"nodeorder", {{"leastrequested.weight", ArgumentType::kInt, "", {}}}},
      {"overcommit", {{"overcommit-factor", ArgumentType::kFloat, "", {}}}},
      {"tdm",
       {{"tdm.revocable-zone.*", ArgumentType::kString, "",
         [](std::string_view text) -> std::optional<std::string> {
           if (text.find('-') != std::string_view::npos) return std::nullopt;
           return "expected a window";
         }},
        {"tdm.evict.period", ArgumentType::kDuration, "", {}},
        {"tdm.any", ArgumentType::kAny, "", {}}}},
  };
  vocabulary.actions = {
      {"allocate", {}},
      {"preempt", {{"minCandidateNodesAbsolute", ArgumentType::kInt, "", {}}}},
  };
  return vocabulary;
}

// What must hold of every reading.
void CheckReading(const SchedulerConfig& config, const Diagnostics& diagnostics) {
  for (const Diagnostic& diagnostic : diagnostics.items()) {
    const std::string text = ToString(diagnostic);
    KRAFLA_CHECK(!diagnostic.message.empty() && text.find('\n') == std::string::npos, text);
  }
  if (diagnostics.HasErrors()) return;
  KRAFLA_CHECK(!config.actions.empty());
  for (const Tier& tier : config.tiers) {
    for (const PluginOption& plugin : tier.plugins) {
      for (const Argument& argument : plugin.arguments.items) {
        KRAFLA_CHECK(plugin.arguments.GetString(argument.key).has_value(), argument.key);
        plugin.arguments.GetInt(argument.key);
        plugin.arguments.GetFloat(argument.key);
        plugin.arguments.GetBool(argument.key);
        plugin.arguments.GetDurationNs(argument.key);
      }
    }
  }
}

}  // namespace
}  // namespace krafla

extern "C" int LLVMFuzzerTestOneInput(const uint8_t* data, size_t size) {
  static const krafla::Vocabulary kVocabulary = krafla::FuzzVocabulary();
  if (size == 0) return 0;
  const std::string_view text(reinterpret_cast<const char*>(data) + 1, size - 1);
  krafla::ConfigReadOptions options;
  options.file_name = "fuzz";
  options.lenient = data[0] % 2 == 1;
  krafla::Diagnostics diagnostics;
  const krafla::SchedulerConfig config =
      krafla::ReadSchedulerConfig(text, kVocabulary, options, diagnostics);
  krafla::CheckReading(config, diagnostics);
  return 0;
}
