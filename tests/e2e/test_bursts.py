"""Bursts of equal jobs whose pods are created slowly, as Volcano's controllers do: the PodGroup
first, and its pods one by one once it is admitted."""
import threading
import time
import unittest

from cluster_test_case import ClusterTestCase, eventually

CONFIG = """
actions: "enqueue, allocate, backfill"
tiers:
- plugins:
  - name: priority
  - name: gang
- plugins:
  - name: drf
  - name: predicates
  - name: proportion
  - name: nodeorder
"""


class Bursts(ClusterTestCase):
    def create_slowly(self, name, pods, min_member, delay_s):
        """A job controller with a worker of its own for this job."""
        self.group(name, min_member)

        def work():
            deadline = time.time() + 30
            while self.group_status(name).get("phase", "Pending") == "Pending":
                if time.time() > deadline:
                    return
                time.sleep(0.005)
            for i in range(pods):
                time.sleep(delay_s)
                self.pod(f"{name}-{i}", name)
        thread = threading.Thread(target=work)
        thread.start()
        return thread

    def burst(self, delays_s, gap_s):
        """How many pods of each job were bound, and how long it took to create all of them."""
        begin = time.time()
        workers = []
        for job, delay_s in zip("abc", delays_s):
            workers.append(self.create_slowly(job, 12, 2, delay_s))
            time.sleep(gap_s)
        for worker in workers:
            worker.join()
        created_s = time.time() - begin
        self.wait_bound(12)
        return {job: len(self.bound(prefix=job + "-")) for job in "abc"}, created_s

    def test_each_job_of_a_burst_gets_its_gang(self):
        trials = [((0.005, 0.005, 0.005), 0.0), ((0.005, 0.02, 0.04), 0.0),
                  ((0.04, 0.02, 0.005), 0.02), ((0.005, 0.005, 0.05), 0.05),
                  ((0.01, 0.01, 0.01), 0.1)]
        scheduler = self.scheduler(CONFIG)
        for delays_s, gap_s in trials * 3:
            self.empty_cluster()
            self.queue("default")
            for i in range(3):
                self.node(f"n{i}", cpu="4")
            bound, created_s = self.burst(delays_s, gap_s)
            print(bound, (delays_s, gap_s), f"created in {created_s:.2f} s", flush=True)
            # Pods that come later than the schedule period (1 s) may find that the rest is taken.
            least = 4 if created_s < 0.95 else 2
            self.assertGreaterEqual(min(bound.values()), least, (bound, delays_s, gap_s, created_s))
        self.assertGreater(scheduler.metric("krafla_burst_waits_total"), 0)

    def test_a_single_pod_does_not_wait_for_a_burst(self):
        self.node("n1", cpu="16")
        self.scheduler(CONFIG)
        self.group("never", 5)
        worker = self.create_slowly("a", 8, 2, 0.05)
        self.wait_bound(2, prefix="a-")
        took_ms = []
        for i in range(5):
            begin = time.time()
            self.group(f"single-{i}", 1)
            self.pod(f"single-{i}", f"single-{i}")
            eventually("bound", lambda i=i: self.bound(prefix=f"single-{i}"), 10, 0.002)
            took_ms.append((time.time() - begin) * 1000)
        worker.join()
        # Two writes and the polling of this test are part of it.
        self.assertLess(sorted(took_ms)[2], 500, took_ms)
        # The group that never gets its pods delays them for one schedule period.
        self.wait_bound(8, prefix="a-", patience_s=5)

    def test_parts_of_a_spec_that_have_no_effect_are_named_by_an_event(self):
        self.node("n1", cpu="4")
        self.scheduler(CONFIG)
        self.plane.create(self.groups_path(), self.group_with(
            "soft", {"networkTopology": {"mode": "soft", "highestTierAllowed": 1}}))
        self.pod("soft-0", "soft")
        self.wait_bound(1, prefix="soft-")
        text = eventually("an event", lambda: [m for r, m in self.events("PodGroup", "soft")
                                               if r == "NotSupported"])
        self.assertEqual(text, ["scheduled without spec.networkTopology of mode soft: "
                                "not supported yet"])
        self.plane.create(self.groups_path(), self.group_with(
            "hard", {"networkTopology": {"mode": "hard", "highestTierAllowed": 1}}))
        self.pod("hard-0", "hard")
        condition = eventually("the reason", lambda: self.condition(
            self.group_status("hard"), "Unschedulable"))
        self.assertIn("needs a hard network topology", condition["message"])
        self.pod("claims", resourceClaims=[{"name": "gpu", "resourceClaimName": "gpu-1"}])
        told = eventually("the reason", lambda: self.condition(
            self.pods()["claims"]["status"], "PodScheduled"))
        self.assertIn("needs ResourceClaims", told["message"])
        self.stays("not bound", lambda: not self.bound(prefix="hard-")
                   and not self.bound(prefix="claims"), 1)

    def groups_path(self):
        return f"/apis/scheduling.volcano.sh/v1beta1/namespaces/{self.namespace}/podgroups"

    def group_with(self, name, spec):
        return {"apiVersion": "scheduling.volcano.sh/v1beta1", "kind": "PodGroup",
                "metadata": {"name": name, "namespace": self.namespace},
                "spec": {"minMember": 1, "queue": "default", **spec}}


if __name__ == "__main__":
    unittest.main()
