// libyaml's event parser behind two calls, its errors in plain words. For yaml_node.cpp only.
#pragma once

#include <yaml.h>

#include <string_view>

#include "base/yaml_node.h"

namespace krafla {

inline Location ToLocation(const yaml_mark_t& mark) {
  return {static_cast<int>(mark.line) + 1, static_cast<int>(mark.column) + 1};
}

// `text` must outlive the object.
class YamlEvents {
 public:
  explicit YamlEvents(std::string_view text);
  ~YamlEvents();
  YamlEvents(const YamlEvents&) = delete;
  YamlEvents& operator=(const YamlEvents&) = delete;

  // Moves to the next event; false after an error, and then DescribeError says which.
  bool Next();
  const yaml_event_t& current() const { return event_; }
  YamlProblem DescribeError() const;

 private:
  std::string_view text_;
  bool usable_ = false;
  yaml_parser_t parser_{};
  yaml_event_t event_{};
};

}  // namespace krafla
