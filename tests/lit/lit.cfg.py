# SPDX-License-Identifier: Apache-2.0
# Substitutions: %kmmcc %cc %cxx %nvcc %not %count %python %san %kmm_build %kmm_source FileCheck, and lit's %s %S %t;
# %mpirun_openmpi, %mpirun_mpich.
# Features: nvcc, cudart13 (its runtime is the one that tests/fake plays), hipcc, openmpi, mpich (their plug-ins are built), san (kmmcc is built with a sanitizer), ir (the module of
# kmmcc/ir is built), the machine's name as Python has it.
import glob
import os
import platform
import shutil
import sys

import lit.formats

site = lit_config.params.get("kmm_site")
if not site:
    lit_config.fatal("give --param kmm_site=<build>/tests/lit/lit.site.cfg.py, or run ctest -R lit")
lit_config.load_config(config, site)

config.name = "kmm"
config.test_format = lit.formats.ShTest(True)
config.suffixes = [".test", ".c", ".cpp", ".cu", ".hip"]
config.excludes = ["Inputs", "lit.cfg.py"]
config.test_source_root = os.path.dirname(__file__)
# Each folder runs as a ctest entry of its own, beside the others.
config.test_exec_root = os.path.join(config.kmm_build, "tests", "lit", "run-" + lit_config.params.get("kmm_folder", "all"))

tools = os.path.join(config.kmm_build, "bin")
path = os.pathsep.join([tools, os.path.dirname(config.kmm_filecheck), os.environ.get("PATH", "")])
config.environment["PATH"] = path
for name in ("HOME", "TMPDIR", "ASAN_OPTIONS", "UBSAN_OPTIONS", "TSAN_OPTIONS"):
    if name in os.environ:
        config.environment[name] = os.environ[name]
# The arena is freed by exit.
config.environment.setdefault("ASAN_OPTIONS", "detect_leaks=0")
config.environment["KMM_CACHE_DIR"] = os.path.join(config.kmm_build, "tests", "lit", "cache")
config.environment["KMM_DEVICES"] = os.environ.get("KMM_DEVICES", "host")

config.substitutions += [
    ("%kmmcc", os.path.join(tools, "kmmcc")),
    ("%kmm_build", config.kmm_build),
    ("%kmm_source", config.kmm_source),
    ("%cxx", config.kmm_cxx),
    ("%cc", config.kmm_cc),
    ("%nvcc", config.kmm_nvcc),
    ("%hipcc", config.kmm_hipcc),
    (r"(?<![\w/%.-])FileCheck(?![\w-])", config.kmm_filecheck),
    ("%not", config.kmm_not),
    # What a program needs that is linked with a libkmm built by a sanitizer.
    ("%san", " ".join(f for f in config.kmm_flags.split() if f.startswith("-fsanitize"))),
    ("%count", os.path.join(os.path.dirname(config.kmm_not), "count")),
    ("%python", sys.executable),
]
if config.kmm_nvcc and not config.kmm_nvcc.endswith("NOTFOUND"):
    config.available_features.add("nvcc")
    if os.path.exists(os.path.join(os.path.dirname(config.kmm_nvcc), "..", "lib64", "libcudart.so.13")):
        config.available_features.add("cudart13")
if config.kmm_hipcc and not config.kmm_hipcc.endswith("NOTFOUND"):
    config.available_features.add("hipcc")
if "-fsanitize" in config.kmm_flags:
    config.available_features.add("san")
if glob.glob(os.path.join(config.kmm_build, "lib", "kmm", "kmm-ir-*.so")):
    config.available_features.add("ir")
for tool in ("clangd", "gdb", "git"):
    if shutil.which(tool):
        config.available_features.add(tool)
for mpi in ("openmpi", "mpich"):
    mpirun = shutil.which("mpirun." + mpi) or shutil.which("mpirun")
    plugin = os.path.join(config.kmm_build, "lib", "kmm", "libkmm-mpi-" + mpi + ".so")
    if mpirun and os.path.exists(plugin):
        config.available_features.add(mpi)
        options = " --oversubscribe --bind-to none" if mpi == "openmpi" else ""
        config.substitutions.append(("%mpirun_" + mpi, mpirun + options))
for name in ("OMPI_ALLOW_RUN_AS_ROOT", "OMPI_ALLOW_RUN_AS_ROOT_CONFIRM"):
    config.environment[name] = "1"
config.available_features.add("llvm-" + config.kmm_llvm)
config.available_features.add(platform.machine())
