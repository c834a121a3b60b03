# cmake -DBUILD_DIR=... -DSOURCE_DIR=... -P embedding.cmake: installs Hilo below BUILD_DIR/embedding and builds and runs examples/embed, outside of the
# tree, with nothing but find_package(Hilo).
set(work ${BUILD_DIR}/embedding)
file(REMOVE_RECURSE ${work})
foreach(command
    "${CMAKE_COMMAND};--install;${BUILD_DIR};--prefix;${work}/prefix"
    "${CMAKE_COMMAND};-G;Ninja;-S;${SOURCE_DIR}/examples/embed;-B;${work}/build;-DCMAKE_PREFIX_PATH=${work}/prefix;-DCMAKE_CXX_COMPILER=${CXX};-DCMAKE_CXX_FLAGS=${CXX_FLAGS}"
    "${CMAKE_COMMAND};--build;${work}/build")
  execute_process(COMMAND ${command} COMMAND_ERROR_IS_FATAL ANY)
endforeach()
execute_process(COMMAND ${work}/build/embed OUTPUT_VARIABLE got COMMAND_ERROR_IS_FATAL ANY)
set(expected "f32[3] {3, 5, 7}\n")
if(NOT got STREQUAL expected)
  message(FATAL_ERROR "expected '${expected}', got '${got}'")
endif()
