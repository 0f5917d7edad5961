# SPDX-License-Identifier: Apache-2.0
"""Files that are kept from one run to the next, in the user's cache folder. A library that is
loaded runs code, so a file is used only if nobody else can have written it, and if its name has the
hash of what it holds."""
import hashlib
import os
import stat


def _is_own(path, is_kind):
    """Whether it is of that kind, the user's own, and writable by nobody else."""
    try:
        found = os.lstat(path)
    except OSError:
        return False
    return (is_kind(found.st_mode) and found.st_uid == os.geteuid()
            and not found.st_mode & (stat.S_IWGRP | stat.S_IWOTH))


def folder():
    """KMM_CACHE_DIR, or kmm in XDG_CACHE_HOME or ~/.cache, which is made. None: nothing is kept,
    because that is no absolute path or others may write there."""
    own, user, home = (os.environ.get(name, "")
                       for name in ("KMM_CACHE_DIR", "XDG_CACHE_HOME", "HOME"))
    path = own or os.path.join(*([user, "kmm"] if user.startswith("/") else
                                 [home, ".cache", "kmm"]))
    if not path.startswith("/"):
        return None
    try:
        os.makedirs(os.path.dirname(path), exist_ok=True)
        if not os.path.isdir(path):
            os.mkdir(path, 0o700)
    except OSError:
        return None
    return path if _is_own(os.path.realpath(path), stat.S_ISDIR) else None


def _sum(path):
    with open(path, "rb") as f:
        return hashlib.sha256(f.read()).hexdigest()[:32]


def find(folder, key, suffix):
    """The path of the file that was kept under that key; None: there is none. One that is damaged,
    or that others may write, is removed."""
    for name in sorted(os.listdir(folder)):
        if not name.startswith(key + "-") or not name.endswith(suffix):
            continue
        path = os.path.join(folder, name)
        try:
            if _is_own(path, stat.S_ISREG) and name == "%s-%s%s" % (key, _sum(path), suffix):
                return path
            os.unlink(path)
        except FileNotFoundError:  # another process has removed it
            pass
    return None


def keep(new, folder, key, suffix):
    """Renames a file of the folder to one that is found under that key; its path."""
    os.chmod(new, 0o700)
    kept = os.path.join(folder, "%s-%s%s" % (key, _sum(new), suffix))
    os.replace(new, kept)
    return kept
