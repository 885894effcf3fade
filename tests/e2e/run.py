#!/usr/bin/env python3
"""Runs the end-to-end tests against a real control plane.

usage: run.py KRAFLA [test ...]      e.g. run.py build/krafla test_decisions.Decisions
The programs are built once by controlplane/build.sh and kept (KRAFLA_E2E_CACHE). Exit code 3: the
tests were not run, because Go is missing.
KRAFLA_E2E_KEEP=1 keeps the folder with all logs; it is kept anyway when a test fails.
"""
import os
import shutil
import signal
import subprocess
import sys
import tempfile
import unittest

HERE = os.path.dirname(os.path.abspath(__file__))


def main():
    if len(sys.argv) < 2:
        sys.exit(__doc__)
    built = subprocess.run([os.path.join(HERE, "controlplane", "build.sh")], text=True,
                           stdout=subprocess.PIPE)
    if built.returncode == 3:
        print("!! END-TO-END TESTS WERE NOT RUN: Go 1.26 or newer is missing", file=sys.stderr)
        return 3
    if built.returncode != 0:
        return 1
    # Told to stop: the control plane is taken down as at the end.
    def interrupt(*_):
        raise KeyboardInterrupt
    signal.signal(signal.SIGTERM, interrupt)
    run = tempfile.mkdtemp(prefix="krafla-e2e-")
    os.environ["KRAFLA"] = os.path.abspath(sys.argv[1])
    os.environ["KRAFLA_E2E_PROGRAMS"] = built.stdout.strip()
    os.environ["KRAFLA_E2E_RUN"] = run
    sys.path.insert(0, HERE)
    loader = unittest.TestLoader()
    tests = (loader.loadTestsFromNames(sys.argv[2:]) if len(sys.argv) > 2
             else loader.discover(HERE, "test_*.py"))
    from cluster_test_case import ClusterTestCase, Scheduler
    result = None
    try:
        result = unittest.TextTestRunner(verbosity=2).run(tests)
    except KeyboardInterrupt:
        pass
    finally:
        for scheduler in Scheduler.all:
            scheduler.stop(signal.SIGKILL)
        if ClusterTestCase.plane is not None:
            ClusterTestCase.plane.down()
    if result is not None and result.wasSuccessful() and not os.environ.get("KRAFLA_E2E_KEEP"):
        shutil.rmtree(run)
    else:
        print(f"logs are in {run}", file=sys.stderr)
    return 0 if result is not None and result.wasSuccessful() else 1


if __name__ == "__main__":
    sys.exit(main())
