# AddressSanitizer, LeakSanitizer and UBSan over the unit tests: cmake -S . -B build-asan -G Ninja -C cmake/asan.cmake
include(${CMAKE_CURRENT_LIST_DIR}/dev.cmake)
set(RICCI_SANITIZE "address,undefined" CACHE STRING "")
set(RICCI_SAMPLES OFF CACHE BOOL "")
set(RICCI_PLUGIN_DSOS OFF CACHE BOOL "")
