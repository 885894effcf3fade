#include "manifest/decode_storage.h"

#include <gtest/gtest.h>

#include "manifest/read_text_test.h"

namespace krafla {
namespace {

using testing::Object;
using testing::ReadClean;
using testing::ReadResult;
using testing::ReadText;

TEST(DecodeStorage, Claims) {
  const ReadResult result = ReadClean(
      Object("v1", "PersistentVolumeClaim", "data",
             "namespace: team, uid: u1, annotations: {pv.kubernetes.io/bind-completed: \"yes\", "
             "volume.kubernetes.io/selected-node: n1}, ownerReferences: [{kind: ReplicaSet, "
             "uid: r, controller: true}, {kind: Pod, uid: p1, controller: true}]",
             "spec: {volumeName: pv1, storageClassName: fast, accessModes: [ReadWriteOnce, "
             "ReadOnlyMany], volumeMode: Block, selector: {matchLabels: {a: b}}, "
             "volumeAttributesClassName: gold, resources: {requests: {storage: 10Gi}}}, "
             "status: {phase: Lost}") +
      Object("v1", "PersistentVolumeClaim", "bare", "deletionTimestamp: \"2026-03-10T08:00:00Z\"",
             "") +
      Object("v1", "PersistentVolumeClaim", "old",
             "annotations: {volume.beta.kubernetes.io/storage-class: slow}",
             "spec: {storageClassName: fast}"));
  ASSERT_EQ(result.cluster.volumes.claims.size(), 3u);
  const PersistentVolumeClaim& bare = result.cluster.volumes.claims[0];
  EXPECT_FALSE(bare.storage_class.has_value());
  EXPECT_TRUE(bare.deleting);
  EXPECT_FALSE(bare.fully_bound);
  EXPECT_FALSE(bare.selector.given);
  EXPECT_EQ(bare.mode, VolumeMode::kFilesystem);
  EXPECT_EQ(result.Text(*result.cluster.volumes.claims[1].storage_class), "slow");
  const PersistentVolumeClaim& claim = result.cluster.volumes.claims[2];
  EXPECT_EQ(result.Text(claim.ns), "team");
  EXPECT_EQ(result.Text(claim.uid), "u1");
  EXPECT_EQ(result.Text(claim.volume_name), "pv1");
  EXPECT_TRUE(claim.fully_bound);
  EXPECT_EQ(result.Text(*claim.storage_class), "fast");
  EXPECT_EQ(result.Text(claim.selected_node), "n1");
  EXPECT_EQ(claim.request_bytes, int64_t{10} << 30);
  EXPECT_EQ(claim.access_modes, 3);
  EXPECT_EQ(claim.mode, VolumeMode::kBlock);
  EXPECT_EQ(claim.selector.requirements.size(), 1u);
  EXPECT_EQ(result.Text(claim.owner_pod_uid), "p1");
  EXPECT_EQ(result.Text(claim.volume_attributes_class), "gold");
  EXPECT_TRUE(claim.lost);
}

TEST(DecodeStorage, Volumes) {
  const ReadResult result = ReadClean(
      Object("v1", "PersistentVolume", "pv2", "labels: {a: b}",
             "spec: {storageClassName: fast, capacity: {storage: 5Gi}, accessModes: "
             "[ReadWriteMany, ReadWriteOncePod], claimRef: {namespace: team, name: data, uid: c1}, "
             "csi: {driver: d.io, volumeHandle: h1}, volumeAttributesClassName: gold, "
             "nodeAffinity: "
             "{required: {nodeSelectorTerms: [{matchExpressions: [{key: z, operator: In, values: "
             "[a]}]}]}}}, status: {phase: Bound}") +
      Object("v1", "PersistentVolume", "pv1", "", "spec: {nodeAffinity: {}}"));
  ASSERT_EQ(result.cluster.volumes.volumes.size(), 2u);
  EXPECT_FALSE(result.cluster.volumes.volumes[0].has_node_affinity);
  const PersistentVolume& volume = result.cluster.volumes.volumes[1];
  EXPECT_EQ(result.Text(volume.name), "pv2");
  EXPECT_EQ(volume.labels.size(), 1u);
  EXPECT_EQ(result.Text(volume.storage_class), "fast");
  EXPECT_EQ(volume.capacity_bytes, int64_t{5} << 30);
  EXPECT_EQ(volume.access_modes, 12);
  EXPECT_TRUE(volume.has_node_affinity);
  EXPECT_EQ(volume.node_terms.size(), 1u);
  EXPECT_EQ(result.Text(volume.claim_ns), "team");
  EXPECT_EQ(result.Text(volume.claim_name), "data");
  EXPECT_EQ(result.Text(volume.claim_uid), "c1");
  EXPECT_EQ(result.Text(volume.csi_driver), "d.io");
  EXPECT_EQ(result.Text(volume.csi_handle), "h1");
  EXPECT_EQ(result.Text(volume.phase), "Bound");
}

TEST(DecodeStorage, ClassesAndCsiNodes) {
  const ReadResult result = ReadClean(
      Object("storage.k8s.io/v1", "StorageClass", "fast", "",
             "provisioner: d.io, volumeBindingMode: WaitForFirstConsumer, parameters: "
             "{csi.storage.k8s.io/csi-driver-name: real.io, type: ssd}, allowedTopologies: "
             "[{matchLabelExpressions: [{key: zone, values: [b, a]}]}, {}]") +
      Object("storage.k8s.io/v1", "StorageClass", "bare", "", "provisioner: x") +
      Object("storage.k8s.io/v1", "CSINode", "n1", "",
             "spec: {drivers: [{name: d.io, nodeID: i, allocatable: {count: 3}, topologyKeys: "
             "[zone]}, {name: e.io}]}"));
  const Volumes& volumes = result.cluster.volumes;
  EXPECT_FALSE(volumes.classes.at(0).wait_for_first_consumer);
  EXPECT_FALSE(volumes.classes.at(0).has_allowed_topologies);
  const StorageClass& fast = volumes.classes.at(1);
  EXPECT_TRUE(fast.wait_for_first_consumer);
  EXPECT_EQ(result.Text(fast.provisioner), "d.io");
  EXPECT_EQ(result.Text(fast.csi_driver_parameter), "real.io");
  EXPECT_TRUE(fast.has_allowed_topologies);
  ASSERT_EQ(fast.allowed_topologies.size(), 2u);
  EXPECT_EQ(fast.allowed_topologies[0].expressions.at(0).values.size(), 2u);
  EXPECT_TRUE(fast.allowed_topologies[1].expressions.empty());
  const CsiNode& node = volumes.csi_nodes.at(0);
  EXPECT_EQ(result.Text(node.node), "n1");
  EXPECT_EQ(node.drivers.at(0).limit, 3);
  EXPECT_EQ(result.Text(node.drivers.at(0).topology_keys.at(0)), "zone");
  EXPECT_FALSE(node.drivers.at(1).limit.has_value());
}

TEST(DecodeStorage, UnknownWordsAreErrors) {
  for (const std::string& text :
       {Object("v1", "PersistentVolumeClaim", "c", "", "spec: {accessModes: [Sometimes]}"),
        Object("v1", "PersistentVolume", "v", "", "spec: {volumeMode: Tape}"),
        Object("storage.k8s.io/v1", "StorageClass", "s", "", "volumeBindingMode: Later"),
        Object("storage.k8s.io/v1", "CSINode", "x1", "",
               "spec: {drivers: [{name: d, allocatable: {count: -1}}]}")})
    EXPECT_TRUE(ReadText(text).diagnostics.HasErrors()) << text;
}

// Pods with one claim each; the claim's driver is d.io by its class.
std::string CsiFrame(std::string_view claims) {
  return testing::Frame() + std::string(claims) +
         Object("storage.k8s.io/v1", "StorageClass", "fast", "", "provisioner: d.io") +
         testing::Pod("p", "volumes: [{name: v, persistentVolumeClaim: {claimName: data}}]");
}

constexpr std::string_view kKind = "attachable-volumes-csi-d.io";

TEST(CsiClaims, AClaimOfADeclaredDriverIsOneOfItsResource) {
  const ReadResult result = ReadClean(
      CsiFrame(
          Object("v1", "PersistentVolumeClaim", "data", "", "spec: {storageClassName: fast}")) +
      Object("storage.k8s.io/v1", "CSINode", "n1", "",
             "spec: {drivers: [{name: d.io, allocatable: {count: 3}}]}") +
      Object("storage.k8s.io/v1", "CSINode", "n2", "", "spec: {drivers: [{name: d.io}]}"));
  EXPECT_EQ(result.Amount(result.RequestOf("default/p"), kKind), 1);
  EXPECT_FALSE(result.TaskOf("default/p").best_effort);
  EXPECT_EQ(result.Amount(result.cluster.allocatable[result.FindNode("n1")], kKind), 3);
  EXPECT_EQ(result.Amount(result.cluster.idle[result.FindNode("n2")], kKind), 2147483647);
}

TEST(CsiClaims, AnUndeclaredDriverCountsOnlyWhenAskedFor) {
  const std::string text =
      CsiFrame(Object("v1", "PersistentVolumeClaim", "data", "", "spec: {storageClassName: fast}"));
  EXPECT_EQ(ReadClean(text).cluster.kinds.Find(kKind), -1);
  EXPECT_TRUE(ReadClean(text).TaskOf("default/p").best_effort);
  ReadClusterOptions options;
  options.count_undeclared_csi_drivers = true;
  const ReadResult counted = ReadClean(text, options);
  EXPECT_EQ(counted.Amount(counted.RequestOf("default/p"), kKind), 1);
  const Resource& n1 = counted.cluster.allocatable[counted.FindNode("n1")];
  EXPECT_FALSE(n1.Has(counted.cluster.kinds.Find(kKind)));
  options.ignored_provisioners = {"d.io"};
  EXPECT_EQ(ReadClean(text, options).cluster.kinds.Find(kKind), -1);
}

TEST(CsiClaims, TheVolumeKnowsBetterThanTheClass) {
  const std::string claim = Object("v1", "PersistentVolumeClaim", "data", "",
                                   "spec: {storageClassName: fast, volumeName: pv1}");
  ReadClusterOptions options;
  options.count_undeclared_csi_drivers = true;
  const ReadResult other = ReadClean(
      CsiFrame(claim + Object("v1", "PersistentVolume", "pv1", "", "spec: {csi: {driver: a/b}}")),
      options);
  EXPECT_EQ(other.Amount(other.RequestOf("default/p"), "attachable-volumes-csi-a-b"), 1);
  const ReadResult local = ReadClean(
      CsiFrame(claim + Object("v1", "PersistentVolume", "pv1", "", "spec: {local: {}}")), options);
  EXPECT_TRUE(local.TaskOf("default/p").best_effort);
  const ReadResult missing = ReadClean(CsiFrame(claim), options);
  EXPECT_EQ(missing.Amount(missing.RequestOf("default/p"), kKind), 1);
}

TEST(CsiClaims, APodWithAMissingClaimIsAddedAndCountsNone) {
  ReadClusterOptions options;
  options.count_undeclared_csi_drivers = true;
  const ReadResult result = ReadClean(
      testing::Frame() +
          Object("storage.k8s.io/v1", "StorageClass", "fast", "", "provisioner: d.io") +
          Object("v1", "PersistentVolumeClaim", "data", "", "spec: {storageClassName: fast}") +
          testing::Pod("p",
                       "volumes: [{name: v, persistentVolumeClaim: {claimName: data}}, "
                       "{name: w, persistentVolumeClaim: {claimName: lost}}]") +
          testing::Pod("q",
                       "volumes: [{name: v, persistentVolumeClaim: {claimName: data}}, "
                       "{name: w, persistentVolumeClaim: {claimName: data}}]"),
      options);
  EXPECT_EQ(result.Amount(result.RequestOf("default/p"), kKind), 0);
  EXPECT_EQ(result.Amount(result.RequestOf("default/q"), kKind), 2);
}

TEST(CsiClaims, AnEphemeralClaimMustBeThePods) {
  const auto count = [](std::string_view owner) {
    ReadClusterOptions options;
    options.count_undeclared_csi_drivers = true;
    const ReadResult result = ReadClean(
        testing::Frame() +
            Object("storage.k8s.io/v1", "StorageClass", "fast", "", "provisioner: d.io") +
            Object(
                "v1", "PersistentVolumeClaim", "p-v",
                fmt::format("ownerReferences: [{{kind: Pod, uid: {}, controller: true}}]", owner),
                "spec: {storageClassName: fast}") +
            testing::Pod("p", "volumes: [{name: v, ephemeral: {}}]"),
        options);
    return result.Amount(result.RequestOf("default/p"), kKind);
  };
  EXPECT_EQ(count("uid-p"), 1);
  EXPECT_EQ(count("uid-q"), 0);
}

}  // namespace
}  // namespace krafla
