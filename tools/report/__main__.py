# SPDX-License-Identifier: Apache-2.0
"""kmm-report: a page about a run, from the file that KMM_TRACE has written."""
import argparse
import os
import sys

import page
import tell
import events
from summary import Summary
from version import VERSION

EPILOG = """KMM_TRACE=run.json ./program writes a trace. Without -o, only the summary is printed.
Exit status: 0 if the report was made, 1 if a file cannot be read or written or is no trace of kmm,
2 if the arguments are wrong. docs/looking-inside.md says what the parts of the page mean."""


def arguments():
    parser = argparse.ArgumentParser(
        prog="kmm-report", epilog=EPILOG, allow_abbrev=False,
        formatter_class=argparse.RawDescriptionHelpFormatter,
        description="Tells where the time of a run went, and what would make it faster.")
    parser.add_argument("trace", metavar="run.json", help="what KMM_TRACE has written")
    parser.add_argument("-o", metavar="run.html", dest="page",
                        help="write a page with timeline and tables, which needs no network")
    parser.add_argument("--version", action="version", version=f"kmm-report {VERSION}")
    return parser.parse_args()


def write(name, text):
    """Writes a file, which is there as a whole or not at all."""
    if os.path.exists(name) and not os.path.isfile(name):  # /dev/stdout
        with open(name, "w", encoding="utf-8") as file:
            file.write(text)
        return
    part = f"{name}.{os.getpid()}.part"
    try:
        with open(part, "w", encoding="utf-8") as file:
            file.write(text)
        os.replace(part, name)
    except OSError:
        if os.path.exists(part):
            os.remove(part)
        raise


def main():
    options = arguments()
    sys.stdout.reconfigure(errors="backslashreplace")  # names may have any character
    try:
        summary = Summary(events.read(options.trace))
        print("\n".join(tell.lines(summary)))
        if options.page:
            write(options.page, page.make(summary, os.path.basename(options.trace)))
    except events.NoTrace as error:
        sys.exit(f"kmm-report: {error}")
    except OSError as error:
        sys.exit(f"kmm-report: {error.filename or options.page}: {error.strerror}")
    except MemoryError:
        sys.exit("kmm-report: not enough memory")


if __name__ == "__main__":
    main()
