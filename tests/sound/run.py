#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Compiles CUDA files and runs their kernels with random arguments.

run.py CLANG BUILD OUT SEED LAUNCHES FILE... [-- FLAG...]

FILE may be bitcode that clang has written with -Xclang -disable-llvm-passes.
"""
import os
import subprocess
import sys


def bitcode(clang, build, source, out, flags):
    include = os.path.join(build, 'include')
    subprocess.run(
        [clang, '-xcuda', '--cuda-device-only', '--cuda-gpu-arch=sm_90', '-nocudainc',
         '-nocudalib', '-DKMM_HOST_PARSE=1', '-isystem' + include + '/kmm/host', '-include',
         'kmm_parse.h', '-include', 'cuda_runtime.h', '-DKMM_PARSE_DEVICE=1', '-O1',
         '-fgpu-rdc', '-w', '-c', '-emit-llvm', '-Xclang', '-disable-llvm-passes',
         '-gline-tables-only', '-fno-discard-value-names', '-I' + include] + flags +
        [source, '-o', out], check=True)


def release(clang):
    version = subprocess.run([clang, '-dumpversion'], check=True, capture_output=True, text=True)
    return version.stdout.split('.')[0]


def run(clang, build, folder, seed, launches, source, flags):
    name = os.path.join(folder, os.path.splitext(os.path.basename(source))[0])
    code = source if source.endswith('.bc') else name + '.bc'
    if code != source:
        bitcode(clang, build, source, code, flags)
    tools = os.path.join(build, 'bin')
    subprocess.run([tools + '/kmm_sound_instrument-' + release(clang), code, name + '.cpu.bc'], check=True)
    subprocess.run([clang, '-w', '-O1', '-fPIC', '-shared', name + '.cpu.bc', '-o', name + '.so',
                    '-lm'], check=True)
    module = os.path.join(build, 'lib', 'kmm', 'kmm-ir-%s.so' % release(clang))
    return subprocess.run([tools + '/kmm_sound', module, code, name + '.so', seed,
                           launches]).returncode


def main():
    arguments, flags = sys.argv[1:], []
    if '--' in arguments:
        at = arguments.index('--')
        arguments, flags = arguments[:at], arguments[at + 1:]
    clang, build, folder, seed, launches = arguments[:5]
    os.makedirs(folder, exist_ok=True)
    return max(run(clang, build, folder, seed, launches, f, flags) for f in arguments[5:])


sys.exit(main())
