// Memory runs out at each allocation of one action after the other: every action on every kind of program.
//
// allocation_failure_test.cc follows one life of all objects; here each action starts from objects that are there, so
// that a point costs only its action and nearly all of them can be visited. What the failed action had begun must be
// gone, and the same objects must then do it.
#include <functional>
#include <numeric>

#include "failing_new.h"
#include "ricci/backend.h"
#include "ricci/file.h"

namespace ricci::testing { namespace {

struct Subject {
  const char* name;
  std::string_view text;  // its parameters are f32, its only result is an f32[]
};

constexpr Subject kSubjects[] = {
    {"Fused", R"(program f(%x: f32[4]) {
  %a: f32[4] = sin(%x)
  %b: f32[4] = mul(%a, %x)
  %s: f32[] = reduce_sum(%b) axes=[0]
  return %s
})"},
    {"Product", R"(program f(%w: f32[3,4], %x: f32[4]) {
  %m: f32[3] = dot_general(%w, %x) lhs_contract=[1] rhs_contract=[0]
  %t: f32[3] = tanh(%m)
  %s: f32[] = reduce_max(%t) axes=[0]
  return %s
})"},
    {"Scan", R"(program f(%x: f32[3]) {
  %n: f32[3] = scan(%x) length=3 num_consts=0 num_carry=1 body=program step(%c: f32[3]) {
    %d: f32[3] = sin(%c)
    %e: f32[3] = mul(%d, %c)
    return %e
  }
  %s: f32[] = reduce_sum(%n) axes=[0]
  return %s
})"},
    {"While", R"(program f(%a: f32[]) {
  %one: f32[] = constant 1.0
  %x: f32[] = while(%a, %one) cond_nconsts=0 body_nconsts=1 max_trips=4 cond=program(%x: f32[]) {
    %big: f32[] = constant 1.5
    %go: bool[] = lt(%x, %big)
    return %go
  } body=program(%a: f32[], %x: f32[]) {
    %y: f32[] = add(%a, %x)
    return %y
  }
  return %x
})"},
    {"Branches", R"(program f(%x: f32[3]) {
  %t: f32[] = reduce_sum(%x) axes=[0]
  %i: i32[] = convert_element_type(%t) new_dtype=i32
  %y: f32[3] = cond(%i, %x) branches=[program(%x: f32[3]) {
    %y: f32[3] = sin(%x)
    return %y
  }, program(%x: f32[3]) {
    %y: f32[3] = mul(%x, %x)
    return %y
  }]
  %s: f32[] = reduce_sum(%y) axes=[0]
  return %s
})"},
    {"Checkpoint", R"(program f(%w: f32[4,4], %x: f32[4]) {
  %y: f32[4] = checkpoint(%w, %x) policy="dots" body=program(%w: f32[4,4], %x: f32[4]) {
    %a: f32[4] = dot_general(%w, %x) lhs_contract=[1] rhs_contract=[0]
    %b: f32[4] = sin(%a)
    %c: f32[4] = sin(%b)
    return %c
  }
  %s: f32[] = reduce_sum(%y) axes=[0]
  return %s
})"},
    {"OwnJvp", R"(program f(%x: f32[]) {
  %y: f32[] = custom_jvp(%x) call=program(%x: f32[]) {
    %y: f32[] = log1p(%x)
    return %y
  } jvp=program(%x: f32[], %dx: f32[]) {
    %y: f32[] = log1p(%x)
    %two: f32[] = constant 2.0
    %dy: f32[] = mul(%two, %dx)
    return %y, %dy
  }
  return %y
})"},
    {"Vmap", R"(program f(%x: f32[4,3]) {
  %y: f32[4] = vmap(%x) size=4 in_axes=[0] out_axes=[0] axis_name="" body=program(%x: f32[3]) {
    %a: f32[3] = cos(%x)
    %s: f32[] = reduce_sum(%a) axes=[0]
    return %s
  }
  %s: f32[] = reduce_sum(%y) axes=[0]
  return %s
})"},
    {"Factor", R"(program f(%a: f32[3,3]) {
  %l: f32[3,3] = cholesky(%a)
  %s: f32[] = reduce_sum(%l) axes=[0,1]
  return %s
})"},
    {"Order", R"(program f(%x: f32[6]) {
  %y: f32[6] = sort(%x) dimension=0 is_stable=true num_keys=1
  %c: f32[6] = cumsum(%y) axis=0 reverse=false
  %s: f32[] = reduce_prod(%c) axes=[0]
  return %s
})"},
};

// All objects that an action may need; what an action makes it releases.
class Workshop {
 public:
  Workshop(CountingHost& host, const Subject& subject) : text_(subject.text) {
    EXPECT_TRUE(Ok(host.CreateContext(&ctx_)));
    EXPECT_TRUE(Ok(ricci_context_add_plugin(ctx_, ricci_plugin_query_lax)));
    EXPECT_TRUE(Ok(AddIdle()));
    EXPECT_TRUE(Ok(Parse()));
    EXPECT_TRUE(Ok(ricci_program_parse(ctx_, text_.data(), text_.size(), "t", 1, &f_)));
    ricci_program_signature(f_, &n_, &params_, nullptr, nullptr);
    EXPECT_TRUE(Ok(ricci_program_serialize(
        f_, this, [](void* self, const char* p, size_t n) { static_cast<Workshop*>(self)->bytes_.assign(p, n); })));
    EXPECT_TRUE(Ok(CompileOn("ref", f_, &x_)));
    for (uint32_t i = 0; i < n_; ++i) EXPECT_TRUE(Ok(MakeArray(params_[i], &in_[i])));
  }
  ~Workshop() {
    for (uint32_t i = 0; i < n_; ++i) ricci_array_release(in_[i]);
    ricci_executable_release(x_);
    ricci_program_release(f_);
    ricci_context_release(ctx_);
  }

  ricci_status* Parse() {
    ricci_program* p = nullptr;
    ricci_status* s = ricci_program_parse(ctx_, text_.data(), text_.size(), "t", 1, &p);
    return Dropped(s, p);
  }
  ricci_status* Print() {
    return ricci_program_print(f_, nullptr, [](void*, const char*, size_t) {});
  }
  ricci_status* Serialize() {
    return ricci_program_serialize(f_, nullptr, [](void*, const char*, size_t) {});
  }
  ricci_status* Deserialize() {
    ricci_program* p = nullptr;
    ricci_status* s = ricci_program_deserialize(ctx_, bytes_.data(), bytes_.size(), "bytes", 5, &p);
    return Dropped(s, p);
  }
  ricci_status* Jvp() {
    const uint8_t active[] = {1, 1};
    ricci_program* p = nullptr;
    ricci_status* s = ricci_jvp(f_, active, n_, &p);
    return Dropped(s, p);
  }
  ricci_status* Vjp() {
    const uint8_t wanted[] = {1, 1};
    ricci_program *forward = nullptr, *backward = nullptr;
    ricci_status* s = ricci_vjp(f_, wanted, n_, &forward, &backward);
    ricci_program_release(forward);
    return Dropped(s, backward);
  }
  ricci_status* GradThenVmap() {
    const uint32_t first = 0;
    const int32_t in[] = {0, -1}, out[] = {0};
    ricci_program *g = nullptr, *v = nullptr;
    if (ricci_status* s = ricci_grad(f_, &first, 1, 0, &g)) return s;
    ricci_status* s = ricci_vmap(g, in, n_, out, 1, 2, nullptr, &v);
    ricci_program_release(g);
    return Dropped(s, v);
  }
  // Through all passes, for a batch of another size in each visit: what has been compiled is kept.
  ricci_status* Compile() {
    const uint32_t first = 0;
    const int32_t in[] = {0, -1}, out[] = {0};
    ricci_program *g = nullptr, *v = nullptr;
    ricci_status* s = ricci_grad(f_, &first, 1, 0, &g);
    if (s == nullptr) s = ricci_vmap(g, in, n_, out, 1, batch_, nullptr, &v);
    ricci_executable* x = nullptr;
    if (s == nullptr) s = CompileOn("idle", v, &x);
    ricci_executable_release(x);
    ricci_program_release(g);
    return Dropped(s, v);
  }
  void NextVisit() { ++batch_; }
  ricci_status* Run() {
    ricci_array* out = nullptr;
    ricci_status* s = ricci_executable_run(x_, in_, n_, &out, 1, nullptr);
    ricci_array_release(out);
    return s;
  }

 private:
  static ricci_status* Dropped(ricci_status* s, ricci_program* p) {
    ricci_program_release(p);
    return s;
  }
  ricci_status* AddIdle() {
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
  ricci_status* CompileOn(std::string_view device, const ricci_program* f, ricci_executable** out) {
    ricci_compile_opts o{};
    o.hdr.size = sizeof o;
    ricci_device* const on = ricci_device_find(ctx_, device.data(), device.size());
    o.devices = &on;
    o.n_devices = 1;
    return ricci_compile(f, &o, out);
  }
  // Small numbers; of a matrix, one that has a Cholesky factor.
  ricci_status* MakeArray(ricci_type type, ricci_array** out) {
    ricci_type_desc d{};
    d.hdr.size = sizeof d;
    if (ricci_status* s = ricci_type_get(ctx_, type, &d)) return s;
    std::vector<float> data(
        static_cast<size_t>(std::accumulate(d.dims, d.dims + d.rank, int64_t{1}, std::multiplies<>())), 0.25f);
    for (size_t i = 0; d.rank == 2 && i < data.size(); i += static_cast<size_t>(d.dims[1]) + 1) data[i] = 2;
    return ricci_array_from_host(ricci_device_find(ctx_, "ref", 3), type, data.data(), nullptr, out);
  }

  std::string_view text_;
  std::string bytes_;
  ricci_ctx* ctx_ = nullptr;
  ricci_program* f_ = nullptr;
  ricci_executable* x_ = nullptr;
  uint32_t n_ = 0;
  int64_t batch_ = 2;
  const ricci_type* params_ = nullptr;
  ricci_array* in_[2] = {};
};

struct Action {
  const char* name;
  ricci_status* (Workshop::*run)();
};
constexpr Action kActions[] = {{"Parse", &Workshop::Parse},
                               {"Print", &Workshop::Print},
                               {"Serialize", &Workshop::Serialize},
                               {"Deserialize", &Workshop::Deserialize},
                               {"Jvp", &Workshop::Jvp},
                               {"Vjp", &Workshop::Vjp},
                               {"GradThenVmap", &Workshop::GradThenVmap},
                               {"Compile", &Workshop::Compile},
                               {"Run", &Workshop::Run}};

int64_t g_points = 0;  // that failed, of all scenarios of this process

constexpr int64_t kStep = RICCI_SANITIZERS == 0 ? 1 : 23;

class AllocationPoints : public ::testing::TestWithParam<std::tuple<Subject, Action>> {
 protected:
  // Visits the points of one source of memory. Several at a time are left out only behind the first 2,000, and where
  // each takes twenty times as long: a sanitizer sees some of all kinds.
  void Visit(Workshop& w, FailureSwitch& source, bool forever) {
    const Action action = std::get<1>(GetParam());
    w.NextVisit();
    for (int64_t k = 0;; k += kStep + std::max<int64_t>(0, k - 2000) / 16) {
      source.FailAt(k, forever);
      ricci_status* s = (w.*action.run)();
      const bool failed = source.Disarm();
      if (s == nullptr) {
        if (!failed) return;
        continue;  // it did without, as std::stable_sort can
      }
      ++g_points;
      ASSERT_TRUE(failed) << Message(s);
      EXPECT_EQ(ricci_status_code(s), uint32_t{RICCI_RESOURCE_EXHAUSTED}) << "allocation " << k;
      ricci_status_free(s);
      if (HasFailure()) return;
    }
  }
};

TEST_P(AllocationPoints, AreStatuses) {
  const int64_t before = g_new_blocks.load();
  {
    CountingHost host;
    Workshop w(host, std::get<0>(GetParam()));
    for (FailureSwitch* source : {&g_new_failure, &host.failure}) {
      for (const bool forever : {false, true}) Visit(w, *source, forever);
    }
    EXPECT_TRUE(Ok((w.*std::get<1>(GetParam()).run)())) << "afterwards";
  }
  EXPECT_EQ(g_new_blocks.load(), before) << "leak";
  RecordProperty("points", std::to_string(g_points));
}

INSTANTIATE_TEST_SUITE_P(All, AllocationPoints,
                         ::testing::Combine(::testing::ValuesIn(kSubjects), ::testing::ValuesIn(kActions)),
                         [](const auto& info) {
                           return std::string(std::get<0>(info.param).name) + std::get<1>(info.param).name;
                         });

}  // namespace
}  // namespace ricci::testing
