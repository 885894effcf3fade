"""Starting, stopping, configurations, credentials, pages."""
import os
import signal
import subprocess
import time
import unittest

from cluster_test_case import CONFIG, ClusterTestCase, eventually
from tcp_proxy import TcpProxy

LEASE = "/apis/coordination.k8s.io/v1/namespaces/volcano-system/leases/volcano"
ELECT = ("--leader-elect=true", "--leader-elect-lease-duration=3s",
         "--leader-elect-renew-deadline=2s", "--leader-elect-retry-period=500ms")


class Running(ClusterTestCase):
    def test_sigterm_ends_it_with_everything_written(self):
        self.node("n1", cpu="20", memory="64Gi")
        scheduler = self.scheduler()
        self.job("train", 20, min_member=1)
        eventually("it has begun", lambda: self.bound())
        self.assertEqual(scheduler.stop(), 0, scheduler.log())
        bound = self.bound()
        for name in bound:
            self.assertTrue(any(r == "Scheduled" for r, _ in self.events("Pod", name)), name)

    def test_pages(self):
        self.node("n1")
        scheduler = self.scheduler()
        self.job("train", 2)
        self.wait_bound(2)
        self.assertEqual(scheduler.page("/healthz"), (200, "ok\n"))
        self.assertEqual(scheduler.page("/metrics")[0], 404)
        eventually("figures", lambda: scheduler.metric(
            'volcano_schedule_attempts_total') >= 2 and scheduler.metric("krafla_cycles_total") > 0)
        _, text = scheduler.page("/metrics", scheduler.metrics_port)
        for name in ("volcano_e2e_scheduling_latency_milliseconds",
                     'volcano_queue_allocated_milli_cpu{queue_name="default"}',
                     "volcano_task_scheduling_latency_milliseconds"):
            self.assertIn(name, text)

    def test_not_ready_without_the_server(self):
        plane = self.plane
        path = plane.kubeconfig("lost", cluster={"server": "https://127.0.0.1:1"})
        scheduler = self.scheduler(kubeconfig=path, ready=False)
        eventually("alive", lambda: scheduler.page("/healthz")[0] == 200)
        self.assertEqual(scheduler.page("/readyz")[0], 503)
        self.assertEqual(scheduler.stop(), 0)

    def test_who_is_not_known_and_whom_is_not_trusted_are_told_apart(self):
        plane = self.plane
        plane.kubeconfig("krafla")

        def trouble(path, *flags):
            """The lines about the server, but for those that say it is over."""
            scheduler = self.scheduler(kubeconfig=path, ready=False, flags=flags)
            eventually("it is told", lambda: "API server" in scheduler.log())
            time.sleep(4)
            lines = [line for line in scheduler.log().splitlines() if "API server" in line]
            scheduler.stop()
            return lines

        lines = trouble(plane.kubeconfig("bad-token", credentials={"token": "nobody"}),
                        "--leader-elect=true")
        self.assertEqual(len(lines), 1, lines)
        self.assertIn("API server rejects the credentials; retrying", lines[0])
        self.assertNotIn("HTTP", lines[0])
        self.assertIn("token", lines[0])

        own = plane.pki.text("krafla.crt")
        lines = trouble(plane.kubeconfig("wrong-ca", cluster={"certificate-authority-data": own}))
        self.assertEqual(len(lines), 1, lines)
        self.assertIn("API server's certificate is not trusted", lines[0])
        self.assertIn("certificate-authority-data of ", lines[0])
        lines = trouble(plane.kubeconfig("no-ca", cluster={"certificate-authority-data": ""}))
        self.assertEqual(len(lines), 1, lines)
        self.assertIn("the certificates of the system are trusted", lines[0])
        lines = trouble(plane.kubeconfig("other-name", cluster={"tls-server-name": "elsewhere"}))
        self.assertEqual(len(lines), 1, lines)
        self.assertIn("API server's certificate is for another name", lines[0])

    def test_a_new_configuration_is_checked_as_the_first_one_is(self):
        trap = CONFIG.replace("preempt, ", "").replace(
            "  - name: conformance", "  - name: tdm\n    arguments:\n"
            "      tdm.revocable-zone.rz1: 10:00-21:00")
        warning = "warning: K209 tdm-without-evictor"
        first = self.scheduler(config=trap)
        self.assertEqual(first.log().count(warning), 1)
        second = self.scheduler()
        self.assertNotIn("warning", second.log())
        second.write_config(trap)
        eventually("it is taken", lambda: "configuration read again" in second.log())
        eventually("and warned of", lambda: second.log().count(warning) == 1)

    def test_a_bad_configuration_is_refused_and_the_old_one_stays(self):
        self.node("n1", cpu="1")
        self.priority_class("low", 10)
        self.priority_class("high", 1000)
        scheduler = self.scheduler(CONFIG.replace("preempt, ", ""))
        self.job("low", 1, min_member=0, priority="low")
        self.wait_running(1)
        scheduler.write_config(CONFIG.replace("allocate", "allocat"))
        eventually("refused", lambda: scheduler.metric(
            'krafla_config_reloads_total{result="refused"}') or
            "configuration refused" in scheduler.log())
        self.assertIn('did you mean "allocate"?', scheduler.log())
        self.job("high", 1, priority="high")
        self.stays("nobody preempts", lambda: "low-0" in self.bound(), 1)
        scheduler.write_config(CONFIG)
        self.assert_all_is_well(1, evicted=1, prefix="high")

    def test_a_wrong_start_is_said(self):
        def start(*flags):
            done = subprocess.run([os.environ["KRAFLA"], "serve", *flags], text=True,
                                  stdout=subprocess.PIPE, stderr=subprocess.PIPE)
            return done.returncode, done.stderr
        code, text = start("--kubeconfig=/nowhere")
        self.assertEqual(code, 2)
        self.assertIn("/nowhere: error: cannot be read", text)
        conf = self.plane.kubeconfig("no-token", credentials={"tokenFile": "/nowhere/token"})
        code, text = start(f"--kubeconfig={conf}")
        self.assertEqual(code, 2)
        self.assertIn("error: user no-token: tokenFile: expected a file with a token: "
                      "/nowhere/token: cannot be read", text)
        self.assertEqual(start("--scheduler-name", ""), (
            2, "--scheduler-name: error: expected a name, got nothing\n"))
        code, text = start("--schedule-perod=1s")
        self.assertEqual((code, text), (2, "--schedule-perod: error: unknown flag; did you mean "
                                           "--schedule-period?\n"))

    def test_an_outage_and_a_clean_stop_are_a_few_lines(self):
        self.node("n1")
        proxy = TcpProxy(self.plane.api_port)
        self.plane.kubeconfig("krafla")
        conf = self.plane.kubeconfig("krafla-interrupted", cluster={
            "server": f"https://127.0.0.1:{proxy.port}"}, credentials={
                "client-certificate-data": self.plane.pki.text("krafla.crt"),
                "client-key-data": self.plane.pki.text("krafla.key")})
        scheduler = self.scheduler(kubeconfig=conf, flags=("--v=3",))
        self.pod("one")
        self.wait_bound(1)
        # From its last word on nothing but the outage is to be told of.
        begin = len(scheduler.log())
        proxy.refusing = True
        proxy.cut()
        time.sleep(5)
        proxy.refusing = False
        eventually("it is over", lambda: "API server answers again" in scheduler.log(), 90)
        outage = [line for line in scheduler.log()[begin:].splitlines() if "API server" in line]
        self.assertEqual(len(outage), 2, outage)
        self.assertIn(f"API server does not answer; retrying "
                      f"server=https://127.0.0.1:{proxy.port} resources=11 error=", outage[0])
        self.assertEqual(scheduler.stop(), 0)
        proxy.close()
        lines = scheduler.log().splitlines()
        stopping = next(i for i, line in enumerate(lines) if "received SIGTERM, shutting down" in line)
        self.assertEqual([line for line in lines[stopping:] if "error" in line], [])
        self.assertIn(" stopped bound=1 ", lines[-1])
        # The cycles' lines have the form of the others.
        self.assertTrue(any("Queue <default>" in line for line in lines), lines)
        for line in lines:
            self.assertRegex(line, r"^\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d\.\d{3}Z ")

    def test_what_the_server_forbids_is_named_in_one_line(self):
        scheduler = self.scheduler(kubeconfig=self.plane.kubeconfig("without-a-role"), ready=False)
        eventually("told", lambda: "API server denies a required permission" in scheduler.log())
        time.sleep(3)  # several attempts of each kind
        lines = [line for line in scheduler.log().splitlines() if "API server denies" in line]
        self.assertEqual(len(lines), 1, lines)
        for what in ("resources=11", "watch pods", "watch podgroups", "deploy/rbac.yaml",
                     r'User \"without-a-role\" cannot watch resource'):
            self.assertIn(what, lines[0])

    def test_a_token_is_rotated(self):
        """The first one is no longer good when its Secret is gone; by then the file has another."""
        plane = self.plane
        account = "/api/v1/namespaces/volcano-system/serviceaccounts/krafla/token"
        secrets = "/api/v1/namespaces/volcano-system/secrets"

        def token(name):
            made = plane.create(secrets, {"apiVersion": "v1", "kind": "Secret",
                                          "metadata": {"name": name}})
            return plane.create(account, {
                "apiVersion": "authentication.k8s.io/v1", "kind": "TokenRequest",
                "spec": {"expirationSeconds": 600, "boundObjectRef": {
                    "kind": "Secret", "apiVersion": "v1", "name": name,
                    "uid": made["metadata"]["uid"]}}})["status"]["token"]
        path = os.path.join(plane.folder, "token")

        def write(text):
            with open(path + ".new", "w") as f:
                f.write(text)
            os.rename(path + ".new", path)
        write("not-a-token")
        self.node("n1")
        conf = plane.kubeconfig("by-token", credentials={"tokenFile": path})
        scheduler = self.scheduler(kubeconfig=conf, ready=False)
        eventually("refused", lambda: "401" in scheduler.log())
        first = token("first")
        write(first)
        scheduler.wait_until_ready()
        self.pod("one")
        self.wait_bound(1)
        second = token("second")
        write(second)
        plane.request("DELETE", f"{secrets}/first")
        # The server keeps what it knows of a token for ten seconds.
        time.sleep(11)
        self.pod("two")
        self.assert_all_is_well_by("system:serviceaccount:volcano-system:krafla", 2)
        for text in ("not-a-token", first, second):
            self.assertNotIn(text, scheduler.log())
        plane.request("DELETE", f"{secrets}/second")

    def assert_all_is_well_by(self, user, bound):
        self.assert_all_is_well(bound)
        self.assertEqual({e["user"]["username"] for e in self.audit_entries()
                          if e.get("objectRef", {}).get("subresource") == "binding"}, {user})

    def test_a_leader_out_of_reach_does_not_write_after_its_lease(self):
        """What it has sent stays on the way until the other leads, and arrives then."""
        self.node("n1", cpu="8")
        proxy = TcpProxy(self.plane.api_port)
        self.plane.kubeconfig("krafla")
        conf = self.plane.kubeconfig("krafla-cut-off", cluster={
            "server": f"https://127.0.0.1:{proxy.port}"}, credentials={
                "client-certificate-data": self.plane.pki.text("krafla.crt"),
                "client-key-data": self.plane.pki.text("krafla.key")})
        first = self.scheduler(flags=ELECT, kubeconfig=conf)
        eventually("it leads", lambda: first.metric("krafla_leading") == 1)
        second = self.scheduler(flags=ELECT)
        self.job("early", 3)
        proxy.stalled = True
        eventually("the other takes over", lambda: second.metric("krafla_leading") == 1)
        self.job("late", 3)
        self.wait_bound(6)
        self.assertEqual(first.process.wait(20), 1)
        proxy.stalled = False
        time.sleep(1)
        self.assertIn("lost leader lease", first.log())
        self.assert_all_is_well(6)
        self.assertEqual(second.metric("krafla_leading"), 1)
        proxy.close()

    def test_one_of_two_leads_and_the_other_takes_over(self):
        self.node("n1", cpu="8")
        first = self.scheduler(flags=ELECT)
        eventually("the lease", lambda: (self.plane.get(LEASE) or {}).get("spec", {})
                   .get("holderIdentity"))
        second = self.scheduler(flags=ELECT)
        self.pod("one")
        self.wait_bound(1)
        self.assertEqual(second.metric("krafla_leading"), 0)
        # In the middle of its work.
        self.job("gang", 5)
        first.stop(signal.SIGKILL)
        self.pod("two")
        self.assert_all_is_well(7)
        eventually("the second leads", lambda: second.metric("krafla_leading") == 1)
        self.assertEqual(second.stop(), 0)
        self.assertEqual(self.plane.get(LEASE)["spec"]["holderIdentity"], "")

    def test_a_paused_leader_does_not_write_after_its_lease(self):
        self.node("n1", cpu="8")
        first = self.scheduler(flags=ELECT)
        eventually("it leads", lambda: first.metric("krafla_leading") == 1)
        second = self.scheduler(flags=ELECT)
        first.process.send_signal(signal.SIGSTOP)
        eventually("the other takes over", lambda: second.metric("krafla_leading") == 1)
        self.pod("one")
        self.wait_bound(1)
        first.process.send_signal(signal.SIGCONT)
        self.assertEqual(first.process.wait(20), 1)
        self.assertIn("lost leader lease", first.log())
        self.pod("two")
        self.assert_all_is_well(2)
        self.assertIsNone(second.process.poll())


if __name__ == "__main__":
    unittest.main()
