#pragma once

#include <string_view>

namespace krafla {

std::string_view Version();

}  // namespace krafla
