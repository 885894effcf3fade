"""The eviction breaker: what an operator sees when evictions wait, and when a reload is announced."""
import time
import unittest

from cluster_test_case import CONFIG, ClusterTestCase, eventually

LEASES = "volcano-system"
ALLOCATES = CONFIG.replace("allocate, preempt, backfill", "allocate, backfill")


class EvictionBreaker(ClusterTestCase):
    def full_node(self, pods):
        self.priority_class("low", 1)
        self.priority_class("high", 100)
        self.node("n1", cpu=str(pods))
        self.job("low", pods, 0, priority="low")
        self.wait_running(pods, prefix="low-")

    def high_jobs(self, count):
        for i in range(count):
            self.job(f"high-{i}", 1, priority="high")

    def lease_events(self, reason):
        return [m for r, m in self.events("Lease", "volcano", LEASES) if r == reason]

    def breaker(self, scheduler):
        status, text = scheduler.page("/readyz?verbose")
        self.assertEqual(status, 200, text)
        return next(line for line in text.splitlines() if "eviction-breaker" in line)

    def test_evictions_beyond_the_limit_wait_and_it_is_shown(self):
        scheduler = self.scheduler(flags=["--max-evictions-per-minute=1"])
        self.full_node(3)
        self.assertEqual(self.breaker(scheduler), "[+]eviction-breaker ok")
        before = len(self.lease_events("EvictionLimitReached"))
        self.high_jobs(2)
        self.wait_bound(1, prefix="high-")
        self.stays("one eviction", lambda: len(self.evicted()) == 1, 3)
        self.assertEqual(scheduler.metric("krafla_eviction_limit_reached"), 1)
        self.assertGreater(scheduler.metric("krafla_evictions_held_back_total"), 0)
        self.assertRegex(self.breaker(scheduler),
                         r"ok: evictions wait waiting=1 next=\S+ because the limit of 1 evictions a "
                         r"minute is reached")
        self.assertIn("evictions wait for the eviction limit", scheduler.log())
        eventually("an event", lambda: len(self.lease_events("EvictionLimitReached")) > before)
        waiting = eventually("a job says it", lambda: [
            c["message"] for c in (self.condition(self.group_status(f"high-{i}"), "Unschedulable")
                                   for i in range(2))
            if c and c["status"] == "True" and "limit of 1 evictions a minute" in c["message"]])
        self.assertEqual(len(waiting), 1)
        # A minute later the next one is evicted.
        self.wait_bound(2, prefix="high-", patience_s=90)
        self.assertEqual(len(self.evicted()), 2)
        eventually("nothing waits", lambda:
                   self.breaker(scheduler) == "[+]eviction-breaker ok")

    def test_a_reload_that_would_evict_more_than_the_limit_is_announced(self):
        limits = "eviction-limits: {per-minute: 1}\n"
        scheduler = self.scheduler(ALLOCATES + limits)
        self.full_node(2)
        self.high_jobs(2)
        time.sleep(2)
        before = len(self.lease_events("ConfigurationAnnounced"))
        scheduler.write_config(CONFIG + limits)
        eventually("announced", lambda: len(self.lease_events("ConfigurationAnnounced")) > before)
        self.assertIn("its first cycle would evict 2 pods, and the eviction limits allow 1",
                      self.lease_events("ConfigurationAnnounced")[-1])
        self.assertIn("because the configuration was reloaded", self.breaker(scheduler))
        self.stays("no eviction", lambda: not self.evicted(), 5)


if __name__ == "__main__":
    unittest.main()
