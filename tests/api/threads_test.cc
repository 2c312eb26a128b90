// Threads: compile, run, release and configure at once on one context, which needs no lock of the host.
#include <thread>

#include "support/small_program.h"

namespace ricci::testing { namespace {

constexpr int kThreads = 4, kRounds = 50;

class Threads : public SmallProgram {
 protected:
  template <typename Body>
  static void InParallel(Body body) {
    std::vector<std::thread> threads;
    for (int t = 0; t < kThreads; ++t) threads.emplace_back(body, t);
    for (std::thread& t : threads) t.join();
  }
};

TEST_F(Threads, RunOneExecutable) {
  ricci_executable* x = CompileText(kAddText);
  InParallel([&](int t) {
    ricci_array* a = Floats({1, 2, 3, static_cast<float>(t)});
    for (int i = 0; i < kRounds; ++i) {
      ricci_array *in[2] = {a, a}, *out = nullptr;
      ASSERT_TRUE(Ok(ricci_executable_run(x, in, 2, &out, 1, nullptr)));
      EXPECT_EQ(Read(out)[3], 2.0f * static_cast<float>(t));
      ricci_array_release(out);
    }
    ricci_array_release(a);
  });
  ricci_executable_release(x);
}

TEST_F(Threads, CompileTheSameAndOthers) {
  InParallel([&](int t) {
    for (int i = 0; i < kRounds; ++i) {
      const std::string n = std::to_string(1 + (i + t) % 7);
      ricci_program* f = Parse("program f(%x: f32[" + n + "]) {\n %y: f32[" + n + "] = neg(%x)\n return %y\n}");
      ricci_executable* x = Compile(f);
      ricci_program_release(f);
      ASSERT_TRUE(Ok(ricci_context_config(ctx, "threads", 7, t % 2 == 0 ? "1" : "2", 1)));
      ricci_executable_release(ricci_executable_retain(x));
      ricci_executable_release(x);
    }
  });
}

TEST_F(Threads, ReleaseTheLastReferenceAnywhere) {
  for (int i = 0; i < kRounds; ++i) {
    ricci_ctx* own = nullptr;
    ASSERT_TRUE(Ok(host.CreateContext(&own)));
    const int64_t four = 4;
    const ricci_type_desc vector = ricci_type_desc_of(RICCI_F32, 1, &four);
    ricci_type t = 0;
    ASSERT_TRUE(Ok(ricci_type_make(own, &vector, &t)));
    const float data[4] = {};
    ricci_array* a = nullptr;
    ASSERT_TRUE(Ok(ricci_array_from_host(ricci_device_get(own, 0), t, data, nullptr, &a)));
    for (int k = 1; k < kThreads; ++k) ricci_array_retain(a);
    InParallel([&](int thread) {
      if (thread == i % kThreads) ricci_context_release(own);
      ricci_array_release(a);
    });
  }
}

TEST_F(Threads, BuildInTheirOwnBuilders) {
  const ricci_prim sin = Prim("sin");
  InParallel([&](int t) {
    for (int i = 0; i < kRounds; ++i) {
      const ricci_type type = Type(RICCI_F32, {i + 1, t + 1});
      ricci_builder* b = nullptr;
      ricci_val v = 0;
      ASSERT_TRUE(Ok(ricci_builder_create(ctx, "f", 1, &type, 1, &b, &v)));
      ricci_builder_set_location(b, "threads.cc", static_cast<uint32_t>(i), "Body");
      ASSERT_TRUE(Ok(ricci_builder_emit(b, sin, nullptr, 0, &v, 1, &v, 1)));
      ricci_program* f = nullptr;
      ASSERT_TRUE(Ok(ricci_builder_finish(b, &v, 1, &f)));
      ricci_program_release(f);
    }
  });
}

}  // namespace
}  // namespace ricci::testing
