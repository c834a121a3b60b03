# cmake -DBUILD_DIR=... -DSOURCE_DIR=... -DLIBRARY=libhilo.so.X.Y.Z -DCXX=... -P consumers.cmake
#
# Projects that have Hilo within them, by add_subdirectory and by FetchContent. Each is configured, its program compiled,
# linked and run; libhilo is LIBRARY, which is put where the project would build it.
set(work ${BUILD_DIR}/consumers)
file(REMOVE_RECURSE ${work})

function(check_consumer name how)
  set(folder ${work}/${name})
  file(WRITE ${folder}/CMakeLists.txt "cmake_minimum_required(VERSION 3.25)
project(Consumer LANGUAGES C CXX)
${how}
add_executable(consumer ${SOURCE_DIR}/examples/embed/main.cc)
target_link_libraries(consumer PRIVATE Hilo::hilo)
")
  execute_process(COMMAND ${CMAKE_COMMAND} -G Ninja -S ${folder} -B ${folder}/build -DCMAKE_CXX_COMPILER=${CXX}
    COMMAND_ERROR_IS_FATAL ANY)
  # What the project builds by itself is libhilo, and neither Hilo's tests nor its programs.
  execute_process(COMMAND ninja -C ${folder}/build -t commands all OUTPUT_VARIABLE plan COMMAND_ERROR_IS_FATAL ANY)
  if(plan MATCHES "-o [^ ]*(hilo_unit_tests|bin/hilo|libpjrt_hilo)" OR NOT plan MATCHES "-o ([^ ]*libhilo\\.so[0-9.]*)")
    message(FATAL_ERROR "${name}: expected to build libhilo and nothing else of Hilo's, got ${plan}")
  endif()
  cmake_path(GET CMAKE_MATCH_1 PARENT_PATH built)
  execute_process(COMMAND ninja -C ${folder}/build CMakeFiles/consumer.dir${SOURCE_DIR}/examples/embed/main.cc.o
    COMMAND_ERROR_IS_FATAL ANY)
  cmake_path(GET LIBRARY PARENT_PATH libraries)
  file(GLOB libraries ${libraries}/libhilo.so*)
  file(COPY ${libraries} DESTINATION ${folder}/build/${built})
  execute_process(COMMAND ninja -C ${folder}/build -t commands -s consumer OUTPUT_VARIABLE link
    COMMAND_ERROR_IS_FATAL ANY)
  execute_process(COMMAND sh -c ${link} WORKING_DIRECTORY ${folder}/build COMMAND_ERROR_IS_FATAL ANY)
  execute_process(COMMAND ${folder}/build/consumer OUTPUT_VARIABLE got COMMAND_ERROR_IS_FATAL ANY)
  if(NOT got STREQUAL "f32[3] {3, 5, 7}\n")
    message(FATAL_ERROR "${name}: expected 'f32[3] {3, 5, 7}', got '${got}'")
  endif()
endfunction()

check_consumer(subdirectory "add_subdirectory(${SOURCE_DIR} hilo)")
# Of the last commit, where the sources are a repository.
if(EXISTS ${SOURCE_DIR}/.git)
  set(source "GIT_REPOSITORY file://${SOURCE_DIR} GIT_TAG HEAD GIT_SHALLOW ON")
else()
  set(source "SOURCE_DIR ${SOURCE_DIR}")
endif()
check_consumer(fetched "include(FetchContent)\nFetchContent_Declare(Hilo ${source})\nFetchContent_MakeAvailable(Hilo)")
