// The rule, per kind of resource, in both reckonings:
//   1. Containers are summed up.
//   2. Sidecars (init containers that keep running) are added to that sum.
//   3. A plain init container runs beside the sidecars started before it; the largest such moment
//      is a lower bound.
//   4. Pod-level requests for cpu, memory and huge pages replace the result; the overhead comes on
//      top. Volcano rounds each container up; Kubernetes sums exactly and rounds once.
#include "manifest/pod_requests.h"

#include <algorithm>
#include <limits>
#include <optional>

namespace krafla {

namespace {

// Kubernetes keeps amounts to the thousandth at most; finer ones are rounded up when they reach the
// API server.
__extension__ using Milli = __int128;

constexpr Milli kDefaultCpu = 100;
constexpr Milli kDefaultMemory = Milli{200} * 1024 * 1024 * 1000;

Milli ToMilli(const Quantity& amount) {
  constexpr int64_t kLargestExact = std::numeric_limits<int64_t>::max() / 1000 - 1;
  const int64_t units = amount.Value();
  return units > kLargestExact ? Milli{units} * 1000 : Milli{amount.MilliValue()};
}

bool MayBePodLevel(std::string_view name) {
  return name == "cpu" || name == "memory" || name.starts_with("hugepages-");
}

bool HasPodLevel(const PodRequests& pod) {
  return std::any_of(pod.pod_level.asked.begin(), pod.pod_level.asked.end(),
                     [](const NamedQuantity& entry) { return MayBePodLevel(entry.name); });
}

ResourceList Effective(const RequestState& state, bool resize_infeasible) {
  ResourceList list;
  if (!resize_infeasible || !state.has_status) list = state.asked;
  if (state.has_status) {
    SetMax(list, state.in_force);
    SetMax(list, state.granted);
  }
  return list;
}

// Plain init containers cannot be resized: their status is not looked at.
ResourceList Effective(const ContainerRequests& container, bool init, bool resize_infeasible) {
  if (init && !container.sidecar) return container.requests.asked;
  return Effective(container.requests, resize_infeasible);
}

Resource VolcanoRequest(const PodRequests& pod, ResourceKinds& kinds, ObjectReader& reader) {
  Resource total;
  for (const ContainerRequests& container : pod.containers)
    total.Add(ToResource(Effective(container, false, pod.resize_infeasible), kinds, reader));
  Resource sidecars;
  Resource init;
  for (const ContainerRequests& container : pod.init_containers) {
    Resource moment = ToResource(Effective(container, true, pod.resize_infeasible), kinds, reader);
    if (container.sidecar) {
      total.Add(moment);
      sidecars.Add(moment);
      moment = sidecars;
    } else {
      moment.Add(sidecars);
    }
    init.SetMax(moment);
  }
  total.SetMax(init);
  total.AddTo(ResourceKinds::kPods, 1);
  if (HasPodLevel(pod)) {
    const Resource pod_level = ToResource(pod.pod_level.asked, kinds, reader);
    for (const NamedQuantity& entry : pod.pod_level.asked) {
      if (!MayBePodLevel(entry.name)) continue;
      const int kind = kinds.Find(entry.name);
      if (kind >= 0) total.Set(kind, pod_level.Get(kind));
    }
  }
  total.Add(ToResource(pod.overhead, kinds, reader));
  return total;
}

struct Reckoning {
  std::optional<Milli> otherwise;  // for containers that do not name the kind
  bool with_status = true;
  bool with_pod_level = true;
};

// One kind of resource in Kubernetes' reckoning; nothing when the pod does not name it.
class KubernetesSum {
 public:
  KubernetesSum(const PodRequests& pod, std::string_view name, const Reckoning& how)
      : pod_(pod), name_(name), how_(how) {}

  std::optional<Milli> Total() const {
    std::optional<Milli> total;
    for (const ContainerRequests& container : pod_.containers) Add(total, Of(container, false));
    std::optional<Milli> sidecars;
    std::optional<Milli> init;
    for (const ContainerRequests& container : pod_.init_containers) {
      std::optional<Milli> moment = Of(container, true);
      if (container.sidecar) {
        Add(total, moment);
        Add(sidecars, moment);
        moment = sidecars;
      } else {
        Add(moment, sidecars);
      }
      init = std::max(init, moment);
    }
    total = std::max(total, init);
    if (how_.with_pod_level && FindAmount(pod_.pod_level.asked, name_) != nullptr)
      total = PodLevel();
    if (const Quantity* overhead = FindAmount(pod_.overhead, name_)) Add(total, ToMilli(*overhead));
    return total;
  }

 private:
  static void Add(std::optional<Milli>& sum, std::optional<Milli> more) {
    if (more) sum = sum.value_or(0) + *more;
  }

  std::optional<Milli> Of(const ContainerRequests& container, bool init) const {
    const ResourceList list = how_.with_status ? Effective(container, init, pod_.resize_infeasible)
                                               : container.requests.asked;
    const Quantity* amount = FindAmount(list, name_);
    return amount != nullptr ? std::optional(ToMilli(*amount)) : how_.otherwise;
  }

  Milli PodLevel() const {
    const ResourceList list =
        how_.with_status ? Effective(pod_.pod_level, pod_.resize_infeasible) : pod_.pod_level.asked;
    const Quantity* amount = FindAmount(list, name_);
    return amount != nullptr ? ToMilli(*amount) : 0;
  }

  const PodRequests& pod_;
  std::string_view name_;
  Reckoning how_;
};

// In thousandths, not yet rounded to the unit of the resource.
struct MilliAmounts {
  Milli requested = 0;
  Milli nonzero = 0;
  Milli placing = 0;
};

MilliAmounts Scored(const PodRequests& pod, std::string_view name, Milli otherwise) {
  const std::optional<Milli> requested = KubernetesSum(pod, name, {}).Total();
  MilliAmounts answer;
  answer.requested = requested.value_or(0);
  // With pod-level requests the default stands in only for what the whole pod does not name.
  answer.nonzero = HasPodLevel(pod) && requested
                       ? *requested
                       : KubernetesSum(pod, name, {.otherwise = otherwise}).Total().value_or(0);
  answer.placing =
      KubernetesSum(pod, name,
                    {.otherwise = otherwise, .with_status = false, .with_pod_level = false})
          .Total()
          .value_or(0);
  return answer;
}

double WholeUnits(Milli milli) {
  return static_cast<double>((milli + 999) / 1000);
}

}  // namespace

void SetRequests(const PodRequests& pod, ResourceKinds& kinds, ObjectReader& reader,
                 PodSpec& spec) {
  spec.request = VolcanoRequest(pod, kinds, reader);
  const MilliAmounts cpu = Scored(pod, "cpu", kDefaultCpu);
  spec.scored_cpu = static_cast<double>(cpu.requested);
  spec.nonzero_cpu = static_cast<double>(cpu.nonzero);
  spec.placing_cpu = static_cast<double>(cpu.placing);
  const MilliAmounts memory = Scored(pod, "memory", kDefaultMemory);
  spec.scored_memory = WholeUnits(memory.requested);
  spec.nonzero_memory = WholeUnits(memory.nonzero);
  spec.placing_memory = WholeUnits(memory.placing);
}

}  // namespace krafla
