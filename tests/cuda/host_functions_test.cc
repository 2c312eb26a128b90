// Programs on GPUs that call functions of the host: what these get, in which order, what comes of a failure, and what
// they may do.
#include <atomic>
#include <thread>

#include "cuda/driver_calls.h"
#include "cuda/gpu_program.h"
#include "support/program_runner.h"

namespace ricci::testing { namespace {

int PushedContexts() { return OfStandin<int()>("ricci_standin_pushed")(); }
void HostUses(const void* p, uint64_t bytes, bool writes) {
  OfStandin<void(const void*, uint64_t, int)>("ricci_standin_host")(p, bytes, writes ? 1 : 0);
}

// Callbacks of f32, which say to the stand-in what they touch:
// `double`: twice its operand. `note`: keeps the first element, gives the operand. `limit`: fails if the first element
// is above 100, else gives the operand. `gpu`: its operand, by a program on the GPU.
class HostFunctions : public ::testing::Test {
 protected:
  HostFunctions() : r_(Options()) {
    EXPECT_TRUE(Ok(ricci_context_add_plugin(r_.ctx(), QuerySimulatedGpu)));
    gpu_ = GpuOf(r_.ctx());
    Add<&HostFunctions::Double>("double");
    Add<&HostFunctions::Note>("note");
    Add<&HostFunctions::Limit>("limit");
    Add<&HostFunctions::OnGpu>("gpu");
    Calls();
  }
  ~HostFunctions() override { EXPECT_EQ(std::string(OfStandin<const char*()>("ricci_standin_complaints")()), ""); }

  template <ricci_status* (HostFunctions::*kCall)(const Floats& in, Floats& out)>
  void Add(std::string_view name) {
    ricci_callback f{};
    f.hdr.size = sizeof f;
    f.self = this;
    f.call = [](void* self, const ricci_callback_call* c) {
      auto& t = *static_cast<HostFunctions*>(self);
      const uint64_t bytes = t.BytesOf(c->in_types[0]);
      if (bytes != 0) HostUses(c->in[0], bytes, /*writes=*/false);
      Floats in(bytes / sizeof(float)), out(in.size());
      if (bytes != 0) std::memcpy(in.data(), c->in[0], bytes);
      EXPECT_EQ(PushedContexts(), 0);
      ++t.calls_;
      if (ricci_status* failed = (t.*kCall)(in, out)) return failed;
      if (c->n_out == 0 || bytes == 0) return static_cast<ricci_status*>(nullptr);
      HostUses(c->out[0], bytes, /*writes=*/true);
      std::memcpy(c->out[0], out.data(), bytes);
      return static_cast<ricci_status*>(nullptr);
    };
    EXPECT_TRUE(Ok(ricci_context_add_callback(r_.ctx(), name.data(), name.size(), &f)));
  }
  ricci_status* Double(const Floats& in, Floats& out) {
    for (size_t i = 0; i < in.size(); ++i) out[i] = 2 * in[i];
    return nullptr;
  }
  ricci_status* Note(const Floats& in, Floats& out) {
    const std::lock_guard lock(mutex_);
    noted_.push_back(in.empty() ? 0 : in[0]);
    out = in;
    return nullptr;
  }
  ricci_status* Limit(const Floats& in, Floats& out) {
    out = in;
    return in[0] <= 100 ? nullptr : ricci_status_make(RICCI_OUT_OF_RANGE, "too far", 7);
  }
  ricci_status* OnGpu(const Floats& in, Floats& out) {
    GpuProgram f(gpu_);
    std::vector<Floats> got;
    EXPECT_TRUE(Ok(f.Compile(r_.ctx(), "program g(%x: f32[4]) {\n  %y: f32[4] = neg(%x)\n  return %y\n}")));
    EXPECT_TRUE(Ok(f.Give({in})) && Ok(f.Enqueue()) && Ok(f.Read(got)));
    out = got.at(0);
    return nullptr;
  }

  uint64_t BytesOf(ricci_type t) const {
    ricci_type_desc d = ricci_type_desc_default();
    EXPECT_TRUE(Ok(ricci_type_get(r_.ctx(), t, &d)));
    EXPECT_EQ(d.dtype, uint32_t{RICCI_F32});
    uint64_t n = 1;
    for (uint32_t i = 0; i < d.rank; ++i) n *= static_cast<uint64_t>(d.dims[i]);
    return n * sizeof(float);
  }
  // What the program notes in a run.
  Floats Noted(const Program& f, const std::vector<Numbers>& args) {
    noted_.clear();
    r_.Run(f, args, "cuda");
    return noted_;
  }
  const ricci_context_opts* Options() {
    hooks_.hdr.size = sizeof hooks_;
    hooks_.log_self = this;
    hooks_.log = [](void* self, uint32_t, const char* text, size_t n) {
      EXPECT_EQ(PushedContexts(), 0);
      static_cast<HostFunctions*>(self)->log_.append(text, n) += '\n';
    };
    options_.hooks = &hooks_;
    return &options_;
  }

  std::mutex mutex_;
  std::atomic<int> calls_{0};
  Floats noted_;
  std::string log_;
  ricci_hooks hooks_{};
  ricci_context_opts options_ = ricci_context_opts_default();
  ProgramRunner r_;
  ricci_device* gpu_ = nullptr;
};

// ---- values and order ----
TEST_F(HostFunctions, WhatTheyGiveIsUsed) {
  const Program f = r_.Parse(R"(program f(%x: f32[40,3], %w: f32[3]) {
  %s: f32[40] = reduce_sum(%x) axes=[1]
  %t: f32[40] = sort(%s) dimension=0 is_stable=true num_keys=1
  %y: f32[40] = pure_callback(%t) callback="double" results="f32[40]"
  %z: f32[40] = cumsum(%y) axis=0 reverse=false
  %v: f32[3] = pure_callback(%w) callback="double" results="f32[3]"
  return %z, %y, %v
})");
  Numbers x(120);
  for (size_t i = 0; i < x.size(); ++i) x[i] = static_cast<double>((i * 29) % 17);
  r_.RunEverywhere(f, {x, {1, 2, 3}}, 1e-5);
  EXPECT_GE(CountOf(Calls(), "cuMemcpyDtoHAsync"), 2);
}

TEST_F(HostFunctions, NoElements) {
  const Program f = r_.Parse(R"(program f(%x: f32[0]) {
  %y: f32[0] = io_callback(%x) callback="note" results="f32[0]"
  return %y
})");
  EXPECT_EQ(Noted(f, {{}}), Floats{0});
}

TEST_F(HostFunctions, EffectsKeepTheirOrder) {
  const Program f = r_.Parse(R"(program f(%x: f32[], %y: f32[5]) {
  debug_callback(%x) callback="note"
  %s: f32[] = reduce_sum(%y) axes=[0]
  debug_callback(%s) callback="note"
  %a: f32[] = io_callback(%x) callback="note" results="f32[]"
  %b: f32[] = add(%a, %s)
  debug_callback(%b) callback="note"
  debug_callback(%x) callback="note"
  return %b
})");
  EXPECT_EQ(Noted(f, {{7}, {1, 2, 3, 4, 5}}), (Floats{7, 15, 7, 22, 7}));
}

constexpr std::string_view kInControl = R"(program f(%x: f32[3], %c: f32[]) {
  %e: f32[] = scan(%c, %x) length=3 num_consts=0 num_carry=1 body=program b(%c: f32[], %v: f32[]) {
    %n: f32[] = add(%c, %v)
    debug_callback(%n) callback="note"
    return %n
  }
  %w: f32[] = while(%e) cond_nconsts=0 body_nconsts=0 cond=program c(%v: f32[]) {
    %ten: f32[] = constant 10.0
    %n: f32[] = io_callback(%v) callback="note" results="f32[]"
    %go: bool[] = lt(%n, %ten)
    return %go
  } body=program b(%v: f32[]) {
    %n: f32[] = pure_callback(%v) callback="double" results="f32[]"
    return %n
  }
  %zero: f32[] = constant 0.0
  %p: bool[] = gt(%w, %zero)
  %i: i32[] = convert_element_type(%p) new_dtype=i32
  %r: f32[] = cond(%i, %w) branches=[program no(%v: f32[]) { return %v }, program yes(%v: f32[]) {
    debug_callback(%v) callback="note"
    %n: f32[] = neg(%v)
    return %n
  }]
  return %r
})";

TEST_F(HostFunctions, InLoopsAndBranches) {
  const Program f = r_.Parse(kInControl);
  EXPECT_EQ(Noted(f, {{1, 2, 1}, {0}}), (Floats{1, 3, 4, 4, 8, 16, 16}));
  EXPECT_EQ(Noted(f, {{1, 2, 3}, {20}}), (Floats{21, 23, 26, 26, 26}));
  EXPECT_EQ(r_.RunEverywhere(f, {{1, 2, 1}, {0}})[0], Numbers{-16});
}

TEST_F(HostFunctions, UnderVmap) {
  const auto pure = [&](std::string_view method) {
    return r_.Parse(
        "program f(%x: f32[2]) {\n  %a: f32[2] = sin(%x)\n  %y: f32[2] = pure_callback(%a) "
        "callback=\"double\" results=\"f32[2]\" vmap_method=\"" +
        std::string(method) + "\"\n  %z: f32[2] = sub(%y, %x)\n  return %z\n}");
  };
  const std::pair<const char*, int> methods[] = {{"sequential", 3}, {"expand_dims", 1}, {"broadcast_all", 1}};
  for (const auto& [method, times] : methods) {
    const Program f = r_.Vmap(pure(method), {0}, {0}, 3);
    r_.RunEverywhere(f, {{1, 2, 3, 4, 5, 6}}, 1e-5);
    calls_ = 0;
    r_.Run(f, {{1, 2, 3, 4, 5, 6}}, "cuda");
    EXPECT_EQ(calls_, times) << method;
  }
  const Program effect = r_.Parse("program f(%x: f32[]) {\n  debug_callback(%x) callback=\"note\"\n  return %x\n}");
  EXPECT_EQ(Noted(r_.Vmap(effect, {0}, {0}, 3), {{5, 6, 7}}), (Floats{5, 6, 7}));
}

TEST_F(HostFunctions, Prints) {
  const Program f = r_.Parse(R"(program f(%x: f32[2], %n: i32[]) {
  %y: f32[2] = mul(%x, %x)
  debug_print(%x, %n) fmt="x = {}, n = {}"
  debug_print(%y) fmt="y = {}"
  return %y
})");
  log_.clear();
  r_.Run(f, {{1.5, -2}, {7}}, "cuda");
  EXPECT_EQ(log_, "x = [1.5, -2.0], n = 7\ny = [2.25, 4.0]\n");
}

TEST_F(HostFunctions, AreExplained) {
  const std::string said = r_.Dump(r_.Parse(kInControl), "decisions", "cuda");
  EXPECT_NE(said.find("the plan calls functions of the host"), said.npos) << said;
}

// ---- failures ----
constexpr std::string_view kTwice = R"(program f(%x: f32[4]) {
  %a: f32[4] = add(%x, %x)
  %b: f32[4] = io_callback(%a) callback="limit" results="f32[4]"
  %c: f32[4] = mul(%b, %b)
  %d: f32[4] = io_callback(%c) callback="limit" results="f32[4]"
  %e: f32[4] = neg(%d)
  return %e
})";

// The run has begun, so its results report it; what comes after the failure does not happen.
TEST_F(HostFunctions, AFailureEndsTheRun) {
  GpuProgram f(gpu_);
  ASSERT_TRUE(Ok(f.Compile(r_.ctx(), kTwice)));
  const std::pair<float, int> failing[] = {{60, 1}, {10, 2}};
  for (const auto& [x, calls] : failing) {
    calls_ = 0;
    Calls();
    ASSERT_TRUE(Ok(f.Give({Floats(4, x)})) && Ok(f.Enqueue()));
    EXPECT_EQ(calls_, calls);
    EXPECT_EQ(CountOf(Calls(), "cuLaunchKernel"), calls);
    ricci_status* const failed = ricci_array_wait(f.out()[0]);
    EXPECT_EQ(ricci_status_code(failed), uint32_t{RICCI_OUT_OF_RANGE});
    EXPECT_EQ(Message(failed), "test:" + std::to_string(1 + 2 * calls) + ": io_callback: too far");
  }
  std::vector<Floats> got;
  ASSERT_TRUE(Ok(f.Give({Floats(4, 1)})) && Ok(f.Enqueue()) && Ok(f.Read(got)));
  EXPECT_EQ(got[0], Floats(4, -4));
  EXPECT_EQ(r_.RunError(r_.Parse(kTwice), {{60, 1, 1, 1}}), "test:3: io_callback: too far") << "as on other devices";
}

TEST_F(HostFunctions, AFailureInALoop) {
  const Program f = r_.Parse(R"(program f(%x: f32[]) {
  %w: f32[] = while(%x) cond_nconsts=0 body_nconsts=0 cond=program c(%v: f32[]) {
    %most: f32[] = constant 1000.0
    %go: bool[] = lt(%v, %most)
    return %go
  } body=program b(%v: f32[]) {
    %n: f32[] = io_callback(%v) callback="limit" results="f32[]"
    %m: f32[] = add(%n, %n)
    return %m
  }
  return %w
})");
  calls_ = 0;
  EXPECT_EQ(r_.RunErrorOn(f, {{30}}, "cuda"), "test:7: io_callback: too far");
  EXPECT_EQ(calls_, 3) << "30, 60, 120";
}

// A donated argument is gone with the run, and says why; what uses a result says it too.
TEST_F(HostFunctions, AFailureReachesDonatedArgumentsAndLaterRuns) {
  const Program p = r_.Parse(kTwice);
  const uint8_t donate = 1;
  ricci_compile_opts o = ricci_compile_opts_default();
  o.devices = &gpu_;
  o.n_devices = 1;
  o.donate = &donate;
  o.n_donate = 1;
  ricci_executable* x = nullptr;
  ASSERT_TRUE(Ok(ricci_compile(p.get(), &o, &x)));
  GpuProgram maker(gpu_);
  ASSERT_TRUE(Ok(maker.Compile(r_.ctx(), kTwice)));
  ricci_array *in = nullptr, *out = nullptr, *later = nullptr;
  ASSERT_TRUE(Ok(maker.NewArray(maker.param(0), Floats(4, 60), &in)));
  ASSERT_TRUE(Ok(ricci_executable_enqueue(x, &in, 1, &out, 1, nullptr)));
  const std::string why = "test:3: io_callback: too far";
  EXPECT_EQ(Message(ricci_array_wait(in)), why);
  EXPECT_EQ(Message(ricci_executable_enqueue(x, &out, 1, &later, 1, nullptr)), why);
  EXPECT_EQ(Message(ricci_array_wait(out)), why);
  for (ricci_array* a : {in, out}) ricci_array_release(a);
  ricci_executable_release(x);
}

// ---- several runs ----
TEST_F(HostFunctions, SeveralRunsInFlight) {
  constexpr int kRuns = 20;
  GpuProgram f(gpu_);
  ASSERT_TRUE(Ok(f.Compile(r_.ctx(), kTwice)));
  ricci_stream* streams[2] = {};
  for (ricci_stream*& s : streams) ASSERT_TRUE(Ok(ricci_stream_create(gpu_, &s)));
  std::vector<ricci_array*> arguments(4), results(kRuns);
  for (size_t i = 0; i < arguments.size(); ++i) {
    ASSERT_TRUE(Ok(f.NewArray(f.param(0), Floats(4, static_cast<float>(i)), &arguments[i])));
  }
  for (size_t i = 0; i < kRuns; ++i) {  // nothing waits for a run in between
    ricci_run_opts o = ricci_run_opts_default();
    o.stream = streams[i % 2];
    ASSERT_TRUE(Ok(ricci_executable_enqueue(f.executable(), &arguments[i % 4], 1, &results[i], 1, &o)));
  }
  for (int i = kRuns - 1; i >= 0; --i) {
    Floats got(4);
    ASSERT_TRUE(Ok(ricci_array_copy_to_host(results[static_cast<size_t>(i)], got.data(), 16)));
    const auto x = static_cast<float>(i % 4);
    EXPECT_EQ(got, Floats(4, -4 * x * x));
  }
  for (const auto* list : {&arguments, &results}) {
    for (ricci_array* a : *list) ricci_array_release(a);
  }
  for (ricci_stream* s : streams) ricci_stream_release(s);
  EXPECT_LE(CountOf(Calls(), "cuMemHostAlloc"), 4) << "words of the host for each run, and one block for calls";
}

TEST_F(HostFunctions, ThreadsRunOneProgramAtOnce) {
  std::vector<std::thread> threads;
  GpuProgram f(gpu_);
  ASSERT_TRUE(Ok(f.Compile(r_.ctx(), kTwice)));
  for (int t = 0; t < 3; ++t) {
    threads.emplace_back([&, t] {
      const auto x = static_cast<float>(t);
      for (int i = 0; i < 10; ++i) {
        ricci_array *in = nullptr, *out = nullptr;
        Floats got(4);
        ASSERT_TRUE(Ok(f.NewArray(f.param(0), Floats(4, x), &in)));
        ASSERT_TRUE(Ok(ricci_executable_run(f.executable(), &in, 1, &out, 1, nullptr)));
        ASSERT_TRUE(Ok(ricci_array_copy_to_host(out, got.data(), 16)));
        EXPECT_EQ(got, Floats(4, -4 * x * x));
        for (ricci_array* a : {in, out}) ricci_array_release(a);
      }
    });
  }
  for (std::thread& t : threads) t.join();
}

TEST_F(HostFunctions, ABoundCall) {
  GpuProgram f(gpu_);
  ASSERT_TRUE(Ok(f.Compile(r_.ctx(), kTwice)) && Ok(f.Give({Floats(4, 2)})) && Ok(f.Enqueue()));
  ASSERT_TRUE(Ok(ricci_array_wait(f.out()[0])));
  ricci_call* call = nullptr;
  ASSERT_TRUE(Ok(ricci_call_create(f.executable(), &call)));
  for (const uint32_t slot : {0u, 1u}) {
    const ricci_array* const a = slot == 0 ? f.in()[0] : f.out()[0];
    ASSERT_TRUE(Ok(ricci_call_bind(call, slot, ricci_array_device_data(a), 16)));
  }
  calls_ = 0;
  EXPECT_TRUE(Ok(ricci_call_run(call)) && Ok(ricci_call_run(call)));
  EXPECT_EQ(calls_, 4);
  std::vector<Floats> got;
  ASSERT_TRUE(Ok(f.Read(got)));
  EXPECT_EQ(got[0], Floats(4, -16));
  ricci_call_release(call);
}

// ---- what they may do ----
TEST_F(HostFunctions, TheyMayUseTheGpu) {
  GpuProgram f(gpu_);
  std::vector<Floats> got;
  ASSERT_TRUE(Ok(f.Compile(r_.ctx(), R"(program f(%x: f32[4]) {
  %a: f32[4] = add(%x, %x)
  %b: f32[4] = io_callback(%a) callback="gpu" results="f32[4]"
  %c: f32[4] = mul(%b, %x)
  return %c
})")));
  ASSERT_TRUE(Ok(f.Give({{1, 2, 3, 4}})) && Ok(f.Enqueue()) && Ok(f.Read(got)));
  EXPECT_EQ(got[0], (Floats{-2, -8, -18, -32}));
}

TEST_F(HostFunctions, ACancelledRunCallsNoMore) {
  GpuProgram f(gpu_);
  ASSERT_TRUE(Ok(f.Compile(r_.ctx(), kTwice)) && Ok(f.Give({Floats(4, 1)})));
  const uint32_t word = 1;
  ricci_run_opts o = ricci_run_opts_default();
  o.cancel = &word;
  ricci_array* out = nullptr;
  calls_ = 0;
  EXPECT_EQ(Message(ricci_executable_enqueue(f.executable(), f.in().data(), 1, &out, 1, &o)),
            "cuda: run cancelled by the host");
  EXPECT_EQ(calls_, 0);
}

}}  // namespace ricci::testing
