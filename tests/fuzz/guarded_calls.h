/* Functions of objects as the host of the fuzzer calls them, which never sees their headers. */
#ifndef RICCI_TESTS_FUZZ_GUARDED_CALLS_H_
#define RICCI_TESTS_FUZZ_GUARDED_CALLS_H_
#include <stddef.h>

struct ricci_fuzz_function {
  int (*call)(void** arrays, void* workspace); /* inputs, then outputs */
  size_t workspace_bytes;
};

extern const struct ricci_fuzz_function ricci_fuzz_functions[];
#endif
