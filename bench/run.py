#!/usr/bin/env python3
"""Measures whole cycles on generated clusters and prints a table: `make bench`.

  run.py BINARY OUT_DIR [--quick] [--growth-to NODES]

Writes OUT_DIR/results.json and OUT_DIR/growth.svg. CPU time is what the program says of its own cycle
(stats.cpu_ms.total; reading files is apart, as "load"), the best and the median of several runs; in growth curves the
average of the best third. Instructions of the whole process come from perf, else from valgrind. The answers count too: a
row whose decisions are not the expected number fails.
"""
import argparse, contextlib, json, os, re, shutil, statistics, subprocess, sys, time

import measured_program

GENERATE = os.path.join(os.path.dirname(os.path.abspath(__file__)), "generate.py")
NOW = "2026-03-10T12:00:00Z"
PROFILES = ("volcano", "krafla")
# kind, nodes, pods, Volcano's CPU ms and peak MB on the same input (None: not measured), and the number of decisions
# that has to come out.
ROWS = [
    ("allocate", 1000, 10000, 48354, 1012, ("binds", 10000)),
    ("allocate", 5000, 10000, 67650, 637, ("binds", 10000)),
    ("allocate", 5000, 50000, 340000, None, ("binds", 50000)),
    ("mixed", 1000, 10000, 59689, 581, None),
    ("stuck", 1000, 10000, 51673, 600, ("pipelined", 0)),
    ("preempt", 1000, 10000, 4441, 510, ("pipelined", 1000)),
    ("preempt", 5000, 50000, 29875, 1880, ("pipelined", 5000)),
    ("topo", 1000, 10000, 14207, 644, ("pipelined", 1000)),
    ("topo", 5000, 50000, 95842, 1603, ("pipelined", 5000)),
    ("reclaim", 1000, 10000, 26584, 730, ("pipelined", 2500)),
    ("reclaim", 5000, 50000, 197714, 3940, ("pipelined", 12500)),
    ("tdm", 5000, 50000, 3633, 969, None),
    ("idle", 1000, 10000, 165, 268, ("binds", 0)),
    ("idle", 5000, 50000, 755, 835, ("binds", 0)),
]
GROWTH_KINDS = ("allocate", "preempt", "topo", "reclaim", "stuck", "tdm", "mixed", "alike", "idle")
SMALLEST = 625  # nodes of the smallest cluster in the growth curves
ROUNDS = 12  # of each growth curve, at most
FEWEST_ROUNDS = 6
GROWTH_SECONDS = 240  # for the runs of all curves: on a slow machine there are fewer rounds


class Progress:
    def __init__(self, steps):
        self.steps, self.done, self.began = steps, 0, time.time()

    def step(self, what):
        self.done += 1
        if sys.stderr.isatty():
            sys.stderr.write("\r\033[K[%d/%d, %d s] %s" % (self.done, self.steps, time.time() - self.began, what))
            sys.stderr.flush()

    def skip(self, steps):
        self.done += steps

    def end(self):
        if sys.stderr.isatty():
            sys.stderr.write("\r\033[K")


def input_for(out, kind, nodes, pods):
    prefix = os.path.join(out, "%s-%d-%d" % (kind, nodes, pods))
    if not os.path.exists(prefix + ".yaml"):
        # In a process of its own: a child's peak memory is never below what its parent has when it starts it.
        subprocess.run([sys.executable, GENERATE, kind, "--nodes", str(nodes), "--pods", str(pods), "--out", prefix],
                       check=True)
    return prefix


@contextlib.contextmanager
def passing_input(out, kind, nodes, pods):
    """One that is removed behind its use, unless the table has it too."""
    prefix = input_for(out, kind, nodes, pods)
    try:
        yield prefix
    finally:
        if (kind, nodes, pods) not in {row[:3] for row in ROWS}:
            for ending in (".yaml", ".json"):  # there is an input as long as there is a configuration
                os.remove(prefix + ending)


def command_for(binary, prefix, profile):
    return [binary, "run", "--cluster", prefix + ".json", "--config", prefix + ".yaml", "--compatibility", profile,
            "--lenient", "--output", "json", "--now", NOW]


def run_once(binary, prefix, profile):
    command = [*command_for(binary, prefix, profile), "--stats"]
    done = subprocess.run(command, stdout=subprocess.PIPE, stderr=subprocess.DEVNULL)
    if done.returncode != 0:
        sys.exit("error: %s ended with %d" % (" ".join(command), done.returncode))
    return json.loads(done.stdout)


def instructions(binary, prefix):
    """Of the whole process, in millions: counted by the processor where perf may ask it, else by valgrind, which takes
    fifty times as long. None where there is neither."""
    command = command_for(binary, prefix, "volcano")
    counters = (("perf", ["stat", "-x,", "-e", "instructions:u"], r"^(\d+),.*instructions"),
                ("valgrind", ["--tool=cachegrind", "--cache-sim=no", "--cachegrind-out-file=/dev/null"],
                 r"I *refs: +([\d,]+)"))
    for program, arguments, pattern in counters:
        if shutil.which(program) is None:
            continue
        done = subprocess.run([program, *arguments, *command], stdout=subprocess.DEVNULL, stderr=subprocess.PIPE, text=True)
        if found := re.search(pattern, done.stderr, re.MULTILINE):
            return int(found[1].replace(",", "")) / 1e6
    return None


def decisions(answer):
    return {name: len(answer[name]) for name in ("binds", "evictions", "pipelined")}


def summary(answers):
    stats = [answer["stats"] for answer in answers]
    totals = [s["cpu_ms"]["total"] for s in stats]
    return {"cpu_ms_min": min(totals), "cpu_ms_median": statistics.median(totals),
            "load_ms": min(s["load_ms"] for s in stats), "rss_mb": max(s["peak_rss_mb"] for s in stats),
            "decisions": decisions(answers[0])}


def undisturbed(numbers):
    """The average of the lowest third: what it takes when other machines on the same hardware are quiet. The lowest alone
    is luck."""
    return statistics.fmean(sorted(numbers)[:max(1, len(numbers) // 3)])


def table(binary, out, repeat, progress):
    rows, wrong = [], []
    for kind, nodes, pods, volcano_ms, volcano_mb, expected in ROWS:
        prefix = input_for(out, kind, nodes, pods)
        row = {"kind": kind, "nodes": nodes, "pods": pods, "volcano_cpu_ms": volcano_ms, "volcano_rss_mb": volcano_mb,
               "json_mb": os.path.getsize(prefix + ".json") / 1e6}
        # In turn: what is compared should see the same neighbours.
        progress.step("%s, %d nodes" % (kind, nodes))
        answers = [{profile: run_once(binary, prefix, profile) for profile in PROFILES} for _ in range(repeat)]
        for profile in PROFILES:
            row[profile] = summary([answer[profile] for answer in answers])
            if expected and row[profile]["decisions"][expected[0]] != expected[1]:
                wrong.append("%s, %d nodes, profile %s: %d %s, expected %d" %
                             (kind, nodes, profile, row[profile]["decisions"][expected[0]], expected[0], expected[1]))
        row["instructions_millions"] = instructions(binary, prefix)
        rows.append(row)
    return rows, wrong


def growth(binary, out, rounds, up_to, progress):
    """CPU ms and decisions by number of nodes, doubled from one to the next, and how much more each takes than the one
    before. Other machines on the same hardware come and go: sizes are measured in turn, each as often as the others, so
    that all of them see the same neighbours. Rounds are fewer when time is short. Nothing else is done meanwhile."""
    curves, steps = {}, {}
    sizes = growth_sizes(up_to)
    left = GROWTH_SECONDS
    for place, kind in enumerate(GROWTH_KINDS):
        progress.step("growth of %s, inputs" % kind)
        measured = []
        with contextlib.ExitStack() as inputs:
            prefixes = [inputs.enter_context(passing_input(out, kind, nodes, 10 * nodes)) for nodes in sizes]
            began, taken = time.monotonic(), 0
            for number in range(rounds):
                one_more = taken * (number + 1) / max(number, 1)
                if number >= FEWEST_ROUNDS and one_more > left / (len(GROWTH_KINDS) - place):
                    progress.skip(rounds - number)
                    break
                progress.step("growth of %s, round %d" % (kind, number + 1))
                measured.append([run_once(binary, prefix, "volcano") for prefix in prefixes])
                taken = time.monotonic() - began
            left -= taken
        curves[kind] = [(nodes, undisturbed([run["stats"]["cpu_ms"]["total"] for run in runs]),
                         sum(decisions(runs[0]).values())) for nodes, runs in zip(sizes, zip(*measured))]
        steps[kind] = [b / a for (_, a, _), (_, b, _) in zip(curves[kind], curves[kind][1:])]
    return curves, steps


def growth_sizes(up_to):
    sizes = [SMALLEST]
    while sizes[-1] * 2 <= up_to:
        sizes.append(sizes[-1] * 2)
    return sizes


def svg(curves):
    """Both axes logarithmic: a straight line at 45 degrees is linear growth."""
    import math
    width, height, left, bottom = 760, 480, 70, 50
    points = [p for curve in curves.values() for p in curve]
    low_x, high_x = min(p[0] for p in points), max(p[0] for p in points)
    low_y, high_y = min(p[1] for p in points) * 0.8, max(p[1] for p in points) * 1.25
    x = lambda n: left + (width - left - 130) * (math.log(n / low_x) / math.log(max(high_x / low_x, 2)))
    y = lambda ms: height - bottom - (height - bottom - 20) * (math.log(ms / low_y) / math.log(high_y / low_y))
    lines = ['<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 %d %d" font-family="sans-serif" font-size="12">' % (width, height),
             '<rect width="100%" height="100%" fill="white"/>']
    for n in sorted({p[0] for p in points}):
        lines.append('<text x="%.0f" y="%d" text-anchor="middle">%d</text>' % (x(n), height - bottom + 18, n))
        lines.append('<path d="M%.0f 20V%d" stroke="#ddd"/>' % (x(n), height - bottom))
    decade = 10.0 ** math.floor(math.log10(low_y))
    while decade <= high_y:
        if decade >= low_y:
            lines.append('<text x="%d" y="%.0f" text-anchor="end">%g ms</text>' % (left - 8, y(decade) + 4, decade))
            lines.append('<path d="M%d %.0fH%d" stroke="#ddd"/>' % (left, y(decade), width - 130))
        decade *= 10
    lines.append('<text x="%d" y="%d" text-anchor="middle">nodes (ten pods each)</text>' % ((left + width - 130) / 2, height - 10))
    colours = ("#1b6ca8", "#c0392b", "#27864b", "#8e44ad", "#b9770e", "#117a65", "#555555", "#d35400", "#7d6608")
    for (kind, curve), colour in zip(curves.items(), colours):
        path = "L".join("%.1f %.1f" % (x(n), y(ms)) for n, ms, _ in curve)
        lines.append('<path d="M%s" fill="none" stroke="%s" stroke-width="2"/>' % (path, colour))
        lines.append('<text x="%.0f" y="%.0f" fill="%s">%s</text>' % (x(curve[-1][0]) + 8, y(curve[-1][1]) + 4, colour, kind))
    return "\n".join(lines + ["</svg>", ""])


def show(rows, curves, steps):
    print("%-9s %6s %6s %10s %10s %10s %9s %9s %8s %8s" %
          ("kind", "nodes", "pods", "CPU ms min", "median", "krafla min", "load MB/s", "M instr.", "RSS MB", "Volcano/"))
    for r in rows:
        v, k = r["volcano"], r["krafla"]
        print("%-9s %6d %6d %10.2f %10.2f %10.2f %9.0f %9s %8.0f %7.0fx" %
              (r["kind"], r["nodes"], r["pods"], v["cpu_ms_min"], v["cpu_ms_median"], k["cpu_ms_min"],
               1000 * r["json_mb"] / v["load_ms"],
               "-" if r["instructions_millions"] is None else "%.0f" % r["instructions_millions"], v["rss_mb"],
               r["volcano_cpu_ms"] / max(v["cpu_ms_min"], 0.001)))
    print("Volcano/: what Volcano took when it was measured, on the machine of docs/performance.md, by what krafla took here")
    for kind, curve in curves.items():
        print("growth of %-9s" % kind, "  ".join("%d: %.1f ms" % (n, ms) for n, ms, _ in curve))
        if steps[kind]:
            print("%19s" % "steps", "  ".join("%.2f" % step for step in steps[kind]), "  on the average %.2f" %
                  statistics.geometric_mean(steps[kind]))
        # Where clusters are drawn by lot, one of twice the size may have three times as much to decide.
        if all(decisions for _, _, decisions in curve):
            print("%19s" % "each decision", "  ".join("%d: %.2f us" % (n, 1000 * ms / decisions) for n, ms, decisions in curve))


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("binary")
    parser.add_argument("out")
    parser.add_argument("--quick", action="store_true", help="one run each, no growth curves")
    parser.add_argument("--growth-to", type=int, default=20000, help="nodes of the largest cluster in the growth curves")
    a = parser.parse_args()
    a.binary = measured_program.find(parser, a.binary)
    if a.growth_to < SMALLEST:
        parser.error("--growth-to %d: the smallest cluster has %d nodes" % (a.growth_to, SMALLEST))
    os.makedirs(a.out, exist_ok=True)
    repeat = 1 if a.quick else 5
    progress = Progress(len(ROWS) + (0 if a.quick else len(GROWTH_KINDS) * (1 + ROUNDS)))
    rows, wrong = table(a.binary, a.out, repeat, progress)
    curves, steps = ({}, {}) if a.quick else growth(a.binary, a.out, ROUNDS, a.growth_to, progress)
    progress.end()
    with open(os.path.join(a.out, "results.json"), "w") as f:
        json.dump({"rows": rows, "growth": curves, "growth_steps": steps}, f, indent=1)
    if curves:
        with open(os.path.join(a.out, "growth.svg"), "w") as f:
            f.write(svg(curves))
    show(rows, curves, steps)
    for line in wrong:
        print("wrong answer:", line)
    return 1 if wrong else 0


if __name__ == "__main__":
    sys.exit(main())
