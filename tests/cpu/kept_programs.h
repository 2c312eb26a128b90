// Programs of f64 that between them have all that a compiled program can hold: constants, kernels, loops and branches
// in the plan, library calls, a source, functions of the host, checks, results in place of arguments, scratch.
#ifndef RICCI_TESTS_CPU_KEPT_PROGRAMS_H_
#define RICCI_TESTS_CPU_KEPT_PROGRAMS_H_
#include <string>
#include <vector>

#include "ricci/callback.h"
#include "support/program_runner.h"

namespace ricci::testing {

struct KeptProgram {
  std::string text;
  std::vector<Numbers> args;
  std::vector<uint8_t> donate = {};
  bool fails = false;
};

inline Numbers Rising(int n) {
  Numbers out;
  for (int i = 0; i < n; ++i) out.push_back(0.01 * i - 1);
  return out;
}

// `twice`, of operands of any number of f64: 2 * x. Fails for a negative first element.
inline ricci_callback TwiceCallback() {
  ricci_callback c{};
  c.hdr.size = sizeof c;
  c.call = [](void*, const ricci_callback_call* call) -> ricci_status* {
    const auto* x = static_cast<const double*>(call->in[0]);
    auto* y = static_cast<double*>(call->out[0]);
    if (x[0] < 0) return ricci_status_make(RICCI_OUT_OF_RANGE, "twice: negative", 15);
    for (int i = 0; i < 3; ++i) y[i] = 2 * x[i];
    return nullptr;
  };
  return c;
}

inline std::vector<KeptProgram> KeptPrograms() {
  const std::string calls =
      "program f(%x: f64[3]) {\n %y: f64[3] = pure_callback(%x) callback=\"twice\" results=\"f64[3]\""
      " vmap_method=\"sequential\"\n %z: f64[3] = sin(%y)\n return %z\n}";
  const std::string loop =
      "program f(%x: f64[200,200]) { %n: i32[] = constant 3 %i: i32[] = constant 0"
      " %j: i32[], %y: f64[200,200] = while(%n, %i, %x) cond_nconsts=1 body_nconsts=0"
      " cond=program(%n: i32[], %i: i32[], %a: f64[200,200]) { %p: bool[] = lt(%i, %n) return %p }"
      " body=program(%i: i32[], %a: f64[200,200]) { %o: i32[] = constant 1 %k: i32[] = add(%i, %o)"
      " %s: f64[200,200] = cos(%a) return %k, %s } %m: f64[] = reduce_sum(%y) axes=[0,1] return %m }";
  const std::string products =
      "program f(%x: f64[70,70]) { %y: f64[70,70] = dot_general(%x, %x) lhs_contract=[1] rhs_contract=[0]"
      " %z: f64[70] = test.sum_last(%y) return %y, %z }";
  const std::string bounded =
      "program f(%x: f64[]) {\n %y: f64[] = while(%x) cond_nconsts=0 body_nconsts=0 max_trips=5\n"
      " cond=program(%a: f64[]) { %l: f64[] = constant 9.0 %p: bool[] = lt(%a, %l) return %p }\n"
      " body=program(%a: f64[]) { %o: f64[] = constant 1.0 %b: f64[] = add(%a, %o) return %b }\n return %y\n}";
  return {
      {"program f(%x: f64[3]) { %c: f64[3] = constant [0.5, 1.5, 2.5] %s: f64[3] = sin(%x) %y: f64[3] = mul(%s, %c)"
       " %z: f64[3] = lgamma(%c) return %y, %z }",
       {{1, 2, 3}}},
      {loop, {Rising(40000)}},
      {products, {Rising(4900)}},
      {"program f(%x: f64[1000]) { %y: f64[1000] = cumsum(%x) axis=0 reverse=false %z: f64[1000] = exp(%y) return %z }",
       {Rising(1000)},
       {1}},
      {calls, {{1, 2, 3}}},
      {calls, {{-1, 2, 3}}, {}, /*fails=*/true},
      {bounded, {{6}}},
      {bounded, {{1}}, {}, /*fails=*/true},
      {"program f() { %c: f64[2,2] = constant [1.0, 2.0, 3.0, 4.0] return %c }", {}},
      {"program f(%x: f64[0], %y: f64[4]) { %z: f64[4] = neg(%y) return %x, %z }", {{}, {1, 2, 3, 4}}},
      {"program f(%x: f64[5], %y: f64[5]) { %a: f64[5] = add(%x, %y) %b: f64[5] = sub(%x, %y) return %b, %a, %x }",
       {Rising(5), Rising(5)},
       {1, 1}},
  };
}

// An executable, its figures and what a run of it gives.
struct Executed {
  std::vector<Numbers> values;
  std::string error;
  ricci_executable_stats stats{};
  std::vector<int32_t> aliases;
};

// On device 0.
inline void RunInto(Executed& out, ricci_ctx* ctx, ricci_executable* x, const std::vector<Numbers>& args,
                    const ricci_run_opts* options = nullptr) {
  uint32_t n_params, n_results;
  const ricci_type *params, *results;
  ricci_executable_signature(x, &n_params, &params, &n_results, &results);
  ASSERT_EQ(n_params, args.size());
  ricci_executable_info(x, &out.stats);
  std::vector<ricci_array*> in(n_params), got(n_results);
  for (uint32_t i = 0; i < n_results; ++i) out.aliases.push_back(ricci_executable_alias(x, i));
  for (uint32_t i = 0; i < n_params; ++i) {
    const std::vector<double> data(args[i].begin(), args[i].end());
    ASSERT_TRUE(Ok(ricci_array_from_host(ricci_device_get(ctx, 0), params[i], data.data(), nullptr, &in[i])));
  }
  ricci_status* s = ricci_executable_run(x, in.data(), n_params, got.data(), n_results, options);
  if (s != nullptr) out.error = Message(s);
  for (ricci_array* a : got) {
    if (a == nullptr) continue;
    Numbers& values = out.values.emplace_back(ricci_array_bytes(a) / sizeof(double));
    EXPECT_TRUE(Ok(ricci_array_copy_to_host(a, values.data(), ricci_array_bytes(a))));
    ricci_array_release(a);
  }
  for (ricci_array* a : in) ricci_array_release(a);
}

}  // namespace ricci::testing
#endif
