# SPDX-License-Identifier: Apache-2.0
"""The commands that a wheel installs: kmmcc, kmm-info, kmm-replay and kmm-report."""
import os
import sys


def main():
    """Becomes the program of the same name."""
    path = os.path.join(os.path.dirname(os.path.abspath(__file__)), "native/bin",
                        os.path.basename(sys.argv[0]))
    os.execv(path, [path] + sys.argv[1:])
