# Removes the files that the last `cmake --install` of this build installed, as listed in its manifest, and our folders
# (with `ricci` in their path) that are then empty.
if(NOT EXISTS ${MANIFEST})
  message(FATAL_ERROR "nothing to uninstall: ${MANIFEST} does not exist")
endif()
file(STRINGS ${MANIFEST} files)
foreach(file IN LISTS files)
  message(STATUS "removing $ENV{DESTDIR}${file}")
  file(REMOVE "$ENV{DESTDIR}${file}")
  # From the file's folder up to the topmost one that is ours.
  cmake_path(GET file PARENT_PATH folder)
  while(folder MATCHES "/(bin|include|lib[^/]*|share)/(.*/)?ricci(/|$)")
    list(APPEND folders ${folder})
    cmake_path(GET folder PARENT_PATH folder)
  endwhile()
endforeach()
list(REMOVE_DUPLICATES folders)
list(SORT folders ORDER DESCENDING)  # the contents of a folder come before it
foreach(folder IN LISTS folders)
  file(GLOB left "$ENV{DESTDIR}${folder}/*")
  if(NOT left)
    file(REMOVE_RECURSE "$ENV{DESTDIR}${folder}")
  endif()
endforeach()
