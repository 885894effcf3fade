// --set key=value: changes the tree of a scenario file before it is read.
#pragma once

#include <optional>
#include <string>
#include <string_view>

#include "base/yaml_node.h"

namespace krafla {

// A path is keys with dots between them; [2] is an item of a list by its number, [research] an item
// by its name or a key that has dots of its own. Mappings that are missing on the way are made; a
// key that nobody knows is found when the tree is read.
//
// New values have the line `mark`. What is wrong is the answer; nothing: it was done.
std::optional<std::string> ApplySetting(std::string_view setting, int mark, YamlNode& root);

}  // namespace krafla
