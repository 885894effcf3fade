// What an unquoted word in YAML stands for. The rules are those of kubectl (sigs.k8s.io/yaml),
// which reads YAML 1.1: yes, on and y are booleans, 0644 is octal, 1_000 is a thousand, and dates
// and 12:30 are text.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>

namespace krafla {

enum class YamlScalarKind : uint8_t {
  kNull,
  kTrue,
  kFalse,
  kInteger,
  kFloat,
  kNotFinite,  // .inf, .nan: JSON has no word for them
  kText,
};

struct YamlScalar {
  YamlScalarKind kind = YamlScalarKind::kText;
  // Of numbers: the same number as JSON writes it. Numbers that no machine type holds keep their
  // digits.
  std::string_view number;
};

// `scratch` holds the number where it is written differently than in `text`.
YamlScalar ResolvePlainScalar(std::string_view text, std::string& scratch);

}  // namespace krafla
