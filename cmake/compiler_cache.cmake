# Uses ccache if it is there. Included by the caches beside it; the sloppiness is what a precompiled header needs.
find_program(RICCI_CCACHE ccache)
if(RICCI_CCACHE)
  foreach(language C CXX)
    set(CMAKE_${language}_COMPILER_LAUNCHER
        "${CMAKE_COMMAND};-E;env;CCACHE_SLOPPINESS=pch_defines,time_macros,include_file_mtime,include_file_ctime;${RICCI_CCACHE}"
        CACHE STRING "")
  endforeach()
endif()
