/* The counters: functions of the C library in our own version, and the filter of system calls. */
#define _GNU_SOURCE
#include "host_counts.h"

#include <dlfcn.h>
#include <errno.h>
#include <linux/audit.h>
#include <linux/filter.h>
#include <linux/seccomp.h>
#include <pthread.h>
#include <signal.h>
#include <stddef.h>
#include <stdlib.h>
#include <string.h>
#include <sys/prctl.h>
#include <sys/syscall.h>
#include <ucontext.h>
#include <unistd.h>

host_counts counts;

void reset_counts(void) {
  counts.allocations = counts.mutexes = counts.threads = counts.variables = 0;
  counts.system_calls = counts.last_system_call = 0;
}

/* ---- memory ---- */
void* __libc_malloc(size_t n);
void* __libc_calloc(size_t n, size_t size);
void* __libc_realloc(void* p, size_t n);
void* __libc_memalign(size_t align, size_t n);
void __libc_free(void* p);

void* malloc(size_t n) {
  ++counts.allocations;
  return __libc_malloc(n);
}
void* calloc(size_t n, size_t size) {
  ++counts.allocations;
  return __libc_calloc(n, size);
}
void* realloc(void* p, size_t n) {
  ++counts.allocations;
  return __libc_realloc(p, n);
}
void* memalign(size_t align, size_t n) {
  ++counts.allocations;
  return __libc_memalign(align, n);
}
void* aligned_alloc(size_t align, size_t n) { return memalign(align, n); }
int posix_memalign(void** out, size_t align, size_t n) { return (*out = memalign(align, n)) == NULL ? ENOMEM : 0; }
void free(void* p) { __libc_free(p); }

/* ---- threads and the environment ---- */
#define REAL(name) ((__typeof__(&name))real(&real_##name, #name))

static void* real(void** found, const char* name) {
  if (*found == NULL) *found = dlsym(RTLD_NEXT, name);
  return *found;
}
static void *real_pthread_mutex_lock, *real_pthread_create, *real_getenv, *real_secure_getenv;

int pthread_mutex_lock(pthread_mutex_t* m) {
  ++counts.mutexes;
  return REAL(pthread_mutex_lock)(m);
}
int pthread_create(pthread_t* t, const pthread_attr_t* a, void* (*run)(void*), void* arg) {
  ++counts.threads;
  return REAL(pthread_create)(t, a, run, arg);
}
char* getenv(const char* name) {
  ++counts.variables;
  return REAL(getenv)(name);
}
char* secure_getenv(const char* name) {
  ++counts.variables;
  return REAL(secure_getenv)(name);
}

/* ---- system calls ---- */
static void on_system_call(int number, siginfo_t* info, void* context) {
  (void)number;
  ++counts.system_calls;
  counts.last_system_call = info->si_syscall;
  ((ucontext_t*)context)->uc_mcontext.gregs[REG_RAX] = -ENOSYS;
}

enum { kMostAllowed = 16 };

int filter_system_calls(const long* allowed, size_t n) {
  struct sigaction action;
  memset(&action, 0, sizeof action);
  action.sa_sigaction = on_system_call;
  action.sa_flags = SA_SIGINFO;
  if (n > kMostAllowed || sigaction(SIGSYS, &action, NULL) != 0) return 0;
  long known[kMostAllowed + 3] = {SYS_exit_group, SYS_rt_sigreturn, SYS_write};
  memcpy(known + 3, allowed, n * sizeof *allowed);
  struct sock_filter code[2 * (kMostAllowed + 3) + 2];
  unsigned short at = 0;
  code[at++] = (struct sock_filter)BPF_STMT(BPF_LD | BPF_W | BPF_ABS, offsetof(struct seccomp_data, nr));
  for (size_t i = 0; i < n + 3; ++i) {
    code[at++] = (struct sock_filter)BPF_JUMP(BPF_JMP | BPF_JEQ | BPF_K, (unsigned)known[i], 0, 1);
    code[at++] = (struct sock_filter)BPF_STMT(BPF_RET | BPF_K, SECCOMP_RET_ALLOW);
  }
  code[at++] = (struct sock_filter)BPF_STMT(BPF_RET | BPF_K, SECCOMP_RET_TRAP);
  const struct sock_fprog program = {at, code};
  return prctl(PR_SET_NO_NEW_PRIVS, 1, 0, 0, 0) == 0 &&
         syscall(SYS_seccomp, SECCOMP_SET_MODE_FILTER, SECCOMP_FILTER_FLAG_TSYNC, &program) == 0;
}
