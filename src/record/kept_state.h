// The state a scheduler has seen, kept as texts beside the scheduler: objects by kind and name with
// what is assumed of them, the memory of cycles, the configuration. Changes go in one after the
// other; at any time a world (replay_world.h) can be built from it.
//
// Not thread-safe; its owner has one thread or a lock.
#pragma once

#include <cstdint>
#include <map>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <unordered_map>
#include <vector>

#include "record/recorded_change.h"

namespace krafla {

struct KeptObject {
  std::shared_ptr<const std::string> text;  // shared with copies of the state; never changes
  AssumedMark mark;
  std::optional<JobPhase> phase;
};

class KeptState {
 public:
  // Applies a change; objects that are not reduced yet are so on the way, and `change` then holds
  // the reduced text. A mark becomes a kPut with the text that is known. False: it says nothing
  // that was not known, or cannot be read.
  bool Apply(RecordedChange& change);

  struct Entry {
    std::string_view kind;
    std::string key;
    KeptObject object;
  };
  // By kind, in an order in which they may be put into a world, and by name.
  std::vector<Entry> Entries() const;

  size_t Count(std::string_view kind) const;
  size_t bytes() const { return bytes_; }
  // Grows with every change that was one.
  uint64_t version() const { return version_; }
  uint64_t cycles() const { return cycles_; }
  Timestamp last_cycle() const { return last_cycle_; }
  const std::shared_ptr<const CycleMemory>& memory() const { return memory_; }
  const std::shared_ptr<const std::string>& config() const { return config_; }

 private:
  using Objects = std::unordered_map<std::string, KeptObject>;

  bool Put(RecordedChange& change);
  // Null: there is no such object. A mark that is null stays as it is, as does a phase.
  const KeptObject* Mark(std::string_view kind, const std::string& key, const AssumedMark* mark,
                         std::optional<JobPhase> phase);
  void ApplyDecisions(const RecordedCycle& cycle);

  std::map<std::string_view, Objects> objects_;
  std::shared_ptr<const CycleMemory> memory_ = std::make_shared<const CycleMemory>();
  std::shared_ptr<const std::string> config_ = std::make_shared<const std::string>();
  size_t bytes_ = 0;
  uint64_t version_ = 0;
  uint64_t cycles_ = 0;
  Timestamp last_cycle_;
};

// Cuts the object of a kPut down, unless that was done; false: it cannot be read.
bool Reduce(RecordedChange& change);

// The phase of a group was decided: what is to be marked for it, a PodGroup or the pod that is a
// group of its own.
struct MarkedObject {
  std::string_view kind;
  std::string key;
};
MarkedObject HolderOfPhase(const std::string& group_key);

}  // namespace krafla
