# SPDX-License-Identifier: Apache-2.0
"""Usage: pages VERSION DATE SOURCE OUT PROGRAM...

Writes the man pages and the completion of installed programs to the folder OUT, from what the
PROGRAMs print for --help, and kmm(7) from documents in the folder SOURCE.
"""
import os
import subprocess
import sys

import completion
import help_text
import roff

SUMMARIES = {
    "kmmcc": "compiler driver for programs with kmm pragmas",
    "kmm-info": "print the devices that libkmm uses",
    "kmm-replay": "run a log of allocations again",
    "kmm-report": "tell where the time of a run went",
}
SEE = {"kmmcc": "kmm-info(1), kmm(7)", "kmm-info": "kmm(7)", "kmm-replay": "kmm(7)",
       "kmm-report": "kmm(7)"}


def asked(program, *arguments):
    done = subprocess.run([program, *arguments], text=True, capture_output=True, check=True,
                          env={**os.environ, "COLUMNS": "100"})
    return done.stdout


def write(folder, name, text):
    os.makedirs(folder, exist_ok=True)
    with open(os.path.join(folder, name), "w", encoding="utf-8") as file:
        file.write(text)


def see_also(names):
    return [".SH SEE ALSO", ", ".join(f"\\fB{name[:-3]}\\fR{name[-3:]}".replace("-", "\\-")
                                      for name in names.split(", "))]


def overview(source):
    """kmm(7): what kmm is, each directive and clause, and each environment variable."""
    def read(name):
        with open(os.path.join(source, name), encoding="utf-8") as file:
            return file.read()
    readme = read("README.md").split("\n## ")[0]
    clauses = "## " + read("docs/clauses.md").split("\n## ", 1)[1]
    return [*roff.of_markdown("## Description\n" + readme), *roff.of_markdown(clauses),
            ".SH ENVIRONMENT",
            *roff.of_markdown(read("docs/environment.md").replace("\n## ", "\n### ")),
            *see_also("kmmcc(1), kmm-info(1), kmm-replay(1), kmm-report(1)")]


def main():
    version, date, source, out, *programs = sys.argv[1:]
    for program in programs:
        name = os.path.basename(program)
        parts = help_text.parse(asked(program, "--help"))
        lines = [*roff.head(name, 1, version, date, SUMMARIES[name]), *roff.of_help(name, parts),
                 *see_also(SEE[name])]
        write(f"{out}/man1", f"{name}.1", roff.page(lines))
        options = help_text.options(parts)
        if name == "kmmcc":
            options = with_warnings(options, asked(program, "--help=warnings"))
        write(f"{out}/bash-completion", name, completion.bash(name, options))
        write(f"{out}/zsh", f"_{name}", completion.zsh(name, options))
        write(f"{out}/fish", f"{name}.fish", completion.fish(name, options))
    lines = [*roff.head("kmm", 7, version, date, "pragmas that divide launches of kernels"),
             *overview(source)]
    write(f"{out}/man7", "kmm.7", roff.page(lines))


def with_warnings(options, text):
    """In place of the options with NAME, one for each warning."""
    items = [part for part in help_text.parse(text) if isinstance(part, help_text.Item)]
    found = [option for option in options if "NAME" not in option.name]
    for option in found:
        if option.name == "-Werror=":
            option.values = [item.term.removeprefix("-W") for item in items]
    for item in items:
        for prefix in ("-W", "-Wno-"):
            found.append(help_text.Option(prefix + item.term.removeprefix("-W"), item.text))
    return found


if __name__ == "__main__":
    main()
