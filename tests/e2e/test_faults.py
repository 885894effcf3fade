"""Whatever breaks: everything that should be bound is bound, once, and nobody is evicted without
cause. "Once" is judged by the audit log: a pod has one successful binding."""
import collections
import json
import signal
import subprocess
import time
import unittest

from cluster_test_case import GROUPS, ClusterTestCase, eventually
from tcp_proxy import TcpProxy


class Faults(ClusterTestCase):
    def successful(self, verb, subresource=None):
        """Pods our user has done this to, by count."""
        return collections.Counter(name for name, _ in self.audited(verb, subresource))

    def assert_bound_once_and_nobody_evicted(self, count, prefix=""):
        self.wait_bound(count, prefix=prefix, patience_s=60)
        binds = {n: c for n, c in self.successful("create", "binding").items()
                 if n.startswith(prefix)}
        # One whose sender died may be done and not count as answered; never are there two.
        self.assertGreater(len(binds), 0)
        self.assertEqual({n: c for n, c in binds.items() if c != 1}, {})
        self.assertEqual(self.successful("delete"), {})
        self.assert_no_node_is_overcommitted()

    def assert_no_node_is_overcommitted(self):
        used = collections.Counter()
        for pod in self.pods().values():
            node = pod["spec"].get("nodeName")
            if node and pod["status"].get("phase") not in ("Succeeded", "Failed"):
                used[node] += int(pod["spec"]["containers"][0]["resources"]["requests"]["cpu"])
        for node in self.plane.get("/api/v1/nodes")["items"]:
            self.assertLessEqual(used[node["metadata"]["name"]],
                                 int(node["status"]["allocatable"]["cpu"]))

    def gangs(self, count, size, start=0):
        for i in range(start, start + count):
            self.job(f"g{i}", size)

    def test_killed_in_the_middle_of_binding_twenty_times(self):
        for i in range(4):
            self.node(f"n{i}", cpu="40", memory="64Gi")
        scheduler = self.scheduler()
        for round_number in range(20):
            self.gangs(1, 7, round_number)
            # At a different point of the work each time.
            time.sleep(0.013 * round_number)
            scheduler.stop(signal.SIGKILL)
            scheduler.start()
        scheduler.wait_until_ready()
        self.assert_bound_once_and_nobody_evicted(140)

    def test_the_api_server_is_killed_and_comes_back(self):
        self.node("n1", cpu="40", memory="64Gi")
        scheduler = self.scheduler()
        self.gangs(2, 5)
        self.wait_bound(10)
        plane = self.plane
        plane.stop("kube-apiserver", signal.SIGKILL)
        time.sleep(1)
        plane.start_api_server()
        self.gangs(2, 5, 2)
        self.assert_bound_once_and_nobody_evicted(20)
        self.assertIsNone(scheduler.process.poll())

    def test_watches_whose_past_is_compacted_away_begin_anew(self):
        self.node("n1", cpu="40", memory="64Gi")
        proxy = TcpProxy(self.plane.api_port)
        conf = self.plane.kubeconfig("krafla-proxied", cluster={
            "server": f"https://127.0.0.1:{proxy.port}"}, credentials=self.krafla_credentials())
        scheduler = self.scheduler(kubeconfig=conf)
        self.gangs(1, 3)
        self.wait_bound(3)
        # Out of reach while the world changes and forgets; the server's own memory goes with it.
        proxy.refusing = True
        proxy.cut()
        self.gangs(1, 3, 1)
        self.plane.request("DELETE", "/api/v1/namespaces/team-a/pods/g0-0?gracePeriodSeconds=0")
        etcd = f"http://127.0.0.1:{self.plane.etcd_port}"
        self.plane.stop("kube-apiserver")
        revision = json.loads(subprocess.run(
            ["curl", "-s", etcd + "/v3/kv/range", "-d", '{"key":"AA=="}'], text=True, check=True,
            stdout=subprocess.PIPE).stdout)["header"]["revision"]
        subprocess.run(["curl", "-s", etcd + "/v3/kv/compaction", "-d",
                        json.dumps({"revision": revision, "physical": True})],
                       check=True, stdout=subprocess.DEVNULL)
        self.plane.start_api_server()
        proxy.refusing = False
        self.wait_bound(3, prefix="g1", patience_s=60)
        self.assertIn("listing again kind=Pod", scheduler.log())
        self.gangs(1, 3, 2)
        self.wait_bound(3, prefix="g2")
        self.assertEqual(self.successful("delete"), {})
        proxy.close()

    def krafla_credentials(self):
        self.plane.kubeconfig("krafla")
        return {"client-certificate-data": self.plane.pki.text("krafla.crt"),
                "client-key-data": self.plane.pki.text("krafla.key")}

    def test_a_network_that_stalls_cuts_and_resets(self):
        self.node("n1", cpu="80", memory="64Gi")
        proxy = TcpProxy(self.plane.api_port)
        conf = self.plane.kubeconfig("krafla-proxied", cluster={
            "server": f"https://127.0.0.1:{proxy.port}"}, credentials=self.krafla_credentials())
        scheduler = self.scheduler(kubeconfig=conf)
        for i in range(6):
            self.gangs(1, 4, i)
            time.sleep(0.02 * i)
            proxy.cut(reset=i % 2 == 0)
        self.wait_bound(24, patience_s=60)
        # Connections that stay open and carry nothing: noticed within 30 s.
        eventually("all watches are back", lambda: proxy.quiet_for(2), 60)
        proxy.stalled = True
        stalled_at = time.time()
        self.gangs(1, 4, 6)
        eventually("noticed", lambda: "does not answer" in scheduler.log(), 30)
        self.assertLess(time.time() - stalled_at, 30)
        proxy.stalled = False
        self.assert_bound_once_and_nobody_evicted(28)
        proxy.close()

    def test_pods_and_nodes_deleted_while_being_bound(self):
        self.node("stays", cpu="40", memory="64Gi")
        self.scheduler()
        for i in range(10):
            self.node(f"goes{i}", cpu="40", memory="64Gi")
            self.gangs(1, 4, i)
            self.plane.request("DELETE", f"/api/v1/nodes/goes{i}")
            self.plane.request("DELETE",
                               f"/api/v1/namespaces/team-a/pods/g{i}-0?gracePeriodSeconds=0")
            self.pod(f"again{i}", f"g{i}")
        # Who was bound to a node that went is lost with it, as anywhere; nobody waits for ever.
        eventually("all have a place", lambda: all(
            p["spec"].get("nodeName") for p in self.pods().values()), 60)
        self.assert_no_node_is_overcommitted()

    def test_a_pod_group_deleted_under_its_pods(self):
        self.node("n1", cpu="4")
        scheduler = self.scheduler()
        self.job("full", 4)
        self.wait_bound(4, prefix="full")
        self.job("late", 2)
        eventually("it waits", lambda: self.group_status("late").get("phase"))
        self.plane.request("DELETE", f"{GROUPS}/namespaces/team-a/podgroups/late")
        self.plane.request("DELETE", f"{GROUPS}/namespaces/team-a/podgroups/full")
        self.stays("nobody is bound or evicted", lambda: len(self.bound()) == 4, 1)
        self.group("late", 2)
        for i in range(2):
            self.plane.request("DELETE",
                               f"/api/v1/namespaces/team-a/pods/full-{i}?gracePeriodSeconds=0")
        self.wait_bound(2, prefix="late")
        self.assertIsNone(scheduler.process.poll())

    def test_a_throttled_server(self):
        self.node("n1", cpu="80", memory="64Gi")
        plane = self.plane
        plane.stop("kube-apiserver")
        plane.start_api_server(("--max-mutating-requests-inflight=1",))
        try:
            scheduler = self.scheduler()
            self.gangs(3, 10)
            self.assert_bound_once_and_nobody_evicted(30)
            eventually("everything is written in the end", lambda:
                       scheduler.metric("krafla_effects_in_flight") == 0 and
                       scheduler.metric("krafla_writes_waiting") == 0, 60)
        finally:
            plane.stop("kube-apiserver")
            plane.start_api_server()

    def test_a_restart_while_a_victim_ends_is_no_second_eviction(self):
        self.node("n1", cpu="2")
        self.priority_class("low", 10)
        self.priority_class("high", 1000)
        scheduler = self.scheduler()
        self.group("low", 0, priority="low")
        for i in range(2):
            self.plane.create("/api/v1/namespaces/team-a/pods", {
                "apiVersion": "v1", "kind": "Pod",
                "metadata": {"name": f"low-{i}", "finalizers": ["example.com/wait"],
                             "annotations": {"scheduling.k8s.io/group-name": "low"}},
                "spec": {"schedulerName": "volcano", "priorityClassName": "low",
                         "terminationGracePeriodSeconds": 1,
                         "containers": [{"name": "c", "image": "none",
                                         "resources": {"requests": {"cpu": "1"}}}]}})
        try:
            self.wait_running(2)
            self.job("high", 1, priority="high")
            eventually("one is going", lambda: sum(
                "deletionTimestamp" in p["metadata"] for p in self.pods().values()) == 1)
            for _ in range(3):
                scheduler.stop(signal.SIGKILL)
                scheduler.start()
                scheduler.wait_until_ready()
                time.sleep(0.5)
            self.assertEqual(sum("deletionTimestamp" in p["metadata"]
                                 for p in self.pods().values()), 1)
        finally:
            for i in range(2):
                self.plane.request("PATCH", f"/api/v1/namespaces/team-a/pods/low-{i}",
                                   {"metadata": {"finalizers": None}},
                                   "application/merge-patch+json")
        self.wait_bound(1, prefix="high")


if __name__ == "__main__":
    unittest.main()
