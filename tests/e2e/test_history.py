"""The judge of the soak finds what it is there to find."""
import unittest

from history import LAG_S, Judge


def pod(version, name, node="", group="g", cpu=1, phase="Pending", what="MODIFIED", at=0.0, **meta):
    conditions = [{"type": "PodScheduled", "status": "True",
                   "lastTransitionTime": "1970-01-01T00:16:40Z"}] if node else []
    if phase == "Running":
        conditions.append({"type": "Ready", "status": str(meta.get("ready", True))})
    return (version, "pod", what, {
        "metadata": {"uid": "u-" + name, "name": name,
                     "annotations": {"scheduling.k8s.io/group-name": group,
                                     **meta.get("annotations", {})},
                     "labels": meta.get("labels", {})},
        "spec": {"nodeName": node,
                 "containers": [{"resources": {"requests": {"cpu": str(cpu)}}}]},
        "status": {"phase": phase, "conditions": conditions}}, 1000 + at)


def node(version, cpu, at=0.0, cordoned=False):
    return (version, "node", "MODIFIED", {
        "metadata": {"name": "n"}, "spec": {"unschedulable": cordoned},
        "status": {"allocatable": {"cpu": str(cpu)}}}, 1000 + at)


def group(version, least, at=0.0):
    return (version, "group", "MODIFIED",
            {"metadata": {"name": "g"}, "spec": {"minMember": least}}, 1000 + at)


class TheJudge(unittest.TestCase):
    def problems(self, *steps, evictions=(), budgets=None):
        return Judge(steps, evictions, budgets).problems

    def test_what_is_right_is_no_problem(self):
        self.assertEqual(self.problems(
            node(1, 2), group(2, 2), pod(3, "a"), pod(4, "b"), pod(5, "a", "n"), pod(6, "b", "n")),
            [])

    def test_overcommitted(self):
        self.assertEqual(self.problems(
            node(1, 1), group(2, 2), pod(3, "a"), pod(4, "b"), pod(5, "a", "n"), pod(6, "b", "n")),
            ["b overcommits n: 2 of 1"])

    def test_a_node_that_shrank_a_moment_ago_is_nobodys_fault_and_one_long_ago_is(self):
        def shrunk(before_s):
            return self.problems(node(1, 2), group(2, 1), node(3, 1, at=10),
                                 pod(4, "a", cpu=2, at=1), pod(5, "a", "n", cpu=2,
                                                               at=10 + before_s))
        self.assertEqual(shrunk(1), [])
        self.assertEqual(shrunk(2 * LAG_S), ["a overcommits n: 2 of 1"])

    def test_cordoned(self):
        self.assertEqual(self.problems(
            node(1, 2, cordoned=True), group(2, 1), pod(3, "a", at=20), pod(4, "a", "n", at=21)),
            ["a was bound to n, which is cordoned"])

    def test_half_a_gang(self):
        self.assertEqual(self.problems(
            node(1, 2), group(2, 2), pod(3, "a"), pod(4, "b"), pod(5, "a", "n")),
            ["a was bound, its gang got 1 of 2"])
        self.assertEqual(self.problems(
            node(1, 2), group(2, 2), pod(3, "a"), pod(4, "b"), pod(5, "a", "n"),
            pod(6, "b", what="DELETED", at=1)), [], "somebody else has taken the other half away")

    def test_who_meddled_long_ago_is_no_excuse(self):
        steps = [node(1, 4), group(2, 3), pod(3, "a"), pod(4, "b"), pod(5, "c"),
                 pod(6, "c", what="DELETED", at=1), pod(7, "a", "n", at=10 * LAG_S)]
        self.assertEqual(self.problems(*steps), ["a was bound, its gang got 1 of 3"])
        judge = Judge([*steps, pod(8, "b", what="DELETED", at=10 * LAG_S + 1)], ())
        self.assertEqual(judge.problems, [])
        self.assertEqual(judge.judged["gang binds let pass"], 1)

    def test_a_budget_that_leaves_some(self):
        shared = {"labels": {"shared": "yes"}}

        def after(*more, budgets):
            steps = [node(1, 4), group(2, 1)]
            for i, name in enumerate("abc"):
                steps.append(pod(3 + i, name, "n", phase="Running", **shared))
            steps += [pod(10, "a", "n", phase="Running", what="DELETED", at=31, **shared), *more]
            steps.sort(key=lambda step: step[0])
            return self.problems(*steps, evictions=[("a", 1030)], budgets=budgets)
        self.assertEqual(after(budgets={"shared=yes": 2}), [])
        self.assertEqual(after(budgets={"shared=yes": 3}), ["a was evicted, 2 of 3 shared=yes left"])
        taken = pod(9, "b", "n", phase="Running", what="DELETED", at=29, **shared)
        later = pod(11, "b", "n", phase="Running", what="DELETED", at=40, **shared)
        self.assertEqual(after(taken, budgets={"shared=yes": 2}), [], "others may take more")
        self.assertEqual(after(later, budgets={"shared=yes": 2}), [])
        self.assertEqual(after(later, budgets={"shared=yes": 3}),
                         ["a was evicted, 2 of 3 shared=yes left"])

        def unready(version, at):
            return pod(version, "b", "n", phase="Running", ready=False, at=at, **shared)
        self.assertEqual(after(unready(8, 10), budgets={"shared=yes": 2}),
                         ["a was evicted, 1 of 2 shared=yes left"], "one that runs only is none")
        self.assertEqual(after(unready(8, 10), unready(9, 29), budgets={"shared=yes": 2}),
                         ["a was evicted, 1 of 2 shared=yes left"], "it was not ready before")
        self.assertEqual(after(unready(9, 29), budgets={"shared=yes": 2}), [], "since a moment")

    def test_a_minimum_that_was_raised_long_after_a_bind(self):
        self.assertEqual(self.problems(
            node(1, 2), group(2, 1), pod(3, "a"), pod(4, "a", "n"), group(5, 2, at=10 * LAG_S)), [])
        self.assertEqual(self.problems(
            node(1, 2), group(2, 2), pod(3, "a"), pod(4, "a", "n"), group(5, 3, at=10 * LAG_S)),
            ["a was bound, its gang got 1 of 2"])

    def test_evictions(self):
        running = [node(1, 2), group(2, 2), pod(3, "a"), pod(4, "b"), pod(5, "a", "n"),
                   pod(6, "b", "n")]
        gone = pod(7, "b", "n", what="DELETED", at=31)
        self.assertEqual(self.problems(*running, gone, evictions=[("b", 1030)]),
                         ["b was evicted, its gang has 1 of 2 left"])

    def test_evictions_within_a_cooldown_or_against_a_budget(self):
        meta = {"annotations": {"volcano.sh/cooldown-time": "40s"}, "labels": {"protected": "yes"}}
        steps = [node(1, 2), group(2, 1), pod(3, "a", **meta), pod(4, "a", "n", **meta),
                 pod(5, "a", "n", phase="Running", **meta),
                 pod(6, "a", "n", phase="Running", what="DELETED", at=31, **meta)]
        self.assertEqual(self.problems(*steps, evictions=[("a", 1030)]),
                         ["a was evicted, its budget allows none",
                          "a was evicted 10.0 s before its cooldown ends"])


if __name__ == "__main__":
    unittest.main()
