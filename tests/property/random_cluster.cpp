#include "property/random_cluster.h"

#include <fmt/format.h>

#include <array>
#include <utility>

#include "base/json_writer.h"
#include "property/random_config.h"

namespace krafla::testing {

namespace {

constexpr std::array<std::string_view, kFeatureCount> kFeatureNames = {
    "priorities",     "gangs",           "roles",         "best-effort",       "gates",
    "terminating",    "finished",        "bound",         "preemptable",       "zones",
    "budgets",        "cooldowns",       "pod-budgets",   "system-pods",       "node-selectors",
    "taints",         "pod-affinity",    "spread",        "host-ports",        "pod-limits",
    "extended",       "closed-queues",   "capability",    "reclaimable-false", "hierarchy",
    "never-preempts", "nominated-nodes", "overcommitted", "strangers",         "min-resources",
    "waiting-times",  "switches",        "topology-aware"};

constexpr const char* kNow = "2026-03-10T12:00:00Z";
constexpr int64_t kNowSeconds = 12 * 3600;  // of that day
constexpr int kMaxPods = 40;
constexpr int kMegabytesPerGigabyte = 1024;

// An instant of the day before or of the day itself.
std::string Ago(int64_t seconds) {
  const int64_t at = kNowSeconds - seconds;
  const int day = at >= 0 ? 10 : 9;
  const int64_t second = at >= 0 ? at : at + 24 * 3600;
  return fmt::format("2026-03-{:02}T{:02}:{:02}:{:02}Z", day, second / 3600, second / 60 % 60,
                     second % 60);
}

struct PriorityClass {
  const char* name;
  int value;
  bool never;
};
constexpr PriorityClass kPriorityClasses[] = {{"low", 10, false},
                                              {"mid", 100, false},
                                              {"high", 1000, false},
                                              {"never", 5000, true},
                                              {"system-cluster-critical", 2000000000, false}};

using Texts = std::vector<std::pair<std::string, std::string>>;

void WriteTexts(JsonWriter& json, std::string_view key, const Texts& texts) {
  if (texts.empty()) return;
  json.Key(key).BeginObject();
  for (const auto& [name, value] : texts) json.Key(name).String(value);
  json.EndObject();
}

struct NodeState {
  std::string name;
  int cpu_milli = 0;
  int memory_mb = 0;
  int pods = 0;
  int gpus = 0;
  std::string zone;  // revocable
};

// About pods with label app = `app`, counted per value of node label `key`. No key: no rule.
struct PodRule {
  std::string app;
  std::string key;
  bool anti = false;
  bool required = false;
};

// What the pods of one role share.
struct PodTemplate {
  int cpu_milli = 0;
  int memory_mb = 0;
  int gpus = 0;
  std::string priority_class;
  int priority = 0;
  bool never = false;
  Texts annotations;
  Texts labels;
  int64_t cooldown_seconds = -1;
  std::string node_selector;  // value of label disk
  bool tolerates = false;
  int host_port = 0;
  PodRule affinity;
  PodRule spread;
  std::string gate;
};

class Maker {
 public:
  Maker(const Shape& shape, const Wanted& wanted) : shape_(shape), wanted_(wanted) {
    shape_.features.insert(wanted.features.begin(), wanted.features.end());
    out_.shape = shape_;
    out_.now = kNow;
  }

  RandomCluster Make() {
    Dice dice(shape_.seed, "cluster", 0);
    const bool volcano = dice.Chance(35);
    out_.profile = !wanted_.profile.empty() ? wanted_.profile : volcano ? "volcano" : "krafla";
    out_.config = !wanted_.config.empty() ? wanted_.config : MakeConfig(shape_, wanted_.contest);
    out_.config += wanted_.more_config;
    AddPriorityClasses();
    for (int i = 0; i < shape_.nodes; ++i) AddNode(i);
    for (int i = 0; i < shape_.queues; ++i) AddQueue(i);
    for (int i = 0; i < shape_.jobs; ++i) AddJob(i);
    for (int i = 0; i < 3; ++i) AddStranger(i);
    for (int i = 0; i < 3; ++i) AddPodBudget(i);
    return std::move(out_);
  }

 private:
  bool Has(Feature feature) const { return shape_.features.contains(feature); }
  // Draws in any case, so that leaving a feature out moves nothing else.
  bool Chance(Dice& dice, Feature feature, int percent) {
    const bool hit = dice.Chance(percent);
    return hit && Has(feature);
  }

  static std::string Uid(std::string_view kind, std::string_view ns, std::string_view name) {
    uint64_t hash = 1469598103934665603ULL;
    for (const std::string_view part : {kind, ns, name})
      for (const char c : part) hash = (hash ^ static_cast<unsigned char>(c)) * 1099511628211ULL;
    return fmt::format("{:08x}-{}-{}", hash >> 32, ns, name);
  }

  static void BeginObject(JsonWriter& json, std::string_view version, std::string_view kind) {
    json.BeginObject();
    json.Key("apiVersion").String(version);
    json.Key("kind").String(kind);
  }

  static void WriteMetadata(JsonWriter& json, std::string_view kind, std::string_view ns,
                            std::string_view name, int64_t created_ago, const Texts& labels,
                            const Texts& annotations, bool deleting = false) {
    json.Key("metadata").BeginObject();
    json.Key("name").String(name);
    if (!ns.empty()) json.Key("namespace").String(ns);
    json.Key("uid").String(Uid(kind, ns, name));
    json.Key("creationTimestamp").String(Ago(created_ago));
    if (deleting) json.Key("deletionTimestamp").String(Ago(5));
    WriteTexts(json, "labels", labels);
    WriteTexts(json, "annotations", annotations);
    json.EndObject();
  }

  void Keep(JsonWriter& json) { out_.objects.push_back(json.EndObject().text()); }

  void AddPriorityClasses() {
    for (const PriorityClass& entry : kPriorityClasses) {
      JsonWriter json;
      BeginObject(json, "scheduling.k8s.io/v1", "PriorityClass");
      WriteMetadata(json, "PriorityClass", "", entry.name, 90000, {}, {});
      json.Key("value").Integer(entry.value);
      if (entry.never) json.Key("preemptionPolicy").String("Never");
      Keep(json);
    }
  }

  void AddNode(int index) {
    Dice dice(shape_.seed, "node", index);
    NodeState node;
    node.name = fmt::format("n{}", index);
    node.cpu_milli = 1000 * dice.Pick(std::vector{1, 2, 2, 4});
    node.memory_mb = kMegabytesPerGigabyte * dice.Pick(std::vector{2, 4, 4, 8});
    node.pods = Chance(dice, Feature::kPodLimits, 60) ? 2 + dice.Below(4) : 110;
    node.gpus = Chance(dice, Feature::kExtendedResource, 50) ? 1 + dice.Below(3) : 0;
    Texts labels{{"kubernetes.io/hostname", node.name}};
    if (dice.Chance(85)) labels.emplace_back("zone", dice.Chance(50) ? "a" : "b");
    labels.emplace_back("disk", dice.Chance(50) ? "ssd" : "hdd");
    if (Chance(dice, Feature::kZones, 55)) node.zone = fmt::format("rz{}", 1 + dice.Below(4));
    if (!node.zone.empty()) labels.emplace_back("volcano.sh/revocable-zone", node.zone);
    const bool tainted = Chance(dice, Feature::kTaints, 20);
    const bool soft = dice.Chance(50);
    const bool unschedulable = Chance(dice, Feature::kTaints, 10);

    JsonWriter json;
    BeginObject(json, "v1", "Node");
    WriteMetadata(json, "Node", "", node.name, 80000, labels, {});
    json.Key("spec").BeginObject();
    if (unschedulable) json.Key("unschedulable").Bool(true);
    if (tainted) {
      json.Key("taints").BeginArray().BeginObject();
      json.Key("key").String("dedicated").Key("value").String("batch");
      json.Key("effect").String(soft ? "PreferNoSchedule" : "NoSchedule");
      json.EndObject().EndArray();
    }
    json.EndObject();
    json.Key("status").BeginObject().Key("allocatable").BeginObject();
    json.Key("cpu").String(fmt::format("{}m", node.cpu_milli));
    json.Key("memory").String(fmt::format("{}Mi", node.memory_mb));
    json.Key("pods").String(std::to_string(node.pods));
    if (node.gpus > 0) json.Key("nvidia.com/gpu").String(std::to_string(node.gpus));
    json.EndObject();
    json.Key("conditions").BeginArray().BeginObject();
    json.Key("type").String("Ready").Key("status").String("True");
    json.EndObject().EndArray().EndObject();
    Keep(json);
    nodes_.push_back(std::move(node));
  }

  void AddQueue(int index) {
    Dice dice(shape_.seed, "queue", index);
    const std::string name = fmt::format("q{}", index);
    const int weight = 1 + dice.Below(5);
    const bool reclaimable = !Chance(dice, Feature::kReclaimableFalse, 40);
    const bool limited = Chance(dice, Feature::kCapability, 50);
    const int cpus = 2 + dice.Below(8);
    const bool memory_too = dice.Chance(50);
    const bool guaranteed = Chance(dice, Feature::kCapability, 20);
    const bool closed = Chance(dice, Feature::kClosedQueues, 40);
    const std::string state = dice.Chance(70) ? "Closed" : "Closing";
    const int64_t created = 70000 + 60 * dice.Below(2);
    Texts annotations;
    if (Has(Feature::kHierarchy)) {
      annotations.emplace_back("volcano.sh/hierarchy", fmt::format("root/g{}/{}", index % 2, name));
      annotations.emplace_back("volcano.sh/hierarchy-weights",
                               fmt::format("1/{}/{}", 1 + dice.Below(3), weight));
    }
    JsonWriter json;
    BeginObject(json, "scheduling.volcano.sh/v1beta1", "Queue");
    WriteMetadata(json, "Queue", "", name, created, {}, annotations);
    json.Key("spec").BeginObject().Key("weight").Integer(weight);
    if (!reclaimable) json.Key("reclaimable").Bool(false);
    if (limited) {
      json.Key("capability").BeginObject().Key("cpu").String(std::to_string(cpus));
      if (memory_too) json.Key("memory").String(fmt::format("{}Gi", cpus));
      json.EndObject();
    }
    if (guaranteed) {
      json.Key("guarantee").BeginObject().Key("resource").BeginObject();
      json.Key("cpu").String("1").EndObject().EndObject();
    }
    json.EndObject();
    json.Key("status").BeginObject().Key("state").String(closed ? state : "Open").EndObject();
    Keep(json);
  }

  // ---- jobs

  struct JobDraft {
    std::string ns;
    std::string name;
    std::vector<PodTemplate> roles;
    std::string key() const { return ns + "/" + name; }
  };

  PodTemplate MakeTemplate(Dice& dice) {
    PodTemplate t;
    t.cpu_milli = 250 * (1 << dice.Below(4)) + (dice.Chance(20) ? 500 : 0);
    t.memory_mb = 256 * (1 << dice.Below(4));
    if (Chance(dice, Feature::kExtendedResource, 30)) t.gpus = 1;
    if (Chance(dice, Feature::kBestEffort, 25)) t.cpu_milli = t.memory_mb = t.gpus = 0;
    const PriorityClass& priority = kPriorityClasses[dice.Below(3)];
    const bool never = Chance(dice, Feature::kNeverPreempts, 20);
    const bool critical = Chance(dice, Feature::kSystemPods, 15);
    if (Has(Feature::kPriorities) || never || critical) {
      const PriorityClass& chosen = critical ? kPriorityClasses[4]
                                    : never  ? kPriorityClasses[3]
                                             : priority;
      t.priority_class = chosen.name;
      t.priority = chosen.value;
      t.never = chosen.never;
    }
    if (dice.Chance(80)) t.labels.emplace_back("app", std::string(1, "abc"[dice.Below(3)]));
    Mark(dice, t);
    Constrain(dice, t);
    return t;
  }

  // Annotations that decide who may be evicted from where.
  void Mark(Dice& dice, PodTemplate& t) {
    if (Chance(dice, Feature::kPreemptableMarks, 60)) {
      const std::string value = dice.Chance(75) ? "true" : "false";
      (dice.Chance(70) ? t.annotations : t.labels).emplace_back("volcano.sh/preemptable", value);
    }
    const std::string zones = dice.Pick(std::vector<std::string>{"*", "*", "rz1", "rz2,rz1"});
    if (Chance(dice, Feature::kZones, 60))
      t.annotations.emplace_back("volcano.sh/revocable-zone", zones);
    const int minutes = dice.Pick(std::vector{1, 10, 60});
    const bool as_label = dice.Chance(50);
    const bool alternative = dice.Chance(30);
    if (Chance(dice, Feature::kCooldowns, 50)) {
      t.cooldown_seconds = 60 * minutes;
      (as_label ? t.labels : t.annotations)
          .emplace_back(alternative ? "cooldown-time.volcano.sh" : "volcano.sh/cooldown-time",
                        fmt::format("{}m", minutes));
    }
    const std::string gate =
        dice.Chance(50) ? "example.com/wait" : "scheduling.volcano.sh/queue-allocation-gate";
    if (Chance(dice, Feature::kGates, 15)) t.gate = gate;
  }

  // What makes some nodes unfit.
  void Constrain(Dice& dice, PodTemplate& t) {
    const std::string disk = dice.Chance(50) ? "ssd" : "hdd";
    if (Chance(dice, Feature::kNodeSelectors, 35)) t.node_selector = disk;
    t.tolerates = Chance(dice, Feature::kTaints, 50);
    const int port = 8000 + dice.Below(2);
    if (Chance(dice, Feature::kHostPorts, 30)) t.host_port = port;
    const std::string app(1, "abc"[dice.Below(3)]);
    const std::string key = dice.Chance(60) ? "kubernetes.io/hostname" : "zone";
    const int flavour = dice.Below(10);
    if (Chance(dice, Feature::kPodAffinity, 35))
      t.affinity = {
          .app = app, .key = key, .anti = flavour < 7, .required = flavour < 5 || flavour > 8};
    const bool hard = dice.Chance(60);
    if (Chance(dice, Feature::kSpread, 30)) t.spread = {.app = app, .key = key, .required = hard};
  }

  void AddJob(int index) {
    Dice dice(shape_.seed, "job", index);
    JobDraft job;
    job.ns = Chance(dice, Feature::kSystemPods, 15) ? "kube-system"
             : dice.Chance(70)                      ? "ns0"
                                                    : "ns1";
    job.name = fmt::format("j{}", index);
    const int count = 1 + dice.Below(6);
    const bool roles = Chance(dice, Feature::kRoles, 50);
    job.roles.push_back(MakeTemplate(dice));
    // A second role asks for something else but belongs to the same job, so to the same priority
    // class.
    PodTemplate second = MakeTemplate(dice);
    second.priority_class = job.roles[0].priority_class;
    second.priority = job.roles[0].priority;
    second.never = job.roles[0].never;
    if (roles) job.roles.push_back(std::move(second));
    // How far the job has come: most are running, some wait, some are half done.
    const int progress = dice.Pick(std::vector{100, 100, 100, 0, 0, 50});

    AddPodGroup(dice, job, count, progress);
    const bool says_role = roles || dice.Chance(30);
    for (int i = 0; i < count; ++i) {
      Dice pod_dice(shape_.seed, job.name, i);
      const size_t role = roles && i > 0 ? 1 : 0;
      AddPod(pod_dice, job, job.roles[role], fmt::format("{}-{}", job.name, i),
             says_role ? (role == 0 ? "master" : "worker") : "", progress);
    }
  }

  void AddPodGroup(Dice& dice, const JobDraft& job, int count, int progress) {
    JobFacts& facts = out_.jobs[job.key()];
    const int min_member = dice.Below(count + 1) + (dice.Chance(5) ? 1 : 0);
    facts.min_member = Has(Feature::kGangs) ? min_member : 1;
    Texts annotations;
    if (Chance(dice, Feature::kPreemptableMarks, 30))
      annotations.emplace_back("volcano.sh/preemptable", dice.Chance(80) ? "true" : "false");
    AddBudgets(dice, annotations, facts);
    const bool sla = Chance(dice, Feature::kWaitingTimes, 30);
    if (sla) annotations.emplace_back("volcano.sh/sla-waiting-time", dice.Chance(50) ? "1m" : "5h");
    const int queue = dice.Below(6) % shape_.queues;
    const int64_t created = 10000 + 60 * dice.Below(3);
    const bool has_minimum = Chance(dice, Feature::kMinResources, 50);
    const int minimum_cpus = 1 + dice.Below(6);
    const int role_minimum = dice.Below(3);
    std::string phase = dice.Chance(70) ? "Inqueue" : "Pending";
    if (progress == 100 || (progress > 0 && dice.Chance(60))) phase = "Running";

    JsonWriter json;
    BeginObject(json, "scheduling.volcano.sh/v1beta1", "PodGroup");
    WriteMetadata(json, "PodGroup", job.ns, job.name, created, {}, annotations);
    json.Key("spec").BeginObject();
    json.Key("minMember").Integer(facts.min_member);
    json.Key("queue").String(fmt::format("q{}", queue));
    if (!job.roles[0].priority_class.empty())
      json.Key("priorityClassName").String(job.roles[0].priority_class);
    if (has_minimum)
      json.Key("minResources")
          .BeginObject()
          .Key("cpu")
          .String(std::to_string(minimum_cpus))
          .EndObject();
    if (job.roles.size() > 1)
      json.Key("minTaskMember")
          .BeginObject()
          .Key("master")
          .Integer(1)
          .Key("worker")
          .Integer(role_minimum)
          .EndObject();
    json.EndObject();
    json.Key("status").BeginObject().Key("phase").String(phase).EndObject();
    Keep(json);
  }

  void AddBudgets(Dice& dice, Texts& annotations, JobFacts& facts) {
    const std::vector<std::string> amounts = {"0", "1", "2", "3", "30%", "50%", "100%"};
    const int which = dice.Below(10);  // 0-3 one, 4-6 the other, 7-9 both
    for (const bool max : {false, true}) {
      const std::string amount = dice.Pick(amounts);
      const std::string other = dice.Pick(amounts);
      const bool long_key = dice.Chance(50);
      const bool both_keys = dice.Chance(20);
      const bool hit = Chance(dice, Feature::kBudgets, 60);
      if (!hit || (max ? which < 4 : which >= 4 && which < 7)) continue;
      const std::string word = max ? "max-unavailable" : "min-available";
      const std::string long_name = "volcano.sh/job-disruption-budget-" + word;
      const std::string short_name = "volcano.sh/jdb-" + word;
      annotations.emplace_back(long_key ? long_name : short_name, amount);
      if (long_key && both_keys) annotations.emplace_back(short_name, other);
      (max ? facts.max_unavailable : facts.min_available) = amount;
    }
  }

  // ---- pods

  // A node with room, from a random one on; null when there is none. Sometimes room does not
  // matter.
  NodeState* FindRoom(Dice& dice, const PodTemplate& t) {
    const size_t start = static_cast<size_t>(dice.Below(64)) % nodes_.size();
    const bool crowd = Chance(dice, Feature::kOvercommittedNodes, 15);
    for (size_t i = 0; i < nodes_.size(); ++i) {
      NodeState& node = nodes_[(start + i) % nodes_.size()];
      if (crowd || (node.cpu_milli >= t.cpu_milli && node.memory_mb >= t.memory_mb &&
                    node.gpus >= t.gpus && node.pods > 0))
        return &node;
    }
    return nullptr;
  }

  void AddPod(Dice& dice, const JobDraft& job, const PodTemplate& t, const std::string& name,
              std::string_view role, int progress) {
    if (static_cast<int>(out_.pods.size()) >= kMaxPods) return;
    using State = PodFacts::State;
    State state = dice.Below(100) < progress ? State::kRunning : State::kPending;
    const bool bound = Chance(dice, Feature::kBound, 15);
    const bool terminating = Chance(dice, Feature::kTerminating, 12);
    const bool finished = Chance(dice, Feature::kFinished, 10);
    if (state == State::kRunning)
      state = finished      ? State::kFinished
              : terminating ? State::kTerminating
              : bound       ? State::kBound
                            : State::kRunning;
    NodeState* node = nullptr;
    if (state != State::kPending) node = FindRoom(dice, t);
    if (node == nullptr) state = State::kPending;
    if (state == State::kPending && !wanted_.pending_pods) return;
    if (node != nullptr && state != State::kFinished) {
      node->cpu_milli -= t.cpu_milli;
      node->memory_mb -= t.memory_mb;
      node->gpus -= t.gpus;
      --node->pods;
    }
    PodFacts facts{.ns = job.ns, .name = name, .job = job.key(), .state = state};
    facts.labels.insert(t.labels.begin(), t.labels.end());
    facts.priority_class = t.priority_class;
    facts.cooldown_seconds = t.cooldown_seconds;
    Texts annotations = t.annotations;
    annotations.emplace_back("scheduling.k8s.io/group-name", job.name);
    if (!role.empty()) annotations.emplace_back("volcano.sh/task-spec", role);
    const bool own_priority = dice.Chance(10);
    if (own_priority)
      annotations.emplace_back("volcano.sh/task-priority", std::to_string(dice.Below(3)));
    WritePod(dice, t, facts, annotations, node, "volcano");
  }

  void AddStranger(int index) {
    Dice dice(shape_.seed, "stranger", index);
    PodTemplate t;
    t.cpu_milli = 250 << dice.Below(3);
    t.memory_mb = 256;
    t.labels.emplace_back("app", "a");
    NodeState* node = FindRoom(dice, t);
    if (node == nullptr || !Chance(dice, Feature::kStrangers, 60) ||
        static_cast<int>(out_.pods.size()) >= kMaxPods)
      return;
    node->cpu_milli -= t.cpu_milli;
    node->memory_mb -= t.memory_mb;
    --node->pods;
    PodFacts facts{.ns = dice.Chance(50) ? "ns0" : "kube-system",
                   .name = fmt::format("stranger-{}", index),
                   .job = "",
                   .state = PodFacts::State::kRunning};
    facts.labels.emplace("app", "a");
    WritePod(dice, t, facts, {}, node, "default-scheduler");
  }

  void WritePod(Dice& dice, const PodTemplate& t, PodFacts facts, const Texts& annotations,
                const NodeState* node, std::string_view scheduler) {
    using State = PodFacts::State;
    const bool placed = facts.state != State::kPending;
    const int64_t placed_ago = dice.Pick(std::vector<int64_t>{30, 300, 1200, 7200});
    if (placed) facts.placed_seconds_ago = placed_ago;
    const bool by_preemption = dice.Chance(50);
    const std::string nominated = fmt::format("n{}", dice.Below(shape_.nodes + 1));
    const bool is_nominated = Chance(dice, Feature::kNominatedNodes, 25);

    JsonWriter json;
    BeginObject(json, "v1", "Pod");
    WriteMetadata(json, "Pod", facts.ns, facts.name, 9000 + 60 * dice.Below(3), t.labels,
                  annotations, facts.state == State::kTerminating);
    json.Key("spec").BeginObject();
    json.Key("schedulerName").String(scheduler);
    if (placed) json.Key("nodeName").String(node->name);
    WritePodSpec(json, t, placed);
    json.EndObject();
    json.Key("status").BeginObject();
    const bool failed = dice.Chance(30);
    const bool says_ready = dice.Chance(50);
    const bool ready = dice.Chance(70);
    json.Key("phase").String(facts.state == State::kFinished ? (failed ? "Failed" : "Succeeded")
                             : facts.state == State::kPending || facts.state == State::kBound
                                 ? "Pending"
                                 : "Running");
    if (!placed && is_nominated) json.Key("nominatedNodeName").String(nominated);
    if (placed) {
      if (facts.state != State::kBound) json.Key("startTime").String(Ago(placed_ago));
      json.Key("conditions").BeginArray().BeginObject();
      json.Key("type").String("PodScheduled").Key("status").String("True");
      json.Key("lastTransitionTime").String(Ago(placed_ago)).EndObject();
      if (facts.state == State::kTerminating && by_preemption) {
        json.BeginObject().Key("type").String("DisruptionTarget").Key("status").String("True");
        json.Key("reason").String("PreemptionByScheduler").EndObject();
      }
      if (says_ready)
        json.BeginObject()
            .Key("type")
            .String("Ready")
            .Key("status")
            .String(ready ? "True" : "False")
            .EndObject();
      json.EndArray();
    }
    json.EndObject();
    Keep(json);
    out_.pods.emplace(facts.ns + "/" + facts.name, std::move(facts));
  }

  // The part that affinity terms and spread constraints have in common.
  static void WriteSelector(JsonWriter& json, const PodRule& rule) {
    json.Key("labelSelector").BeginObject().Key("matchLabels").BeginObject();
    json.Key("app").String(rule.app).EndObject().EndObject();
    json.Key("topologyKey").String(rule.key);
  }

  static void WriteAffinity(JsonWriter& json, const PodRule& rule) {
    json.Key("affinity").BeginObject();
    json.Key(rule.anti ? "podAntiAffinity" : "podAffinity").BeginObject();
    if (rule.required) {
      json.Key("requiredDuringSchedulingIgnoredDuringExecution").BeginArray().BeginObject();
      WriteSelector(json, rule);
    } else {
      json.Key("preferredDuringSchedulingIgnoredDuringExecution").BeginArray().BeginObject();
      json.Key("weight").Integer(50).Key("podAffinityTerm").BeginObject();
      WriteSelector(json, rule);
      json.EndObject();
    }
    json.EndObject().EndArray().EndObject().EndObject();
  }

  static void WriteSpread(JsonWriter& json, const PodRule& rule) {
    json.Key("topologySpreadConstraints").BeginArray().BeginObject();
    json.Key("maxSkew").Integer(1);
    json.Key("whenUnsatisfiable").String(rule.required ? "DoNotSchedule" : "ScheduleAnyway");
    WriteSelector(json, rule);
    json.EndObject().EndArray();
  }

  static void WritePodSpec(JsonWriter& json, const PodTemplate& t, bool placed) {
    if (!t.priority_class.empty()) {
      json.Key("priorityClassName").String(t.priority_class);
      json.Key("priority").Integer(t.priority);
      json.Key("preemptionPolicy").String(t.never ? "Never" : "PreemptLowerPriority");
    }
    if (!t.node_selector.empty())
      json.Key("nodeSelector").BeginObject().Key("disk").String(t.node_selector).EndObject();
    if (t.tolerates) {
      json.Key("tolerations").BeginArray().BeginObject();
      json.Key("key").String("dedicated").Key("operator").String("Exists").EndObject().EndArray();
    }
    if (!t.gate.empty() && !placed)
      json.Key("schedulingGates")
          .BeginArray()
          .BeginObject()
          .Key("name")
          .String(t.gate)
          .EndObject()
          .EndArray();
    if (!t.affinity.key.empty()) WriteAffinity(json, t.affinity);
    if (!t.spread.key.empty()) WriteSpread(json, t.spread);
    json.Key("containers").BeginArray().BeginObject();
    json.Key("name").String("c").Key("image").String("img");
    if (t.host_port > 0)
      json.Key("ports")
          .BeginArray()
          .BeginObject()
          .Key("containerPort")
          .Integer(80)
          .Key("hostPort")
          .Integer(t.host_port)
          .EndObject()
          .EndArray();
    json.Key("resources").BeginObject();
    if (t.cpu_milli + t.memory_mb + t.gpus > 0) {
      json.Key("requests").BeginObject();
      if (t.cpu_milli > 0) json.Key("cpu").String(fmt::format("{}m", t.cpu_milli));
      if (t.memory_mb > 0) json.Key("memory").String(fmt::format("{}Mi", t.memory_mb));
      if (t.gpus > 0) json.Key("nvidia.com/gpu").String(std::to_string(t.gpus));
      json.EndObject();
    }
    json.EndObject().EndObject().EndArray();
  }

  void AddPodBudget(int index) {
    Dice dice(shape_.seed, "budget", index);
    PodBudgetFacts facts;
    facts.ns = dice.Chance(70) ? "ns0" : "ns1";
    facts.label = "app";
    facts.value = std::string(1, "abc"[dice.Below(3)]);
    facts.allowed = dice.Below(4);
    if (dice.Chance(20)) facts.disrupted.insert(fmt::format("j{}-0", dice.Below(shape_.jobs)));
    const int healthy = dice.Chance(50) ? dice.Below(6) : -1;
    if (!Chance(dice, Feature::kPodBudgets, 70)) return;
    JsonWriter json;
    BeginObject(json, "policy/v1", "PodDisruptionBudget");
    WriteMetadata(json, "PodDisruptionBudget", facts.ns, fmt::format("b{}", index), 60000, {}, {});
    json.Key("spec").BeginObject().Key("selector").BeginObject().Key("matchLabels").BeginObject();
    json.Key(facts.label).String(facts.value).EndObject().EndObject().EndObject();
    json.Key("status").BeginObject().Key("disruptionsAllowed").Integer(facts.allowed);
    if (healthy >= 0) json.Key("currentHealthy").Integer(healthy);
    if (!facts.disrupted.empty()) {
      json.Key("disruptedPods").BeginObject();
      for (const std::string& pod : facts.disrupted) json.Key(pod).String(Ago(10));
      json.EndObject();
    }
    json.EndObject();
    Keep(json);
    out_.pod_budgets.push_back(std::move(facts));
  }

  Shape shape_;
  const Wanted& wanted_;
  RandomCluster out_;
  std::vector<NodeState> nodes_;
};

std::string JoinAsYaml(const std::vector<std::string>& objects) {
  return fmt::format("---\n{}\n", fmt::join(objects, "\n---\n"));
}

}  // namespace

std::string_view ToString(Feature feature) {
  return kFeatureNames[static_cast<size_t>(feature)];
}

std::string ToString(const Shape& shape) {
  std::string features;
  for (Feature feature : shape.features) features += fmt::format(" {}", ToString(feature));
  return fmt::format("seed {:#x}, {} nodes, {} queues, {} jobs, with{}", shape.seed, shape.nodes,
                     shape.queues, shape.jobs, features.empty() ? " nothing special" : features);
}

Dice::Dice(uint64_t seed, std::string_view kind, int index) : state_(seed) {
  for (const char c : kind) state_ = (state_ ^ static_cast<unsigned char>(c)) * 0x100000001b3ULL;
  state_ += static_cast<uint64_t>(index) * 0xd1342543de82ef95ULL;
  Next();
}

// Sebastiano Vigna's splitmix64.
uint64_t Dice::Next() {
  uint64_t z = (state_ += 0x9e3779b97f4a7c15ULL);
  z = (z ^ (z >> 30)) * 0xbf58476d1ce4e5b9ULL;
  z = (z ^ (z >> 27)) * 0x94d049bb133111ebULL;
  return z ^ (z >> 31);
}

std::string RandomCluster::Text() const {
  return JoinAsYaml(objects);
}

std::string RandomCluster::ShuffledText(uint64_t order_seed) const {
  std::vector<std::string> shuffled = objects;
  Dice(order_seed).Shuffle(shuffled);
  return JoinAsYaml(shuffled);
}

std::string RandomCluster::ListText() const {
  return fmt::format(R"({{"apiVersion":"v1","kind":"List","items":[{}]}})",
                     fmt::join(objects, ",\n"));
}

std::string RandomCluster::Describe() const {
  return fmt::format("{}\nprofile {}, now {}\n==== configuration\n{}==== cluster\n{}",
                     ToString(shape), profile, now, config, Text());
}

RandomCluster MakeCluster(const Shape& shape, const Wanted& wanted) {
  return Maker(shape, wanted).Make();
}

}  // namespace krafla::testing
