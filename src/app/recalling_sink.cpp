#include "app/recalling_sink.h"

#include <fmt/format.h>

#include <string>
#include <utility>

#include "session/eviction_memory.h"

namespace krafla {

FactSink::Added RecallingSink::AddPodGroup(PodGroupFacts group, Origin origin) {
  const std::string key =
      fmt::format("{}/{}", strings().Text(group.job.ns), strings().Text(group.job.name));
  const GroupMemory told = group.memory;
  const Added added = ForwardingSink::AddPodGroup(std::move(group), origin);
  if (added == Added::kYes && !told.empty()) Recall(told, key, now_, memory_);
  return added;
}

}  // namespace krafla
