# ricci_add_aot(<target> FILE... [OPTIONS ...]): programs as a static library of C functions that needs nothing of Ricci.
#
# Each FILE is a program, in text or binary form; the tool compiles it when the file changes. Link <target> and include
# <target>.h, which documents the functions. OPTIONS go to `ricci compile`, such as `--derivatives grad` or
# `--cpu x86-64-v2`. RICCI_TOOL is the tool to use, where it is not that of this build or prefix.
function(ricci_add_aot target)
  cmake_parse_arguments(PARSE_ARGV 1 arg "" "" "OPTIONS")
  if(NOT arg_UNPARSED_ARGUMENTS)
    message(FATAL_ERROR "ricci_add_aot(${target}): name the file of a program")
  endif()
  set(files "")
  foreach(file IN LISTS arg_UNPARSED_ARGUMENTS)
    get_filename_component(file ${file} ABSOLUTE)
    list(APPEND files ${file})
  endforeach()
  get_property(tool GLOBAL PROPERTY RICCI_INSTALLED_TOOL)
  if(RICCI_TOOL)
    set(tool ${RICCI_TOOL})
  elseif(TARGET ricci_tool)
    set(tool $<TARGET_FILE:ricci_tool>)
  endif()
  set(folder ${CMAKE_CURRENT_BINARY_DIR}/${target}_aot)
  file(MAKE_DIRECTORY ${folder})
  set(library ${folder}/${CMAKE_STATIC_LIBRARY_PREFIX}${target}.a)
  add_custom_command(OUTPUT ${library} ${folder}/${target}.h
    COMMAND ${tool} compile ${files} -o ${library} -h ${folder}/${target}.h ${arg_OPTIONS}
    DEPENDS ${files} ${tool} VERBATIM COMMENT "Compiling ${target} ahead of time")
  add_custom_target(${target}_files DEPENDS ${library} ${folder}/${target}.h)
  add_library(${target} STATIC IMPORTED GLOBAL)
  set_target_properties(${target} PROPERTIES
    IMPORTED_LOCATION ${library} INTERFACE_INCLUDE_DIRECTORIES ${folder} INTERFACE_LINK_LIBRARIES m)
  add_dependencies(${target} ${target}_files)
endfunction()
