# The documents of a prefix, in share/doc/ricci in the folders that they have in the repository, so that their links lead
# somewhere.
#
# Only the samples are elsewhere, in share/ricci, where they are a project to build: links to them are changed on the
# way. A prefix without the CPU backend has no samples; there such a link becomes its text.
set(ricci_documents ${CMAKE_INSTALL_DATADIR}/doc/ricci)
set(ricci_linked_samples ../../ricci/samples)

# Installs the page `path` of the repository in `folder` of the documents; the pairs after it replace texts of links.
function(ricci_install_page path folder)
  set_property(DIRECTORY APPEND PROPERTY CMAKE_CONFIGURE_DEPENDS ${PROJECT_SOURCE_DIR}/${path})
  file(READ ${PROJECT_SOURCE_DIR}/${path} text)
  set(pairs ${ARGN})
  while(pairs)
    list(POP_FRONT pairs from to)
    string(REPLACE "](${from}" "](${to}" text "${text}")
  endwhile()
  if(NOT TARGET ricci_plugin_cpu)
    string(REGEX REPLACE "\\[([^]]*)\\]\\(${ricci_linked_samples}[^)]*\\)" "\\1" text "${text}")
  endif()
  file(WRITE ${PROJECT_BINARY_DIR}/documents/${path} "${text}")
  install(FILES ${PROJECT_BINARY_DIR}/documents/${path} DESTINATION ${folder})
endfunction()

ricci_install_page(README.md ${ricci_documents} samples/PLUGINS.md PLUGINS.md samples/ ${ricci_linked_samples}/)
ricci_install_page(samples/PLUGINS.md ${ricci_documents})
install(FILES ${PROJECT_SOURCE_DIR}/LICENSE DESTINATION ${ricci_documents})
foreach(page cmake/README.md tests/bench/MEASURED.md include/REFERENCE.md plugins/lax/PRIMITIVES.md plugins/cuda/README.md plugins/object/README.md
             bindings/cpp/README.md bindings/cpp/NUMPY.md bindings/python/README.md bindings/python/GUIDE.md
             bindings/rust/README.md bindings/julia/README.md)
  get_filename_component(page_folder ${page} DIRECTORY)
  ricci_install_page(${page} ${ricci_documents}/${page_folder})
endforeach()
if(TARGET ricci_plugin_cpu)
  ricci_install_page(samples/README.md ${CMAKE_INSTALL_DATADIR}/ricci/samples PLUGINS.md ../../doc/ricci/PLUGINS.md)
endif()
