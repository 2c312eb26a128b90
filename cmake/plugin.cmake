# ricci_add_plugin(<name> SOURCES ... [LIBRARIES ...] [INCLUDES ...]): one source, two forms of a plugin.
#
# The sources define `ricci_plugin_query_<name>`. They are compiled once, for the targets
#   ricci_plugin_<name>      a static archive, also ricci::<name>: the host links it and passes the function to
#                            ricci_context_add_plugin;
#   ricci_plugin_<name>_dso  libricci_plugin_<name>.so.0: the objects of the archive, an entry that stores the core's
#                            function table, and the plain names as calls through it, for ricci_context_load_plugin. It
#                            exports one symbol; what is not in the public headers is missing when it is linked.
# RICCI_PLUGIN_DSOS=OFF leaves the second form out of `all` (sanitizer builds do this to save time).
option(RICCI_PLUGIN_DSOS "build plugins as shared objects too" ON)

set(RICCI_PLUGIN_TEMPLATES ${CMAKE_CURRENT_LIST_DIR})
function(ricci_add_plugin name)
  cmake_parse_arguments(arg "" "" "SOURCES;LIBRARIES;INCLUDES" ${ARGN})
  set(entry ${CMAKE_CURRENT_BINARY_DIR}/${name}_plugin_entry.c)
  configure_file(${RICCI_PLUGIN_TEMPLATES}/plugin_entry.c.in ${entry} @ONLY)
  set_source_files_properties(${entry} PROPERTIES COMPILE_DEFINITIONS RICCI_PLUGIN_DSO)
  add_library(ricci_plugin_${name} STATIC ${arg_SOURCES})
  add_library(ricci::${name} ALIAS ricci_plugin_${name})
  add_library(ricci_plugin_${name}_dso MODULE ${entry} ${RICCI_PLUGIN_TEMPLATES}/plugin_forwarders.c
                                              $<TARGET_OBJECTS:ricci_plugin_${name}>)
  foreach(target ricci_plugin_${name} ricci_plugin_${name}_dso)
    if(COMMAND ricci_target_defaults)
      ricci_target_defaults(${target})
    endif()
    set_target_properties(${target} PROPERTIES POSITION_INDEPENDENT_CODE ON C_VISIBILITY_PRESET hidden
                          CXX_VISIBILITY_PRESET hidden VISIBILITY_INLINES_HIDDEN ON)
    target_include_directories(${target} PRIVATE ${arg_INCLUDES})
    target_link_libraries(${target} PRIVATE ricci::plugin ${arg_LIBRARIES})
  endforeach()
  # A host that links the archive uses the plugin, even if it only refers to it by a weak reference.
  target_link_options(ricci_plugin_${name} INTERFACE -Wl,--undefined=ricci_plugin_query_${name})
  set(language C)
  if(arg_SOURCES MATCHES "\\.(cc|cpp|cxx)(;|$)")
    set(language CXX)
  endif()
  set_target_properties(ricci_plugin_${name}_dso PROPERTIES
    LINKER_LANGUAGE ${language} PREFIX lib OUTPUT_NAME ricci_plugin_${name} SUFFIX .so.0 EXCLUDE_FROM_ALL $<NOT:$<BOOL:${RICCI_PLUGIN_DSOS}>>
    LINK_DEPENDS ${RICCI_PLUGIN_TEMPLATES}/plugin_exports.map)
  target_link_options(ricci_plugin_${name}_dso PRIVATE
    -Wl,--exclude-libs,ALL -Wl,--version-script=${RICCI_PLUGIN_TEMPLATES}/plugin_exports.map -Wl,-z,nodelete)
  if(NOT RICCI_SANITIZE)
    target_link_options(ricci_plugin_${name}_dso PRIVATE -Wl,-z,defs)
  endif()
endfunction()
