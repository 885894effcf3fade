// KubeFilters::LeaveDoubtful and SayOfMany against Current, node by node; and AddPreparedRefuses
// against PreparedRefuses.
#include <gtest/gtest.h>

#include <bit>
#include <optional>
#include <random>
#include <string>
#include <utility>
#include <vector>

#include "base/words_of_bits.h"
#include "kube_rules/kube_filters.h"
#include "kube_rules/kube_world_test.h"

namespace krafla::testing {
namespace {

std::string TermOf(std::string_view kind, std::string_view key, std::string_view app) {
  return "\"" + std::string(kind) +
         R"(":{"requiredDuringSchedulingIgnoredDuringExecution":[{"topologyKey":")" +
         std::string(key) + R"(","labelSelector":{"matchLabels":{"app":")" + std::string(app) +
         "\"}}}]}";
}

std::string Term(std::string_view kind, std::string_view key, std::string_view app) {
  return "\"affinity\":{" + TermOf(kind, key, app) + "}";
}

std::string Constraint(std::string_view key, std::string_view app, size_t skew) {
  return R"({"maxSkew":)" + std::to_string(skew) + R"(,"topologyKey":")" + std::string(key) +
         R"(","whenUnsatisfiable":"DoNotSchedule","labelSelector":{"matchLabels":{"app":")" +
         std::string(app) + "\"}}}";
}

std::string Spread(std::string_view key, std::string_view app, size_t skew) {
  return R"("topologySpreadConstraints":[)" + Constraint(key, app, skew) + "]";
}

constexpr std::string_view kPort =
    R"("containers":[{"name":"c","ports":[{"containerPort":1,"hostPort":80}]}])";

size_t Bits(const std::vector<uint64_t>& words) {
  size_t bits = 0;
  for (const uint64_t word : words) bits += static_cast<size_t>(std::popcount(word));
  return bits;
}

bool Has(const std::vector<uint64_t>& words, size_t position) {
  return (words[position / 64] >> position % 64 & 1) != 0;
}

std::vector<uint64_t> AllNodes(const KubeWorld& world) {
  const size_t n = world.cluster.nodes_by_name.size();
  std::vector<uint64_t> nodes((n + 63) / 64, ~uint64_t{0});
  if (n % 64 != 0) nodes.back() = (uint64_t{1} << n % 64) - 1;
  return nodes;
}

// More nodes than a few words of bits, with and without labels, some of them full; pods that want
// to be near, apart or spread, by keys of few and of many domains.
class RandomWorld {
 public:
  explicit RandomWorld(uint32_t seed) : random_(seed) {
    Objects objects;
    nodes_ = 70 + Below(200);
    for (size_t n = 0; n < nodes_; ++n) {
      const std::string number = std::to_string(n);
      std::string labels = "number: " + number;
      if (Below(12) != 0) labels += ", host: h" + number;
      if (Below(12) != 0) labels += ", zone: z" + std::to_string(Below(3));
      if (Below(12) != 0) labels += ", rack: r" + std::to_string(n / 8);
      objects.Node("n" + number, labels, "",
                   R"("allocatable":{"cpu":"8","memory":"16Gi","pods":")" +
                       std::to_string(1 + Below(4)) + "\"}");
    }
    for (size_t p = 0; p < 150; ++p) {
      names_.push_back("on-" + std::to_string(p));
      // Mostly one app, so that its pods are in more domains than a few.
      const std::string app = Below(2) == 0 ? "app: a" : RandomApp();
      objects.Pod(names_.back(), app, "n" + std::to_string(Below(nodes_)),
                  Below(6) == 0 ? RandomSpec() : "");
    }
    for (size_t p = 0; p < 40; ++p) {
      waiting_.push_back("new-" + std::to_string(p));
      objects.Pod(waiting_.back(), RandomApp(), "", RandomSpec());
    }
    world_.emplace(objects);
  }

  void Check() {
    for (int step = 0; step < 60; ++step) {
      const Session::Mark mark = world_->session.MarkNow();
      Change();
      if (Below(3) == 0) AskSome();
      if (Below(3) == 0) world_->session.Rollback(mark);
      AskSome();
    }
    EXPECT_GT(passed_, 0u);
    EXPECT_GT(refused_, 0u);
    EXPECT_GT(told_of_, 0u);
  }

 private:
  size_t Below(size_t n) { return random_() % n; }
  std::string RandomApp() { return "app: " + std::string(1, static_cast<char>('a' + Below(4))); }
  std::string RandomSpec() {
    constexpr const char* kKeys[] = {"host", "zone", "rack", "nowhere"};
    constexpr const char* kApps[] = {"a", "b", "c", "d"};
    const char* key = kKeys[Below(30) == 0 ? 3 : Below(3)];
    const char* app = kApps[Below(4)];
    switch (Below(10)) {
      case 8:
        return R"("topologySpreadConstraints":[)" + Constraint("zone", app, 1 + Below(3)) + "," +
               Constraint("rack", app, 1) + "]";
      case 9:
        return "\"affinity\":{" + TermOf("podAffinity", "zone", app) + "," +
               TermOf("podAntiAffinity", "rack", kApps[Below(4)]) + "}";
      case 0:
        return "";
      case 1:
        return std::string(kPort);
      case 2:
        return Term("podAffinity", key, app) + "," + Spread("zone", app, 3);
      case 3:
        return Term("podAffinity", key, app);
      case 4:
      case 5:
        return Term("podAntiAffinity", key, app);
      default:
        return Spread(key, app, 1 + Below(3));
    }
  }

  void Change() {
    Session& session = world_->session;
    for (size_t i = Below(8); i > 0; --i) {
      const TaskId task = world_->Task(waiting_[Below(waiting_.size())]);
      if (world_->cluster.tasks[task].status == TaskStatus::kPending)
        session.Place(task, world_->cluster.nodes_by_name[Below(nodes_)],
                      Below(2) == 0 ? TaskStatus::kAllocated : TaskStatus::kPipelined);
    }
    const TaskId gone = world_->Task(names_[Below(names_.size())]);
    if (world_->cluster.tasks[gone].status == TaskStatus::kRunning) session.MarkReleasing(gone);
  }

  void AskSome() {
    for (int i = 0; i < 4; ++i) {
      const TaskId task = world_->Task(waiting_[Below(waiting_.size())]);
      if (Below(4) != 0) (void)world_->filters.Prepare(task);
      std::vector<uint64_t> given = AllNodes(*world_);
      if (Below(2) == 0)
        for (uint64_t& word : given) word &= uint64_t{random_()} << 32 | random_();
      std::vector<uint64_t> left = given;
      world_->filters.LeaveDoubtful(task, left);
      HearOfMany(task, left);
      std::vector<uint64_t> prepared(given.size(), 0);
      world_->filters.AddPreparedRefuses(task, prepared);
      const bool exact = world_->cluster.SpecOf(task).host_ports.empty();
      for (size_t p = 0; p < nodes_; ++p) {
        const bool refuses =
            world_->filters.Current(task, world_->cluster.nodes_by_name[p]).refused();
        ASSERT_EQ(Has(prepared, p),
                  world_->filters.PreparedRefuses(task, world_->cluster.nodes_by_name[p]));
        ASSERT_TRUE(!Has(prepared, p) || refuses);
        ASSERT_TRUE(!Has(left, p) || Has(given, p));
        ASSERT_TRUE(!Has(given, p) || !refuses || Has(left, p)) << "refuses, and was taken out";
        ASSERT_TRUE(!exact || !Has(left, p) || refuses) << "passes, and was left";
        (refuses ? refused_ : passed_) += Has(given, p) && exact ? 1 : 0;
      }
    }
  }

  // What is said of many nodes is what each of them says; and if anything is, all is that is not
  // said of a node because it is full.
  void HearOfMany(TaskId task, const std::vector<uint64_t>& nodes) {
    const Cluster& cluster = world_->cluster;
    std::vector<uint64_t> open = nodes;
    world_->filters.SayOfMany(task, nodes, [&](Refusal refusal, RowOfBits some) {
      for (size_t p = 0; p < some.size() * 64; ++p) {
        if (!HasBit(some, p)) continue;
        ASSERT_LT(p, nodes_) << "there is no such node";
        ASSERT_TRUE(Has(open, p)) << "was not asked about, or is told of twice";
        SetBit(open, p, false);
        const Refusal its = world_->filters.Current(task, cluster.nodes_by_name[p]);
        ASSERT_EQ(its.codes, refusal.codes);
        ASSERT_EQ(its.reason, refusal.reason);
        ++told_of_;
      }
    });
    if (open == nodes) return;
    for (size_t p = 0; p < nodes_; ++p) {
      const NodeId node = cluster.nodes_by_name[p];
      const bool is_full = world_->session.kube.PodsOn(node).size() >=
                           static_cast<size_t>(cluster.nodes[node].max_pods);
      ASSERT_TRUE(!Has(open, p) || is_full || !world_->filters.Current(task, node).refused());
    }
  }

  std::mt19937 random_;
  size_t nodes_ = 0;
  std::vector<std::string> names_;
  std::vector<std::string> waiting_;
  std::optional<KubeWorld> world_;
  size_t passed_ = 0;
  size_t refused_ = 0;
  size_t told_of_ = 0;
};

TEST(DoubtfulNodes, AreThoseThatRefuse) {
  for (uint32_t seed = 1; seed <= 12; ++seed) {
    SCOPED_TRACE("seed " + std::to_string(seed));
    RandomWorld(seed).Check();
    if (HasFatalFailure()) return;
  }
}

TEST(DoubtfulNodes, AreFewWhereFewRefuse) {
  Objects objects;
  for (int n = 0; n < 300; ++n) {
    const std::string number = std::to_string(n);
    objects.Node("n" + number, "host: h" + number + ", zone: z" + std::to_string(n % 3));
  }
  objects.Pod("there", "app: web", "n7");
  objects.Pod("loner", "app: web", "", Term("podAntiAffinity", "host", "web"));
  objects.Pod("spread", "app: web", "", Spread("zone", "web", 1));
  objects.Pod("port", "app: web", "", kPort);
  KubeWorld world(objects);
  const auto doubtful = [&](std::string_view pod) {
    (void)world.filters.Prepare(world.Task(pod));
    std::vector<uint64_t> nodes = AllNodes(world);
    world.filters.LeaveDoubtful(world.Task(pod), nodes);
    return Bits(nodes);
  };
  EXPECT_EQ(doubtful("loner"), 1u);
  EXPECT_EQ(doubtful("spread"), 100u);
  EXPECT_EQ(doubtful("there"), 0u);
  EXPECT_EQ(doubtful("port"), 300u);
}

}  // namespace
}  // namespace krafla::testing
