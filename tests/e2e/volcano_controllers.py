"""A small controller that behaves towards pods, PodGroups and queues as Volcano's controllers do.

VolcanoControllers runs beside the tests as a thread. What it does, and in which order:
  - A pod for `volcano` that names no PodGroup: it creates the PodGroup `podgroup-<UID of the controller owner, else of
    the pod>` with phase Pending and the owner's group-min-member, and then patches the pod's annotation.
  - A queue without status.state: it applies the state Open as field manager `queue-controller`.
  - job(): the PodGroup first; the pods, which name it, when the scheduler has admitted it.
Each of the two writes for a pod may be late (`create_after_s`, `annotate_after_s`). replica_set() creates what the
tests' control plane lacks, the pods of a ReplicaSet, because no kube-controller-manager runs.
"""
import http.client
import json
import ssl
import threading
import time
import traceback

GROUPS = "/apis/scheduling.volcano.sh/v1beta1"
GROUP_NAME = "scheduling.k8s.io/group-name"
QUEUE_NAME = "scheduling.volcano.sh/queue-name"
MIN_MEMBER = "scheduling.volcano.sh/group-min-member"
COPIED = ("volcano.sh/preemptable", "volcano.sh/revocable-zone", "volcano.sh/cooldown-time",
          "volcano.sh/jdb-min-available", "volcano.sh/jdb-max-unavailable")
OWNERS = {"ReplicaSet": "apis/apps/v1/namespaces/{}/replicasets/{}",
          "StatefulSet": "apis/apps/v1/namespaces/{}/statefulsets/{}",
          "DaemonSet": "apis/apps/v1/namespaces/{}/daemonsets/{}",
          "Job": "apis/batch/v1/namespaces/{}/jobs/{}"}


class Client:
    """One connection as an administrator, under the name of Volcano's controller manager."""

    def __init__(self, plane):
        self.plane = plane
        self.context = ssl.create_default_context(cafile=plane.pki.path("ca.crt"))
        self.context.load_cert_chain(plane.pki.path("admin.crt"), plane.pki.path("admin.key"))

    def connect(self, timeout):
        return http.client.HTTPSConnection("127.0.0.1", self.plane.api_port, timeout=timeout, context=self.context)

    def request(self, method, path, body=None, content_type="application/json"):
        """Status and answer; a server that does not answer is status 0."""
        connection = self.connect(20)
        try:
            connection.request(method, path, json.dumps(body) if body is not None else None, {
                "Content-Type": content_type, "Accept": "application/json",
                "User-Agent": "vc-controller-manager/v0.0.0 (linux/amd64)"})
            answer = connection.getresponse()
            return answer.status, json.loads(answer.read() or b"{}")
        except (OSError, http.client.HTTPException, ValueError):
            return 0, {}
        finally:
            connection.close()

    def watch(self, path, stopped):
        """Objects as they are now and whenever they change; ends when the server ends it."""
        connection = self.connect(2)
        try:
            connection.request("GET", path + "?watch=true&allowWatchBookmarks=true&sendInitialEvents=true"
                               "&resourceVersionMatch=NotOlderThan&timeoutSeconds=300")
            answer = connection.getresponse()
            line = b""
            while answer.status == 200 and not stopped():
                try:
                    piece = answer.readline()
                except TimeoutError:
                    return  # a quiet watch; the next one begins with all objects again
                if not piece:
                    return
                line += piece
                if line.endswith(b"\n"):
                    event = json.loads(line)
                    line = b""
                    if event["type"] in ("ADDED", "MODIFIED"):
                        yield event["object"]
        except (OSError, http.client.HTTPException, ValueError):
            time.sleep(0.2)
        finally:
            connection.close()


class VolcanoControllers:
    def __init__(self, plane, create_after_s=0.0, annotate_after_s=0.0, scheduler="volcano"):
        self.plane, self.scheduler = plane, scheduler
        self.create_after_s, self.annotate_after_s = create_after_s, annotate_after_s
        self.client = Client(plane)
        self.stopping = threading.Event()
        self.problems = []
        self.threads = []
        self.work = {}  # by UID of the pod: when, what and the pod
        self.lock = threading.Condition()

    # ---- from a test

    def start(self):
        for loop in (self.follow_pods, self.follow_queues, self.do_work):
            self.run(loop)
        return self

    def stop(self):
        self.stopping.set()
        with self.lock:
            self.lock.notify_all()
        for thread in self.threads:
            thread.join(20)
        if self.problems:
            raise AssertionError("the controllers failed:\n" + "\n".join(self.problems))

    def job(self, ns, name, replicas, min_available=None, queue="default", cpu="1", pause_s=0.0):
        """A Volcano Job: its PodGroup now; its pods, `pause_s` apart, when the PodGroup is admitted."""
        group = f"{name}-0f1e2d"
        body = {"apiVersion": "scheduling.volcano.sh/v1beta1", "kind": "PodGroup", "metadata": {"name": group},
                "spec": {"minMember": replicas if min_available is None else min_available, "queue": queue,
                         "minResources": {"cpu": str(int(cpu) * (min_available or replicas))}},
                "status": {"phase": "Pending"}}
        self.must(self.client.request("POST", f"{GROUPS}/namespaces/{ns}/podgroups", body))

        def create_pods():
            while not self.stopping.is_set():
                _, now = self.client.request("GET", f"{GROUPS}/namespaces/{ns}/podgroups/{group}")
                if now.get("status", {}).get("phase", "Pending") not in ("", "Pending"):
                    break
                time.sleep(0.02)
            for i in range(replicas):
                if self.stopping.is_set():
                    return
                self.must(self.client.request("POST", f"/api/v1/namespaces/{ns}/pods", pod_body(
                    f"{name}-{i}", cpu, {GROUP_NAME: group})))
                time.sleep(pause_s)
        self.run(create_pods)
        return group

    # ---- loops

    def run(self, loop):
        def guarded():
            try:
                loop()
            except Exception:  # whatever it is: the test that uses us must fail
                self.problems.append(traceback.format_exc())
        thread = threading.Thread(target=guarded, daemon=True)
        self.threads.append(thread)
        thread.start()

    def must(self, answer, *good):
        status, body = answer
        if status >= 300 and status not in good:
            raise RuntimeError(f"{status} {body.get('message', body)}")
        return body

    def follow_pods(self):
        while not self.stopping.is_set():
            for pod in self.client.watch("/api/v1/pods", self.stopping.is_set):
                if pod["spec"].get("schedulerName") != self.scheduler or GROUP_NAME in pod["metadata"].get(
                        "annotations", {}):
                    continue
                with self.lock:
                    if pod["metadata"]["uid"] not in self.work:
                        self.work[pod["metadata"]["uid"]] = (time.time() + self.create_after_s, self.create_group, pod)
                        self.lock.notify_all()

    def follow_queues(self):
        while not self.stopping.is_set():
            for queue in self.client.watch(f"{GROUPS}/queues", self.stopping.is_set):
                if not queue.get("status", {}).get("state"):
                    name = queue["metadata"]["name"]
                    self.must(self.client.request(
                        "PATCH", f"{GROUPS}/queues/{name}/status?fieldManager=queue-controller&force=true",
                        {"apiVersion": "scheduling.volcano.sh/v1beta1", "kind": "Queue",
                         # Only if it is still as it was seen: another may have closed it.
                         "metadata": {"name": name, "resourceVersion": queue["metadata"]["resourceVersion"]},
                         "status": {"state": "Open"}}, "application/apply-patch+yaml"), 404, 409)

    def do_work(self):
        while not self.stopping.is_set():
            with self.lock:
                due = [(when, uid) for uid, (when, _, _) in self.work.items()]
                when, uid = min(due, default=(time.time() + 60, None))
                left = when - time.time()
                if left > 0:
                    self.lock.wait(left)
                    continue
                _, what, pod = self.work[uid]
            following = what(pod)
            with self.lock:
                if following is None:
                    del self.work[uid]
                else:
                    self.work[uid] = following

    # ---- what it does to a pod

    def create_group(self, pod):
        """Returns the next step, or nothing when the pod is done with."""
        meta, ns = pod["metadata"], pod["metadata"]["namespace"]
        controller = next((o for o in meta.get("ownerReferences", []) if o.get("controller")), None)
        name = "podgroup-" + (controller["uid"] if controller else meta["uid"])
        above = {}
        for owner in meta.get("ownerReferences", []):
            if owner["kind"] in OWNERS:
                _, found = self.client.request("GET", "/" + OWNERS[owner["kind"]].format(ns, owner["name"]))
                above.update(found.get("metadata", {}).get("annotations", {}))
        least = int(above.get(MIN_MEMBER, "1"))
        cpu = sum(int(c.get("resources", {}).get("requests", {}).get("cpu", "0"))
                  for c in pod["spec"]["containers"])
        own = meta.get("annotations", {})
        group = {"apiVersion": "scheduling.volcano.sh/v1beta1", "kind": "PodGroup",
                 "metadata": {"name": name, "namespace": ns, "labels": {},
                              "annotations": {**{k: v for k, v in above.items() if k.startswith(
                                  "scheduling.volcano.sh/")}, **{k: own[k] for k in COPIED if k in own}},
                              "ownerReferences": meta["ownerReferences"] if controller else [
                                  {"apiVersion": "v1", "kind": "Pod", "name": meta["name"], "uid": meta["uid"],
                                   "controller": True, "blockOwnerDeletion": True}]},
                 "spec": {"minMember": least, "minResources": {"cpu": str(cpu * least)},
                          **({"queue": own[QUEUE_NAME]} if QUEUE_NAME in own else {}),
                          **({"priorityClassName": pod["spec"]["priorityClassName"]}
                             if "priorityClassName" in pod["spec"] else {})},
                 "status": {"phase": "Pending"}}
        status, answer = self.client.request("POST", f"{GROUPS}/namespaces/{ns}/podgroups", group)
        if status in (0, 429) or status >= 500:
            return time.time() + 0.2, self.create_group, pod
        self.must((status, answer), 409)
        pod["group"] = name
        return time.time() + self.annotate_after_s, self.name_group, pod

    def name_group(self, pod):
        meta = pod["metadata"]
        status, answer = self.client.request(
            "PATCH", f"/api/v1/namespaces/{meta['namespace']}/pods/{meta['name']}",
            {"metadata": {"uid": meta["uid"], "annotations": {GROUP_NAME: pod["group"]}}},
            "application/strategic-merge-patch+json")
        if status in (0, 429) or status >= 500:
            return time.time() + 0.2, self.name_group, pod
        self.must((status, answer), 404, 409)
        return None


def pod_body(name, cpu, annotations=None, owner=None, labels=None):
    meta = {"name": name, "annotations": annotations or {}, "labels": labels or {}}
    if owner:
        meta["ownerReferences"] = [owner]
    return {"apiVersion": "v1", "kind": "Pod", "metadata": meta,
            "spec": {"schedulerName": "volcano", "terminationGracePeriodSeconds": 1,
                     "containers": [{"name": "c", "image": "none", "resources": {"requests": {"cpu": cpu}}}]}}


def replica_set(plane, ns, name, replicas, min_member=None, cpu="1", pause_s=0.0):
    """A ReplicaSet and its pods, `pause_s` apart, as kube-controller-manager creates them: without PodGroup."""
    labels = {"app": name}
    template = pod_body("", cpu)["spec"]
    made = plane.create(f"/apis/apps/v1/namespaces/{ns}/replicasets", {
        "apiVersion": "apps/v1", "kind": "ReplicaSet",
        "metadata": {"name": name, "annotations": {MIN_MEMBER: str(min_member)} if min_member else {}},
        "spec": {"replicas": replicas, "selector": {"matchLabels": labels},
                 "template": {"metadata": {"labels": labels}, "spec": template}}})
    owner = {"apiVersion": "apps/v1", "kind": "ReplicaSet", "name": name, "uid": made["metadata"]["uid"],
             "controller": True, "blockOwnerDeletion": True}
    for i in range(replicas):
        plane.create(f"/api/v1/namespaces/{ns}/pods", pod_body(f"{name}-{i}", cpu, None, owner, labels))
        time.sleep(pause_s)
