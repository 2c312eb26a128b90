/* Counters of what the process asks the C library and the kernel for, from the moment they are asked to count.
 *
 * This program defines the C library's allocation, mutex, thread and environment functions itself, so every caller in
 * the process counts, also libraries that it links or loads. System calls are seen by a filter of the kernel
 * (seccomp(2)): those that a test does not allow raise a signal, which counts them, and fail. */
#ifndef TESTS_EMBEDDING_HOST_COUNTS_H_
#define TESTS_EMBEDDING_HOST_COUNTS_H_
#include <stdatomic.h>
#include <stddef.h>

typedef struct host_counts {
  atomic_long allocations; /* malloc and its kin, and through them operator new */
  atomic_long mutexes;     /* locked */
  atomic_long threads;     /* started */
  atomic_long variables;   /* of the environment, asked for */
  atomic_long system_calls, last_system_call;
} host_counts;

extern host_counts counts;

void reset_counts(void);
/* From here on, in every thread of the process and for good: a system call that is none of `allowed` is counted and
 * fails with ENOSYS. exit_group, rt_sigreturn and write are always allowed. Returns 0 if the kernel has no filters. */
int filter_system_calls(const long* allowed, size_t n);

#endif
