// PriorityClasses by name, and what they mean for those who name one or none.
#pragma once

#include <span>
#include <unordered_map>

#include "cluster_state/facts.h"

namespace krafla {

class PriorityIndex {
 public:
  PriorityIndex() = default;
  // Keeps pointers into `classes`.
  explicit PriorityIndex(std::span<const PriorityClassFacts> classes);

  // Null when there is none of that name.
  const PriorityClassFacts* Find(StrId name) const;
  // The class of those who name none; null when there is none. Two are a mistake of the input: the
  // larger one counts, whichever came first.
  const PriorityClassFacts* default_class() const { return default_; }
  int32_t DefaultPriority() const { return default_ != nullptr ? default_->value : 0; }

  // Sets the priority and policy of a pod that has not passed an API server. False when it names a
  // class that does not exist and says no priority itself.
  bool Apply(const PodDetails& pod, Task& task) const;

 private:
  std::unordered_map<StrId, const PriorityClassFacts*> by_name_;
  const PriorityClassFacts* default_ = nullptr;
};

}  // namespace krafla
