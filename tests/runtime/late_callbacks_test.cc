// Callbacks of the stand-in device `late` that call the device: those that would wait for themselves are refused.
#include <gtest/gtest.h>

#include <functional>
#include <thread>

#include "support/late_test.h"

namespace ricci::testing { namespace {

constexpr Four kOnes{1, 1, 1, 1};

class LateCallbacks : public LateTest {};

// A library call that calls the device.
struct Callback {
  std::function<void()> call;
  static ricci_status* Launch(void* state, const ricci_launch* l) {
    static_cast<Callback*>(state)->call();
    std::memcpy(l->out[0], l->in[0], kFourBytes);
    return nullptr;
  }
};
const ricci_library kCallbackLibrary{{}, nullptr, Callback::Launch, nullptr};

kernel::Plan CallbackPlan(Callback& callback) {
  kernel::Plan p;
  p.n_inputs = p.n_outputs = 1;
  p.buffers = {{RICCI_BUFFER_INPUT, 0, kFourBytes, 0, nullptr}, {RICCI_BUFFER_OUTPUT, 0, kFourBytes, 0, nullptr}};
  p.libraries = {{&kCallbackLibrary, &callback, 1, 1, 1, 0, 0, 0}};
  p.Step(RICCI_STEP_LIBRARY, 0, {0, 1});
  return p;
}

TEST_F(LateCallbacks, WaitingForOneselfIsRefused) {
  Callback callback;
  LateCodeUser code(d, CallbackPlan(callback));
  void *x = d.Alloc(kFourBytes), *y = d.Alloc(kFourBytes), *z = d.Alloc(kFourBytes);
  void *stream = d.Stream(), *second = d.Stream(), *after = nullptr, *apart = nullptr;
  std::string waited, copied;
  callback.call = [&] {
    waited = ErrorOf(d.b.event_wait(d.b.self, after), RICCI_FAILED_PRECONDITION);
    Four values;
    copied = ErrorOf(d.Copy(RICCI_COPY_FROM_DEVICE, values.data(), x, kFourBytes, stream), RICCI_FAILED_PRECONDITION);
    Ok(d.b.event_wait(d.b.self, apart));  // it may wait for work that does not wait for this run
  };
  d.Put(x, kOnes, stream);
  Outcome outcome;
  void* end = code.Run({x}, {y}, stream, outcome);
  d.Put(z, kOnes, second);
  apart = d.Record(second);
  Ok(d.b.stream_wait(d.b.self, second, end));
  after = d.Record(second);
  d.WaitFor(end);
  EXPECT_EQ(waited, "late: event_wait within a callback of work that it waits for");
  EXPECT_EQ(copied, "late: copy within a callback of work that it waits for");
  EXPECT_EQ(d.Get(y), kOnes);
  d.WaitFor(after);
  d.b.event_drop(d.b.self, apart);
  d.b.stream_drop(d.b.self, stream);
  d.b.stream_drop(d.b.self, second);
  for (void* p : {x, y, z}) d.Free(p, kFourBytes);
}

// Callbacks on two threads that wait for each other's runs: one of them is refused, and both end.
TEST_F(LateCallbacks, CallbacksThatWaitForEachOtherAreRefused) {
  std::array<void*, 2> ends{}, streams{d.Stream(), d.Stream()};
  std::atomic<int> begun{0}, refused{0};
  std::array<Callback, 2> callbacks;
  for (int i = 0; i < 2; ++i) {
    callbacks[i].call = [&, i] {
      ++begun;
      while (begun < 2) std::this_thread::yield();
      if (ricci_status* s = d.b.event_wait(d.b.self, ends[1 - i])) {
        ++refused;
        ricci_status_free(s);
      }
    };
  }
  LateCodeUser first(d, CallbackPlan(callbacks[0])), second(d, CallbackPlan(callbacks[1]));
  std::array<Outcome, 2> outcomes;
  std::array<void*, 2> x{d.Alloc(kFourBytes), d.Alloc(kFourBytes)}, y{d.Alloc(kFourBytes), d.Alloc(kFourBytes)};
  ends[0] = first.Run({x[0]}, {y[0]}, streams[0], outcomes[0]);
  ends[1] = second.Run({x[1]}, {y[1]}, streams[1], outcomes[1]);
  std::thread thread([&] { Ok(d.b.event_wait(d.b.self, ends[0])); });
  Ok(d.b.event_wait(d.b.self, ends[1]));
  thread.join();
  EXPECT_EQ(refused, 1);
  for (int i = 0; i < 2; ++i) {
    EXPECT_TRUE(outcomes[i].called);
    d.b.event_drop(d.b.self, ends[i]);
    d.b.stream_drop(d.b.self, streams[i]);
    d.Free(x[i], kFourBytes);
    d.Free(y[i], kFourBytes);
  }
}

TEST_F(LateCallbacks, DoneMustNotCallTheDevice) {
  LateCodeUser code(d, AddOnePlan(), {AddOneKernel()});
  void *x = d.Alloc(kFourBytes), *y = d.Alloc(kFourBytes), *stream = d.Stream(), *event = nullptr;
  d.Put(x, kOnes);
  ricci_run_args a{};
  a.hdr.size = sizeof a;
  void *in[] = {x}, *out[] = {y}, *arena = d.Alloc(320);
  a.inputs = in;
  a.outputs = out;
  a.arena = arena;
  a.stream = stream;
  Ok(code.Enqueue(
      &a,
      [](void* arg, ricci_status* status, uint32_t) {
        auto& user = *static_cast<LateDeviceUser*>(arg);
        ricci_status_free(status);
        void* p = nullptr;
        EXPECT_EQ(ErrorOf(user.b.alloc(user.b.self, 8, nullptr, &p), RICCI_INTERNAL),
                  "late: alloc is called by `done`");
      },
      &d, &event));
  d.WaitFor(event);
  report = "late: alloc is called by `done`\n";
  d.b.stream_drop(d.b.self, stream);
  d.Free(x, kFourBytes);
  d.Free(y, kFourBytes);
  d.Free(arena, 320);
}

}  // namespace
}  // namespace ricci::testing
