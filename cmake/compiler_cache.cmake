# Uses ccache if it is installed. Included by the caches next to it; a precompiled header needs the sloppiness.
find_program(RICCI_CCACHE ccache)
if(RICCI_CCACHE)
  foreach(language C CXX)
    set(CMAKE_${language}_COMPILER_LAUNCHER
        "${CMAKE_COMMAND};-E;env;CCACHE_SLOPPINESS=pch_defines,time_macros,include_file_mtime,include_file_ctime;${RICCI_CCACHE}"
        CACHE STRING "")
  endforeach()
endif()
