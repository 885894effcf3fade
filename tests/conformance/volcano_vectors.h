// Vector files: single functions of Volcano's with arguments and results.
#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "conformance/volcano_json.h"
#include "model/resource.h"

namespace krafla::volcano_tables {

struct VectorTally {
  int files_run = 0;
  int files_out_of_scope = 0;
  int run = 0;
  int out_of_scope = 0;
  int failed = 0;
};

// What came of one vector.
struct Verdict {
  bool in_scope = true;
  std::string difference;  // empty: as recorded

  static Verdict OutOfScope() { return {false, {}}; }
  static Verdict Of(bool same, std::string ours) {
    return {true, same ? std::string() : "ours " + std::move(ours)};
  }
};

// Runs the vectors of one file, or counts them as out of scope. One sentence per failure; a file
// nobody has decided about is one too.
std::vector<std::string> RunVectors(std::string_view file, const Json& recorded,
                                    VectorTally& tally);

// {"MilliCPU": 1000, "Memory": 0, "ScalarResources": {…}}
Resource ResourceOf(const Json& recorded, ResourceKinds& kinds);
// Same amounts, and the same kinds named.
bool SameResource(const Json& recorded, const Resource& resource, ResourceKinds& kinds);

// ---- checks, by what they are about; `in` and `want` as in the file

using VectorCheck = Verdict (*)(const Json& in, const Json& want);

// volcano_vectors_resource.cpp
Verdict CheckAdd(const Json& in, const Json& want);
Verdict CheckSub(const Json& in, const Json& want);
Verdict CheckSetMax(const Json& in, const Json& want);
Verdict CheckAddScalar(const Json& in, const Json& want);
Verdict CheckDiff(const Json& in, const Json& want);
Verdict CheckLessEqual(const Json& in, const Json& want);
Verdict CheckLessEqualInDimensions(const Json& in, const Json& want);
Verdict CheckMinZero(const Json& in, const Json& want);
Verdict CheckMinInfinity(const Json& in, const Json& want);
Verdict CheckResourceText(const Json& in, const Json& want);
Verdict CheckResourcePair(const Json& in, const Json& want);
Verdict CheckResourceAlone(const Json& in, const Json& want);

// volcano_vectors_text.cpp
Verdict CheckBool(const Json& in, const Json& want);
Verdict CheckQuantity(const Json& in, const Json& want);
Verdict CheckDuration(const Json& in, const Json& want);
Verdict CheckWindowLength(const Json& in, const Json& want);
Verdict CheckWindowOpen(const Json& in, const Json& want);
Verdict CheckIntOrPercent(const Json& in, const Json& want);
Verdict CheckAllowedEvictions(const Json& in, const Json& want);
Verdict CheckSwitchDefaults(const Json& in, const Json& want);
Verdict CheckFitErrorText(const Json& in, const Json& want);

// volcano_vectors_objects.cpp
Verdict CheckNewResource(const Json& in, const Json& want);
Verdict CheckPodRequest(const Json& in, const Json& want);
Verdict CheckResizedPodRequest(const Json& in, const Json& want);
Verdict CheckElasticResources(const Json& in, const Json& want);
Verdict CheckJobCounts(const Json& in, const Json& want);
Verdict CheckMinTaskMember(const Json& in, const Json& want);
Verdict CheckCooldown(const Json& in, const Json& want);
Verdict CheckPodCooldown(const Json& in, const Json& want);
Verdict CheckGangReleasing(const Json& in, const Json& want);
Verdict CheckPodBudgets(const Json& in, const Json& want);

}  // namespace krafla::volcano_tables
