// Random schedules of threads over shared objects: compile, run, transform, cancel, configure, release, in an order and
// with pauses that a seed decides. Meant for ThreadSanitizer; every result is checked too.
//
// RICCI_SCHEDULES is how many seeds are tried, from RICCI_SCHEDULES_FROM on.
#include <latch>
#include <random>
#include <thread>

#include "support/small_program.h"

namespace ricci::testing { namespace {

constexpr int kThreads = 3, kSteps = 12;

int FromEnvironment(const char* name, int otherwise) {
  const char* text = std::getenv(name);
  return text == nullptr ? otherwise : std::atoi(text);
}

// What all threads of a schedule share, each with a reference of its own until it drops it.
struct Shared {
  ricci_ctx* ctx;
  ricci_device* device;
  ricci_program* f;       // x -> x + x
  ricci_executable* x;    // of f
  ricci_array* in;        // 1, 2, 3, 4
  uint32_t* cancel_word;  // of the whole schedule
};

// One thread of one schedule.
class Actor {
 public:
  Actor(const Shared& shared, uint32_t seed) : s_(shared), random_(seed) {
    ricci_context_retain(s_.ctx);
    ricci_program_retain(s_.f);
    ricci_executable_retain(s_.x);
    ricci_array_retain(s_.in);
  }

  void Play() {
    for (int i = 0; i < kSteps; ++i) {
      Pause();
      (this->*kActions[random_() % std::size(kActions)])();
    }
    Pause();
    ricci_array_release(s_.in);
    ricci_context_release(s_.ctx);
    ricci_executable_release(s_.x);
    ricci_program_release(s_.f);
  }

 private:
  // From nothing to a few microseconds, or another thread first.
  void Pause() {
    const uint32_t kind = random_() % 4;
    if (kind == 0) std::this_thread::yield();
    for (uint32_t n = kind == 1 ? random_() % 2000 : 0; n != 0; --n) __asm__ volatile("" ::: "memory");
  }

  void Run() {
    ricci_array* out = nullptr;
    ASSERT_TRUE(Ok(ricci_executable_run(s_.x, &s_.in, 1, &out, 1, nullptr)));
    Check(out, 2);
    ricci_array_release(out);
  }
  // Results that may not be there yet are used.
  void Enqueue() {
    ricci_array *one = nullptr, *two = nullptr;
    ASSERT_TRUE(Ok(ricci_executable_enqueue(s_.x, &s_.in, 1, &one, 1, nullptr)));
    ASSERT_TRUE(Ok(ricci_executable_enqueue(s_.x, &one, 1, &two, 1, nullptr)));
    ricci_array_release(one);
    Check(two, 4);
    ricci_array_release(two);
  }
  void Cancelled() {
    ricci_run_opts o = ricci_run_opts_default();
    o.cancel = s_.cancel_word;
    ricci_array* out = nullptr;
    ricci_status* s = ricci_executable_run(s_.x, &s_.in, 1, &out, 1, &o);
    if (s == nullptr) Check(out, 2);
    ricci_status_free(s);
    ricci_array_release(out);
  }
  void Cancel() { __atomic_store_n(s_.cancel_word, random_() % 2, __ATOMIC_RELAXED); }
  void CompileAgain() { UseCompiled(s_.f, 2); }
  void CompileDerivative() {
    const uint8_t active = 1;
    ricci_program *j = nullptr, *v = nullptr;
    ASSERT_TRUE(Ok(ricci_jvp(s_.f, &active, 1, &j)));
    const int32_t in[] = {-1, 0}, out[] = {-1, 0};
    ASSERT_TRUE(Ok(ricci_vmap(j, in, 2, out, 2, 2 + static_cast<int64_t>(random_() % 3), nullptr, &v)));
    ricci_program_release(j);
    ricci_executable* x = SmallCompile(v);
    ricci_program_release(v);
    ricci_executable_release(x);
  }
  void ParseAnother() {
    const std::string c = std::to_string(random_() % 5);
    const std::string text =
        "program g(%x: f32[4]) { %c: f32[4] = constant " + c +
        ".0 %y: f32[4] = add(%x, %c) %z: f32[4] = sub(%y, %c) %w: f32[4] = add(%z, %x) return %w }";
    ricci_program* g = nullptr;
    ASSERT_TRUE(Ok(ricci_program_parse(s_.ctx, text.data(), text.size(), "schedule.cc", 11, &g)));
    UseCompiled(g, 2);
    ricci_program_release(g);
  }
  void Configure() {
    static constexpr std::pair<std::string_view, std::string_view> kOptions[] = {
        {"threads", "1"}, {"threads", "2"},      {"vmap", "lanes"},
        {"vmap", "auto"}, {"log_compiles", "1"}, {"log_compiles", "0"}};
    const auto& [key, value] = kOptions[random_() % std::size(kOptions)];
    ASSERT_TRUE(Ok(ricci_context_config(s_.ctx, key.data(), key.size(), value.data(), value.size())));
  }
  void Bind() {
    ricci_call* call = nullptr;
    ASSERT_TRUE(Ok(ricci_call_create(s_.x, &call)));
    float in[4] = {1, 2, 3, 4}, out[4] = {};
    ASSERT_TRUE(Ok(ricci_call_bind(call, 0, in, sizeof in)));
    ASSERT_TRUE(Ok(ricci_call_bind(call, 1, out, sizeof out)));
    ASSERT_TRUE(Ok(ricci_call_run(call)));
    EXPECT_EQ(out[3], 8.0f);
    ricci_call_release(call);
  }
  void Fail() {
    ricci_program* p = nullptr;
    ricci_status* s = ricci_program_parse(s_.ctx, "program (", 9, "wrong", 5, &p);
    EXPECT_NE(s, nullptr);
    ricci_status_free(s);
  }
  void Statistics() {
    ricci_memory_stats m{};
    m.hdr.size = sizeof m;
    ASSERT_TRUE(Ok(ricci_device_memory_stats(s_.device, &m)));
  }

  ricci_executable* SmallCompile(const ricci_program* f) {
    ricci_compile_opts o = ricci_compile_opts_default();
    o.devices = &s_.device;
    o.n_devices = 1;
    ricci_executable* x = nullptr;
    EXPECT_TRUE(Ok(ricci_compile(f, &o, &x)));
    return x;
  }
  void UseCompiled(const ricci_program* f, float factor) {
    ricci_executable* x = SmallCompile(f);
    ricci_array* out = nullptr;
    ASSERT_TRUE(Ok(ricci_executable_run(x, &s_.in, 1, &out, 1, nullptr)));
    ricci_executable_release(x);
    Check(out, factor);
    ricci_array_release(out);
  }
  static void Check(const ricci_array* a, float factor) {
    float values[4] = {};
    ASSERT_TRUE(Ok(ricci_array_copy_to_host(a, values, sizeof values)));
    for (int i = 0; i < 4; ++i) EXPECT_EQ(values[i], factor * static_cast<float>(i + 1));
  }

  static constexpr void (Actor::*kActions[])() = {&Actor::Run,          &Actor::Enqueue,      &Actor::Cancelled,
                                                  &Actor::Cancel,       &Actor::CompileAgain, &Actor::CompileDerivative,
                                                  &Actor::ParseAnother, &Actor::Configure,    &Actor::Bind,
                                                  &Actor::Fail,         &Actor::Statistics};

  Shared s_;
  std::mt19937 random_;
};

class ThreadSchedules : public SmallProgram {};

// Binding the host's memory is for devices that have it.
TEST_F(ThreadSchedules, OfSeeds) {
  if (!OnHost()) GTEST_SKIP() << "the host's memory";
  const int from = FromEnvironment("RICCI_SCHEDULES_FROM", 0),
            n = FromEnvironment("RICCI_SCHEDULES", RICCI_SANITIZERS == 1 ? 200 : 2000);
  for (int seed = from; seed < from + n && !HasFailure(); ++seed) {
    SCOPED_TRACE("seed " + std::to_string(seed));
    uint32_t cancel = 0;
    Another own = NewContext();
    Swap(own);
    Shared shared{ctx,
                  device,
                  Parse("program f(%x: f32[4]) { %y: f32[4] = add(%x, %x) return %y }"),
                  nullptr,
                  Floats({1, 2, 3, 4}),
                  &cancel};
    shared.x = Compile(shared.f);
    Swap(own);
    std::vector<Actor> actors;
    for (int t = 0; t < kThreads; ++t) actors.emplace_back(shared, static_cast<uint32_t>(seed * kThreads + t));
    ricci_array_release(shared.in);
    ricci_executable_release(shared.x);
    ricci_program_release(shared.f);
    ricci_context_release(shared.ctx);  // the last reference goes on whatever thread ends last
    std::latch together(kThreads);
    std::vector<std::thread> threads;
    for (Actor& a : actors) {
      threads.emplace_back([&together, &a] {
        together.arrive_and_wait();
        a.Play();
      });
    }
    for (std::thread& t : threads) t.join();
  }
}

}  // namespace
}  // namespace ricci::testing
