# cmake -DBUILD_DIR=... -DSOURCE_DIR=... -P embedding.cmake: installs Hilo below BUILD_DIR/embedding and builds and runs the programs of examples/, outside
# of the tree, with nothing but find_package(Hilo).
set(work ${BUILD_DIR}/embedding)
file(REMOVE_RECURSE ${work})
execute_process(COMMAND ${CMAKE_COMMAND} --install ${BUILD_DIR} --prefix ${work}/prefix COMMAND_ERROR_IS_FATAL ANY)
# The public headers, and nothing else.
file(GLOB public_headers RELATIVE ${SOURCE_DIR}/include ${SOURCE_DIR}/include/hilo/*.h)
file(GLOB_RECURSE installed RELATIVE ${work}/prefix/include ${work}/prefix/include/*)
if(NOT installed STREQUAL public_headers)
  message(FATAL_ERROR "expected the headers ${public_headers}, and installed are ${installed}")
endif()

function(check_example name expected)
  execute_process(COMMAND ${CMAKE_COMMAND} -G Ninja -S ${SOURCE_DIR}/examples/${name} -B ${work}/${name} -DCMAKE_PREFIX_PATH=${work}/prefix
                          -DCMAKE_CXX_COMPILER=${CXX} -DCMAKE_CXX_FLAGS=${CXX_FLAGS} COMMAND_ERROR_IS_FATAL ANY)
  execute_process(COMMAND ${CMAKE_COMMAND} --build ${work}/${name} COMMAND_ERROR_IS_FATAL ANY)
  execute_process(COMMAND ${work}/${name}/${name} OUTPUT_VARIABLE got COMMAND_ERROR_IS_FATAL ANY)
  if(NOT got STREQUAL "${expected}\n")
    message(FATAL_ERROR "${name}: expected '${expected}', got '${got}'")
  endif()
endfunction()
check_example(embed "f32[3] {3, 5, 7}")
check_example(custom_call "f32[3] {1.5, 2, 2.5}")
