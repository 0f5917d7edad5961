# SPDX-License-Identifier: Apache-2.0
"""Usage: archive.py OUT FILE...: packs the files as one program of Python, which is the same bytes
wherever and whenever it is made."""
import os
import sys
import zipfile

out, *files = sys.argv[1:]
with open(out, "wb") as program:
    program.write(b"#!/usr/bin/env python3\n")
    with zipfile.ZipFile(program, "w") as archive:
        for path in sorted(files, key=os.path.basename):
            entry = zipfile.ZipInfo(os.path.basename(path))  # of 1980
            entry.compress_type = zipfile.ZIP_DEFLATED
            entry.external_attr = 0o644 << 16
            with open(path, "rb") as file:
                archive.writestr(entry, file.read())
os.chmod(out, 0o755)
