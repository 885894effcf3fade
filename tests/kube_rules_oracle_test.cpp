// Holds our filters and scores against the answers of kube-scheduler's own plugins, recorded by
// tests/kube_oracle: plugin by plugin, pod by pod, node by node. KRAFLA_KUBE_CASES may name another
// file of recorded cases.
#include <gtest/gtest.h>
#include <simdjson.h>

#include <algorithm>
#include <cmath>
#include <cstdlib>
#include <map>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "kube_rules/kube_filters.h"
#include "kube_rules/kube_scores.h"
#include "manifest/read_cluster.h"
#include "session/node_search.h"
#include "session/session.h"
#include "support/gzip_lines.h"
#include "support/source_dir.h"

namespace krafla::testing {
namespace {

using simdjson::dom::element;

// Pods that nobody meets, because the API server would not let them through or would have completed
// their objects.
bool CannotHappen(element objects, std::string_view pod_key, element answer) {
  // Every StorageClass gets a binding mode.
  if (std::string(simdjson::minify(answer)).find("VolumeBindingMode not set") != std::string::npos)
    return true;
  for (element pod : objects.get_array()) {
    if (pod["kind"].get_string().value() != "Pod") continue;
    const auto meta = pod["metadata"];
    const std::string key = std::string(meta["namespace"].get_string().value()) + "/" +
                            std::string(meta["name"].get_string().value());
    // Not a label value, and so not one a label can be compared with.
    if (key == pod_key)
      return std::string(simdjson::minify(pod)).find("\"-5\"") != std::string::npos;
  }
  return false;
}

// Amounts finer than a thousandth: the API server rounds each up, the oracle only their sum. A pod
// with two of them comes out differently.
bool HasFineAmounts(element objects) {
  constexpr std::string_view kFine = "00u\"";
  for (element object : objects.get_array()) {
    const std::string text = simdjson::minify(object);
    const size_t first = text.find(kFine);
    if (first != std::string::npos && text.find(kFine, first + 1) != std::string::npos) return true;
  }
  return false;
}

uint8_t CodeOf(std::string_view name) {
  if (name == "Unschedulable") return Refusal::kUnschedulable;
  if (name == "UnschedulableAndUnresolvable") return Refusal::kUnschedulableAndUnresolvable;
  return Refusal::kError;
}

std::string FirstReason(element refusal) {
  for (element reason : refusal["reasons"].get_array())
    return std::string(reason.get_string().value());
  return {};
}

// The session of one question, and the same rules once more by themselves, so that single plugins
// can be asked.
class World {
 public:
  explicit World(element objects) {
    const std::string text = R"({"apiVersion":"v1","kind":"List","items":)" +
                             std::string(simdjson::minify(objects)) + "}";
    ReadClusterOptions options;
    options.scheduler_names = {"default-scheduler"};
    Diagnostics diagnostics;
    cluster_ = ReadClusterFromText(text, "question", options, diagnostics);
    for (const Diagnostic& d : diagnostics.items())
      if (d.severity == Severity::kError) problem += ToString(d) + "\n";
    if (!problem.empty()) return;
    Tier tier;
    for (const char* name : {"predicates", "nodeorder"}) tier.plugins.emplace_back().name = name;
    config_.tiers.push_back(std::move(tier));
    session = std::make_unique<Session>(cluster_, config_, SessionOptions{}, log_);
    filters.emplace(cluster_, session->kube, session->reasons, FilterSwitches{});
    scores.emplace(cluster_, session->kube, ScoreWeights{.most_allocated = 1});
  }

  TaskId FindTask(std::string_view key) const {
    for (uint32_t t = 0; t < cluster_.tasks.size(); ++t)
      if (cluster_.TaskKey(TaskId(t)) == key) return TaskId(t);
    return {};
  }
  NodeId FindNode(std::string_view name) const {
    return cluster_.FindNode(cluster_.strings.Find(name));
  }
  const Cluster& cluster() const { return cluster_; }
  std::string Words(Refusal refusal) const {
    return std::to_string(refusal.codes) + " " + session->reasons.Text(refusal.reason);
  }

  std::string problem;
  std::unique_ptr<Session> session;
  std::optional<KubeFilters> filters;
  std::optional<KubeScores> scores;

 private:
  Cluster cluster_;
  SchedulerConfig config_;
  Log log_;
};

struct Tally {
  std::map<std::string, int> agreed;
  std::map<std::string, int> refused;
  int skipped = 0;
};

class PodCheck {
 public:
  PodCheck(World& world, std::string where, TaskId task, element answer, bool with_amounts,
           Tally& tally)
      : world_(world),
        where_(std::move(where)),
        task_(task),
        answer_(answer),
        with_amounts_(with_amounts),
        tally_(tally) {}

  void Run() {
    Preparation();
    for (const NodeId node : world_.cluster().nodes_by_name) Filters(node);
    std::vector<NodeId> scored;
    for (element name : answer_["scored"].get_array())
      scored.push_back(world_.FindNode(name.get_string().value()));
    if (scored.empty()) return;
    for (size_t p = 0; p < kScorePartCount; ++p) {
      const ScorePart part = static_cast<ScorePart>(p);
      const bool of_amounts = part == ScorePart::kLeastAllocated ||
                              part == ScorePart::kMostAllocated ||
                              part == ScorePart::kBalancedAllocation;
      if (with_amounts_ || !of_amounts) Scores(part, scored);
    }
    if (with_amounts_) Sum(scored);
  }

 private:
  // Ours has no separate "skip": a filter that has nothing to say says nothing.
  void Compare(Filter filter, Refusal ours, simdjson::simdjson_result<element> theirs,
               const std::string& place) {
    Refusal expected;
    std::string reason;
    if (!theirs.error()) {
      expected.codes = CodeOf(theirs["code"].get_string().value());
      reason = FirstReason(theirs.value());
    }
    const std::string name(ToString(filter));
    EXPECT_EQ(int{ours.codes}, int{expected.codes})
        << place << " " << name << "\nours: " << world_.Words(ours) << "\ntheirs: " << reason;
    // Of several broken pods on a node either may be named.
    if (expected.refused() && expected.codes != Refusal::kError) {
      EXPECT_EQ(world_.session->reasons.Text(ours.reason), reason) << place << " " << name;
    }
    tally_.refused[name] += expected.refused() ? 1 : 0;
    ++tally_.agreed[name];
  }

  // The same "no", said a step earlier: a node affinity term that can match nothing is dropped when
  // it is read, and what is left may contradict itself.
  bool RefusedEverywhere(const std::string& plugin) {
    const auto& nodes = world_.cluster().nodes_by_name;
    return std::all_of(nodes.begin(), nodes.end(), [&](NodeId node) {
      const std::string name(world_.cluster().NodeName(node));
      return !answer_["filters"][name][plugin].error();
    });
  }

  void Preparation() {
    const KubeFilters::Report report = world_.filters->ExplainPrepare(task_);
    Refusal first;
    for (size_t f = 0; f < kFilterCount; ++f) {
      const std::string name(ToString(static_cast<Filter>(f)));
      if (!first.refused()) first = report[f];
      if (report[f].refused() && RefusedEverywhere(name)) continue;
      Compare(static_cast<Filter>(f), report[f], answer_["prefilter"][name], where_ + " prefilter");
    }
    const Refusal joined = world_.session->node_search().Prepare(task_);
    EXPECT_EQ(joined.codes, first.codes) << where_;
    EXPECT_EQ(joined.reason, first.reason) << where_;
  }

  void Filters(NodeId node) {
    const std::string node_name(world_.cluster().NodeName(node));
    const std::string place = where_ + " on " + node_name;
    const KubeFilters::Report report = world_.filters->ExplainNode(task_, node);
    Refusal joined;
    for (size_t f = 0; f < kFilterCount; ++f) {
      const std::string name(ToString(static_cast<Filter>(f)));
      // Not a filter of Kubernetes.
      if (static_cast<Filter>(f) == Filter::kPodsNumber) continue;
      joined.codes |= report[f].codes;
      if (answer_["prefilter"][name].error() == simdjson::SUCCESS) continue;  // was not asked
      Compare(static_cast<Filter>(f), report[f], answer_["filters"][node_name][name], place);
    }
    // The session's own way, through kept and moving parts.
    const Refusal whole = world_.session->node_search().Check(task_, node);
    const uint8_t pods = report[static_cast<size_t>(Filter::kPodsNumber)].codes;
    EXPECT_EQ(int{whole.codes}, int{static_cast<uint8_t>(joined.codes | pods)}) << place;
  }

  void Scores(ScorePart part, const std::vector<NodeId>& nodes) {
    const std::string name(ToString(part));
    const auto ours = world_.scores->Explain(part, task_, nodes);
    if (!answer_["scoreErrors"][name].error()) return;
    // Which nodes had an image when is lost in a snapshot: we count as Volcano does once all is
    // settled.
    const std::string settled = part == ScorePart::kImageLocality ? name + "_Settled" : name;
    const auto theirs = answer_["scores"][settled];
    EXPECT_EQ(ours.has_value(), !theirs.error()) << where_ << " " << name;
    ++tally_.agreed[name];
    if (!ours || theirs.error()) return;
    ++tally_.refused[name];
    for (size_t i = 0; i < nodes.size(); ++i) {
      const int64_t expected =
          theirs[std::string(world_.cluster().NodeName(nodes[i]))].get_int64().value();
      EXPECT_EQ((*ours)[i], expected)
          << where_ << " " << name << " " << world_.cluster().NodeName(nodes[i]);
    }
  }

  // The plugin's sum, with its default weights, both ways.
  void Sum(const std::vector<NodeId>& nodes) {
    constexpr std::pair<const char*, int64_t> kWeights[] = {{"NodeResourcesFit_LeastAllocated", 1},
                                                            {"NodeResourcesBalancedAllocation", 1},
                                                            {"NodeAffinity", 2},
                                                            {"InterPodAffinity", 2},
                                                            {"TaintToleration", 3},
                                                            {"PodTopologySpread", 2}};
    std::vector<double> batch(nodes.size(), 0);
    const ScoreHook* hook = nullptr;
    for (const auto& tier : world_.session->scores())
      for (const auto& entry : tier) hook = entry.call;
    ASSERT_NE(hook, nullptr);
    hook->batch(task_, nodes, batch);
    if (!answer_["scoreErrors"].error()) {
      // One plugin that fails leaves Volcano without any score.
      for (const double score : batch) EXPECT_TRUE(std::isnan(score)) << where_;
      ++tally_.agreed["sum, failed"];
      return;
    }
    const ClassId cls = world_.cluster().tasks[task_].cls;
    const bool local = hook->batch_is_node_local(cls);
    std::vector<double> each(nodes.size(), 0);
    if (local) hook->batch_each(cls, nodes, each);
    for (size_t i = 0; i < nodes.size(); ++i) {
      const std::string name(world_.cluster().NodeName(nodes[i]));
      double expected = 0;
      for (const auto& [plugin, weight] : kWeights)
        if (auto score = answer_["scores"][plugin][name]; !score.error())
          expected += static_cast<double>(score.get_int64().value() * weight);
      EXPECT_EQ(batch[i], expected) << where_ << " " << name;
      if (local) {
        EXPECT_EQ(each[i], expected) << where_ << " " << name;
      }
    }
    ++tally_.agreed[local ? "sum, by node" : "sum, by batch"];
  }

  World& world_;
  std::string where_;
  TaskId task_;
  element answer_;
  bool with_amounts_;
  Tally& tally_;
};

TEST(KubeRulesOracle, EveryPluginAgreesWithKubernetes) {
  const char* other = std::getenv("KRAFLA_KUBE_CASES");
  const std::string path =
      other != nullptr ? other
                       : testing::SourceDir() + "/tests/kube_oracle/recorded/cases.jsonl.gz";
  Tally tally;
  int cases = 0;
  int unread = 0;
  simdjson::dom::parser parser;
  for (const std::string& line : ReadGzipLines(path)) {
    const simdjson::padded_string padded(line);
    element both = parser.parse(padded).value();
    World world(both["question"]["objects"].value());
    const std::string id = simdjson::minify(both["question"]["id"].value());
    const bool with_amounts = !HasFineAmounts(both["question"]["objects"].value());
    ++cases;
    if (!world.problem.empty()) {
      ++unread;
      std::fprintf(stderr, "case %s is not read:\n%s", id.c_str(), world.problem.c_str());
      continue;
    }
    for (const auto& [key, answer] : both["answer"]["pods"].get_object()) {
      if (CannotHappen(both["question"]["objects"].value(), key, answer)) {
        ++tally.skipped;
        continue;
      }
      const TaskId task = world.FindTask(key);
      ASSERT_TRUE(task.valid()) << id << " " << key;
      PodCheck(world, "case " + id + " pod " + std::string(key), task, answer, with_amounts, tally)
          .Run();
    }
    if (::testing::Test::HasFatalFailure()) return;
  }
  EXPECT_GT(cases, 0);
  EXPECT_EQ(unread, 0);
  // What is left out must stay the exception.
  EXPECT_LE(tally.skipped * 50, cases);
  for (const auto& [name, count] : tally.agreed)
    std::fprintf(stderr, "%-34s %6d compared, %6d with something to say\n", name.c_str(), count,
                 tally.refused[name]);
  std::fprintf(stderr, "%d cases, %d pods left out\n", cases, tally.skipped);
}

}  // namespace
}  // namespace krafla::testing
