#include "manifest/decode_pod_spec.h"

#include <gtest/gtest.h>

#include "manifest/read_text_test.h"

namespace krafla {
namespace {

using testing::Frame;
using testing::Object;
using testing::Pod;
using testing::ReadClean;
using testing::ReadResult;
using testing::ReadText;

constexpr double kMi = 1024.0 * 1024;

ReadResult WithSpec(std::string_view spec, std::string_view status = "",
                    std::string_view meta = "") {
  return ReadClean(Frame() + Pod("p", spec, status, meta));
}

std::string Requests(std::string_view requests) {
  return fmt::format("resources: {{requests: {{{}}}}}", requests);
}

TEST(PodRequest, ContainersAreSummedUpAndAPodIsOnePod) {
  const ReadResult result =
      WithSpec(fmt::format("containers: [{{{}}}, {{{}}}, {{}}]",
                           Requests("cpu: 1, memory: 1Mi, x.com/a: 1"), Requests("cpu: 500m")));
  const Resource& r = result.RequestOf("default/p");
  EXPECT_EQ(r.cpu(), 1500);
  EXPECT_EQ(r.memory(), kMi);
  EXPECT_EQ(result.Amount(r, "pods"), 1);
  EXPECT_EQ(result.Amount(r, "x.com/a"), 1000);
  EXPECT_FALSE(result.TaskOf("default/p").best_effort);
}

TEST(PodRequest, APodThatAsksForNothingIsBestEffort) {
  EXPECT_TRUE(WithSpec("containers: [{}]").TaskOf("default/p").best_effort);
  EXPECT_TRUE(WithSpec("").TaskOf("default/p").best_effort);
  EXPECT_TRUE(WithSpec(fmt::format("containers: [{{{}}}]", Requests("cpu: 0")))
                  .TaskOf("default/p")
                  .best_effort);
}

TEST(PodRequest, InitContainersAreALowerBound) {
  const ReadResult result = WithSpec(fmt::format(
      "containers: [{{{}}}], initContainers: [{{{}}}, {{{}}}]", Requests("cpu: 1, memory: 4Mi"),
      Requests("cpu: 3"), Requests("cpu: 2, memory: 1Mi, x.com/a: 2")));
  const Resource& r = result.RequestOf("default/p");
  EXPECT_EQ(r.cpu(), 3000);
  EXPECT_EQ(r.memory(), 4 * kMi);
  EXPECT_EQ(result.Amount(r, "x.com/a"), 2000);
  EXPECT_EQ(result.SpecOf("default/p").scored_cpu, 3000);
}

TEST(PodRequest, SidecarsRunBesideEverythingThatComesAfter) {
  // During "big" one sidecar runs: 1 + 5. Later both run beside the container: 1 + 2 + 1.
  const ReadResult result = WithSpec(fmt::format(
      "containers: [{{{}}}], initContainers: [{{{}, restartPolicy: Always}}, {{name: big, {}}}, "
      "{{{}, restartPolicy: Always}}]",
      Requests("cpu: 1"), Requests("cpu: 1"), Requests("cpu: 5"), Requests("cpu: 2")));
  EXPECT_EQ(result.RequestOf("default/p").cpu(), 6000);
  EXPECT_EQ(result.SpecOf("default/p").scored_cpu, 6000);
  const ReadResult small = WithSpec(
      fmt::format("containers: [{{{}}}], initContainers: [{{{}, restartPolicy: Always}}, {{{}}}]",
                  Requests("cpu: 1"), Requests("cpu: 1"), Requests("cpu: 500m")));
  EXPECT_EQ(small.RequestOf("default/p").cpu(), 2000);
}

TEST(PodRequest, PodLevelAmountsReplaceAndOverheadIsAdded) {
  const ReadResult result =
      WithSpec(fmt::format("containers: [{{{}}}], {}, overhead: {{cpu: 100m, memory: 2Mi}}",
                           Requests("cpu: 1, memory: 1Mi, hugepages-2Mi: 2Mi, x.com/a: 1"),
                           Requests("cpu: 3, hugepages-2Mi: 4Mi, x.com/a: 7")));
  const Resource& r = result.RequestOf("default/p");
  EXPECT_EQ(r.cpu(), 3100);
  EXPECT_EQ(r.memory(), 3 * kMi);
  EXPECT_EQ(result.Amount(r, "hugepages-2Mi"), 4 * kMi * 1000);
  EXPECT_EQ(result.Amount(r, "x.com/a"), 1000);
  const PodSpec& spec = result.SpecOf("default/p");
  EXPECT_EQ(spec.scored_cpu, 3100);
  EXPECT_EQ(spec.nonzero_cpu, 3100);
  EXPECT_EQ(spec.placing_cpu, 1100);
  EXPECT_EQ(spec.placing_memory, 3 * kMi);
}

TEST(PodRequest, ScoresAssumeSomethingForContainersThatNameNothing) {
  const ReadResult result =
      WithSpec(fmt::format("containers: [{{{}}}, {{{}}}, {{}}]", Requests("cpu: 1"),
                           Requests("cpu: 0, memory: "
                                    "1Mi")));
  const PodSpec& spec = result.SpecOf("default/p");
  EXPECT_EQ(spec.scored_cpu, 1000);
  EXPECT_EQ(spec.scored_memory, kMi);
  EXPECT_EQ(spec.nonzero_cpu, 1100);
  EXPECT_EQ(spec.nonzero_memory, 401 * kMi);
  EXPECT_EQ(spec.placing_cpu, 1100);
  // The pod names cpu as a whole, so only memory is assumed.
  const ReadResult pod_level = WithSpec("containers: [{}, {}], " + Requests("cpu: 2"));
  EXPECT_EQ(pod_level.SpecOf("default/p").nonzero_cpu, 2000);
  EXPECT_EQ(pod_level.SpecOf("default/p").nonzero_memory, 400 * kMi);
  EXPECT_EQ(pod_level.SpecOf("default/p").placing_cpu, 200);
}

TEST(PodRequest, ScoresRoundOnce) {
  const std::string half = Requests("memory: 500m");
  const ReadResult result = WithSpec(fmt::format("containers: [{{{}}}, {{{}}}]", half, half));
  EXPECT_EQ(result.RequestOf("default/p").memory(), 2);  // Volcano rounds each container
  EXPECT_EQ(result.SpecOf("default/p").scored_memory, 1);
}

TEST(PodRequest, AResizeCountsAtItsLargest) {
  constexpr std::string_view kSpec =
      "nodeName: n1, containers: [{name: a, resources: {requests: {cpu: 2, memory: 1Mi}}}, "
      "{name: b, resources: {requests: {cpu: 1}}}]";
  const std::string grown =
      "phase: Running, containerStatuses: [{name: a, resources: {requests: {cpu: 1, memory: 3Mi}}, "
      "allocatedResources: {cpu: 4}}, {name: b}]";
  EXPECT_EQ(WithSpec(kSpec, grown).RequestOf("default/p").cpu(), 5000);
  EXPECT_EQ(WithSpec(kSpec, grown).RequestOf("default/p").memory(), 3 * kMi);
  EXPECT_EQ(WithSpec(kSpec, grown).SpecOf("default/p").scored_cpu, 5000);
  // Without resources in the status nothing is known of a resize.
  EXPECT_EQ(WithSpec(kSpec, "containerStatuses: [{name: a, allocatedResources: {cpu: 4}}]")
                .RequestOf("default/p")
                .cpu(),
            3000);
  // What will never be granted does not count.
  EXPECT_EQ(WithSpec(kSpec,
                     "containerStatuses: [{name: a, resources: {requests: {cpu: 1}}}], "
                     "conditions: [{type: PodResizePending, status: \"True\", reason: Infeasible}]")
                .RequestOf("default/p")
                .cpu(),
            2000);
}

TEST(PodSpec, PodsOfOneTemplateShareASpecWhateverElseTheyCarry) {
  const auto pod = [](std::string_view name, std::string_view token) {
    return Pod(name, fmt::format("containers: [{{name: c, image: i, env: [{{name: {0}}}], "
                                 "volumeMounts: [{{name: t-{1}}}], resources: {{requests: {{cpu: "
                                 "1}}}}}}]"
                                 ", volumes: [{{name: t-{1}, projected: {{}}}}]",
                                 name, token));
  };
  const ReadResult result =
      ReadClean(Frame() + pod("a", "xyz") + pod("b", "uvw") +
                Pod("c", "containers: [{image: i, resources: {requests: {cpu: 1000m}}}]"));
  EXPECT_EQ(result.TaskOf("default/a").spec, result.TaskOf("default/b").spec);
  EXPECT_EQ(result.TaskOf("default/a").spec, result.TaskOf("default/c").spec);
  EXPECT_EQ(result.TaskOf("default/a").cls, result.TaskOf("default/c").cls);
}

TEST(PodSpec, ImagesAreNormalisedAndCounted) {
  const ReadResult result = WithSpec(
      "containers: [{image: app}, {image: \"reg.io:5000/team/app\"}, {image: \"a@sha256:12\"}, "
      "{}], "
      "initContainers: [{image: \"setup:v1\"}], volumes: [{name: v, image: {reference: data}}]");
  const PodSpec& spec = result.SpecOf("default/p");
  std::vector<std::string> images;
  for (const StrId image : spec.images) images.push_back(result.Text(image));
  const std::vector<std::string> expected = {
      "setup:v1", "app:latest", "reg.io:5000/team/app:latest", "a@sha256:12", "data:latest"};
  EXPECT_EQ(images, expected);
  EXPECT_EQ(spec.container_count, 5);
}

TEST(PodSpec, HostPortsOfContainersAndSidecars) {
  const ReadResult result = WithSpec(
      "hostNetwork: true, containers: [{ports: [{containerPort: 80}, {hostPort: 8080, "
      "containerPort: 80, protocol: UDP, hostIP: 10.0.0.1}, {hostPort: 9090, hostIP: 0.0.0.0}]}], "
      "initContainers: [{ports: [{hostPort: 1}]}, {ports: [{hostPort: 2}], restartPolicy: "
      "Always}]");
  const std::vector<HostPort>& ports = result.SpecOf("default/p").host_ports;
  ASSERT_EQ(ports.size(), 3u);
  EXPECT_EQ(ports[0].port, 2);
  EXPECT_EQ(ports[1].port, 8080);
  EXPECT_EQ(ports[1].protocol, Protocol::kUdp);
  EXPECT_EQ(result.Text(ports[1].host_ip), "10.0.0.1");
  EXPECT_EQ(ports[2].host_ip, kEmptyStr);
}

TEST(PodSpec, HostNetworkPortsAreFilledInForPodsThatPassedNoApiServer) {
  const ReadResult result = ReadClean(
      Frame() + Object("v1", "Pod", "p", "annotations: {scheduling.k8s.io/group-name: pg}",
                       "spec: {schedulerName: volcano, hostNetwork: true, "
                       "containers: [{ports: [{containerPort: 80}]}]}"));
  ASSERT_EQ(result.SpecOf("default/p").host_ports.size(), 1u);
  EXPECT_EQ(result.SpecOf("default/p").host_ports[0].port, 80);
}

TEST(PodSpec, NodeAffinityTermsAndTheirOperators) {
  const ReadResult result = WithSpec(
      "nodeSelector: {disk: ssd}, affinity: {nodeAffinity: {"
      "requiredDuringSchedulingIgnoredDuringExecution: {nodeSelectorTerms: [{}, {matchExpressions: "
      "[{key: a, operator: In, values: [z, x, z]}, {key: b, operator: Gt, values: [\"+5\"]}, "
      "{key: c, operator: DoesNotExist}], matchFields: "
      "[{key: metadata.name, operator: In, values: [n1]}]}]}, "
      "preferredDuringSchedulingIgnoredDuringExecution: [{weight: 7, preference: "
      "{matchExpressions: [{key: a, operator: Exists}]}}]}}");
  const PodSpec& spec = result.SpecOf("default/p");
  EXPECT_EQ(spec.node_selector.size(), 1u);
  EXPECT_TRUE(spec.has_required_node_affinity);
  ASSERT_EQ(spec.required_node_terms.size(), 2u);
  EXPECT_TRUE(spec.required_node_terms[0].expressions.empty());
  const NodeSelectorTerm& term = spec.required_node_terms[1];
  ASSERT_EQ(term.expressions.size(), 3u);
  EXPECT_EQ(term.name_fields.size(), 1u);
  for (const SelectorRequirement& r : term.expressions) {
    if (result.Text(r.key) == "a") {
      EXPECT_EQ(r.values.size(), 2u);
    }
    if (result.Text(r.key) == "b") {
      EXPECT_EQ(r.op, SelectorOp::kGreater);
      EXPECT_EQ(r.number, 5);
    }
  }
  ASSERT_EQ(spec.preferred_node_terms.size(), 1u);
  EXPECT_EQ(spec.preferred_node_terms[0].weight, 7);
}

TEST(PodSpec, TermsThatCannotBeEvaluatedMatchNothing) {
  const ReadResult result = ReadText(
      Frame() +
      Pod("p",
          "affinity: {nodeAffinity: {requiredDuringSchedulingIgnoredDuringExecution: "
          "{nodeSelectorTerms: [{matchExpressions: [{key: a, operator: Gt, values: [x]}]}]}, "
          "preferredDuringSchedulingIgnoredDuringExecution: [{weight: 1, preference: "
          "{matchExpressions: [{key: a, operator: Lt, values: [z]}]}}]}}"));
  EXPECT_FALSE(result.diagnostics.HasErrors());
  EXPECT_EQ(result.diagnostics.items().size(), 2u);
  EXPECT_TRUE(result.SpecOf("default/p").has_required_node_affinity);
  EXPECT_TRUE(result.SpecOf("default/p").required_node_terms.empty());
  EXPECT_TRUE(result.SpecOf("default/p").preferred_node_terms.empty());
  EXPECT_TRUE(result.SpecOf("default/p").preferred_node_terms_broken);
}

TEST(PodSpec, WrongSelectorsAreErrorsWithTheirPlace) {
  const ReadResult result = ReadText(
      Frame() +
      Pod("p",
          "affinity: {nodeAffinity: {requiredDuringSchedulingIgnoredDuringExecution: "
          "{nodeSelectorTerms: [{matchExpressions: [{key: a, operator: Inn, values: [x]}, "
          "{key: a, operator: In}, {key: a, operator: Exists, values: [x]}, {operator: In}, "
          "{key: a, operator: Gt}], matchFields: [{key: spec.x, operator: In, values: [a, "
          "b]}]}]}}}"));
  const std::string at =
      "Pod default/p: spec.affinity.nodeAffinity.requiredDuringSchedulingIgnoredDuringExecution."
      "nodeSelectorTerms[0].";
  const std::string messages = result.Messages();
  for (const std::string& part :
       {at + "matchExpressions[0].operator: expected one of In, NotIn, Exists, DoesNotExist, Gt, "
             "Lt, got \"Inn\"",
        at + "matchExpressions[1]: the operators In and NotIn need values",
        at + "matchExpressions[2]: the operators Exists and DoesNotExist take no values",
        at + "matchExpressions[3]: expected a key and an operator",
        at + "matchExpressions[4]: the operators Gt and Lt need exactly one value",
        at + "matchFields[0]: expected the field metadata.name, got \"spec.x\"",
        at + "matchFields[0]: a field is compared with exactly one value"})
    EXPECT_NE(messages.find(part), std::string::npos) << part << "\nin\n" << messages;
}

std::string Affinity(std::string_view term) {
  return fmt::format(
      "affinity: {{podAffinity: {{requiredDuringSchedulingIgnoredDuringExecution: "
      "[{{topologyKey: zone, {}}}]}}}}",
      term);
}

TEST(PodSpec, AffinityTermsReachTheirOwnNamespaceUnlessTheySayOtherwise) {
  const std::string frame = testing::PodGroup("pg", "", "namespace: team");
  const auto in_team = [&](std::string_view term) {
    const ReadResult result = ReadClean(testing::Queue("default") + frame +
                                        Pod("p", Affinity(term), "",
                                            "namespace: "
                                            "team"));
    const PodAffinityTerm& decoded = result.SpecOf("team/p").required_affinity.at(0);
    std::vector<std::string> names;
    for (const StrId name : decoded.namespaces) names.push_back(result.Text(name));
    std::sort(names.begin(), names.end());
    const LabelSelector& selector = decoded.namespace_selector;
    return fmt::format("{}{}", fmt::join(names, "+"),
                       !selector.given ? "" : fmt::format("|{}", selector.requirements.size()));
  };
  EXPECT_EQ(in_team("labelSelector: {}"), "team");
  EXPECT_EQ(in_team("labelSelector: {}, namespaces: []"), "team");
  EXPECT_EQ(in_team("labelSelector: {}, namespaces: [b, a, b]"), "a+b");
  EXPECT_EQ(in_team("labelSelector: {}, namespaceSelector: {}"), "|0");
  EXPECT_EQ(in_team("labelSelector: {}, namespaceSelector: null"), "team");
  EXPECT_EQ(in_team("labelSelector: {}, namespaces: [a], namespaceSelector: {matchLabels: {x: z}}"),
            "a|1");
}

TEST(PodSpec, MatchLabelKeysOfAffinityAreTheApiServersBusiness) {
  const std::string spec = Affinity(
      "labelSelector: {matchLabels: {app: web}}, matchLabelKeys: [rev, none], "
      "mismatchLabelKeys: [tenant]");
  constexpr std::string_view kLabels = "labels: {rev: r1, tenant: t1}";
  const ReadResult admitted = WithSpec(spec, "", kLabels);
  EXPECT_EQ(admitted.SpecOf("default/p").required_affinity[0].selector.requirements.size(), 1u);
  const ReadResult plain = ReadClean(
      Frame() +
      Object("v1", "Pod", "p",
             fmt::format("annotations: {{scheduling.k8s.io/group-name: pg}}, {}", kLabels),
             fmt::format("spec: {{schedulerName: volcano, {}}}", spec)));
  const LabelSelector& selector = plain.SpecOf("default/p").required_affinity[0].selector;
  ASSERT_EQ(selector.requirements.size(), 3u);
  for (const SelectorRequirement& r : selector.requirements) {
    const std::string key = plain.Text(r.key);
    EXPECT_EQ(r.op, key == "tenant" ? SelectorOp::kNotIn : SelectorOp::kIn) << key;
    EXPECT_EQ(plain.Text(r.values.at(0)), key == "tenant" ? "t1" : key == "rev" ? "r1" : "web");
  }
}

TEST(PodSpec, SpreadConstraintsTakeThePodsOwnLabels) {
  const auto pod = [](std::string_view name, std::string_view rev) {
    return Pod(name,
               "topologySpreadConstraints: [{maxSkew: 2, topologyKey: zone, whenUnsatisfiable: "
               "ScheduleAnyway, labelSelector: {matchLabels: {app: web}}, matchLabelKeys: [rev, "
               "lost], "
               "minDomains: 3, nodeAffinityPolicy: Ignore, nodeTaintsPolicy: Honor}, "
               "{maxSkew: 1, topologyKey: host, whenUnsatisfiable: DoNotSchedule, "
               "matchLabelKeys: [rev]}]",
               "", fmt::format("labels: {{rev: {}}}", rev));
  };
  const ReadResult result = ReadClean(Frame() + pod("a", "r1") + pod("b", "r2") + pod("c", "r1"));
  const SpreadConstraint& soft = result.SpecOf("default/a").spread.at(0);
  EXPECT_EQ(soft.max_skew, 2);
  EXPECT_FALSE(soft.hard);
  EXPECT_EQ(soft.min_domains, 3);
  EXPECT_FALSE(soft.honor_node_affinity);
  EXPECT_TRUE(soft.honor_node_taints);
  EXPECT_EQ(soft.selector.requirements.size(), 2u);
  const SpreadConstraint& hard = result.SpecOf("default/a").spread.at(1);
  EXPECT_TRUE(hard.hard);
  EXPECT_TRUE(hard.honor_node_affinity);
  EXPECT_FALSE(hard.honor_node_taints);
  EXPECT_FALSE(hard.selector.given);  // nothing was selected, and still is not
  EXPECT_NE(result.TaskOf("default/a").spec, result.TaskOf("default/b").spec);
  EXPECT_EQ(result.TaskOf("default/a").spec, result.TaskOf("default/c").spec);
}

TEST(PodSpec, TolerationsAndTheirWords) {
  const ReadResult result = WithSpec(
      "tolerations: [{operator: Exists}, {key: a, value: b, effect: NoExecute, "
      "tolerationSeconds: 5}, {key: c, operator: Gt, value: \"1\", effect: \"\"}]");
  const std::vector<Toleration>& all = result.SpecOf("default/p").tolerations;
  ASSERT_EQ(all.size(), 3u);
  EXPECT_EQ(all[0].op, TolerationOp::kExists);
  EXPECT_EQ(all[0].key, kEmptyStr);
  EXPECT_EQ(all[1].op, TolerationOp::kEqual);
  EXPECT_EQ(all[1].effect, TaintEffect::kNoExecute);
  EXPECT_EQ(all[2].op, TolerationOp::kGreater);
  EXPECT_FALSE(all[2].effect.has_value());
}

TEST(PodSpec, ClaimsOfVolumes) {
  const ReadResult result = WithSpec(
      "volumes: [{name: s, secret: {}}, {name: v, persistentVolumeClaim: {claimName: data}}, "
      "{name: e, ephemeral: {volumeClaimTemplate: {}}}]");
  const std::vector<ClaimVolume>& claims = result.SpecOf("default/p").claims;
  ASSERT_EQ(claims.size(), 2u);
  EXPECT_EQ(result.Text(claims[0].claim), "data");
  EXPECT_FALSE(claims[0].ephemeral);
  EXPECT_EQ(result.Text(claims[1].claim), "p-e");
  EXPECT_TRUE(claims[1].ephemeral);
}

TEST(PodSpec, AnEphemeralClaimBearsEachPodsOwnName) {
  constexpr std::string_view kSpec = "volumes: [{name: e, ephemeral: {}}]";
  const ReadResult result = ReadClean(Frame() + Pod("p", kSpec) + Pod("q", kSpec));
  EXPECT_EQ(result.Text(result.SpecOf("default/q").claims.at(0).claim), "q-e");
}

TEST(PodSpec, ProblemsAreShownWhereTheyStandInThePod) {
  const ReadResult result = ReadText(
      "apiVersion: v1\nkind: Pod\nmetadata:\n  name: web-0\nspec:\n  containers:\n"
      "  - name: a\n    env: [{name: x}]\n    resources:\n      limits: {cpu: some}\n"
      "      requests:\n        memory: -1\n    ports:\n    - hostPort: 70000\n"
      "  volumes:\n  - name: t\n    secret: {}\n  - name: v\n    persistentVolumeClaim: {}\n");
  EXPECT_EQ(result.Messages(),
            "test.yaml:10:21: error: Pod default/web-0: spec.containers[0].resources.limits.cpu: "
            "\"some\" is not a quantity; write 500m, 2, 64Gi or 1e3\n"
            "test.yaml:12:17: error: Pod default/web-0: "
            "spec.containers[0].resources.requests.memory"
            ": expected an amount that is not negative, got -1\n"
            "test.yaml:14:17: error: Pod default/web-0: spec.containers[0].ports[0].hostPort: "
            "expected a whole number from 0 to 65535, got 70000\n"
            "test.yaml:19:28: error: Pod default/web-0: spec.volumes[1].persistentVolumeClaim: "
            "expected a claimName\n");
}

}  // namespace
}  // namespace krafla
