# SPDX-License-Identifier: Apache-2.0
"""Builds the Python package: the folder python/kmm, with what CMake installs in kmm/native. It
follows PEP 517 and uses Python's own modules alone. docs/decisions/wheel.md says why.

    pip install .                                      builds in build/wheel
    pip install --config-settings=build-dir=DIR .      takes what CMake has built in DIR"""
import base64
import hashlib
import os
import re
import shutil
import stat
import subprocess
import sysconfig
import tarfile
import tempfile
import zipfile

ROOT = os.path.normpath(os.path.join(os.path.dirname(os.path.abspath(__file__)), "../.."))
TOOLS = "kmmcc", "kmm-info", "kmm-replay", "kmm-report"


def _read(path):
    with open(os.path.join(ROOT, path), encoding="utf-8") as f:
        return f.read()


def _version():
    header = _read("include/kmm.h")
    return ".".join(re.search(r"#define KMM_VERSION_%s (\d+)" % part, header)[1]
                    for part in ("MAJOR", "MINOR", "PATCH"))


def _metadata():
    return """Metadata-Version: 2.1
Name: kmm
Version: %s
Summary: Arrays larger than GPU memory, kernels in chunks, and memory resources
License: Apache-2.0
Requires-Python: >=3.9
Requires-Dist: numpy
""" % _version()


def _build(folder):
    """Builds what is installed; the folder may have most of it already."""
    if not os.path.exists(os.path.join(folder, "CMakeCache.txt")):
        generator = ["-G", "Ninja"] if shutil.which("ninja") else []
        subprocess.check_call(["cmake", "-S", ROOT, "-B", folder, "-DCMAKE_BUILD_TYPE=Release",
                               "-DKMM_TESTS=OFF"] + generator)
    subprocess.check_call(["cmake", "--build", folder, "--parallel", str(os.cpu_count() or 1)])


def _install(folder, prefix):
    """Installs to the prefix. The manifest, by which the user uninstalls, stays as it was."""
    manifest = os.path.join(folder, "install_manifest.txt")
    kept = manifest + ".kept"
    if os.path.exists(manifest):
        os.replace(manifest, kept)
    subprocess.check_call(["cmake", "--install", folder, "--prefix", prefix],
                          stdout=subprocess.DEVNULL)
    os.unlink(manifest)
    if os.path.exists(kept):
        os.replace(kept, manifest)


def _native(prefix):
    """(path in kmm/native, path of the file, or contents). A wheel has no symbolic links."""
    for folder, _, names in sorted(os.walk(prefix)):
        where = os.path.relpath(folder, prefix)
        if where.startswith(os.path.join("share", "kmm", "python")):
            continue
        where = re.sub(r"^lib64\b", "lib", where)
        for name in sorted(names):
            path = os.path.join(folder, name)
            if not re.fullmatch(r"libkmm\.so(\.[\d.]+)?", name):
                yield os.path.join(where, name), path
            elif os.path.islink(path) and name == "libkmm.so":
                yield os.path.join(where, name), b"INPUT(libkmm.so.0)\n"  # a script of the linker
            elif not os.path.islink(path):
                yield os.path.join(where, "libkmm.so.0"), path


def _package():
    for folder, _, names in sorted(os.walk(os.path.join(ROOT, "python/kmm"))):
        for name in sorted(names):
            if name.endswith((".py", ".cpp", ".typed")):
                path = os.path.join(folder, name)
                yield os.path.relpath(path, os.path.join(ROOT, "python")), path


class _Wheel:
    def __init__(self, path):
        self._zip = zipfile.ZipFile(path, "w", zipfile.ZIP_DEFLATED)
        self._records = []

    def add(self, name, what):
        name = name.replace(os.sep, "/")
        mode, data = 0o644, what
        if isinstance(what, str):
            with open(what, "rb") as f:
                data = f.read()
            mode = 0o755 if os.stat(what).st_mode & stat.S_IXUSR else 0o644
        info = zipfile.ZipInfo(name)
        info.external_attr = (stat.S_IFREG | mode) << 16
        info.compress_type = zipfile.ZIP_DEFLATED
        self._zip.writestr(info, data)
        digest = base64.urlsafe_b64encode(hashlib.sha256(data).digest()).rstrip(b"=").decode()
        self._records.append("%s,sha256=%s,%d" % (name, digest, len(data)))

    def close(self, info):
        self._records.append(info + "/RECORD,,")
        self._zip.writestr(info + "/RECORD", "\n".join(self._records) + "\n")
        self._zip.close()


# ---- What pip calls ----

def get_requires_for_build_wheel(config_settings=None):
    return []


def get_requires_for_build_sdist(config_settings=None):
    return []


def prepare_metadata_for_build_wheel(metadata_directory, config_settings=None):
    info = "kmm-%s.dist-info" % _version()
    os.makedirs(os.path.join(metadata_directory, info))
    with open(os.path.join(metadata_directory, info, "METADATA"), "w") as f:
        f.write(_metadata())
    return info


def build_wheel(wheel_directory, config_settings=None, metadata_directory=None):
    folder = os.path.join(ROOT, (config_settings or {}).get("build-dir", "build/wheel"))
    _build(folder)
    platform = re.sub(r"[-.]", "_", sysconfig.get_platform())
    info, tag = "kmm-%s.dist-info" % _version(), "py3-none-" + platform
    name = "kmm-%s-%s.whl" % (_version(), tag)
    with tempfile.TemporaryDirectory() as prefix:
        _install(folder, prefix)
        wheel = _Wheel(os.path.join(wheel_directory, name))
        for path, what in _package():
            wheel.add(path, what)
        for path, what in _native(prefix):
            wheel.add(os.path.join("kmm/native", path), what)
    wheel.add(info + "/METADATA", _metadata().encode())
    wheel.add(info + "/WHEEL", ("Wheel-Version: 1.0\nGenerator: kmm\nRoot-Is-Purelib: false\n"
                                "Tag: %s\n" % tag).encode())
    wheel.add(info + "/entry_points.txt", ("[console_scripts]\n" + "".join(
        "%s = kmm._tools:main\n" % tool for tool in TOOLS)).encode())
    wheel.add(info + "/licenses/LICENSE", os.path.join(ROOT, "LICENSE"))
    wheel.close(info)
    return name


def build_sdist(sdist_directory, config_settings=None):
    base = "kmm-" + _version()
    files = subprocess.check_output(["git", "ls-files", "-z"], cwd=ROOT).decode().split("\0")
    with tarfile.open(os.path.join(sdist_directory, base + ".tar.gz"), "w:gz") as tar:
        with tempfile.NamedTemporaryFile("w") as metadata:
            metadata.write(_metadata())
            metadata.flush()
            tar.add(metadata.name, base + "/PKG-INFO")
        for path in filter(None, files):
            tar.add(os.path.join(ROOT, path), "%s/%s" % (base, path))
    return base + ".tar.gz"
