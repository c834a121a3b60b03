# cmake -DBUILD_DIR=... -P test.cmake: installs Hilo below BUILD_DIR/package_test and builds and runs the program of this
# folder with nothing but find_package(Hilo).
set(work ${BUILD_DIR}/package_test)
file(REMOVE_RECURSE ${work})
foreach(command
    "${CMAKE_COMMAND};--install;${BUILD_DIR};--prefix;${work}/prefix"
    "${CMAKE_COMMAND};-G;Ninja;-S;${CMAKE_CURRENT_LIST_DIR};-B;${work}/build;-DCMAKE_PREFIX_PATH=${work}/prefix;-DCMAKE_CXX_COMPILER=${CXX};-DCMAKE_CXX_FLAGS=${CXX_FLAGS}"
    "${CMAKE_COMMAND};--build;${work}/build"
    "${work}/build/embedder")
  execute_process(COMMAND ${command} COMMAND_ERROR_IS_FATAL ANY)
endforeach()
