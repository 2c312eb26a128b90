// The stand-in device `late`, through its table only: order, failures, callbacks, and what it reports at the end.
#include <gtest/gtest.h>

#include <functional>
#include <set>
#include <thread>

#include "support/late_test.h"

namespace ricci::testing { namespace {

constexpr Four kOnes{1, 1, 1, 1};

class LateBackend : public LateTest {};

// ---- one stream ----
TEST_F(LateBackend, NothingRunsUntilSomebodyWaits) {
  LateCodeUser code(d, AddOnePlan(), {AddOneKernel()});
  void *x = d.Alloc(kFourBytes), *y = d.Alloc(kFourBytes), *stream = d.Stream();
  d.Put(x, {1, 2, 3, 4}, stream);
  Outcome outcome;
  void* end = code.Run({x}, {y}, stream, outcome);
  EXPECT_EQ(late.executed(), 0);
  EXPECT_FALSE(outcome.called);
  d.WaitFor(end);
  EXPECT_TRUE(outcome.called);
  EXPECT_EQ(outcome.code, RICCI_OK);
  EXPECT_EQ(outcome.failed_check, RICCI_NO_CHECK);
  EXPECT_EQ(d.Get(y), (Four{2, 3, 4, 5}));
  d.b.stream_drop(d.b.self, stream);
  d.Free(x, kFourBytes);
  d.Free(y, kFourBytes);
}

TEST_F(LateBackend, OperationsOfAStreamKeepTheirOrder) {
  LateCodeUser code(d, AddOnePlan(), {AddOneKernel()});
  void* stream = d.Stream();
  void *x = d.Alloc(kFourBytes, stream), *y = d.Alloc(kFourBytes, stream);
  std::array<Outcome, 4> outcomes;
  d.Put(x, kOnes, stream);
  for (int i = 0; i < 4; ++i) code.Start({i % 2 == 0 ? x : y}, {i % 2 == 0 ? y : x}, stream, outcomes[i]);
  d.Free(y, kFourBytes, stream);
  EXPECT_EQ(d.Get(x, stream), (Four{5, 5, 5, 5}));
  d.Free(x, kFourBytes, stream);
  d.b.stream_drop(d.b.self, stream);  // runs what is left
}

TEST_F(LateBackend, BytesOfTheHostAreTakenWhenTheCopyIsEnqueued) {
  void *x = d.Alloc(kFourBytes), *stream = d.Stream();
  Four values = kOnes;
  d.Put(x, values, stream);
  values = {};
  EXPECT_EQ(d.Get(x, stream), kOnes);
  d.b.stream_drop(d.b.self, stream);
  d.Free(x, kFourBytes);
}

TEST_F(LateBackend, PollingEnds) {
  void *x = d.Alloc(kFourBytes), *stream = d.Stream();
  for (int i = 0; i < 5; ++i) d.Put(x, kOnes, stream);
  void* event = d.Record(stream);
  int polls = 1;
  while (!d.Come(event)) ++polls;
  EXPECT_GT(polls, 1);
  EXPECT_LE(polls, 6);
  d.b.event_drop(d.b.self, event);
  d.b.stream_drop(d.b.self, stream);
  d.Free(x, kFourBytes);
}

TEST_F(LateBackend, ResultsArePoisonUntilTheyAreComputed) {
  LateCodeUser code(d, AddOnePlan(), {AddOneKernel()});
  void *x = d.Alloc(kFourBytes), *y = d.Alloc(kFourBytes), *stream = d.Stream();
  const int32_t poison = static_cast<int32_t>(0xcbcbcbcb);
  EXPECT_EQ(d.Get(y), (Four{poison, poison, poison, poison}));
  d.Put(x, kOnes);
  d.Put(y, kOnes);
  late.FailNextRun();  // when it has begun
  Outcome outcome;
  d.WaitFor(code.Run({x}, {y}, stream, outcome));
  EXPECT_EQ(outcome.message, "late: this run fails as requested");
  EXPECT_EQ(outcome.failed_check, RICCI_NO_CHECK);
  EXPECT_EQ(d.Get(y), (Four{poison, poison, poison, poison}));
  d.b.stream_drop(d.b.self, stream);
  d.Free(x, kFourBytes);
  d.Free(y, kFourBytes);
}

TEST_F(LateBackend, ChecksThatFailAreReported) {
  LateCodeUser code(d, AddOnePlan(), {AddOneKernel()});
  void *x = d.Alloc(kFourBytes), *y = d.Alloc(kFourBytes), *stream = d.Stream();
  Outcome bad, good;
  d.Put(x, {1, 2, 100, 4}, stream);
  code.Start({x}, {y}, stream, bad);
  d.Put(x, kOnes, stream);
  d.WaitFor(code.Run({x}, {y}, stream, good));
  EXPECT_EQ(bad.code, RICCI_OK);
  EXPECT_EQ(bad.failed_check, 7);
  EXPECT_EQ(good.failed_check, RICCI_NO_CHECK);
  d.b.stream_drop(d.b.self, stream);
  d.Free(x, kFourBytes);
  d.Free(y, kFourBytes);
}

// ---- several streams ----
// Two runs of two streams end in both orders, depending on the seed; with an event in one order only.
TEST(LateOrder, StreamsOvertakeEachOtherUnlessTheyWait) {
  for (const bool waits : {false, true}) {
    std::set<std::vector<int>> orders;
    for (uint64_t seed = 0; seed < 40; ++seed) {
      LateDevices late({.seed = seed});
      LateDeviceUser d(late.Backend(0)), other(late.Backend(1));
      {
        LateCodeUser code(d, AddOnePlan(), {AddOneKernel()}), there(other, AddOnePlan(), {AddOneKernel()});
        void *x = d.Alloc(kFourBytes), *y = d.Alloc(kFourBytes), *u = other.Alloc(kFourBytes),
             *v = other.Alloc(kFourBytes);
        d.Put(x, kOnes);
        other.Put(u, kOnes);
        void *stream = d.Stream(), *stream_there = other.Stream();
        std::vector<int> order;
        Outcome first{.order = &order, .number = 1}, second{.order = &order, .number = 2};
        void* event = code.Run({x}, {y}, stream, first);
        if (waits) Ok(other.b.stream_wait(other.b.self, stream_there, event));
        d.b.event_drop(d.b.self, event);
        there.Start({u}, {v}, stream_there, second);
        other.b.stream_drop(other.b.self, stream_there);
        EXPECT_TRUE(second.called);
        d.b.stream_drop(d.b.self, stream);
        orders.insert(order);
        d.Free(x, kFourBytes);
        d.Free(y, kFourBytes);
        other.Free(u, kFourBytes);
        other.Free(v, kFourBytes);
      }
      EXPECT_EQ(late.Report(), "");
    }
    EXPECT_EQ(orders.size(), waits ? 1 : 2);
    EXPECT_EQ(orders.count({1, 2}), 1);
  }
}

TEST_F(LateBackend, CopiesBetweenDevices) {
  void *x = d.Alloc(kFourBytes), *u = other.Alloc(kFourBytes), *stream = d.Stream(), *there = other.Stream();
  d.Put(x, kOnes, stream);
  void* event = d.Record(stream);
  Ok(other.b.stream_wait(other.b.self, there, event));
  d.b.event_drop(d.b.self, event);
  Ok(other.Copy(RICCI_COPY_BETWEEN_DEVICES, u, x, kFourBytes, there, d.b.self));
  EXPECT_EQ(other.Get(u, there), kOnes);
  d.b.stream_drop(d.b.self, stream);
  other.b.stream_drop(other.b.self, there);
  d.Free(x, kFourBytes);
  other.Free(u, kFourBytes);
}

TEST_F(LateBackend, MemoryOfAnotherStreamNeedsAWait) {
  LateCodeUser code(d, AddOnePlan(), {AddOneKernel()});
  void *x = d.Alloc(kFourBytes), *y = d.Alloc(kFourBytes), *stream = d.Stream(), *second = d.Stream();
  d.Put(x, kOnes, stream);
  Outcome outcome;
  void* event = nullptr;
  EXPECT_EQ(ErrorOf(code.Try({x}, {y}, second, outcome, &event), RICCI_INTERNAL),
            "late: a run touches memory of a copy in another stream, and does not wait for it");
  Four values;
  EXPECT_EQ(ErrorOf(d.Copy(RICCI_COPY_FROM_DEVICE, values.data(), x, kFourBytes, nullptr), RICCI_INTERNAL),
            "late: copy touches memory of a copy in another stream, and does not wait for it");
  d.Free(x, kFourBytes);
  report =
      "late: a free touches memory of a copy in another stream, and does not wait for it\n"
      "late: the destination of a copy was freed before: allocation 2\n";
  EXPECT_FALSE(outcome.called);
  d.b.stream_drop(d.b.self, second);
  d.b.stream_drop(d.b.self, stream);
  d.Free(y, kFourBytes);
}

TEST_F(LateBackend, FourThreadsWaitAtOnce) {
  constexpr int kRuns = 20;
  LateCodeUser code(d, AddOnePlan(), {AddOneKernel()});
  void *x = d.Alloc(kFourBytes), *y = d.Alloc(kFourBytes), *stream = d.Stream();
  d.Put(x, kOnes, stream);
  std::array<Outcome, kRuns> outcomes;
  std::array<void*, kRuns> events;
  for (int i = 0; i < kRuns; ++i) events[i] = code.Run({i % 2 == 0 ? x : y}, {i % 2 == 0 ? y : x}, stream, outcomes[i]);
  std::vector<std::thread> threads;
  for (int t = 0; t < 4; ++t) {
    threads.emplace_back([&, t] {
      LateCodeUser own(other, AddOnePlan(), {AddOneKernel()});
      void *u = other.Alloc(kFourBytes), *v = other.Alloc(kFourBytes), *mine = other.Stream();
      other.Put(u, kOnes, mine);
      Outcome outcome;
      own.Start({u}, {v}, mine, outcome);
      for (int i = t; i < kRuns; i += 4) {
        Ok(d.b.event_wait(d.b.self, events[i]));
        EXPECT_TRUE(outcomes[i].called);
      }
      EXPECT_EQ(other.Get(v, mine), (Four{2, 2, 2, 2}));
      other.Free(u, kFourBytes, mine);
      other.Free(v, kFourBytes, mine);
      other.b.stream_drop(other.b.self, mine);
    });
  }
  for (std::thread& t : threads) t.join();
  for (void* e : events) d.b.event_drop(d.b.self, e);
  EXPECT_EQ(d.Get(x), (Four{1 + kRuns, 1 + kRuns, 1 + kRuns, 1 + kRuns}));
  d.b.stream_drop(d.b.self, stream);
  d.Free(x, kFourBytes);
  d.Free(y, kFourBytes);
}

// ---- failures ----
TEST_F(LateBackend, EachCallFailsWhenToldAndLeavesNothingHalfDone) {
  LateCodeUser code(d, AddOnePlan(), {AddOneKernel()});
  void *x = d.Alloc(kFourBytes), *y = d.Alloc(kFourBytes);
  void *stream = nullptr, *event = nullptr, *end = nullptr, *p = nullptr;
  Outcome outcome;
  uint32_t come = 0;
  Four values{};
  uint64_t bytes = 0;
  const std::vector<std::pair<std::string, std::function<ricci_status*()>>> calls = {
      {"alloc", [&] { return d.b.alloc(d.b.self, 8, nullptr, &p); }},
      {"stream_create", [&] { return d.b.stream_create(d.b.self, &stream); }},
      {"copy", [&] { return d.Copy(RICCI_COPY_TO_DEVICE, x, kOnes.data(), kFourBytes, stream); }},
      {"enqueue", [&] { return code.Try({x}, {y}, stream, outcome, &end); }},
      {"event_record", [&] { return d.b.event_record(d.b.self, stream, &event); }},
      {"stream_wait", [&] { return d.b.stream_wait(d.b.self, stream, event); }},
      {"event_query", [&] { return d.b.event_query(d.b.self, event, &come); }},
      {"event_wait", [&] { return d.b.event_wait(d.b.self, event); }},
      {"copy", [&] { return d.Copy(RICCI_COPY_FROM_DEVICE, values.data(), y, kFourBytes, stream); }},
      {"memory_info", [&] { return d.b.memory_info(d.b.self, &bytes, &bytes); }}};
  for (const auto& [name, call] : calls) {
    late.FailCall(1);
    EXPECT_EQ(ErrorOf(call(), RICCI_INTERNAL), "late: call 1 (" + name + ") fails as requested");
    Ok(call());
    EXPECT_EQ(late.calls(), 2);
  }
  EXPECT_EQ(values, (Four{2, 2, 2, 2}));
  EXPECT_TRUE(outcome.called);
  late.FailCall(1);
  EXPECT_EQ(ErrorOf(d.b.compile(d.b.self, nullptr, nullptr, nullptr), RICCI_INTERNAL),
            "late: call 1 (compile) fails as requested");
  late.FailCall(2, RICCI_RESOURCE_EXHAUSTED);
  d.Free(d.Alloc(8), 8);
  void* q = nullptr;
  EXPECT_EQ(ErrorOf(d.b.alloc(d.b.self, 8, nullptr, &q), RICCI_RESOURCE_EXHAUSTED),
            "late: call 2 (alloc) fails as requested");
  d.b.event_drop(d.b.self, event);
  d.b.event_drop(d.b.self, end);
  d.b.stream_drop(d.b.self, stream);
  d.Free(p, 8);
  d.Free(x, kFourBytes);
  d.Free(y, kFourBytes);
}

TEST_F(LateBackend, CopiesThatFailLateFailTheirReaders) {
  LateCodeUser code(d, AddOnePlan(), {AddOneKernel()});
  void *x = d.Alloc(kFourBytes), *y = d.Alloc(kFourBytes), *stream = d.Stream();
  Outcome bad, good;
  late.FailNextCopy();
  d.Put(x, kOnes, stream);
  code.Start({x}, {y}, stream, bad);
  d.Put(x, kOnes, stream);
  d.WaitFor(code.Run({x}, {y}, stream, good));
  EXPECT_EQ(bad.message, "late: this copy fails as requested");
  EXPECT_EQ(good.message, "");
  d.b.stream_drop(d.b.self, stream);
  d.Free(x, kFourBytes);
  d.Free(y, kFourBytes);
}

TEST_F(LateBackend, WrongStreamsAndEventsAreRefused) {
  void *stream = d.Stream(), *there = other.Stream(), *event = d.Record(stream), *out = nullptr;
  EXPECT_EQ(ErrorOf(d.b.event_record(d.b.self, there, &out)), "late: a stream of device 1 is used on device 0");
  EXPECT_EQ(ErrorOf(other.b.event_wait(other.b.self, event)), "late: an event of device 0 is used on device 1");
  d.WaitFor(event);
  EXPECT_EQ(ErrorOf(d.b.event_wait(d.b.self, event)), "late: no such event");
  d.b.stream_drop(d.b.self, stream);
  other.b.stream_drop(other.b.self, there);
  EXPECT_EQ(ErrorOf(d.b.event_record(d.b.self, stream, &out)), "late: no such stream");
  d.b.stream_drop(d.b.self, stream);
  report = "late: no such stream\n";
}

// ---- steps of a plan ----
// Three steps: the third reads what the first wrote, the second is independent. Each records its number.
struct Noting {
  std::vector<int>* notes;
  int number;
  static ricci_status* Launch(void* state, const ricci_launch*) {
    const auto& n = *static_cast<Noting*>(state);
    n.notes->push_back(n.number);
    return nullptr;
  }
};

TEST_F(LateBackend, StepsRunInAnyLegalOrder) {
  static const ricci_library library{{}, nullptr, Noting::Launch, nullptr};
  std::vector<int> notes;
  std::array<Noting, 3> noting{{{&notes, 0}, {&notes, 1}, {&notes, 2}}};
  kernel::Plan p;
  p.n_inputs = p.n_outputs = 1;
  p.arena_bytes = 256;
  p.buffers = {{RICCI_BUFFER_INPUT, 0, kFourBytes, 0, nullptr},
               {RICCI_BUFFER_OUTPUT, 0, kFourBytes, 0, nullptr},
               {RICCI_BUFFER_ARENA, 0, kFourBytes, 0, nullptr},
               {RICCI_BUFFER_ARENA, 0, kFourBytes, 64, nullptr}};
  for (Noting& n : noting) p.libraries.push_back({&library, &n, 1, 1, 1, 0, 0, 0});
  p.Step(RICCI_STEP_LIBRARY, 0, {0, 2});
  p.Step(RICCI_STEP_LIBRARY, 1, {0, 3});
  p.Step(RICCI_STEP_LIBRARY, 2, {2, 1});
  LateCodeUser code(d, p);
  void *x = d.Alloc(kFourBytes), *y = d.Alloc(kFourBytes), *stream = d.Stream();
  std::set<std::vector<int>> orders;
  for (int i = 0; i < 100; ++i) {
    notes.clear();
    Outcome outcome;
    d.WaitFor(code.Run({x}, {y}, stream, outcome));
    EXPECT_EQ(outcome.code, RICCI_OK) << outcome.message;
    orders.insert(notes);
  }
  EXPECT_EQ(orders, (std::set<std::vector<int>>{{0, 1, 2}, {0, 2, 1}, {1, 0, 2}}));
  d.b.stream_drop(d.b.self, stream);
  d.Free(x, kFourBytes);
  d.Free(y, kFourBytes);
}

// ---- what is left at the end ----
TEST(LateReport, WhatIsLeftIsListed) {
  LateDevices late;
  LateDeviceUser d(late.Backend(1));
  auto code = std::make_unique<LateCodeUser>(d, AddOnePlan(), std::vector{AddOneKernel()});
  EXPECT_EQ(late.Report(), "device 1: allocation 0 (320 bytes)\ndevice 1: allocation 1 (4 bytes)\ndevice 1: 1 code\n");
  code.reset();
  void *x = d.Alloc(8), *stream = d.Stream(), *event = d.Record(stream);
  d.Free(x, 8, stream);
  EXPECT_EQ(late.Report(),
            "device 1: allocation 2 (8 bytes)\ndevice 1: a stream\ndevice 1: event_record, never executed\n"
            "device 1: a free, never executed\ndevice 1: an event\n");
  d.b.event_drop(d.b.self, event);
  d.b.stream_drop(d.b.self, stream);
  EXPECT_EQ(late.Report(), "");
}

}  // namespace
}  // namespace ricci::testing
