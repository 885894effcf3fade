#include "record/kept_state.h"

#include <algorithm>
#include <utility>

#include "manifest/reduced_object.h"

namespace krafla {

MarkedObject HolderOfPhase(const std::string& group_key) {
  if (std::optional<std::string> pod = PodOfGroupOfOne(group_key)) return {"Pod", std::move(*pod)};
  return {"PodGroup", group_key};
}

bool Reduce(RecordedChange& change) {
  if (change.reduced) return true;
  std::optional<std::string> reduced = ReduceObject(change.kind, change.object);
  if (!reduced) return false;
  change.object = std::move(*reduced);
  return change.reduced = true;
}

bool KeptState::Put(RecordedChange& change) {
  if (!Reduce(change)) return false;
  KeptObject& object = objects_[change.kind][change.key];
  if (object.text != nullptr && *object.text == change.object && object.mark == change.mark &&
      object.phase == change.phase)
    return false;
  if (object.text == nullptr || *object.text != change.object) {
    if (object.text != nullptr) bytes_ -= object.text->size();
    bytes_ += change.object.size();
    object.text = std::make_shared<const std::string>(change.object);
  }
  object.mark = change.mark;
  object.phase = change.phase;
  return true;
}

const KeptObject* KeptState::Mark(std::string_view kind, const std::string& key,
                                  const AssumedMark* mark, std::optional<JobPhase> phase) {
  const auto objects = objects_.find(kind);
  if (objects == objects_.end()) return nullptr;
  const auto object = objects->second.find(key);
  if (object == objects->second.end()) return nullptr;
  if (mark != nullptr) object->second.mark = *mark;
  if (phase) object->second.phase = phase;
  return &object->second;
}

void KeptState::ApplyDecisions(const RecordedCycle& cycle) {
  for (const RecordedPhase& phase : cycle.phases) {
    const MarkedObject holder = HolderOfPhase(phase.group);
    Mark(holder.kind, holder.key, nullptr, phase.after);
  }
  for (const RecordedEviction& eviction : cycle.evictions) {
    const AssumedMark mark{AssumedMark::What::kReleasing, {}};
    Mark("Pod", eviction.pod, &mark, std::nullopt);
  }
  for (const RecordedBind& bind : cycle.binds) {
    const AssumedMark mark{AssumedMark::What::kBinding, bind.node};
    Mark("Pod", bind.pod, &mark, std::nullopt);
  }
}

bool KeptState::Apply(RecordedChange& change) {
  bool changed = true;
  switch (change.what) {
    case RecordedChange::What::kPut:
      changed = Put(change);
      break;
    case RecordedChange::What::kGone: {
      const auto objects = objects_.find(change.kind);
      if (objects == objects_.end()) return false;
      const auto object = objects->second.find(change.key);
      if (object == objects->second.end()) return false;
      bytes_ -= object->second.text->size();
      objects->second.erase(object);
      break;
    }
    case RecordedChange::What::kMark: {
      const bool marks = change.mark.what != AssumedMark::What::kUnchanged;
      const KeptObject* object =
          Mark(change.kind, change.key, marks ? &change.mark : nullptr, change.phase);
      changed = object != nullptr;
      if (!changed) break;
      change.what = RecordedChange::What::kPut;
      change.object = *object->text;
      change.mark = object->mark;
      change.phase = object->phase;
      break;
    }
    case RecordedChange::What::kMemory:
      memory_ = change.memory;
      break;
    case RecordedChange::What::kConfig:
      config_ = std::make_shared<const std::string>(change.object);
      break;
    case RecordedChange::What::kCycle:
      ApplyDecisions(*change.cycle);
      if (change.memory != nullptr) memory_ = change.memory;
      cycles_ = change.cycle->number;
      last_cycle_ = change.cycle->at;
      break;
  }
  if (changed) ++version_;
  return changed;
}

std::vector<KeptState::Entry> KeptState::Entries() const {
  std::vector<Entry> entries;
  for (const auto& [kind, objects] : objects_) {
    const size_t first = entries.size();
    for (const auto& [key, object] : objects) entries.push_back({kind, key, object});
    std::sort(entries.begin() + static_cast<ptrdiff_t>(first), entries.end(),
              [](const Entry& a, const Entry& b) { return a.key < b.key; });
  }
  return entries;
}

size_t KeptState::Count(std::string_view kind) const {
  const auto objects = objects_.find(kind);
  return objects == objects_.end() ? 0 : objects->second.size();
}

}  // namespace krafla
