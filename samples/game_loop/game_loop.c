/* game_loop [FRAMES [BODIES]]: a host with a fixed step and a budget for each frame, as games and robots have.
 *
 * Two simulation threads step a world each: BODIES bodies that a small controller steers to their targets, one program
 * mapped over the bodies, four substeps a frame. Memory comes from the host's allocator and tasks run on the host's
 * threads. Everything is made before the first frame: then a frame is one bound call. After it come the figures: CPU
 * time of a frame on its thread, frames past the budget, page faults (none where there is memory to spare), and what
 * must be none: allocations.
 */
#define _GNU_SOURCE
#include <math.h>
#include <pthread.h>
#include <stdatomic.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/resource.h>
#include <time.h>

#include "job_threads.h"
#include "ricci/ricci.h"

enum { kWorlds = 2, kWarmUp = 200, kBudgetNs = 2000000 };

/* One body for one frame: where it is, how fast, where to; the controller's weights are shared by all. */
static const char kBody[] =
    "program body(%p: f32[2], %v: f32[2], %target: f32[2], %gain: f32[2,4]) {\n"
    "  %q: f32[2], %w: f32[2] = scan(%target, %gain, %p, %v) length=4 num_consts=2 num_carry=2\n"
    "      body=program substep(%to: f32[2], %k: f32[2,4], %x: f32[2], %u: f32[2]) {\n"
    "    %error: f32[2] = sub(%to, %x)\n"
    "    %seen: f32[4] = concatenate(%error, %u) dimension=0\n"
    "    %wish: f32[2] = dot_general(%k, %seen) lhs_contract=[1] rhs_contract=[0]\n"
    "    %force: f32[2] = tanh(%wish)\n"
    "    %h: f32[] = constant 0.02\n"
    "    %step: f32[2] = broadcast_in_dim(%h) shape=[2] broadcast_dimensions=[]\n"
    "    %dv: f32[2] = mul(%force, %step)\n"
    "    %faster: f32[2] = add(%u, %dv)\n"
    "    %dx: f32[2] = mul(%faster, %step)\n"
    "    %moved: f32[2] = add(%x, %dx)\n"
    "    return %moved, %faster\n"
    "  }\n"
    "  return %q, %w\n"
    "}";

/* ---- the host ---- */
static atomic_long g_allocations;

static void check(ricci_status* status) {
  if (status == NULL) return;
  ricci_str message;
  ricci_status_message(status, &message);
  fprintf(stderr, "%.*s\n", (int)message.len, message.ptr);
  ricci_status_free(status);
  exit(1);
}

static void* allocate(void* self, size_t size, size_t align) {
  (void)self;
  ++g_allocations;
  const size_t lines = align < 64 ? 64 : align;
  return aligned_alloc(lines, (size + lines - 1) / lines * lines);
}
static void deallocate(void* self, void* p, size_t size, size_t align) {
  (void)self, (void)size, (void)align;
  free(p);
}

/* ---- a world ---- */
typedef struct {
  ricci_call* call[2]; /* from state 0 to 1, and back */
  float *p[2], *v[2], *target, gain[8];
  int64_t bodies;
  int frames;
  uint64_t* ns; /* of each frame */
  long faults;
} World;

static uint64_t thread_ns(void) {
  struct timespec t;
  clock_gettime(CLOCK_THREAD_CPUTIME_ID, &t);
  return (uint64_t)t.tv_sec * 1000000000u + (uint64_t)t.tv_nsec;
}

static long thread_faults(void) {
  struct rusage use;
  getrusage(RUSAGE_THREAD, &use);
  return use.ru_minflt + use.ru_majflt;
}

static float* floats(int64_t n) {
  float* const p = aligned_alloc(64, ((size_t)n * sizeof(float) + 63) / 64 * 64);
  memset(p, 0, (size_t)n * sizeof(float));
  return p;
}

static void make_world(World* w, const ricci_executable* x, int64_t bodies, int frames, float turn) {
  const float gain[8] = {2, 0, -3, 0, 0, 2, 0, -3};
  memset(w, 0, sizeof *w);
  memcpy(w->gain, gain, sizeof gain);
  w->bodies = bodies, w->frames = frames;
  w->ns = calloc((size_t)frames, sizeof *w->ns);
  for (int s = 0; s < 2; ++s) w->p[s] = floats(2 * bodies), w->v[s] = floats(2 * bodies);
  w->target = floats(2 * bodies);
  for (int64_t i = 0; i < bodies; ++i) {
    w->target[2 * i] = cosf((float)i + turn), w->target[2 * i + 1] = sinf((float)i + turn);
  }
  const uint64_t bytes = 2 * (uint64_t)bodies * sizeof(float);
  for (int s = 0; s < 2; ++s) {
    void* const slots[] = {w->p[s], w->v[s], w->target, w->gain, w->p[1 - s], w->v[1 - s]};
    check(ricci_call_create(x, &w->call[s]));
    for (uint32_t i = 0; i < 6; ++i) check(ricci_call_bind(w->call[s], i, slots[i], i == 3 ? sizeof w->gain : bytes));
  }
}

static void run_frame(World* w, int frame) { check(ricci_call_run(w->call[frame % 2])); }

static void* simulate(void* arg) {
  World* w = arg;
  for (int i = 0; i < kWarmUp; ++i) run_frame(w, i);
  memset(w->ns, 0, (size_t)w->frames * sizeof *w->ns); /* so that its pages are there */
  const long faults = thread_faults();
  for (int i = 0; i < w->frames; ++i) {
    const uint64_t begin = thread_ns();
    run_frame(w, i);
    w->ns[i] = thread_ns() - begin;
  }
  w->faults = thread_faults() - faults;
  return NULL;
}

/* How far the bodies are from their targets, on average. */
static double error_of(const World* w) {
  double sum = 0;
  for (int64_t i = 0; i < w->bodies; ++i) {
    sum += hypot((double)(w->p[0][2 * i] - w->target[2 * i]), (double)(w->p[0][2 * i + 1] - w->target[2 * i + 1]));
  }
  return sum / (double)w->bodies;
}

/* ---- figures ---- */
static int by_size(const void* a, const void* b) {
  const uint64_t x = *(const uint64_t*)a, y = *(const uint64_t*)b;
  return x < y ? -1 : x > y;
}

static void print_world(World* w, int number) {
  int late = 0;
  for (int i = 0; i < w->frames; ++i) late += w->ns[i] > kBudgetNs;
  qsort(w->ns, (size_t)w->frames, sizeof *w->ns, by_size);
  const double median = (double)w->ns[w->frames / 2] / 1e3;
  const double rare = (double)w->ns[w->frames - 1 - w->frames / 1000] / 1e3;
  printf("world %d: %d frames, median %.1f us, 99.9 %% below %.1f us (%.1f times), longest %.1f us, %d past %d us\n",
         number, w->frames, median, rare, rare / median, (double)w->ns[w->frames - 1] / 1e3, late, kBudgetNs / 1000);
  printf("world %d: mean distance to the targets %.4f, page faults %ld\n", number, error_of(w), w->faults);
}

static ricci_executable* compile(ricci_ctx* ctx, int64_t bodies) {
  const int32_t in_axes[] = {0, 0, 0, -1}, out_axes[] = {0, 0};
  ricci_program *body, *all;
  check(ricci_program_parse(ctx, kBody, sizeof kBody - 1, "body", 4, &body));
  check(ricci_vmap(body, in_axes, 4, out_axes, 2, bodies, NULL, &all));
  ricci_compile_opts o = {{sizeof o, 0, NULL}};
  ricci_device* const cpu = ricci_device_find(ctx, "cpu", 3);
  o.devices = &cpu;
  o.n_devices = 1;
  ricci_executable* x;
  check(ricci_compile(all, &o, &x));
  ricci_program_release(body);
  ricci_program_release(all);
  return x;
}

int main(int argc, char** argv) {
  const int frames = argc > 1 ? atoi(argv[1]) : 10000;
  const int64_t bodies = argc > 2 ? atoi(argv[2]) : 4096;
  if (frames < 2 || frames % 2 != 0 || bodies < 1 || argc > 3) {
    fprintf(stderr, "usage: game_loop [FRAMES [BODIES]], an even number of frames and at least one body\n");
    return 2;
  }
  static job_threads jobs;
  ricci_hooks hooks = {{sizeof hooks, 0, NULL}};
  hooks.alloc = allocate;
  hooks.free = deallocate;
  hooks.exec_self = &jobs;
  hooks.exec_workers = 1 + (uint32_t)start_jobs(&jobs, 1);
  hooks.parallel_for = run_jobs;
  ricci_context_opts o = ricci_context_opts_default();
  o.hooks = &hooks;
  ricci_ctx* ctx;
  check(ricci_context_create(&o, &ctx));
  check(ricci_context_add_plugin(ctx, ricci_plugin_query_lax));
  check(ricci_context_add_plugin(ctx, ricci_plugin_query_cpu));
  ricci_executable* x = compile(ctx, bodies);

  World worlds[kWorlds];
  pthread_t threads[kWorlds];
  for (int i = 0; i < kWorlds; ++i) make_world(&worlds[i], x, bodies, frames, (float)i);
  const long before = g_allocations;
  for (int i = 0; i < kWorlds; ++i) pthread_create(&threads[i], NULL, simulate, &worlds[i]);
  for (int i = 0; i < kWorlds; ++i) pthread_join(threads[i], NULL);
  const long allocations = g_allocations - before;
  for (int i = 0; i < kWorlds; ++i) {
    print_world(&worlds[i], i);
    for (int s = 0; s < 2; ++s) ricci_call_release(worlds[i].call[s]), free(worlds[i].p[s]), free(worlds[i].v[s]);
    free(worlds[i].target), free(worlds[i].ns);
  }
  printf("allocations after the first frame: %ld\n", allocations);
  ricci_executable_release(x);
  ricci_context_release(ctx);
  stop_jobs(&jobs);
  return allocations != 0;
}
