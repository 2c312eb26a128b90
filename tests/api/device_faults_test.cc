// What can go wrong with devices, on `late`: the wrong memory, arrays or streams, calls of the backend that fail in
// turn.
#include "support/devices.h"

namespace ricci::testing { namespace {

class DeviceFaults : public Devices {
 protected:
  using Devices::Devices;
};

// ---- bad input ----
TEST_F(DeviceFaults, ProfilesOfDevicesThatReportNoSteps) {
  ricci_program* f = Parse(kAddText);
  ricci_compile_opts o = ricci_compile_opts_default();
  o.hdr.flags = RICCI_COMPILE_PROFILED;
  o.devices = &device;
  o.n_devices = 1;
  ricci_executable* x = nullptr;
  EXPECT_EQ(ErrorOf(ricci_compile(f, &o, &x), RICCI_UNIMPLEMENTED),
            "compile options: RICCI_COMPILE_PROFILED: device late:0 cannot report steps; compile without it");
  ricci_program_release(f);
}

TEST_F(DeviceFaults, PointersOfTheHostAndOfOtherDevices) {
  ricci_program* f = Parse(kAddText);
  ricci_executable *x = Compile(f), *on_ref = CompileOn(ref, f);
  ricci_call *call = nullptr, *ref_call = nullptr;
  ASSERT_TRUE(Ok(ricci_call_create(x, &call)));
  ASSERT_TRUE(Ok(ricci_call_create(on_ref, &ref_call)));
  float data[4] = {};
  EXPECT_EQ(ErrorOf(ricci_call_bind(call, 1, data, 16)),
            "call: the pointer for slot 1 (argument 1 of program plus) is not memory of device late:0; copy it there "
            "(ricci_array_from_host)");
  ricci_array *own = Floats({1, 2, 3, 4}), *other = FloatsOn(second, {1, 2, 3, 4}), *made = nullptr;
  EXPECT_EQ(ErrorOf(ricci_call_bind(call, 0, ricci_array_device_data(other), 16)),
            "call: the pointer for slot 0 (argument 0 of program plus) is not memory of device late:0; copy it there "
            "(ricci_array_from_host)");
  EXPECT_EQ(ErrorOf(ricci_call_bind(ref_call, 2, ricci_array_device_data(own), 16)),
            "call: the pointer for slot 2 (result 0 of program plus) is memory of device late:0, but device ref uses "
            "memory of the host");
  const ricci_type four = Type(RICCI_F32, {4}), five = Type(RICCI_F32, {5});
  EXPECT_EQ(ErrorOf(ricci_array_wrap(device, four, data, nullptr, nullptr, nullptr, &made)),
            "ricci_array_wrap: data is not memory of device late:0; copy it there (ricci_array_from_host)");
  EXPECT_EQ(ErrorOf(ricci_array_wrap(device, five, ricci_array_device_data(own), nullptr, nullptr, nullptr, &made)),
            "ricci_array_wrap: data is not memory of device late:0; copy it there (ricci_array_from_host)")
      << "not all of it";
  EXPECT_EQ(ErrorOf(ricci_array_wrap(ref, four, ricci_array_device_data(own), nullptr, nullptr, nullptr, &made)),
            "ricci_array_wrap: data is memory of device late:0, but device ref uses memory of the host");
  EXPECT_EQ(made, nullptr);
  Release({own, other});
  for (ricci_call* c : {call, ref_call}) ricci_call_release(c);
  for (ricci_executable* i : {x, on_ref}) ricci_executable_release(i);
  ricci_program_release(f);
}

TEST_F(DeviceFaults, ArraysOfOtherDevicesAndContexts) {
  ricci_executable* x = CompileText(kAddText);
  ricci_array *own = Floats({1, 2, 3, 4}), *other = FloatsOn(second, {1, 2, 3, 4}), *out = nullptr;
  ricci_array* in[2] = {own, other};
  for (const auto run : {ricci_executable_run, ricci_executable_enqueue}) {
    EXPECT_EQ(ErrorOf(run(x, in, 2, &out, 1, nullptr)),
              "argument 1 of program plus is committed to device late:1, not late:0; copy it there (ricci_device_put)");
  }
  Another foreign = NewContext();
  Swap(foreign);
  ricci_array* far_array = Floats({1, 2, 3, 4});
  ricci_device* const far_device = device;
  ricci_stream* const far_stream = NewStream();
  ricci_event* far_event = nullptr;
  ASSERT_TRUE(Ok(ricci_stream_record(far_stream, &far_event)));
  Swap(foreign);
  in[1] = far_array;
  EXPECT_EQ(ErrorOf(ricci_executable_enqueue(x, in, 2, &out, 1, nullptr)),
            "argument 1 of program plus is of another context");
  EXPECT_EQ(ErrorOf(ricci_device_put(own, far_device, &out)), "ricci_device_put: a and d belong to different contexts");
  ricci_stream* s = NewStream();
  EXPECT_EQ(ErrorOf(ricci_stream_wait_event(s, far_event)),
            "ricci_stream_wait_event: s and e belong to different contexts");
  EXPECT_EQ(out, nullptr);
  ricci_stream_release(s);
  ricci_event_release(far_event);
  ricci_stream_release(far_stream);
  Release({own, other, far_array});
  ricci_context_release(foreign.ctx);
  ricci_executable_release(x);
}

TEST_F(DeviceFaults, StreamsOfOtherDevices) {
  ricci_executable* x = CompileText(kAddText);
  ricci_call* call = nullptr;
  ASSERT_TRUE(Ok(ricci_call_create(x, &call)));
  ricci_stream* s = NewStream(second);
  ricci_run_opts o = ricci_run_opts_default();
  o.stream = s;
  ricci_array *a = Floats({1, 2, 3, 4}), *in[2] = {a, a}, *out = nullptr;
  const std::string want = "run options: the stream is of device late:1, but program plus was compiled for late:0";
  EXPECT_EQ(ErrorOf(ricci_executable_run(x, in, 2, &out, 1, &o)), want);
  EXPECT_EQ(ErrorOf(ricci_executable_enqueue(x, in, 2, &out, 1, &o)), want);
  EXPECT_EQ(ErrorOf(ricci_call_enqueue(call, &o, nullptr)), want);
  ricci_array_opts ao = ricci_array_opts_default();
  ao.stream = s;
  const float data[4] = {};
  EXPECT_EQ(ErrorOf(ricci_array_from_host(device, Type(RICCI_F32, {4}), data, &ao, &out)),
            "ricci_array_from_host: the stream is of device late:1, not late:0");
  EXPECT_EQ(out, nullptr);
  ricci_array_release(a);
  ricci_stream_release(s);
  ricci_call_release(call);
  ricci_executable_release(x);
}

TEST_F(DeviceFaults, Options) {
  ricci_executable* x = CompileText(kAddText);
  ricci_array *a = Floats({1, 2, 3, 4}), *in[2] = {a, a}, *out = nullptr;
  ricci_run_opts o = ricci_run_opts_default();
  o.hdr.flags = 4;
  EXPECT_EQ(ErrorOf(ricci_executable_run(x, in, 2, &out, 1, &o)),
            "run options: unknown flags in hdr.flags 4; none are known");
  o.hdr = {0, 0, nullptr};
  EXPECT_EQ(ErrorOf(ricci_executable_run(x, in, 2, &out, 1, &o)),
            "run options: hdr.size is 0; set it to the size of the struct");
  ricci_array_opts ao = ricci_array_opts_default();
  ao.hdr.flags = 6;
  const float data[4] = {};
  EXPECT_EQ(ErrorOf(ricci_array_from_host(device, Type(RICCI_F32, {4}), data, &ao, &out)),
            "array options: unknown flags in hdr.flags 6; known: 1 (RICCI_ARRAY_UNCOMMITTED)");
  ao = ricci_array_opts_default();
  ao.memory_kind = 3;
  EXPECT_EQ(ErrorOf(ricci_array_from_host(device, Type(RICCI_F32, {4}), data, &ao, &out)),
            "array options: device late:0 has no memory of kind 3; known: 0 (RICCI_MEMORY_DEVICE)");
  ricci_array_release(a);
  ricci_executable_release(x);
  ricci_program* f = Parse(kAddText);
  ricci_compile_opts co = ricci_compile_opts_default();
  ricci_device* const both[] = {device, second};
  co.devices = both;
  co.n_devices = 2;
  EXPECT_EQ(ErrorOf(ricci_compile(f, &co, &x), RICCI_UNIMPLEMENTED),
            "compile options: n_devices is 2; a program runs on one device today");
  co.devices = nullptr;
  co.n_devices = 1;
  EXPECT_EQ(ErrorOf(ricci_compile(f, &co, &x)), "compile options: devices is NULL, or its first device");
  ricci_program_release(f);
}

// A host with its own allocator for the devices, which takes its memory from the same source as the backend.
struct DeviceMemoryOfHost {
  explicit DeviceMemoryOfHost(const ricci_backend& b) : backend(b) {
    hooks.hdr.size = sizeof hooks;
    hooks.device_self = this;
    hooks.device_alloc = [](void* self, ricci_device*, uint64_t bytes, uint64_t alignment, void* stream, void** out) {
      auto& m = *static_cast<DeviceMemoryOfHost*>(self);
      EXPECT_EQ(alignment, 256u);
      ++m.taken;
      ++m.in_use;
      return m.backend.alloc(m.backend.self, bytes, stream, out);
    };
    hooks.device_free = [](void* self, ricci_device*, void* p, uint64_t bytes, void* stream) {
      auto& m = *static_cast<DeviceMemoryOfHost*>(self);
      --m.in_use;
      m.backend.free(m.backend.self, p, bytes, stream);
    };
  }
  ~DeviceMemoryOfHost() { backend.drop_self(backend.self); }

  const ricci_backend backend;
  ricci_hooks hooks{};
  int taken = 0, in_use = 0;
};

TEST_F(DeviceFaults, MemoryOfDevicesByTheHost) {
  LateDevices devices;
  DeviceMemoryOfHost memory(devices.Backend(0));
  ricci_context_opts o{};
  o.hdr.size = sizeof o;
  o.hooks = &memory.hooks;
  Another own;
  const auto device_free = std::exchange(memory.hooks.device_free, nullptr);
  EXPECT_EQ(ErrorOf(ricci_context_create(&o, &own.ctx)),
            "hooks: device_alloc and device_free must be given together; device_free is NULL");
  memory.hooks.device_free = device_free;
  ASSERT_TRUE(Ok(ricci_context_create(&o, &own.ctx)));
  ASSERT_TRUE(Ok(ricci_context_add_plugin(own.ctx, ricci_plugin_query_lax)));
  ASSERT_TRUE(Ok(devices.AddTo(own.ctx)));
  own.device = ricci_device_get(own.ctx, 0);
  Swap(own);
  ricci_executable* x = CompileText(kTwoSortsText);
  ricci_array *a = Floats({4, 3, 2, 1}), *out = nullptr;
  ASSERT_TRUE(Ok(ricci_executable_enqueue(x, &a, 1, &out, 1, nullptr)));
  EXPECT_EQ(Read(out), (std::vector<float>{1, 2, 3, 4}));
  EXPECT_GE(memory.taken, 4) << "an argument, a result, working memory, constants";
  Release({a, out});
  ricci_executable_release(x);
  Swap(own);
  ricci_context_release(own.ctx);
  EXPECT_EQ(memory.in_use, 0);
}

TEST_F(DeviceFaults, MemoryRunsOut) {
  const ricci_type large = Type(RICCI_F32, {1 << 29});
  ricci_array* a = nullptr;
  const std::vector<float> some(16);
  const std::string why =
      ErrorOf(ricci_array_from_host(device, large, some.data(), nullptr, &a), RICCI_RESOURCE_EXHAUSTED);
  EXPECT_NE(why.find("2147483648"), why.npos) << why;
  EXPECT_EQ(a, nullptr);
}

// ---- the k-th call of the backend fails ----
// In order: compile, arrays, runs on two streams, donation, a bound call, copies. Every failure is the status
// of some call, at once or later; nothing is lost, and the same works again.
class Scenario {
 public:
  Scenario(ricci_ctx* ctx, ricci_device* first, ricci_device* second) : ctx_(ctx), first_(first), second_(second) {}
  ~Scenario() {
    if (end_ != nullptr) ricci_status_free(ricci_event_wait(end_));  // bound memory must stay until then
    ricci_call_release(call_);
    for (ricci_array* a : {a_, b_, sum_, negated_, put_}) ricci_array_release(a);
    ricci_event_release(end_);
    ricci_stream_release(stream_);
    ricci_executable_release(add_);
    ricci_program_release(f_);
  }
  // The first failure; NULL: there was none, and the result is right.
  ricci_status* Run() {
    using Step = ricci_status* (Scenario::*)();
    constexpr Step kSteps[] = {&Scenario::Compile, &Scenario::Arrays, &Scenario::Runs,
                               &Scenario::Copies,  &Scenario::Bound,  &Scenario::Check};
    for (const Step step : kSteps) {
      if (ricci_status* s = (this->*step)()) return s;
    }
    return nullptr;
  }

 private:
  static constexpr std::string_view kText = R"(
program f(%x: f32[4], %y: f32[4]) {
  %c: f32[4] = constant [1, 2, 3, 4]
  %s: f32[4] = sort(%x) dimension=0 is_stable=true num_keys=1
  %t: f32[4] = add(%s, %c)
  %u: f32[4] = add(%t, %y)
  return %u
})";
  ricci_status* Compile() {
    ricci_compile_opts o = ricci_compile_opts_default();
    const uint8_t donate[2] = {1, 0};
    o.devices = &first_;
    o.n_devices = 1;
    o.donate = donate;
    o.n_donate = 2;
    if (ricci_status* s = ricci_program_parse(ctx_, kText.data(), kText.size(), "t", 1, &f_)) return s;
    return ricci_compile(f_, &o, &add_);
  }
  ricci_status* Arrays() {
    const int64_t four = 4;
    const ricci_type_desc vector = ricci_type_desc_of(RICCI_F32, 1, &four);
    ricci_type t = 0;
    if (ricci_status* s = ricci_type_make(ctx_, &vector, &t)) return s;
    const float x[4] = {4, 3, 2, 1}, y[4] = {10, 20, 30, 40};
    if (ricci_status* s = ricci_array_from_host(first_, t, x, nullptr, &a_)) return s;
    return ricci_array_from_host(first_, t, y, nullptr, &b_);
  }
  ricci_status* Runs() {
    if (ricci_status* s = ricci_stream_create(first_, &stream_)) return s;
    ricci_run_opts o = ricci_run_opts_default();
    o.stream = stream_;
    ricci_array* first[2] = {b_, b_};
    if (ricci_status* s = ricci_executable_enqueue(add_, first, 2, &sum_, 1, &o)) return s;
    ricci_array* second[2] = {a_, sum_};  // 1 2 3 4 + 1 2 3 4 + 21 42 63 84... in the order of two streams
    return ricci_executable_enqueue(add_, second, 2, &negated_, 1, nullptr);
  }
  ricci_status* Copies() {
    ricci_array* there = nullptr;
    if (ricci_status* s = ricci_device_put(negated_, second_, &there)) return s;
    ricci_status* s = ricci_device_put(there, first_, &put_);
    ricci_array_release(there);
    return s;
  }
  ricci_status* Bound() {
    if (ricci_status* s = ricci_call_create(add_, &call_)) return s;
    ricci_array* slots[] = {put_, b_, sum_};
    for (uint32_t i = 0; i < 3; ++i) {
      if (ricci_status* s = ricci_call_bind(call_, i, ricci_array_device_data(slots[i]), 16)) return s;
    }
    if (ricci_status* s = ricci_array_wait(put_)) return s;
    if (ricci_status* s = ricci_array_wait(sum_)) return s;
    if (ricci_status* s = ricci_call_enqueue(call_, nullptr, &end_)) return s;
    return ricci_event_wait(end_);
  }
  ricci_status* Check() {
    float got[4];
    if (ricci_status* s = ricci_array_copy_to_host(sum_, got, sizeof got)) return s;
    // b sorted + c + b = 21 42 63 84; 1 2 3 4 + c + that = 23 46 69 92; sorted + c + b
    const float want[4] = {34, 68, 102, 136};
    for (int i = 0; i < 4; ++i) EXPECT_EQ(got[i], want[i]) << i;
    return nullptr;
  }

  ricci_ctx* const ctx_;
  ricci_device *const first_, *const second_;
  ricci_program* f_ = nullptr;
  ricci_executable* add_ = nullptr;
  ricci_array *a_ = nullptr, *b_ = nullptr, *sum_ = nullptr, *negated_ = nullptr, *put_ = nullptr;
  ricci_stream* stream_ = nullptr;
  ricci_event* end_ = nullptr;
  ricci_call* call_ = nullptr;
};

TEST_F(DeviceFaults, EachCallFailsOnce) {
  int failures = 0;
  for (int64_t k = 1;; ++k) {
    late->FailCall(k);
    ricci_status* s = Scenario(ctx, device, second).Run();
    const bool came = late->calls() >= k;
    late->FailCall(0);
    if (s != nullptr) {
      const std::string why = Message(s);
      EXPECT_NE(why.find("fails as requested"), why.npos) << k << ": " << why;
      ++failures;
    }
    EXPECT_TRUE(Ok(Scenario(ctx, device, second).Run())) << "after call " << k;
    if (!came) break;
  }
  EXPECT_GT(failures, 20);
}

TEST_F(DeviceFaults, EachRunAndCopyFailsLate) {
  const auto message = [&] {
    ricci_status* s = Scenario(ctx, device, second).Run();
    return s == nullptr ? std::string("no failure") : Message(s);
  };
  late->FailNextRun();
  EXPECT_NE(message().find("fails as requested"), std::string::npos);
  EXPECT_TRUE(Ok(Scenario(ctx, device, second).Run()));
}

}  // namespace
}  // namespace ricci::testing
