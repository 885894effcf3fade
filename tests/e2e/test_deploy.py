"""The manifests of deploy/ are taken by a real API server, and the definitions take and refuse what
they should."""
import os
import unittest
import urllib.error

from cluster_test_case import GROUPS, ROOT, ClusterTestCase

API = "scheduling.volcano.sh/v1beta1"


class Deploy(ClusterTestCase):
    def test_all_manifests_are_accepted(self):
        deploy = os.path.join(ROOT, "deploy")
        for name in ("krafla.yaml", "flow-schema.yaml", "network-policy.yaml"):
            self.plane.kubectl("apply", "--dry-run=server", "-f", os.path.join(deploy, name))
        # A second time nothing changes.
        text = self.plane.kubectl("apply", "-f", os.path.join(deploy, "crds"),
                                  "-f", os.path.join(deploy, "rbac.yaml"))
        for line in text.splitlines():
            self.assertTrue(line.endswith("unchanged"), line)

    def test_the_role_is_needed_for_each_thing_and_allows_no_more(self):
        def may(verb, resource, *more):
            if resource.startswith(("pods/", "queues/")):
                resource, subresource = resource.split("/")
                more = (*more, f"--subresource={subresource}")
            answer = self.plane.kubectl("auth", "can-i", verb, resource, "--as=krafla", *more,
                                        check=False)
            return answer.strip() == "yes"
        for verb, resource in (("create", "pods/binding"), ("delete", "pods"),
                               ("patch", "pods/status"), ("patch", "podgroups"),
                               ("patch", "queues/status"), ("create", "events"),
                               ("patch", "persistentvolumes"),
                               ("patch", "persistentvolumeclaims"),
                               ("create", "tokenreviews.authentication.k8s.io"),
                               ("create", "subjectaccessreviews.authorization.k8s.io")):
            self.assertTrue(may(verb, resource, "-A"), (verb, resource))
        for verb, resource in (("get", "secrets"), ("create", "pods"), ("update", "nodes"),
                               ("delete", "podgroups"), ("delete", "nodes"), ("patch", "pods"),
                               ("list", "configmaps"), ("impersonate", "users"),
                               ("delete", "persistentvolumes"),
                               ("create", "persistentvolumeclaims")):
            self.assertFalse(may(verb, resource, "-A"), (verb, resource))
        self.assertTrue(may("patch", "leases/volcano", "-n", "volcano-system"))
        self.assertFalse(may("patch", "leases/other", "-n", "volcano-system"))

    def refused(self, path, body):
        try:
            self.plane.create(path, body)
        except urllib.error.HTTPError as error:
            self.assertEqual(error.code, 422)
            return
        self.fail(f"accepted: {body}")

    def test_pod_groups(self):
        path = f"{GROUPS}/namespaces/team-a/podgroups"

        def group(name, spec, status=None):
            return {"apiVersion": API, "kind": "PodGroup", "metadata": {"name": name},
                    "spec": spec, "status": status or {}}
        made = self.plane.create(path, group("full", {
            "minMember": 3, "minTaskMember": {"ps": 1, "worker": 2}, "priorityClassName": "high",
            "minResources": {"cpu": "3", "memory": "1.5Gi", "nvidia.com/gpu": 2},
            "networkTopology": {"highestTierAllowed": 1},
            "subGroupPolicy": [{"name": "w", "labelSelector": {"matchLabels": {"a": "b"}}}]}))
        self.assertEqual(made["spec"]["queue"], "default")
        self.assertEqual(made["spec"]["networkTopology"]["mode"], "hard")
        self.assertEqual(made["spec"]["subGroupPolicy"][0]["subGroupSize"], 1)
        self.refused(path, group("a", {"minMember": -1}))
        self.refused(path, group("b", {"queue": "Not A Name"}))
        self.refused(path, group("c", {"minResources": {"cpu": "much"}}))
        self.refused(path, group("d", {"networkTopology": {"mode": "soggy"}}))
        self.refused(path, group("e", {}, {"phase": "Dancing"}))

    def test_queues(self):
        path = f"{GROUPS}/queues"

        def queue(name, spec):
            return {"apiVersion": API, "kind": "Queue", "metadata": {"name": name}, "spec": spec}
        made = self.plane.create(path, queue("full", {
            "capability": {"cpu": "10", "memory": "1Ti"}, "deserved": {"cpu": 5},
            "guarantee": {"resource": {"cpu": "1"}}, "parent": "root", "priority": 3,
            "reclaimable": False, "dequeueStrategy": "fifo",
            "affinity": {"nodeGroupAffinity": {
                "requiredDuringSchedulingIgnoredDuringExecution": ["g"]}},
            "extendClusters": [{"name": "x", "weight": 1, "capacity": {"cpu": "1"}}]}))
        self.assertEqual(made["spec"]["weight"], 1)
        self.refused(path, queue("a", {"weight": 0}))
        self.refused(path, queue("b", {"weight": 65536}))
        self.refused(path, queue("c", {"dequeueStrategy": "lifo"}))
        self.refused(path, queue("d", {"priority": -1}))


if __name__ == "__main__":
    unittest.main()
