"""Admission webhooks before the API server that are slow, refuse, or are gone: nothing is lost, no pod is bound twice,
and what they do not concern goes on."""
import time
import unittest

from admission_webhook import AdmissionWebhook
from cluster_test_case import GROUPS, ClusterTestCase, eventually


class Webhooks(ClusterTestCase):
    def setUp(self):
        super().setUp()
        self.webhook = AdmissionWebhook(self.plane)
        self.webhook.up()
        self.webhook.register()
        self.addCleanup(self.webhook.unregister)
        self.node("n1", cpu="16")
        # A webhook counts for the API server a moment after it was registered.
        self.krafla = self.scheduler()
        eventually("the webhook is asked", lambda: self.asked_for("probe"))
        self.plane.request("DELETE", f"/api/v1/namespaces/team-a/pods/{self.probe}?gracePeriodSeconds=0")
        eventually("the probe is gone", lambda: not self.pods())

    def asked_for(self, name):
        before = self.webhook.answered
        self.probe = f"{name}-{time.time_ns()}"
        self.pod(self.probe)
        self.wait_bound(1, prefix=self.probe)
        if self.webhook.answered > before:
            return True
        self.plane.request("DELETE", f"/api/v1/namespaces/team-a/pods/{self.probe}?gracePeriodSeconds=0")
        return False

    def assert_statuses_are_right(self, groups):
        def wrong():
            states = {g: self.group_status(g) for g in groups}
            return {g: s for g, s in states.items()
                    if s.get("phase") != "Running" or s.get("running") != 3}
        eventually("every PodGroup runs with its pods", lambda: not wrong(), patience_s=90)

    def test_allowing_webhooks_change_nothing(self):
        self.job("a", 3)
        self.assert_all_is_well(3, prefix="a-")
        self.assert_statuses_are_right(["a"])

    def test_slow_webhooks_lose_nothing(self):
        self.webhook.slow(3.0)
        for name in "abc":
            self.job(name, 3)
        for name in "abc":
            self.assert_all_is_well(3, prefix=f"{name}-")
        self.webhook.allow()
        self.assert_statuses_are_right("abc")

    def test_webhooks_that_refuse_for_a_while_lose_nothing_and_others_go_on(self):
        self.webhook.deny(only=lambda request: request.get("name", "").startswith("held"))
        self.job("held", 3)
        eventually("it is refused", lambda: self.webhook.denied >= 3)
        begin = time.time()
        self.job("fine", 3)
        self.wait_bound(3, prefix="fine", patience_s=10)
        self.assertLess(time.time() - begin, 10)
        self.stays("what is refused is not bound", lambda: not self.bound(prefix="held"), 3.0)
        # A refused write is not repeated in a loop.
        self.assertLess(self.webhook.denied, 200)
        self.webhook.allow()
        self.assert_all_is_well(3, prefix="held-")
        self.assert_statuses_are_right(["held", "fine"])

    def test_webhooks_that_refuse_everything_for_a_while_lose_nothing(self):
        self.webhook.deny()
        for name in "ab":
            self.job(name, 3)
        eventually("it is refused", lambda: self.webhook.denied >= 4)
        time.sleep(3)
        self.assertEqual(self.bound(), {})
        self.webhook.allow()
        for name in "ab":
            self.assert_all_is_well(3, prefix=f"{name}-")
        self.assert_statuses_are_right("ab")

    def test_statuses_that_a_webhook_refuses_are_written_later(self):
        """Nothing changes any more when the webhook comes to its senses: no cycle helps."""
        self.webhook.deny(only=lambda request: request["kind"]["kind"] == "PodGroup")
        self.job("a", 3)
        self.assert_all_is_well(3, prefix="a-")
        self.wait_running(3, prefix="a-")
        eventually("it is refused", lambda: self.webhook.denied >= 2)
        time.sleep(2)
        self.assertNotEqual(self.group_status("a").get("phase"), "Running")
        self.webhook.allow()
        self.assert_statuses_are_right(["a"])

    def test_queues_are_created_although_a_webhook_refuses_them_at_first(self):
        self.krafla.stop()
        for queue in ("default", "root"):
            self.plane.request("DELETE", f"{GROUPS}/queues/{queue}")
        self.webhook.deny(only=lambda request: request["kind"]["kind"] == "Queue")
        self.scheduler()
        eventually("it is refused", lambda: self.webhook.denied >= 2)
        self.webhook.allow()
        eventually("default and root", lambda: self.plane.get(f"{GROUPS}/queues/default")
                   and self.plane.get(f"{GROUPS}/queues/root"))
        self.pod("a-0")
        self.assert_all_is_well(1, prefix="a-")

    def test_webhooks_that_are_gone_lose_nothing(self):
        self.webhook.down()
        for name in "ab":
            self.job(name, 3)
        time.sleep(5)
        self.assertEqual(self.bound(), {}, "failurePolicy is Fail")
        self.webhook.allow()
        for name in "ab":
            self.assert_all_is_well(3, prefix=f"{name}-")
        self.assert_statuses_are_right("ab")


if __name__ == "__main__":
    unittest.main()
