// LateTest: a fixture over the table of late devices: short ways to their calls, and one small kernel to run.
#ifndef RICCI_TESTS_SUPPORT_LATE_TEST_H_
#define RICCI_TESTS_SUPPORT_LATE_TEST_H_
#include <gtest/gtest.h>

#include <array>
#include <memory>
#include <vector>

#include "kernel/writer.h"
#include "support/late_backend.h"
#include "support/small_program.h"

namespace ricci::testing {

using Four = std::array<int32_t, 4>;
inline constexpr uint64_t kFourBytes = sizeof(Four);

// What `done` received.
struct Outcome {
  bool called = false;
  uint32_t code = RICCI_OK, failed_check = 0;
  std::string message;
  std::vector<int>* order = nullptr;  // takes `number`
  int number = 0;

  static void Done(void* self, ricci_status* status, uint32_t failed_check) {
    auto& o = *static_cast<Outcome*>(self);
    EXPECT_FALSE(o.called) << "done is called twice";
    o.called = true;
    o.code = ricci_status_code(status);
    o.failed_check = failed_check;
    if (status != nullptr) o.message = Message(status);
    if (o.order != nullptr) o.order->push_back(o.number);
  }
};

// One late device and its table.
class LateDeviceUser {
 public:
  explicit LateDeviceUser(const ricci_backend& table) : b(table) {}
  ~LateDeviceUser() { b.drop_self(b.self); }
  LateDeviceUser(const LateDeviceUser&) = delete;

  void* Stream() {
    void* stream = nullptr;
    Ok(b.stream_create(b.self, &stream));
    return stream;
  }
  void* Alloc(uint64_t bytes, void* stream = nullptr) {
    void* p = nullptr;
    Ok(b.alloc(b.self, bytes, stream, &p));
    return p;
  }
  void Free(void* p, uint64_t bytes, void* stream = nullptr) { b.free(b.self, p, bytes, stream); }
  ricci_status* Copy(uint32_t direction, void* dst, const void* src, uint64_t bytes, void* stream,
                     void* src_self = nullptr) {
    ricci_copy_args a{};
    a.hdr.size = sizeof a;
    a.direction = direction;
    a.dst = dst;
    a.src = src;
    a.bytes = bytes;
    a.stream = stream;
    a.src_self = src_self;
    return b.copy(b.self, &a, nullptr);
  }
  void Put(void* dst, const Four& values, void* stream = nullptr) {
    Ok(Copy(RICCI_COPY_TO_DEVICE, dst, values.data(), kFourBytes, stream));
  }
  Four Get(const void* src, void* stream = nullptr) {
    Four values{};
    Ok(Copy(RICCI_COPY_FROM_DEVICE, values.data(), src, kFourBytes, stream));
    return values;
  }
  void* Record(void* stream) {
    void* event = nullptr;
    Ok(b.event_record(b.self, stream, &event));
    return event;
  }
  void WaitFor(void* event) {
    Ok(b.event_wait(b.self, event));
    b.event_drop(b.self, event);
  }
  bool Come(void* event) {
    uint32_t come = 0;
    Ok(b.event_query(b.self, event, &come));
    return come != 0;
  }

  const ricci_backend b;
};

// A hand-made plan, compiled; the memory that a run needs besides its arguments is allocated with it.
class LateCodeUser {
 public:
  LateCodeUser(LateDeviceUser& device, kernel::Plan plan, std::vector<kernel::Kernel> kernels = {},
               std::vector<int32_t> alias = {})
      : d(device), plan_(std::move(plan)), kernels_(std::move(kernels)), views_(kernels_), alias_(std::move(alias)) {
    table_ = plan_.View();
    table_.output_alias = alias_.empty() ? nullptr : alias_.data();
    ricci_compile_args a{};
    a.hdr.size = sizeof a;
    a.kernels = views_.data();
    a.n_kernels = views_.size();
    a.opt_level = 1;
    a.plan = &table_;
    info_.hdr.size = sizeof info_;
    Ok(d.b.compile(d.b.self, &a, &code_, &info_));
    arena_ = d.Alloc(ArenaBytes());
    word_ = d.Alloc(4);
  }
  ~LateCodeUser() {
    d.Free(arena_, ArenaBytes());
    d.Free(word_, 4);
    d.b.drop_code(code_);
  }

  ricci_status* Enqueue(const ricci_run_args* a, ricci_done_fn done, void* arg, void** event) {
    return d.b.enqueue(code_, a, done, arg, event);
  }
  // The lists of addresses are destroyed when it returns, so the call must copy them.
  ricci_status* Try(std::vector<void*> in, std::vector<void*> out, void* stream, Outcome& outcome, void** event) {
    ricci_run_args a{};
    a.hdr.size = sizeof a;
    a.inputs = in.data();
    a.outputs = out.data();
    std::vector<ricci_plan_library> libraries = plan_.libraries;
    a.libraries = libraries.data();
    a.arena = arena_;
    a.stream = stream;
    a.failed_check = static_cast<uint32_t*>(word_);
    ricci_status* s = Enqueue(&a, Outcome::Done, &outcome, event);
    libraries.clear();
    std::fill(in.begin(), in.end(), nullptr);
    std::fill(out.begin(), out.end(), nullptr);
    return s;
  }
  void* Run(std::vector<void*> in, std::vector<void*> out, void* stream, Outcome& outcome) {
    void* event = nullptr;
    Ok(Try(std::move(in), std::move(out), stream, outcome, &event));
    return event;
  }
  // Without an event of its own.
  void Start(std::vector<void*> in, std::vector<void*> out, void* stream, Outcome& outcome) {
    d.b.event_drop(d.b.self, Run(std::move(in), std::move(out), stream, outcome));
  }

  LateDeviceUser& d;

 private:
  uint64_t ArenaBytes() const { return (plan_.arena_bytes + 255) / 256 * 256 + info_.scratch_bytes; }

  const kernel::Plan plan_;
  const std::vector<kernel::Kernel> kernels_;
  const kernel::KernelViews views_;
  const std::vector<int32_t> alias_;
  ricci_plan table_;
  ricci_code_info info_{};
  void *code_ = nullptr, *arena_ = nullptr, *word_ = nullptr;
};

// y = x + 1 for four i32, which must be less than 100.
inline kernel::Kernel AddOneKernel() {
  kernel::Writer w("add_one");
  const uint32_t x = w.Buffer(RICCI_I32, 4, RICCI_ACCESS_READ), y = w.Buffer(RICCI_I32, 4, RICCI_ACCESS_WRITE);
  kernel::Val i;
  w.Parallel({{4}}, &i);
  w.Require(w.Less(w.Load(x, i), w.Const(RICCI_I32, 100)), 7);
  w.Store(y, i, w.Add(w.Load(x, i), w.Const(RICCI_I32, 1)));
  w.End();
  absl::StatusOr<kernel::Kernel> k = w.Finish();
  EXPECT_TRUE(k.ok()) << k.status();
  return k.ok() ? *std::move(k) : kernel::Kernel{};
}
inline kernel::Plan AddOnePlan() {
  kernel::Plan p;
  p.n_inputs = p.n_outputs = 1;
  p.buffers = {{RICCI_BUFFER_INPUT, 0, kFourBytes, 0, nullptr}, {RICCI_BUFFER_OUTPUT, 0, kFourBytes, 0, nullptr}};
  p.Step(RICCI_STEP_KERNEL, 0, {0, 1});
  return p;
}

class LateTest : public ::testing::Test {
 protected:
  explicit LateTest(const LateOptions& options = {}) : late(options), d(late.Backend(0)), other(late.Backend(1)) {}
  ~LateTest() override { EXPECT_EQ(late.Report(), report); }

  LateDevices late;
  LateDeviceUser d, other;
  std::string report;  // the mistakes at the end
};

}  // namespace ricci::testing
#endif
