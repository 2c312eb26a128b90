// Schedules for stated targets, as a table that does not depend on this machine. A change of a number in
// src/pass/target/target.cc, of an estimate or of a pass shows here.
#include "backend_with.h"
#include "codegen/schedule.h"
#include "cpu/kernel/kernel_codegen.h"
#include "scheduled_programs.h"
#include "support/program_runner.h"

namespace ricci::testing { namespace {

// A stand-in for hardware: plans for a target like a GPU, and for other processors than this one, are made and
// estimated here, but not run.
ricci_target LikeAvx2() { return cpu::TargetOf(8, true); }
ricci_target LikeAvx512() { return cpu::TargetOf(16, true); }
// 132 cores of 128 lanes, all of which take six turns in what counts as a cycle; 3 TB/s, 3 us for a launch.
ricci_target LikeGpu() {
  ricci_target t = cpu::TargetOf(32, true);
  t.registers = 255;
  t.points_wanted = 100000;
  t.near_bytes = 32 << 10;
  t.cache_bytes = 128 << 10;
  t.cached_bytes_per_cycle = 100000;
  t.memory_bytes_per_cycle = 11000;
  t.launch_cycles = 800;
  t.call_cycles = 2000;
  return t;
}

template <ricci_target (*kTarget)()>
ricci_status* Plan(void*, const ricci_kernel_table* const* kernels, uint32_t n_kernels, const ricci_plan* plan,
                   ricci_estimate* out) {
  codegen::EstimatePlan(kernels, n_kernels, *plan, kTarget(), *out);
  return nullptr;
}

template <ricci_target (*kTarget)()>
ricci_status* AttachPlanner(ricci_ctx* ctx) {
  const ricci_target target = kTarget();
  ricci_backend b{};
  b.hdr.size = sizeof b;
  b.kind = codegen::RunsMany(target) ? ricci_str{"wide", 4} : ricci_str{"cpu", 3};
  b.name = {"planner", 7};
  b.workers = 1;
  b.target = &target;
  b.estimate = Plan<kTarget>;
  b.compile = [](void*, const ricci_compile_args*, void**, ricci_code_info*) -> ricci_status* { return nullptr; };
  b.run = [](void*, const ricci_run_args*) { return ricci_status_make(RICCI_UNIMPLEMENTED, "it only plans", 13); };
  b.drop_code = [](void*) {};
  return ricci_backend_register(ctx, &b);
}
template <ricci_target (*kTarget)()>
constexpr auto QueryPlanner = QueryPluginThat<AttachPlanner<kTarget>>;

// The title and choice of each decision and the schedule of each kernel, without the numbers of the estimates.
std::string Essence(const std::string& decisions) {
  std::string text;
  for (size_t at = 0; at < decisions.size();) {
    const size_t end = decisions.find('\n', at);
    std::string line = decisions.substr(at, end - at);
    at = end + 1;
    if (line.starts_with("  ") || line.starts_with("in all")) continue;
    text += "  " + line.substr(0, line.find(", about ")) + "\n";
  }
  return text;
}

std::string Schedules(ricci_status* (*query)(const ricci_host_info*, const ricci_plugin**), const char* kind) {
  const struct {
    const char *name, *text;
  } programs[] = {{"recurrent", kRecurrent}, {"small matrices", kSmallMatrices},
                  {"halving", kHalving},     {"wide rows", kWideRows},
                  {"softmax", kSoftmax},     {"before a broadcast", kBeforeBroadcast},
                  {"stencil", kStencil},     {"sum", kSum},
                  {"updates", kUpdates}};
  ProgramRunner r;
  Ok(ricci_context_add_plugin(r.ctx(), query));
  std::string text = "\n";
  for (const auto& p : programs) {
    text += std::string(p.name) + "\n" + Essence(r.Dump(r.Parse(p.text), "decisions", kind));
  }
  return text;
}

TEST(Targets, Avx2) {
  EXPECT_EQ(Schedules(QueryPlanner<LikeAvx2>, "cpu"), R"(
recurrent
  vmap of 256 (f32[32,32], f32[256,32]) at test:1: batched
  kernel counter_start: 8 lanes over inner loops
  kernel counter_less: 8 lanes over inner loops
  kernel fusion_transpose_tanh: 8 lanes over the domain, squares of 1 transposed
  kernel counter_next: 8 lanes over inner loops
small matrices
  vmap of 256 (f32[256,4,4], f32[256,4,4]) at test:1: lanes
  kernel vmap: 16 lanes over the domain, tasks of 64 of 256 rows
halving
  vmap of 256 (f32[256]) at test:1: batched
  while at test:1: plan
  kernel fusion_gt_reduce_or: 8 lanes over inner loops
  kernel fusion_mul_sin_select_n: 8 lanes over the domain
wide rows
  vmap of 16 (f32[16,4096]) at test:1: batched
  exp at test:1: computed once: 2 loops read it, and it takes 16 operations (up to 8 would be computed again)
  kernel fusion_exp_reduce_sum_div: 8 lanes over inner loops, tasks of 1 of 16 rows
softmax
  exp at test:1: computed once: 2 loops read it, and it takes 16 operations (up to 8 would be computed again)
  kernel fusion_reduce_max_exp_reduce_sum: 8 lanes over inner loops, tasks of 1 of 64 rows
before a broadcast
  log at test:1: computed once: its reader reads each element many times
  kernel fusion_tanh_log_mul: 8 lanes over the domain
stencil
  scan at test:1: plan
  kernel counter_start: 8 lanes over inner loops
  kernel counter_less: 8 lanes over inner loops
  kernel fusion_rev_add: 8 lanes over the domain
  kernel counter_next: 8 lanes over inner loops
sum
  kernel reduce_sum: 8 lanes over inner loops, 64 chunks of %3
updates
  kernel scatter-add: 8 lanes over inner loops, 16 chunks with copies of 100 elements
  kernel scatter-mul: 8 lanes over inner loops, tasks of 16 of 64 trips
  kernel scatter-max: 8 lanes over inner loops, tasks of 7 of 64 rows
)");
}
TEST(Targets, Avx512) {
  EXPECT_EQ(Schedules(QueryPlanner<LikeAvx512>, "cpu"), R"(
recurrent
  vmap of 256 (f32[32,32], f32[256,32]) at test:1: batched
  kernel counter_start: 16 lanes over inner loops
  kernel counter_less: 16 lanes over inner loops
  kernel fusion_transpose_tanh: 16 lanes over the domain, squares of 1 transposed
  kernel counter_next: 16 lanes over inner loops
small matrices
  vmap of 256 (f32[256,4,4], f32[256,4,4]) at test:1: lanes
  kernel vmap: 32 lanes over the domain, tasks of 128 of 256 rows
halving
  vmap of 256 (f32[256]) at test:1: batched
  while at test:1: plan
  kernel fusion_gt_reduce_or: 16 lanes over inner loops
  kernel fusion_mul_sin_select_n: 16 lanes over the domain
wide rows
  vmap of 16 (f32[16,4096]) at test:1: batched
  exp at test:1: computed once: 2 loops read it, and it takes 16 operations (up to 12 would be computed again)
  kernel fusion_exp_reduce_sum_div: 16 lanes over inner loops, tasks of 3 of 16 rows
softmax
  exp at test:1: computed once: 2 loops read it, and it takes 16 operations (up to 12 would be computed again)
  kernel fusion_reduce_max_exp_reduce_sum: 16 lanes over inner loops, tasks of 3 of 64 rows
before a broadcast
  log at test:1: computed once: its reader reads each element many times
  kernel fusion_tanh_log_mul: 8 lanes over the domain
stencil
  scan at test:1: plan
  kernel counter_start: 16 lanes over inner loops
  kernel counter_less: 16 lanes over inner loops
  kernel fusion_rev_add: 16 lanes over the domain
  kernel counter_next: 16 lanes over inner loops
sum
  kernel reduce_sum: 16 lanes over inner loops, 64 chunks of %3
updates
  kernel scatter-add: 16 lanes over inner loops, 16 chunks with copies of 100 elements
  kernel scatter-mul: 16 lanes over inner loops, tasks of 16 of 64 trips
  kernel scatter-max: 16 lanes over inner loops, tasks of 7 of 64 rows
)");
}
TEST(Targets, AGpu) {
  EXPECT_EQ(Schedules(QueryPlanner<LikeGpu>, "wide"), R"(
recurrent
  vmap of 256 (f32[32,32], f32[256,32]) at test:1: lanes
  kernel vmap: 32 lanes over inner loops
small matrices
  vmap of 256 (f32[256,4,4], f32[256,4,4]) at test:1: lanes
  kernel vmap: 32 lanes over the domain
halving
  vmap of 256 (f32[256]) at test:1: lanes
  kernel vmap: 32 lanes over the domain
wide rows
  vmap of 16 (f32[16,4096]) at test:1: batched
  exp at test:1: computed once: it is read at 2 places, and it takes 16 operations (up to 36 would be computed again)
  kernel fusion_exp_reduce_sum_div: 32 lanes over inner loops
softmax
  exp at test:1: computed once: it is read at 2 places, and it takes 16 operations (up to 36 would be computed again)
  kernel reduce_max: 32 lanes over inner loops
  kernel fusion_broadcast_in_dim_sub_exp: 32 lanes over the domain
  kernel reduce_sum: 32 lanes over inner loops
  kernel fusion_broadcast_in_dim_div: 32 lanes over the domain
before a broadcast
  log at test:1: computed once: its reader reads each element many times
  kernel fusion_tanh_log_mul: 8 lanes over the domain
stencil
  scan at test:1: kernel
  kernel scan: 32 lanes over inner loops
sum
  kernel reduce_sum: 32 lanes over inner loops, 64 chunks of %3
updates
  kernel scatter-add: 32 lanes over the domain
  kernel scatter-mul: 32 lanes over inner loops
  kernel scatter-max: 32 lanes over the domain
)");
}

TEST(Targets, TheReferenceSchedulesNothing) {
  ProgramRunner r;
  EXPECT_EQ(r.Dump(r.Parse(kRecurrent), "decisions", "ref"), "device ref interprets: nothing is scheduled\n");
}

}  // namespace
}  // namespace ricci::testing
