// Booleans as Go's strconv.ParseBool reads them: the spelling of annotations, labels and arguments.
#pragma once

#include <optional>
#include <string_view>

namespace krafla {

// Empty for every other spelling: no blanks, no "yes", no "tRUE".
std::optional<bool> ParseGoBool(std::string_view text);

}  // namespace krafla
