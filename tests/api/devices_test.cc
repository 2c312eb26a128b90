// Devices with memory and time of their own, on `late`: arrays, runs under way, streams and events.
#include "support/devices.h"

namespace ricci::testing { namespace {

TEST_F(Devices, OrderAndOrdinals) {
  std::string order;
  for (uint32_t i = 0; i < ricci_device_count(ctx); ++i) {
    const ricci_device_desc d = Info(ricci_device_get(ctx, i));
    order += std::string(d.kind.ptr, d.kind.len) + ":" + std::to_string(d.ordinal) + " ";
  }
  EXPECT_EQ(order, "late:0 late:1 ref:0 ") << "of the last plugin first, each in the order of registration";
  EXPECT_EQ(ricci_device_find(ctx, "late", 4), ricci_device_get(ctx, 0));
  const ricci_device_desc late_desc = Info(device), ref_desc = Info(ref);
  EXPECT_EQ(late_desc.host_memory, 0u);
  EXPECT_EQ(late_desc.host_visible, 0u);
  EXPECT_EQ(late_desc.alignment, 256u);
  EXPECT_EQ(ref_desc.host_memory, 1u);
  EXPECT_EQ(ref_desc.host_visible, 1u);
  EXPECT_EQ(ref_desc.alignment, 64u);
}

TEST_F(Devices, ARunIsUnderWayUntilItsResultsAreRead) {
  ricci_executable* x = CompileText(kAddText);
  ricci_array *a = Floats({1, 2, 3, 4}), *in[2] = {a, a}, *out = nullptr;
  ASSERT_TRUE(Ok(ricci_executable_enqueue(x, in, 2, &out, 1, nullptr)));
  EXPECT_EQ(ricci_array_data(out), nullptr) << "the host cannot read it there";
  EXPECT_NE(ricci_array_device_data(out), nullptr);
  EXPECT_EQ(Read(out), (std::vector<float>{2, 4, 6, 8}));
  EXPECT_EQ(ricci_array_is_ready(out), 1u);
  EXPECT_TRUE(Ok(ricci_array_wait(out)));
  Release({a, out});
  ricci_executable_release(x);
}

TEST_F(Devices, AskingIsEnoughForAnEnd) {
  ricci_executable* x = CompileText(kAddText);
  ricci_array *a = Floats({1, 2, 3, 4}), *in[2] = {a, a}, *out = nullptr;
  ASSERT_TRUE(Ok(ricci_executable_enqueue(x, in, 2, &out, 1, nullptr)));
  int asked = 0;
  while (ricci_array_is_ready(out) == 0 && asked < 1000) ++asked;
  EXPECT_GT(asked, 0);
  EXPECT_EQ(Read(out), (std::vector<float>{2, 4, 6, 8}));
  Release({a, out});
  ricci_executable_release(x);
}

// Each run uses the results of the one before, on streams in turn; nothing waits in between.
TEST_F(Devices, ChainsOverStreams) {
  ricci_executable* x = CompileText(kAddText);
  for (const int length : {3, 40, 300}) {
    std::vector<ricci_stream*> streams = {NewStream(), NewStream(), NewStream()};
    ricci_array *one = Floats({1, 1, 1, 1}), *sum = Floats({0, 0, 0, 0});
    for (int i = 0; i < length; ++i) {
      ricci_run_opts o = ricci_run_opts_default();
      o.stream = streams[static_cast<size_t>(i * i % 7 % 3)];
      ricci_array *in[2] = {sum, one}, *out = nullptr;
      ASSERT_TRUE(Ok(ricci_executable_enqueue(x, in, 2, &out, 1, &o)));
      ricci_array_release(std::exchange(sum, out));
    }
    for (ricci_stream* s : streams) ricci_stream_release(s);
    EXPECT_EQ(Read(sum), std::vector<float>(4, static_cast<float>(length)));
    Release({one, sum});
  }
  ricci_executable_release(x);
}

// Memory is given back in the order of the streams: every time, and never early.
TEST_F(Devices, ReleasesWaitForNobody) {
  ricci_executable* x = CompileText(kTwoSortsText);
  for (int i = 0; i < 50; ++i) {
    ricci_run_opts o = ricci_run_opts_default();
    ricci_stream* stream = o.stream = NewStream();
    ricci_array *a = Floats({4, 3, 2, 1}), *out = nullptr, *again = nullptr;
    ASSERT_TRUE(Ok(ricci_executable_enqueue(x, &a, 1, &out, 1, &o)));
    ricci_array_release(a);
    ASSERT_TRUE(Ok(ricci_executable_enqueue(x, &out, 1, &again, 1, nullptr)));
    ricci_array_release(out);
    if (i % 2 == 0) {
      EXPECT_EQ(Read(again), (std::vector<float>{1, 2, 3, 4}));
    }
    ricci_array_release(again);
    ricci_stream_release(stream);
  }
  ricci_executable_release(x);
}

TEST_F(Devices, DonatedMemoryIsWrittenAfterItsReaders) {
  ricci_executable *negate = CompileText(kNegateText, {1}), *read = CompileText(kNegateText);
  for (int i = 0; i < 30; ++i) {
    ricci_run_opts o = ricci_run_opts_default();
    ricci_stream* stream = o.stream = NewStream();
    ricci_array *a = Floats(std::vector<float>(64, 1.5f)), *copy = nullptr, *out = nullptr;
    void* const memory = ricci_array_device_data(a);
    ASSERT_TRUE(Ok(ricci_executable_enqueue(read, &a, 1, &copy, 1, &o)));
    ASSERT_TRUE(Ok(ricci_executable_enqueue(negate, &a, 1, &out, 1, nullptr)));
    EXPECT_EQ(ricci_array_device_data(out), memory);
    EXPECT_EQ(ricci_array_device_data(a), nullptr);
    EXPECT_EQ(ErrorOf(ricci_executable_enqueue(read, &a, 1, &copy, 1, nullptr), RICCI_FAILED_PRECONDITION),
              "argument 0 of program negate was donated to an earlier run and has no data any more");
    EXPECT_EQ(Read(out), std::vector<float>(64, -1.5f));
    EXPECT_EQ(Read(copy), std::vector<float>(64, -1.5f));
    EXPECT_EQ(ErrorOf(ricci_array_wait(a), RICCI_FAILED_PRECONDITION),
              "ricci_array_wait: the array was donated to a run and has no data");
    Release({a, copy, out});
    ricci_stream_release(stream);
  }
  for (ricci_executable* x : {negate, read}) ricci_executable_release(x);
}

// ---- failures that come late ----
TEST_F(Devices, AFailedRunPoisonsItsResultsAndWhatUsesThem) {
  ricci_executable* x = CompileText(kAddText);
  ricci_array *a = Floats({1, 2, 3, 4}), *b = Floats({1, 1, 1, 1});
  ricci_array *in[2] = {a, b}, *failed = nullptr, *user = nullptr, *bystander = nullptr;
  late->FailNextRun();
  ASSERT_TRUE(Ok(ricci_executable_enqueue(x, in, 2, &failed, 1, nullptr)));
  ricci_array* uses[2] = {failed, b};
  ASSERT_TRUE(Ok(ricci_executable_enqueue(x, uses, 2, &user, 1, nullptr)));
  ASSERT_TRUE(Ok(ricci_executable_enqueue(x, in, 2, &bystander, 1, nullptr)));
  const std::string why = ErrorOf(ricci_array_wait(user), RICCI_INTERNAL);
  EXPECT_NE(why.find("fails as requested"), why.npos) << why;
  EXPECT_EQ(ErrorOf(ricci_array_wait(failed), RICCI_INTERNAL), why);
  float values[4];
  EXPECT_EQ(ErrorOf(ricci_array_copy_to_host(failed, values, sizeof values), RICCI_INTERNAL), why);
  EXPECT_EQ(Read(bystander), (std::vector<float>{2, 3, 4, 5}));
  EXPECT_EQ(Read(a), (std::vector<float>{1, 2, 3, 4})) << "arguments that were not donated are as they were";
  ricci_array* out = nullptr;
  EXPECT_EQ(ErrorOf(ricci_executable_enqueue(x, uses, 2, &out, 1, nullptr), RICCI_INTERNAL), why) << "known by now";
  ricci_array* put = nullptr;
  EXPECT_EQ(ErrorOf(ricci_device_put(failed, ref, &put), RICCI_INTERNAL), why);
  Release({a, b, failed, user, bystander});
  ricci_executable_release(x);
}

TEST_F(Devices, AFailedRunPoisonsDonatedArguments) {
  ricci_executable* x = CompileText(kNegateText, {1});
  ricci_array *a = Floats(std::vector<float>(64, 1.0f)), *out = nullptr;
  late->FailNextRun();
  ASSERT_TRUE(Ok(ricci_executable_enqueue(x, &a, 1, &out, 1, nullptr)));
  const std::string why = ErrorOf(ricci_array_wait(a), RICCI_INTERNAL);
  EXPECT_NE(why.find("fails as requested"), why.npos) << why;
  EXPECT_EQ(ErrorOf(ricci_array_wait(out), RICCI_INTERNAL), why);
  Release({a, out});
  ricci_executable_release(x);
}

TEST_F(Devices, ChecksThatDoNotHold) {
  ricci_executable* x = CompileText(kCheckedText);
  ricci_array *bad = Floats({1, -2, 3, 4}), *good = Floats({1, 2, 3, 4}), *out[2] = {};
  ASSERT_TRUE(Ok(ricci_executable_enqueue(x, &bad, 1, &out[0], 1, nullptr)));
  ASSERT_TRUE(Ok(ricci_executable_enqueue(x, &good, 1, &out[1], 1, nullptr)));
  EXPECT_EQ(ErrorOf(ricci_array_wait(out[0]), RICCI_FAILED_PRECONDITION), "t:6: check: some are negative");
  EXPECT_EQ(Read(out[1]), (std::vector<float>{1, 2, 3, 4}));
  ricci_array* none = nullptr;
  EXPECT_EQ(ErrorOf(ricci_executable_run(x, &bad, 1, &none, 1, nullptr), RICCI_FAILED_PRECONDITION),
            "t:6: check: some are negative");
  EXPECT_EQ(none, nullptr);
  Release({bad, good, out[0], out[1]});
  ricci_executable_release(x);
}

// ---- from device to device ----
TEST_F(Devices, PutsFromEverywhereToEverywhere) {
  ricci_device* const all[] = {device, second, ref};
  for (ricci_device* from : all) {
    for (ricci_device* to : all) {
      ricci_array *a = FloatsOn(from, {1, 2, 3, 4}), *b = nullptr;
      ASSERT_TRUE(Ok(ricci_device_put(a, to, &b)));
      EXPECT_EQ(ricci_array_device(b), to);
      EXPECT_EQ(a == b, from == to) << "no copy where it is already";
      ricci_array_release(a);
      EXPECT_EQ(Read(b), (std::vector<float>{1, 2, 3, 4}));
      ricci_array_release(b);
    }
  }
}

TEST_F(Devices, ResultsThatAreUnderWayArePut) {
  ricci_executable* x = CompileText(kAddText);
  for (ricci_device* to : {second, ref}) {
    ricci_array *a = Floats({1, 2, 3, 4}), *in[2] = {a, a}, *out = nullptr, *put = nullptr;
    ASSERT_TRUE(Ok(ricci_executable_enqueue(x, in, 2, &out, 1, nullptr)));
    ASSERT_TRUE(Ok(ricci_device_put(out, to, &put)));
    Release({a, out});
    EXPECT_EQ(Read(put), (std::vector<float>{2, 4, 6, 8}));
    ricci_array_release(put);
  }
  ricci_executable_release(x);
}

TEST_F(Devices, UncommittedArgumentsFollowTheRun) {
  ricci_executable* x = CompileText(kAddText);
  ricci_array_opts o = ricci_array_opts_default();
  o.hdr.flags = RICCI_ARRAY_UNCOMMITTED;
  for (ricci_device* from : {ref, second, device}) {
    ricci_array *a = FloatsOn(from, {1, 2, 3, 4}, &o), *in[2] = {a, a}, *out = nullptr;
    EXPECT_EQ(ricci_array_is_committed(a), 0u);
    ASSERT_TRUE(Ok(ricci_executable_run(x, in, 2, &out, 1, nullptr)));
    EXPECT_EQ(ricci_array_device(out), device);
    EXPECT_EQ(ricci_array_device(a), from);
    EXPECT_EQ(ricci_array_is_committed(out), 1u) << "the program was compiled for the device by name";
    EXPECT_EQ(Read(out), (std::vector<float>{2, 4, 6, 8}));
    Release({a, out});
  }
  ricci_executable_release(x);
  ricci_program* f = Parse(kAddText);
  ASSERT_TRUE(Ok(ricci_compile(f, nullptr, &x)));
  for (const uint32_t flags : {0u, uint32_t{RICCI_ARRAY_UNCOMMITTED}}) {
    o.hdr.flags = flags;
    ricci_array *a = FloatsOn(device, {1, 2, 3, 4}, &o), *in[2] = {a, a}, *out = nullptr;
    ASSERT_TRUE(Ok(ricci_executable_run(x, in, 2, &out, 1, nullptr)));
    EXPECT_EQ(ricci_array_is_committed(out), flags == 0);
    Release({a, out});
  }
  ricci_program_release(f);
  ricci_executable_release(x);
}

// ---- streams and events ----
TEST_F(Devices, EventsOfBoundCalls) {
  ricci_executable* x = CompileText(kAddText);
  ricci_call* call = nullptr;
  ASSERT_TRUE(Ok(ricci_call_create(x, &call)));
  ricci_array *a = Floats({1, 2, 3, 4}), *b = Floats({1, 1, 1, 1}), *out = Floats({0, 0, 0, 0});
  ASSERT_TRUE(Ok(ricci_array_wait(out)));
  EXPECT_EQ(ErrorOf(ricci_call_run(call), RICCI_FAILED_PRECONDITION),
            "call: slot 0 (argument 0 of program plus) is not bound");
  Bind(call, {a, b, out});
  ricci_event* end = nullptr;
  ASSERT_TRUE(Ok(ricci_call_enqueue(call, nullptr, &end)));
  uint32_t come = 1;
  ASSERT_TRUE(Ok(ricci_event_query(end, &come)));
  EXPECT_TRUE(Ok(ricci_event_wait(end)));
  ASSERT_TRUE(Ok(ricci_event_query(end, &come)));
  EXPECT_EQ(come, 1u);
  EXPECT_EQ(Read(out), (std::vector<float>{2, 3, 4, 5}));
  ricci_event_release(end);
  for (int i = 0; i < 5; ++i) ASSERT_TRUE(Ok(ricci_call_run(call)));
  late->FailNextRun();
  ASSERT_TRUE(Ok(ricci_call_enqueue(call, nullptr, &end)));
  EXPECT_NE(ErrorOf(ricci_event_wait(end), RICCI_INTERNAL), "");
  ricci_event_release(end);
  ASSERT_TRUE(Ok(ricci_call_enqueue(call, nullptr, nullptr)));
  ASSERT_TRUE(Ok(ricci_call_run(call)));  // follows it; bound memory must stay until the end
  ASSERT_TRUE(Ok(ricci_call_enqueue(call, nullptr, &end)));
  ricci_call_release(call);
  EXPECT_TRUE(Ok(ricci_event_wait(end)));
  ricci_event_release(end);
  ricci_executable_release(x);
  Release({a, b, out});
}

TEST_F(Devices, AStreamWaitsForAnotherOne) {
  ricci_stream *s = NewStream(), *t = NewStream(second);
  ricci_event *e = nullptr, *f = nullptr;
  ASSERT_TRUE(Ok(ricci_stream_record(s, &e)));
  ASSERT_TRUE(Ok(ricci_stream_wait_event(t, e)));
  ASSERT_TRUE(Ok(ricci_stream_record(t, &f)));
  EXPECT_TRUE(Ok(ricci_event_wait(f)));
  uint32_t come = 0;
  ASSERT_TRUE(Ok(ricci_event_query(e, &come)));
  EXPECT_EQ(come, 1u);
  EXPECT_TRUE(Ok(ricci_stream_synchronize(t)));
  EXPECT_EQ(ricci_stream_device(t), second);
  ricci_event_retain(e);
  for (ricci_event* i : {e, e, f}) ricci_event_release(i);
  for (ricci_stream* i : {s, t}) ricci_stream_release(i);
}

TEST_F(Devices, StreamsOfTheHostAreWrapped) {
  ricci_stream *own = NewStream(), *wrapped = nullptr;
  ASSERT_TRUE(Ok(ricci_stream_wrap(device, ricci_stream_native(own), &wrapped)));
  ricci_run_opts o = ricci_run_opts_default();
  o.stream = wrapped;
  ricci_executable* x = CompileText(kAddText);
  ricci_array *a = Floats({1, 2, 3, 4}), *in[2] = {a, a}, *out = nullptr;
  ASSERT_TRUE(Ok(ricci_executable_enqueue(x, in, 2, &out, 1, &o)));
  ricci_stream_release(wrapped);
  EXPECT_TRUE(Ok(ricci_stream_synchronize(own)));
  EXPECT_EQ(Read(out), (std::vector<float>{2, 4, 6, 8}));
  Release({a, out});
  ricci_stream_release(own);
  ricci_executable_release(x);
}

TEST_F(Devices, WrapsMemoryOfADevice) {
  ricci_array *owner = Floats({1, 2, 3, 4}), *wrapped = nullptr, *out = nullptr;
  ASSERT_TRUE(Ok(ricci_array_wait(owner)));
  static int drops;
  drops = 0;
  ASSERT_TRUE(Ok(ricci_array_wrap(
      device, Type(RICCI_F32, {4}), ricci_array_device_data(owner), [](void*) { ++drops; }, nullptr, nullptr,
      &wrapped)));
  ricci_executable* x = CompileText(kAddText);
  ricci_array* in[2] = {wrapped, wrapped};
  ASSERT_TRUE(Ok(ricci_executable_enqueue(x, in, 2, &out, 1, nullptr)));
  ricci_array_release(wrapped);
  EXPECT_EQ(drops, 1);
  EXPECT_EQ(ricci_array_is_ready(out), 1u) << "the release waited for the run that reads it";
  EXPECT_EQ(Read(out), (std::vector<float>{2, 4, 6, 8}));
  Release({owner, out});
  ricci_executable_release(x);
}

// On the host everything is done when a call returns; the same calls work.
TEST_F(Devices, TheHostsDeviceHasStreamsToo) {
  ricci_stream *s = NewStream(ref), *w = nullptr;
  ricci_event* e = nullptr;
  EXPECT_EQ(ricci_stream_native(s), nullptr);
  ASSERT_TRUE(Ok(ricci_stream_record(s, &e)));
  uint32_t come = 0;
  ASSERT_TRUE(Ok(ricci_event_query(e, &come)));
  EXPECT_EQ(come, 1u);
  EXPECT_TRUE(Ok(ricci_event_wait(e)));
  EXPECT_TRUE(Ok(ricci_stream_wait_event(s, e)));
  EXPECT_TRUE(Ok(ricci_stream_synchronize(s)));
  EXPECT_EQ(ErrorOf(ricci_stream_wrap(ref, &w, &w)),
            "ricci_stream_wrap: device ref has no streams of its own; native must be NULL");
  ricci_program* f = Parse(kAddText);
  ricci_executable* x = CompileOn(ref, f);
  ricci_run_opts o = ricci_run_opts_default();
  o.stream = s;
  ricci_array *a = FloatsOn(ref, {1, 2, 3, 4}), *in[2] = {a, a}, *out = nullptr;
  ASSERT_TRUE(Ok(ricci_executable_enqueue(x, in, 2, &out, 1, &o)));
  EXPECT_EQ(ricci_array_is_ready(out), 1u);
  EXPECT_NE(ricci_array_data(out), nullptr);
  Release({a, out});
  ricci_executable_release(x);
  ricci_program_release(f);
  ricci_event_release(e);
  ricci_stream_release(s);
}

// ---- runs that the host ends ----
constexpr std::string_view kEndlessText = R"(
program endless(%x: f32[]) {
  %y: f32[] = while(%x) cond_nconsts=0 body_nconsts=0 cond=program(%a: f32[]) {
    %l: f32[] = constant 1
    %p: bool[] = lt(%a, %l)
    return %p
  } body=program(%a: f32[]) {
    %h: f32[] = constant 0.5
    %b: f32[] = mul(%a, %h)
    return %b
  }
  return %y
})";

TEST_F(Devices, TheHostEndsRuns) {
  ricci_program* f = Parse(kEndlessText);
  for (ricci_device* on : {device, ref}) {
    ricci_executable* x = CompileOn(on, f);
    const float zero = 0;
    const uint32_t set = 1;
    ricci_array *a = nullptr, *out = nullptr;
    ASSERT_TRUE(Ok(ricci_array_from_host(on, Type(RICCI_F32, {}), &zero, nullptr, &a)));
    ricci_run_opts o = ricci_run_opts_default();
    o.cancel = &set;
    EXPECT_NE(ErrorOf(ricci_executable_run(x, &a, 1, &out, 1, &o), RICCI_CANCELLED), "");
    o.cancel = nullptr;
    o.deadline_ns = 1;  // long ago
    EXPECT_NE(ErrorOf(ricci_executable_run(x, &a, 1, &out, 1, &o), RICCI_DEADLINE_EXCEEDED), "");
    EXPECT_EQ(out, nullptr);
    ricci_array_release(a);
    ricci_executable_release(x);
  }
  ricci_program_release(f);
}

TEST_F(Devices, ACancelledRunTellsItsResults) {
  ricci_executable* x = CompileText(kEndlessText);
  const float zero = 0;
  uint32_t cancel = 0;
  ricci_array *a = nullptr, *out = nullptr;
  ASSERT_TRUE(Ok(ricci_array_from_host(device, Type(RICCI_F32, {}), &zero, nullptr, &a)));
  ricci_run_opts o = ricci_run_opts_default();
  o.cancel = &cancel;
  ASSERT_TRUE(Ok(ricci_executable_enqueue(x, &a, 1, &out, 1, &o)));
  cancel = 1;
  EXPECT_NE(ErrorOf(ricci_array_wait(out), RICCI_CANCELLED), "");
  Release({a, out});
  ricci_executable_release(x);
}

TEST_F(Devices, Memory) {
  uint64_t total = 0, before = 0, now = 0;
  ASSERT_TRUE(Ok(ricci_device_memory(device, &total, &before)));
  EXPECT_GE(total, before);
  ricci_array* a = Floats(std::vector<float>(1000, 1.0f));
  ASSERT_TRUE(Ok(ricci_device_memory(device, &total, &now)));
  EXPECT_GE(before, now + 4000);
  ricci_array_release(a);
  ASSERT_TRUE(Ok(ricci_device_memory(ref, &total, &now)));
  EXPECT_GT(total, now);
}

}  // namespace
}  // namespace ricci::testing
