# `cmake --install`: libhilo, the headers that embedders include, the program, and what find_package(Hilo) reads.
include(CMakePackageConfigHelpers)

set(hilo_package_dir ${CMAKE_INSTALL_LIBDIR}/cmake/Hilo)
install(TARGETS hilo EXPORT HiloTargets LIBRARY DESTINATION ${CMAKE_INSTALL_LIBDIR})
if(TARGET hilo_tool)
  install(TARGETS hilo_tool RUNTIME DESTINATION ${CMAKE_INSTALL_BINDIR})
endif()
if(TARGET hilo_tool AND NOT HILO_BUILD_PYTHON_PACKAGE)
  # What shells and man know of the program, which it prints itself.
  install(CODE "
    function(hilo_print file)
      execute_process(COMMAND $<TARGET_FILE:hilo_tool> \${ARGN} OUTPUT_FILE ${CMAKE_CURRENT_BINARY_DIR}/\${file} COMMAND_ERROR_IS_FATAL ANY)
    endfunction()
    hilo_print(hilo.1 man)
    hilo_print(hilo.bash completion bash)
    hilo_print(_hilo completion zsh)
    hilo_print(hilo.fish completion fish)")
  install(FILES ${CMAKE_CURRENT_BINARY_DIR}/hilo.1 DESTINATION ${CMAKE_INSTALL_MANDIR}/man1)
  install(FILES ${CMAKE_CURRENT_BINARY_DIR}/hilo.bash DESTINATION ${CMAKE_INSTALL_DATADIR}/bash-completion/completions RENAME hilo)
  install(FILES ${CMAKE_CURRENT_BINARY_DIR}/_hilo DESTINATION ${CMAKE_INSTALL_DATADIR}/zsh/site-functions)
  install(FILES ${CMAKE_CURRENT_BINARY_DIR}/hilo.fish DESTINATION ${CMAKE_INSTALL_DATADIR}/fish/vendor_completions.d)
endif()
install(DIRECTORY include/hilo include/hilo-c DESTINATION ${CMAKE_INSTALL_INCLUDEDIR})
install(EXPORT HiloTargets NAMESPACE Hilo:: DESTINATION ${hilo_package_dir})

configure_package_config_file(cmake/HiloConfig.cmake.in ${CMAKE_CURRENT_BINARY_DIR}/HiloConfig.cmake
                              INSTALL_DESTINATION ${hilo_package_dir})
write_basic_package_version_file(${CMAKE_CURRENT_BINARY_DIR}/HiloConfigVersion.cmake COMPATIBILITY SameMinorVersion)
install(FILES ${CMAKE_CURRENT_BINARY_DIR}/HiloConfig.cmake ${CMAKE_CURRENT_BINARY_DIR}/HiloConfigVersion.cmake
        DESTINATION ${hilo_package_dir})

file(RELATIVE_PATH HILO_PREFIX_FROM_LIBDIR ${CMAKE_INSTALL_FULL_LIBDIR} ${CMAKE_INSTALL_PREFIX})
configure_file(cmake/hilo.pc.in ${CMAKE_CURRENT_BINARY_DIR}/hilo.pc @ONLY)
install(FILES ${CMAKE_CURRENT_BINARY_DIR}/hilo.pc DESTINATION ${CMAKE_INSTALL_LIBDIR}/pkgconfig)

# The Python package (pyproject.toml): the plugin, the program and the module. Other libraries stay the system's; tools/wheel adds those to a wheel.
if(HILO_BUILD_PYTHON_PACKAGE)
  install(TARGETS hilo_tool RUNTIME DESTINATION jax_plugins/hilo/bin COMPONENT python)
  install(TARGETS pjrt_hilo LIBRARY DESTINATION jax_plugins/hilo COMPONENT python)
  install(TARGETS hilo_python LIBRARY DESTINATION hilo COMPONENT python)
  # OpenBLAS is loaded at run time (runtime/lapack), so no tool sees that the plugin needs it.
  if(HILO_WHEEL_OPENBLAS)
    set_target_properties(pjrt_hilo PROPERTIES INSTALL_RPATH "$ORIGIN")
    file(REAL_PATH ${HILO_WHEEL_OPENBLAS} openblas)
    install(PROGRAMS ${openblas} DESTINATION jax_plugins/hilo RENAME libopenblas.so.0 COMPONENT python)
  endif()
else()
  install(TARGETS pjrt_hilo LIBRARY DESTINATION ${CMAKE_INSTALL_LIBDIR})
endif()
