#!/usr/bin/env python3
"""What a change costs in the long-running loop: krafla bench --warm for every kind and both profiles.

Prints a table of processor time from the change to the decision, in microseconds, and writes warm.json. Part of
`make bench`.

usage: bench/warm.py build/krafla build/bench [--rounds 500] [--nodes 5000] [--pods-per-node 5]
"""
import argparse
import json
import os
import subprocess
import sys

import measured_program

# Those with gangs that wait search for all of them each time.
KINDS = (("pod", 1), ("full", 1), ("node", 1), ("finish", 1), ("idle", 1), ("stuck", 1), ("crowd", 20))


def measure(binary, kind, profile, rounds, a):
    command = [binary, "bench", "--warm", kind, "--compatibility", profile, "--rounds", str(rounds), "--nodes", str(a.nodes),
               "--pods-per-node", str(a.pods_per_node)]
    done = subprocess.run(command, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True)
    if done.returncode != 0:
        sys.exit("error: %s ended with %d: %s" % (" ".join(command), done.returncode, done.stderr.strip()))
    return json.loads(done.stdout)


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("binary")
    parser.add_argument("out")
    parser.add_argument("--rounds", type=int, default=500)
    parser.add_argument("--nodes", type=int, default=5000)
    parser.add_argument("--pods-per-node", type=int, default=5)
    a = parser.parse_args()
    a.binary = measured_program.find(parser, a.binary)
    os.makedirs(a.out, exist_ok=True)
    results = {}
    print("%-7s %-8s %12s %9s %9s %9s   (microseconds from the change to the decision)" %
          ("warm", "profile", "cold cycle", "min", "median", "p99"))
    for kind, part in KINDS:
        for profile in ("volcano", "krafla"):
            result = measure(a.binary, kind, profile, max(a.rounds // part, 1), a)
            results["%s, %s" % (kind, profile)] = result
            ns = result["change_to_decision_ns"]
            print("%-7s %-8s %12.0f %9.1f %9.1f %9.1f" % (kind, profile, result["first_cycle_ns"] / 1e3, ns["min"] / 1e3,
                                                          ns["median"] / 1e3, ns["p99"] / 1e3))
    print("cold cycle: the first one, in which everything is opened and made")
    with open(os.path.join(a.out, "warm.json"), "w") as f:
        json.dump(results, f, indent=1)
    return 0


if __name__ == "__main__":
    sys.exit(main())
