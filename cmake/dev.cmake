# The build of developers and of continuous integration: cmake -S . -B build -G Ninja -C cmake/dev.cmake
# -O1 and line tables: quick to compile, fast enough for the tests, with readable backtraces.
include(${CMAKE_CURRENT_LIST_DIR}/compiler_cache.cmake)
set(CMAKE_BUILD_TYPE RelWithDebInfo CACHE STRING "")
set(RICCI_WARNINGS_ARE_ERRORS ON CACHE BOOL "")
foreach(language C CXX)
  set(CMAKE_${language}_FLAGS_RELWITHDEBINFO "-O1 -g1" CACHE STRING "")
endforeach()
# Executables hold LLVM: lld links one in 0.7 s, the default linker in 3.
find_program(RICCI_LLD ld.lld)
if(RICCI_LLD)
  set(CMAKE_EXE_LINKER_FLAGS "-fuse-ld=lld" CACHE STRING "")
endif()
