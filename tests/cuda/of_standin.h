// The functions of the stand-in of tests/cuda/standin that are not of the driver.
//
// Each is `ricci_standin_` and: `report` (all, at the end), `complaints`, `calls` (by name), `failed` (the call that
// did), `number` (of a stream, as reports name it), `pushed` (contexts).
//
// Which GPU and driver it is: `capability`, `version`, `depth` (loops in each other that the driver takes), `pitch` (of
// copies), `newest` (architecture of NVRTC); `seed`: the order of threads, blocks and nodes.
//
// What fails: `fail` (any call, once or for good), `refuse` (texts with a word), `compiler_fails`.
//
// What is checked: `check` (one of so many texts; first all, a quarter of the tests' time), `ptx` (inline PTX is
// evaluated), `count` (accesses), `bound` (basic blocks of a kernel). `nvrtc` and `every` are of real_compiler.h.
//
// What a host does: `host` (accesses of its own), `written` (memory that counts so), `run` (all that is enqueued),
// `reset`, `new_process` (a fork), `begin_capture`, `allocated_in`, `asking_takes_time`. CUPTI's are in
// standin/standin_cupti.h.
#ifndef RICCI_TESTS_CUDA_OF_STANDIN_H_
#define RICCI_TESTS_CUDA_OF_STANDIN_H_
#include <dlfcn.h>

#include <cstring>

namespace ricci::testing {

template <typename F>
F* OfStandin(const char* name) {
  void* const library = dlopen(RICCI_STANDIN, RTLD_NOW | RTLD_LOCAL);
  void* const found = dlsym(library, name);
  F* f = nullptr;
  std::memcpy(&f, &found, sizeof f);
  return f;
}

}  // namespace ricci::testing
#endif
