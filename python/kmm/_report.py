# SPDX-License-Identifier: Apache-2.0
"""The report of a run, from its trace."""
from __future__ import annotations

import html
import os
import shutil
import subprocess
import tempfile

from . import _library


class Report:
    """What kmm-report says of a trace: `text`, and `html`, a page that needs no other file. A
    notebook shows the page."""

    def __init__(self, text: str, page: str):
        self.text, self.html = text, page

    def _repr_html_(self) -> str:
        return '<iframe width="100%%" height="600" srcdoc="%s"></iframe>' % html.escape(self.html)

    def __repr__(self) -> str:
        return self.text


def tool(name: str) -> str:
    """The path of one of kmm's programs: beside libkmm, or else of PATH."""
    library = _library.path()
    beside = os.path.join(os.path.dirname(os.path.realpath(library)), "../bin", name)
    if os.sep in library and os.path.exists(beside):  # else the loader finds libkmm
        found = os.path.normpath(beside)
    else:
        found = shutil.which(name)
    if not found:
        raise FileNotFoundError("kmm: %s is neither beside libkmm nor in PATH" % name)
    return found


def report(trace: str | os.PathLike[str]) -> Report:
    """The report of a trace, which the environment variable KMM_TRACE names before the runtime is
    created. The trace is whole when the runtime is closed."""
    with tempfile.TemporaryDirectory() as folder:
        page = os.path.join(folder, "page.html")
        result = subprocess.run([tool("kmm-report"), os.fspath(trace), "-o", page],
                                stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True)
        if result.returncode:
            raise ValueError("kmm: " + result.stderr.strip())
        with open(page, encoding="utf-8") as f:
            return Report(result.stdout, f.read())
