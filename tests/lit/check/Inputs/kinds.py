# SPDX-License-Identifier: Apache-2.0
"""kinds.py KMMCC PAGE FOLDER [-p]: compiles and runs each program of Inputs/kinds, which has one wrong annotation, in four ways, and
compares what finds the mistake with the table in PAGE (docs/checking.md). -p prints the table's rows. Fails if a row differs, if a
program has none, or if nothing finds a mistake.

compile: kmmcc refuses the program, or warns (-Wkmm-unproven). run: it is compiled with -fno-kmm-compare, and the run fails with a message of kmm. checked: the same
with -fkmm-check. result: compiled as for run, and run on small devices with KMM_CHECK=result. A program that kmmcc refuses also with -fno-kmm-compare has `-` for the runs.
"""
import glob
import os
import re
import subprocess
import sys

DEVICES = [{"KMM_DEVICES": "host"}, {"KMM_DEVICES": "host:3,mem=1M", "KMM_FRAME": "64K", "KMM_JOIN": "0"}]

# Flags, and on which devices each answer's run is.
WAYS = [
    (["-fno-kmm-compare"], [DEVICES, [dict(DEVICES[1], KMM_CHECK="result")]]),
    (["-fno-kmm-compare", "-fkmm-check"], [DEVICES]),
]


def compiled(command):
    done = subprocess.run(command, capture_output=True, text=True)
    return done.returncode == 0, done.stderr


def runs(binary, all_devices):
    """True if the run fails on each of the devices with a message."""
    answers = []
    for devices in all_devices:
        done = subprocess.run([binary], env=dict(os.environ, **devices), capture_output=True, text=True, timeout=60)
        answers.append(done.returncode != 0 and "kmm: error" in done.stderr)
    return all(answers)


def kind(kmmcc, path, folder):
    binary = os.path.join(folder, os.path.basename(path) + ".program")
    base = [kmmcc, "--target=host", "-w", path, "-o", binary] if path.endswith(".cu") else [kmmcc, "-w", path, "-o", binary]
    source = [binary + ".source", "--emit-source=" + binary + ".source"]
    accepted, said = compiled([word for word in base[:-1] if word != "-w"] + source)
    answers = ["warns" if accepted and "[-Wkmm-unproven]" in said else "no" if accepted else "yes"]
    if not accepted and "error:" not in said:
        sys.exit("%s: %s" % (path, said))
    accepted = True
    for flags, ways in WAYS:
        accepted = accepted and compiled(base + flags)[0]
        answers += ["yes" if accepted and runs(binary, devices) else "no" if accepted else "-" for devices in ways]
    compile, run, result, checked = answers
    return [compile, run, checked, result]


def main():
    kmmcc, page, folder = sys.argv[1:4]
    here = os.path.join(os.path.dirname(os.path.abspath(__file__)), "kinds")
    os.makedirs(folder, exist_ok=True)
    with open(page, encoding="utf-8") as text:
        table = dict(re.findall(r"^\| (.*?) +\| ((?:yes|no|warns)(?: +\| (?:yes|no|-)){3}) +\|$", text.read(), re.M))
    table = {name: re.split(r" +\| ", answers) for name, answers in table.items()}
    bad, rows = 0, []
    for path in sorted(glob.glob(here + "/*.c") + glob.glob(here + "/*.cu")):
        with open(path, encoding="utf-8") as text:
            title = text.read().split("\n")[1][3:]
        found = kind(kmmcc, path, folder)
        rows.append("| %s | %s |" % (title, " | ".join(found)))
        if "yes" not in found:
            bad += 1
            print("%s: nothing finds: %s" % (os.path.basename(path), title))
        if table.pop(title, None) != found and "-p" not in sys.argv:
            bad += 1
            print("%s: the table of %s has no such row: %s" % (os.path.basename(path), page, rows[-1]))
    for title in table:
        if "-p" not in sys.argv:
            bad += 1
            print("no program is for: %s" % title)
    if "-p" in sys.argv:
        print("\n".join(rows))
    print("%d kinds, %d not as they must be" % (len(rows), bad))
    sys.exit(bad != 0)


main()
