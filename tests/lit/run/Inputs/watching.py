# SPDX-License-Identifier: Apache-2.0
"""Runs a program (watching.cu) with KMM_LOG, KMM_STATS and KMM_PROGRESS, on two small devices.

usage: watching.py PROGRAM FOLDER [sanitized]
"""
import fcntl
import json
import os
import pty
import re
import shutil
import signal
import struct
import subprocess
import sys
import termios
import threading

program, folder = sys.argv[1:3]
sanitized = len(sys.argv) > 3
shutil.rmtree(folder, ignore_errors=True)
os.makedirs(folder)


def environment(**more):
    keep = {k: v for k, v in os.environ.items() if not k.startswith("KMM_")}
    return {**keep, "KMM_DEVICES": "host:2,mem=2M", "KMM_FRAME": "64K", "TERM": "xterm", **more}


def signals_default():
    """Whoever runs the tests may ignore signals of the keyboard, and what is ignored stays so."""
    for number in (signal.SIGINT, signal.SIGTERM, signal.SIGHUP):
        signal.signal(number, signal.SIG_DFL)


def run(*arguments, send=None, status=0, **more):
    """(stdout, stderr) of the program. `send`: a signal that it gets after its first line."""
    with open(f"{folder}/stderr", "w+") as errors:
        p = subprocess.Popen([program, *arguments], env=environment(**more), text=True,
                             stdout=subprocess.PIPE, stderr=errors, preexec_fn=signals_default)
        guard = threading.Timer(60, p.kill)
        guard.start()
        out = p.stdout.readline()
        if send:
            p.send_signal(send)
        out += p.stdout.read()
        p.wait()
        guard.cancel()
        errors.seek(0)
        err = errors.read()
    assert p.returncode == status, (arguments, more, p.returncode, err)
    return out, err


def on_terminal(columns, *arguments, **more):
    """What the program writes to a terminal."""
    child, terminal = pty.fork()
    if child == 0:
        fcntl.ioctl(2, termios.TIOCSWINSZ, struct.pack("HHHH", 24, columns, 0, 0))
        os.execve(program, [program, *arguments], environment(**more))
    text = b""
    while True:
        try:
            part = os.read(terminal, 1 << 16)
        except OSError:
            break
        if not part:
            break
        text += part
    assert os.waitpid(child, 0)[1] == 0
    os.close(terminal)
    return text.decode()


def screen(text):
    """The lines that a terminal shows in the end."""
    lines, column = [""], 0
    for part in re.findall(r"\x1b\[K|[\r\n]|[^\x1b\r\n]+", text):
        if part == "\x1b[K":
            lines[-1] = lines[-1][:column]
        elif part == "\r":
            column = 0
        elif part == "\n":
            lines.append("")
            column = 0
        else:
            lines[-1] = lines[-1][:column] + part + lines[-1][column + len(part):]
            column += len(part)
    return lines


# ---- KMM_LOG ----
assert run() == ("2\n", "")
assert run(KMM_LOG="0")[1] == ""
assert run(KMM_LOG="warning")[1] == ""
info = run(KMM_LOG="info")[1]
assert re.search(r"^\[ *\d+\.\d{6} \d+\] kmm: info: device 0: host:0, at most 2\.0 MiB for arrays", info,
                 re.M), info
assert "kmm: info: host:0: order by reuse begins: arrays have 4.0 MiB" in info, info
assert "kmm: debug" not in info
debug = run(KMM_LOG="debug")[1]
launches = re.findall(r'kmm: debug: .*watching\.cu:\d+: the "label": 8 chunks: 4096 blocks in '
                      r"parts of 512, run as 8; host:0: 4, host:1: 4", debug)
assert len(launches) == 2, debug
assert run(KMM_LOG="info", KMM_LOG_FILE=f"{folder}/log.%p")[1] == ""
logs = [f for f in os.listdir(folder) if re.fullmatch(r"log\.\d+", f)]
assert len(logs) == 1 and "kmm: info: device 1" in open(f"{folder}/{logs[0]}").read(), logs
spill = run(KMM_LOG="info", KMM_HOST_MEM="32M", KMM_SPILL_DIR=folder)[1]
assert f"the spill file is in {folder}" in spill, spill
said = re.findall(r"kmm: info: .*: sum: reduces through 8 private copies of", run("reduce", KMM_LOG="info")[1])
assert len(said) == 1, said  # once for a line of the source
if sanitized:
    sys.exit(0)  # sanitizers have handlers of their own

# ---- KMM_STATS ----
err = run(KMM_STATS="1")[1]
lines = err.splitlines()
assert re.match(r"kmm: \d+\.\d+ s: 16 chunks in \d+ launches, running \d+% of the time; copied in ", lines[0]), err
assert lines[1].split()[1:5] == ["device", "chunks", "launches", "running"], err
assert [line.split()[1:3] for line in lines[2:4]] == [["host:0", "8"], ["host:1", "8"]], err
assert len({len(line) for line in lines[1:4]}) == 1, err


def stats(text):
    lines = [json.loads(line) for line in text.splitlines() if line.startswith("{")]
    assert all(s["kmm_stats"] == 1 for s in lines)
    return lines


s, = stats(run(KMM_STATS="json")[1])
assert s["signal"] is None and [d["chunks"] for d in s["devices"]] == [8, 8], s
assert all(0 < d["memory_most"] <= d["memory_limit"] == 2 << 20 for d in s["devices"]), s
assert 0 < sum(d["running_s"] for d in s["devices"]) <= 2 * s["seconds"], s
assert sum(d["bytes_again"] for d in s["devices"]) <= sum(d["bytes_in"] for d in s["devices"]), s
s, = stats(run("", "0", KMM_STATS="json")[1])  # no launch at all
assert [d["chunks"] for d in s["devices"]] == [0, 0] and s["devices"][0]["running_s"] == 0, s
s, = stats(run(KMM_STATS="json", KMM_DEVICES="host:1,mem=64M")[1])  # all fits
assert s["devices"][0]["bytes_evicted"] == s["devices"][0]["bytes_again"] == 0, s
s, = stats(run("", "8", KMM_STATS="json", KMM_ORDER="submission", KMM_DEVICES="host:1,mem=1M")[1])
assert 0 < s["devices"][0]["bytes_again"] <= s["devices"][0]["bytes_in"], s
assert s["devices"][0]["bytes_evicted"] > 8 << 20, s
assert run(KMM_STATS=f"json:{folder}/s.json")[1] == ""
assert run("status", status=5, KMM_STATS=f"json:{folder}/s.json")[1] == ""
assert len(stats(open(f"{folder}/s.json").read())) == 2
run(KMM_STATS=f"json:{folder}/s%%%p.json")
name, = [f for f in os.listdir(folder) if re.fullmatch(r"s%\d+\.json", f)]
assert str(stats(open(f"{folder}/{name}").read())[0]["process"]) in name
err = run(KMM_STATS=f"json:{folder}/none/s.json")[1]
assert "kmm: warning: KMM_STATS=json:" in err and len(stats(err)) == 1, err
assert len(stats(run("two", KMM_STATS="json")[1])) == 2

# The statistics come once, and the program ends as it would without.
for how, number in (("abort", signal.SIGABRT), ("fault", signal.SIGSEGV)):
    run(how, status=-number)
    s, = stats(run(how, status=-number, KMM_STATS="json")[1])
    assert s["signal"] == number.name and s["devices"][0]["chunks"] == 8, s
for number in (signal.SIGINT, signal.SIGTERM, signal.SIGHUP, signal.SIGSEGV):
    s, = stats(run("wait", send=number, status=-number, KMM_STATS="json")[1])
    assert s["signal"] == number.name, s
out, err = run("own", send=signal.SIGTERM, status=7, KMM_STATS="json")  # the program's own handler
assert out == "2\nhandled\n" and not stats(err), (out, err)
out, err = run("fork", KMM_STATS="json")
assert out == "2\nchild 15\n" and len(stats(err)) == 1, (out, err)
out, err = run("fork", "2", "uses kmm, too", KMM_STATS="json")
assert out == "2\nchild 15\n" and [s["signal"] for s in stats(err)] == ["SIGTERM", None], (out, err)

# ---- A closed stderr ----
command = 'exec "$0" data 2 "$1" 2>&-'
data = f"{folder}/data"
subprocess.run(["sh", "-c", command, program, data], check=True, stdout=subprocess.DEVNULL, timeout=120,
               env=environment(KMM_LOG="debug", KMM_STATS="1", KMM_STAGE_BYTES="wrong", KMM_HOST_MEM="32M"))
assert open(data).read() == ""

# ---- KMM_PROGRESS ----
assert "%" not in run("", "40", KMM_PROGRESS="1")[1]  # no terminal
text = on_terminal(60, "long", KMM_PROGRESS="1")
assert re.search(r"\rkmm: \[[#-]+\] +\d+%  ", text), text
assert all(len(line) < 60 for line in re.split(r"[\r\n]", text.replace("\x1b[K", ""))), text
assert screen(text) == ["0", ""], (text, screen(text))
assert re.search(r"\[[#-]+\] +\d+%\x1b", on_terminal(20, "long", KMM_PROGRESS="1"))
for columns, more in ((10, {"KMM_PROGRESS": "1"}), (60, {"KMM_PROGRESS": "0"}), (60, {}),
                      (60, {"KMM_PROGRESS": "1", "TERM": "dumb"})):
    assert on_terminal(columns, "long", **more) == "0\r\n", (columns, more)
text = on_terminal(60, "long", KMM_PROGRESS="1", KMM_LOG="debug")  # messages erase the bar
assert all("kmm: [" not in line for line in screen(text)), screen(text)
