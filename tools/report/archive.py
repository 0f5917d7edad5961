# SPDX-License-Identifier: Apache-2.0
"""Usage: archive.py OUT VERSION FILE...: packs the files as one program of Python, which is the same
bytes wherever and whenever it is made. The program's module `version` has the version."""
import os
import sys
import zipfile

out, version, *files = sys.argv[1:]


def entry(name):
    made = zipfile.ZipInfo(name)  # of 1980
    made.compress_type = zipfile.ZIP_DEFLATED
    made.external_attr = 0o644 << 16
    return made


with open(out, "wb") as program:
    program.write(b"#!/usr/bin/env python3\n")
    with zipfile.ZipFile(program, "w") as archive:
        for path in sorted(files, key=os.path.basename):
            with open(path, "rb") as file:
                archive.writestr(entry(os.path.basename(path)), file.read())
        archive.writestr(entry("version.py"), f'VERSION = "{version}"\n')
os.chmod(out, 0o755)
