# libricci.so.0: the core with the built-in primitives as one shared library, for languages that load libraries.
#
# It exports the functions of the C ABI and nothing else, so it can be opened with RTLD_LOCAL next to other copies; the
# CPU backend is loaded into it (ricci_context_load_plugin). The archive has everything hidden, which no linker option
# undoes: the files that define public functions are compiled again, and the rest comes from the archive. It makes no
# link named libricci.so, because `-lricci` means the archive.
set(ricci_shared_sources "")
foreach(pattern src/api/*.cc src/base/status_abi.cc src/laws/check_abi.cc)
  file(GLOB sources CONFIGURE_DEPENDS ${PROJECT_SOURCE_DIR}/${pattern})
  list(APPEND ricci_shared_sources ${sources})
endforeach()
get_property(ricci_rows_entries GLOBAL PROPERTY RICCI_ROWS_ENTRIES)

add_library(ricci_shared SHARED ${ricci_shared_sources} ${ricci_rows_entries})
ricci_target_defaults(ricci_shared)
target_compile_definitions(ricci_shared PRIVATE "RICCI_API=__attribute__((visibility(\"default\")))")
target_include_directories(ricci_shared PRIVATE ${PROJECT_SOURCE_DIR}/include ${PROJECT_SOURCE_DIR}/src
                                                ${PROJECT_SOURCE_DIR}/bindings/cpp)
target_precompile_headers(ricci_shared PRIVATE ${PROJECT_SOURCE_DIR}/src/base/precompiled.h)
set(ricci_exports ${CMAKE_CURRENT_LIST_DIR}/shared_exports.map)
set_target_properties(ricci_shared PROPERTIES OUTPUT_NAME ricci SUFFIX .so.0 NO_SONAME ON LINK_DEPENDS ${ricci_exports})
target_link_options(ricci_shared PRIVATE -Wl,-soname,libricci.so.0 -Wl,--version-script=${ricci_exports}
                    -Wl,--exclude-libs,ALL -Wl,-Bsymbolic-functions -Wl,--gc-sections)
if(NOT RICCI_SANITIZE)
  target_link_options(ricci_shared PRIVATE -Wl,-z,defs)
endif()
target_link_libraries(ricci_shared PRIVATE ricci)

# Packages put Abseil's shared libraries next to it. DT_RPATH, unlike DT_RUNPATH, also holds for what these load.
# The same in the build folder, because CMake pads what it will replace by a colon, and that means the current folder.
set_target_properties(ricci_shared PROPERTIES INSTALL_RPATH "$ORIGIN" BUILD_WITH_INSTALL_RPATH ON)
target_link_options(ricci_shared PRIVATE -Wl,--disable-new-dtags)
