# ThreadSanitizer over the tests that start threads, in a project with Ricci below it:
# cmake -S tests/packaging/parent -B build-tsan -G Ninja -C cmake/tsan.cmake
include(${CMAKE_CURRENT_LIST_DIR}/dev.cmake)
set(CMAKE_C_COMPILER clang-14 CACHE STRING "")  # takes two thirds of g++'s time
set(CMAKE_CXX_COMPILER clang++-14 CACHE STRING "")
get_filename_component(root ${CMAKE_CURRENT_LIST_DIR} DIRECTORY)
set(RICCI_SOURCE ${root} CACHE PATH "")
set(RICCI_TESTS ON CACHE BOOL "")
set(RICCI_SANITIZE "thread" CACHE STRING "")
set(RICCI_TEST_FOLDERS "runtime;api;cpu;cpp" CACHE STRING "")
set(RICCI_SAMPLES OFF CACHE BOOL "")
set(RICCI_PLUGIN_DSOS OFF CACHE BOOL "")
set(RICCI_SHARED OFF CACHE BOOL "")
set(RICCI_UNOPTIMIZED "ricci_cpp;ricci_plugin_lax;ricci_plugin_nn" CACHE STRING "")
set(RICCI_CUDA OFF CACHE BOOL "")
# Not built: tests that use one thread or processes, and that of a library which is not instrumented.
string(CONCAT left_out
  "/api/(allocation_[a-z]+|dlpack|finite_check|hostile_[a-z_]+|writer)_test|"
  "/cpu/(accuracy|code_symbols|conversions|edges|flat_programs|kept_[a-z]+|lapack|narrow_floats|near_steps|schedule|"
  "scratch|shared_math|targets)_test|"
  "/cpp/(array_files|complex_|control_flow|custom_|einsum|gradient_|index_|jacobian|linalg|linear_|loop_|misuse|neural|"
  "numpy|operators|program_files|random|recursive|spectrum|transforms|tree_|vectorize)")
set(RICCI_TEST_FILES_LEFT_OUT ${left_out} CACHE STRING "")
