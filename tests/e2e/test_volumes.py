"""Claims that wait for their first consumer. No controller of volumes runs here: the test plays the
provisioner and the controller that binds."""
import os
import subprocess
import unittest

from cluster_test_case import CONFIG, ClusterTestCase, eventually

MERGE = "application/merge-patch+json"
CLAIMS = "/api/v1/namespaces/team-a/persistentvolumeclaims"
VOLUMES = "/api/v1/persistentvolumes"
SELECTED = "volume.kubernetes.io/selected-node"


class Volumes(ClusterTestCase):
    def tearDown(self):
        super().tearDown()
        # What protects them is nobody's work here.
        for path in (CLAIMS, VOLUMES):
            for item in self.plane.get(path)["items"]:
                where = f"{path}/{item['metadata']['name']}"
                self.plane.request("PATCH", where, {"metadata": {"finalizers": None}}, MERGE)
                if self.plane.get(where):
                    self.plane.request("DELETE", where)

    def storage_class(self, name, provisioner):
        self.plane.create("/apis/storage.k8s.io/v1/storageclasses", {
            "apiVersion": "storage.k8s.io/v1", "kind": "StorageClass", "metadata": {"name": name},
            "provisioner": provisioner, "volumeBindingMode": "WaitForFirstConsumer"})

    def claim(self, name, storage_class):
        self.plane.create(CLAIMS, {
            "apiVersion": "v1", "kind": "PersistentVolumeClaim", "metadata": {"name": name},
            "spec": {"storageClassName": storage_class, "accessModes": ["ReadWriteOnce"],
                     "resources": {"requests": {"storage": "1Gi"}}}})

    def volume(self, name, node, storage_class, size="1Gi", claim=None):
        spec = {"storageClassName": storage_class, "capacity": {"storage": size},
                "accessModes": ["ReadWriteOnce"], "hostPath": {"path": "/tmp/none"},
                "nodeAffinity": {"required": {"nodeSelectorTerms": [{"matchExpressions": [
                    {"key": "host", "operator": "In", "values": [node]}]}]}}}
        if claim:
            spec["claimRef"] = {"apiVersion": "v1", "kind": "PersistentVolumeClaim",
                                "namespace": "team-a", "name": claim["metadata"]["name"],
                                "uid": claim["metadata"]["uid"]}
        self.plane.create(VOLUMES, {"apiVersion": "v1", "kind": "PersistentVolume",
                                    "metadata": {"name": name}, "spec": spec})
        self.plane.request("PATCH", f"{VOLUMES}/{name}/status",
                           {"status": {"phase": "Bound" if claim else "Available"}}, MERGE)

    def bind_claim(self, name, volume):
        """As the controller of volumes does it."""
        self.plane.request("PATCH", f"{CLAIMS}/{name}", {
            "metadata": {"annotations": {"pv.kubernetes.io/bind-completed": "yes",
                                         "pv.kubernetes.io/bound-by-controller": "yes"}},
            "spec": {"volumeName": volume}}, MERGE)
        self.plane.request("PATCH", f"{CLAIMS}/{name}/status",
                           {"status": {"phase": "Bound", "capacity": {"storage": "1Gi"},
                                       "accessModes": ["ReadWriteOnce"]}}, MERGE)

    def pod_with(self, name, claim, group=None):
        self.pod(name, group, volumes=[{"name": "v",
                                        "persistentVolumeClaim": {"claimName": claim}}])

    def selected(self, name):
        return self.plane.get(f"{CLAIMS}/{name}")["metadata"].get("annotations", {}).get(SELECTED)

    def test_a_volume_is_provisioned_where_the_pod_will_be(self):
        self.node("n1", labels={"host": "n1"})
        self.storage_class("made", "disk.example.com")
        self.claim("data", "made")
        self.scheduler()
        self.pod_with("p", "data")
        node = eventually("the claim is told the node", lambda: self.selected("data"))
        self.assertEqual(node, "n1")
        self.stays("not bound without its volume", lambda: not self.bound(), 1)
        self.volume("made-1", node, "made", claim=self.plane.get(f"{CLAIMS}/data"))
        self.bind_claim("data", "made-1")
        self.assert_all_is_well(1)

    def test_a_free_volume_is_reserved_and_bound_first(self):
        self.node("n1", labels={"host": "n1"})
        self.node("n2", labels={"host": "n2"})
        self.storage_class("local", "kubernetes.io/no-provisioner")
        self.volume("large", "n2", "local", size="10Gi")
        self.volume("small", "n2", "local", size="2Gi")
        self.claim("data", "local")
        self.scheduler()
        self.pod_with("p", "data")
        volume = eventually("the smaller one is reserved", lambda: (
            lambda v: v if v["spec"].get("claimRef") else None)(self.plane.get(f"{VOLUMES}/small")))
        self.assertEqual(volume["spec"]["claimRef"]["name"], "data")
        self.assertEqual(volume["spec"]["claimRef"]["uid"],
                         self.plane.get(f"{CLAIMS}/data")["metadata"]["uid"])
        self.assertEqual(
            volume["metadata"]["annotations"]["pv.kubernetes.io/bound-by-controller"], "yes")
        self.assertNotIn("claimRef", self.plane.get(f"{VOLUMES}/large")["spec"])
        self.stays("not bound without its volume", lambda: not self.bound(), 1)
        self.bind_claim("data", "small")
        self.assert_all_is_well(1)
        self.assertEqual(self.bound(), {"p": "n2"})

    def gang_with_claims(self, name, size, storage_class):
        self.group(name, size)
        for i in range(size):
            self.claim(f"{name}-{i}", storage_class)
            self.pod_with(f"{name}-{i}", f"{name}-{i}", group=name)

    def reserved(self):
        """Claims by the volume that is reserved for them."""
        return {v["metadata"]["name"]: v["spec"]["claimRef"]["name"]
                for v in self.plane.get(VOLUMES)["items"] if v["spec"].get("claimRef")}

    def bind_reserved(self, prefix):
        for volume, claim in self.reserved().items():
            if claim.startswith(prefix):
                self.bind_claim(claim, volume)

    def test_a_second_gang_does_not_get_the_volumes_of_the_first(self):
        self.storage_class("local", "kubernetes.io/no-provisioner")
        for i in range(3):
            self.node(f"n{i}", labels={"host": f"n{i}"})
            self.volume(f"v{i}", f"n{i}", "local")
        # So slow that the second gang comes between the first one's two writes: one of its volumes
        # is taken in the scheduler's mind alone.
        scheduler = self.scheduler(flags=("--kube-api-qps=1", "--kube-api-burst=1",
                                          f"--record={self.record_folder()}"))
        self.gang_with_claims("a", 2, "local")
        eventually("the first volume is reserved", lambda: len(self.reserved()) == 1, every_s=0.01)
        self.gang_with_claims("b", 2, "local")
        eventually("both are", lambda: len(self.reserved()) == 2)
        self.stays("the second gang waits as a whole", lambda: sorted(
            self.reserved().values()) == ["a-0", "a-1"] and not self.bound(), 3)
        self.bind_reserved("a-")
        self.wait_bound(2, prefix="a-")
        self.stays("nobody is half bound", lambda: len(self.bound()) == 2
                   and len(self.reserved()) == 2, 2)
        for i in range(2):
            self.assertFalse([m for r, m in self.events("Pod", f"b-{i}") if "binding" in m])
        # With one volume more it has its turn.
        self.node("n3", labels={"host": "n3"})
        self.volume("v3", "n3", "local")
        eventually("all are reserved", lambda: sorted(
            self.reserved().values()) == ["a-0", "a-1", "b-0", "b-1"])
        self.bind_reserved("b-")
        self.assert_all_is_well(4)
        # What was assumed of volumes is in the record: the same decisions follow from it.
        scheduler.stop()
        self.assertIn("bind team-a/b-1 to ", self.replayed())

    def record_folder(self):
        return os.path.join(self.plane.folder, "record-" + self.id().rsplit(".", 1)[1])

    def krafla(self, *arguments):
        done = subprocess.run([os.environ["KRAFLA"], *arguments], text=True,
                              stdout=subprocess.PIPE, stderr=subprocess.STDOUT)
        return done.returncode, done.stdout

    def replayed(self):
        code, text = self.krafla("run", "--replay", self.record_folder())
        self.assertEqual(code, 0, text)
        self.assertIn("as recorded", text)
        return text

    def test_a_reloaded_configuration_says_whether_a_job_knows_of_a_pod_without_its_claim(self):
        self.node("n1")
        scheduler = self.scheduler(flags=(f"--record={self.record_folder()}",))
        self.pod_with("p", "none")

        def explained():
            return self.krafla("explain", "pod", "team-a/p", "--server",
                               f"http://127.0.0.1:{scheduler.metrics_port}")[1]
        eventually("it waits for its claim", lambda: 'claim "none" not found' in explained())
        scheduler.write_config(CONFIG + "compatibility: {missing-claims: false}\n")
        eventually("nobody knows of it", lambda: "team-a/p is left out" in explained())
        scheduler.write_config(CONFIG)
        eventually("it is back", lambda: 'claim "none" not found' in explained())
        self.assertEqual(scheduler.stop(), 0)
        self.replayed()

    def test_a_node_deleted_while_volumes_are_waited_for(self):
        self.node("n1", labels={"host": "n1"})
        self.storage_class("local", "kubernetes.io/no-provisioner")
        self.volume("v", "n1", "local")
        self.claim("data", "local")
        self.scheduler()
        self.pod_with("p", "data")
        eventually("the volume is reserved", lambda: self.reserved() == {"v": "data"})
        self.plane.request("DELETE", "/api/v1/nodes/n1")
        self.bind_claim("data", "v")
        eventually("it is told", lambda: any(
            r == "FailedScheduling" and "binding volumes on n1 failed: the node is gone" in m
            for r, m in self.events("Pod", "p")))
        self.assertEqual(self.bound(), {})
        self.assertEqual(self.successful("create", "binding"), {})
        # The volume is the pod's still: when its node is back it goes there.
        self.node("n1", labels={"host": "n1"})
        self.assert_all_is_well(1)

    def test_a_restart_while_volumes_are_waited_for(self):
        self.node("n1", labels={"host": "n1"})
        self.storage_class("made", "disk.example.com")
        self.claim("data", "made")
        scheduler = self.scheduler()
        self.pod_with("p", "data")
        eventually("the claim is told the node", lambda: self.selected("data"))
        self.assertEqual(scheduler.stop(), 0, "nobody waits for volumes when told to stop")
        self.volume("made-1", "n1", "made", claim=self.plane.get(f"{CLAIMS}/data"))
        scheduler.start()
        scheduler.wait_until_ready()
        self.stays("not bound without its claim", lambda: not self.bound(), 1)
        self.bind_claim("data", "made-1")
        self.assert_all_is_well(1)

    def test_patience_with_a_provisioner_ends_and_the_pod_is_told(self):
        self.node("n1", labels={"host": "n1"})
        self.storage_class("made", "disk.example.com")
        self.claim("data", "made")
        self.scheduler(CONFIG.replace("- name: predicates", "- name: predicates\n    arguments:\n"
                                      "      volumebinding.bindTimeoutSeconds: 2"))
        self.pod_with("p", "data")
        eventually("it is told", lambda: any(
            r == "FailedScheduling" and "claim data is still not bound after 2 s" in m
            for r, m in self.events("Pod", "p")))
        self.assertEqual(self.bound(), {})
        # It is not given up.
        self.volume("made-1", "n1", "made", claim=self.plane.get(f"{CLAIMS}/data"))
        self.bind_claim("data", "made-1")
        self.assert_all_is_well(1)


if __name__ == "__main__":
    unittest.main()
