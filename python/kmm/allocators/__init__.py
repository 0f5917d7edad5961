# SPDX-License-Identifier: Apache-2.0
"""kmm as the memory allocator of PyTorch, CuPy and Numba: a module for each."""
