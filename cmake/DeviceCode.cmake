# SPDX-License-Identifier: Apache-2.0
# kmm_device_code(<source> <out>): sets <out> in the caller to a generated C file that defines
# kmm__device_code_ptx (runtime/launch/device_code.h): PTX code of <source> for each type of element.
# It needs a Clang that can compile for NVIDIA GPUs, and no CUDA toolkit. Without such a Clang the
# entries are NULL.

# PTX code for this GPU and version runs on every newer one.
set(KMM_PTX_FLAGS --target=nvptx64 -march=sm_60 --cuda-feature=+ptx63 -nocudalib -ffreestanding
  -nostdlibinc -std=c17 -Os -ffp-contract=off -fno-unroll-loops -fno-jump-tables
  -mllvm -inline-threshold=100000 -Wno-unused-command-line-argument)
# bytes that divide the addresses of elements of each kmm_type_t, and of pairs
set(KMM_PTX_ALIGNMENTS 1 2 4 8 1 2 4 8 4 8 2 2 4 8 1)

find_program(KMM_PTX_CLANG NAMES clang clang-${LibClang_VERSION_MAJOR} clang-22 clang-21 clang-20
  clang-19 HINTS ${LibClang_ROOT}/bin DOC "Clang that compiles libkmm's kernels for NVIDIA GPUs")
mark_as_advanced(KMM_PTX_CLANG)

# Whether that Clang compiles <source>, which is tried for floats and for pairs.
function(kmm_try_ptx source)
  set(trial ${CMAKE_BINARY_DIR}/CMakeFiles/ptx_trial.ptx)
  set(KMM_HAVE_PTX OFF PARENT_SCOPE)
  foreach(code 8 14)
    list(GET KMM_PTX_ALIGNMENTS ${code} alignment)
    execute_process(COMMAND ${KMM_PTX_CLANG} ${KMM_PTX_FLAGS} -DKMM__CODE_OF=${code}
        -DKMM__CODE_ALIGNMENT=${alignment} -I${PROJECT_SOURCE_DIR}/runtime
        -I${PROJECT_SOURCE_DIR}/include -S ${source} -o ${trial}
      RESULT_VARIABLE failed OUTPUT_QUIET ERROR_QUIET)
    if(failed)
      return()
    endif()
    file(STRINGS ${trial} version REGEX "^\\.version 6\\.3")
    if(NOT version)
      return()
    endif()
  endforeach()
  set(KMM_HAVE_PTX ON PARENT_SCOPE)
endfunction()

set(KMM_HAVE_PTX OFF)
if(KMM_PTX_CLANG)
  kmm_try_ptx(${PROJECT_SOURCE_DIR}/runtime/launch/device_code.c)
endif()
if(NOT KMM_HAVE_PTX)
  message(STATUS "no Clang that compiles for NVIDIA GPUs was found: reductions are folded on the host")
endif()

function(kmm_device_code source out)
  set(generated ${CMAKE_CURRENT_BINARY_DIR}/device_code_ptx.c)
  set(files "")
  set(code 0)
  if(KMM_HAVE_PTX)
    get_filename_component(folder ${source} DIRECTORY)
    file(GLOB headers CONFIGURE_DEPENDS ${PROJECT_SOURCE_DIR}/include/kmm/*.h)
    foreach(alignment IN LISTS KMM_PTX_ALIGNMENTS)
      set(ptx ${CMAKE_CURRENT_BINARY_DIR}/device_code_${code}.ptx)
      add_custom_command(OUTPUT ${ptx}
        COMMAND ${KMM_PTX_CLANG} ${KMM_PTX_FLAGS} -DKMM__CODE_OF=${code}
          -DKMM__CODE_ALIGNMENT=${alignment} -I${PROJECT_SOURCE_DIR}/runtime
          -I${PROJECT_SOURCE_DIR}/include -S ${source} -o ${ptx}
        DEPENDS ${source} ${folder}/device_code.h ${folder}/fold.h ${folder}/fold.c
          ${folder}/narrow.c ${headers}
        VERBATIM)
      list(APPEND files ${ptx})
      math(EXPR code "${code} + 1")
    endforeach()
  endif()
  add_custom_command(OUTPUT ${generated}
    COMMAND ${CMAKE_COMMAND} "-DFILES=${files}" -DOUT=${generated}
      -P ${PROJECT_SOURCE_DIR}/cmake/embed.cmake
    DEPENDS ${files} ${PROJECT_SOURCE_DIR}/cmake/embed.cmake
    VERBATIM)
  set(${out} ${generated} PARENT_SCOPE)
endfunction()
