"""The program that is measured: there before anything is done."""
import os, shutil


def find(parser, name):
    """Where it is, a file or a program on the PATH."""
    path = name if os.path.isfile(name) and os.access(name, os.X_OK) else shutil.which(name)
    if path is None:
        parser.error("no program at %s; make build makes build/krafla" % name)
    return os.path.abspath(path)
