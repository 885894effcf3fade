"""What has a time of its own: windows of zones, evict periods, cooldowns. Times are the API
server's, from its audit log."""
import datetime
import signal
import time
import unittest

from cluster_test_case import CONFIG, ClusterTestCase, eventually

UTC = datetime.timezone.utc
PREEMPTABLE = {"volcano.sh/preemptable": "true", "volcano.sh/revocable-zone": "*"}


def tdm(window, period="2s"):
    return f"""
actions: "enqueue, allocate, preempt"
tiers:
- plugins:
  - name: tdm
    arguments:
      tdm.revocable-zone.rz1: "{window}"
      tdm.evict.period: {period}
      tdm.timezone: UTC
  - name: gang
- plugins:
  - name: predicates
  - name: proportion
  - name: nodeorder
"""


ALWAYS = "00:00-00:00"
# Nothing may be early, by the server's clock; on a machine that does other things it may be late.
LATE_S = 5


def closed_now():
    """A window that is closed for hours to come."""
    now = datetime.datetime.now(UTC)
    begin = now + datetime.timedelta(hours=3)
    end = now + datetime.timedelta(hours=4)
    return f"{begin:%H:%M}-{end:%H:%M}"


class Time(ClusterTestCase):
    def zone_node(self, cpu="8"):
        self.node("rz", cpu=cpu, labels={"volcano.sh/revocable-zone": "rz1"})

    def evictions(self):
        """Name and instant of each eviction, in order."""
        return sorted((when, name) for name, when in self.audited("delete"))

    def test_a_zone_is_for_those_who_may_use_it(self):
        self.zone_node()
        self.scheduler(tdm(ALWAYS))
        self.job("ordinary", 1)
        self.job("night", 2, pod_annotations=PREEMPTABLE)
        self.wait_bound(2, prefix="night")
        self.assertEqual(self.bound(prefix="ordinary"), {})

    def test_a_window_closes_to_the_second_and_the_zone_is_emptied_step_by_step(self):
        self.zone_node()
        now = datetime.datetime.now(UTC)
        # The end of this minute, or of the next one when there is little left of this.
        end = (now + datetime.timedelta(seconds=75)).replace(second=0, microsecond=0)
        begin = now - datetime.timedelta(hours=1)
        self.scheduler(tdm(f"{begin:%H:%M}-{end:%H:%M}"))
        self.job("night", 3, min_member=1, pod_annotations=PREEMPTABLE)
        self.wait_running(3)
        self.assertEqual(self.evictions(), [])
        eventually("the zone is empty", lambda: not self.pods(), 100)
        times = [when for when, _ in self.evictions()]
        self.assertEqual(len(times), 3)
        self.assertGreaterEqual(times[0], end.timestamp())
        self.assertLess(times[0], end.timestamp() + LATE_S)
        # Without a budget one by one, a period apart.
        for earlier, later in zip(times, times[1:]):
            self.assertGreaterEqual(later - earlier, 1.9)
            self.assertLess(later - earlier, 2 + LATE_S)

    def test_a_closing_zone_keeps_to_the_budget(self):
        self.zone_node()
        scheduler = self.scheduler(tdm(ALWAYS, "30s"))
        self.job("night", 4, min_member=1, pod_annotations=PREEMPTABLE,
                 annotations={"volcano.sh/jdb-max-unavailable": "2"})
        self.job("fixed", 2, min_member=1, pod_annotations=PREEMPTABLE,
                 annotations={"volcano.sh/jdb-min-available": "2"})
        self.wait_running(6)
        scheduler.write_config(tdm(closed_now(), "30s"))
        eventually("two have gone", lambda: len(self.bound(prefix="night")) == 2)
        self.stays("no more than the budget allows, and nobody of the other job", lambda: (
            len(self.bound(prefix="night")), len(self.bound(prefix="fixed"))) == (2, 2), 3)

    def test_a_restart_inside_the_evict_period_is_no_second_eviction(self):
        self.zone_node()
        scheduler = self.scheduler(tdm(ALWAYS, "10s"))
        self.job("night", 3, min_member=1, pod_annotations=PREEMPTABLE)
        self.wait_running(3)
        scheduler.write_config(tdm(closed_now(), "10s"))
        eventually("the first is evicted", lambda: len(self.evictions()) == 1, every_s=0.02)
        for _ in range(3):
            scheduler.stop(signal.SIGKILL)
            scheduler.start()
            scheduler.wait_until_ready()
            time.sleep(1)
        self.assertEqual(len(self.evictions()), 1)
        eventually("the second comes in its time", lambda: len(self.evictions()) == 2)
        times = [when for when, _ in self.evictions()]
        self.assertGreaterEqual(times[1] - times[0], 9.9)
        self.assertLess(times[1] - times[0], 10 + LATE_S)

    def test_a_cooldown_protects_to_the_second_and_not_longer(self):
        self.node("n1", cpu="1")
        self.priority_class("low", 10)
        self.priority_class("high", 1000)
        self.scheduler(CONFIG.replace("- name: conformance", "- name: conformance\n  - name: cdp"))
        self.job("low", 1, min_member=0, priority="low",
                 pod_annotations={"volcano.sh/cooldown-time": "6s"})
        self.wait_running(1, prefix="low")
        since = self.condition(self.pods()["low-0"]["status"], "PodScheduled")
        placed = datetime.datetime.fromisoformat(
            since["lastTransitionTime"].replace("Z", "+00:00")).timestamp()
        self.job("high", 1, priority="high")
        self.wait_bound(1, prefix="high")
        (when, name), = self.evictions()
        self.assertEqual(name, "low-0")
        self.assertGreaterEqual(when, placed + 6)
        self.assertLess(when, placed + 6 + LATE_S)


if __name__ == "__main__":
    unittest.main()
