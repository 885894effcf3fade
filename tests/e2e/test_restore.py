"""etcd is restored from a backup while the scheduler runs: it takes the old state as the truth."""
import os
import shutil
import unittest

from cluster_test_case import GROUPS, ClusterTestCase, eventually


class Restore(ClusterTestCase):
    def stop_servers(self):
        for name in ("kwok", "kube-apiserver", "etcd"):
            self.plane.stop(name)

    def start_servers(self):
        self.plane.start_etcd()
        self.plane.start_api_server()
        self.plane.start_kwok()

    def test_the_restored_state_is_the_truth(self):
        plane = self.plane
        data = os.path.join(plane.folder, "etcd")
        backup = os.path.join(plane.folder, "etcd-backup")
        self.node("n1", cpu="4", memory="64Gi")
        scheduler = self.scheduler()
        self.job("early", 2)
        self.wait_running(2, prefix="early")

        self.stop_servers()
        shutil.copytree(data, backup)
        self.start_servers()
        # All of this is lost: two pods that hold what others will need, and the end of a third.
        self.job("late", 2)
        self.wait_running(2, prefix="late")
        plane.request("DELETE", "/api/v1/namespaces/team-a/pods/early-1?gracePeriodSeconds=0")
        eventually("it is gone", lambda: "early-1" not in self.pods())
        eventually("the scheduler has caught up", lambda: scheduler.metric(
            "krafla_effects_in_flight") == 0 and self.queue_cpu() == "3")
        self.stop_servers()
        shutil.rmtree(data)
        os.rename(backup, data)
        self.start_servers()

        # Two CPUs are held by the pods of the backup, whatever was seen before.
        self.job("after", 2)
        self.wait_bound(2, prefix="after", patience_s=120)
        self.job("more", 1)
        eventually("no room is left", lambda: "Insufficient cpu" in str(self.condition(
            self.group_status("more"), "Unschedulable")) or self.waits("more-0"), 60)
        self.assertEqual(set(self.bound()), {"early-0", "early-1", "after-0", "after-1"})
        self.assert_no_node_is_overcommitted()
        self.assertEqual(scheduler.log().count("etcd has gone back to an earlier state"), 1)
        self.assertEqual(scheduler.metric("krafla_etcd_rollbacks_total"), 1)
        self.assertIn("ClusterRolledBack", [reason for reason, _ in self.events(
            "Lease", "volcano", "volcano-system")])
        self.assertEqual(sum(self.evicted().values()), 0)
        eventually("the queue's status is right again", lambda: self.queue_cpu() == "4")
        self.assertIsNone(scheduler.process.poll())

    def queue_cpu(self):
        queue = self.plane.get(f"{GROUPS}/queues/default") or {}
        return queue.get("status", {}).get("allocated", {}).get("cpu")

    def waits(self, name):
        return any(c["type"] == "PodScheduled" and c["status"] == "False"
                   for c in self.pods()[name]["status"].get("conditions", []))


if __name__ == "__main__":
    unittest.main()
