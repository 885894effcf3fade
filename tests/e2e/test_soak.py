"""Random churn for a while, then an independent look at what came of it: the judge goes through all
that the API server showed, and through its audit log. KRAFLA_E2E_SOAK_S says how long (default 120),
KRAFLA_E2E_SEED how it goes."""
import collections
import json
import os
import random
import re
import threading
import time
import unittest
import urllib.error

from cluster_test_case import CONFIG, GROUPS, ClusterTestCase, eventually
from history import History, Judge, cpu_of, group_of, is_healthy

PRIORITIES = {"low": 10, "middle": 100, "high": 1000}
MERGE = "application/merge-patch+json"
STRATEGIC = "application/strategic-merge-patch+json"
NODES = 6
PODS = "/api/v1/namespaces/team-a/pods"
POD_GROUPS = f"{GROUPS}/namespaces/team-a/podgroups"
BUDGETS = "/apis/policy/v1/namespaces/team-a/poddisruptionbudgets"
SHARED = 3  # of those with the label "shared" evictions leave so many


class BudgetKeeper:
    """Says what a budget allows, now and then, as Kubernetes' controller does, which is not here."""

    def __init__(self, plane, name, label, least):
        self.plane, self.name, self.label, self.least = plane, name, label, least
        self.closing, self.problem = threading.Event(), None
        self.thread = threading.Thread(target=self.run, daemon=True)
        self.thread.start()

    def run(self):
        try:
            while not self.closing.wait(0.7):
                self.tell()
        except Exception as problem:  # looked at by whoever stops it
            self.problem = problem

    def tell(self):
        budget = self.plane.get(f"{BUDGETS}/{self.name}")
        pods = self.plane.get(f"{PODS}?labelSelector={self.label}%3Dyes")["items"]
        healthy = sum(map(is_healthy, pods))
        try:
            self.plane.request("PATCH", f"{BUDGETS}/{self.name}/status", {
                "metadata": {"resourceVersion": budget["metadata"]["resourceVersion"]},
                "status": {"disruptionsAllowed": max(0, healthy - self.least),
                           "currentHealthy": healthy, "desiredHealthy": self.least,
                           "expectedPods": len(pods), "disruptedPods": None,
                           "observedGeneration": budget["metadata"]["generation"]}}, MERGE)
        except urllib.error.HTTPError as error:
            if error.code != 409:  # an eviction came between; next time
                raise

    def stop(self):
        self.closing.set()
        self.thread.join()
        if self.problem:
            raise self.problem


class Soak(ClusterTestCase):
    def ignore_missing(self, method, path, body=None, content_type="application/json"):
        try:
            return self.plane.request(method, path, body, content_type)
        except urllib.error.HTTPError as error:
            if error.code not in (404, 409):
                raise
            return None

    def churn(self, rng, seconds):
        jobs = []
        end = time.time() + seconds
        while time.time() < end:
            act = rng.random()
            node = f"n{rng.randrange(NODES)}"
            if act < 0.40 or not jobs:
                name = f"j{len(jobs)}"
                size = rng.randint(1, 6)
                kind = rng.random()
                self.job(name, size, rng.randint(1, size), cpu=str(rng.randint(1, 2)),
                         priority=rng.choice(list(PRIORITIES)),
                         pod_annotations={"volcano.sh/cooldown-time": "10s"} if kind < 0.3 else {},
                         labels={"protected": "yes"} if kind > 0.85 else
                         {"shared": "yes"} if kind > 0.5 else {})
                jobs.append(name)
            elif act < 0.65:  # a whole job ends
                name = rng.choice(jobs)
                for pod in list(self.pods()):
                    if pod.rsplit("-", 1)[0] == name:
                        self.ignore_missing("DELETE", f"{PODS}/{pod}")
                self.ignore_missing("DELETE", f"{POD_GROUPS}/{name}")
            elif act < 0.70:  # one pod goes
                pods = list(self.pods())
                if pods:
                    self.ignore_missing("DELETE", f"{PODS}/{rng.choice(pods)}")
            elif act < 0.74:  # one is not ready any more, or again
                pods = [name for name, pod in self.pods().items()
                        if pod["status"].get("phase") == "Running"]
                if pods:
                    self.ignore_missing("PATCH", f"{PODS}/{rng.choice(pods)}/status", {
                        "status": {"conditions": [{"type": "Ready", "status": rng.choice(
                            ["True", "False", "False"])}]}}, STRATEGIC)
            elif act < 0.81:  # a gang gets another size
                self.ignore_missing("PATCH", f"{POD_GROUPS}/{rng.choice(jobs)}",
                                    {"spec": {"minMember": rng.randint(1, 4)}}, MERGE)
            elif act < 0.90:  # cordon, or back
                self.ignore_missing("PATCH", f"/api/v1/nodes/{node}",
                                    {"spec": {"unschedulable": rng.random() < 0.5}}, MERGE)
            elif act < 0.95:  # more room, or less
                self.ignore_missing("PATCH", f"/api/v1/nodes/{node}/status",
                                    {"status": {"allocatable": {"cpu": str(rng.randint(8, 12))}}},
                                    MERGE)
            else:
                self.ignore_missing("PATCH", f"/api/v1/nodes/{node}", {"metadata": {
                    "labels": {"colour": rng.choice(["red", "blue"])}}}, MERGE)
            time.sleep(rng.random() * 0.2)

    def events_of_evictions(self):
        text = self.plane.kubectl("get", "events", "-n", "team-a", "-o", "json")
        return [e for e in json.loads(text)["items"]
                if e["reason"] == "Evict" and e["involvedObject"]["kind"] == "Pod"]

    def check_evictions_are_told_with_their_cause(self, evicted):
        events = self.events_of_evictions()
        for event in events:
            found = re.search(r"job priority (\d+) over (\d+)", event["message"])
            self.assertTrue(found, event["message"])
            self.assertGreater(int(found[1]), int(found[2]), event["message"])
        self.assertEqual({e["involvedObject"]["name"] for e in events}, set(evicted))

    def room_is_used(self):
        """No job waits that would fit into what is free. Pods of a job are alike here."""
        free = {node["metadata"]["name"]: int(node["status"]["allocatable"]["cpu"])
                for node in self.plane.get("/api/v1/nodes")["items"]}
        waiting, placed = collections.defaultdict(list), collections.Counter()
        for pod in self.pods().values():
            node = pod["spec"].get("nodeName")
            if node:
                free[node] -= cpu_of(pod)
                placed[group_of(pod)] += "deletionTimestamp" not in pod["metadata"]
            else:
                waiting[group_of(pod)].append(cpu_of(pod))
        for group in self.plane.get(POD_GROUPS)["items"]:
            name = group["metadata"]["name"]
            missing = max(1, group["spec"]["minMember"] - placed[name])
            if len(waiting[name]) >= missing and \
                    sum(room // waiting[name][0] for room in free.values() if room > 0) >= missing:
                return False
        return True

    def test_churn(self):
        self.churn_and_judge(1, "")

    def test_churn_with_the_eviction_api(self):
        self.churn_and_judge(0.4, "eviction-api: true\n")

    def churn_and_judge(self, part, more_config):
        seed = int(os.environ.get("KRAFLA_E2E_SEED", "1"))
        seconds = part * float(os.environ.get("KRAFLA_E2E_SOAK_S", "120"))
        for name, value in PRIORITIES.items():
            self.priority_class(name, value)
        for i in range(NODES):
            self.node(f"n{i}", cpu="8", memory="64Gi")
        for name, spec in (("protected", {"maxUnavailable": 0}), ("shared", {"minAvailable": SHARED})):
            self.plane.create(BUDGETS, {
                "apiVersion": "policy/v1", "kind": "PodDisruptionBudget", "metadata": {"name": name},
                "spec": dict(spec, selector={"matchLabels": {name: "yes"}})})
        keeper = BudgetKeeper(self.plane, "shared", "shared", SHARED)
        self.addCleanup(keeper.closing.set)
        history = History(self.plane, {"pod": PODS, "node": "/api/v1/nodes", "group": POD_GROUPS})
        scheduler = self.scheduler(CONFIG.replace("- name: conformance", "- name: conformance\n"
                                                  "  - name: cdp\n  - name: pdb") + more_config)
        self.churn(random.Random(seed), seconds)
        for i in range(NODES):
            self.plane.request("PATCH", f"/api/v1/nodes/n{i}",
                               {"spec": {"unschedulable": False}}, MERGE)
            self.plane.request("PATCH", f"/api/v1/nodes/n{i}/status",
                               {"status": {"allocatable": {"cpu": "12"}}}, MERGE)
        eventually("it settles", lambda: self.room_is_used() and scheduler.metric(
            "krafla_effects_in_flight") == 0 and scheduler.metric("krafla_writes_waiting") == 0, 60,
            every_s=0.5)
        time.sleep(1)  # for the watches of the history
        keeper.stop()
        evictions = self.audited("delete") + self.audited("create", "eviction")
        judge = Judge(history.stop(), evictions, {"shared=yes": SHARED})
        print(f"judged: {dict(judge.judged)}", flush=True)
        self.assertEqual(history.holes, [])
        self.assertEqual(judge.problems, [])
        # The churn is such that all of this happens.
        self.assertGreater(judge.judged["binds"], seconds / 2)
        self.assertGreater(judge.judged["gang binds"], 0)
        # Who is evicted, and who meddles at that time, is chance; how much of it was judged is
        # printed. That the judge finds what is wrong is tested apart (test_history).
        self.assertGreater(judge.judged["evictions"], 0)
        # Names are never used twice here.
        counts = collections.Counter(name for name, _ in self.audited("create", "binding"))
        self.assertEqual({n: c for n, c in counts.items() if c > 1}, {})
        self.assertEqual(set(counts), {
            pod["metadata"]["name"] for pod in judge.last_seen.values() if pod["spec"].get("nodeName")})
        self.check_evictions_are_told_with_their_cause({name for name, _ in evictions})
        self.assertEqual(scheduler.metric("krafla_events_dropped_total"), 0)
        self.assertIsNone(scheduler.process.poll())


if __name__ == "__main__":
    unittest.main()
