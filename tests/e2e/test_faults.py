"""Whatever breaks: everything that should be bound is bound, once, and nobody is evicted without
cause. "Once" is judged by the audit log: a pod has one successful binding."""
import json
import signal
import subprocess
import time
import unittest

from cluster_test_case import GROUPS, ClusterTestCase, eventually
from tcp_proxy import TcpProxy


class Faults(ClusterTestCase):
    def gangs(self, count, size, start=0):
        for i in range(start, start + count):
            self.job(f"g{i}", size)

    def test_killed_in_the_middle_of_binding_twenty_times(self):
        for i in range(4):
            self.node(f"n{i}", cpu="60", memory="64Gi")
        # Slow enough for a gang to be caught half bound.
        scheduler = self.scheduler(flags=("--kube-api-qps=40", "--kube-api-burst=2"))
        rounds, size, caught = 20, 10, 0
        for i in range(rounds):
            self.gangs(1, size, i)
            eventually("binding has begun", lambda: self.binds_of(f"g{i}-"), every_s=0.01)
            # At a different point of the work each time.
            time.sleep(0.01 * i)
            scheduler.stop(signal.SIGKILL)
            caught += self.binds_of(f"g{i}-") < size
            scheduler.start()
        self.assertGreater(caught, rounds // 4, "too few were killed in the middle")
        self.assert_all_is_well(rounds * size)

    def binds_of(self, prefix):
        return sum(name.startswith(prefix) for name, _ in self.audited("create", "binding"))

    def test_objects_that_fail_internal_checks_are_quarantined_and_the_rest_is_scheduled(self):
        self.node("n1", cpu="4", memory="64Gi")
        # It runs already, so that what it uses has to count although it cannot be decoded.
        self.pod("running", cpu="1", nodeName="n1")
        scheduler = self.scheduler(environment={
            "KRAFLA_FAIL_CHECKS": "decode:Pod/team-a/running,place:PodGroup/team-a/g1"})
        self.gangs(3, 1)
        # Three CPUs are left for g0 and g2, and one of them must stay free: g1 is never placed.
        self.wait_bound(1, prefix="g0-")
        self.wait_bound(1, prefix="g2-")
        eventually("both are counted", lambda: scheduler.metric("krafla_quarantined_objects") == 2)
        self.assertGreaterEqual(scheduler.metric("krafla_internal_check_failures_total"), 2)
        for kind, name in (("PodGroup", "g1"), ("Pod", "running")):
            eventually(f"{kind} {name} has an event", lambda: [
                m for r, m in self.events(kind, name) if r == "Quarantined" and "drill" in m])
        status, page = scheduler.page("/readyz?verbose")
        self.assertEqual(status, 200)
        self.assertIn("2 object(s) quarantined: PodGroup team-a/g1, Pod team-a/running", page)
        eventually("its pod is told", lambda: "is quarantined until it changes" in json.dumps(
            self.pods()["g1-0"]["status"].get("conditions", [])))
        # Two CPUs are bound and one is used by the pod that could not be decoded: one is left.
        self.job("large", 1, cpu="2")
        self.job("small", 1, cpu="1")
        self.wait_bound(1, prefix="small-")
        self.assertEqual(self.bound(prefix="large-"), {})
        self.assertEqual(self.bound(prefix="g1-"), {})
        self.assertIsNone(scheduler.process.poll(), "it is still the same process")
        # Gone, it is forgotten.
        self.plane.request("DELETE", f"{GROUPS}/namespaces/team-a/podgroups/g1")
        eventually("one is left", lambda: scheduler.metric("krafla_quarantined_objects") == 1)
        self.assert_no_node_is_overcommitted()
        self.assertEqual(scheduler.stop(), 0)

    def test_the_api_server_is_killed_and_comes_back(self):
        self.node("n1", cpu="40", memory="64Gi")
        scheduler = self.scheduler()
        self.gangs(2, 5)
        self.wait_bound(10)
        plane = self.plane
        for i in range(2):
            # Whatever is under way then has no answer.
            self.gangs(1, 5, 2 + i)
            time.sleep(0.02 * i)
            plane.stop("kube-apiserver", signal.SIGKILL)
            time.sleep(1)
            plane.start_api_server()
        self.gangs(1, 5, 4)
        self.assert_all_is_well(25)
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
        self.wait_bound(3, prefix="g1", patience_s=120)
        self.assertIn("listing again kind=Pod", scheduler.log())
        self.gangs(1, 3, 2)
        self.assert_all_is_well(8)
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
        self.assert_all_is_well(28)
        proxy.close()

    def test_pods_and_nodes_deleted_while_being_bound(self):
        self.node("stays", cpu="200", memory="64Gi")
        # Slow enough for a gang's last binding to be decided long before it is sent.
        self.scheduler(flags=("--kube-api-qps=10", "--kube-api-burst=1"))
        rounds, size = 5, 8
        deleted, nodes_gone_at = [], {}
        for i in range(rounds):
            self.node(f"goes{i}", cpu="200", memory="64Gi")
            self.gangs(1, size, i)
            eventually("binding has begun", lambda: self.binds_of(f"g{i}-"), every_s=0.01)
            # All of the gang is decided by now. The last one goes, and a node of some.
            self.plane.request("DELETE", f"/api/v1/nodes/goes{i}")
            nodes_gone_at[f"goes{i}"] = time.time()
            waiting = [n for n, p in self.pods().items()
                       if n.startswith(f"g{i}-") and not p["spec"].get("nodeName")]
            if waiting:
                deleted.append(max(waiting))
                self.plane.request("DELETE", f"/api/v1/namespaces/team-a/pods/{deleted[-1]}"
                                   "?gracePeriodSeconds=0")
                self.pod(f"again{i}", f"g{i}")
            # The next round begins with nothing under way.
            eventually("all have a place", lambda: all(
                p["spec"].get("nodeName") for p in self.pods().values()))
        # Who was bound to a node that went is lost with it, as anywhere; nobody waits for ever.
        self.assert_all_is_well(rounds * size)
        # The server's own word that deletions met bindings under way.
        self.assertGreater(self.bindings_of_deleted(deleted), 0, "no pod went while being bound")
        bound = self.bound()
        late = [n for n, at in self.audited("create", "binding")
                if at > nodes_gone_at.get(bound.get(n), at)]
        self.assertTrue(late, "no node went while pods were being bound to it")

    def bindings_of_deleted(self, names):
        """Bindings that the server refused because the pod was gone."""
        return sum(e["verb"] == "create" and e["objectRef"].get("subresource") == "binding"
                   and e["objectRef"]["name"] in names
                   and e.get("responseStatus", {}).get("code") == 404
                   for e in self.audit_entries() if "objectRef" in e)

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
        self.assert_all_is_well(4)
        self.assertEqual(len(self.bound(prefix="late")), 2)
        self.assertIsNone(scheduler.process.poll())

    def test_a_throttled_server(self):
        self.node("n1", cpu="80", memory="64Gi")
        plane = self.plane
        plane.stop("kube-apiserver")
        plane.start_api_server(("--max-mutating-requests-inflight=1",))
        try:
            scheduler = self.scheduler()
            self.gangs(3, 10)
            self.assert_all_is_well(30)
            self.assertTrue(any(e.get("responseStatus", {}).get("code") == 429
                                for e in self.audit_entries()), "the server was not throttled")
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
        self.assert_all_is_well(1, evicted=1, prefix="high")
        self.assertEqual(len(self.bound()), 2)


if __name__ == "__main__":
    unittest.main()
