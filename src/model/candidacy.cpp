#include "model/candidacy.h"

namespace krafla {

std::string_view ToString(Candidacy candidacy) {
  switch (candidacy) {
    case Candidacy::kCandidate:
      return "candidate";
    case Candidacy::kNotRunning:
      return "not running";
    case Candidacy::kBestEffort:
      return "asking for something, while the newcomer asks for nothing";
    case Candidacy::kNotPreemptable:
      return "with preemptable: false";
    case Candidacy::kNoJob:
      return "of no PodGroup";
    case Candidacy::kOwnJob:
      return "of the job itself";
    case Candidacy::kOtherJob:
      return "of another job";
    case Candidacy::kOtherQueue:
      return "in another queue";
    case Candidacy::kOwnQueue:
      return "in the same queue";
    case Candidacy::kNotReclaimable:
      return "of a queue that is not reclaimable";
    case Candidacy::kCount:
      break;
  }
  return "";
}

}  // namespace krafla
