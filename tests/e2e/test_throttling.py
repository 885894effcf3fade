"""API priority and fairness: a flood of other clients does not delay the Lease, nor a binding, where
deploy/flow-schema.yaml is applied."""
import datetime
import os
import ssl
import threading
import time
import unittest
import urllib.error
import urllib.request

from cluster_test_case import GROUPS, ROOT, ClusterTestCase, eventually

# Few seats, so that a small flood fills them.
FAIR = ("--enable-priority-and-fairness=true", "--max-requests-inflight=8",
        "--max-mutating-requests-inflight=4")
FLOOD_THREADS = 24
FLOOD_S = 15


class Flood:
    """Lists of all PodGroups, as many at a time as there are threads, for a bounded time."""

    def __init__(self, plane):
        self.plane = plane
        plane.kubeconfig("flood")
        self.stop = threading.Event()
        self.until = time.time() + 4 * FLOOD_S
        self.answers = 0
        self.refused = 0
        self.slowest_s = 0.0
        self.threads = [threading.Thread(target=self.ask) for _ in range(FLOOD_THREADS)]
        for thread in self.threads:
            thread.start()

    def ask(self):
        pki = self.plane.pki
        context = ssl.create_default_context(cafile=pki.path("ca.crt"))
        context.load_cert_chain(pki.path("flood.crt"), pki.path("flood.key"))
        while not self.stop.is_set() and time.time() < self.until:
            begin = time.time()
            try:
                with urllib.request.urlopen(f"{self.plane.url}{GROUPS}/podgroups", timeout=30,
                                            context=context) as answer:
                    answer.read()
                self.answers += 1
            except urllib.error.HTTPError as error:
                self.refused += error.code == 429
            except OSError:
                pass
            self.slowest_s = max(self.slowest_s, time.time() - begin)

    def end(self):
        self.stop.set()
        for thread in self.threads:
            thread.join()


class Throttling(ClusterTestCase):
    def setUp(self):
        super().setUp()
        self.restart_api_server(FAIR)

    def tearDown(self):
        super().tearDown()
        self.plane.kubectl("delete", "flowschema", "krafla", "krafla-lease", "--ignore-not-found")
        self.restart_api_server()

    def restart_api_server(self, extra=()):
        """With kwok: its watches may stay silent after a restart of the server."""
        self.plane.stop("kwok")
        self.plane.stop("kube-apiserver")
        self.plane.start_api_server(extra)
        self.plane.start_kwok()

    def apply_flow_schemas(self):
        with open(os.path.join(ROOT, "deploy", "flow-schema.yaml")) as f:
            text = f.read()
        account = ("    - kind: ServiceAccount\n"
                   "      serviceAccount: {name: krafla, namespace: volcano-system}\n")
        self.assertEqual(text.count(account), 2)
        # The test's user stands for the service account.
        self.plane.kubectl("apply", "-f", "-", input_text=text.replace(
            account, "    - kind: User\n      user: {name: krafla}\n"))

        def bound_to_its_level():
            schema = self.plane.get(
                "/apis/flowcontrol.apiserver.k8s.io/v1/flowschemas/krafla-lease")
            return any(c["type"] == "Dangling" and c["status"] == "False"
                       for c in schema.get("status", {}).get("conditions", []))
        eventually("the flow schema is in force", bound_to_its_level)

    def renewed_at(self):
        lease = self.plane.get(
            "/apis/coordination.k8s.io/v1/namespaces/volcano-system/leases/volcano")
        if lease is None:
            return None
        return datetime.datetime.fromisoformat(
            lease["spec"]["renewTime"].replace("Z", "+00:00")).timestamp()

    def longest_pause(self, seconds):
        """Between two renewals of the Lease, or since the last one."""
        longest, last = 0.0, self.renewed_at()
        deadline = time.time() + seconds
        while time.time() < deadline:
            time.sleep(0.1)
            now = self.renewed_at()
            longest = max(longest, (time.time() if now == last else now) - last)
            last = now
        return longest

    def test_a_flood_of_lists_delays_neither_the_lease_nor_a_binding(self):
        self.plane.apply(
            {"apiVersion": "rbac.authorization.k8s.io/v1", "kind": "ClusterRole",
             "metadata": {"name": "flood"}, "rules": [
                 {"apiGroups": ["scheduling.volcano.sh"], "resources": ["podgroups"],
                  "verbs": ["list"]}]},
            {"apiVersion": "rbac.authorization.k8s.io/v1", "kind": "ClusterRoleBinding",
             "metadata": {"name": "flood"},
             "subjects": [{"kind": "User", "name": "flood",
                           "apiGroup": "rbac.authorization.k8s.io"}],
             "roleRef": {"apiGroup": "rbac.authorization.k8s.io", "kind": "ClusterRole",
                         "name": "flood"}})
        self.apply_flow_schemas()
        for i in range(200):
            self.group(f"idle-{i}", 100)
        self.node(cpu="8")
        scheduler = self.scheduler(flags=("--leader-elect=true",
                                          "--leader-elect-retry-period=500ms"))
        eventually("it leads", self.renewed_at)
        flood = Flood(self.plane)
        try:
            pause = self.longest_pause(FLOOD_S)
            self.group("urgent", 1)
            self.pod("urgent-0", "urgent")
            begin = time.time()
            self.wait_bound(1, prefix="urgent", patience_s=20)
            bound_s = time.time() - begin
        finally:
            flood.end()
        print(f"flood: {flood.answers} lists, {flood.refused} refused, slowest "
              f"{flood.slowest_s:.1f} s; longest pause between renewals {pause:.1f} s, pod bound "
              f"after {bound_s:.1f} s")
        self.assertGreater(flood.slowest_s, 0.5, "the flood fills no queue: the test shows nothing")
        self.assertLess(pause, 5.0)
        self.assertNotIn("lost leader", scheduler.log().lower())


if __name__ == "__main__":
    unittest.main()
