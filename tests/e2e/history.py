"""What the API server showed, in its own order: everything that happened to pods, nodes and PodGroups
while somebody watched, and a judge who goes through it step by step. Knows nothing of the scheduler;
reads the API and its audit log."""
import collections
import datetime
import json
import threading
import time
import urllib.error
import urllib.request

NEWS_S = 1.0  # one pod's news, when nothing else is to be expected
LAG_S = 5.0  # news may be so late at the scheduler before it is to blame


def instant(text):
    return datetime.datetime.fromisoformat(text.replace("Z", "+00:00")).timestamp()


class History:
    """Watches until stopped. Steps are (resource version, kind, event type, object, seen at)."""

    def __init__(self, plane, paths):
        self.plane, self.steps, self.holes, self.closing = plane, [], [], False
        self.lock = threading.Lock()
        plane.request("GET", "/readyz", raw=True)  # makes the TLS context
        for kind, path in paths.items():
            items = plane.get(path)
            for item in items["items"]:
                self.add(kind, "ADDED", item)
            threading.Thread(target=self.follow, daemon=True,
                             args=(kind, path, items["metadata"]["resourceVersion"])).start()

    def add(self, kind, what, item):
        with self.lock:
            self.steps.append((int(item["metadata"]["resourceVersion"]), kind, what, item,
                               time.time()))

    def follow(self, kind, path, version):
        """The server ends the watch of somebody who is slow; it goes on where it was."""
        while not self.closing:
            try:
                request = urllib.request.Request(
                    f"{self.plane.url}{path}?watch=true&resourceVersion={version}")
                with urllib.request.urlopen(request, context=self.plane.context) as answer:
                    for line in answer:
                        event = json.loads(line)
                        if event["type"] == "ERROR":
                            self.holes.append(f"{kind}: {event['object']}")
                            return
                        version = event["object"]["metadata"]["resourceVersion"]
                        self.add(kind, event["type"], event["object"])
            except urllib.error.HTTPError as problem:
                self.holes.append(f"{kind}: {problem}")
                return
            except OSError:
                time.sleep(0.2)

    def stop(self):
        self.closing = True
        with self.lock:
            return sorted(self.steps, key=lambda step: step[0])


def cpu_of(pod):
    return int(pod["spec"]["containers"][0]["resources"].get("requests", {}).get("cpu", 0))


def group_of(pod):
    return pod["metadata"].get("annotations", {}).get("scheduling.k8s.io/group-name", "")


def labels_of(pod):
    return [f"{key}={value}" for key, value in pod["metadata"].get("labels", {}).items()]


def condition(pod, kind):
    return next((c for c in pod["status"].get("conditions", []) if c["type"] == kind), None)


def is_healthy(pod):
    """As Kubernetes counts it for budgets."""
    ready = condition(pod, "Ready")
    return ready is not None and ready["status"] == "True" and \
        "deletionTimestamp" not in pod["metadata"]


class Judge:
    """Goes through a history. `evictions`: name and instant of what the scheduler has removed, from
    the audit log. Everything else that goes was removed by others, who may do that. `budgets`: for
    a label the number of pods that have it and are ready which evictions have to leave.

    What it found wrong is in `problems`; how much it has looked at, and let pass because somebody
    else meddled with it at that time, in `judged`."""

    def __init__(self, steps, evictions, budgets=None):
        self.problems, self.judged = [], collections.Counter()
        self.budgets = budgets or {}
        self.healthy = collections.defaultdict(list)         # label: (when, how many are)
        self.label_touched = collections.defaultdict(list)   # label: when others took one from these
        self.evictions = dict(evictions)
        self.pods, self.nodes, self.groups = {}, {}, {}
        self.binds = collections.Counter()  # by UID
        self.touched = collections.defaultdict(list)   # group: when others meddled with it
        self.bound = collections.defaultdict(list)     # group: (when, how many are bound)
        self.minimum = collections.defaultdict(list)   # group: (when, minimum)
        self.bind_times = collections.defaultdict(list)
        self.running_since = {}  # by name
        self.last_seen = {}      # by name
        for _, kind, what, item, when in steps:
            getattr(self, "see_" + kind)(what, item, when)
        self.judge_gangs()
        self.judge_evictions()

    # ---- step by step

    def see_node(self, what, node, when):
        name = node["metadata"]["name"]
        if what == "DELETED":
            self.nodes.pop(name, None)
            return
        self.nodes.setdefault(name, []).append(
            (when, int(node["status"].get("allocatable", {}).get("cpu", 0)),
             bool(node["spec"].get("unschedulable"))))

    def see_group(self, what, group, when):
        name = group["metadata"]["name"]
        if what == "DELETED":
            self.touched[name].append(when)
            self.groups.pop(name, None)
            return
        least = group["spec"].get("minMember", 1)
        if name in self.groups and self.groups[name] != least:
            self.touched[name].append(when)
        self.groups[name] = least
        self.minimum[name].append((when, least))

    def see_pod(self, what, pod, when):
        uid, name, group = pod["metadata"]["uid"], pod["metadata"]["name"], group_of(pod)
        before = self.pods.get(uid)
        gone = what == "DELETED" or pod["status"].get("phase") in ("Succeeded", "Failed")
        if before is None and not gone and pod["spec"].get("nodeName"):
            before = dict(pod, spec=dict(pod["spec"], nodeName=""))  # bound before it was seen
        self.last_seen[name] = pod
        if pod["status"].get("phase") == "Running":
            self.running_since.setdefault(name, when)
        leaves = "deletionTimestamp" in pod["metadata"] or what == "DELETED"
        if name not in self.evictions:
            if gone or leaves:
                self.touched[group].append(when)
            if before is not None and is_healthy(before) and (gone or not is_healthy(pod)):
                for label in labels_of(pod):
                    self.label_touched[label].append(when)
        if gone:
            self.pods.pop(uid, None)
        else:
            self.pods[uid] = pod
        for label in set(labels_of(pod)) & set(self.budgets):
            self.healthy[label].append((when, sum(
                1 for p in self.pods.values() if label in labels_of(p) and is_healthy(p))))
        node = pod["spec"].get("nodeName")
        if not gone and node and before is not None and not before["spec"].get("nodeName"):
            self.binds[uid] += 1
            self.bind_times[group].append((when, name))
            self.judge_bind(pod, node, when)
        self.bound[group].append((when, sum(
            1 for p in self.pods.values() if group_of(p) == group and p["spec"].get("nodeName"))))

    def judge_bind(self, pod, node, when):
        name = pod["metadata"]["name"]
        if node not in self.nodes:
            self.judged["binds to nodes that went"] += 1
            return  # it went while the pod was on its way
        self.judged["binds"] += 1
        states = self.nodes[node]
        # As it was at some time within the lag: the last state before it, and all since.
        recent = [s for s in states if s[0] >= when - LAG_S]
        older = [s for s in states if s[0] < when - LAG_S]
        recent = older[-1:] + recent
        room = max(cpu for _, cpu, _ in recent)
        used = sum(cpu_of(p) for p in self.pods.values() if p["spec"].get("nodeName") == node)
        if used > room:
            self.problems.append(f"{name} overcommits {node}: {used} of {room}")
        if all(unschedulable for *_, unschedulable in recent):
            self.problems.append(f"{name} was bound to {node}, which is cordoned")

    # ---- at the end

    @staticmethod
    def within(times, begin, end):
        return any(begin <= when <= end for when in times)

    def judge_gangs(self):
        """A bind is right when the gang has its minimum soon after it."""
        for group, binds in self.bind_times.items():
            for when, name in binds:
                until = when + 4 * LAG_S
                if not self.minimum[group]:
                    continue
                if self.within(self.touched[group], when - LAG_S, until):
                    self.judged["gang binds let pass"] += 1
                    continue
                # As it was then: one that was raised later says nothing about this bind.
                least = max([(at, n) for at, n in self.minimum[group] if at <= until],
                            default=(when, 1), key=lambda entry: entry[0])[1]
                self.judged["gang binds"] += least > 1
                reached = max(n for at, n in self.bound[group] if when <= at <= until)
                if reached < least:
                    self.problems.append(f"{name} was bound, its gang got {reached} of {least}")

    def judge_evictions(self):
        for name, when in self.evictions.items():
            pod = self.last_seen.get(name)
            if pod is None:
                continue  # of before our time
            group, meta = group_of(pod), pod["metadata"]
            self.judged["evictions"] += 1
            if meta.get("labels", {}).get("protected"):
                self.problems.append(f"{name} was evicted, its budget allows none")
            cooldown = meta.get("annotations", {}).get("volcano.sh/cooldown-time")
            since = condition(pod, "PodScheduled")
            # A cooldown protects pods that run; that one does may just have been news.
            if cooldown and since and self.running_since.get(name, when) < when - NEWS_S:
                self.judged["evictions of pods with a cooldown"] += 1
                left = instant(since["lastTransitionTime"]) + int(cooldown[:-1]) - when
                if left > 0:
                    self.problems.append(f"{name} was evicted {left:.1f} s before its cooldown ends")
            for label in set(labels_of(pod)) & set(self.budgets):
                self.judge_budget(name, label, when)
            least = self.minimum_at(group, when)
            if least <= 1:
                continue
            if self.within(self.touched[group], when - LAG_S, when + LAG_S):
                self.judged["evictions from gangs let pass"] += 1
                continue
            self.judged["evictions from gangs"] += 1
            left = min((n for at, n in self.bound[group] if when <= at <= when + LAG_S),
                       default=least)
            if left < least:
                self.problems.append(f"{name} was evicted, its gang has {left} of {least} left")

    def minimum_at(self, group, when):
        return max([entry for entry in self.minimum[group] if entry[0] <= when],
                   default=(when, 0), key=lambda entry: entry[0])[1]

    def judge_budget(self, name, label, when):
        """So many are left, those not counted that others took away a moment before."""
        self.judged["evictions within budgets"] += 1
        seen = when + 1
        left = min((n for at, n in self.healthy[label] if when <= at <= seen),
                   default=self.budgets[label])
        taken = sum(when - LAG_S <= at <= seen for at in self.label_touched[label])
        if left + taken < self.budgets[label]:
            self.problems.append(f"{name} was evicted, {left} of {self.budgets[label]} {label} left")
