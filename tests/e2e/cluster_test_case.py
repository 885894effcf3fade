"""What every end-to-end test needs: a cluster of its own shape, a scheduler, patience."""
import collections
import datetime
import json
import os
import signal
import subprocess
import time
import unittest
import urllib.error
import urllib.request

from control_plane import ControlPlane, free_port

ROOT = os.path.dirname(os.path.dirname(os.path.dirname(os.path.abspath(__file__))))
GROUPS = "/apis/scheduling.volcano.sh/v1beta1"

CONFIG = """
actions: "enqueue, allocate, preempt, backfill"
tiers:
- plugins:
  - name: priority
  - name: gang
  - name: conformance
- plugins:
  - name: predicates
  - name: proportion
  - name: nodeorder
"""


def eventually(what, check, patience_s=60.0, every_s=0.05):
    """The first true answer of `check`; fails with its last answer."""
    deadline = time.time() + patience_s
    while True:
        answer = check()
        if answer:
            return answer
        if time.time() > deadline:
            raise AssertionError(f"not within {patience_s} s: {what}; last seen: {answer!r}")
        time.sleep(every_s)


class Scheduler:
    """krafla serve, as the user that has our role and nothing else."""
    count = 0
    all = []

    def __init__(self, plane, config=CONFIG, flags=(), kubeconfig=None, env=None):
        Scheduler.count += 1
        name = os.path.join(plane.folder, f"krafla-{Scheduler.count}")
        self.config_path = name + ".conf"
        self.log_path = name + ".log"
        self.write_config(config)
        self.health_port, self.metrics_port = free_port(), free_port()
        self.argv = [
            os.environ["KRAFLA"], "serve",
            f"--kubeconfig={kubeconfig or plane.kubeconfig('krafla')}",
            f"--scheduler-conf={self.config_path}", "--leader-elect=false",
            "--enable-healthz", f"--healthz-address=127.0.0.1:{self.health_port}",
            "--enable-metrics", f"--listen-address=127.0.0.1:{self.metrics_port}", *flags]
        self.env = {**os.environ, **(env or {})}
        self.process = None
        Scheduler.all.append(self)
        self.start()

    def write_config(self, text):
        with open(self.config_path + ".new", "w") as f:
            f.write(text)
        os.rename(self.config_path + ".new", self.config_path)

    def start(self):
        with open(self.log_path, "ab") as log:
            self.process = subprocess.Popen(self.argv, stdout=log, stderr=log,
                                            stdin=subprocess.DEVNULL, env=self.env)

    def stop(self, number=signal.SIGTERM, patience_s=20):
        if self.process is None:
            return None
        if self.process.poll() is None:
            self.process.send_signal(number)
        try:
            code = self.process.wait(patience_s)
        except subprocess.TimeoutExpired:
            self.process.kill()
            self.process.wait()
            raise AssertionError(f"does not stop; see {self.log_path}")
        self.process = None
        return code

    def page(self, path, port=None):
        try:
            with urllib.request.urlopen(
                    f"http://127.0.0.1:{port or self.health_port}{path}", timeout=5) as answer:
                return answer.status, answer.read().decode()
        except urllib.error.HTTPError as error:
            return error.code, error.read().decode()
        except OSError:
            return 0, ""

    def metric(self, name):
        """The sum over all labels."""
        _, text = self.page("/metrics", self.metrics_port)
        values = [float(line.rsplit(" ", 1)[1]) for line in text.splitlines()
                  if line.startswith((name + " ", name + "{"))]
        return sum(values)

    def wait_until_ready(self):
        eventually("ready", lambda: self.page("/readyz")[0] == 200)

    def log(self):
        with open(self.log_path) as f:
            return f.read()


class ClusterTestCase(unittest.TestCase):
    """One control plane for all tests; each test begins with an empty cluster."""
    plane = None
    namespace = "team-a"

    @classmethod
    def setUpClass(cls):
        if ClusterTestCase.plane is None:
            plane = ClusterTestCase.plane = ControlPlane(
                os.environ["KRAFLA_E2E_PROGRAMS"], os.environ["KRAFLA_E2E_RUN"], audit=True)
            plane.up()
            deploy = os.path.join(ROOT, "deploy")
            plane.kubectl("apply", "-f", os.path.join(deploy, "crds"))
            plane.kubectl("apply", "-f", os.path.join(deploy, "rbac.yaml"))
            # The test's user gets the roles of the service account.
            user = [{"kind": "User", "name": "krafla", "apiGroup": "rbac.authorization.k8s.io"}]
            plane.apply(
                {"apiVersion": "rbac.authorization.k8s.io/v1", "kind": "ClusterRoleBinding",
                 "metadata": {"name": "krafla-test"}, "subjects": user,
                 "roleRef": {"apiGroup": "rbac.authorization.k8s.io", "kind": "ClusterRole",
                             "name": "krafla"}},
                {"apiVersion": "rbac.authorization.k8s.io/v1", "kind": "RoleBinding",
                 "metadata": {"name": "krafla-test", "namespace": "volcano-system"},
                 "subjects": user,
                 "roleRef": {"apiGroup": "rbac.authorization.k8s.io", "kind": "Role",
                             "name": "krafla-lease"}},
                {"apiVersion": "v1", "kind": "Namespace", "metadata": {"name": "team-a"}},
                {"apiVersion": "v1", "kind": "Namespace", "metadata": {"name": "team-b"}})
            eventually("the new kinds are served", lambda: plane.get(f"{GROUPS}/podgroups"))

    def setUp(self):
        self.schedulers = []
        self.empty_cluster()
        self.audit_begins = os.path.getsize(self.plane.audit_log)

    def tearDown(self):
        for scheduler in self.schedulers:
            scheduler.stop(signal.SIGKILL)

    def scheduler(self, *args, ready=True, **kw):
        scheduler = Scheduler(self.plane, *args, **kw)
        self.schedulers.append(scheduler)
        if ready:
            scheduler.wait_until_ready()
        return scheduler

    def empty_cluster(self):
        # Whole collections at once: kubectl would ask for each object, five a second.
        p = self.plane
        namespaces = ("team-a", "team-b")
        paths = [path for ns in namespaces for path in (
            f"/api/v1/namespaces/{ns}/pods?gracePeriodSeconds=0", f"{GROUPS}/namespaces/{ns}/podgroups",
            f"/apis/policy/v1/namespaces/{ns}/poddisruptionbudgets",
            f"/api/v1/namespaces/{ns}/persistentvolumeclaims", f"/api/v1/namespaces/{ns}/events")]
        for path in (*paths, "/api/v1/persistentvolumes", "/apis/storage.k8s.io/v1/storageclasses",
                     "/api/v1/nodes", f"{GROUPS}/queues"):
            p.request("DELETE", path)
        eventually("no pods are left", lambda: not any(
            p.get(f"/api/v1/namespaces/{ns}/pods")["items"] for ns in namespaces))
        for item in p.get("/apis/scheduling.k8s.io/v1/priorityclasses")["items"]:
            if not item["metadata"]["name"].startswith("system-"):
                p.request("DELETE", "/apis/scheduling.k8s.io/v1/priorityclasses/"
                          + item["metadata"]["name"])

    # ---- making things

    def node(self, name="n1", cpu="4", memory="16Gi", labels=None):
        self.plane.create("/api/v1/nodes", {
            "apiVersion": "v1", "kind": "Node",
            "metadata": {"name": name, "labels": labels or {},
                         "annotations": {"kwok.x-k8s.io/node": "fake"}},
            "status": {"allocatable": {"cpu": cpu, "memory": memory, "pods": "110"},
                       "capacity": {"cpu": cpu, "memory": memory, "pods": "110"}}})

        def ready():
            conditions = self.plane.get(f"/api/v1/nodes/{name}")["status"].get("conditions", [])
            return any(c["type"] == "Ready" and c["status"] == "True" for c in conditions)
        eventually(f"node {name} is ready", ready)

    def priority_class(self, name, value):
        self.plane.create("/apis/scheduling.k8s.io/v1/priorityclasses", {
            "apiVersion": "scheduling.k8s.io/v1", "kind": "PriorityClass",
            "metadata": {"name": name}, "value": value})

    def queue(self, name, **spec):
        self.plane.create(f"{GROUPS}/queues", {
            "apiVersion": "scheduling.volcano.sh/v1beta1", "kind": "Queue",
            "metadata": {"name": name}, "spec": spec or {"weight": 1}})

    def group(self, name, min_member, queue="default", priority=None, ns=None, annotations=None):
        spec = {"minMember": min_member, "queue": queue}
        if priority:
            spec["priorityClassName"] = priority
        ns = ns or self.namespace
        self.plane.create(f"{GROUPS}/namespaces/{ns}/podgroups", {
            "apiVersion": "scheduling.volcano.sh/v1beta1", "kind": "PodGroup",
            "metadata": {"name": name, "namespace": ns, "annotations": annotations or {}},
            "spec": spec})

    def pod(self, name, group=None, cpu="1", priority=None, ns=None, annotations=None,
            labels=None, **spec):
        ns = ns or self.namespace
        annotations = dict(annotations or {})
        if group:
            annotations["scheduling.k8s.io/group-name"] = group
        body = {"apiVersion": "v1", "kind": "Pod",
                "metadata": {"name": name, "namespace": ns, "annotations": annotations,
                             "labels": labels or {}},
                "spec": {"schedulerName": "volcano", "terminationGracePeriodSeconds": 1,
                         "containers": [{"name": "c", "image": "none",
                                         "resources": {"requests": {"cpu": cpu}} if cpu else {}}],
                         **spec}}
        if priority:
            body["spec"]["priorityClassName"] = priority
        self.plane.create(f"/api/v1/namespaces/{ns}/pods", body)

    def job(self, name, pods, min_member=None, cpu="1", priority=None, queue="default", ns=None,
            annotations=None, pod_annotations=None, **spec):
        self.group(name, pods if min_member is None else min_member, queue, priority, ns,
                   annotations)
        for i in range(pods):
            self.pod(f"{name}-{i}", name, cpu, priority, ns, pod_annotations, **spec)

    # ---- looking

    def pods(self, ns=None):
        items = self.plane.get(f"/api/v1/namespaces/{ns or self.namespace}/pods")["items"]
        return {item["metadata"]["name"]: item for item in items}

    def bound(self, ns=None, prefix=""):
        return {name: pod["spec"]["nodeName"] for name, pod in self.pods(ns).items()
                if pod["spec"].get("nodeName") and name.startswith(prefix)}

    def wait_bound(self, count, ns=None, prefix="", patience_s=60.0):
        def check():
            found = self.bound(ns, prefix)
            return found if len(found) == count else None
        return eventually(f"{count} pods {prefix}* are bound", check, patience_s)

    def wait_running(self, count, ns=None, prefix=""):
        eventually(f"{count} pods {prefix}* are running", lambda: count == sum(
            pod["status"].get("phase") == "Running" for name, pod in self.pods(ns).items()
            if name.startswith(prefix)))

    def group_status(self, name, ns=None):
        path = f"{GROUPS}/namespaces/{ns or self.namespace}/podgroups/{name}"
        return self.plane.get(path).get("status", {})

    def condition(self, status, kind):
        return next((c for c in status.get("conditions", []) if c["type"] == kind), None)

    def events(self, kind, name, ns=None):
        """Reasons and messages, read with kubectl as a user does."""
        text = self.plane.kubectl("get", "events", "-n", ns or self.namespace, "-o", "json",
                                  f"--field-selector=involvedObject.kind={kind},"
                                  f"involvedObject.name={name}")
        return [(e["reason"], e["message"]) for e in json.loads(text)["items"]]

    # ---- judging

    def audit_entries(self):
        """All that the server says our users have done in this test."""
        with open(self.plane.audit_log, "rb") as f:
            f.seek(self.audit_begins)
            for line in f:
                if not line.endswith(b"\n"):
                    return  # still being written
                yield json.loads(line)

    def audited(self, verb, subresource=None):
        """Name and instant of what our user has successfully done to pods in this test."""
        found = []
        for entry in self.audit_entries():
            ref = entry.get("objectRef", {})
            if (entry["verb"] == verb and ref.get("resource") == "pods"
                    and ref.get("subresource") == subresource
                    and ref.get("namespace") == self.namespace
                    and entry.get("responseStatus", {}).get("code", 0) < 300):
                when = datetime.datetime.fromisoformat(
                    entry["requestReceivedTimestamp"].replace("Z", "+00:00"))
                found.append((ref["name"], when.timestamp()))
        return found

    def successful(self, verb, subresource=None):
        """Pods our user has done this to, by count."""
        return collections.Counter(name for name, _ in self.audited(verb, subresource))

    def evicted(self):
        """Pods our user has evicted, by either way, by count."""
        return self.successful("delete") + self.successful("create", "eviction")

    def assert_all_is_well(self, bound, evicted=0, prefix=""):
        """How every fault has to end: so many pods are bound, none was bound twice, nobody was
        evicted but for a cause the test knows, no node has more than it can hold. Read from the API
        and its audit log alone. Names are not used twice within a test."""
        self.wait_bound(bound, prefix=prefix, patience_s=90)
        binds = {n: c for n, c in self.successful("create", "binding").items()
                 if n.startswith(prefix)}
        # One that was done when the server died may be missing in its log; never are there two.
        self.assertGreater(len(binds), 0)
        self.assertEqual({n: c for n, c in binds.items() if c != 1}, {})
        self.assertEqual(len(self.evicted()), evicted, self.evicted())
        self.assertEqual({n: c for n, c in self.evicted().items() if c != 1}, {})
        self.assert_no_node_is_overcommitted()

    def assert_no_node_is_overcommitted(self):
        used = collections.Counter()
        for pod in self.pods().values():
            node = pod["spec"].get("nodeName")
            if node and pod["status"].get("phase") not in ("Succeeded", "Failed"):
                used[node] += int(pod["spec"]["containers"][0]["resources"].get("requests", {}).get(
                    "cpu", 0))
        for node in self.plane.get("/api/v1/nodes")["items"]:
            self.assertLessEqual(used[node["metadata"]["name"]],
                                 int(node["status"]["allocatable"]["cpu"]))

    def stays(self, what, check, seconds=2.0):
        end = time.time() + seconds
        while time.time() < end:
            self.assertTrue(check(), what)
            time.sleep(0.1)
