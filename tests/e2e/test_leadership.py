"""Who leads, and for how long: failover, a scheduling thread that hangs, clocks that are set or
differ from the API server's, a machine that was suspended."""
import os
import signal
import struct
import subprocess
import time
import unittest

from cluster_test_case import CONFIG, ClusterTestCase, eventually
from tcp_proxy import TcpProxy
from test_time import ALWAYS, PREEMPTABLE, closed_now, tdm

LEASES = "/apis/coordination.k8s.io/v1/namespaces/volcano-system/leases"
LEASE = f"{LEASES}/volcano"
SHORT = ("--leader-elect=true", "--leader-elect-lease-duration=3s",
         "--leader-elect-renew-deadline=2s", "--leader-elect-retry-period=500ms")
DEFAULT = ("--leader-elect=true",)


class ShiftedClocks:
    """What is preloaded so that a test can set the clocks of one program."""
    library = None

    def __init__(self, folder):
        if ShiftedClocks.library is None:
            source = os.path.join(os.path.dirname(os.path.abspath(__file__)), "shifted_clocks.c")
            library = os.path.join(folder, "shifted_clocks.so")
            subprocess.run(["cc", "-shared", "-fPIC", "-O2", "-o", library, source], check=True)
            ShiftedClocks.library = library
        self.path = os.path.join(folder, f"clocks-{time.monotonic_ns()}")
        self.shift()

    def shift(self, wall_s=0, boot_s=0):
        with open(self.path, "r+b" if os.path.exists(self.path) else "wb") as f:
            f.write(struct.pack("=qq", int(wall_s * 1e9), int(boot_s * 1e9)))

    def environment(self):
        return {"LD_PRELOAD": self.library, "KRAFLA_SHIFTED_CLOCKS": self.path}


class Leadership(ClusterTestCase):
    def shifted(self, *args, **kw):
        clocks = ShiftedClocks(self.plane.folder)
        return clocks, self.scheduler(*args, environment=clocks.environment(), **kw)

    def lease(self):
        return (self.plane.get(LEASE) or {}).get("spec", {})

    def leader(self, *schedulers):
        def find():
            leading = [s for s in schedulers if s.metric("krafla_leading") == 1]
            return leading[0] if len(leading) == 1 else None
        return eventually("one leads", find)

    def failover(self, flags, lease_s):
        """From kill -9 of the leader, just after it has renewed, to the next binding, by the API
        server's clock."""
        first, second = self.scheduler(flags=flags), self.scheduler(flags=flags)
        leader = self.leader(first, second)
        time.sleep(1.5)  # the other one has seen that it leads
        renewed = self.lease()["renewTime"]
        eventually("a renewal", lambda: self.lease()["renewTime"] != renewed, every_s=0.01)
        killed = time.time()
        leader.stop(signal.SIGKILL)
        name = f"after-{int(killed * 1000)}"
        self.pod(name)
        eventually("bound", lambda: name in self.bound(), patience_s=lease_s + 10)
        (when,) = [at for bound, at in self.audited("create", "binding") if bound == name]
        print(f"failover with a lease of {lease_s} s: {when - killed:.2f} s", flush=True)
        self.assertLessEqual(when - killed, lease_s + 2)
        other = second if leader is first else first
        self.assertEqual(other.stop(), 0)

    def test_failover_takes_at_most_the_lease_and_two_seconds(self):
        self.node("n1", cpu="8")
        for _ in range(3):
            self.failover(SHORT, 3)

    def test_failover_with_the_default_lease(self):
        self.node("n1", cpu="8")
        self.failover(DEFAULT, 15)

    def test_a_scheduling_thread_that_hangs_is_succeeded_and_ends(self):
        """Reading its configuration never returns: the file has become a pipe."""
        self.node("n1", cpu="8")
        first = self.scheduler(flags=(*SHORT, "--heartbeat-timeout=2s"))
        eventually("it leads", lambda: first.metric("krafla_leading") == 1)
        self.assertLess(first.metric("krafla_heartbeat_age_seconds"), 2)
        second = self.scheduler(flags=SHORT)
        os.mkfifo(first.config_path + ".new")
        os.rename(first.config_path + ".new", first.config_path)
        eventually("it is not live", lambda: first.page("/livez?verbose")[0] == 503)
        self.assertIn('the scheduling thread hangs', first.page("/livez?verbose")[1])
        self.assertGreater(first.metric("krafla_heartbeat_age_seconds"), 2)
        eventually("the other takes over", lambda: second.metric("krafla_leading") == 1)
        self.pod("one")
        self.wait_bound(1)
        self.assertEqual(first.process.wait(40), 1)
        log = first.log()
        self.assertIn('the scheduling thread hangs; the leader lease is not renewed any more '
                      'phase="reading the configuration" for_s=2', log)
        self.assertIn('lost leader lease lease=volcano-system/volcano because="the scheduling '
                      'thread hangs"', log)
        self.assertIn('the scheduling thread does not end; ending the process', log)
        self.assert_all_is_well(1)

    def test_sigterm_ends_a_process_whose_scheduling_thread_hangs(self):
        first = self.scheduler(flags=("--heartbeat-timeout=1h",))
        os.mkfifo(first.config_path + ".new")
        os.rename(first.config_path + ".new", first.config_path)
        eventually("it hangs", lambda: first.metric("krafla_heartbeat_age_seconds") > 2)
        begun = time.monotonic()
        self.assertEqual(first.stop(), 1)
        self.assertLess(time.monotonic() - begun, 9)
        self.assertIn('received SIGTERM, shutting down', first.log())
        self.assertIn('phase="reading the configuration"', first.log())

    def test_sigterm_ends_the_process_when_the_api_server_does_not_answer(self):
        self.node("n1", cpu="8")
        proxy = TcpProxy(self.plane.api_port)
        self.plane.kubeconfig("krafla")
        conf = self.plane.kubeconfig("krafla-stalled", cluster={
            "server": f"https://127.0.0.1:{proxy.port}"}, credentials={
                "client-certificate-data": self.plane.pki.text("krafla.crt"),
                "client-key-data": self.plane.pki.text("krafla.key")})
        first = self.scheduler(flags=DEFAULT, kubeconfig=conf)
        eventually("it leads", lambda: first.metric("krafla_leading") == 1)
        proxy.stalled = True
        first.write_config(CONFIG + "# changed\n")  # there is an event to be written
        eventually("it is taken", lambda: "configuration read again" in first.log())
        time.sleep(1)
        begun = time.monotonic()
        self.assertEqual(first.stop(), 1)
        self.assertLess(time.monotonic() - begun, 9.5)
        self.assertIn('shutting down with writes left undone after 5 s', first.log())
        proxy.close()

    def test_volcanos_role_for_leases_is_enough(self):
        """get, create, update and watch, as in Volcano's chart; no patch."""
        user = [{"kind": "User", "name": "as-in-volcano", "apiGroup": "rbac.authorization.k8s.io"}]
        self.plane.apply(
            {"apiVersion": "rbac.authorization.k8s.io/v1", "kind": "ClusterRoleBinding",
             "metadata": {"name": "as-in-volcano"}, "subjects": user,
             "roleRef": {"apiGroup": "rbac.authorization.k8s.io", "kind": "ClusterRole",
                         "name": "krafla"}},
            {"apiVersion": "rbac.authorization.k8s.io/v1", "kind": "ClusterRole",
             "metadata": {"name": "leases-as-in-volcano"},
             "rules": [{"apiGroups": ["coordination.k8s.io"], "resources": ["leases"],
                        "verbs": ["get", "create", "update", "watch"]}]},
            {"apiVersion": "rbac.authorization.k8s.io/v1", "kind": "ClusterRoleBinding",
             "metadata": {"name": "leases-as-in-volcano"}, "subjects": user,
             "roleRef": {"apiGroup": "rbac.authorization.k8s.io", "kind": "ClusterRole",
                         "name": "leases-as-in-volcano"}})
        self.node("n1")
        scheduler = self.scheduler(flags=SHORT, kubeconfig=self.plane.kubeconfig("as-in-volcano"))
        self.pod("one")
        self.wait_bound(1)
        renewed = self.lease()["renewTime"]
        eventually("renewed", lambda: self.lease()["renewTime"] != renewed)
        self.assertNotIn("forbids", "".join(
            line for line in scheduler.log().splitlines() if "leases" in line))
        self.assertEqual(scheduler.stop(), 0)
        self.assertEqual(self.lease()["holderIdentity"], "")

    def test_after_a_suspend_the_lease_is_checked_before_anything_is_written(self):
        self.node("n1", cpu="8")
        clocks, scheduler = self.shifted(flags=SHORT)
        eventually("it leads", lambda: scheduler.metric("krafla_leading") == 1)
        clocks.shift(wall_s=3600, boot_s=3600)
        eventually("it is noticed", lambda: "the machine was suspended; nothing is written before "
                   "the leader lease was checked for_s=3600." in scheduler.log())
        clocks.shift(boot_s=3600)  # or its clock would be an hour ahead
        self.pod("one")
        self.wait_bound(1)
        self.assertEqual(scheduler.metric("krafla_leading"), 1)
        self.assertEqual(scheduler.stop(), 0)

    def test_a_clock_that_differs_from_the_servers_drains_nothing(self):
        self.node("rz", cpu="8", labels={"volcano.sh/revocable-zone": "rz1"})
        self.node("n1", cpu="1")
        clocks, scheduler = self.shifted(tdm(ALWAYS))
        self.job("night", 2, min_member=1, pod_annotations=PREEMPTABLE)
        self.wait_running(2)
        self.assertAlmostEqual(scheduler.metric("krafla_clock_skew_seconds"), 0, delta=2)
        clocks.shift(wall_s=2700)
        scheduler.write_config(tdm(closed_now()))
        eventually("it is said", lambda: "ClockSkew" in [
            reason for reason, _ in self.events("Lease", "volcano", ns="volcano-system")])
        self.assertAlmostEqual(scheduler.metric("krafla_clock_skew_seconds"), 2700, delta=2)
        self.stays("nothing is evicted", lambda: self.audited("delete") == [], 5)
        _, text = scheduler.page("/api/v1/explain?kind=zone&name=rz1&as=text", scheduler.metrics_port)
        self.assertRegex(text, r"drain held: clock skew of (2699|2700|2701) s against the API server")
        self.pod("one")  # scheduling goes on
        self.wait_bound(1, prefix="one")
        clocks.shift()
        eventually("the zone is drained", lambda: len(self.audited("delete")) == 2, 90)
        self.assertIn("ClockSkewOver", [
            reason for reason, _ in self.events("Lease", "volcano", ns="volcano-system")])

    def test_a_clock_that_differs_from_the_servers_ends_no_cooldown(self):
        self.node("n1", cpu="1")
        self.priority_class("low", 10)
        self.priority_class("high", 1000)
        clocks, scheduler = self.shifted(
            CONFIG.replace("- name: conformance", "- name: conformance\n  - name: cdp"))
        self.job("low", 1, min_member=0, priority="low",
                 pod_annotations={"volcano.sh/cooldown-time": "30m"})
        self.wait_running(1, prefix="low")
        clocks.shift(wall_s=7200)
        eventually("it is noticed", lambda: "clock skew" in scheduler.log())
        self.job("high", 1, priority="high")
        self.stays("nothing is evicted", lambda: self.audited("delete") == [], 4)

    def test_with_no_bound_on_clock_skew_the_cooldown_ends_by_the_leaders_clock(self):
        """The same cluster as in the test before: there nothing but the skew keeps the pod."""
        self.node("n1", cpu="1")
        self.priority_class("low", 10)
        self.priority_class("high", 1000)
        clocks, _ = self.shifted(
            CONFIG.replace("- name: conformance", "- name: conformance\n  - name: cdp"),
            flags=("--max-clock-skew=0",))
        self.job("low", 1, min_member=0, priority="low",
                 pod_annotations={"volcano.sh/cooldown-time": "30m"})
        self.wait_running(1, prefix="low")
        self.job("high", 1, priority="high")
        self.stays("the cooldown protects it", lambda: self.audited("delete") == [], 2)
        clocks.shift(wall_s=7200)
        eventually("it is evicted", lambda: len(self.audited("delete")) == 1, 30)

    def test_a_clock_that_is_set_back_changes_no_evict_period(self):
        self.node("rz", cpu="8", labels={"volcano.sh/revocable-zone": "rz1"})
        clocks, scheduler = self.shifted(tdm(ALWAYS, "8s"), flags=("--max-clock-skew=0",))
        self.job("night", 2, min_member=1, pod_annotations=PREEMPTABLE)
        self.wait_running(2)
        scheduler.write_config(tdm(closed_now(), "8s"))
        eventually("the first is evicted", lambda: len(self.audited("delete")) == 1, every_s=0.02)
        clocks.shift(wall_s=-3600)
        eventually("the second is evicted", lambda: len(self.audited("delete")) == 2)
        first, second = sorted(when for _, when in self.audited("delete"))
        self.assertGreaterEqual(second - first, 7.9)
        self.assertLess(second - first, 8 + 5)
        self.assertIn("the scheduler's clock was set by_s=-3600.0", scheduler.log())


if __name__ == "__main__":
    unittest.main()
