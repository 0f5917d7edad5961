# SPDX-License-Identifier: Apache-2.0
# Finds the newest libclang of LLVM 19 to 22, the first release that has all we ask for and the
# newest one that is tested. KMM_LLVM_ROOT names another place. Gives:
#   LibClang::LibClang          the imported library
#   LibClang_VERSION_MAJOR
#   LibClang_OLDEST             the first release that has all we ask for
#   LibClang_ROOT               the LLVM installation it belongs to: bin/lit and bin/FileCheck of the tests
set(LibClang_OLDEST 19)
set(KMM_LLVM_ROOT "" CACHE PATH "LLVM installation whose libclang to use; empty: the newest of 19 to 22")

function(_libclang_version header out)
  set(${out} "" PARENT_SCOPE)
  get_filename_component(include ${header} DIRECTORY)
  get_filename_component(include ${include} DIRECTORY)
  foreach(candidate ${include}/llvm/Config/llvm-config.h ${include}/clang/Basic/Version.inc)
    if(EXISTS ${candidate})
      file(STRINGS ${candidate} line REGEX "#define (LLVM|CLANG)_VERSION_MAJOR +[0-9]+" LIMIT_COUNT 1)
      string(REGEX MATCH "[0-9]+$" major "${line}")
      set(${out} "${major}" PARENT_SCOPE)
      return()
    endif()
  endforeach()
endfunction()

if(KMM_LLVM_ROOT)
  set(_libclang_roots ${KMM_LLVM_ROOT})
else()
  foreach(_libclang_major 22 21 20 19)
    list(APPEND _libclang_roots /usr/lib/llvm-${_libclang_major} /usr/local/lib/llvm-${_libclang_major}
         /opt/llvm-${_libclang_major} /usr/lib64/llvm${_libclang_major})
  endforeach()
  list(APPEND _libclang_roots /usr /usr/local)
endif()

set(LibClang_FOUND FALSE)
foreach(_libclang_root ${_libclang_roots})
  unset(_libclang_include CACHE)
  unset(_libclang_library CACHE)
  find_path(_libclang_include clang-c/Index.h PATHS ${_libclang_root}/include NO_DEFAULT_PATH)
  find_library(_libclang_library clang PATHS ${_libclang_root}/lib ${_libclang_root}/lib64 NO_DEFAULT_PATH)
  if(NOT _libclang_include OR NOT _libclang_library)
    continue()
  endif()
  _libclang_version(${_libclang_include}/clang-c/Index.h LibClang_VERSION_MAJOR)
  if(NOT KMM_LLVM_ROOT AND NOT LibClang_VERSION_MAJOR)
    get_filename_component(_libclang_name ${_libclang_root} NAME)
    string(REGEX MATCH "[0-9]+$" LibClang_VERSION_MAJOR "${_libclang_name}")
  endif()
  if(LibClang_VERSION_MAJOR GREATER_EQUAL LibClang_OLDEST OR KMM_LLVM_ROOT)
    set(LibClang_FOUND TRUE)
    set(LibClang_ROOT ${_libclang_root})
    break()
  endif()
endforeach()

if(NOT LibClang_FOUND)
  message(FATAL_ERROR "libclang of LLVM 19 to 22 was not found. On Debian and Ubuntu install "
    "libclang-22-dev (or -21, -20, -19), or give -DKMM_LLVM_ROOT=<folder> of an LLVM installation.")
endif()
message(STATUS "libclang ${LibClang_VERSION_MAJOR}: ${_libclang_library}")
if(NOT TARGET LibClang::LibClang)
  add_library(LibClang::LibClang UNKNOWN IMPORTED)
  set_target_properties(LibClang::LibClang PROPERTIES IMPORTED_LOCATION ${_libclang_library}
    INTERFACE_INCLUDE_DIRECTORIES ${_libclang_include})
endif()
