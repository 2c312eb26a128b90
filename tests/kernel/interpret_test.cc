// Kernels and plans run by the interpreter; every wrong access and malformed table is a status.
#include <gtest/gtest.h>

#include <chrono>
#include <cmath>
#include <numeric>

#include "kernel/interpret/quick_kernel.h"
#include "kernel/writer.h"

namespace ricci::kernel { namespace {

Kernel Must(Writer& w) {
  absl::StatusOr<Kernel> k = w.Finish();
  EXPECT_TRUE(k.ok()) << k.status();
  return k.ok() ? *std::move(k) : Kernel{};
}

// out = a b for matrices of n by n.
Kernel MatMul(int64_t n) {
  Writer w("matmul");
  const uint32_t a = w.Buffer(RICCI_F32, n * n, RICCI_ACCESS_READ), b = w.Buffer(RICCI_F32, n * n, RICCI_ACCESS_READ);
  const uint32_t out = w.Buffer(RICCI_F32, n * n, RICCI_ACCESS_WRITE);
  Val i[2];
  const int64_t extents[] = {n, n};
  w.Parallel(extents, i);
  const Val k = w.Reduce(RICCI_S_ADD, w.Index(0), w.Index(n));
  const int64_t strides[] = {n, 1};
  const Val at_a[] = {i[0], k}, at_b[] = {k, i[1]};
  const Val sum = w.Yield(w.Mul(w.Load(a, w.Linear(at_a, strides)), w.Load(b, w.Linear(at_b, strides))));
  w.Store(out, w.Linear(i, strides), sum);
  w.End();
  return Must(w);
}

TEST(Interpret, MatrixProduct) {
  constexpr int64_t n = 17;
  const Kernel k = MatMul(n);
  std::vector<float> a(n * n), b(n * n), out(n * n);
  std::iota(a.begin(), a.end(), -100.f);
  std::iota(b.begin(), b.end(), 3.f);
  void* const buffers[] = {a.data(), b.data(), out.data()};
  ASSERT_TRUE(Interpret(k.View(), buffers).ok());
  for (int64_t i = 0; i < n; ++i) {
    for (int64_t j = 0; j < n; ++j) {
      double sum = 0;
      for (int64_t l = 0; l < n; ++l) sum += double{a[i * n + l]} * b[l * n + j];
      ASSERT_EQ(out[i * n + j], static_cast<float>(sum));
    }
  }
}

TEST(Interpret, SumsOfHalvesAreKeptWide) {
  Writer w("sum");
  const uint32_t in = w.Buffer(RICCI_F16, 4096, RICCI_ACCESS_READ), out = w.Buffer(RICCI_F16, 1, RICCI_ACCESS_WRITE);
  const Val i = w.Reduce(RICCI_S_ADD, w.Index(0), w.Index(4096));
  w.Store(out, w.Index(0), w.Yield(w.Load(in, i)));
  const Kernel k = Must(w);
  std::vector<uint16_t> ones(4096, 0x3c00);
  uint16_t result = 0;
  void* const buffers[] = {ones.data(), &result};
  ASSERT_TRUE(Interpret(k.View(), buffers).ok());
  EXPECT_EQ(result, 0x6c00);  // 4096, where f16 addition stops at 2048
}

// Collatz steps of each input: while, if, private arrays, bool and narrow dtypes.
TEST(Interpret, ControlFlow) {
  Writer w("collatz");
  const uint32_t in = w.Buffer(RICCI_I32, 30, RICCI_ACCESS_READ), out = w.Buffer(RICCI_I16, 30, RICCI_ACCESS_WRITE);
  Val p;
  w.Parallel({{30}}, &p);
  const Val zero = w.Index(0), one = w.Const(RICCI_I32, 1), two = w.Const(RICCI_I32, 2), three = w.Const(RICCI_I32, 3);
  const LocalId n = w.Local(RICCI_I32, 1), steps = w.Local(RICCI_I16, 1);
  w.Set(n, zero, w.Load(in, p));
  w.Set(steps, zero, w.Const(RICCI_I16, 0));
  w.While();
  w.Cond(w.Op(RICCI_S_GT, w.Get(n, zero), one));
  const Val v = w.Get(n, zero);
  w.If(w.Equal(w.Rem(v, two), one));
  w.Set(n, zero, w.Add(w.Mul(v, three), one));
  w.Else();
  w.Set(n, zero, w.Div(v, two));
  w.End();
  w.Set(steps, zero, w.Add(w.Get(steps, zero), w.Const(RICCI_I16, 1)));
  w.End();
  w.Store(out, p, w.Get(steps, zero));
  w.End();
  const Kernel k = Must(w);
  EXPECT_EQ(k.domain, std::vector<int64_t>{30});
  std::vector<int32_t> numbers(30);
  std::iota(numbers.begin(), numbers.end(), 1);
  std::vector<int16_t> got(30);
  void* const buffers[] = {numbers.data(), got.data()};
  ASSERT_TRUE(Interpret(k.View(), buffers).ok());
  for (int64_t i = 0; i < 30; ++i) {
    int16_t want = 0;
    for (int64_t x = i + 1; x > 1; x = x % 2 ? 3 * x + 1 : x / 2) ++want;
    EXPECT_EQ(got[i], want);
  }
}

// Loops whose bounds are loaded: trips of 0, 1 and more.
TEST(Interpret, DynamicBounds) {
  Writer w("prefix");
  const uint32_t n = w.Buffer(RICCI_I64, 4, RICCI_ACCESS_READ), out = w.Buffer(RICCI_F32, 4, RICCI_ACCESS_WRITE);
  Val p;
  w.Parallel({{4}}, &p);
  const LocalId seen = w.Local(RICCI_F32, 1);
  w.Set(seen, w.Index(0), w.Float(RICCI_F32, 0));
  w.For(w.Index(2), w.Load(n, p));
  w.Set(seen, w.Index(0), w.Add(w.Get(seen, w.Index(0)), w.Float(RICCI_F32, 100)));
  w.End();
  const Val i = w.Reduce(RICCI_S_MUL, w.Index(0), w.Load(n, p));
  const Val product = w.Yield(w.Convert(w.Add(i, w.Index(1)), RICCI_F32));
  w.Store(out, p, w.Add(product, w.Get(seen, w.Index(0))));
  w.End();
  const Kernel k = Must(w);
  std::vector<int64_t> counts{0, 1, 3, 5};
  std::vector<float> got(4);
  void* const buffers[] = {counts.data(), got.data()};
  ASSERT_TRUE(Interpret(k.View(), buffers).ok());
  EXPECT_EQ(got, (std::vector<float>{1, 1, 106, 420}));
}

TEST(Interpret, AccessesAreChecked) {
  Writer w("gather");
  const uint32_t at = w.Buffer(RICCI_I64, 1, RICCI_ACCESS_READ), out = w.Buffer(RICCI_F32, 4, RICCI_ACCESS_WRITE);
  w.Store(out, w.Load(at, w.Index(0)), w.Float(RICCI_F32, 1));
  const Kernel k = Must(w);
  int64_t index = 4;
  float data[4] = {};
  void* const buffers[] = {&index, data};
  EXPECT_EQ(Interpret(k.View(), buffers).ToString(),
            "INTERNAL: kernel gather: instruction 4: index 4 is outside 4 elements");
  index = -1;
  EXPECT_FALSE(Interpret(k.View(), buffers).ok());
  index = 3;
  EXPECT_TRUE(Interpret(k.View(), buffers).ok());
  EXPECT_EQ(data[3], 1);
}

// ---- plans ----
Kernel AddOne(const char* name, int64_t bound_for_flag) {
  Writer w(name);
  const uint32_t x = w.Buffer(RICCI_I32, 1, RICCI_ACCESS_READ), y = w.Buffer(RICCI_I32, 1, RICCI_ACCESS_WRITE);
  const uint32_t flag = w.Buffer(RICCI_BOOL, 1, RICCI_ACCESS_WRITE);
  const Val zero = w.Index(0), next = w.Add(w.Load(x, zero), w.Const(RICCI_I32, 1));
  w.Store(y, zero, next);
  w.Store(flag, zero, w.Less(next, w.Const(RICCI_I32, static_cast<uint64_t>(bound_for_flag))));
  return Must(w);
}

// out = in; do out = out + 1 while out < 10; then case in: {0: nothing, 1 and above: out = constant}.
TEST(InterpretPlan, WhileCaseAndCopy) {
  const std::vector<Kernel> kernels{AddOne("step", 10)};
  const KernelViews tables(kernels);
  static const int32_t constant = 1000;
  Plan p;
  p.n_inputs = p.n_outputs = p.n_constants = 1;
  p.arena_bytes = 128;
  p.buffers = {{RICCI_BUFFER_INPUT, 0, 4, 0, nullptr},
               {RICCI_BUFFER_OUTPUT, 0, 4, 0, nullptr},
               {RICCI_BUFFER_ARENA, 0, 4, 0, nullptr},
               {RICCI_BUFFER_ARENA, 0, 1, 64, nullptr},
               {RICCI_BUFFER_CONSTANT, 0, 4, 0, &constant}};
  p.Step(RICCI_STEP_COPY, 0, {1, 0});
  p.Step(RICCI_STEP_WHILE, 0, {3});
  p.Step(RICCI_STEP_KERNEL, 0, {1, 2, 3});
  p.Step(RICCI_STEP_COND, 0, std::initializer_list<uint32_t>{});
  p.Step(RICCI_STEP_COPY, 0, {1, 2});
  p.Step(RICCI_STEP_END, 0, std::initializer_list<uint32_t>{});
  p.Step(RICCI_STEP_CASE, 2, {0});
  p.Step(RICCI_STEP_NEXT, 0, std::initializer_list<uint32_t>{});
  p.Step(RICCI_STEP_COPY, 0, {1, 4});
  p.Step(RICCI_STEP_END, 0, std::initializer_list<uint32_t>{});
  const auto run = [&](int32_t in) {
    int32_t out = 0;
    alignas(64) char arena[128] = {};
    void* inputs[] = {&in};
    void* outputs[] = {&out};
    const absl::Status s = Interpret(p.View(), tables.data(), tables.size(), inputs, outputs, arena);
    EXPECT_TRUE(s.ok()) << s;
    return out;
  };
  EXPECT_EQ(run(0), 9);
  EXPECT_EQ(run(-5), 9);
  EXPECT_EQ(run(3), 1000);
  EXPECT_EQ(ToText(p.View(), tables.data(), tables.size()),
            "plan inputs 1 outputs 1 arena 128 {\n"
            "  copy out0 (4 B), in0 (4 B)\n"
            "  while arena+0x40 (1 B)\n"
            "    kernel step out0 (4 B), arena+0x0 (4 B), arena+0x40 (1 B)\n"
            "  cond\n"
            "    copy out0 (4 B), arena+0x0 (4 B)\n"
            "  end\n"
            "  case 2 in0 (4 B)\n"
            "  next\n"
            "    copy out0 (4 B), const4 (4 B)\n"
            "  end\n"
            "}\n");
}

TEST(InterpretPlan, LibraryCallsGetTheirTasks) {
  static const auto launch = [](void* state, const ricci_launch* l) -> ricci_status* {
    static_cast<int32_t*>(l->out[0])[l->task] =
        static_cast<const int32_t*>(l->in[0])[l->task] * *static_cast<int32_t*>(state);
    return nullptr;
  };
  ricci_library library{};
  library.launch = launch;
  int32_t factor = 5;
  Plan p;
  p.n_inputs = p.n_outputs = 1;
  p.buffers = {{RICCI_BUFFER_INPUT, 0, 12, 0, nullptr}, {RICCI_BUFFER_OUTPUT, 0, 12, 0, nullptr}};
  p.libraries = {{&library, &factor, 3, 1, 1, 0, 0}};
  p.Step(RICCI_STEP_LIBRARY, 0, {0, 1});
  int32_t in[] = {1, 2, 3}, out[3] = {};
  void* inputs[] = {in};
  void* outputs[] = {out};
  ASSERT_TRUE(Interpret(p.View(), nullptr, 0, inputs, outputs, nullptr).ok());
  EXPECT_EQ(out[0] + out[1] + out[2], 30);
}

TEST(Verify, MalformedTablesAreNamed) {
  const auto broken = [](auto change) {
    Kernel k = MatMul(5);
    change(k);
    return std::string(Verify(k).message());
  };
  EXPECT_EQ(broken([](Kernel&) {}), "");
  EXPECT_EQ(broken([](Kernel& k) { k.insts.resize(13); }), "kernel matmul: instruction 13: a block is not closed");
  EXPECT_EQ(broken([](Kernel& k) { k.insts.back().a = 77; }),
            "kernel matmul: instruction 16: operand 77 is not defined before");
  EXPECT_EQ(broken([](Kernel& k) { k.insts.back().imm = 3; }), "kernel matmul: instruction 16: there is no buffer 3");
  EXPECT_EQ(broken([](Kernel& k) { k.insts.back().imm = 0; }),
            "kernel matmul: instruction 16: buffer 0 may not be stored to");
  EXPECT_EQ(broken([](Kernel& k) { k.insts.back().op = 9999; }),
            "kernel matmul: instruction 16: there is no operation with number 9999");
}

TEST(Verify, MalformedPlansAreNamed) {
  const std::vector<Kernel> kernels{AddOne("step", 10)};
  const KernelViews tables(kernels);
  const auto broken = [&](auto change) {
    Plan p;
    p.n_inputs = p.n_outputs = 1;
    p.arena_bytes = 64;
    p.buffers = {{RICCI_BUFFER_INPUT, 0, 4, 0, nullptr},
                 {RICCI_BUFFER_OUTPUT, 0, 4, 0, nullptr},
                 {RICCI_BUFFER_ARENA, 0, 1, 0, nullptr}};
    change(p);
    return std::string(Verify(p.View(), tables.data(), tables.size()).message());
  };
  EXPECT_EQ(broken([](Plan& p) { p.Step(RICCI_STEP_KERNEL, 0, {0, 1, 2}); }), "");
  EXPECT_EQ(broken([](Plan& p) {
              p.Step(RICCI_STEP_KERNEL, 0, {0, 1});
            }),
            "plan: step 0: the kernel takes 3 buffers but gets 2");
  EXPECT_EQ(broken([](Plan& p) {
              p.Step(RICCI_STEP_KERNEL, 0, {0, 2, 2});
            }),
            "plan: step 0: argument 1 has 1 byte but the kernel needs 4");
  EXPECT_EQ(broken([](Plan& p) {
              p.Step(RICCI_STEP_KERNEL, 0, {0, 0, 2});
            }),
            "plan: step 0: argument 1 is written but must not be");
  EXPECT_EQ(broken([](Plan& p) { p.Step(RICCI_STEP_WHILE, 0, {2}); }), "plan: a block is not closed");
  EXPECT_EQ(broken([](Plan& p) { p.buffers[2].offset = 64; }), "plan: buffer 2 leaves the arena");
}

// Stores for ever, in the loops of locations 7 and 8; between two trips of the outer one, the inner one has as many
// trips as that is from `first` to 5000.
Kernel Endless(int64_t first) {
  Writer w("endless");
  const uint32_t out = w.Buffer(RICCI_F32, 1, RICCI_ACCESS_WRITE);
  w.While();
  w.Cond(w.Const(RICCI_BOOL, 1));
  w.For(w.Index(first), w.Index(5000));
  w.Store(out, w.Index(0), w.Const(RICCI_F32, 0));
  w.End();
  w.End();
  Kernel k = Must(w);
  for (const ricci_inst& inst : k.insts) {
    k.locations.push_back(inst.op == RICCI_K_WHILE ? 7 : inst.op == RICCI_K_FOR ? 8 : 0);
  }
  return k;
}

// A run of this kernel that ends 5 ms later.
HostStop EndOf(const Kernel& k) {
  const ricci_kernel_table table = k.View();
  const QuickKernel quick = std::move(QuickKernel::Decode(table)).value();
  float result = 1;
  void* const outputs[] = {&result};
  HostStop ended;
  const absl::Status s = quick.Run(outputs, nullptr, {nullptr, MonotonicNow() + 5'000'000}, ended);
  EXPECT_EQ(s, absl::DeadlineExceededError("ref: run passed its deadline"));
  return ended;
}

TEST(Interpret, TheLoopThatTheHostEndsIsKnown) {
  // A loop of 1000 trips is named by the one around it.
  const HostStop outer = EndOf(Endless(4000));
  EXPECT_TRUE(outer.happened);
  EXPECT_EQ(outer.location, 7u);
  EXPECT_GT(outer.trips, 1u);
  const HostStop inner = EndOf(Endless(-1'000'000'000));
  EXPECT_TRUE(inner.happened);
  EXPECT_EQ(inner.location, 8u);
  EXPECT_EQ((inner.trips + 1) % StopRequest::kTripsBetweenPolls, 0u) << "the point counts too";
  EXPECT_LT(inner.trips, 1'000'000'000u);
  Kernel unknown = Endless(4000);
  unknown.locations.clear();
  EXPECT_TRUE(EndOf(unknown).happened);
  EXPECT_EQ(EndOf(unknown).location, 0u);
}

// A host may end a run; what it then does with its word does not affect the next run.
TEST(Interpret, AnEndlessLoopEndsAtTheDeadline) {
  const Kernel k = Endless(4000);
  const ricci_kernel_table table = k.View();
  const ricci_kernel_table* kernels[] = {&table};
  const ricci_plan_buffer buffer{RICCI_BUFFER_OUTPUT, 0, 4, 0, nullptr};
  const ricci_plan_step step{RICCI_STEP_KERNEL, 0, 0, 1, 0};
  const uint32_t arg = 0;
  ricci_plan p{};
  p.hdr.size = sizeof p;
  p.buffers = &buffer, p.n_buffers = 1, p.n_outputs = 1;
  p.steps = &step, p.n_steps = 1;
  p.args = &arg, p.n_args = 1;
  p.buffer_size = sizeof buffer, p.step_size = sizeof step, p.library_size = sizeof(ricci_plan_library);
  float result = 1;
  void* const outputs[] = {&result};
  ricci_run_args a{};
  a.outputs = outputs;
  a.deadline_ns = 1;
  EXPECT_EQ(Interpret(p, kernels, 1, a), absl::DeadlineExceededError("ref: run passed its deadline"));
  EXPECT_EQ(result, 1);  // nothing has run
  const uint64_t now = std::chrono::steady_clock::now().time_since_epoch() / std::chrono::nanoseconds(1);
  a.deadline_ns = now + 5'000'000;
  EXPECT_EQ(Interpret(p, kernels, 1, a), absl::DeadlineExceededError("ref: run passed its deadline"));
  EXPECT_EQ(result, 0);
  const uint32_t word = 1;
  a.cancel = &word;
  EXPECT_EQ(Interpret(p, kernels, 1, a), absl::CancelledError("ref: run cancelled by the host"));
}

}  // namespace
}  // namespace ricci::kernel
