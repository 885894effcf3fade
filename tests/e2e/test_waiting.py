"""Who waits, and why: what users are told by conditions, events, metrics, pages and explanations."""
import json
import os
import subprocess
import time
import unittest

from cluster_test_case import ClusterTestCase, eventually

QUEUE = "scheduling.volcano.sh/queue-name"
ELECT = ("--leader-elect=true", "--leader-elect-lease-duration=4s",
         "--leader-elect-renew-deadline=2s", "--leader-elect-retry-period=500ms")


class Waiting(ClusterTestCase):
    def jobs(self, scheduler):
        code, text = scheduler.page("/api/v1/jobs", scheduler.metrics_port)
        return {job["name"]: job for job in json.loads(text)["jobs"]} if code == 200 else {}

    def explained(self, scheduler, kind, name):
        done = subprocess.run(
            [os.environ["KRAFLA"], "explain", kind, name, "--server",
             f"http://127.0.0.1:{scheduler.metrics_port}"], text=True, stdout=subprocess.PIPE)
        self.assertEqual(done.returncode, 0)
        return done.stdout

    def told(self, pod):
        return self.condition(self.pods()[pod]["status"], "PodScheduled")

    def test_what_does_not_exist_is_named(self):
        self.node("n1", cpu="8")
        scheduler = self.scheduler()
        self.pod("bare", annotations={QUEUE: "team-x"})
        self.pod("lost-0", "lost")
        self.job("stuck", 2, queue="defualt")
        causes = {"bare": f'queue "team-x" does not exist; create it or name another in {QUEUE}',
                  "lost-0": 'PodGroup "lost" does not exist',
                  "stuck-0": 'queue "defualt" of PodGroup stuck does not exist '
                             '(did you mean "default"?)'}
        for pod, cause in causes.items():
            condition = eventually(f"{pod} is told", lambda p=pod: self.told(p))
            self.assertEqual((condition["status"], condition["reason"]),
                             ("False", "Unschedulable"))
            self.assertIn(cause, condition["message"])
            events = eventually("the event", lambda p=pod: self.events("Pod", p))
            self.assertEqual([reason for reason, _ in events], ["FailedScheduling"])
            self.assertIn(cause, events[0][1])
        condition = eventually("the PodGroup is told", lambda: self.condition(
            self.group_status("stuck"), "Unschedulable"))
        self.assertEqual((condition["status"], condition["reason"]), ("True", "QueueNotFound"))
        eventually("its event", lambda: [r for r, _ in self.events("PodGroup", "stuck")] ==
                   ["Unschedulable"])
        self.assertEqual(scheduler.metric("krafla_waiting_pods"), 4)
        self.assertEqual(scheduler.log().count("unresolved reference; the object does not exist"), 3)
        jobs = self.jobs(scheduler)
        self.assertIn('queue "team-x" does not exist', jobs["bare"]["waitsFor"])
        self.assertIn('queue "defualt" does not exist', jobs["stuck"]["waitsFor"])
        self.assertIn("does not exist", jobs["lost"]["waitsFor"])
        for kind in ("pod", "job"):
            self.assertIn('its queue "team-x" does not exist',
                          self.explained(scheduler, kind, "team-a/bare"))
        # What they named comes.
        self.queue("team-x")
        self.queue("defualt")
        self.group("lost", 1)
        self.assert_all_is_well(4)
        eventually("no longer unschedulable", lambda: self.condition(
            self.group_status("stuck"), "Unschedulable")["status"] == "False")
        eventually("nobody waits", lambda: scheduler.metric("krafla_waiting_pods") == 0)
        self.assertEqual(len([1 for r, _ in self.events("Pod", "bare")
                              if r == "FailedScheduling"]), 1)

    def test_a_gang_that_is_created_slowly_is_not_called_unschedulable(self):
        self.node("n1", cpu="8")
        self.scheduler()
        self.group("slow", 4)
        for i in range(4):
            self.pod(f"slow-{i}", "slow")
            time.sleep(0.8)
        self.wait_bound(4)
        self.assertEqual([r for r, _ in self.events("PodGroup", "slow")], [])
        for i in range(4):
            self.assertEqual([r for r, _ in self.events("Pod", f"slow-{i}")
                              if r == "FailedScheduling"], [])

    def test_a_gang_that_lacks_pods_says_how_many(self):
        self.node("n1", cpu="8")
        self.scheduler()
        self.group("half", 4)
        for i in range(2):
            self.pod(f"half-{i}", "half")
        condition = eventually("it is told", lambda: self.condition(
            self.group_status("half"), "Unschedulable"))
        self.assertEqual(condition["reason"], "NotEnoughTasks")
        self.assertEqual(condition["message"], "2 of the 4 pods of minMember exist")
        eventually("its pods too", lambda: self.told("half-0") and "2 of the 4 pods of minMember"
                   in self.told("half-0")["message"])
        self.assertEqual(self.events("PodGroup", "half"),
                         [("Unschedulable", "2 of the 4 pods of minMember exist")])
        for i in range(2, 4):
            self.pod(f"half-{i}", "half")
        self.assert_all_is_well(4)

    def test_a_follower_shows_what_runs(self):
        self.node("n1", cpu="8")
        first = self.scheduler(flags=ELECT)
        eventually("it leads", lambda: first.metric("krafla_leading") == 1)
        second = self.scheduler(flags=ELECT)
        self.pod("bare")
        self.job("gang", 2)
        self.wait_running(3)
        for scheduler in (first, second):
            eventually("both run", lambda s=scheduler: all(
                self.jobs(s).get(name, {}).get("phase") == "Running" for name in ("bare", "gang")))
        self.assertEqual(second.metric("krafla_leading"), 0)
        # What it cannot know it says.
        for page in ("jobs", "evictions", "cycles"):
            leader, follower = (json.loads(s.page(f"/api/v1/{page}", s.metrics_port)[1])
                                for s in (first, second))
            self.assertEqual((leader["leading"], follower["leading"]), (True, False))
            self.assertEqual(leader["leader"], follower["leader"])
            self.assertIn(f"identity={leader['leader']}", first.log())
            self.assertNotIn("note", leader)
            self.assertIn("does not lead", follower["note"])

    def test_a_priority_class_that_does_not_exist_is_told(self):
        self.node("n1", cpu="8")
        self.priority_class("high", 1000)
        scheduler = self.scheduler()
        self.group("train", 1, priority="hihg")
        self.pod("train-0", "train")
        self.wait_bound(1)
        events = eventually("it is told", lambda: self.events("PodGroup", "train"))
        self.assertEqual([reason for reason, _ in events], ["PriorityClassNotFound"])
        self.assertIn('PriorityClass "hihg" does not exist (did you mean "high"?)', events[0][1])
        self.assertEqual(scheduler.log().count("priorityclass=hihg"), 1)

    def test_a_pod_that_no_node_is_as_large_as_reads_that_first(self):
        self.node("n1", cpu="4")
        scheduler = self.scheduler()
        self.job("big", 1, cpu="100")
        why = "no node is as large as big-0: it asks for 100 cpu (the largest node has 4); "
        condition = eventually("the pod is told", lambda: self.told("big-0"))
        self.assertTrue(condition["message"].startswith(why), condition)
        condition = eventually("the PodGroup is told", lambda: self.condition(
            self.group_status("big"), "Unschedulable"))
        self.assertTrue(condition["message"].startswith(why), condition)
        eventually("the page says so",
                   lambda: why in (self.jobs(scheduler)["big"]["waitsFor"] or ""))

    def test_who_is_given_a_node_is_nominated_and_who_leaves_it_is_not_scheduled(self):
        self.node("n1", cpu="2")
        self.priority_class("high", 1000)
        self.scheduler()
        self.job("low", 2, min_member=1, terminationGracePeriodSeconds=8)
        self.wait_running(2)
        self.job("high", 1, priority="high")
        eventually("it is nominated", lambda: any(
            r == "Nominated" for r, _ in self.events("PodGroup", "high")), patience_s=20)
        self.wait_bound(1, prefix="high")
        for kind, name in (("PodGroup", "high"), ("Pod", "high-0")):
            events = self.events(kind, name)
            self.assertFalse([e for e in events if e[0] in ("FailedScheduling", "Unschedulable")],
                             events)
            for reason, message in events:
                if reason == "Nominated":
                    self.assertEqual(message, "waits for at most 1 pod to leave node n1")
        self.assertEqual(self.condition(self.group_status("low"), "Scheduled")["status"], "True")
        for name in self.bound(prefix="low"):
            self.plane.request("DELETE", f"/api/v1/namespaces/team-a/pods/{name}")
        condition = eventually("low has lost its pods", lambda: next(
            (c for c in self.group_status("low").get("conditions", [])
             if c["type"] == "Scheduled" and c["status"] == "False"), None))
        self.assertEqual(condition["message"], "fewer pods than minMember have a place")
        self.pod("low-9", "low")
        self.wait_bound(1, prefix="low-9")
        eventually("it is scheduled again", lambda: self.condition(
            self.group_status("low"), "Scheduled")["status"] == "True")


if __name__ == "__main__":
    unittest.main()
