# What `cmake --install` puts into a prefix, and how others find it there.
#
# The prefix can be moved: the CMake package computes its root from its own place and the pkg-config files from
# ${pcfiledir}. Abseil, and zlib if it was found, are dependencies of everyone who links the static core, so both forms
# name them. ricci::cpu is a
# separate component because it brings LLVM along, ricci::cuda because few hosts have a GPU; their shared forms are
# installed too, for ricci_context_load_plugin.
include(GNUInstallDirs)
include(CMakePackageConfigHelpers)
set(ricci_package_dir ${CMAKE_INSTALL_LIBDIR}/cmake/ricci)

set_target_properties(ricci_cpp PROPERTIES EXPORT_NAME cpp)
set_target_properties(ricci_plugin PROPERTIES EXPORT_NAME plugin)
install(TARGETS ricci ricci_cpp ricci_plugin EXPORT ricci-targets ARCHIVE DESTINATION ${CMAKE_INSTALL_LIBDIR})
install(EXPORT ricci-targets NAMESPACE ricci:: DESTINATION ${ricci_package_dir})
install(DIRECTORY ${PROJECT_SOURCE_DIR}/include/ricci ${PROJECT_SOURCE_DIR}/bindings/cpp/ricci
        DESTINATION ${CMAKE_INSTALL_INCLUDEDIR} FILES_MATCHING PATTERN "*.h" PATTERN "*.hpp")

set(RICCI_FIND_ZLIB "")
set(RICCI_PC_ZLIB "")
if(ZLIB_FOUND)
  set(RICCI_FIND_ZLIB "find_dependency(ZLIB)")
  set(RICCI_PC_ZLIB zlib)
endif()
configure_package_config_file(${CMAKE_CURRENT_LIST_DIR}/ricci-config.cmake.in ${PROJECT_BINARY_DIR}/ricci-config.cmake
                              INSTALL_DESTINATION ${ricci_package_dir})
# Before 1.0 a minor version may change the ABI.
write_basic_package_version_file(${PROJECT_BINARY_DIR}/ricci-config-version.cmake COMPATIBILITY SameMinorVersion)
install(FILES ${PROJECT_BINARY_DIR}/ricci-config.cmake ${PROJECT_BINARY_DIR}/ricci-config-version.cmake
              ${CMAKE_CURRENT_LIST_DIR}/aot.cmake ${CMAKE_CURRENT_LIST_DIR}/plugin.cmake
              ${CMAKE_CURRENT_LIST_DIR}/plugin_entry.c.in ${CMAKE_CURRENT_LIST_DIR}/plugin_forwarders.c ${CMAKE_CURRENT_LIST_DIR}/plugin_exports.map
        DESTINATION ${ricci_package_dir})

file(RELATIVE_PATH ricci_prefix_from_pc /prefix/${CMAKE_INSTALL_LIBDIR}/pkgconfig /prefix)
foreach(name ricci ricci-cpp)
  configure_file(${CMAKE_CURRENT_LIST_DIR}/${name}.pc.in ${PROJECT_BINARY_DIR}/${name}.pc @ONLY)
  install(FILES ${PROJECT_BINARY_DIR}/${name}.pc DESTINATION ${CMAKE_INSTALL_LIBDIR}/pkgconfig)
endforeach()

if(TARGET ricci_plugin_cpu)
  set_target_properties(ricci_plugin_cpu PROPERTIES EXPORT_NAME cpu)
  install(TARGETS ricci_plugin_cpu EXPORT ricci-cpu-targets ARCHIVE DESTINATION ${CMAKE_INSTALL_LIBDIR})
  install(EXPORT ricci-cpu-targets NAMESPACE ricci:: DESTINATION ${ricci_package_dir})
  get_property(RICCI_CPU_LIBS GLOBAL PROPERTY RICCI_CPU_LIBS)
  configure_file(${CMAKE_CURRENT_LIST_DIR}/ricci-cpu.pc.in ${PROJECT_BINARY_DIR}/ricci-cpu.pc @ONLY)
  install(FILES ${PROJECT_BINARY_DIR}/ricci-cpu.pc DESTINATION ${CMAKE_INSTALL_LIBDIR}/pkgconfig)
  if(RICCI_PLUGIN_DSOS)
    install(TARGETS ricci_plugin_cpu_dso ricci_plugin_lapack_dso LIBRARY DESTINATION ${CMAKE_INSTALL_LIBDIR}/ricci)
  endif()
endif()

if(TARGET ricci_plugin_cuda)
  set_target_properties(ricci_plugin_cuda PROPERTIES EXPORT_NAME cuda)
  install(TARGETS ricci_plugin_cuda EXPORT ricci-cuda-targets ARCHIVE DESTINATION ${CMAKE_INSTALL_LIBDIR})
  install(EXPORT ricci-cuda-targets NAMESPACE ricci:: DESTINATION ${ricci_package_dir})
  if(RICCI_PLUGIN_DSOS)
    install(TARGETS ricci_plugin_cuda_dso LIBRARY DESTINATION ${CMAKE_INSTALL_LIBDIR}/ricci)
  endif()
endif()

# The documents, and the samples with a project that builds them against the prefix.
include(${CMAKE_CURRENT_LIST_DIR}/documents.cmake)
set(ricci_share ${CMAKE_INSTALL_DATADIR}/ricci)
if(TARGET ricci_plugin_cpu)
  install(FILES ${PROJECT_SOURCE_DIR}/samples/prefix/CMakeLists.txt
                ${PROJECT_SOURCE_DIR}/samples/hello.c ${PROJECT_SOURCE_DIR}/samples/add_device.h
                ${PROJECT_SOURCE_DIR}/samples/sample_checks.h ${PROJECT_SOURCE_DIR}/samples/batch_first.h
                ${PROJECT_SOURCE_DIR}/samples/type_text.h
          DESTINATION ${ricci_share}/samples)
  foreach(folder aot custom_primitive from_jax game_loop mujoco quickstart data spline block_tridiagonal repeat fast_erf)
    install(DIRECTORY ${PROJECT_SOURCE_DIR}/samples/${folder} DESTINATION ${ricci_share}/samples)
  endforeach()
endif()

# Plugins to begin with, each built by one command.
install(DIRECTORY ${PROJECT_SOURCE_DIR}/samples/templates DESTINATION ${ricci_share})

install(DIRECTORY ${PROJECT_SOURCE_DIR}/bindings/rust DESTINATION ${ricci_share} PATTERN target EXCLUDE)
install(DIRECTORY ${PROJECT_SOURCE_DIR}/bindings/julia DESTINATION ${ricci_share})
if(TARGET ricci_shared)
  install(TARGETS ricci_shared LIBRARY DESTINATION ${CMAKE_INSTALL_LIBDIR})
endif()
if(TARGET ricci_calls)
  install(TARGETS ricci_calls LIBRARY DESTINATION ${CMAKE_INSTALL_LIBDIR}/ricci)
endif()
if(TARGET ricci_tool)
  install(TARGETS ricci_tool RUNTIME DESTINATION ${CMAKE_INSTALL_BINDIR})
endif()

if(PROJECT_IS_TOP_LEVEL)
  add_custom_target(uninstall COMMAND ${CMAKE_COMMAND} -D MANIFEST=${PROJECT_BINARY_DIR}/install_manifest.txt
                                      -P ${CMAKE_CURRENT_LIST_DIR}/uninstall.cmake)
endif()
