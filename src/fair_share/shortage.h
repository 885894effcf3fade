// Which kinds there is not enough of, in words.
#pragma once

#include <string>
#include <string_view>

#include "model/resource.h"

namespace krafla {

// "resource in cluster is overused: overused cpu, overused example.com/a" for the summary "resource
// in cluster is overused" and the word "overused". Listed are the kinds `wanted` asks for in which
// `amount` is more than `limit`, as Resource::FirstExceeding sees it: cpu and memory first, the
// others by name.
std::string DescribeShortage(std::string_view summary, std::string_view word,
                             const Resource& amount, const Resource& limit, const Resource& wanted,
                             const ResourceKinds& kinds);

}  // namespace krafla
