#include "conformance/volcano_expect.h"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <array>
#include <map>

namespace krafla::volcano_tables {

namespace {

using TextMap = std::map<std::string, std::string>;
using TextList = std::vector<std::string>;  // sorted

struct BindsElsewhere {
  std::string_view file;
  std::string_view reason;
};

// Cases whose `expect.binds` is not what the session decided; `observed.sessionBinding` is.
constexpr std::array kBindsElsewhere{
    BindsElsewhere{"actions/allocate/TestAllocateWithPVC__static-pv-matched-and-node-with-enough-"
                   "resources",
                   "the test has nobody who binds claims, so the binds it decides on never arrive"},
};

struct OtherTie {
  std::string_view file;
  std::string_view evicted;
  std::string_view reason;
};

// Cases whose recorded runs agree by chance. Ties are broken as in the oracle's canonical order.
constexpr std::array kOtherTies{
    OtherTie{"golden/TestExtra__tiers-gang-vetoes-in-tier-1-drf-in-tier-2-then-decides-and-breaks-"
             "the-gang",
             "ns1/y3",
             "drf lets three of four equal pods go, those Go's map order brings first, and of them "
             "the last by name is evicted: y4 if it is there, as in all eight runs, else y3"},
};

const OtherTie* FindOtherTie(const Json& recorded) {
  const auto found = std::find_if(kOtherTies.begin(), kOtherTies.end(), [&](const OtherTie& tie) {
    return tie.file == recorded["id"].Text();
  });
  return found == kOtherTies.end() ? nullptr : &*found;
}

TextMap MapOf(const Json& recorded) {
  TextMap map;
  for (const auto& [key, value] : recorded.Entries()) map.emplace(key, value.Text());
  return map;
}

TextList ListOf(const Json& recorded) {
  TextList list = recorded.Texts();
  std::sort(list.begin(), list.end());
  return list;
}

TextList KeysOf(const TextMap& map) {
  TextList keys;
  for (const auto& [key, value] : map) keys.push_back(key);
  return keys;
}

// What a session has decided, by names.
struct Outcome {
  TextMap binds;
  TextList evictions;
  TextMap pipelined;

  explicit Outcome(const Session& session) {
    const Cluster& cluster = session.cluster;
    for (const Bind& bind : session.plan.binds)
      binds.emplace(cluster.TaskKey(bind.task), cluster.NodeName(bind.node));
    for (const Eviction& eviction : session.plan.evictions)
      evictions.push_back(cluster.TaskKey(eviction.task));
    std::sort(evictions.begin(), evictions.end());
    for (uint32_t t = 0; t < cluster.tasks.size(); ++t) {
      const Task& task = cluster.tasks[TaskId(t)];
      if (task.status == TaskStatus::kPipelined)
        pipelined.emplace(cluster.TaskKey(TaskId(t)), cluster.NodeName(task.node));
    }
  }

  bool Is(const Json& variant) const {
    return binds == MapOf(variant["binds"]) && evictions == ListOf(variant["evictions"]) &&
           pipelined == MapOf(variant["pipelinedTasks"]);
  }
};

class Comparison {
 public:
  Comparison(const Json& recorded, const World& world)
      : recorded_(recorded), expect_(recorded["expect"]), world_(world) {}

  std::vector<std::string> Run(const Session& session) {
    const Outcome outcome(session);
    Binds(outcome);
    TextList evictions = ListOf(expect_["evictions"]);
    if (const OtherTie* tie = FindOtherTie(recorded_)) evictions = {std::string(tie->evicted)};
    Same("evictions", expect_["evictions"].present(), evictions, outcome.evictions);
    Same("number of evictions", expect_["evictCount"].present(), expect_["evictCount"].Integer(),
         static_cast<int64_t>(outcome.evictions.size()));
    Same("pipelined tasks", expect_["pipelinedTasks"].present(), MapOf(expect_["pipelinedTasks"]),
         outcome.pipelined);
    Same("pipelined pods", expect_["pipelinedPods"].present(), ListOf(expect_["pipelinedPods"]),
         KeysOf(outcome.pipelined));
    for (const auto& [job, nodes] : expect_["pipelined"].Entries())
      PipelinedJob(job, nodes.Texts());
    for (const auto& [job, phase] : expect_["podGroupPhases"].Entries()) Phase(job, phase.Text());
    for (const auto& [job, counts] : expect_["taskStatusCounts"].Entries()) Statuses(job, counts);
    for (const auto& [job, amounts] : expect_["jobAllocated"].Entries()) Allocated(job, amounts);
    AnyOf(outcome);
    return std::move(differences_);
  }

 private:
  template <class T>
  void Same(std::string_view what, bool recorded, const T& expected, const T& ours) {
    if (recorded && !(expected == ours))
      differences_.push_back(fmt::format("{}: recorded {}, ours {}", what, expected, ours));
  }

  void Binds(const Outcome& outcome) {
    const bool elsewhere = std::any_of(
        kBindsElsewhere.begin(), kBindsElsewhere.end(),
        [&](const BindsElsewhere& entry) { return entry.file == recorded_["id"].Text(); });
    if (elsewhere) {
      Same("binds", true, MapOf(recorded_["observed"]["sessionBinding"]), outcome.binds);
      return;
    }
    const bool exact = expect_["binds"].present() && !expect_["minimalBindCheck"].Bool();
    Same("binds", exact, MapOf(expect_["binds"]), outcome.binds);
    Same("number of binds", expect_["bindCount"].present(), expect_["bindCount"].Integer(),
         static_cast<int64_t>(outcome.binds.size()));
    Same("bound pods", expect_["boundPods"].present(), ListOf(expect_["boundPods"]),
         KeysOf(outcome.binds));
  }

  // Null after saying so when the job is not there.
  const Job* JobOf(std::string_view key) {
    const JobId id = world_.FindJob(key);
    if (id.valid()) return &world_.cluster.jobs[id];
    differences_.push_back(fmt::format("there is no job {}", key));
    return nullptr;
  }

  void PipelinedJob(std::string_view key, const std::vector<std::string>& allowed) {
    const Job* job = JobOf(key);
    if (job == nullptr) return;
    bool any = false;
    for (TaskId id : job->tasks) {
      const Task& task = world_.cluster.tasks[id];
      if (task.status != TaskStatus::kPipelined) continue;
      any = true;
      const std::string_view node = world_.cluster.NodeName(task.node);
      if (std::find(allowed.begin(), allowed.end(), node) == allowed.end())
        differences_.push_back(fmt::format("{} is pipelined on {}, recorded {}",
                                           world_.cluster.TaskKey(id), node, allowed));
    }
    if (!any) differences_.push_back(fmt::format("{} has no pipelined task", key));
  }

  void Phase(std::string_view key, std::string_view phase) {
    if (const Job* job = JobOf(key))
      Same(fmt::format("phase of {}", key), true, phase, ToString(job->phase));
  }

  void Statuses(std::string_view key, const Json& counts) {
    const Job* job = JobOf(key);
    if (job == nullptr) return;
    for (size_t s = 0; s < kTaskStatusCount; ++s) {
      const std::string_view name = ToString(static_cast<TaskStatus>(s));
      Same(fmt::format("{} tasks of {}", name, key), true, counts[name].Integer(),
           int64_t{job->count[s]});
    }
  }

  void Allocated(std::string_view key, const Json& amounts) {
    const Job* job = JobOf(key);
    if (job != nullptr && !SameAmounts(amounts, job->allocated, world_.cluster.kinds))
      differences_.push_back(fmt::format("{} has {}, recorded {}", key,
                                         ToString(job->allocated, world_.cluster.kinds),
                                         amounts.Dump()));
  }

  void AnyOf(const Outcome& outcome) {
    const std::vector<Json> variants = expect_["anyOf"].Items();
    if (variants.empty()) return;
    if (std::none_of(variants.begin(), variants.end(),
                     [&](const Json& variant) { return outcome.Is(variant); }))
      differences_.push_back(
          fmt::format("none of the recorded variants: binds {}, evictions {}, pipelined {}",
                      outcome.binds, outcome.evictions, outcome.pipelined));
  }

  const Json& recorded_;
  const Json expect_;
  const World& world_;
  std::vector<std::string> differences_;
};

}  // namespace

bool IsDeterministic(const Json& recorded) {
  return recorded["deterministic"].Bool() && FindOtherTie(recorded) == nullptr;
}

std::vector<std::string> CompareWithExpect(const Json& recorded, const World& world,
                                           const Session& session) {
  return Comparison(recorded, world).Run(session);
}

bool SameAmounts(const Json& recorded, const Resource& resource, const ResourceKinds& kinds) {
  std::map<std::string, double> amounts;
  for (const auto& [key, value] : recorded.Entries())
    amounts[key == "milliCPU" ? "cpu" : key] = value.Number();
  for (int kind = 0; kind < kinds.size(); ++kind) {
    const auto found = amounts.find(kinds.Name(kind));
    if (resource.Get(kind) != (found == amounts.end() ? 0 : found->second)) return false;
    if (found != amounts.end()) amounts.erase(found);
  }
  return std::all_of(amounts.begin(), amounts.end(),
                     [](const auto& rest) { return rest.second == 0; });
}

std::vector<std::string> CompareWithObserved(const Json& recorded, const World& world) {
  const Cluster& cluster = world.cluster;
  const Json observed = recorded["observed"];
  std::vector<std::string> differences;
  for (const auto& [key, state] : observed["tasks"].Entries()) {
    const TaskId id = world.FindTask(key);
    if (!id.valid()) {
      differences.push_back(fmt::format("there is no task {}", key));
      continue;
    }
    const Task& task = cluster.tasks[id];
    // A pod that has ended is not on its node any more, but still names it.
    const std::string_view node =
        cluster.Text(task.node.valid() ? cluster.nodes[task.node].name : task.node_name);
    if (ToString(task.status) != state["status"].Text() || node != state["node"].Text())
      differences.push_back(fmt::format("{} is {} on '{}', recorded {}", key, ToString(task.status),
                                        node, state.Dump()));
  }
  const auto compare = [&](std::string_view what, const Json& amounts, const Resource& resource) {
    if (!SameAmounts(amounts, resource, cluster.kinds))
      differences.push_back(fmt::format("{}: {}, recorded {}", what,
                                        ToString(resource, cluster.kinds), amounts.Dump()));
  };
  for (const auto& [name, amounts] : observed["nodes"].Entries()) {
    const NodeId node = world.FindNode(name);
    if (!node.valid()) {
      differences.push_back(fmt::format("there is no node {}", name));
      continue;
    }
    compare(name + " idle", amounts["idle"], cluster.idle[node]);
    compare(name + " used", amounts["used"], cluster.used[node]);
    compare(name + " releasing", amounts["releasing"], cluster.releasing[node]);
    compare(name + " pipelined", amounts["pipelined"], cluster.pipelined[node]);
  }
  for (const auto& [key, amounts] : observed["jobAllocated"].Entries())
    if (const JobId job = world.FindJob(key); job.valid())
      compare(key, amounts, cluster.jobs[job].allocated);
  for (const auto& [key, phase] : observed["podGroupPhases"].Entries())
    if (const JobId job = world.FindJob(key); job.valid())
      if (ToString(cluster.jobs[job].phase) != phase.Text())
        differences.push_back(fmt::format("phase of {}: {}, recorded {}", key,
                                          ToString(cluster.jobs[job].phase), phase.Text()));
  return differences;
}

}  // namespace krafla::volcano_tables
