# AddressSanitizer, LeakSanitizer and UBSan over the unit tests, with clang, which is the second compiler of these files:
# cmake -S . -B build-asan -G Ninja -C cmake/asan.cmake
include(${CMAKE_CURRENT_LIST_DIR}/dev.cmake)
set(CMAKE_C_COMPILER clang-14 CACHE STRING "")
set(CMAKE_CXX_COMPILER clang++-14 CACHE STRING "")
set(RICCI_SANITIZE "address,undefined" CACHE STRING "")
set(RICCI_SAMPLES OFF CACHE BOOL "")
set(RICCI_PLUGIN_DSOS OFF CACHE BOOL "")
set(RICCI_SHARED OFF CACHE BOOL "")
set(RICCI_UNOPTIMIZED "ricci_cpp;ricci_plugin_lax;ricci_plugin_nn" CACHE STRING "")
# Not built: tests of what generated code computes and calls, in which no sanitizer looks.
set(RICCI_TEST_FILES_LEFT_OUT "/cpu/(accuracy|code_symbols|narrow_floats|shared_math)_test" CACHE STRING "")
