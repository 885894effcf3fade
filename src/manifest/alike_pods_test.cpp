// Pods that follow each other and differ in little are compared, not decoded: what is read of one
// must be the same whichever pod came before it.
#include <fmt/format.h>
#include <gtest/gtest.h>

#include <string>
#include <vector>

#include "manifest/read_text_test.h"

namespace krafla {
namespace {

using testing::ReadResult;
using testing::ReadText;

// A pod as an API server has it. Texts are JSON.
struct PodText {
  std::string name = R"("train-worker-3")";
  std::string uid = R"("0b7c1c6e-8f6b-4c1e-9d50-2f4f5ad9f0a1")";
  std::string created = R"("2026-03-10T09:00:00Z")";
  std::string version = R"("4711")";
  std::string group = R"("train")";
  std::string cooldown = R"("10m")";
  std::string label = R"("a")";
  std::string node = R"("n1")";
  std::string cpu = R"("2")";
  std::string mount = R"("kube-api-access-x7f9k")";
  std::string volume = R"({"name": "kube-api-access-x7f9k", "projected": {"defaultMode": 420}})";
  std::string scheduled = R"("2026-03-10T09:00:01Z")";
  std::string ready = R"("2026-03-10T09:00:05Z")";
  std::string ready_status = R"("True")";
  std::string ip = R"("10.0.0.17")";
  std::string started = R"("2026-03-10T09:00:02Z")";
  std::string container = R"({"name": "main", "containerID": "containerd://1", "restartCount": 0})";
  std::string more_meta;
  std::string more_spec;

  std::string Json() const {
    return fmt::format(
        R"({{"apiVersion": "v1", "kind": "Pod", "metadata": {{"name": {}, "namespace": "ns1", "uid": {},
 "resourceVersion": {}, "creationTimestamp": {}, "labels": {{"app": {}}},
 "annotations": {{"scheduling.k8s.io/group-name": {}, "volcano.sh/cooldown-time": {},
 "volcano.sh/task-spec": "worker"}}{}}},
 "spec": {{"schedulerName": "volcano", "nodeName": {}, "priority": 10, "containers": [{{"name": "main",
 "image": "i", "resources": {{"requests": {{"cpu": {}, "memory": "1Gi"}}}},
 "volumeMounts": [{{"name": {}, "mountPath": "/x"}}]}}], "volumes": [{}]{}}},
 "status": {{"phase": "Running", "conditions": [
 {{"type": "PodScheduled", "status": "True", "lastTransitionTime": {}}},
 {{"type": "Ready", "status": {}, "lastProbeTime": null, "lastTransitionTime": {}}}],
 "podIP": {}, "podIPs": [{{"ip": {}}}], "startTime": {}, "containerStatuses": [{}]}}}})",
        name, uid, version, created, label, group, cooldown, more_meta, node, cpu, mount, volume,
        more_spec, scheduled, ready_status, ready, ip, ip, started, container);
  }
};

struct Variation {
  const char* what;
  bool alike;  // to the pod that comes before
  PodText pod;
};

PodText With(void (*change)(PodText&)) {
  PodText pod;
  pod.name = R"("train-worker-4")";
  pod.uid = R"("another")";
  change(pod);
  return pod;
}

std::vector<Variation> Variations() {
  return {
      {"nothing but its names", true, With([](PodText&) {})},
      {"a name without number", true, With([](PodText& p) { p.name = R"("single")"; })},
      {"node", true, With([](PodText& p) { p.node = R"("n2")"; })},
      {"group", true, With([](PodText& p) { p.group = R"("another-group")"; })},
      {"times", true, With([](PodText& p) {
         p.created = R"("2026-03-10T08:00:00.25Z")";
         p.scheduled = R"("2026-03-10T17:00:01+08:00")";
         p.ready = R"("2026-03-10T09:10:05Z")";
         p.started = R"("2026-03-10T09:10:02Z")";
       })},
      {"what nobody looks at", true, With([](PodText& p) {
         p.version = R"("48")";
         p.ip = R"("10.0.17.204")";
         p.mount = R"("kube-api-access-9")";
         p.volume = R"({"name": "kube-api-access-9", "projected": {"defaultMode": 384}})";
         p.container = R"({"name": "main", "containerID": "containerd://22", "restartCount": 17})";
       })},
      {"label", false, With([](PodText& p) { p.label = R"("b")"; })},
      {"amount", false, With([](PodText& p) { p.cpu = R"("3")"; })},
      {"cooldown", false, With([](PodText& p) { p.cooldown = R"("20m")"; })},
      {"not ready", false, With([](PodText& p) { p.ready_status = R"("False")"; })},
      {"no node", false, With([](PodText& p) { p.node = R"("")"; })},
      {"node is null", false, With([](PodText& p) { p.node = "null"; })},
      {"escapes", false, With([](PodText& p) { p.name = R"("train-worker-\u0034")"; })},
      {"deleted", false,
       With([](PodText& p) { p.more_meta = R"(, "deletionTimestamp": "2026-03-10T09:30:00Z")"; })},
      {"no uid", false, With([](PodText& p) { p.uid = R"("")"; })},
      {"wrong instant", false, With([](PodText& p) { p.ready = R"("yesterday")"; })},
      {"wrong cooldown", false, With([](PodText& p) { p.cooldown = R"("soon")"; })},
      {"name of a wrong type", false, With([](PodText& p) { p.name = "7"; })},
      {"claim of its own", false, With([](PodText& p) {
         p.volume = R"({"name": "scratch", "ephemeral": {"volumeClaimTemplate": {}}})";
       })},
      {"resources that were granted", false, With([](PodText& p) {
         p.container =
             R"({"name": "main", "resources": {"requests": {"cpu": "1", "memory": "1Gi"}}})";
       })},
  };
}

const std::string kQueueAndGroups =
    R"({"apiVersion": "scheduling.volcano.sh/v1beta1", "kind": "Queue", "metadata": {"name": "default"}}
{"apiVersion": "v1", "kind": "Node", "metadata": {"name": "n1"}, "status": {"allocatable": {"cpu": "8", "memory": "8Gi"}}}
{"apiVersion": "v1", "kind": "Node", "metadata": {"name": "n2"}, "status": {"allocatable": {"cpu": "8", "memory": "8Gi"}}}
{"apiVersion": "scheduling.volcano.sh/v1beta1", "kind": "PodGroup", "metadata": {"name": "train", "namespace": "ns1"}}
{"apiVersion": "scheduling.volcano.sh/v1beta1", "kind": "PodGroup", "metadata": {"name": "another-group", "namespace": "ns1"}}
)";

// Everything that is known of the tasks, but numbers that depend on what else was read.
std::string Describe(const ReadResult& result, std::string_view left_out) {
  std::string text;
  for (const Task& t : result.cluster.tasks) {
    if (result.Text(t.uid) == left_out) continue;
    text +=
        fmt::format("{}/{} uid {} role {} node {} class {} job {} cooldown {} index {} status {} ",
                    result.Text(t.ns), result.Text(t.name), result.Text(t.uid), result.Text(t.role),
                    result.Text(t.node_name), result.Text(t.priority_class),
                    result.Text(result.cluster.jobs[t.job].name), t.cooldown_ns, t.name_index,
                    static_cast<int>(t.status));
    text += fmt::format("times {} {} {} unready {} priority {} policy {} cpu {} claims {} labels",
                        t.created.ns, t.started.ns, t.scheduled_at.ns, t.unready, t.pod_priority,
                        static_cast<int>(t.preemption_policy),
                        result.cluster.classes[t.cls].request.cpu(),
                        result.cluster.specs[t.spec].claims.size());
    for (const auto& [key, value] : result.cluster.label_sets[t.labels])
      text += " " + result.Text(key) + "=" + result.Text(value);
    text += "\n";
  }
  return text;
}

// Where a problem is does not count: it is another line.
std::string MessagesWithoutPlaces(const ReadResult& result) {
  std::string text;
  for (const Diagnostic& item : result.diagnostics.items())
    text += item.object + " " + item.field + ": " + item.message + "\n";
  return text;
}

// A pod is read behind another as if it stood alone.
void ExpectTheSameBehind(const PodText& before, const std::string& json) {
  const std::string uid = before.uid.substr(1, before.uid.size() - 2);
  const ReadResult alone = ReadText(kQueueAndGroups + json, {.lenient = true});
  const ReadResult behind =
      ReadText(kQueueAndGroups + before.Json() + "\n" + json, {.lenient = true});
  EXPECT_EQ(Describe(behind, uid), Describe(alone, uid));
  EXPECT_EQ(MessagesWithoutPlaces(behind), MessagesWithoutPlaces(alone));
}

TEST(AlikePods, APodIsReadTheSameWhicheverCameBefore) {
  for (const Variation& variation : Variations()) {
    SCOPED_TRACE(variation.what);
    ExpectTheSameBehind(PodText(), variation.pod.Json());
  }
}

// Without this the test above would be about nothing.
TEST(AlikePods, ThoseThatDifferInLittleAreCompared) {
  for (const Variation& variation : Variations()) {
    SCOPED_TRACE(variation.what);
    const std::string text = PodText().Json() + "\n" + variation.pod.Json();
    EXPECT_EQ(ReadText(kQueueAndGroups + text, {.lenient = true}).facts.alike,
              variation.alike ? 1 : 0);
  }
}

// Of what stands twice the last counts, and null is as if it were not there.
TEST(AlikePods, APodIsReadTheSameBehindOneWithOddFields) {
  const std::pair<const char*, void (*)(PodText&)> odd[] = {
      {"created", [](PodText& p) { p.created += R"(, "creationTimestamp": null)"; }},
      {"created, escaped",
       [](PodText& p) { p.created += R"(, "creationTimestamp": "2026-03-10T09:00:0\u0031Z")"; }},
      {"started", [](PodText& p) { p.started += R"(, "startTime": null)"; }},
      {"scheduled", [](PodText& p) { p.scheduled += R"(, "lastTransitionTime": null)"; }},
      {"scheduled twice",
       [](PodText& p) { p.scheduled += R"(}, {"type": "PodScheduled", "status": "True")"; }},
      {"node", [](PodText& p) { p.node += R"(, "nodeName": "n2")"; }},
      {"no node", [](PodText& p) { p.node += R"(, "nodeName": null)"; }},
      {"name", [](PodText& p) { p.name = R"("x", "name": )" + p.name; }},
      {"policy", [](PodText& p) { p.more_spec = R"(, "preemptionPolicy": null)"; }},
      {"policy twice",
       [](PodText& p) {
         p.more_spec = R"(, "preemptionPolicy": "Never", "preemptionPolicy": null)";
       }},
      {"deletion", [](PodText& p) {
         p.more_meta =
             R"(, "deletionTimestamp": "2026-03-10T09:30:00Z", "deletionTimestamp": null)";
       }}};
  // The same odd fields again, or with something else in the place of null.
  for (const char* instead : {"null", R"("2026-03-10T08:00:00Z")", R"("Never")", R"("n1")", "7"}) {
    for (const auto& [what, change] : odd) {
      SCOPED_TRACE(fmt::format("{}, {}", what, instead));
      PodText before;
      change(before);
      PodText pod = With([](PodText&) {});
      change(pod);
      std::string json = pod.Json();
      if (const size_t at = json.rfind("null"); at != std::string::npos)
        json.replace(at, 4, instead);
      ExpectTheSameBehind(before, json);
    }
  }
}

TEST(AlikePods, OneOfTheSameNameIsNamedAsSuch) {
  const PodText pod;
  const ReadResult result = ReadText(kQueueAndGroups + pod.Json() + "\n" + pod.Json());
  EXPECT_NE(result.Messages().find("duplicate: there is one of that name already"),
            std::string::npos)
      << result.Messages();
}

TEST(AlikePods, EachIsWarnedAboutThatIsWrong) {
  PodText first;
  first.cooldown = R"("soon")";
  PodText second = first;
  second.name = R"("train-worker-4")";
  second.uid = R"("another")";
  const std::string messages =
      MessagesWithoutPlaces(ReadText(kQueueAndGroups + first.Json() + "\n" + second.Json()));
  EXPECT_NE(messages.find("train-worker-3"), std::string::npos) << messages;
  EXPECT_NE(messages.find("train-worker-4"), std::string::npos) << messages;
}

}  // namespace
}  // namespace krafla
