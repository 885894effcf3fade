// An action: one step of a cycle. One .cpp in src/actions, named <name>_action.cpp, that defines
// Make_<name>_action. The build makes the list.
#pragma once

#include <memory>
#include <span>
#include <string_view>
#include <vector>

#include "config/argument_spec.h"

namespace krafla {

class Session;

class Action {
 public:
  virtual ~Action() = default;
  virtual std::vector<ArgumentSpec> Arguments() const { return {}; }
  virtual void Run(Session& session) = 0;
};

struct ActionEntry {
  std::string_view name;
  std::unique_ptr<Action> (*make)();
};

std::span<const ActionEntry> RegisteredActions();

}  // namespace krafla
