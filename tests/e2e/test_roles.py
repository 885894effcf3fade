"""Roles other than ours: Volcano's own chart allows `update` where we patch; a role may lack what we
need; and only the scheduler writes its annotations where the admission policy is installed."""
import itertools
import os
import time
import unittest
import urllib.error

from cluster_test_case import CONFIG, GROUPS, ROOT, ClusterTestCase, eventually

# What the scheduler's role of Volcano's chart allows of the things we ask for.
VOLCANOS_RULES = [
    ("", "pods", "get list watch patch delete"),
    ("", "pods/status", "update"),
    ("", "pods/binding", "create"),
    ("", "persistentvolumeclaims persistentvolumes", "list watch update"),
    ("", "nodes", "get list watch update patch"),
    ("", "namespaces", "get list watch"),
    ("", "events", "create list watch update patch"),
    ("storage.k8s.io", "storageclasses csinodes", "list watch"),
    ("policy", "poddisruptionbudgets", "list watch"),
    ("scheduling.k8s.io", "priorityclasses", "get list watch"),
    ("scheduling.volcano.sh", "queues", "get list watch create delete update"),
    ("scheduling.volcano.sh", "queues/status", "update"),
    ("scheduling.volcano.sh", "podgroups", "list watch update"),
    ("coordination.k8s.io", "leases", "get create update watch"),
]


class Roles(ClusterTestCase):
    def user(self, name, rules):
        """A user with exactly these rules; returns its kubeconfig."""
        self.plane.apply(
            {"apiVersion": "rbac.authorization.k8s.io/v1", "kind": "ClusterRole",
             "metadata": {"name": name},
             "rules": [{"apiGroups": [group], "resources": resources.split(),
                        "verbs": verbs.split()} for group, resources, verbs in rules]},
            {"apiVersion": "rbac.authorization.k8s.io/v1", "kind": "ClusterRoleBinding",
             "metadata": {"name": name},
             "subjects": [{"kind": "User", "name": name, "apiGroup": "rbac.authorization.k8s.io"}],
             "roleRef": {"apiGroup": "rbac.authorization.k8s.io", "kind": "ClusterRole",
                         "name": name}})
        return self.plane.kubeconfig(name)

    def phase(self, group):
        return self.group_status(group).get("phase")

    def test_the_role_of_volcanos_chart_is_enough(self):
        self.node("n1", cpu="4")
        self.priority_class("low", 10)
        self.priority_class("high", 1000)
        scheduler = self.scheduler(kubeconfig=self.user("volcano-chart", VOLCANOS_RULES))
        self.job("gang", 3, min_member=1, priority="low")
        self.wait_running(3, prefix="gang")
        eventually("its phase is written", lambda: self.phase("gang") == "Running")
        eventually("default and root are made, and say what they hold", lambda: all(
            (self.plane.get(f"{GROUPS}/queues/{name}") or {}).get("status", {}).get(
                "allocated", {}).get("cpu") == "3" for name in ("default", "root")))
        self.job("wide", 2, priority="low")
        eventually("it is told why it waits", lambda: self.condition(
            self.pods()["wide-0"]["status"], "PodScheduled"))
        self.job("urgent", 2, min_member=2, priority="high")
        eventually("room is made", lambda: self.evicted_by_anyone())
        self.wait_bound(2, prefix="urgent")
        eventually("nothing is left to write",
                   lambda: scheduler.metric("krafla_writes_waiting") == 0)
        log = scheduler.log()
        for resource in ("podgroups", "queues/status", "pods/status"):
            self.assertEqual(log.count("API server forbids patch and allows update; objects are "
                                       f"replaced as a whole resource={resource} "), 1, log)
        self.assertNotIn("API server denies a required permission", log)
        self.assertNotIn("was refused", log)
        self.assert_no_node_is_overcommitted()

    def evicted_by_anyone(self):
        return sum(name.startswith("gang") for name in self.pods()) < 3

    def test_what_no_role_allows_is_said_and_tried_until_it_is_allowed(self):
        rules = [(group, resources, " ".join(v for v in verbs.split() if v != "update")
                  if resources == "podgroups" else verbs)
                 for group, resources, verbs in VOLCANOS_RULES]
        self.node("n1", cpu="4")
        scheduler = self.scheduler(kubeconfig=self.user("no-podgroups", rules))
        self.job("gang", 2)
        self.wait_bound(2)
        eventually("it is said", lambda: "API server denies a required permission; retrying" in
                   scheduler.log() and "verb=patch resource=podgroups" in scheduler.log())
        self.assertEqual(scheduler.log().count("API server denies a required permission"), 1,
                         "not once per attempt")
        self.user("no-podgroups", rules + [("scheduling.volcano.sh", "podgroups", "patch")])
        eventually("it is written as soon as it is allowed",
                   lambda: self.phase("gang") == "Running", 90)
        eventually("that is said", lambda: "API server grants the required permissions now" in scheduler.log())

    def test_a_role_without_permission_does_not_hold_up_the_end(self):
        rules = [rule for rule in VOLCANOS_RULES if rule[1] != "queues/status"]
        self.node("n1", cpu="4")
        scheduler = self.scheduler(kubeconfig=self.user("no-queue-status", rules))
        self.job("gang", 2)
        self.wait_bound(2)
        eventually("it is said", lambda: "queues/status" in scheduler.log())
        begin = time.time()
        self.assertEqual(scheduler.stop(), 0, scheduler.log())
        self.assertLess(time.time() - begin, 5)

    def test_a_status_for_a_group_that_was_recreated_is_refused(self):
        self.group("g", 1)
        path = f"{GROUPS}/namespaces/team-a/podgroups/g"
        for content_type in ("application/merge-patch+json",):
            with self.assertRaises(urllib.error.HTTPError) as caught:
                self.plane.request("PATCH", path, {
                    "metadata": {"uid": "00000000-0000-0000-0000-000000000000"},
                    "status": {"phase": "Running"}}, content_type)
            body = caught.exception.read().decode()
            self.assertIn(caught.exception.code, (409, 422), body)
            # The words by which krafla knows it (IsOtherObject in kube/api_client.cpp).
            self.assertTrue("UID in " in body or "metadata.uid" in body, body)
        self.assertIsNone(self.group_status("g").get("phase"))

    def test_only_the_scheduler_writes_its_annotations(self):
        with open(os.path.join(ROOT, "deploy", "admission-policy.yaml")) as f:
            text = f.read()
        self.assertIn("'system:serviceaccount:volcano-system:krafla'", text)
        # The test's scheduler is another user.
        text = text.replace("'system:serviceaccount:volcano-system:krafla'", "'krafla'")
        self.plane.kubectl("apply", "-f", "-", input_text=text)
        try:
            self.annotations_are_guarded()
        finally:
            self.plane.kubectl("delete", "-f", "-", input_text=text)

    def annotations_are_guarded(self):
        path = f"{GROUPS}/namespaces/team-a/podgroups"
        key = "krafla.io/zone-evictions"

        def forbidden(method, name, annotations):
            try:
                if method == "POST":
                    self.group(name, 1, annotations=annotations)
                else:
                    self.plane.request("PATCH", f"{path}/{name}?fieldManager=krafla",
                                       {"metadata": {"annotations": annotations}},
                                       "application/merge-patch+json")
            except urllib.error.HTTPError as error:
                body = error.read().decode()
                self.assertEqual(error.code, 403, body)
                self.assertIn("written by the scheduler only", body)
                return True
            return False
        self.group("mine", 1)
        # A policy takes effect a moment after it was made. Another value each time: what changes
        # nothing is allowed.
        attempts = itertools.count()
        eventually("it is in force", lambda: forbidden(
            "PATCH", "mine", {key: f"v1;rz{next(attempts)}=2999-01-01T00:00:00Z"}))
        self.assertTrue(forbidden("POST", "other", {key: "v1;rz1=2999-01-01T00:00:00Z"}))
        self.assertFalse(forbidden("PATCH", "mine", {"example.com/other": "x"}))
        # A scheduler that evicts writes them.
        self.node("n1", cpu="1")
        self.priority_class("low", 10)
        self.priority_class("high", 1000)
        self.scheduler(CONFIG.replace("  - name: conformance",
                                      "  - name: conformance\n  - name: cdp\n"
                                      "    arguments: {cdp.max-evictions: 5}"))
        self.job("low", 1, min_member=0, priority="low", pod_annotations={"volcano.sh/preemptable": "true"})
        self.wait_running(1, prefix="low")
        self.job("high", 1, priority="high")
        written = eventually("it is written", lambda: self.plane.get(f"{path}/low")["metadata"].get(
            "annotations", {}).get("krafla.io/evictions"))
        self.assertTrue(written.startswith("v1;"), written)
        self.assertTrue(forbidden("PATCH", "low", {"krafla.io/evictions": None}), "nor takes away")
        self.assertTrue(forbidden("PATCH", "low", {"krafla.io/evictions": "v1;"}), "nor changes")
        managers = [entry["manager"] for entry in self.plane.get(f"{path}/low")["metadata"][
            "managedFields"] if "f:krafla.io/evictions" in str(entry.get("fieldsV1"))]
        self.assertEqual(managers, ["krafla"])
        self.plane.request("DELETE", f"{path}/low")


if __name__ == "__main__":
    unittest.main()
