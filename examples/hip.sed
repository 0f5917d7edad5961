# SPDX-License-Identifier: Apache-2.0
# sed -f hip.sed vector_add/vector_add.cu > vector_add.hip: an example in CUDA as HIP, which
# hipify-perl does as well.
s/cuda_runtime\.h/hip\/hip_runtime.h/
s/\bcuda\([A-Z]\)/hip\1/g
