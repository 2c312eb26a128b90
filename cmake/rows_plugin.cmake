# ricci_add_rows_plugin(<name>): a plugin of built-in primitives, all <file>.cc of the calling folder.
#
# Every file defines `RowList <file>_rows()` in ricci::<name>::rows. The table of these functions and the plugin's entry,
# `ricci_plugin_query_<name>`, are generated from the file names, so that a new primitive touches one file. The objects
# become part of the core archive; they use public headers only, which linking the shared object proves. The entries
# are in the list RICCI_ROWS_ENTRIES, a global property: cmake/shared.cmake compiles them again.
function(ricci_add_rows_plugin name)
  file(GLOB sources CONFIGURE_DEPENDS ${CMAKE_CURRENT_SOURCE_DIR}/*.cc)
  set(RICCI_ROWS_PLUGIN ${name})
  set(RICCI_ROW_DECLARATIONS "")
  set(RICCI_ROW_TABLES "")
  foreach(source IN LISTS sources)
    get_filename_component(stem ${source} NAME_WE)
    string(APPEND RICCI_ROW_DECLARATIONS "RowList ${stem}_rows();\n")
    string(APPEND RICCI_ROW_TABLES "    ${stem}_rows,\n")
  endforeach()
  set(entry ${CMAKE_CURRENT_BINARY_DIR}/${name}_plugin.cc)
  configure_file(${PROJECT_SOURCE_DIR}/cmake/rows_plugin.cc.in ${entry} @ONLY)
  ricci_add_plugin(${name} SOURCES ${sources} ${entry} INCLUDES ${PROJECT_SOURCE_DIR}/bindings/cpp ${ARGN})
  target_precompile_headers(ricci_plugin_${name} PRIVATE
                            $<$<COMPILE_LANGUAGE:CXX>:${PROJECT_SOURCE_DIR}/bindings/cpp/ricci/plugin.hpp>)
  target_sources(ricci PRIVATE $<TARGET_OBJECTS:ricci_plugin_${name}>)
  set_property(GLOBAL APPEND PROPERTY RICCI_ROWS_ENTRIES ${entry})
endfunction()
