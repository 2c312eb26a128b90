# ThreadSanitizer over the tests that start threads: cmake -S . -B build-tsan -G Ninja -C cmake/tsan.cmake
include(${CMAKE_CURRENT_LIST_DIR}/dev.cmake)
set(RICCI_SANITIZE "thread" CACHE STRING "")
set(RICCI_TEST_FOLDERS "runtime;api;cpu;cpp" CACHE STRING "")
set(RICCI_SAMPLES OFF CACHE BOOL "")
set(RICCI_PLUGIN_DSOS OFF CACHE BOOL "")
set(RICCI_SHARED OFF CACHE BOOL "")
