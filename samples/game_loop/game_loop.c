/* game_loop [FRAMES [BODIES]] [--device cpu|cuda] [--config KEY=VALUE]...: a host with a fixed step and a budget for
 * each frame, as games and robots have.
 *
 * Two simulation threads step a world each: BODIES bodies that a small controller steers to their targets, one program
 * mapped over the bodies, four substeps a frame. Memory comes from the host's allocator and tasks run on the host's
 * threads. Everything is made before the first frame: then a frame is one bound call. After it come the figures: time
 * of a frame, frames past the budget, page faults (none where there is memory to spare), and what must be none:
 * allocations. On the CPU the time is that of the thread; on a GPU, where the state of the worlds stays, the host waits
 * for the end of each frame, and the clock on the wall counts.
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

#include "../add_device.h"
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
  ricci_call* call[2];                      /* from state 0 to 1, and back */
  ricci_array *p[2], *v[2], *target, *gain; /* memory of the device */
  int64_t bodies;
  clockid_t clock;
  int frames;
  uint64_t* ns; /* of each frame */
  long faults;
} World;

static uint64_t ns_of(clockid_t clock) {
  struct timespec t;
  clock_gettime(clock, &t);
  return (uint64_t)t.tv_sec * 1000000000u + (uint64_t)t.tv_nsec;
}

static long thread_faults(void) {
  struct rusage use;
  getrusage(RUSAGE_THREAD, &use);
  return use.ru_minflt + use.ru_majflt;
}

/* Where each body should be; all begin at rest in the middle. */
static void make_states(World* w, ricci_device* device, const ricci_type* types, float turn) {
  const float gain[8] = {2, 0, -3, 0, 0, 2, 0, -3};
  float* const numbers = calloc(2 * (size_t)w->bodies, sizeof *numbers);
  for (int s = 0; s < 2; ++s) {
    check(ricci_array_from_host(device, types[0], numbers, NULL, &w->p[s]));
    check(ricci_array_from_host(device, types[1], numbers, NULL, &w->v[s]));
  }
  for (int64_t i = 0; i < w->bodies; ++i) {
    numbers[2 * i] = cosf((float)i + turn), numbers[2 * i + 1] = sinf((float)i + turn);
  }
  check(ricci_array_from_host(device, types[2], numbers, NULL, &w->target));
  check(ricci_array_from_host(device, types[3], gain, NULL, &w->gain));
  free(numbers);
}

static void make_world(World* w, const ricci_executable* x, ricci_device* device, int64_t bodies, int frames,
                       float turn) {
  const ricci_type* types;
  ricci_executable_signature(x, NULL, &types, NULL, NULL);
  ricci_device_desc d = {{sizeof d, 0, NULL}};
  ricci_device_info(device, &d);
  memset(w, 0, sizeof *w);
  w->bodies = bodies, w->frames = frames;
  w->clock = d.host_memory ? CLOCK_THREAD_CPUTIME_ID : CLOCK_MONOTONIC;
  w->ns = calloc((size_t)frames, sizeof *w->ns);
  make_states(w, device, types, turn);
  for (int s = 0; s < 2; ++s) {
    const ricci_array* const slots[] = {w->p[s], w->v[s], w->target, w->gain, w->p[1 - s], w->v[1 - s]};
    check(ricci_call_create(x, &w->call[s]));
    for (uint32_t i = 0; i < 6; ++i) {
      check(ricci_call_bind(w->call[s], i, ricci_array_device_data(slots[i]), ricci_array_bytes(slots[i])));
    }
  }
}

static void drop_world(World* w) {
  for (int s = 0; s < 2; ++s) {
    ricci_call_release(w->call[s]), ricci_array_release(w->p[s]), ricci_array_release(w->v[s]);
  }
  ricci_array_release(w->target), ricci_array_release(w->gain), free(w->ns);
}

static void run_frame(World* w, int frame) { check(ricci_call_run(w->call[frame % 2])); }

static void* simulate(void* arg) {
  World* w = arg;
  for (int i = 0; i < kWarmUp; ++i) run_frame(w, i);
  memset(w->ns, 0, (size_t)w->frames * sizeof *w->ns); /* so that its pages are there */
  const long faults = thread_faults();
  for (int i = 0; i < w->frames; ++i) {
    const uint64_t begin = ns_of(w->clock);
    run_frame(w, i);
    w->ns[i] = ns_of(w->clock) - begin;
  }
  w->faults = thread_faults() - faults;
  return NULL;
}

/* How far the bodies are from their targets, on average. */
static double error_of(const World* w) {
  const size_t bytes = 2 * (size_t)w->bodies * sizeof(float);
  float *const p = malloc(bytes), *const target = malloc(bytes);
  check(ricci_array_copy_to_host(w->p[0], p, bytes));
  check(ricci_array_copy_to_host(w->target, target, bytes));
  double sum = 0;
  for (int64_t i = 0; i < w->bodies; ++i) {
    sum += hypot((double)(p[2 * i] - target[2 * i]), (double)(p[2 * i + 1] - target[2 * i + 1]));
  }
  free(p), free(target);
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

static ricci_executable* compile(ricci_ctx* ctx, ricci_device* device, int64_t bodies) {
  const int32_t in_axes[] = {0, 0, 0, -1}, out_axes[] = {0, 0};
  ricci_program *body, *all;
  check(ricci_program_parse(ctx, kBody, sizeof kBody - 1, "body", 4, &body));
  check(ricci_vmap(body, in_axes, 4, out_axes, 2, bodies, NULL, &all));
  ricci_compile_opts o = {{sizeof o, 0, NULL}};
  o.devices = &device;
  o.n_devices = 1;
  ricci_executable* x;
  check(ricci_compile(all, &o, &x));
  ricci_program_release(body);
  ricci_program_release(all);
  return x;
}

int main(int argc, char** argv) {
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
  check(add_device(ctx, &argc, argv));
  const int frames = argc > 1 ? atoi(argv[1]) : 10000;
  const int64_t bodies = argc > 2 ? atoi(argv[2]) : 4096;
  if (frames < 2 || frames % 2 != 0 || bodies < 1 || argc > 3) {
    fprintf(stderr,
            "usage: game_loop [FRAMES [BODIES]] [--device cpu|cuda] [--config KEY=VALUE]..., an even number of frames "
            "and at least one body\n");
    return 2;
  }
  ricci_device* const device = ricci_device_get(ctx, 0);
  ricci_executable* x = compile(ctx, device, bodies);

  World worlds[kWorlds];
  pthread_t threads[kWorlds];
  for (int i = 0; i < kWorlds; ++i) make_world(&worlds[i], x, device, bodies, frames, (float)i);
  const long before = g_allocations;
  for (int i = 0; i < kWorlds; ++i) pthread_create(&threads[i], NULL, simulate, &worlds[i]);
  for (int i = 0; i < kWorlds; ++i) pthread_join(threads[i], NULL);
  const long allocations = g_allocations - before;
  for (int i = 0; i < kWorlds; ++i) {
    print_world(&worlds[i], i);
    drop_world(&worlds[i]);
  }
  printf("allocations after the first frame: %ld\n", allocations);
  ricci_executable_release(x);
  ricci_context_release(ctx);
  stop_jobs(&jobs);
  return allocations != 0;
}
