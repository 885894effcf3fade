// Text as JSON writes it.
#pragma once

#include <string>
#include <string_view>

namespace krafla {

// Appends `text` in double quotes, with the escapes it needs. `text` must be UTF-8.
void AppendJsonString(std::string& json, std::string_view text);

}  // namespace krafla
