#!/usr/bin/env python3
"""Counts the instructions of small cycles under callgrind and compares them with stored figures.

  instruction_guard.py BINARY WORK_DIR [--store REASON]

Instruction counts repeat on a noisy machine, so a rise of more than 10 % is a rise of the work done, and fails. The
figures belong to a compiler and C library (bench/instructions.json); under others the counts are printed and nothing
fails. --store writes the counts as the new figures, with the date and the reason.
"""
import argparse, datetime, json, os, platform, re, shutil, subprocess, sys

import callgrind, measured_program, generate

# Three small clusters, and some with more nodes than a few words of bits. In Volcano's profile other ways are taken: tries
# leave marks, and predicates do not look again.
CASES = (("preempt", 60, 600, "krafla"), ("mixed", 40, 400, "krafla"), ("stuck", 40, 400, "krafla"),
         ("mixed", 640, 6400, "krafla"), ("givers", 320, 1600, "krafla"),
         ("stuck", 320, 3200, "volcano"), ("mixed", 640, 6400, "volcano"))
LIMIT = 1.10
FIGURES = os.path.join(os.path.dirname(os.path.abspath(__file__)), "instructions.json")


def toolchain(binary):
    """What the counts depend on: the compiler that made the binary, the C library, and whether the processor has wide
    registers (base/four_words.h)."""
    comment = subprocess.run(["readelf", "-p", ".comment", binary], capture_output=True, text=True).stdout
    compilers = sorted(set(re.findall(r"\]\s+((?:GCC|clang)[^\n]*|[^\n]*clang version[^\n]*)", comment)))
    with open("/proc/cpuinfo") as f:
        wide = "" if re.search(r"\bavx2\b", f.read()) else "; without avx2"
    return "%s; %s %s%s" % (", ".join(compilers) or "unknown compiler", *platform.libc_ver(), wide)


def name_of(case):
    """Of a large one with its number of nodes; of one in Volcano's profile with that."""
    kind, nodes, _, profile = case
    return kind + ("-%d" % nodes if nodes >= 100 else "") + ("-volcano" if profile == "volcano" else "")


def count(binary, work, kind, nodes, pods, profile):
    prefix = os.path.join(work, "guard-%s-%d" % (kind, nodes))
    generate.write(kind, nodes, pods, prefix)
    # Of the command alone: what the loader does for libraries that only other commands use is not counted.
    command = [binary, "run", "--cluster", prefix + ".json", "--config", prefix + ".yaml", "--compatibility", profile,
               "--lenient", "--output", "json", "--now", "2026-03-10T12:00:00Z"]
    return callgrind.count(command, ["krafla::RunCommand(*"], kind)


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("binary")
    parser.add_argument("work")
    parser.add_argument("--store", metavar="REASON")
    a = parser.parse_args()
    a.binary = measured_program.find(parser, a.binary)
    if shutil.which("valgrind") is None or shutil.which("readelf") is None:
        print("instruction counts: not compared, valgrind or readelf is missing")
        return 0
    os.makedirs(a.work, exist_ok=True)
    with open(FIGURES) as f:
        figures = json.load(f)
    tools = toolchain(a.binary)
    counts = {name_of(case): count(a.binary, a.work, *case) for case in CASES}
    if a.store:
        figures.setdefault(tools, []).append({"date": datetime.date.today().isoformat(), "reason": a.store, **counts})
        with open(FIGURES, "w") as f:
            json.dump(figures, f, indent=1)
            f.write("\n")
        return 0
    if tools not in figures:
        print("instruction counts: no figures for %s; not compared: %s" % (tools, counts))
        return 0
    stored, failed = figures[tools][-1], 0
    for kind, number in counts.items():
        if kind not in stored:
            print("instruction counts: %-17s %12d, none stored" % (kind, number))
            continue
        ratio = number / stored[kind]
        print("instruction counts: %-17s %12d, stored %12d (%+.1f %%)" % (kind, number, stored[kind], 100 * (ratio - 1)))
        if ratio > LIMIT:
            failed = 1
            print("!! %s takes more than 10 %% more instructions than on %s (%s)" % (kind, stored["date"], stored["reason"]))
    return failed


if __name__ == "__main__":
    sys.exit(main())
