#include "kube_rules/pod_kinds.h"

namespace krafla {

namespace {

struct KindHash {
  size_t operator()(const PodKind& kind) const {
    const uint64_t both = uint64_t{kind.labels.value} << 32 | kind.ns.value;
    return std::hash<uint64_t>()(both * 2 + (kind.terminating ? 1 : 0));
  }
};

}  // namespace

PodKinds::PodKinds(const Cluster& cluster)
    : of_class_(cluster.classes.size()), of_task_(cluster.tasks.size()) {
  std::unordered_map<PodKind, KindId, KindHash> index;
  auto intern = [&](const TaskClass& cls, bool terminating) {
    const PodKind kind{cls.labels, cls.ns, terminating};
    const auto [it, is_new] = index.try_emplace(kind, kinds_.Next());
    if (is_new) kinds_.Add(kind);
    return it->second;
  };
  for (uint32_t c = 0; c < cluster.classes.size(); ++c)
    of_class_[ClassId(c)] = intern(cluster.classes[ClassId(c)], false);
  for (uint32_t t = 0; t < cluster.tasks.size(); ++t) {
    const Task& task = cluster.tasks[TaskId(t)];
    of_task_[TaskId(t)] = task.status == TaskStatus::kReleasing
                              ? intern(cluster.classes[task.cls], true)
                              : of_class_[task.cls];
  }
  for (uint32_t k = 0; k < kinds_.size(); ++k)
    for (const auto& [key, value] : cluster.label_sets[kinds_[KindId(k)].labels])
      by_label_[LabelKey(key, value)].push_back(KindId(k));
}

}  // namespace krafla
