# SPDX-License-Identifier: Apache-2.0
"""Usage: check_pages.py <source folder> <folder of the pages>

Tests the man pages and the completion: every option of kmmcc is in them, groff has nothing to say
about the pages, and bash, zsh and fish complete words, as far as they are installed.
"""
import os
import re
import shutil
import subprocess
import sys

source, pages = sys.argv[1:]
failures = 0


def fail(*message):
    global failures
    failures += 1
    print(*message)


def read(*path):
    with open(os.path.join(*path), encoding="utf-8") as file:
        return file.read()


def run(*command, **options):
    done = subprocess.run(command, text=True, capture_output=True, timeout=100, **options)
    return done.stdout, done.stderr


def own_options():
    """The options that kmmcc's source reads as its own."""
    code = read(source, "kmmcc/driver/options.c")
    begin, end = code.index("static bool read_flag("), code.index("/* ---- Reading ---- */")
    return {name for name in re.findall(r'"(--?[a-z][a-z-]*=?)[a-z:=-]*"', code[begin:end])
            if name not in ("-fkmm", "-fno-kmm")}


def is_told(name, text):
    """An option is told if its opposite is; those of messages have the names of gcc and clang."""
    bare = name.replace("-fno-", "-f").replace("diagnostics-color", "color-diagnostics")
    bare = bare.rstrip("=")
    return bare in text or bare.replace("-f", "-fno-", 1) in text


def check_pages():
    names = ["man1/kmmcc.1", "man1/kmm-info.1", "man1/kmm-replay.1", "man1/kmm-report.1",
             "man7/kmm.7"]
    for name in names:
        text = read(pages, name)
        for section in ("NAME", "DESCRIPTION", "SEE ALSO"):
            if f"\n.SH {section}\n" not in text:
                fail(f"{name} has no section {section}")
        if shutil.which("groff"):
            _, said = run("groff", "-man", "-Tutf8", "-ww", "-rLL=100n", "-K", "utf8",
                          os.path.join(pages, name))
            lines = [line for line in said.splitlines()
                     if not re.search(r"cannot (break|adjust)", line)]
            if lines:
                fail(f"groff says of {name}:", *lines[:5])
    text = read(pages, "man7/kmm.7").replace("\\", "")
    for word in ("parallel (axes) clauses", "reduce(+: S[0])", "KMM_DEVICES", "KMM_STATS",
                 "update to(...)"):
        if word not in text:
            fail(f"kmm.7 does not have '{word}'")
    names = "|".join(re.findall(r"(?m)^\[([^\]]+)\]: ", read(source, "docs/clauses.md")))
    for line in text.splitlines():
        if re.search(rf"\]\[({names})\]|\[({names})\]: |\]\([^)]*\.md[^)]*\)", line):
            fail("kmm.7 shows a link as it is written in Markdown:", line)


def check_options():
    page = read(pages, "man1/kmmcc.1").replace("\\", "").replace("[no-]", "")
    bash = read(pages, "bash-completion/kmmcc")
    options = own_options()
    if len(options) < 25:
        fail("too few options are found in options.c:", options)
    for name in sorted(options):
        if name not in ("-help", "-h", "--help") and not is_told(name, page):
            fail(f"'kmmcc --help' and kmmcc.1 do not tell of {name}")
        if not is_told(name, bash):
            fail(f"completion does not offer {name}")


WANTED = {"kmmcc --targ": "host", "kmmcc -fkmm-man": "all", "kmm-replay --ser": "--serial",
          "kmmcc -Wno-kmm-wi": "wide", "kmm-report --he": "--help"}


def check_bash():
    script = """
        source "$1"; COMP_LINE=$2; COMP_POINT=${#2}; COMP_WORDS=($2)
        COMP_CWORD=$((${#COMP_WORDS[@]} - 1))
        compopt() { :; }
        $3; printf '%s\\n' "${COMPREPLY[@]}" """
    for line, wanted in WANTED.items():
        name = line.split()[0]
        out, said = run("bash", "-c", script, "bash", os.path.join(pages, "bash-completion", name),
                        line, "_" + name.replace("-", "_"))
        if wanted not in out or said:
            fail(f"bash completes '{line}' as '{out}' {said}")


def check_fish():
    for line, wanted in WANTED.items():
        name = line.split()[0]
        file = os.path.join(pages, "fish", name + ".fish")
        line += "et=" if line.endswith("--targ") else ""
        out, said = run("fish", "--no-config", "-c", f"source '{file}'; complete -C '{line}'")
        if wanted not in out or said:
            fail(f"fish completes '{line}' as '{out}' {said}")


def check_zsh():
    """Completion of zsh wants a terminal, which zpty gives it."""
    script = """
        zmodload zsh/zpty; zpty z zsh -f -i
        zpty -w z "PS1=; fpath=($1 \\$fpath); autoload -U compinit; compinit -u -D"
        zpty -w z "bindkey '^I' list-choices"
        zpty -w z "echo rea''dy"; zpty -r -m z x '*ready*'
        zpty -w -n z "$2"$'\\t'; sleep 0.5; zpty -w -n z $'\\x15'; zpty -w z "echo do''ne"
        zpty -r -m z x '*done*'; print -r -- "$x" """
    for line, wanted in (("kmmcc -fkmm-man", "whether calls of"), ("kmm-replay --", "--repeat")):
        out, said = run("zsh", "-f", "-c", script, "zsh", os.path.join(pages, "zsh"), line)
        if wanted not in out or said:
            fail(f"zsh completes '{line}' as '{out}' {said}")


check_pages()
check_options()
check_bash()
if shutil.which("fish"):
    check_fish()
if shutil.which("zsh"):
    check_zsh()
sys.exit(1 if failures else 0)
