// Threads of the CPU backend: the same bits for any number of them, on our pool and on a host's executor; programs that
// run at the same time; code that is compiled and dropped meanwhile.
#include <gtest/gtest.h>

#include <atomic>
#include <thread>

#include "library_row.h"
#include "support/program_runner.h"

namespace ricci::testing { namespace {

// Every way a kernel is cut: elementwise, rows, one long sum, private arrays above the stack's share, products, loops.
constexpr const char* kPrograms[] = {
    "program elementwise(%x: f32[1000,257]) { %0: f32[1000,257] = tanh(%x)  %1: f32[1000,257] = mul(%0, %x)  return %1 "
    "}",
    "program rows(%x: f32[1000,257]) { %0: f32[1000] = reduce_sum(%x) axes=[1]  %1: f32[257] = reduce_max(%x) axes=[0]"
    "  return %0, %1 }",
    "program sum(%x: f32[1000,257]) { %0: f32[] = reduce_sum(%x) axes=[0,1]  return %0 }",
    "program few_rows(%x: f32[1000,257]) { %0: f32[2,128500] = reshape(%x) new_sizes=[2,128500]"
    "  %1: f32[2] = reduce_sum(%0) axes=[1]  %2: f32[4,64250] = reshape(%x) new_sizes=[4,64250]"
    "  %3: f32[4] = reduce_max(%2) axes=[1]  return %1, %3 }",
    "program few_columns(%x: f32[1000,257]) { %0: f32[64250,4] = reshape(%x) new_sizes=[64250,4]"
    "  %1: f32[4] = reduce_sum(%0) axes=[0]  %2: f32[5,2570,20] = reshape(%x) new_sizes=[5,2570,20]"
    "  %3: f32[20] = reduce_sum(%2) axes=[0,1]  %4: f32[5,20] = reduce_prod(%2) axes=[1]  return %1, %3, %4 }",
    "program seams(%x: f32[1000,257]) { %0: f32[1000,514] = concatenate(%x, %x) dimension=1"
    "  %1: f32[2000,514] = concatenate(%0, %0) dimension=0  %2: f32[2000,514] = sin(%1)  return %2 }",
    "program sorted(%x: f32[1000,257]) { %0: f32[8,32125] = reshape(%x) new_sizes=[8,32125]"
    "  %1: f32[8,32125] = sort(%0) dimension=1 is_stable=true num_keys=1  return %1 }",
    "program running(%x: f32[1000,257]) { %0: f32[1000,257] = cumsum(%x) axis=0 reverse=false  return %0 }",
    "program updated(%x: f32[1000,257]) { %0: f32[257000] = reshape(%x) new_sizes=[257000]"
    "  %1: f32[257000] = constant 3000.0  %2: f32[257000] = mul(%0, %1)"
    "  %3: i32[257000] = convert_element_type(%2) new_dtype=i32  %4: i32[257000,1] = reshape(%3) new_sizes=[257000,1]"
    "  %5: f32[5000] = constant 0.0  %6: f32[5000] = scatter-add(%5, %4, %0) update_window_dims=[]"
    " inserted_window_dims=[0] scatter_dims_to_operand_dims=[0] mode=\"fill\""
    "  %7: i32[1000,1] = slice(%4) start_indices=[0,0] limit_indices=[1000,1]  %8: f32[4000,257] = constant 1.0"
    "  %9: f32[4000,257] = scatter-mul(%8, %7, %x) update_window_dims=[1] inserted_window_dims=[0]"
    " scatter_dims_to_operand_dims=[0] mode=\"clip\"  return %6, %9 }",
    "program product(%x: f32[1000,257]) { %0: f32[257,257] = dot_general(%x, %x) lhs_contract=[0] rhs_contract=[0]"
    "  return %0 }",
    "program batched(%x: f32[1000,257]) { %0: bf16[1000,257] = convert_element_type(%x) new_dtype=bf16"
    "  %1: bf16[4,250,257] = reshape(%0) new_sizes=[4,250,257]  %2: bf16[4,250,250] = dot_general(%1, %1)"
    " lhs_contract=[2] rhs_contract=[2] lhs_batch=[0] rhs_batch=[0]  return %2 }",
    "program windows(%x: f32[1000,257]) { %0: f32[20,50,257] = reshape(%x) new_sizes=[20,50,257]"
    "  %1: f32[2,4,257] = slice(%0) start_indices=[0,0,0] limit_indices=[2,4,257]  %2: f32[2056] = reshape(%1)"
    " new_sizes=[2056]  %3: f32[2000] = slice(%2) start_indices=[0] limit_indices=[2000]"
    "  %w: f32[8,50,5] = reshape(%3) new_sizes=[8,50,5]"
    "  %4: f32[20,8,257] = conv_general_dilated(%0, %w) padding=[2,2]"
    "  %5: f32[50,8,5] = conv_general_dilated(%0, %4) padding=[2,2] lhs_spec=[1,0,2] rhs_spec=[1,0,2]"
    "  return %4, %5 }",
    "program factors(%x: f32[1000,257]) { %0: f32[5,200,257] = reshape(%x) new_sizes=[5,200,257]"
    "  %l: f32[5,200,257], %p: i32[5,200], %r: i32[5,200] = lu(%0) return %l, %p, %r }",
    "program solutions(%x: f32[1000,257]) { %s: f32[] = constant 0.01  %b: f32[1000,257] = broadcast_in_dim(%s)"
    " shape=[1000,257] broadcast_dimensions=[]  %0: f32[1000,257] = mul(%x, %b)"
    "  %a: f32[257,257] = slice(%0) start_indices=[0,0] limit_indices=[257,257]"
    "  %1: f32[1000,257] = triangular_solve(%a, %x) lower=true unit_diagonal=true"
    "  %t: f32[257,1000] = transpose(%x) permutation=[1,0]"
    "  %2: f32[257,1000] = triangular_solve(%a, %t) left_side=true unit_diagonal=true  return %1, %2 }",
    "program complex_factors(%x: f32[1000,257]) { %0: c64[1000,257] = complex(%x, %x)  %1: c64[5,200,257] = reshape(%0)"
    " new_sizes=[5,200,257]  %l: c64[5,200,257], %p: i32[5,200], %r: i32[5,200] = lu(%1)"
    "  %u: f32[5,200,257] = real(%l)  %v: f32[5,200,257] = imag(%l)  return %u, %v, %p, %r }",
    "program complex_solutions(%x: f32[1000,257]) { %s: f32[] = constant 0.01  %b: f32[1000,257] = broadcast_in_dim(%s)"
    " shape=[1000,257] broadcast_dimensions=[]  %0: f32[1000,257] = mul(%x, %b)  %1: c64[1000,257] = complex(%0, %x)"
    "  %a: c64[257,257] = slice(%1) start_indices=[0,0] limit_indices=[257,257]"
    "  %2: c64[1000,257] = triangular_solve(%a, %1) lower=true unit_diagonal=true"
    "  %t: c64[257,1000] = transpose(%1) permutation=[1,0]  %3: c64[257,1000] = triangular_solve(%a, %t)"
    " left_side=true transpose_a=true conjugate_a=true unit_diagonal=true"
    "  %u: f32[1000,257] = imag(%2)  %v: f32[257,1000] = real(%3)  return %u, %v }",
    "program lanes(%x: f32[1000,257]) { %0: f32[1000,257] = vmap(%x) size=257 in_axes=[1] out_axes=[1]"
    " body=program(%v: f32[1000]) { %c: f32[] = constant 0.0  %s: f32[], %y: f32[1000] = scan(%c, %v) length=1000"
    " num_consts=0 num_carry=1 body=program(%a: f32[], %b: f32[]) { %1: f32[] = sin(%a)  %2: f32[] = add(%1, %b)"
    "  return %2, %2 }  return %y }  return %0 }",
};

class Context {
 public:
  explicit Context(const ricci_hooks* hooks = nullptr) {
    ricci_context_opts o{};
    o.hdr.size = sizeof o;
    o.hooks = hooks;
    Ok(ricci_context_create(&o, &ctx_));
    Ok(ricci_context_add_plugin(ctx_, ricci_plugin_query_lax));
    Ok(ricci_context_add_plugin(ctx_, ricci_plugin_query_cpu));
  }
  ~Context() { ricci_context_release(ctx_); }
  Context(const Context&) = delete;

  void Threads(int n) {
    const std::string text = std::to_string(n);
    Ok(ricci_context_config(ctx_, "threads", 7, text.data(), text.size()));
  }
  ricci_executable* Compile(const std::string& text) {
    ricci_program* f = nullptr;
    if (!Ok(ricci_program_parse(ctx_, text.data(), text.size(), "test", 4, &f))) return nullptr;
    ricci_compile_opts o{};
    o.hdr.size = sizeof o;
    ricci_device* const on = ricci_device_find(ctx_, "cpu", 3);
    o.devices = &on;
    o.n_devices = 1;
    ricci_executable* x = nullptr;
    Ok(ricci_compile(f, &o, &x));
    ricci_program_release(f);
    return x;
  }
  // All results of `x` for one argument, as bytes.
  std::string Run(ricci_executable* x, const std::vector<float>& in) {
    uint32_t n_params, n_results;
    const ricci_type *params, *results;
    ricci_executable_signature(x, &n_params, &params, &n_results, &results);
    std::vector<ricci_array*> out(n_results);
    ricci_array* a = nullptr;
    Ok(ricci_array_from_host(ricci_device_find(ctx_, "cpu", 3), params[0], in.data(), nullptr, &a));
    std::string bytes;
    if (Ok(ricci_executable_run(x, &a, 1, out.data(), n_results, nullptr))) {
      for (ricci_array* r : out) bytes.append(static_cast<const char*>(ricci_array_data(r)), ricci_array_bytes(r));
    }
    ricci_array_release(a);
    for (ricci_array* r : out) ricci_array_release(r);
    return bytes;
  }
  std::string Run(const std::string& text, const std::vector<float>& in) {
    ricci_executable* x = Compile(text);
    if (x == nullptr) return {};
    std::string bytes = Run(x, in);
    ricci_executable_release(x);
    return bytes;
  }

 private:
  ricci_ctx* ctx_ = nullptr;
};

std::vector<float> Numbers257000() {
  std::vector<float> x(257000);
  uint32_t state = 1;
  for (float& v : x) {
    state = state * 1664525u + 1013904223u;
    v = static_cast<float>(static_cast<int32_t>(state)) * 0x1p-30f;
  }
  return x;
}

TEST(Threads, BitsDoNotDependOnTheirNumber) {
  const std::vector<float> x = Numbers257000();
  Context one;
  one.Threads(1);
  for (const char* program : kPrograms) {
    const std::string want = one.Run(program, x);
    ASSERT_FALSE(want.empty()) << program;
    for (int threads : {2, 3, 7}) {
      Context many;
      many.Threads(threads);
      EXPECT_TRUE(want == many.Run(program, x)) << program << ", " << threads << " threads";
    }
  }
}

// More threads than when the program was compiled, for whose number private memory was laid out.
TEST(Threads, MoreAfterCompilation) {
  const std::vector<float> x = Numbers257000();
  Context c;
  c.Threads(1);
  ricci_executable* sorted = c.Compile(kPrograms[3]);
  ASSERT_NE(sorted, nullptr);
  const std::string want = c.Run(sorted, x);
  for (int threads : {8, 64, 1, 0}) {
    c.Threads(threads);
    EXPECT_TRUE(want == c.Run(sorted, x)) << threads << " threads";
  }
  ricci_executable_release(sorted);
}

// An executor that starts a thread per task.
void ThreadPerTask(void* counter, int64_t n, void (*fn)(void*, int64_t), void* arg) {
  static_cast<std::atomic<int>*>(counter)->fetch_add(1);
  std::vector<std::thread> threads;
  for (int64_t i = 0; i < n; ++i) threads.emplace_back([=] { fn(arg, i); });
  for (std::thread& t : threads) t.join();
}

TEST(Threads, HostExecutorGivesTheSameBits) {
  const std::vector<float> x = Numbers257000();
  std::atomic<int> used{0};
  ricci_hooks hooks{};
  hooks.hdr.size = sizeof hooks;
  hooks.exec_self = &used;
  hooks.exec_workers = 3;
  hooks.parallel_for = ThreadPerTask;
  Context ours, hosts(&hooks);
  for (const char* program : kPrograms) EXPECT_TRUE(ours.Run(program, x) == hosts.Run(program, x)) << program;
  EXPECT_GT(used.load(), 0);
}

// A task of a library call that sets the number of threads, and one that runs another program.
struct FromATask {
  ricci_ctx* ctx = nullptr;
  ricci_executable* inner = nullptr;
};

ricci_status* CallBack(void* state, const ricci_launch* l) {
  const auto& from = *static_cast<const FromATask*>(state);
  const char* threads = l->task % 2 == 0 ? "2" : "4";
  if (ricci_status* s = ricci_context_config(from.ctx, "threads", 7, threads, 1)) return s;
  if (l->task == 0) *static_cast<float*>(l->out[0]) = *static_cast<const float*>(l->in[0]);
  std::vector<float> x(257000, 1), y(257000);
  ricci_call* call = nullptr;
  if (ricci_status* s = ricci_call_create(from.inner, &call)) return s;
  ricci_status* s = ricci_call_bind(call, 0, x.data(), x.size() * sizeof(float));
  if (s == nullptr) s = ricci_call_bind(call, 1, y.data(), y.size() * sizeof(float));
  if (s == nullptr) s = ricci_call_run(call);
  ricci_call_release(call);
  return s;
}

TEST(Threads, TasksMayCallTheContext) {
  constexpr ricci_library kLibrary = {{sizeof(ricci_library), 0, nullptr},
                                      [](void* self, const ricci_op*, ricci_library_plan* out) -> ricci_status* {
                                        out->state = self;
                                        out->tasks = 20;
                                        return nullptr;
                                      },
                                      CallBack,
                                      [](void*) {}};
  ProgramRunner r;
  FromATask from;
  from.ctx = r.ctx();
  ASSERT_TRUE(Ok(RegisterLibraryRow(r.ctx(), "test.call_back", kLibrary, &from)));
  const Program inner = r.Parse(kPrograms[0]);
  ricci_compile_opts o{};
  o.hdr.size = sizeof o;
  ricci_device* const on = ricci_device_find(r.ctx(), "cpu", 3);
  o.devices = &on;
  o.n_devices = 1;
  ASSERT_TRUE(Ok(ricci_compile(inner.get(), &o, &from.inner)));
  const Program f = r.Parse("program f(%x: f32[]) { %y: f32[] = test.call_back(%x) return %y }");
  EXPECT_EQ(r.Run(f, {{3}}, "cpu"), (std::vector<Numbers>{{3}}));
  ricci_executable_release(from.inner);
}

// Host threads that compile, run and drop programs of one context.
TEST(Threads, CompileRunAndDropAtOnce) {
  const std::vector<float> x = Numbers257000();
  Context c;
  const std::string want = c.Run(kPrograms[0], x);
  std::vector<std::thread> hosts;
  for (int h = 0; h < 4; ++h) {
    hosts.emplace_back([&, h] {
      for (int i = 0; i < 6; ++i) {
        const std::string name = "p" + std::to_string(h) + "_" + std::to_string(i);  // no compiled form is shared
        std::string text = kPrograms[0];
        text.replace(text.find("elementwise"), 11, name);
        EXPECT_TRUE(c.Run(text, x) == want) << name;
      }
    });
  }
  for (std::thread& t : hosts) t.join();
}

TEST(NativeForm, IsPrintedOnRequestAndTheSameEachTime) {
  ProgramRunner r;
  const Program f = r.Parse("program f(%x: f32[64]) { %0: f32[64] = sin(%x)  return %0 }");
  const std::string text = r.Dump(f, "native", "cpu");
  EXPECT_NE(text.find("define i32 @ricci_entry(ptr"), std::string::npos) << text;
  EXPECT_EQ(text, r.Dump(f, "native", "cpu"));
}

}  // namespace
}  // namespace ricci::testing
