# How everything is compiled and linked: language, warnings, sanitizers, ccache, lld, output folders.

include(CheckLinkerFlag)

if(NOT CMAKE_BUILD_TYPE)
  set(CMAKE_BUILD_TYPE Release CACHE STRING "Debug, Release or RelWithDebInfo" FORCE)
endif()

set(CMAKE_CXX_STANDARD 20)
set(CMAKE_CXX_STANDARD_REQUIRED ON)
set(CMAKE_CXX_EXTENSIONS OFF)
set(CMAKE_POSITION_INDEPENDENT_CODE ON)
set(CMAKE_CXX_VISIBILITY_PRESET hidden)  # what is exported says HILO_EXPORT (include/hilo/export.h)
set(CMAKE_VISIBILITY_INLINES_HIDDEN ON)
set(CMAKE_EXPORT_COMPILE_COMMANDS ON)
set(CMAKE_RUNTIME_OUTPUT_DIRECTORY ${PROJECT_BINARY_DIR}/bin)
set(CMAKE_LIBRARY_OUTPUT_DIRECTORY ${PROJECT_BINARY_DIR}/lib)
set(CMAKE_CXX_FLAGS_RELEASE "-O2 -DNDEBUG")
set(CMAKE_CXX_FLAGS_FUZZ "-O1 -gline-tables-only -DNDEBUG")  # small code that can name its lines

add_compile_options(-Wall -Wextra -fno-semantic-interposition
  # Errors name our files as the repository does, wherever it lies.
  -fmacro-prefix-map=${PROJECT_SOURCE_DIR}/=
  # Designated initializers that leave the rest at its defaults are how our structs are filled.
  -Wno-missing-field-initializers)
if(HILO_WERROR)
  add_compile_options(-Werror)
endif()
if(CMAKE_CXX_COMPILER_ID STREQUAL "GNU")
  # GCC 12 is wrong about these on optional, StatusOr and std::string operator+.
  # An exported class may hold a pointer to a hidden one (attributes).
  add_compile_options(-Wno-attributes -Wno-maybe-uninitialized -Wno-restrict -Wno-stringop-overflow -Wno-stringop-overread
    -Wno-array-bounds -Wno-free-nonheap-object)
  if(HILO_SANITIZE)
    add_compile_options($<$<COMPILE_LANGUAGE:CXX>:-Wno-mismatched-new-delete>)  # LLVM's values have operators of their own
  endif()
  if(HILO_UNITY_BUILD)
    add_compile_options($<$<COMPILE_LANGUAGE:CXX>:-Wno-subobject-linkage>)  # the sources are included by another one
  endif()
else()
  add_compile_options(-Wno-deprecated-declarations)  # in libstdc++ 12's own std::stable_sort
endif()

if(HILO_SANITIZE)
  add_compile_options(-fsanitize=${HILO_SANITIZE} -fno-omit-frame-pointer -fno-sanitize-recover=all)
  add_link_options(-fsanitize=${HILO_SANITIZE})
  if(CMAKE_CXX_COMPILER_ID MATCHES Clang)
    add_compile_options(-fno-sanitize=function)  # compiled programs do not say their types in front of their code
  endif()
  if(HILO_SANITIZE MATCHES undefined AND CMAKE_CXX_COMPILER_ID STREQUAL "GNU")
    # With them "&function != nullptr" is no constant expression, which tables of functions are checked by.
    add_compile_options(-fno-sanitize=null,nonnull-attribute,returns-nonnull-attribute)
  endif()
  if(HILO_SANITIZE MATCHES thread AND CMAKE_CXX_COMPILER_ID STREQUAL "GNU")
    add_compile_options(-Wno-tsan)  # a fence that the sanitizer does not see
  endif()
endif()

find_program(HILO_CCACHE ccache)
mark_as_advanced(HILO_CCACHE)
if(HILO_CCACHE)
  # With precompiled headers ccache wants to be told that time stamps and unused macros do not matter.
  set(hilo_launcher ${CMAKE_COMMAND} -E env
      CCACHE_SLOPPINESS=pch_defines,time_macros,include_file_mtime,include_file_ctime ${HILO_CCACHE})
  set(CMAKE_C_COMPILER_LAUNCHER ${hilo_launcher})
  set(CMAKE_CXX_COMPILER_LAUNCHER ${hilo_launcher})
  if(HILO_PRECOMPILE_HEADERS)
    if(CMAKE_CXX_COMPILER_ID STREQUAL "GNU")
      add_compile_options(-fpch-preprocess)
    else()
      add_compile_options("SHELL:-Xclang -fno-pch-timestamp")
    endif()
  endif()
endif()

find_program(HILO_LLD NAMES ld.lld)
mark_as_advanced(HILO_LLD)
if(HILO_LLD)
  add_link_options(-fuse-ld=lld)
  # Static initializers lie together and segments share no page, as with GNU ld: fewer page faults when a process starts.
  set(hilo_page_flags -Wl,-z,keep-text-section-prefix,-z,separate-loadable-segments)
  set(CMAKE_REQUIRED_LINK_OPTIONS -fuse-ld=lld)
  check_linker_flag(CXX ${hilo_page_flags} HILO_HAS_PAGE_FLAGS)
  unset(CMAKE_REQUIRED_LINK_OPTIONS)
  if(HILO_HAS_PAGE_FLAGS)
    add_link_options(${hilo_page_flags})
  endif()
endif()
add_link_options(-Wl,--gc-sections -Wl,--as-needed)
