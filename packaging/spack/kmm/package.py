# SPDX-License-Identifier: Apache-2.0
"""kmm for Spack: `spack repo add` the folder above, and then `spack install kmm`."""
from spack.package import *


class Kmm(CMakePackage):
    """CUDA, HIP and C programs on data larger than GPU memory, by pragmas above launches."""

    license("Apache-2.0")
    maintainers()

    version("main", branch="main")

    variant("hwloc", default=True, description="Know the nodes of the host's memory")
    variant("uring", default=True, description="Spill to disk by io_uring")
    variant("mpi", default=False, description="Spread programs over nodes by MPI")

    depends_on("c", type="build")
    depends_on("cxx", type="build")
    depends_on("cmake@3.22:", type="build")
    depends_on("ninja", type="build")
    depends_on("python@3.9:", type=("build", "run"))
    depends_on("llvm@19:22+clang", type=("build", "link", "run"))
    depends_on("hwloc@2:", when="+hwloc")
    depends_on("liburing", when="+uring")
    depends_on("mpi", when="+mpi")

    generator("ninja")

    def cmake_args(self):
        return [
            self.define("KMM_TESTS", False),
            self.define("KMM_IPO", True),
            self.define("KMM_LLVM_ROOT", self.spec["llvm"].prefix),
        ]
