"""The program that is measured: there before anything is done."""
import os


def check(parser, path):
    if os.path.isdir(path) or not os.access(path, os.X_OK):
        parser.error("no program at %s; make build makes build/krafla" % path)
