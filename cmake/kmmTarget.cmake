# SPDX-License-Identifier: Apache-2.0
# kmm_target(<target> [<option of kmmcc> ...])
#
# Has kmmcc compile the target's C, C++, CUDA and HIP files and link it, in front of the project's own compilers: those that
# CMake found stay what they are, and other targets are not touched. Options, such as --target=host, -fkmm-manage=all or
# -Wno-kmm-whole, are kmmcc's own. A launcher that the target has already, such as ccache, comes before kmmcc.
function(kmm_target target)
  if(NOT TARGET ${target})
    message(FATAL_ERROR "kmm_target: there is no target '${target}'")
  endif()
  get_target_property(type ${target} TYPE)
  if(type STREQUAL "INTERFACE_LIBRARY" OR type STREQUAL "UTILITY")
    message(FATAL_ERROR "kmm_target: '${target}' has nothing to compile")
  endif()
  get_target_property(kmmcc kmm::kmmcc LOCATION)
  foreach(language C CXX CUDA HIP)
    foreach(stage COMPILER LINKER)
      set(launcher ${kmmcc} ${ARGN} --compiler)
      get_target_property(before ${target} ${language}_${stage}_LAUNCHER)
      if(before)
        list(PREPEND launcher ${before})
      endif()
      set_target_properties(${target} PROPERTIES ${language}_${stage}_LAUNCHER "${launcher}")
    endforeach()
  endforeach()
  if(type MATCHES "EXECUTABLE|SHARED_LIBRARY|MODULE_LIBRARY")
    # What holds CUDA is linked by the host's compiler, without a launcher: there the linker reads kmmcc's flags from a file.
    execute_process(COMMAND ${kmmcc} ${ARGN} --link-flags OUTPUT_VARIABLE flags COMMAND_ERROR_IS_FATAL ANY)
    string(REPLACE "-Xlinker " "" flags "${flags}")
    set(file ${CMAKE_CURRENT_BINARY_DIR}/${target}.kmm_link_flags)
    file(GENERATE OUTPUT ${file} CONTENT "${flags}")
    # Not by target_link_libraries, whose two forms do not mix in one target.
    set_property(TARGET ${target} APPEND PROPERTY LINK_LIBRARIES
      "$<$<LINK_LANGUAGE:CUDA>:-Wl,@${file}>")
  endif()
endfunction()
