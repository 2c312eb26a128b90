# The build that users install and benchmarks measure: cmake -S . -B build-release -G Ninja -C cmake/release.cmake
include(${CMAKE_CURRENT_LIST_DIR}/compiler_cache.cmake)
set(CMAKE_BUILD_TYPE Release CACHE STRING "")
foreach(language C CXX)
  set(CMAKE_${language}_FLAGS_RELEASE "-O2 -DNDEBUG" CACHE STRING "")
endforeach()
set(RICCI_TESTS OFF CACHE BOOL "")
