# hilo_layer(NAME FOLDER [FILES_ONLY] [EXCLUDE FOLDER] [INTO TARGET...] [SYSTEM_INCLUDES DIR...])
#
# Makes the OBJECT library NAME of every .cc below FOLDER (FILES_ONLY: of the files directly in it; EXCLUDE: but those below one folder) and puts its objects
# into the libraries TARGET, by default libhilo, its unhidden twin hilo_internal and the PJRT plugin. A folder without sources makes no library. SYSTEM_INCLUDES are header folders that only this layer sees.
function(hilo_layer name folder)
  cmake_parse_arguments(arg "FILES_ONLY" "EXCLUDE" "INTO;SYSTEM_INCLUDES" ${ARGN})
  if(arg_FILES_ONLY)
    file(GLOB sources CONFIGURE_DEPENDS ${CMAKE_CURRENT_SOURCE_DIR}/${folder}/*.cc)
  else()
    file(GLOB_RECURSE sources CONFIGURE_DEPENDS ${CMAKE_CURRENT_SOURCE_DIR}/${folder}/*.cc)
  endif()
  if(arg_EXCLUDE)
    list(FILTER sources EXCLUDE REGEX "^${CMAKE_CURRENT_SOURCE_DIR}/${arg_EXCLUDE}")
  endif()
  if(NOT sources)
    return()
  endif()
  if(NOT arg_INTO)
    set(arg_INTO hilo hilo_internal pjrt_hilo)
  endif()
  add_library(${name} OBJECT ${sources})
  target_include_directories(${name} PRIVATE ${CMAKE_CURRENT_SOURCE_DIR} ${CMAKE_CURRENT_SOURCE_DIR}/include)
  target_include_directories(${name} SYSTEM PRIVATE ${arg_SYSTEM_INCLUDES})
  hilo_precompile_headers(${name})
  foreach(target ${arg_INTO})
    target_sources(${target} PRIVATE $<TARGET_OBJECTS:${name}>)
  endforeach()
endfunction()

# The first layer builds the precompiled header, the others use it.
function(hilo_precompile_headers name)
  if(NOT HILO_PRECOMPILE_HEADERS)
    return()
  elseif(name STREQUAL "hilo_base")
    target_precompile_headers(${name} PRIVATE
      <functional> <memory> <string> <vector>
      <absl/container/flat_hash_map.h> <absl/status/status.h> <absl/status/statusor.h> <absl/strings/str_cat.h>
      <absl/strings/str_join.h> <absl/strings/string_view.h> <absl/types/span.h>)
  else()
    target_precompile_headers(${name} REUSE_FROM hilo_base)
  endif()
endfunction()

# Exports from TARGET what the version script cmake/MAP names and nothing else, so that an LLVM or a oneDNN of the host
# process and ours never meet.
function(hilo_hide_symbols target map)
  set(script ${PROJECT_SOURCE_DIR}/cmake/${map})
  target_link_options(${target} PRIVATE
    -Wl,--version-script=${script} -Wl,--exclude-libs,ALL -Wl,-Bsymbolic-functions)
  set_target_properties(${target} PROPERTIES LINK_DEPENDS ${script})
  if(NOT HILO_SANITIZE)
    target_link_options(${target} PRIVATE -Wl,-z,defs)
  endif()
endfunction()

# Static objects of TARGET are never destroyed (base/static_objects.cc). Sanitizers may destroy them: they look for leaks.
function(hilo_keep_static_objects target)
  if(NOT HILO_SANITIZE)
    target_link_options(${target} PRIVATE -Wl,--wrap=__cxa_atexit)
  endif()
endfunction()
