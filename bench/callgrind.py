"""Instructions that valgrind's callgrind counts: the same whatever else the machine does."""
import os, re, subprocess, sys


def count(command, functions, what, tunables=""):
    """Of the command while it is in one of these functions (patterns). `what` names it in an error; `tunables`: glibc's."""
    valgrind = ["valgrind", "--tool=callgrind", "--callgrind-out-file=/dev/null", "--collect-atstart=no",
                *("--toggle-collect=" + function for function in functions)]
    environment = {**os.environ, "GLIBC_TUNABLES": tunables} if tunables else None
    done = subprocess.run([*valgrind, *command], stdout=subprocess.DEVNULL, stderr=subprocess.PIPE, text=True, env=environment)
    found = re.search(r"Collected : (\d+)", done.stderr)
    if done.returncode != 0 or not found or int(found[1]) == 0:
        sys.exit("error: callgrind could not count %s:\n%s" % (what, done.stderr[-2000:]))
    return int(found[1])
