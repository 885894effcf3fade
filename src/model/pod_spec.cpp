#include "model/pod_spec.h"

namespace krafla {

bool Tolerates(const Toleration& toleration, const Taint& taint) {
  if (toleration.effect && *toleration.effect != taint.effect) return false;
  if (toleration.key != kEmptyStr && toleration.key != taint.key) return false;
  switch (toleration.op) {
    case TolerationOp::kExists:
      return true;
    case TolerationOp::kEqual:
      return toleration.value == taint.value;
    default:
      return false;  // Lt and Gt stand behind a feature gate that is off by default
  }
}

}  // namespace krafla
