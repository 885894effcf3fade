// Amounts as text, for tests: Amounts amounts; amounts("cpu 4000, memory 8, example.com/a 1000").
// Numbers are in base units and may be anything from_chars takes. cpu and memory are 0 when absent.
#pragma once

#include <charconv>
#include <string_view>

#include "base/check.h"
#include "model/resource.h"

namespace krafla {

class Amounts {
 public:
  Resource operator()(std::string_view text) {
    Resource resource;
    while (!text.empty()) {
      const size_t comma = text.find(", ");
      const std::string_view item = text.substr(0, comma);
      const size_t blank = item.find(' ');
      KRAFLA_CHECK(blank != std::string_view::npos, item);
      const std::string_view number = item.substr(blank + 1);
      double amount = 0;
      const auto [end, error] =
          std::from_chars(number.data(), number.data() + number.size(), amount);
      KRAFLA_CHECK(error == std::errc() && end == number.data() + number.size(), item);
      resource.Set(kinds.Intern(item.substr(0, blank)), amount);
      if (comma == std::string_view::npos) break;
      text.remove_prefix(comma + 2);
    }
    return resource;
  }

  ResourceKinds kinds;
};

}  // namespace krafla
