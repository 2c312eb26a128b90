// Memory runs out at the k-th allocation, once and from then on: a status, no leak, and the same objects work after.
//
// Two sources fail in turn: the host's allocator hook, and `operator new`, which this binary replaces. One life is
// run with one failure after another until it completes; a step that failed is simply repeated with the same objects,
// which proves that they are intact.
#include "failing_new.h"
#include "ricci/backend.h"

namespace ricci::testing { namespace {

constexpr std::string_view kText = R"(
program loss(%w: f32[3,4], %x: f32[4]) {
  %m: f32[3] = dot_general(%w, %x) lhs_contract=[1] rhs_contract=[0]
  %n: f32[3] = scan(%m) length=3 num_consts=0 num_carry=1 body=program step(%c: f32[3]) {
    %d: f32[3] = sin(%c)
    %e: f32[3] = mul(%d, %c)
    return %e
  }
  %s: f32[] = reduce_sum(%n) axes=[0]
  return %s
})";

// One life of all objects. Steps return their status; Run continues at the step that failed last.
class Scenario {
 public:
  explicit Scenario(CountingHost& host) : host_(host) {}
  ~Scenario() {
    ricci_array_release(out_);
    for (ricci_array* a : in_) ricci_array_release(a);
    ricci_call_release(call_);
    ricci_executable_release(executable_);
    for (ricci_program* p : {f_, grad_, vmapped_, fwd_, bwd_}) ricci_program_release(p);
    ricci_builder_abandon(builder_);
    ricci_context_release(ctx_);
  }

  // NULL when everything is done.
  ricci_status* Run() {
    for (; step_ < std::size(kSteps); ++step_) {
      if (ricci_status* s = (this->*kSteps[step_])()) return s;
    }
    return nullptr;
  }
  size_t step() const { return step_; }
  float result() const { return *static_cast<const float*>(ricci_array_data(out_)); }

 private:
  ricci_status* CreateContext() { return host_.CreateContext(&ctx_); }
  ricci_status* AddLax() { return ricci_context_add_plugin(ctx_, ricci_plugin_query_lax); }
  ricci_status* Parse() { return ricci_program_parse(ctx_, kText.data(), kText.size(), "t", 1, &f_); }
  ricci_status* MakeType() {
    const int64_t dims[] = {3, 5, 7, 9};
    const ricci_type_desc d = ricci_type_desc_of(RICCI_F32, 4, dims);
    return ricci_type_make(ctx_, &d, &type_);
  }
  ricci_status* CreateBuilder() { return ricci_builder_create(ctx_, "b", 1, &type_, 1, &builder_, &value_); }
  ricci_status* Emit() {
    ricci_prim sin = 0;
    if (ricci_status* s = ricci_prim_find(ctx_, "sin", 3, &sin)) return s;
    ricci_builder_set_location(builder_, "a_rather_long_file_name.cc", 12, "a_rather_long_function");
    for (int i = 0; i < 20; ++i) {
      if (ricci_status* s = ricci_builder_emit(builder_, sin, nullptr, 0, &value_, 1, &value_, 1)) return s;
    }
    return nullptr;
  }
  ricci_status* Finish() {
    ricci_program* p = nullptr;
    ricci_status* s = ricci_builder_finish(builder_, &value_, 1, &p);
    if (s == nullptr) builder_ = nullptr;
    ricci_program_release(p);
    return s;
  }
  ricci_status* Grad() {
    const uint32_t argnums[] = {0, 1};
    return ricci_grad(f_, argnums, 2, 1, &grad_);
  }
  ricci_status* Vjp() {
    const uint8_t wanted[] = {1, 0};
    return ricci_vjp(f_, wanted, 2, &fwd_, &bwd_);
  }
  ricci_status* Vmap() {
    const int32_t in[] = {-1, 0}, out[] = {0, 0, 0};
    ricci_vmap_opts options{};
    options.hdr.size = sizeof options;
    options.axis_name = {"i", 1};
    return ricci_vmap(grad_, in, 2, out, 3, 2, &options, &vmapped_);
  }
  ricci_status* Compile() {
    ricci_compile_opts o{};
    o.hdr.size = sizeof o;
    ricci_device* const on = ricci_device_find(ctx_, "ref", 3);
    o.devices = &on;
    o.n_devices = 1;
    return ricci_compile(f_, &o, &executable_);
  }
  // A backend that generates no code, but whose programs go through all passes, unlike those of `ref`.
  ricci_status* AddBackend() {
    ricci_backend b{};
    b.hdr.size = sizeof b;
    b.kind = {"idle", 4};
    b.compile = [](void* self, const ricci_compile_args*, void** code, ricci_code_info*) -> ricci_status* {
      *code = self;
      return nullptr;
    };
    b.run = [](void*, const ricci_run_args*) -> ricci_status* { return nullptr; };
    b.drop_code = [](void*) {};
    return ricci_backend_register(ctx_, &b);
  }
  ricci_status* CompileOptimized() {
    for (const ricci_program* f : {grad_, vmapped_}) {
      ricci_executable* x = nullptr;
      if (ricci_status* s = ricci_compile(f, nullptr, &x)) return s;
      ricci_executable_release(x);
    }
    return nullptr;
  }
  ricci_status* MakeArrays() {
    const ricci_type* params = nullptr;
    ricci_program_signature(f_, nullptr, &params, nullptr, nullptr);
    const float data[12] = {1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11, 12};
    for (int i = 0; i < 2; ++i) {
      if (in_[i] != nullptr) continue;
      if (ricci_status* s = ricci_array_from_host(ricci_device_find(ctx_, "ref", 3), params[i], data, nullptr, &in_[i]))
        return s;
    }
    return nullptr;
  }
  ricci_status* RunArrays() { return ricci_executable_run(executable_, in_, 2, &out_, 1, nullptr); }
  ricci_status* Print() {
    std::string text;
    return ricci_program_print(vmapped_, this, [](void*, const char*, size_t) {});
  }
  ricci_status* CreateCall() { return ricci_call_create(executable_, &call_); }

  static constexpr ricci_status* (Scenario::*kSteps[])() = {&Scenario::CreateContext,
                                                            &Scenario::AddLax,
                                                            &Scenario::Parse,
                                                            &Scenario::MakeType,
                                                            &Scenario::CreateBuilder,
                                                            &Scenario::Emit,
                                                            &Scenario::Finish,
                                                            &Scenario::Grad,
                                                            &Scenario::Vjp,
                                                            &Scenario::Vmap,
                                                            &Scenario::Compile,
                                                            &Scenario::MakeArrays,
                                                            &Scenario::RunArrays,
                                                            &Scenario::Print,
                                                            &Scenario::CreateCall,
                                                            &Scenario::AddBackend,
                                                            &Scenario::CompileOptimized};

  CountingHost& host_;
  size_t step_ = 0;
  ricci_ctx* ctx_ = nullptr;
  ricci_program *f_ = nullptr, *grad_ = nullptr, *vmapped_ = nullptr, *fwd_ = nullptr, *bwd_ = nullptr;
  ricci_type type_ = 0;
  ricci_builder* builder_ = nullptr;
  ricci_val value_ = 0;
  ricci_executable* executable_ = nullptr;
  ricci_array *in_[2] = {}, *out_ = nullptr;
  ricci_call* call_ = nullptr;
};

void ExpectExhausted(ricci_status* s, int64_t k, size_t step) {
  ASSERT_NE(s, nullptr);
  EXPECT_EQ(ricci_status_code(s), uint32_t{RICCI_RESOURCE_EXHAUSTED}) << "allocation " << k << " of step " << step;
  const std::string message = Message(s);
  EXPECT_NE(message.find("memory"), message.npos) << message;
}

class AllocationFailure : public ::testing::TestWithParam<std::tuple<bool, bool>> {};

// Fails the k-th allocation counted from the start of the scenario, for k = 0, stride, 2 stride, ... until none fails.
TEST_P(AllocationFailure, IsAStatusAndEverythingStaysUsable) {
  const auto [of_new, forever] = GetParam();
  bool reached_end = false;
  for (int64_t k = 0; !reached_end; k += 1 + k / 32) {
    const int64_t before = g_new_blocks.load();
    {
      CountingHost host;
      FailureSwitch& failure = of_new ? g_new_failure : host.failure;
      Scenario scenario(host);
      failure.FailAt(k, forever);
      ricci_status* s = scenario.Run();
      const bool failed = failure.Disarm();
      reached_end = !failed;
      if (s != nullptr) {
        ExpectExhausted(s, k, scenario.step());
        ASSERT_TRUE(Ok(scenario.Run())) << "again, after allocation " << k << " failed in step " << scenario.step();
      } else {
        EXPECT_TRUE(!failed || !forever) << "allocation " << k << " failed unnoticed";
      }
      EXPECT_NE(scenario.result(), 0.0f);
    }
    ASSERT_EQ(g_new_blocks.load(), before) << "leak after allocation " << k << " failed";
    if (HasFailure()) return;
  }
}

INSTANTIATE_TEST_SUITE_P(All, AllocationFailure, ::testing::Combine(::testing::Bool(), ::testing::Bool()),
                         [](const auto& info) {
                           return std::string(std::get<0>(info.param) ? "New" : "Hook") +
                                  (std::get<1>(info.param) ? "Forever" : "Once");
                         });

}  // namespace
}  // namespace ricci::testing
