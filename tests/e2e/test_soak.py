"""Random churn for a while, then an independent look at what came of it. The checker reads only the
API and its audit log. KRAFLA_E2E_SOAK_S says how long (default 60), KRAFLA_E2E_SEED how it goes."""
import collections
import json
import os
import random
import re
import time
import unittest
import urllib.error

from cluster_test_case import GROUPS, ClusterTestCase, eventually

PRIORITIES = {"low": 10, "middle": 100, "high": 1000}
MERGE = "application/merge-patch+json"


class Soak(ClusterTestCase):
    def ignore_missing(self, method, path, body=None, content_type="application/json"):
        try:
            return self.plane.request(method, path, body, content_type)
        except urllib.error.HTTPError as error:
            if error.code not in (404, 409):
                raise
            return None

    def churn(self, rng, seconds):
        """Returns the names of the jobs that nobody but the scheduler has touched."""
        touched, jobs = set(), []
        end = time.time() + seconds
        while time.time() < end:
            act = rng.random()
            if act < 0.45 or not jobs:
                name = f"j{len(jobs)}"
                size = rng.randint(1, 6)
                self.job(name, size, rng.randint(1, size),
                         priority=rng.choice(list(PRIORITIES)), cpu=str(rng.randint(1, 2)))
                jobs.append(name)
            elif act < 0.70:  # a whole job ends
                name = rng.choice(jobs)
                touched.add(name)
                for pod in list(self.pods()):
                    if pod.rsplit("-", 1)[0] == name:
                        self.ignore_missing("DELETE", f"/api/v1/namespaces/team-a/pods/{pod}")
                self.ignore_missing("DELETE", f"{GROUPS}/namespaces/team-a/podgroups/{name}")
            elif act < 0.80:  # one pod goes
                pods = list(self.pods())
                if pods:
                    pod = rng.choice(pods)
                    touched.add(pod.rsplit("-", 1)[0])
                    self.ignore_missing("DELETE", f"/api/v1/namespaces/team-a/pods/{pod}")
            elif act < 0.90:  # cordon, or back
                node = f"n{rng.randrange(6)}"
                self.ignore_missing("PATCH", f"/api/v1/nodes/{node}",
                                    {"spec": {"unschedulable": rng.random() < 0.5}}, MERGE)
            elif act < 0.95:  # more room
                node = f"n{rng.randrange(6)}"
                self.ignore_missing("PATCH", f"/api/v1/nodes/{node}/status",
                                    {"status": {"allocatable": {"cpu": str(rng.randint(8, 12))}}},
                                    MERGE)
            else:
                node = f"n{rng.randrange(6)}"
                self.ignore_missing("PATCH", f"/api/v1/nodes/{node}", {"metadata": {
                    "labels": {"colour": rng.choice(["red", "blue"])}}}, MERGE)
            time.sleep(rng.random() * 0.1)
        return [name for name in jobs if name not in touched]

    def cpu_of(self, pod):
        return int(pod["spec"]["containers"][0]["resources"]["requests"]["cpu"])

    def check_no_node_is_overcommitted(self):
        """Rooms only grow beyond 8, so that more than 12 is nobody's fault but the scheduler's; the
        nodes as they are now are compared where they never shrank."""
        used = collections.Counter()
        for pod in self.pods().values():
            if pod["spec"].get("nodeName") and pod["status"]["phase"] in ("Pending", "Running"):
                used[pod["spec"]["nodeName"]] += self.cpu_of(pod)
        self.assertLessEqual(max(used.values(), default=0), 12, used)

    def check_gangs(self, untouched):
        """A job that only the scheduler has touched has its minimum or nothing."""
        evicted = {name.rsplit("-", 1)[0] for name, _ in self.audited("delete")}
        groups = self.plane.get(f"{GROUPS}/namespaces/team-a/podgroups")["items"]
        bound = collections.Counter(name.rsplit("-", 1)[0] for name in self.bound())
        for group in groups:
            name = group["metadata"]["name"]
            if name in untouched and name not in evicted and bound[name]:
                self.assertGreaterEqual(bound[name], group["spec"]["minMember"], name)

    def check_binds(self):
        counts = collections.Counter(name for name, _ in self.audited("create", "binding"))
        # Names are never used twice here.
        self.assertEqual({n: c for n, c in counts.items() if c > 1}, {})

    def check_evictions_have_a_cause(self):
        text = self.plane.kubectl("get", "events", "-n", "team-a", "-o", "json")
        evictions = [e for e in json.loads(text)["items"]
                     if e["reason"] == "Evict" and e["involvedObject"]["kind"] == "Pod"]
        for event in evictions:
            found = re.search(r"job priority (\d+) over (\d+)", event["message"])
            self.assertTrue(found, event["message"])
            self.assertGreater(int(found[1]), int(found[2]), event["message"])
        self.assertEqual(len({e["involvedObject"]["name"] for e in evictions}),
                         len({name for name, _ in self.audited("delete")}))

    def room_is_used(self):
        """Nothing waits that would fit: a job of minimum one needs one node with room for one pod."""
        free = collections.Counter()
        for node in self.plane.get("/api/v1/nodes")["items"]:
            free[node["metadata"]["name"]] = int(node["status"]["allocatable"]["cpu"])
        waiting = []
        for pod in self.pods().values():
            if pod["spec"].get("nodeName"):
                free[pod["spec"]["nodeName"]] -= self.cpu_of(pod)
            else:
                waiting.append(pod)
        groups = {g["metadata"]["name"]: g for g in
                  self.plane.get(f"{GROUPS}/namespaces/team-a/podgroups")["items"]}
        for pod in waiting:
            group = groups.get(pod["metadata"]["annotations"]["scheduling.k8s.io/group-name"])
            if group and group["spec"]["minMember"] == 1 and \
                    self.cpu_of(pod) <= max(free.values()):
                return False
        return True

    def test_churn(self):
        seed = int(os.environ.get("KRAFLA_E2E_SEED", "1"))
        seconds = float(os.environ.get("KRAFLA_E2E_SOAK_S", "60"))
        rng = random.Random(seed)
        for name, value in PRIORITIES.items():
            self.priority_class(name, value)
        for i in range(6):
            self.node(f"n{i}", cpu="8", memory="64Gi")
        scheduler = self.scheduler()
        untouched = self.churn(rng, seconds)
        for i in range(6):
            self.plane.request("PATCH", f"/api/v1/nodes/n{i}",
                               {"spec": {"unschedulable": False}}, MERGE)
            self.plane.request("PATCH", f"/api/v1/nodes/n{i}/status",
                               {"status": {"allocatable": {"cpu": "12"}}}, MERGE)
        eventually("it settles", lambda: self.room_is_used() and scheduler.metric(
            "krafla_effects_in_flight") == 0 and scheduler.metric("krafla_writes_waiting") == 0, 60)
        self.check_no_node_is_overcommitted()
        self.check_gangs(untouched)
        self.check_binds()
        self.check_evictions_have_a_cause()
        self.assertEqual(scheduler.metric("krafla_events_dropped_total"), 0)
        self.assertIsNone(scheduler.process.poll())


if __name__ == "__main__":
    unittest.main()
