#!/usr/bin/env python3
"""Counts the instructions of whole cycles, each cluster twice as large as the one before: `make bench-growth`.

  count_growth.py BINARY OUT_DIR [--kinds KIND,...] [--growth-to NODES]

Time on a machine with neighbours says little of a single step: instructions repeat. Counted by callgrind from the opening
of the session to its close, profile volcano. Writes OUT_DIR/growth_instructions.json; a step above 2.3 ends with 1.
"""
import argparse, json, os, shutil, sys

import callgrind, measured_program, run

MOST = 2.3  # times the instructions for twice the nodes
# In these a session is opened, and everything else is done.
CYCLE = ("krafla::Session::Session(*", "krafla::Session::RunActions(*")
# A processor fills and copies memory in single instructions, which valgrind counts byte by byte from some size on.
PLAIN_COPIES = "glibc.cpu.x86_rep_stosb_threshold=1073741824:glibc.cpu.x86_rep_movsb_threshold=1073741824"


def count(binary, prefix):
    return callgrind.count(run.command_for(binary, prefix, "volcano"), CYCLE, prefix, PLAIN_COPIES)


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("binary")
    parser.add_argument("out")
    parser.add_argument("--kinds", default=",".join(run.GROWTH_KINDS), help="default: all of them")
    parser.add_argument("--growth-to", type=int, default=20000, help="nodes of the largest cluster")
    a = parser.parse_args()
    a.binary = measured_program.find(parser, a.binary)
    if a.growth_to < run.SMALLEST:
        parser.error("--growth-to %d: the smallest cluster has %d nodes" % (a.growth_to, run.SMALLEST))
    kinds = a.kinds.split(",")
    if unknown := set(kinds) - set(run.GROWTH_KINDS):
        parser.error("unknown kind: %s; expected %s" % (", ".join(sorted(unknown)), ", ".join(run.GROWTH_KINDS)))
    if shutil.which("valgrind") is None:
        sys.exit("error: valgrind is missing: scripts/install-packages.sh installs it")
    os.makedirs(a.out, exist_ok=True)
    sizes = run.growth_sizes(a.growth_to)
    progress = run.Progress(len(kinds) * len(sizes))
    counts, too_many = {}, []
    print("millions of instructions\n%-9s" % "nodes", "".join("%10d" % nodes for nodes in sizes))
    for kind in kinds:
        counts[kind] = []
        for nodes in sizes:
            progress.step("%s, %d nodes" % (kind, nodes))
            with run.passing_input(a.out, kind, nodes, 10 * nodes) as prefix:
                counts[kind].append(count(a.binary, prefix))
        progress.end()
        steps = [larger / smaller for smaller, larger in zip(counts[kind], counts[kind][1:])]
        print("%-9s" % kind, "".join("%10.1f" % (c / 1e6) for c in counts[kind]))
        print("%-9s" % "step", " " * 10 + "".join("%10.2f" % step for step in steps), flush=True)
        too_many += ["%s, %d nodes: %.2f times what half of them take" % (kind, nodes, step)
                     for nodes, step in zip(sizes[1:], steps) if step > MOST]
    with open(os.path.join(a.out, "growth_instructions.json"), "w") as f:
        json.dump({"nodes": sizes, "instructions": counts}, f, indent=1)
    for line in too_many:
        print("too steep:", line)
    return 1 if too_many else 0


if __name__ == "__main__":
    sys.exit(main())
