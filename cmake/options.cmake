# Options, language level and warnings of every target of this project. No global flags: each target asks for them with
# ricci_target_defaults, so that the project also works below another one (add_subdirectory, FetchContent).
option(RICCI_CPU "build the LLVM CPU backend (needs LLVM 19)" ON)
option(RICCI_CUDA "build the CUDA backend (needs neither a toolkit nor a GPU)" ON)
option(RICCI_SHARED "build libricci.so.0, for languages that load libraries" ON)
option(RICCI_TESTS "build the tests" ${PROJECT_IS_TOP_LEVEL})
option(RICCI_SAMPLES "build the samples" ${PROJECT_IS_TOP_LEVEL})
option(RICCI_WARNINGS_ARE_ERRORS "stop at a compiler's warning (for our own builds: users have other compilers)" OFF)
set(RICCI_SANITIZE "" CACHE STRING "sanitizers for every target: address,undefined or thread")
set(RICCI_UNOPTIMIZED "" CACHE STRING "libraries that take longer to compile than tests take with them as they are written")

if(PROJECT_IS_TOP_LEVEL AND NOT CMAKE_BUILD_TYPE)
  set(CMAKE_BUILD_TYPE RelWithDebInfo CACHE STRING "" FORCE)
endif()
set(CMAKE_EXPORT_COMPILE_COMMANDS ON)

function(ricci_target_defaults target)
  target_compile_features(${target} PRIVATE cxx_std_20 c_std_11)
  set_target_properties(${target} PROPERTIES
    CXX_EXTENSIONS OFF C_EXTENSIONS OFF POSITION_INDEPENDENT_CODE ON
    CXX_VISIBILITY_PRESET hidden C_VISIBILITY_PRESET hidden VISIBILITY_INLINES_HIDDEN ON)
  target_compile_options(${target} PRIVATE -Wall -Wextra -Wno-missing-field-initializers)
  if(RICCI_WARNINGS_ARE_ERRORS)
    target_compile_options(${target} PRIVATE -Werror)
  endif()
  if(RICCI_SANITIZE)
    target_compile_options(${target} PUBLIC -fsanitize=${RICCI_SANITIZE} -fno-sanitize-recover=all -fno-omit-frame-pointer)
    target_link_options(${target} PUBLIC -fsanitize=${RICCI_SANITIZE})
  endif()
  if(target IN_LIST RICCI_UNOPTIMIZED)
    target_compile_options(${target} PRIVATE -O0)
  endif()
endfunction()

# Standard headers, parsed once for all files in C++ of a backend.
function(ricci_precompile_standard_headers target)
  target_precompile_headers(${target} PRIVATE
                            $<$<COMPILE_LANGUAGE:CXX>:${PROJECT_SOURCE_DIR}/plugins/codegen/standard_headers.h>)
endfunction()

# For tests that take long to compile and little to run: the speed of their own code does not matter. Not for tests that
# run the library for long (laws, kernels, fuzzer, benchmarks): inline functions that both have are taken from the test.
function(ricci_test_defaults target)
  ricci_target_defaults(${target})
  target_compile_options(${target} PRIVATE -O0)
endfunction()
