"""Decisions arrive in a real cluster, and users can read what happened."""
import unittest

from cluster_test_case import CONFIG, GROUPS, ClusterTestCase, eventually


class Decisions(ClusterTestCase):
    def test_a_gang_is_bound_as_a_whole_and_its_status_tells(self):
        self.node("n1", cpu="4")
        self.scheduler()
        self.job("train", 3)
        self.wait_bound(3)
        self.wait_running(3)
        eventually("Running, with its pods counted", lambda:
                   self.group_status("train").get("phase") == "Running"
                   and self.group_status("train").get("running") == 3)
        scheduled = self.condition(self.group_status("train"), "Scheduled")
        self.assertEqual(scheduled["status"], "True")
        self.assertTrue(scheduled["lastTransitionTime"])
        eventually("an event per pod", lambda: ("Scheduled", "Successfully assigned "
                                                "team-a/train-0 to n1")
                   in self.events("Pod", "train-0"))

    def test_a_queue_tells_what_it_holds_also_when_that_is_nothing(self):
        def held():
            status = self.plane.request("GET", f"{GROUPS}/queues/default").get("status") or {}
            return (status.get("allocated") or {}).get("cpu")
        self.node("n1", cpu="4")
        self.scheduler()
        self.pod("alone", cpu="2")
        self.wait_bound(1)
        eventually("what the pod asks for", lambda: held() == "2")
        self.plane.request("DELETE", "/api/v1/namespaces/team-a/pods/alone")
        eventually("nothing", lambda: held() == "0")

    def test_phases_are_read_with_kubectl(self):
        def phase():
            return self.plane.kubectl("get", "podgroups", "train", "-n", "team-a", "-o",
                                      "jsonpath={.status.phase}")
        # Nothing is let in while the queue holds all it may have.
        self.node("n1", cpu="4")
        self.queue("small", weight=1, capability={"cpu": "1"})
        self.scheduler()
        self.plane.create(f"{GROUPS}/namespaces/team-a/podgroups", {
            "apiVersion": "scheduling.volcano.sh/v1beta1", "kind": "PodGroup",
            "metadata": {"name": "train"},
            "spec": {"minMember": 2, "queue": "small", "minResources": {"cpu": "2"}}})
        for i in range(2):
            self.pod(f"train-{i}", "train")
        eventually("Pending", lambda: phase() == "Pending")
        self.plane.request("PATCH", "/api/v1/nodes/n1", {"spec": {"unschedulable": True}},
                           "application/merge-patch+json")
        self.plane.request("PATCH", f"{GROUPS}/queues/small",
                           {"spec": {"capability": {"cpu": "8"}}}, "application/merge-patch+json")
        eventually("Inqueue", lambda: phase() == "Inqueue")
        self.plane.request("PATCH", "/api/v1/nodes/n1", {"spec": {"unschedulable": False}},
                           "application/merge-patch+json")
        eventually("Running", lambda: phase() == "Running")
        self.assertIn("train-0", self.plane.kubectl("get", "pods", "-n", "team-a", "-o", "wide"))

    def test_a_gang_that_does_not_fit_is_not_bound_and_says_why(self):
        self.node("n1", cpu="4")
        self.scheduler()
        self.job("train", 5)
        eventually("Inqueue", lambda: self.group_status("train").get("phase") == "Inqueue")
        condition = eventually("why", lambda: self.condition(self.group_status("train"),
                                                             "Unschedulable"))
        self.assertEqual(condition["reason"], "NotEnoughResources")
        self.assertIn("5 minAvailable", condition["message"])

        def told():
            return self.condition(self.pods()["train-0"]["status"], "PodScheduled")
        condition = eventually("the pod is told", told)
        self.assertEqual((condition["status"], condition["reason"]), ("False", "Unschedulable"))
        eventually("the events", lambda: any(r == "FailedScheduling" for r, _ in
                                             self.events("Pod", "train-0")) and
                   any(r == "Unschedulable" for r, _ in self.events("PodGroup", "train")))
        self.assertEqual(self.bound(), {})
        # A second node makes room for all of it.
        self.node("n2", cpu="4")
        self.wait_bound(5)
        eventually("no longer unschedulable", lambda: self.condition(
            self.group_status("train"), "Unschedulable")["status"] == "False")

    def test_the_higher_priority_takes_a_place_and_both_sides_are_named(self):
        self.node("n1", cpu="4")
        self.priority_class("low", 10)
        self.priority_class("high", 1000)
        self.scheduler()
        self.job("low", 4, min_member=1, priority="low")
        self.wait_running(4, prefix="low")
        before = set(self.pods())
        self.job("high", 1, priority="high")
        self.wait_bound(1, prefix="high")
        victims = before - set(self.pods())
        self.assertEqual(len(victims), 1)
        victim = victims.pop()
        reason, message = eventually("the victim's event", lambda: next(
            (e for e in self.events("Pod", victim) if e[0] == "Evict"), None))
        self.assertIn("evicted by preempt for team-a/high-0", message)
        self.assertIn("1000 over 10", message)
        eventually("the other side's event", lambda: any(
            r == "Preempting" and f"team-a/{victim} on n1" in m
            for r, m in self.events("Pod", "high-0")))
        eventually("the group's event", lambda: any(
            r == "Evict" and victim in m for r, m in self.events("PodGroup", "low")))

    def test_a_victim_carries_the_condition_while_it_ends(self):
        self.node("n1", cpu="1")
        self.priority_class("low", 10)
        self.priority_class("high", 1000)
        self.scheduler()
        self.group("low", 0, priority="low")
        # It does not end at once, so that there is something to look at.
        self.plane.create("/api/v1/namespaces/team-a/pods", {
            "apiVersion": "v1", "kind": "Pod",
            "metadata": {"name": "low-0", "finalizers": ["example.com/wait"],
                         "annotations": {"scheduling.k8s.io/group-name": "low"}},
            "spec": {"schedulerName": "volcano", "priorityClassName": "low",
                     "terminationGracePeriodSeconds": 1,
                     "containers": [{"name": "c", "image": "none",
                                     "resources": {"requests": {"cpu": "1"}}}]}})
        try:
            self.wait_running(1)
            self.job("high", 1, priority="high")
            pod = eventually("it is going", lambda: self.pods()["low-0"]["metadata"].get(
                "deletionTimestamp") and self.pods()["low-0"])
            condition = self.condition(pod["status"], "DisruptionTarget")
            self.assertEqual((condition["status"], condition["reason"]),
                             ("True", "PreemptionByScheduler"))
            self.assertIn("for team-a/high-0", condition["message"])
            eventually("the place is named", lambda: self.pods()["high-0"]["status"].get(
                "nominatedNodeName") == "n1")
            self.assertEqual(self.bound(prefix="high"), {})
        finally:
            self.plane.request("PATCH", "/api/v1/namespaces/team-a/pods/low-0",
                               {"metadata": {"finalizers": None}},
                               "application/merge-patch+json")
        self.wait_bound(1, prefix="high")

    def test_a_group_of_one_follows_its_pod(self):
        self.node("n1")
        self.scheduler()
        queue = "scheduling.volcano.sh/queue-name"
        self.pod("p", annotations={queue: "nowhere"})
        self.stays("its queue does not exist", lambda: not self.bound(), 1)
        self.plane.request("PATCH", "/api/v1/namespaces/team-a/pods/p",
                           {"metadata": {"annotations": {queue: "default"}}},
                           "application/merge-patch+json")
        self.assert_all_is_well(1)

    def test_a_pod_without_group_is_a_group_of_one(self):
        self.node("n1")
        self.scheduler()
        self.pod("alone")
        self.assertEqual(self.wait_bound(1), {"alone": "n1"})

    def test_somebody_elses_pods_are_left_alone(self):
        self.node("n1", cpu="2")
        self.scheduler()
        self.plane.create("/api/v1/namespaces/team-a/pods", {
            "apiVersion": "v1", "kind": "Pod", "metadata": {"name": "other"},
            "spec": {"schedulerName": "default-scheduler",
                     "containers": [{"name": "c", "image": "none"}]}})
        self.pod("ours")
        self.wait_bound(1)
        self.stays("not bound by us", lambda: "other" not in self.bound(), 1)

    def test_queues_are_created_when_missing(self):
        self.scheduler()
        eventually("default and root", lambda: self.plane.get(f"{GROUPS}/queues/default")
                   and self.plane.get(f"{GROUPS}/queues/root"))
        self.assertFalse(self.plane.get(f"{GROUPS}/queues/root")["spec"]["reclaimable"])

    def test_a_queue_takes_back_what_is_its_own(self):
        self.node("n1", cpu="4")
        self.queue("a", weight=1, reclaimable=True)
        self.queue("b", weight=1)
        self.scheduler(CONFIG.replace("preempt,", "reclaim,"))
        self.job("greedy", 4, min_member=1, queue="a")
        self.wait_running(4, prefix="greedy")
        self.job("owner", 2, queue="b")
        self.wait_bound(2, prefix="owner")
        self.assertEqual(len(self.bound(prefix="greedy")), 2)

    def test_best_effort_pods_fill_in(self):
        self.node("n1", cpu="1")
        self.scheduler()
        self.job("full", 1)
        self.wait_bound(1)
        self.group("idle", 1)
        self.pod("idle-0", "idle", cpu=None)
        self.wait_bound(1, prefix="idle")

    def test_a_closed_queue_lets_nobody_in(self):
        self.node("n1")
        self.queue("shut")
        self.plane.request("PATCH", f"{GROUPS}/queues/shut/status",
                           {"status": {"state": "Closed"}}, "application/merge-patch+json")
        self.scheduler()
        self.job("late", 1, queue="shut")
        self.job("fine", 1)
        self.wait_bound(1, prefix="fine")
        self.assertEqual(self.bound(prefix="late"), {})
        self.plane.request("PATCH", f"{GROUPS}/queues/shut/status",
                           {"status": {"state": "Open"}}, "application/merge-patch+json")
        self.wait_bound(1, prefix="late")

    def test_a_budget_holds_with_the_eviction_api(self):
        self.node("n1", cpu="2")
        self.priority_class("low", 10)
        self.priority_class("high", 1000)
        scheduler = self.scheduler(CONFIG + "eviction-api: true\n")
        self.job("low", 2, min_member=0, priority="low", labels={"app": "low"})
        self.wait_running(2, prefix="low")
        budget = "/apis/policy/v1/namespaces/team-a/poddisruptionbudgets"
        self.plane.create(budget, {
            "apiVersion": "policy/v1", "kind": "PodDisruptionBudget", "metadata": {"name": "b"},
            "spec": {"minAvailable": 2, "selector": {"matchLabels": {"app": "low"}}}})
        status = {"status": {"disruptionsAllowed": 0, "currentHealthy": 2, "desiredHealthy": 2,
                             "expectedPods": 2, "observedGeneration": 1}}
        self.plane.request("PATCH", budget + "/b/status", status, "application/merge-patch+json")
        self.job("high", 1, priority="high")
        eventually("refused", lambda: scheduler.metric("krafla_effect_failures_total") >= 1)
        self.assertEqual(len(self.bound(prefix="low")), 2)
        status["status"]["disruptionsAllowed"] = 1
        self.plane.request("PATCH", budget + "/b/status", status, "application/merge-patch+json")
        self.wait_bound(1, prefix="high", patience_s=40)


if __name__ == "__main__":
    unittest.main()
