# SPDX-License-Identifier: Apache-2.0
# What `cpack` makes: a .tar.gz of all that is installed, which runs wherever it is unpacked, or
# `.deb` packages of the components (cpack -G DEB). scripts/release calls it.
set(KMM_MAINTAINER "The kmm authors <kmm@kmm.invalid>" CACHE STRING "Who maintains the packages")
set(CPACK_PACKAGE_NAME kmm)
set(CPACK_PACKAGE_VERSION ${PROJECT_VERSION})
set(CPACK_PACKAGE_CONTACT "${KMM_MAINTAINER}")
set(CPACK_PACKAGE_VENDOR "The kmm authors")
set(CPACK_STRIP_FILES ON)
set(CPACK_GENERATOR TGZ)
set(CPACK_COMPONENTS_ALL runtime development compiler python)
foreach(mpi ${KMM_MPIS})
  list(APPEND CPACK_COMPONENTS_ALL ${mpi})
endforeach()
set(CPACK_PACKAGE_FILE_NAME kmm-${PROJECT_VERSION}-${CMAKE_SYSTEM_NAME}-${CMAKE_SYSTEM_PROCESSOR})

# ---- Debian ----
set(CPACK_DEB_COMPONENT_INSTALL ON)
set(CPACK_DEBIAN_FILE_NAME DEB-DEFAULT)
set(CPACK_DEBIAN_PACKAGE_MAINTAINER "${KMM_MAINTAINER}")
set(CPACK_DEBIAN_PACKAGE_SHLIBDEPS ON)
set(CPACK_DEBIAN_PACKAGE_GENERATE_SHLIBS ON)
set(CPACK_DEBIAN_PACKAGE_SHLIBDEPS_PRIVATE_DIRS ${CMAKE_LIBRARY_OUTPUT_DIRECTORY})
set(CPACK_DEBIAN_PACKAGE_CONTROL_STRICT_PERMISSION ON)
set(CPACK_DEBIAN_ENABLE_COMPONENT_DEPENDS OFF)

# kmm_package(<component> <package> <section> <depends> <summary> <what it is>)
function(kmm_package component package section depends summary description)
  string(TOUPPER ${component} upper)
  set(CPACK_DEBIAN_${upper}_PACKAGE_NAME ${package} PARENT_SCOPE)
  set(CPACK_DEBIAN_${upper}_PACKAGE_SECTION ${section} PARENT_SCOPE)
  set(CPACK_DEBIAN_${upper}_PACKAGE_DEPENDS "${depends}" PARENT_SCOPE)
  set(CPACK_DEBIAN_${upper}_DESCRIPTION "${summary}\n${description}" PARENT_SCOPE)
  if(KMM_DEBIAN)
    foreach(name copyright changelog.gz)
      install(FILES ${CMAKE_BINARY_DIR}/debian/${name} COMPONENT ${component}
        DESTINATION ${CMAKE_INSTALL_DATADIR}/doc/${package})
    endforeach()
  endif()
endfunction()

option(KMM_DEBIAN "Install what Debian asks of a package" OFF)
set(about "kmm runs CUDA, HIP and C programs on data larger than GPU memory, and on all
devices of a machine. One pragma above a launch says how to divide it.")
# CPack would put a summary of its own before each description.
set(summary "GPU programs on data larger than GPU memory")
set(same "(= ${PROJECT_VERSION})")
set(llvm ${LibClang_VERSION_MAJOR})
kmm_package(runtime libkmm${PROJECT_VERSION_MAJOR} libs ""
  "${summary} - library"
  "${about}\n\nThis package has the library that such programs need to run.")
kmm_package(development libkmm-dev libdevel "libkmm${PROJECT_VERSION_MAJOR} ${same}"
  "${summary} - headers"
  "${about}\n\nThis package has the headers, what is linked into programs, and the modules for
Fortran, CMake and pkg-config.")
set(compiler_needs "libkmm-dev ${same}, libkmm${PROJECT_VERSION_MAJOR} ${same}")
kmm_package(compiler kmm devel "${compiler_needs}, g++, clang-${llvm}, python3:any"
  "${summary} - compiler"
  "${about}\n\nThis package has the compiler driver kmmcc and the tools kmm-info,
kmm-replay and kmm-report.")
kmm_package(python python3-kmm python
  "libkmm${PROJECT_VERSION_MAJOR} ${same}, python3:any (>= 3.9), python3-numpy"
  "${summary} - Python"
  "${about}\n\nThis package has arrays and launches for Python. Kernels of CUDA source need
the package kmm.")
set(CPACK_DEBIAN_PYTHON_PACKAGE_ARCHITECTURE all)
set(CPACK_DEBIAN_PYTHON_PACKAGE_RECOMMENDS "kmm ${same}")
foreach(mpi ${KMM_MPIS})
  kmm_package(${mpi} libkmm-mpi-${mpi} libs "libkmm${PROJECT_VERSION_MAJOR} ${same}"
    "${summary} - nodes by ${mpi}"
    "${about}\n\nThis package spreads programs over the nodes of a cluster by ${mpi}.")
endforeach()

if(KMM_DEBIAN)
  # Both are those of SOURCE_DATE_EPOCH, if it is set.
  string(TIMESTAMP date "%a, %d %b %Y %H:%M:%S +0000" UTC)
  string(TIMESTAMP year "%Y" UTC)
  configure_file(cmake/debian/copyright.in debian/copyright @ONLY)
  configure_file(cmake/debian/changelog.in debian/changelog @ONLY)
  execute_process(COMMAND gzip -9nf ${CMAKE_BINARY_DIR}/debian/changelog COMMAND_ERROR_IS_FATAL ANY)
  install(CODE "file(GLOB pages \"\$ENV{DESTDIR}${CMAKE_INSTALL_FULL_MANDIR}/man[17]/*.[17]\")
    execute_process(COMMAND gzip -9nf \${pages} COMMAND_ERROR_IS_FATAL ANY)" COMPONENT compiler)
  file(WRITE ${CMAKE_BINARY_DIR}/debian/triggers "activate-noawait ldconfig\n")
  set(CPACK_DEBIAN_RUNTIME_PACKAGE_CONTROL_EXTRA ${CMAKE_BINARY_DIR}/debian/triggers)
  set(CPACK_DEBIAN_PYTHON_PACKAGE_CONTROL_EXTRA ${PROJECT_SOURCE_DIR}/cmake/debian/postinst
    ${PROJECT_SOURCE_DIR}/cmake/debian/prerm)
endif()
include(CPack)
