#include "conformance/volcano_probes.h"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <array>
#include <cmath>

#include "session/node_search.h"

namespace krafla::volcano_tables {

namespace {

// A test that asks about jobs which are in no object. The objects say the same; the names say which
// of them an argument means, whatever the case calls it.
struct HandMade {
  std::string_view source;
  std::string_view objects;  // JSON, comma-separated
  std::string_view left;
  std::string_view right;
  std::string_view job;
};

constexpr std::array kHandMade{
    HandMade{"pkg/scheduler/plugins/sla/TestSlaPlugin",
             R"({"apiVersion":"scheduling.volcano.sh/v1beta1","kind":"Queue",
                 "metadata":{"name":"default"},"spec":{"weight":1}},
                {"apiVersion":"scheduling.volcano.sh/v1beta1","kind":"PodGroup",
                 "metadata":{"name":"job1","namespace":"default"},"spec":{"queue":"default"}},
                {"apiVersion":"scheduling.volcano.sh/v1beta1","kind":"PodGroup",
                 "metadata":{"name":"job2","namespace":"default",
                             "annotations":{"sla-waiting-time":"1h"}},
                 "spec":{"queue":"default"}})",
             "default/job1", "default/job2", "default/job1"},
    HandMade{"pkg/scheduler/plugins/priority/TestUnifiedEvictableFn_GangReclaimPermitsAll",
             R"({"apiVersion":"scheduling.k8s.io/v1","kind":"PriorityClass",
                 "metadata":{"name":"priority-500"},"value":500},
                {"apiVersion":"scheduling.volcano.sh/v1beta1","kind":"PodGroup",
                 "metadata":{"name":"reclaimer","namespace":"default"},
                 "spec":{"queue":"q1","priorityClassName":"priority-500"}})",
             "", "", "default/reclaimer"},
};

const HandMade* FindHandMade(const Json& recorded) {
  const auto found = std::find_if(
      kHandMade.begin(), kHandMade.end(),
      [&](const HandMade& hand_made) { return hand_made.source == recorded["source"].Text(); });
  return found == kHandMade.end() ? nullptr : &*found;
}

int SignOf(int value) {
  return (value > 0) - (value < 0);
}

// As api.EvictionKind counts them.
constexpr int64_t kGangReclaim = 2;

class Prober {
 public:
  Prober(const Json& recorded, const World& world, Session& session)
      : recorded_(recorded), hand_made_(FindHandMade(recorded)), world_(world), session_(session) {}

  std::vector<std::string> Run() {
    for (const Json& probe : recorded_["probes"].Items()) {
      if (std::string missing = FirstMissing(probe["in"]); !missing.empty()) {
        differences_.push_back(fmt::format("there is no {}", missing));
        continue;
      }
      const std::string ours = Ask(probe["fn"].Text(), probe["in"], probe["out"]);
      if (!ours.empty())
        differences_.push_back(fmt::format("{}{}: recorded {}, ours {}", probe["fn"].Text(),
                                           probe["in"].Dump(), probe["out"].Dump(), ours));
    }
    return std::move(differences_);
  }

 private:
  // Our answer when it is another one, else nothing.
  std::string Ask(std::string_view fn, const Json& in, const Json& out) {
    if (fn == "jobOrderCompare")
      return Unless(SignOf(session_.CompareJobs(Left(in), Right(in))) == out.Integer());
    if (fn == "jobOrderLess") return Unless(session_.JobLess(Left(in), Right(in)) == out.Bool());
    if (fn == "jobEnqueueable") return Unless(session_.JobEnqueueable(JobOf(in)) == out.Bool());
    if (fn == "jobEnqueued") {
      session_.JobEnqueued(JobOf(in));
      return {};
    }
    if (fn == "predicate") return Predicate(in, out);
    if (fn == "nodeOrder") return NodeOrder(in, out);
    if (fn == "preemptable")
      return Same(out.Texts(),
                  session_.Preemptable(world_.FindTask(in["preemptor"].Text()), Candidates(in)));
    if (fn == "unifiedEvictable")
      return Same(out.Texts(),
                  session_.UnifiedEvictable({JobOf(in), in["kind"].Integer() == kGangReclaim},
                                            Candidates(in)));
    if (fn == "victimTasks") return VictimTasks(out);
    return "nobody knows how to ask this";
  }

  static std::string Unless(bool same) { return same ? "" : "the opposite"; }

  // The first thing a question names that is not in the cluster. A preemptor may be missing: it is
  // a blank in the one question that has any.
  std::string FirstMissing(const Json& in) const {
    if (in["l"].present() && !Left(in).valid()) return "job on the left";
    if (in["r"].present() && !Right(in).valid()) return "job on the right";
    if (in["job"].present() && !JobOf(in).valid()) return "job";
    if (in["task"].present() && !world_.FindTask(in["task"].Text()).valid()) return "task";
    if (in["node"].present() && !world_.FindNode(in["node"].Text()).valid()) return "node";
    for (TaskId task : Candidates(in))
      if (!task.valid()) return "candidate";
    return {};
  }

  JobId Named(std::string_view name, std::string_view HandMade::* hand_made) const {
    return world_.FindJob(hand_made_ != nullptr ? hand_made_->*hand_made : name);
  }
  JobId Left(const Json& in) const { return Named(in["l"].Text(), &HandMade::left); }
  JobId Right(const Json& in) const { return Named(in["r"].Text(), &HandMade::right); }
  JobId JobOf(const Json& in) const { return Named(in["job"].Text(), &HandMade::job); }

  std::vector<TaskId> Candidates(const Json& in) const {
    std::vector<TaskId> tasks;
    for (const std::string& key : in["candidates"].Texts()) tasks.push_back(world_.FindTask(key));
    return tasks;
  }

  std::vector<std::string> Names(const Victims& victims) const {
    std::vector<std::string> names;
    for (TaskId task : victims.tasks) names.push_back(world_.cluster.TaskKey(task));
    std::sort(names.begin(), names.end());
    return names;
  }

  std::string Same(std::vector<std::string> recorded, const Victims& victims) const {
    std::sort(recorded.begin(), recorded.end());
    const std::vector<std::string> ours = Names(victims);
    return recorded == ours ? "" : fmt::format("{}", ours);
  }

  std::string Predicate(const Json& in, const Json& out) {
    const TaskId task = world_.FindTask(in["task"].Text());
    NodeSearch& search = session_.node_search();
    Refusal refusal = search.Prepare(task);
    if (!refusal.refused()) refusal = search.Check(task, world_.FindNode(in["node"].Text()));
    if (refusal.refused() != out["fits"].Bool()) return {};
    return refusal.refused() ? session_.reasons.Text(refusal.reason) : "fits";
  }

  std::string NodeOrder(const Json& in, const Json& out) {
    const TaskId task = world_.FindTask(in["task"].Text());
    const NodeId node = world_.FindNode(in["node"].Text());
    const auto& nodes = world_.cluster.nodes_by_name;
    const std::array position{
        static_cast<uint32_t>(std::find(nodes.begin(), nodes.end(), node) - nodes.begin())};
    NodeSearch& search = session_.node_search();
    search.Prepare(task);
    std::vector<double> scores;
    search.Score(task, position, scores);
    // As far apart as Volcano's own test lets them be: its sums run over a map.
    constexpr double kApart = 1e-8;
    if (std::abs(scores[0] - out["score"].Number()) < kApart) return {};
    return fmt::format("{}", scores[0]);
  }

  // Volcano walks maps: who is named varies from run to run, how many does not.
  std::string VictimTasks(const Json& out) {
    const std::vector<std::string> ours = Names(session_.VictimTasks());
    const Json deterministic = recorded_["probesDeterministic"];
    if (deterministic.present() && !deterministic.Bool())
      return ours.size() == out.size() ? "" : fmt::format("{}", ours);
    std::vector<std::string> recorded;
    for (const auto& [key, value] : out.Entries()) recorded.push_back(key);
    std::sort(recorded.begin(), recorded.end());
    return recorded == ours ? "" : fmt::format("{}", ours);
  }

  const Json& recorded_;
  const HandMade* hand_made_;
  const World& world_;
  Session& session_;
  std::vector<std::string> differences_;
};

}  // namespace

std::vector<std::string> SuppliedObjects(const Json& recorded) {
  std::vector<std::string> objects;
  if (const HandMade* hand_made = FindHandMade(recorded)) objects.emplace_back(hand_made->objects);
  if (!recorded["objects"].present())
    for (const Json& task : recorded["expect"]["row"]["preemptees"].Items())
      objects.push_back(WithKind("v1", "Pod", task["Pod"]));
  return objects;
}

std::vector<std::string> CompareProbes(const Json& recorded, const World& world, Session& session) {
  return Prober(recorded, world, session).Run();
}

}  // namespace krafla::volcano_tables
