#!/bin/bash
# SPDX-License-Identifier: Apache-2.0
set -eu
cmake -S . -B build -G Ninja ${CMAKE_ARGS-} -DCMAKE_BUILD_TYPE=Release -DKMM_TESTS=OFF \
    -DKMM_IPO=ON \
    -DCMAKE_INSTALL_PREFIX="$PREFIX" -DCMAKE_INSTALL_LIBDIR=lib -DKMM_LLVM_ROOT="$PREFIX"
cmake --build build
cmake --install build
