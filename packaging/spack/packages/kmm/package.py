# SPDX-License-Identifier: Apache-2.0
"""kmm for Spack: `spack repo add packaging/spack`, and then `spack install kmm`."""
import os

from spack.package import *


class Kmm(CMakePackage):
    """CUDA, HIP and C programs on data larger than GPU memory, by pragmas above launches."""

    # The checkout in which this file is.
    git = "file://" + os.path.abspath(os.path.join(os.path.dirname(__file__), "../../../.."))

    license("Apache-2.0")

    version("main", branch="main")

    variant("mpi", default=False, description="Spread programs over nodes by MPI")

    depends_on("c", type="build")
    depends_on("cxx", type="build")
    depends_on("cmake@3.22:", type="build")
    depends_on("ninja", type="build")
    depends_on("pkgconfig", type="build")
    depends_on("python@3.9:", type=("build", "run"))
    depends_on("llvm@19:22+clang", type=("build", "link", "run"))
    depends_on("hwloc@2:")
    depends_on("liburing@2:")
    depends_on("mpi", when="+mpi")

    generator("ninja")

    def cmake_args(self):
        options = [
            self.define("KMM_TESTS", False),
            self.define("KMM_IPO", True),
            self.define("KMM_LLVM_ROOT", self.spec["llvm"].prefix),
        ]
        if self.spec.satisfies("+mpi"):
            options.append(self.define("KMM_MPICC", self.spec["mpi"].mpicc))
        return options
