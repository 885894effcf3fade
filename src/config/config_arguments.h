// The `arguments` of a plugin or an action, read and checked against what it says it takes.
#pragma once

#include <optional>
#include <string>
#include <string_view>

#include "base/yaml_node.h"
#include "config/argument_spec.h"
#include "config/config_problems.h"
#include "config/scheduler_config.h"

namespace krafla {

// The booleans of YAML 1.1: true, yes, on, y and their opposites, as "true", "True" or "TRUE".
std::optional<bool> ParseYamlBool(std::string_view text);

// A boolean of YAML, quoted or not; a complaint and nothing when it is none.
std::optional<bool> ReadBool(const YamlNode& node, const ConfigSubject& subject,
                             std::string_view consequence, ConfigProblems& problems);

// `owner` is for messages: "plugin tdm".
Arguments ReadArguments(const YamlNode& node, const VocabularyEntry& entry,
                        const std::string& owner, ConfigProblems& problems);

}  // namespace krafla
