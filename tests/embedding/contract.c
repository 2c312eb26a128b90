/* contract CASE: what a host may rely on when it embeds the library, measured by counters (host_counts.h).
 *
 * Each case is a process of its own, because the filter of system calls stays. A case prints what differs and exits
 * with 1; with 77 if the kernel does not allow what it needs. */
#define _GNU_SOURCE
#include <dirent.h>
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <unistd.h>

#include "host_counts.h"
#include "ricci/ricci.h"

enum { kRuns = 100, kSkipped = 77, kMostSlots = 4 };

static void stop(const char* what) {
  printf("%s\n", what);
  exit(1);
}

static void check(ricci_status* s) {
  if (s == NULL) return;
  ricci_str text;
  ricci_status_message(s, &text);
  printf("%.*s\n", (int)text.len, text.ptr);
  exit(1);
}

/* What runs: fused kernels, loops, branches, a large product, a factorisation, sorting, random numbers. */
static const char* const kPrograms[] = {
    "program fused(%x: f32[1000]) { %s: f32[1000] = sin(%x) %y: f32[1000] = mul(%s, %x)"
    " %t: f32[] = reduce_sum(%y) axes=[0] return %t }",
    "program steps(%x: f32[64]) { %y: f32[64] = scan(%x) length=100 num_consts=0 num_carry=1"
    " body=program step(%c: f32[64]) { %d: f32[64] = sin(%c) return %d } return %y }",
    "program halves(%x: f64[]) { %y: f64[] = while(%x) cond_nconsts=0 body_nconsts=0"
    " cond=program more(%c: f64[]) { %o: f64[] = constant 1.0 %b: bool[] = gt(%c, %o) return %b }"
    " body=program half(%c: f64[]) { %h: f64[] = constant 0.5 %d: f64[] = mul(%c, %h) return %d } return %y }",
    "program product(%a: f32[256,256], %b: f32[256,256]) { %c: f32[256,256] = dot_general(%a, %b) lhs_contract=[1]"
    " rhs_contract=[0] return %c }",
    "program factor(%a: f64[32,32]) { %l: f64[32,32] = cholesky(%a) return %l }",
    "program sorted(%x: f32[5000]) { %y: f32[5000] = sort(%x) dimension=0 is_stable=true num_keys=1 return %y }",
};
enum { kCount = sizeof kPrograms / sizeof *kPrograms };

typedef struct {
  ricci_program* f;
  ricci_executable* x;
  ricci_call* call;
  void* slots[kMostSlots];
  uint32_t n_slots;
} Bound;

/* Arguments are identity matrices, falling numbers or a thousand, which suit every program above. */
static void fill(void* p, const ricci_type_desc* t, uint64_t n) {
  for (uint64_t i = 0; i < n; ++i) {
    const double v = t->rank == 2 ? i % (uint64_t)(t->dims[1] + 1) == 0 : t->rank == 1 ? (double)(n - i) : 1000;
    if (t->dtype == RICCI_F32) ((float*)p)[i] = (float)v;
    if (t->dtype == RICCI_F64) ((double*)p)[i] = v;
  }
}

static Bound bind(ricci_ctx* ctx, const char* text) {
  Bound b;
  memset(&b, 0, sizeof b);
  check(ricci_program_parse(ctx, text, strlen(text), "contract", 8, &b.f));
  ricci_compile_opts o = ricci_compile_opts_default();
  ricci_device* const on = ricci_device_find(ctx, "cpu", 3);
  o.devices = &on;
  o.n_devices = 1;
  check(ricci_compile(b.f, &o, &b.x));
  check(ricci_call_create(b.x, &b.call));
  const ricci_type *params, *results;
  uint32_t n_params, n_results;
  ricci_executable_signature(b.x, &n_params, &params, &n_results, &results);
  b.n_slots = n_params + n_results;
  for (uint32_t i = 0; i < b.n_slots; ++i) {
    ricci_type_desc t;
    memset(&t, 0, sizeof t);
    t.hdr.size = sizeof t;
    check(ricci_type_get(ctx, i < n_params ? params[i] : results[i - n_params], &t));
    uint64_t n = 1;
    for (uint32_t d = 0; d < t.rank; ++d) n *= (uint64_t)t.dims[d];
    const uint64_t bytes = n * ricci_dtype_size(t.dtype);
    b.slots[i] = aligned_alloc(64, (bytes + 63) / 64 * 64);
    memset(b.slots[i], 0, bytes);
    if (i < n_params) fill(b.slots[i], &t, n);
    check(ricci_call_bind(b.call, i, b.slots[i], bytes));
  }
  return b;
}

static void release(Bound* b) {
  ricci_call_release(b->call);
  ricci_executable_release(b->x);
  ricci_program_release(b->f);
  for (uint32_t i = 0; i < b->n_slots; ++i) free(b->slots[i]);
}

static ricci_ctx* new_context(const ricci_hooks* hooks, const char* threads) {
  ricci_ctx* ctx;
  ricci_context_opts o = ricci_context_opts_default();
  o.hooks = hooks;
  check(ricci_context_create(&o, &ctx));
  check(ricci_context_add_plugin(ctx, ricci_plugin_query_lax));
  check(ricci_context_add_plugin(ctx, ricci_plugin_query_cpu));
  check(ricci_context_config(ctx, "threads", 7, threads, strlen(threads)));
  return ctx;
}

static void expect_none(const char* what, long n) {
  if (n == 0) return;
  printf("%s: %ld, expected none\n", what, n);
  exit(1);
}

/* ---- a bound call ---- */
static void run_all(Bound* bound, int times) {
  for (int i = 0; i < times; ++i) {
    for (size_t p = 0; p < kCount; ++p) check(ricci_call_run(bound[p].call));
  }
}

/* Whether no thread of the process blocks signals. */
static int signals_are_open(void) {
  DIR* const threads = opendir("/proc/self/task");
  if (threads == NULL) return 1;
  int open = 1;
  for (const struct dirent* t; (t = readdir(threads)) != NULL;) {
    char path[300], line[300];
    snprintf(path, sizeof path, "/proc/self/task/%s/status", t->d_name);
    FILE* const status = t->d_name[0] == '.' ? NULL : fopen(path, "r");
    while (status != NULL && fgets(line, sizeof line, status) != NULL) {
      if (strncmp(line, "SigBlk:", 7) == 0 && strtoull(line + 7, NULL, 16) != 0) open = 0;
    }
    if (status != NULL) fclose(status);
  }
  closedir(threads);
  return open;
}

/* On one thread a bound call allocates nothing, locks nothing, makes no system call; with workers, only what wakes them
 * and waits for them. */
static int bound_calls(const char* threads, const long* allowed, size_t n_allowed, int may_lock) {
  ricci_ctx* ctx = new_context(NULL, threads);
  Bound bound[kCount];
  for (size_t p = 0; p < kCount; ++p) bound[p] = bind(ctx, kPrograms[p]);
  run_all(bound, 10);
  /* A thread that is being started blocks signals, of which the filter's would end the process. */
  for (int i = 0; i < 3000 && !signals_are_open(); ++i) usleep(10000);
  if (!filter_system_calls(allowed, n_allowed)) return kSkipped;
  reset_counts();
  run_all(bound, kRuns);
  const long calls = counts.system_calls, last = counts.last_system_call;
  const long allocations = counts.allocations, mutexes = counts.mutexes;
  if (calls != 0) printf("system call %ld is the last of them\n", last);
  expect_none("system calls", calls);
  expect_none("allocations", allocations);
  if (!may_lock) expect_none("mutexes locked", mutexes);
  _exit(0);
}

static int one_thread(void) { return bound_calls("1", NULL, 0, 0); }

static int workers(void) {
  const long allowed[] = {SYS_futex, SYS_sched_yield};
  return bound_calls("2", allowed, 2, 1);
}

/* The counters count: each is seen when its thing is done. */
static int counters(void) {
  reset_counts();
  free(malloc(10));
  pthread_mutex_t m = PTHREAD_MUTEX_INITIALIZER;
  pthread_mutex_lock(&m);
  pthread_mutex_unlock(&m);
  (void)!getenv("HOME");
  if (counts.allocations < 1 || counts.mutexes < 1 || counts.variables != 1) stop("a counter does not count");
  if (!filter_system_calls(NULL, 0)) return kSkipped;
  if (syscall(SYS_getppid) != -1 || counts.system_calls != 1 || counts.last_system_call != SYS_getppid) {
    stop("system calls are not counted");
  }
  _exit(0);
}

/* ---- hooks ---- */
typedef struct {
  atomic_long live, blocks, tasks, lines, loads, stores;
} Host;

static void* host_alloc(void* self, size_t size, size_t align) {
  Host* h = self;
  ++h->blocks;
  h->live += (long)size;
  return aligned_alloc(align < 64 ? 64 : align, (size + 63) / 64 * 64);
}
static void host_free(void* self, void* p, size_t size, size_t align) {
  (void)align;
  ((Host*)self)->live -= (long)size;
  free(p);
}
static void host_for(void* self, int64_t n, void (*fn)(void*, int64_t), void* arg) {
  for (int64_t i = 0; i < n; ++i) fn(arg, i), ++((Host*)self)->tasks;
}
static void host_log(void* self, uint32_t level, const char* msg, size_t len) {
  (void)level, (void)msg, (void)len;
  ++((Host*)self)->lines;
}
static void host_load(void* self, const void* key, size_t n, void* sink, void (*write)(void*, const char*, size_t)) {
  (void)key, (void)n, (void)sink, (void)write;
  ++((Host*)self)->loads;
}
static void host_store(void* self, const void* key, size_t n, const void* entry, size_t len) {
  (void)key, (void)n, (void)entry, (void)len;
  ++((Host*)self)->stores;
}

static ricci_hooks hooks_of(Host* h) {
  ricci_hooks hooks;
  memset(&hooks, 0, sizeof hooks);
  hooks.hdr.size = sizeof hooks;
  hooks.alloc_self = hooks.exec_self = hooks.log_self = hooks.cache_self = h;
  hooks.alloc = host_alloc;
  hooks.free = host_free;
  hooks.exec_workers = 4;
  hooks.parallel_for = host_for;
  hooks.log = host_log;
  hooks.cache_load = host_load;
  hooks.cache_store = host_store;
  return hooks;
}

/* Standard output and error become a pipe; release_output gives them back and says how many bytes have come. */
static int g_pipe[2], g_real[2];
static void capture_output(void) {
  fflush(NULL);
  if (pipe(g_pipe) != 0) exit(kSkipped);
  for (int i = 0; i < 2; ++i) g_real[i] = dup(i + 1), dup2(g_pipe[1], i + 1);
}
static long release_output(void) {
  fflush(NULL);
  for (int i = 0; i < 2; ++i) dup2(g_real[i], i + 1);
  close(g_pipe[1]);
  char bytes[4096];
  long n = 0;
  for (ssize_t r; (r = read(g_pipe[0], bytes, sizeof bytes)) > 0;) n += r;
  return n;
}

/* With hooks: memory of arrays from the host's allocator and back to it, no thread of ours, messages only in its log,
 * compiled code only in its cache; never a variable of the environment or a byte of output. */
static int hooks(void) {
  Host host;
  memset(&host, 0, sizeof host);
  const ricci_hooks h = hooks_of(&host);
  capture_output();
  reset_counts();
  ricci_ctx* ctx = new_context(&h, "4");
  check(ricci_context_config(ctx, "log_compiles", 12, "1", 1));
  Bound bound[kCount];
  for (size_t p = 0; p < kCount; ++p) bound[p] = bind(ctx, kPrograms[p]);
  run_all(bound, 2);
  ricci_program* bad = NULL;
  ricci_status* s = ricci_program_parse(ctx, "program (", 9, "bad", 3, &bad);
  const int refused = s != NULL;
  ricci_status_free(s);
  for (size_t p = 0; p < kCount; ++p) release(&bound[p]);
  ricci_context_release(ctx);
  const long threads = counts.threads, variables = counts.variables;
  expect_none("bytes of output", release_output());
  expect_none("threads started", threads);
  expect_none("variables of the environment asked for", variables);
  expect_none("bytes of the host's memory not given back", host.live);
  if (!refused) stop("a wrong program was taken");
  if (host.blocks == 0) stop("the host's allocator was not asked");
  if (host.tasks == 0) stop("the host's executor ran nothing");
  if (host.lines < (long)kCount) stop("the host's log lacks compilations");
  if (host.loads == 0 || host.stores == 0) stop("the host's cache was not asked");
  return 0;
}

/* ---- fork ---- */
/* The child of a process whose pool has threads, which fork does not copy, runs, compiles and releases. */
static int child_of_fork(void) {
  ricci_ctx* ctx = new_context(NULL, "2");
  Bound bound[kCount];
  for (size_t p = 0; p < kCount; ++p) bound[p] = bind(ctx, kPrograms[p]);
  run_all(bound, 10);
  usleep(10000); /* the pool's threads sleep */
  fflush(NULL);
  const pid_t child = fork();
  if (child == 0) {
    alarm(20);
    run_all(bound, 10);
    Bound more = bind(ctx, "program more(%x: f32[100000]) { %y: f32[100000] = cos(%x) return %y }");
    check(ricci_call_run(more.call));
    release(&more);
    for (size_t p = 0; p < kCount; ++p) release(&bound[p]);
    ricci_context_release(ctx);
    _exit(0);
  }
  int status = 0;
  waitpid(child, &status, 0);
  if (WIFSIGNALED(status)) printf("the child ended by signal %d\n", WTERMSIG(status));
  run_all(bound, 10); /* the parent goes on */
  for (size_t p = 0; p < kCount; ++p) release(&bound[p]);
  ricci_context_release(ctx);
  return WIFEXITED(status) ? WEXITSTATUS(status) : 1;
}

/* ---- contexts ---- */
/* Contexts share nothing: a program of one is refused by another, threads and limits are each one's own. */
static int contexts(void) {
  ricci_ctx *a = new_context(NULL, "1"), *b = new_context(NULL, "2");
  Bound of_a = bind(a, kPrograms[0]), of_b = bind(b, kPrograms[0]);
  check(ricci_call_run(of_a.call));
  check(ricci_call_run(of_b.call));
  ricci_device* const other = ricci_device_find(b, "cpu", 3);
  check(ricci_device_set_memory_limit(other, 1));
  Bound more = bind(a, kPrograms[1]);
  check(ricci_call_run(more.call));
  release(&more);
  ricci_compile_opts o = ricci_compile_opts_default();
  o.devices = &other;
  o.n_devices = 1;
  ricci_executable* mixed = NULL;
  ricci_status* s = ricci_compile(of_a.f, &o, &mixed);
  if (s == NULL) stop("a program of one context was compiled for a device of another");
  ricci_status_free(s);
  release(&of_a);
  ricci_context_release(a);
  check(ricci_call_run(of_b.call));
  release(&of_b);
  ricci_context_release(b);
  return 0;
}

/* ---- threads ---- */
enum { kThreads = 16 };

static void* compile_and_run(void* arg) {
  ricci_ctx* ctx = arg;
  for (int i = 0; i < 5; ++i) {
    for (size_t p = 0; p < kCount; ++p) {
      Bound b = bind(ctx, kPrograms[p]);
      check(ricci_call_run(b.call));
      release(&b);
    }
  }
  return NULL;
}

/* Sixteen threads of the host in one context, whose pool has two: each binds and runs all programs. */
static int sixteen_threads(void) {
  ricci_ctx* ctx = new_context(NULL, "2");
  pthread_t threads[kThreads];
  for (int i = 0; i < kThreads; ++i) pthread_create(&threads[i], NULL, compile_and_run, ctx);
  for (int i = 0; i < kThreads; ++i) pthread_join(threads[i], NULL);
  ricci_context_release(ctx);
  return 0;
}

int main(int argc, char** argv) {
  static const struct {
    const char* name;
    int (*run)(void);
  } kCases[] = {{"counters", counters},  {"one_thread", one_thread}, {"workers", workers},        {"hooks", hooks},
                {"fork", child_of_fork}, {"contexts", contexts},     {"threads", sixteen_threads}};
  for (size_t i = 0; argc == 2 && i < sizeof kCases / sizeof *kCases; ++i) {
    if (strcmp(argv[1], kCases[i].name) == 0) return kCases[i].run();
  }
  printf("usage: ricci_contract counters|one_thread|workers|hooks|fork|contexts|threads\n");
  return 2;
}
