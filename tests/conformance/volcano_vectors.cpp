#include "conformance/volcano_vectors.h"

#include <fmt/format.h>

#include <algorithm>
#include <array>

namespace krafla::volcano_tables {

namespace {

struct VectorFile {
  std::string_view file;
  VectorCheck check;
};

constexpr std::array kChecked{
    VectorFile{"api/TestAddResource", &CheckAdd},
    VectorFile{"api/TestDiff", &CheckDiff},
    VectorFile{"api/TestFitErrors", &CheckFitErrorText},
    VectorFile{"api/TestGetElasticResources", &CheckElasticResources},
    VectorFile{"api/TestGetPodResourceRequest", &CheckPodRequest},
    VectorFile{"api/TestGetPodResourceWithResize", &CheckResizedPodRequest},
    VectorFile{"api/TestJobInfo", &CheckJobCounts},
    VectorFile{"api/TestLessEqual", &CheckLessEqual},
    VectorFile{"api/TestLessEqualWithDimensionAndResourcesName", &CheckLessEqualInDimensions},
    VectorFile{"api/TestMinDimensionResourceInfinity", &CheckMinInfinity},
    VectorFile{"api/TestMinDimensionResourceZero", &CheckMinZero},
    VectorFile{"api/TestNewResource", &CheckNewResource},
    VectorFile{"api/TestParseMinMemberInfoChanged", &CheckMinTaskMember},
    VectorFile{"api/TestResourceAddScalar", &CheckAddScalar},
    VectorFile{"api/TestResourceString", &CheckResourceText},
    VectorFile{"api/TestSetMaxResource", &CheckSetMax},
    VectorFile{"api/TestSubResource", &CheckSub},
    VectorFile{"golden/Resource.binary", &CheckResourcePair},
    VectorFile{"golden/Resource.unary", &CheckResourceAlone},
    VectorFile{"golden/go.strconv.ParseBool", &CheckBool},
    VectorFile{"golden/k8s.resource.ParseQuantity", &CheckQuantity},
    VectorFile{"plugins/TestApplyPluginConfDefaults", &CheckSwitchDefaults},
    VectorFile{"plugins/cdp/Test_CooldownTimePlugin_podPreemptStableTime", &CheckPodCooldown},
    VectorFile{"plugins/cdp/cdp.podCooldownTime", &CheckCooldown},
    VectorFile{"plugins/cdp/go.time.ParseDuration", &CheckDuration},
    VectorFile{"plugins/gang/TestShouldSkipUnschedulableForReleasing", &CheckGangReleasing},
    VectorFile{"plugins/pdb/TestPreemptableAndReclaimableFn", &CheckPodBudgets},
    VectorFile{"plugins/tdm/Test_parseRevocableZone", &CheckWindowLength},
    VectorFile{"plugins/tdm/tdm.availableRevocableZone", &CheckWindowOpen},
    VectorFile{"plugins/tdm/tdm.getMaxPodEvictNum", &CheckAllowedEvictions},
    VectorFile{"plugins/tdm/tdm.parseIntStr", &CheckIntOrPercent},
};

struct IgnoredFiles {
  std::string_view prefix;
  std::string_view reason;
};

constexpr std::array kIgnored{
    // Comparisons that nobody in our scope makes: the capacity plugin's, or nobody's at all.
    IgnoredFiles{"api/TestEqual", "amounts are compared for order, never for tolerant equality"},
    IgnoredFiles{"api/TestGreaterPartlyWith", "capacity plugin"},
    IgnoredFiles{"api/TestIntersection", "capacity plugin"},
    IgnoredFiles{"api/TestIsZero", "nobody asks"},
    IgnoredFiles{"api/TestLess", "nobody asks"},
    IgnoredFiles{"api/TestLessEqualPartly", "capacity plugin"},
    IgnoredFiles{"api/TestLessPartly", "capacity and task-topology plugins"},
    IgnoredFiles{"api/TestResource_GreaterPartly", "capacity plugin"},
    IgnoredFiles{"api/TestResource_LessEqualResource", "nobody asks"},
    IgnoredFiles{"api/TestSaturating", "counts of DRA devices"},
    IgnoredFiles{"api/TestFitError", "one node's refusals as an error value: ours are codes"},
    IgnoredFiles{"api/TestGetPodResourceWithoutInitContainers", "nobody asks"},
    IgnoredFiles{"api/TestNewSubJobInfo", "subgroups of jobs"},
    IgnoredFiles{"api/TestSubJobInfo", "subgroups of jobs"},
    // Plugins we do not have.
    IgnoredFiles{"plugins/capacity/", "capacity plugin"},
    IgnoredFiles{"plugins/extender/", "extender plugin"},
    IgnoredFiles{"plugins/nodegroup/", "nodegroup plugin"},
    IgnoredFiles{"plugins/resource-strategy-fit/", "resource-strategy-fit plugin"},
    IgnoredFiles{"plugins/task-topology/", "task-topology plugin"},
    IgnoredFiles{"plugins/usage/", "usage plugin"},
    // How Volcano wires Kubernetes' plugins into its own: there is no such wiring here.
    IgnoredFiles{"plugins/nodeorder/TestInitPlugin", "names of Go objects"},
    IgnoredFiles{"plugins/predicates/TestBatchNodeOrderRunsPreScorePlugins", "names of Go objects"},
    IgnoredFiles{"plugins/predicates/TestInitPlugin", "names of Go objects"},
    IgnoredFiles{"plugins/predicates/TestSetUpDynamicResourcesArgs", "DRA"},
    IgnoredFiles{"plugins/predicates/TestSetUpVolumeBindingArgs", "a Go value of arguments"},
    IgnoredFiles{"plugins/proportion/TestProportion", "metrics of several cycles, without queues"},
};

// "vectors/api/TestDiff.json" -> "api/TestDiff"
std::string_view NameOf(std::string_view file) {
  constexpr std::string_view kFolder = "vectors/";
  constexpr std::string_view kEnding = ".json";
  if (file.starts_with(kFolder)) file.remove_prefix(kFolder.size());
  if (file.ends_with(kEnding)) file.remove_suffix(kEnding.size());
  return file;
}

}  // namespace

std::vector<std::string> RunVectors(std::string_view file, const Json& recorded,
                                    VectorTally& tally) {
  const std::string_view name = NameOf(file);
  const std::vector<Json> vectors = recorded["cases"].Items();
  const auto checked = std::find_if(kChecked.begin(), kChecked.end(),
                                    [&](const VectorFile& entry) { return entry.file == name; });
  if (checked == kChecked.end()) {
    const bool ignored =
        std::any_of(kIgnored.begin(), kIgnored.end(),
                    [&](const IgnoredFiles& entry) { return name.starts_with(entry.prefix); });
    if (!ignored) return {"neither checked nor out of scope"};
    ++tally.files_out_of_scope;
    tally.out_of_scope += static_cast<int>(vectors.size());
    return {};
  }

  std::vector<std::string> failures;
  ++tally.files_run;
  for (const Json& vector : vectors) {
    const Verdict verdict = checked->check(vector["in"], vector["want"]);
    if (!verdict.in_scope) {
      ++tally.out_of_scope;
      continue;
    }
    ++tally.run;
    if (verdict.difference.empty()) continue;
    ++tally.failed;
    failures.push_back(fmt::format("{}: {} -> recorded {}, {}", vector["name"].Text(),
                                   vector["in"].Dump(), vector["want"].Dump(), verdict.difference));
  }
  return failures;
}

Resource ResourceOf(const Json& recorded, ResourceKinds& kinds) {
  Resource resource;
  resource.Set(ResourceKinds::kCpu, recorded["MilliCPU"].Number());
  resource.Set(ResourceKinds::kMemory, recorded["Memory"].Number());
  if (recorded["ScalarResources"].present()) resource.MakeScalars();
  for (const auto& [name, amount] : recorded["ScalarResources"].Entries())
    resource.Set(kinds.Intern(name), amount.Number());
  return resource;
}

bool SameResource(const Json& recorded, const Resource& resource, ResourceKinds& kinds) {
  return ResourceOf(recorded, kinds).SameAs(resource);
}

}  // namespace krafla::volcano_tables
