# SPDX-License-Identifier: Apache-2.0
# Installs the build to a folder, moves it, and uses it there.
function(run)
  execute_process(COMMAND ${ARGV} WORKING_DIRECTORY ${WORK} RESULT_VARIABLE status OUTPUT_VARIABLE output ERROR_VARIABLE output)
  set(output "${output}" PARENT_SCOPE)
  if(NOT status EQUAL 0)
    message(FATAL_ERROR "${ARGV}\nended with ${status}:\n${output}")
  endif()
endfunction()
function(expect text)
  if(NOT output STREQUAL "${text}\n")
    message(FATAL_ERROR "expected '${text}', got '${output}'")
  endif()
endfunction()

file(REMOVE_RECURSE ${WORK})
file(MAKE_DIRECTORY ${WORK})
# What is installed from the build folder otherwise can still be uninstalled after this test.
set(manifest ${BUILD}/install_manifest.txt)
if(EXISTS ${manifest})
  file(COPY ${manifest} DESTINATION ${WORK})
endif()
run(${CMAKE_COMMAND} --install ${BUILD} --prefix ${WORK}/first)
file(COPY ${WORK}/first/ DESTINATION ${WORK}/second)

# All that was installed is removed again, and what is not kmm's stays.
file(WRITE ${WORK}/first/share/other "")
run(${CMAKE_COMMAND} -DBUILD=${BUILD} -P ${SOURCE}/../../cmake/uninstall.cmake)
file(GLOB_RECURSE left RELATIVE ${WORK}/first LIST_DIRECTORIES ON ${WORK}/first/*)
list(FILTER left EXCLUDE REGEX "^(bin|include|lib(64)?(/cmake|/pkgconfig)?|share(/man.*|/bash.*|/zsh.*|/fish.*)?)$")
if(NOT left STREQUAL "share/other")
  message(FATAL_ERROR "uninstalling left '${left}'")
endif()
if(EXISTS ${WORK}/install_manifest.txt)
  file(COPY ${WORK}/install_manifest.txt DESTINATION ${BUILD})
endif()

# pkg-config finds the library where the installation lies now.
find_program(PKG_CONFIG pkg-config)
find_program(CC NAMES cc gcc)
if(PKG_CONFIG AND CC AND NOT FLAGS MATCHES "sanitize")
  file(GLOB pc ${WORK}/second/lib*/pkgconfig/kmm.pc ${WORK}/second/lib/*/pkgconfig/kmm.pc)
  get_filename_component(pc ${pc} DIRECTORY)
  set(ENV{PKG_CONFIG_PATH} ${pc})
  run(${PKG_CONFIG} --cflags --libs kmm)
  separate_arguments(from_pc UNIX_COMMAND "${output}")
  get_filename_component(libdir ${pc} DIRECTORY)
  run(${CC} ${SOURCE}/project/version.c ${from_pc} -Wl,-rpath,${libdir} -o version_pc)
  run(${WORK}/version_pc)
  expect("no error")
  run(${PKG_CONFIG} --variable=kmmcc kmm)
  string(STRIP "${output}" program)
  run(${program} --help)
endif()

# The package has components, and says which it has not; another minor version is none.
# finds(<what find_package is told> <what CMake prints>)
function(finds arguments expected)
  file(WRITE ${WORK}/finds/CMakeLists.txt "cmake_minimum_required(VERSION 3.22)\nproject(finds NONE)\n"
    "find_package(kmm ${arguments})\nmessage(STATUS \"found \${kmm_FOUND} \${kmm_library_FOUND} "
    "\${kmm_compiler_FOUND}\")\n")
  file(REMOVE_RECURSE ${WORK}/finds/build)
  execute_process(COMMAND ${CMAKE_COMMAND} -S ${WORK}/finds -B ${WORK}/finds/build
    -DCMAKE_PREFIX_PATH=${WORK}/${ARGN} OUTPUT_VARIABLE output ERROR_VARIABLE output)
  string(REGEX REPLACE "[ \n]+" " " output "${output}")
  if(NOT output MATCHES "${expected}")
    message(FATAL_ERROR "find_package(kmm ${arguments}) does not say '${expected}':\n${output}")
  endif()
endfunction()
finds("0.1 REQUIRED COMPONENTS library compiler" "found 1 TRUE TRUE" second)
finds("0.1 COMPONENTS nothing" "found 0" second)
finds("0.0.1" "found 0" second)
finds("0.2" "found 0" second)
finds("1.0" "found 0" second)
# What a distribution installs for programs that use kmm.h alone has no compiler.
foreach(component runtime development)
  run(${CMAKE_COMMAND} --install ${BUILD} --prefix ${WORK}/library --component ${component})
endforeach()
finds("" "found 1 TRUE FALSE" library)
finds("REQUIRED COMPONENTS compiler" "component +'compiler' is not installed" library)
file(GLOB_RECURSE left ${WORK}/library/bin/*)
if(left)
  message(FATAL_ERROR "the components without the compiler install ${left}")
endif()

# The installed tools find the library.
run(${WORK}/second/bin/kmm-info --help)
foreach(tool kmmcc kmm-info kmm-replay kmm-report)
  execute_process(COMMAND ${WORK}/second/bin/${tool} --version OUTPUT_VARIABLE said
    COMMAND_ERROR_IS_FATAL ANY)
  if(NOT said MATCHES "^${tool} [0-9]+[.][0-9]+[.][0-9]+")
    message(FATAL_ERROR "${tool} --version said ${said}")
  endif()
endforeach()
run(${WORK}/second/bin/kmm-replay --help)

# The preset for installing builds nothing else.
run(${CMAKE_COMMAND} --preset install -S ${SOURCE}/../.. -B ${WORK}/preset)
if(NOT output MATCHES "Generating done")
  message(FATAL_ERROR "the preset 'install' generates nothing: ${output}")
endif()
file(READ ${WORK}/preset/build.ninja rules)
if(rules MATCHES "\nbuild tests/" OR NOT rules MATCHES "\nbuild uninstall:")
  message(FATAL_ERROR "the preset 'install' builds tests, or has no target 'uninstall'")
endif()

# The installed compiler finds its headers and its library, and the program finds the library.
separate_arguments(flags UNIX_COMMAND "${FLAGS}")
run(${WORK}/second/bin/kmmcc ${flags} ${SOURCE}/project/version.c -o version)
run(${WORK}/version)
expect("no error")
run(${WORK}/second/bin/kmmcc ${flags} ${SOURCE}/project/saxpy.c -o saxpy)
run(${WORK}/saxpy)
expect("1999")

# So do programs in C++ that call libkmm; the Fortran module and Julia's package are there.
run(${WORK}/second/bin/kmmcc ${flags} ${SOURCE}/../../examples/cxx/mirror.cpp -o mirror)
run(${WORK}/mirror 1)
expect("mirror: 1 x 3, sum = 3395120123: ok, ok")
if(NOT EXISTS ${WORK}/second/share/kmm/fortran/kmm.F90)
  message(FATAL_ERROR "the Fortran module is not installed")
endif()
if(NOT EXISTS ${WORK}/second/share/kmm/julia/src/Kmm.jl)
  message(FATAL_ERROR "the package of Julia is not installed")
endif()

# The package of Python finds the library. Not with a sanitizer, which python would have to load
# first.
find_program(PYTHON python3)
if(PYTHON AND NOT FLAGS MATCHES "sanitize")
  file(WRITE ${WORK}/find.py "import sys\nsys.path.insert(0, '${WORK}/second/share/kmm/python')\n"
    "import kmm.mr\nprint(kmm._library.path())\n")
  run(${PYTHON} -B find.py)
  if(NOT output MATCHES "^${WORK}/second/lib(64)?/libkmm.so.0\n$")
    message(FATAL_ERROR "Python finds the library ${output}")
  endif()
endif()

# kmm-report is one file.
if(PYTHON)
  file(WRITE ${WORK}/empty.json "[\n]\n")
  run(${WORK}/second/bin/kmm-report ${WORK}/empty.json -o ${WORK}/empty.html)
  if(NOT output MATCHES "Nothing ran on a device")
    message(FATAL_ERROR "kmm-report says of a run without launches: ${output}")
  endif()
endif()

# Another project finds the package.
run(${CMAKE_COMMAND} -S ${SOURCE}/project -B ${WORK}/project -G ${GENERATOR} -DCMAKE_PREFIX_PATH=${WORK}/second
  -DCMAKE_C_FLAGS=${FLAGS})
run(${CMAKE_COMMAND} --build ${WORK}/project)
run(${WORK}/project/version)
expect("no error")
run(${WORK}/project/saxpy)
expect("1999")
run(${WORK}/project/target)
expect("42")

# The CUDA program's calls go through libkmm, and those of the one beside it do not.
find_program(NVCC nvcc HINTS /usr/local/cuda/bin)
find_program(NM nm)
if(NVCC AND NM AND NOT FLAGS MATCHES "sanitize")
  run(${CMAKE_COMMAND} -S ${SOURCE}/project -B ${WORK}/cuda -G ${GENERATOR} -DCMAKE_PREFIX_PATH=${WORK}/second -DCUDA=ON
    -DCMAKE_CUDA_COMPILER=${NVCC} -DCMAKE_CUDA_ARCHITECTURES=90)
  run(${CMAKE_COMMAND} --build ${WORK}/cuda --target cuda_target cuda_plain)
  run(${NM} ${WORK}/cuda/cuda_target)
  if(NOT output MATCHES " [tT] __wrap_cudaMalloc\n" OR NOT output MATCHES " [tT] __wrap___cudaLaunchKernel\n")
    message(FATAL_ERROR "kmm_target: the CUDA program's calls are not libkmm's:\n${output}")
  endif()
  run(${NM} ${WORK}/cuda/cuda_plain)
  if(output MATCHES "__wrap_cudaMalloc")
    message(FATAL_ERROR "kmm_target: a target that it was not called for has changed")
  endif()
endif()
