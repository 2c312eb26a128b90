// Runs on `late` that are under way while objects are released, callbacks wait, and threads wait for the same run;
// their ends reported at once, or when somebody asks.
#include <thread>

#include "support/devices.h"

namespace ricci::testing { namespace {

class UnfinishedRuns : public Devices, public ::testing::WithParamInterface<bool> {
 protected:
  UnfinishedRuns() : Devices({.reports_when_asked = GetParam()}) {}
};
std::string HowReported(const ::testing::TestParamInfo<bool>& info) { return info.param ? "WhenAsked" : "AtOnce"; }
INSTANTIATE_TEST_SUITE_P(Ends, UnfinishedRuns, ::testing::Bool(), HowReported);

// ---- objects released while runs are under way ----
TEST_P(UnfinishedRuns, ReleaseInAnyOrderWhileARunIsUnderWay) {
  std::vector<int> order = {0, 1, 2, 3, 4, 5};
  do {
    Another own = NewContext();
    Swap(own);
    ricci_program* f = Parse(kTwoSortsText);
    ricci_executable* x = Compile(f);
    ricci_program_release(f);
    ricci_stream* s = NewStream();
    ricci_array *a = Floats({4, 3, 2, 1}), *out = nullptr, *again = nullptr;
    ricci_run_opts o = ricci_run_opts_default();
    o.stream = s;
    ASSERT_TRUE(Ok(ricci_executable_enqueue(x, &a, 1, &out, 1, &o)));
    Swap(own);
    for (int what : order) {
      if (what == 0) ricci_context_release(own.ctx);
      if (what == 1) {
        ASSERT_TRUE(Ok(ricci_executable_enqueue(x, &a, 1, &again, 1, nullptr)));
      }
      if (what == 2) ricci_array_release(out);
      if (what == 3) ricci_stream_release(s);
      if (what == 4 && again != nullptr) ricci_array_release(a);
      if (what == 5 && again != nullptr) ricci_executable_release(x);
    }
    // What had to live until the second run.
    if (std::find(order.begin(), order.end(), 4) < std::find(order.begin(), order.end(), 1)) ricci_array_release(a);
    if (std::find(order.begin(), order.end(), 5) < std::find(order.begin(), order.end(), 1))
      ricci_executable_release(x);
    EXPECT_EQ(Read(again), (std::vector<float>{1, 2, 3, 4}));
    ricci_array_release(again);
  } while (std::next_permutation(order.begin(), order.end()));
}

TEST_P(UnfinishedRuns, AContextThatGoesWaits) {
  Another own = NewContext();
  Swap(own);
  ricci_executable* x = CompileText(kAddText);
  ricci_array *a = Floats({1, 2, 3, 4}), *in[2] = {a, a}, *out = nullptr;
  ASSERT_TRUE(Ok(ricci_executable_enqueue(x, in, 2, &out, 1, nullptr)));
  Swap(own);
  ricci_context_release(own.ctx);
  EXPECT_EQ(ricci_array_is_ready(out), 1u) << "the release waited";
  Release({a, out});
  ricci_executable_release(x);
}

// A library call within a run waits for that very run.
TEST_P(UnfinishedRuns, ACallbackThatWaitsForItsOwnRun) {
  static ricci_array* own;
  static std::string told;
  static ricci_device* planned_for;
  own = nullptr;
  told = "";
  static const ricci_library library = [] {
    ricci_library l{};
    l.hdr.size = sizeof l;
    l.plan = [](void*, const ricci_op*, ricci_library_plan* p) -> ricci_status* {
      planned_for = p->device;
      return nullptr;
    };
    l.launch = [](void*, const ricci_launch* a) -> ricci_status* {
      if (own != nullptr) told = ErrorOf(ricci_array_wait(own), RICCI_FAILED_PRECONDITION);
      std::memcpy(a->out[0], a->in[0], 16);
      return nullptr;
    };
    return l;
  }();
  ricci_lowering lowering{};
  lowering.hdr.size = sizeof lowering;
  lowering.kind = RICCI_LOWER_LIBRARY;
  lowering.priority = 100;
  lowering.target = {"late", 4};
  lowering.library = &library;
  ASSERT_TRUE(Ok(ricci_prim_add_lowering(ctx, Prim("sort"), &lowering)));
  ricci_executable* x = CompileText(
      "program f(%x: f32[4]) {\n %y: f32[4] = sort(%x) dimension=0 is_stable=true num_keys=1\n return %y\n}");
  ricci_array* a = Floats({1, 2, 3, 4});
  ASSERT_TRUE(Ok(ricci_executable_enqueue(x, &a, 1, &own, 1, nullptr)));
  EXPECT_EQ(Read(own), (std::vector<float>{1, 2, 3, 4}));
  EXPECT_NE(told.find("event_wait"), told.npos) << told;
  EXPECT_EQ(planned_for, device);
  Release({a, own});
  ricci_executable_release(x);
}

// ---- threads ----
TEST_P(UnfinishedRuns, ManyThreadsWaitForOneRun) {
  ricci_executable* x = CompileText(kAddText);
  for (int round = 0; round < 20; ++round) {
    ricci_array *a = Floats({1, 2, 3, 4}), *in[2] = {a, a}, *out = nullptr;
    ASSERT_TRUE(Ok(ricci_executable_enqueue(x, in, 2, &out, 1, nullptr)));
    std::vector<std::thread> threads;
    for (int t = 0; t < 4; ++t) {
      threads.emplace_back([&, t] {
        if (t % 2 == 0) {
          EXPECT_TRUE(Ok(ricci_array_wait(out)));
        }
        EXPECT_EQ(Read(out), (std::vector<float>{2, 4, 6, 8}));
      });
    }
    for (std::thread& t : threads) t.join();
    Release({a, out});
  }
  ricci_executable_release(x);
}

TEST_P(UnfinishedRuns, ManyThreadsEnqueueOnSharedArrays) {
  ricci_executable* x = CompileText(kTwoSortsText);
  ricci_array* shared = Floats({4, 3, 2, 1});
  std::vector<std::thread> threads;
  for (int t = 0; t < 4; ++t) {
    threads.emplace_back([&, t] {
      ricci_stream* s = t % 2 == 0 ? nullptr : NewStream();
      ricci_run_opts o = ricci_run_opts_default();
      o.stream = s;
      for (int i = 0; i < 20; ++i) {
        ricci_array *out = nullptr, *again = nullptr;
        ASSERT_TRUE(Ok(ricci_executable_enqueue(x, &shared, 1, &out, 1, &o)));
        ASSERT_TRUE(Ok(ricci_executable_enqueue(x, &out, 1, &again, 1, nullptr)));
        ricci_array_release(out);
        if (i % 3 == 0) {
          EXPECT_EQ(Read(again), (std::vector<float>{1, 2, 3, 4}));
        }
        ricci_array_release(again);
      }
      ricci_stream_release(s);
    });
  }
  for (std::thread& t : threads) t.join();
  ricci_array_release(shared);
  ricci_executable_release(x);
}

// A wait for the last one reports all of them.
TEST_P(UnfinishedRuns, AFailureOfARunThatNobodyAskedFor) {
  ricci_executable *checked = CompileText(kCheckedText), *add = CompileText(kAddText);
  ricci_array *a = Floats({1, -2, 3, 4}), *sum = nullptr;
  ASSERT_TRUE(Ok(ricci_executable_enqueue(checked, &a, 1, &sum, 1, nullptr)));
  for (int i = 0; i < 20; ++i) {
    ricci_array *in[2] = {sum, sum}, *out = nullptr;
    ASSERT_TRUE(Ok(ricci_executable_enqueue(add, in, 2, &out, 1, nullptr)));
    ricci_array_release(std::exchange(sum, out));
  }
  EXPECT_EQ(ErrorOf(ricci_array_wait(sum), RICCI_FAILED_PRECONDITION), "t:6: check: some are negative");
  Release({a, sum});
  ricci_executable_release(checked), ricci_executable_release(add);
}

}  // namespace
}  // namespace ricci::testing
