#!/usr/bin/env python3
"""Makes the large clusters that the performance figures come from.

  generate.py KIND --nodes N --pods P [--seed S] --out PREFIX    writes PREFIX.json (the cluster) and PREFIX.yaml (the configuration)

Kinds: allocate preempt reclaim tdm topo idle stuck mixed alike givers. The same arguments give the same bytes. Standard library only.
"""
import argparse, datetime, json, random

NOW = datetime.datetime(2026, 3, 10, 12, 0, 0, tzinfo=datetime.timezone.utc)
KINDS = ("allocate", "preempt", "reclaim", "tdm", "topo", "idle", "stuck", "mixed", "alike", "givers")


def ts(dt):
    return dt.strftime("%Y-%m-%dT%H:%M:%SZ")


class Case:
    def __init__(self, name, rng, now=""):
        self.name, self.rng, self.now = name, rng, now
        self.objs, self.nodes, self.pcs = [], [], {}
        self.conf = ""
        self.clock = NOW - datetime.timedelta(hours=3)
        self.seq = 0

    def tick(self, same_chance=0.0):
        if self.rng.random() >= same_chance:
            self.clock += datetime.timedelta(seconds=1)
        return ts(self.clock)

    def meta(self, name, ns=None, labels=None, ann=None, created=None):
        self.seq += 1
        m = {"name": name, "uid": "%08d-%s" % (self.seq, name), "creationTimestamp": created or self.tick()}
        if ns: m["namespace"] = ns
        if labels: m["labels"] = labels
        if ann: m["annotations"] = ann
        return m

    def node(self, name, cpu_m, mem_gi, pods=110, labels=None, taints=None, unschedulable=False, extra=None):
        alloc = {"cpu": "%dm" % cpu_m, "memory": "%dGi" % mem_gi, "pods": str(pods)}
        alloc.update(extra or {})
        lab = {"kubernetes.io/hostname": name}
        lab.update(labels or {})
        spec = {}
        if taints: spec["taints"] = taints
        if unschedulable: spec["unschedulable"] = True
        self.objs.append({"apiVersion": "v1", "kind": "Node", "metadata": self.meta(name, labels=lab), "spec": spec,
                          "status": {"capacity": alloc, "allocatable": alloc, "conditions": [{"type": "Ready", "status": "True"}]}})
        n = {"name": name, "cpu": cpu_m, "mem": mem_gi * 1024, "pods": pods, "cap_cpu": cpu_m, "labels": lab, "taints": taints or [], "unsch": unschedulable}
        self.nodes.append(n)
        return n

    def queue(self, name, weight=1, reclaimable=None, capability=None, deserved=None, priority=None):
        spec = {"weight": weight}
        if reclaimable is not None: spec["reclaimable"] = reclaimable
        if capability: spec["capability"] = capability
        if deserved: spec["deserved"] = deserved
        if priority is not None: spec["priority"] = priority
        self.objs.append({"apiVersion": "scheduling.volcano.sh/v1beta1", "kind": "Queue", "metadata": self.meta(name), "spec": spec, "status": {"state": "Open"}})

    def pc(self, name, value, never=False, default=False):
        o = {"apiVersion": "scheduling.k8s.io/v1", "kind": "PriorityClass", "metadata": self.meta(name), "value": value}
        if never: o["preemptionPolicy"] = "Never"
        if default: o["globalDefault"] = True
        self.pcs[name] = (value, never)
        self.objs.append(o)

    def pg(self, name, queue, minm, phase, pcname=None, ann=None, labels=None, ns="ns1", mintask=None, minres=None):
        spec = {"minMember": minm, "queue": queue}
        if pcname: spec["priorityClassName"] = pcname
        if mintask: spec["minTaskMember"] = mintask
        if minres: spec["minResources"] = minres
        self.objs.append({"apiVersion": "scheduling.volcano.sh/v1beta1", "kind": "PodGroup", "metadata": self.meta(name, ns, labels, ann), "spec": spec, "status": {"phase": phase}})

    def pod(self, name, pg, cpu_m, mem_mi, node=None, pcname=None, role="work", ann=None, labels=None, ns="ns1", spec=None,
            phase=None, scheduled_at=None, started=None, deleting=False, created=None):
        a = {"scheduling.k8s.io/group-name": pg}
        if role: a["volcano.sh/task-spec"] = role
        a.update(ann or {})
        req = {}
        if cpu_m: req["cpu"] = "%dm" % cpu_m
        if mem_mi: req["memory"] = "%dMi" % mem_mi
        s = {"schedulerName": "volcano", "containers": [{"name": "c", "image": "img", "resources": {"requests": req} if req else {}}]}
        if pcname:
            s["priorityClassName"] = pcname
            s["priority"] = self.pcs[pcname][0]
            s["preemptionPolicy"] = "Never" if self.pcs[pcname][1] else "PreemptLowerPriority"
        if node: s["nodeName"] = node["name"]
        for k, v in (spec or {}).items():
            if k == "ports": s["containers"][0]["ports"] = v
            else: s[k] = v
        m = self.meta(name, ns, labels, a, created)
        if deleting:
            m["deletionTimestamp"] = ts(NOW)
            m["deletionGracePeriodSeconds"] = 30
        st = {"phase": phase or ("Running" if node else "Pending")}
        if node:
            t = scheduled_at or (self.clock)
            st["startTime"] = ts(started or t)
            st["conditions"] = [{"type": "PodScheduled", "status": "True", "lastTransitionTime": ts(t)},
                                {"type": "Ready", "status": "True", "lastTransitionTime": ts(t)}]
            if st["phase"] == "Running" or st["phase"] == "Pending":
                node["cpu"] -= cpu_m; node["mem"] -= mem_mi; node["pods"] -= 1
        self.objs.append({"apiVersion": "v1", "kind": "Pod", "metadata": m, "spec": s, "status": st})


def plugins(tiers):
    """tiers: list of lists of name or (name, {enableX: v}, {arg: v})"""
    out = []
    for t in tiers:
        out.append("- plugins:")
        for p in t:
            if isinstance(p, str): p = (p,)
            out.append("  - name: " + p[0])
            for k, v in (p[1] if len(p) > 1 else {}).items():
                out.append("    %s: %s" % (k, json.dumps(v)))
            if len(p) > 2 and p[2]:
                out.append("    arguments:")
                for k, v in p[2].items():
                    out.append("      %s: %s" % (k, json.dumps(v)))
    return "\n".join(out)


def conf(actions, tiers, configurations=None):
    s = 'actions: "%s"\ntiers:\n%s\n' % (actions, plugins(tiers))
    if configurations:
        s += "configurations:\n"
        for name, args in configurations.items():
            s += "- name: %s\n  arguments:\n" % name
            for k, v in args.items():
                s += "    %s: %s\n" % (k, json.dumps(v))
    return s


def pending_job(c, name, queue, k, minm, cpu, mem, pcname=None, pgann=None, podann=None, role="work", ns="ns1", podkw=None, phase="Inqueue", mintask=None):
    c.pg(name, queue, minm, phase, pcname, ann=pgann, ns=ns, mintask=mintask)
    for i in range(k):
        a = podann(i) if callable(podann) else podann
        kw = podkw(i) if callable(podkw) else dict(podkw or {})
        r = role(i) if callable(role) else role
        p = kw.pop("pcname", pcname)
        c.pod("%s-%d" % (name, i), name, cpu, mem, None, p, r, a, ns=ns, **kw)


def scale(kind, N, P, seed):
    rng = random.Random("scale-%s-%d-%d-%d" % (kind, N, P, seed))
    c = Case("scale-%s-%d-%d" % (kind, N, P), rng, "2026-03-10T12:00:00Z")
    c.pc("low", 10); c.pc("high", 1000)
    acts = "enqueue, allocate, preempt, reclaim, backfill"
    t1, t2 = ["priority", "gang", "conformance"], ["drf", "predicates", "proportion", "nodeorder"]
    cfg = None
    per = 5
    for i in range(N):
        lab = {"volcano.sh/revocable-zone": "rz%d" % (i % 4)} if kind == "tdm" else None
        # full in (b)-(f): 5 pods of 1/5 each; (a): room for 16 1-CPU pods
        cpu = 16000 if kind == "allocate" else 10000
        c.node("node-%05d" % i, cpu, 64, labels=lab)
    c.queue("qa", 1)
    gang = 10
    if kind == "mixed":
        return mixed(c, N, P, rng, rng, acts, t1, t2)
    if kind == "alike":
        return mixed(c, N, P, rng, random.Random("shapes-%d" % seed), acts, t1, t2)
    if kind == "givers":
        return givers(c, N, P, rng)
    if kind == "allocate":
        for j in range(P // gang):
            pending_job(c, "gang-%05d" % j, "qa", gang, gang, 1000, 1024, "low")
    else:
        # N*5 running pods, in jobs of 10 pods spread over nodes at random
        slots = [n for n in c.nodes for _ in range(per)]
        rng.shuffle(slots)
        pgann = podann = None
        podann = {"volcano.sh/preemptable": "true"}
        if kind == "tdm": pgann = None
        for j in range(0, len(slots), gang):
            name = "run-%05d" % (j // gang)
            ann = {"volcano.sh/preemptable": "true"}
            if kind == "tdm":
                ann[("volcano.sh/jdb-max-unavailable", "volcano.sh/jdb-min-available")[j // gang % 2]] = rng.choice(("2", "30%", "50%"))
            c.pg(name, "qa", 1, "Running", "low", ann=ann)
            for i, n in enumerate(slots[j:j + gang]):
                c.pod("%s-%d" % (name, i), name, 2000, 2048, n, "low", "work", podann)
        if kind in ("preempt", "topo"):
            for j in range(P // 10 // gang):
                pending_job(c, "hi-%05d" % j, "qa", gang, gang, 2000, 2048, "high", podann={"volcano.sh/preemptable": "false"})
        elif kind == "stuck":
            # waiting gangs of the same priority as everybody who runs: nobody may be preempted
            for j in range(P // gang):
                pending_job(c, "wait-%05d" % j, "qa", gang, gang, 2000, 2048, "low", podann={"volcano.sh/preemptable": "false"})
        elif kind == "reclaim":
            c.queue("qb", 1)
            # half of the cluster (N*5 slots of 2 CPU); P bounds it
            for j in range(min(P, N * per // 2) // gang):
                pending_job(c, "want-%05d" % j, "qb", gang, gang, 2000, 2048, "low", podann={"volcano.sh/preemptable": "false"})
    if kind == "topo": cfg = {"preempt": {"enableTopologyAwarePreemption": True}}
    if kind == "tdm":
        t1 = t1 + [("tdm", {}, {"tdm.revocable-zone.rz%d" % i: "0%d:00-0%d:00" % (i, i + 1) for i in range(4)})]
        acts = "enqueue, allocate, preempt, shuffle, backfill"
    c.conf = conf(acts, [t1, t2], cfg)
    return c


def mixed(c, N, P, rng, shaping, acts, t1, t2):
    """Half of P running, half waiting: 50 node shapes, 200 pod shapes, 4 queues, 3 priorities, gangs of 1-20; a tenth of the waiting jobs
    with anti-affinity between their pods or spread over zones. How much of the cluster is asked for depends on the shapes more than on
    anything else: where they are drawn anew for each size (mixed), twice the nodes may be three times the work. `alike` has the same
    ones whatever its size."""
    c.objs, c.nodes, c.seq = [], [], 0
    c.pc("low", 10); c.pc("mid", 100); c.pc("high", 1000)
    shapes = [(shaping.choice((8, 16, 32, 48, 64, 96)), shaping.choice((2, 4, 8))) for _ in range(50)]
    for i in range(N):
        cpu, ratio = shapes[i % 50]
        c.node("node-%05d" % i, cpu * 1000, cpu * ratio, labels={"topology.kubernetes.io/zone": "z%d" % (i % 5), "disk": ("ssd", "hdd")[i % 2], "rack": "r%03d" % (i // 20)})
    for q in range(4): c.queue("q%d" % q, 1 + q)
    pods = [(shaping.randrange(1, 65) * 250, shaping.randrange(1, 65) * 512) for _ in range(200)]
    free = [[n["cpu"], n["mem"]] for n in c.nodes]
    done, j, at = 0, 0, 0
    while done < P // 2:
        k, (cpu, mem) = rng.randint(1, 20), rng.choice(pods)
        name, prio = "run-%05d" % j, rng.choice(("low", "low", "mid", "high"))
        c.pg(name, "q%d" % rng.randrange(4), max(1, k // 2), "Running", prio, ann={"volcano.sh/preemptable": "true"})
        for i in range(k):
            for step in range(N):
                m = (at + step) % N
                if free[m][0] >= cpu and free[m][1] >= mem: break
            else: continue
            at = m + 1
            free[m][0] -= cpu; free[m][1] -= mem
            c.pod("%s-%d" % (name, i), name, cpu, mem, c.nodes[m], prio, "work", {"volcano.sh/preemptable": "true"})
        done += k; j += 1
    done, j = 0, 0
    while done < P // 2:
        k, (cpu, mem) = rng.randint(1, 20), rng.choice(pods)
        name, prio = "new-%05d" % j, rng.choice(("low", "mid", "high"))
        spec, x = {}, rng.random()
        sel = {"matchLabels": {"job": name}}
        if x < .05: spec["affinity"] = {"podAntiAffinity": {"requiredDuringSchedulingIgnoredDuringExecution": [{"labelSelector": sel, "topologyKey": "kubernetes.io/hostname"}]}}
        elif x < .10: spec["topologySpreadConstraints"] = [{"maxSkew": 1, "topologyKey": "topology.kubernetes.io/zone", "whenUnsatisfiable": "DoNotSchedule", "labelSelector": sel}]
        elif x < .30: spec["nodeSelector"] = {"disk": rng.choice(("ssd", "hdd"))}
        c.pg(name, "q%d" % rng.randrange(4), k, "Inqueue", prio)
        for i in range(k): c.pod("%s-%d" % (name, i), name, cpu, mem, None, prio, "work", None, labels={"job": name}, spec=spec)
        done += k; j += 1
    c.conf = conf(acts, [t1, t2], None)
    return c


def givers(c, N, P, rng):
    """P / 2 pods wait in gangs of nine. Six queues have a little more than they deserve, on a tenth of the nodes: each gang takes some
    of it, finds that it is not enough, and gives it back."""
    c.objs, c.nodes, c.seq = [], [], 0
    c.pc("low", 10)
    per, queues = 8, ["g%d" % g for g in range(6)]
    for i in range(N): c.node("node-%05d" % i, per * 1000, 512)
    c.queue("qa", 1)
    c.queue("large", 100)
    for q in queues: c.queue(q, 1)
    late = max(7, N // 10)
    def running(name, queue, nodes):
        c.pg(name, queue, 1, "Running", "low", ann={"volcano.sh/preemptable": "true"})
        for i, n in enumerate(nodes):
            c.pod("%s-%d" % (name, i), name, 1000, 16384, n, "low", "work", {"volcano.sh/preemptable": "true"})
    for i, n in enumerate(c.nodes[:N - late]): running("large-%05d" % i, "large", [n] * per)
    slots = [n for n in c.nodes[N - late:] for _ in range(per)]
    rng.shuffle(slots)
    each = late * per // 7 + 3  # a seventh of what is left is what each of seven queues deserves
    for q in queues:
        mine = [slots.pop() for _ in range(min(each, len(slots)))]
        for j in range(0, len(mine), 10): running("%s-%04d" % (q, j // 10), q, mine[j:j + 10])
    if slots: running("own", "qa", slots)
    for j in range(P // 2 // 9):
        pending_job(c, "want-%05d" % j, "qa", 9, 9, 2000, 1000 + j % 64, "low")
    c.conf = conf("enqueue, allocate, reclaim", [["priority", "gang", "conformance", "proportion"], ["predicates", "nodeorder"]])
    return c


def write(kind, nodes, pods, prefix, seed=1):
    c = scale(kind, nodes, pods, seed)
    with open(prefix + ".json", "w") as f:
        json.dump({"apiVersion": "v1", "kind": "List", "items": c.objs}, f)
    with open(prefix + ".yaml", "w") as f:
        f.write(c.conf)


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("kind", choices=KINDS)
    parser.add_argument("--nodes", type=int, default=1000)
    parser.add_argument("--pods", type=int, default=10000)
    parser.add_argument("--seed", type=int, default=1, help="another draw of the same kind and size")
    parser.add_argument("--out", required=True)
    a = parser.parse_args()
    write(a.kind, a.nodes, a.pods, a.out, a.seed)


if __name__ == "__main__":
    main()
