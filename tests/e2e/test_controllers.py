"""Where Volcano's controllers run, or something that behaves as they do: no pod is scheduled alone before it gets its
PodGroup. The decisions and the answers to who waits are also tried with the controllers beside the scheduler."""
import json
import os
import subprocess
import tempfile
import time
import unittest

import test_decisions
import test_waiting
from cluster_test_case import GROUPS, ClusterTestCase, eventually
from volcano_controllers import GROUP_NAME, VolcanoControllers, replica_set

SEEN = "waits for its PodGroup: Volcano's controllers are seen; the pod names no PodGroup yet"


class WithControllers(ClusterTestCase):
    """Starts the controllers for every test of a class."""
    annotate_after_s = 0.2

    def setUp(self):
        super().setUp()
        self.controllers = VolcanoControllers(self.plane, annotate_after_s=self.annotate_after_s).start()
        self.addCleanup(self.controllers.stop)


class DecisionsWithControllers(WithControllers, test_decisions.Decisions):
    # The PodGroup has the queue that the pod named first, and keeps it.
    test_a_group_of_one_follows_its_pod = None
    # Nothing of these depends on PodGroups that controllers create, or on queue states.
    test_queues_are_created_when_missing = None
    test_a_victim_carries_the_condition_while_it_ends = None
    test_a_budget_holds_with_the_eviction_api = None


class WaitingWithControllers(WithControllers, test_waiting.Waiting):
    """Only what differs when PodGroups come from controllers."""


# A pod without PodGroup and with a queue that is missing has a PodGroup here, and its condition is the PodGroup's.
for name in [n for n in dir(WaitingWithControllers) if n.startswith("test_")]:
    if name != "test_a_gang_that_is_created_slowly_is_not_called_unschedulable":
        setattr(WaitingWithControllers, name, None)


class VolcanosControllers(ClusterTestCase):
    def controllers(self, **kw):
        controllers = VolcanoControllers(self.plane, **kw).start()
        self.addCleanup(controllers.stop)
        return controllers

    def wait_seen(self, scheduler, seen=1):
        eventually("the controllers are seen", lambda: scheduler.metric(
            "krafla_volcano_controllers_seen") == seen)

    def jobs(self, scheduler):
        code, text = scheduler.page("/api/v1/jobs", scheduler.metrics_port)
        return {job["name"]: job for job in json.loads(text)["jobs"]} if code == 200 else {}

    def told(self, pod):
        return self.condition(self.pods()[pod]["status"], "PodScheduled")

    def test_a_gang_whose_podgroup_comes_late_is_bound_as_a_whole(self):
        """Ten pods of a ReplicaSet, four CPUs: not one of them is bound before there is room for all."""
        self.node("n1", cpu="4")
        with tempfile.TemporaryDirectory() as record:
            scheduler = self.scheduler(flags=[f"--record={record}"])
            # Slower than pods of an owner wait where no controllers are seen.
            self.controllers(create_after_s=0.5, annotate_after_s=6.0)
            self.wait_seen(scheduler)
            replica_set(self.plane, "team-a", "web", 10, min_member=10)
            self.stays("no pod of the gang is bound", lambda: not self.bound(), 8.0)
            groups = self.plane.get(f"{GROUPS}/namespaces/team-a/podgroups")["items"]
            self.assertEqual([g["spec"]["minMember"] for g in groups], [10])
            self.node("n2", cpu="6")
            self.assert_all_is_well(10)
            # A pod of another scheduler, of no owner and so with a PodGroup of its own.
            self.node("n3", cpu="1")
            self.pod("alone")
            self.wait_bound(1, prefix="alone")
            self.assertTrue(self.pods()["alone"]["metadata"]["annotations"][GROUP_NAME].startswith("podgroup-"))
            scheduler.stop()
            done = subprocess.run([os.environ["KRAFLA"], "run", "--replay", record], text=True,
                                  stdout=subprocess.PIPE, stderr=subprocess.STDOUT)
            self.assertEqual(done.returncode, 0, done.stdout)

    def test_a_gang_is_whole_although_the_controllers_start_after_its_pods_came(self):
        self.node("n1", cpu="4")
        scheduler = self.scheduler()
        replica_set(self.plane, "team-a", "web", 6, min_member=6)
        self.stays("pods of an owner wait for a while", lambda: not self.bound(), 1.5)
        self.assertEqual(scheduler.metric("krafla_volcano_controllers_seen"), 0)
        self.controllers()
        self.wait_seen(scheduler)
        self.stays("no pod of the gang is bound", lambda: not self.bound(), 5.0)
        self.assertEqual(scheduler.log().count("Volcano's controllers are seen"), 1)
        self.node("n2", cpu="2")
        self.assert_all_is_well(6)

    def test_a_scheduler_that_starts_later_sees_the_controllers_before_it_decides(self):
        self.node("n1", cpu="4")
        self.queue("default")
        controllers = self.controllers()
        eventually("the queue is open", lambda: self.plane.get(
            f"{GROUPS}/queues/default").get("status", {}).get("state") == "Open")
        controllers.stop()
        self.pod("early")
        scheduler = self.scheduler()
        self.stays("nothing is bound while the controllers are away", lambda: not self.bound(), 2.0)
        self.assertEqual(scheduler.metric("krafla_volcano_controllers_seen"), 1)
        condition = eventually("the pod is told", lambda: self.told("early"))
        self.assertIn(SEEN, condition["message"])
        events = eventually("its event", lambda: self.events("Pod", "early"))
        self.assertEqual([reason for reason, _ in events], ["FailedScheduling"])
        self.assertIn(SEEN, events[0][1])
        self.assertEqual(scheduler.metric("krafla_waiting_pods"), 1)
        self.assertIn(SEEN, self.jobs(scheduler)["early"]["waitsFor"])
        self.assertIn("pods without PodGroup wait for theirs", scheduler.log())
        explained = subprocess.run(
            [os.environ["KRAFLA"], "explain", "pod", "team-a/early", "--server",
             f"http://127.0.0.1:{scheduler.metrics_port}"], text=True, stdout=subprocess.PIPE)
        self.assertEqual(explained.returncode, 0)
        self.assertIn("waits for its PodGroup: Volcano's controllers are seen",
                      " ".join(explained.stdout.split()))
        # They come back.
        self.controllers()
        self.assert_all_is_well(1)
        eventually("no pod waits", lambda: scheduler.metric("krafla_waiting_pods") == 0)

    def test_without_controllers_a_pod_alone_is_bound_at_once_and_one_of_an_owner_after_five_seconds(self):
        self.node("n1", cpu="12")
        self.scheduler()
        self.assert_pods_alone_are_bound_at_once(7)
        begin = time.time()
        self.pod("alone")
        self.wait_bound(1, prefix="alone", patience_s=2)
        replica_set(self.plane, "team-a", "web", 2)
        self.stays("it may get a PodGroup", lambda: not self.bound(prefix="web"), 4.0)
        self.wait_bound(2, prefix="web", patience_s=3)
        self.assertLess(time.time() - begin, 8)
        self.assert_all_is_well(10)

    def assert_pods_alone_are_bound_at_once(self, count):
        """From before the creation to the request that binds, as the server's audit log has it."""
        created = {}
        for i in range(count):
            created[f"quick-{i}"] = time.time()  # the server runs on this machine
            self.pod(f"quick-{i}")
            self.wait_bound(i + 1, prefix="quick-", patience_s=2)
        bound = dict(self.audited("create", "binding"))
        took_ms = sorted((bound[name] - when) * 1000 for name, when in created.items())
        print(f"a pod alone is bound after {took_ms[count // 2]:.0f} ms (median)", flush=True)
        # 50 ms on a machine that does nothing else.
        self.assertLess(took_ms[count // 2], 200, took_ms)

    def test_never_and_after_are_kept(self):
        self.node("n1", cpu="4")
        scheduler = self.scheduler(flags=["--group-of-one=never"])
        self.pod("never")
        self.stays("not without a PodGroup", lambda: not self.bound(), 3.0)
        condition = eventually("it is told", lambda: self.told("never"))
        self.assertIn("waits for its PodGroup: --group-of-one=never", condition["message"])
        scheduler.stop()
        self.scheduler(flags=["--group-of-one=after=2s"])
        begin = time.time()
        self.pod("after")
        self.wait_bound(1, prefix="after", patience_s=10)
        self.assertGreaterEqual(time.time() - begin, 2.0)
        self.assert_all_is_well(2)

    def test_jobs_of_the_controllers_run_one_after_the_other(self):
        """The job controller creates pods only when the PodGroup is admitted, and one by one."""
        self.node("n1", cpu="6")
        scheduler = self.scheduler()
        controllers = self.controllers(annotate_after_s=0.2)
        self.wait_seen(scheduler)
        controllers.job("team-a", "a", 4, pause_s=0.3)
        controllers.job("team-a", "b", 2, pause_s=0.3)
        self.assert_all_is_well(6)
        eventually("both run", lambda: [g["status"].get("phase") for g in self.plane.get(
            f"{GROUPS}/namespaces/team-a/podgroups")["items"]] == ["Running", "Running"])


if __name__ == "__main__":
    unittest.main()
