// DLPack with memory of a GPU: arrays and tensors of others share it, and streams hand over what is under way.
#include "ricci/dlpack.h"

#include "cuda/bare_driver.h"
#include "cuda/gpu_program.h"
#include "runtime/context/dlpack.h"
#include "support/program_runner.h"

namespace ricci::testing { namespace {

using runtime::DlManagedTensor;

constexpr std::string_view kDouble = "program f(%x: f32[4]) {\n  %y: f32[4] = add(%x, %x)\n  return %y\n}";
constexpr uint64_t kBytes = 16;

// The host is another library on the same GPU, with a stream and memory of its own.
class DlpackOnGpu : public ::testing::Test {
 protected:
  DlpackOnGpu() {
    EXPECT_TRUE(Ok(ricci_context_add_plugin(runner_.ctx(), QuerySimulatedGpu)));
    gpu_ = GpuOf(runner_.ctx(), 0);
    driver_->cuStreamCreate(&theirs_, 1);
    data_ = driver_.Allocate(kBytes, theirs_);
    EXPECT_TRUE(Ok(ricci_stream_wrap(gpu_, theirs_, &stream_)));
  }
  ~DlpackOnGpu() override {
    ricci_stream_release(stream_);
    driver_->cuStreamSynchronize(theirs_);
    driver_->cuMemFreeAsync(data_, theirs_);
    driver_->cuStreamSynchronize(theirs_);
    driver_->cuStreamDestroy(theirs_);
  }

  // All elements are 1.0 once their stream has come so far.
  DlManagedTensor Tensor() {
    driver_->cuMemsetD32Async(data_, 0x3f800000, 4, theirs_);
    const auto deleter = [](DlManagedTensor* self) { ++static_cast<DlpackOnGpu*>(self->manager_ctx)->deleted_; };
    DlManagedTensor t{1, 0, this, deleter, 0, {}};
    t.tensor = {reinterpret_cast<void*>(static_cast<uintptr_t>(data_)), 2, 0, 1, {2, 32, 1}, shape_, nullptr, 0};
    return t;
  }
  ricci_array* From(DlManagedTensor& t, ricci_stream* s) {
    ricci_array* out = nullptr;
    EXPECT_TRUE(Ok(ricci_array_from_dlpack_on(gpu_, s, reinterpret_cast<ricci_dlpack*>(&t), &out)));
    return out;
  }
  std::string ErrorOf(DlManagedTensor t) {
    ricci_array* out = nullptr;
    const std::string why =
        Message(ricci_array_from_dlpack_on(gpu_, stream_, reinterpret_cast<ricci_dlpack*>(&t), &out));
    EXPECT_EQ(out, nullptr);
    EXPECT_EQ(deleted_, 0);
    return why;
  }
  Floats Read(const ricci_array* a) {
    Floats out(4);
    EXPECT_TRUE(Ok(ricci_array_copy_to_host(a, out.data(), kBytes)));
    return out;
  }
  // What they read in their stream.
  Floats ReadTheirs(const DlManagedTensor* t) {
    Floats out(4);
    const auto from = static_cast<cuda::CuPointer>(reinterpret_cast<uintptr_t>(t->tensor.data));
    driver_->cuMemcpyDtoHAsync(out.data(), from, kBytes, theirs_);
    driver_->cuStreamSynchronize(theirs_);
    return out;
  }
  // A result that is under way.
  ricci_array* Result() {
    EXPECT_TRUE(f_ != nullptr || Ok((f_ = std::make_unique<GpuProgram>(gpu_))->Compile(runner_.ctx(), kDouble)));
    EXPECT_TRUE(Ok(f_->Give({{1, 2, 3, 4}})) && Ok(f_->Enqueue()));
    return f_->TakeOut()[0];
  }

  ProgramRunner runner_;
  const BareDriver driver_;
  ricci_device* gpu_ = nullptr;
  cuda::CuStream theirs_ = nullptr;
  cuda::CuPointer data_ = 0;
  ricci_stream* stream_ = nullptr;
  std::unique_ptr<GpuProgram> f_;
  int64_t shape_[1] = {4};
  int deleted_ = 0;
};

TEST_F(DlpackOnGpu, ATensorThatIsStillWritten) {
  DlManagedTensor t = Tensor();
  ricci_array *a = From(t, stream_), *out = nullptr;
  EXPECT_EQ(ricci_array_device_data(a), t.tensor.data);
  GpuProgram f(gpu_);
  ASSERT_TRUE(Ok(f.Compile(runner_.ctx(), kDouble)));
  ASSERT_TRUE(Ok(ricci_executable_enqueue(f.executable(), &a, 1, &out, 1, nullptr)));
  ricci_array_release(a);
  EXPECT_EQ(deleted_, 1) << "the run has been waited for";
  EXPECT_EQ(Read(out), (Floats{2, 2, 2, 2}));
  ricci_array_release(out);
}

TEST_F(DlpackOnGpu, WithoutTheStreamTheirWorkMustHaveEnded) {
  DlManagedTensor t = Tensor();
  driver_->cuStreamSynchronize(theirs_);
  ricci_array* const a = From(t, nullptr);
  EXPECT_EQ(Read(a), (Floats{1, 1, 1, 1}));
  ricci_array_release(a);
  DlManagedTensor early = Tensor();
  ricci_array* const wrong = From(early, nullptr);
  Read(wrong);
  driver_->cuStreamSynchronize(theirs_);
  EXPECT_NE(BareDriver::Complaints().find("cuMemsetD32Async"), std::string::npos);
  ricci_array_release(wrong);
}

TEST_F(DlpackOnGpu, AReadOnlyTensorIsCopiedAfterItsWork) {
  DlManagedTensor t = Tensor();
  t.flags = 1;
  ricci_array* const a = From(t, stream_);
  EXPECT_EQ(deleted_, 1);
  EXPECT_NE(ricci_array_device_data(a), t.tensor.data);
  EXPECT_EQ(Read(a), (Floats{1, 1, 1, 1}));
  ricci_array_release(a);
}

TEST_F(DlpackOnGpu, AResultIsHandedOverUnderWay) {
  ricci_array* const a = Result();
  ricci_dlpack* raw = nullptr;
  ASSERT_TRUE(Ok(ricci_array_to_dlpack_on(a, stream_, &raw)));
  OfStandin<void(int)>("ricci_standin_asking_takes_time")(0);
  EXPECT_EQ(ricci_array_is_ready(a), 0u);
  OfStandin<void(int)>("ricci_standin_asking_takes_time")(1);
  ricci_array_release(a);
  auto* const t = reinterpret_cast<DlManagedTensor*>(raw);
  EXPECT_EQ(t->tensor.device_type, 2);
  EXPECT_EQ(t->tensor.device_id, 0);
  EXPECT_EQ(ReadTheirs(t), (Floats{2, 4, 6, 8}));
  t->deleter(t);
}

TEST_F(DlpackOnGpu, ThoseWhoTakeItWithoutAStreamMustWait) {
  ricci_array* const a = Result();
  ricci_dlpack* raw = nullptr;
  ASSERT_TRUE(Ok(ricci_array_to_dlpack_on(a, nullptr, &raw)));
  auto* const t = reinterpret_cast<DlManagedTensor*>(raw);
  ReadTheirs(t);
  EXPECT_TRUE(Ok(ricci_array_wait(a)));
  EXPECT_NE(BareDriver::Complaints().find("cuMemcpyDtoHAsync"), std::string::npos);
  t->deleter(t);
  ricci_array* const b = Result();
  ASSERT_TRUE(Ok(ricci_array_to_dlpack_on(b, nullptr, &raw)));
  ASSERT_TRUE(Ok(ricci_stream_wait_array(stream_, b)));
  auto* const u = reinterpret_cast<DlManagedTensor*>(raw);
  EXPECT_EQ(ReadTheirs(u), (Floats{2, 4, 6, 8}));
  u->deleter(u);
  for (ricci_array* i : {a, b}) ricci_array_release(i);
}

TEST_F(DlpackOnGpu, ToDlpackWaits) {
  ricci_array* const a = Result();
  ricci_dlpack* raw = nullptr;
  ASSERT_TRUE(Ok(ricci_array_to_dlpack(a, &raw)));
  auto* const t = reinterpret_cast<DlManagedTensor*>(raw);
  EXPECT_EQ(ReadTheirs(t), (Floats{2, 4, 6, 8}));
  t->deleter(t);
  ricci_array_release(a);
}

TEST_F(DlpackOnGpu, MemoryOfOthersMayBeWrappedAndBound) {
  Tensor();
  ricci_array_opts o = ricci_array_opts_default();
  o.stream = stream_;
  ricci_array *a = nullptr, *out = nullptr;
  GpuProgram f(gpu_);
  ASSERT_TRUE(Ok(f.Compile(runner_.ctx(), kDouble)));
  void* const data = reinterpret_cast<void*>(static_cast<uintptr_t>(data_));
  ASSERT_TRUE(Ok(ricci_array_wrap(gpu_, f.param(0), data, nullptr, nullptr, &o, &a)));
  ASSERT_TRUE(Ok(ricci_executable_enqueue(f.executable(), &a, 1, &out, 1, nullptr)));
  EXPECT_EQ(Read(out), (Floats{2, 2, 2, 2}));
  for (ricci_array* i : {a, out}) ricci_array_release(i);
}

// What cuMemAlloc gives is of the context that was current. Kernels cannot use that of another context on the same GPU.
TEST_F(DlpackOnGpu, MemoryOfAnotherContext) {
  const auto allocated_in = OfStandin<void(cuda::CuPointer, int)>("ricci_standin_allocated_in");
  DlManagedTensor t = Tensor();
  allocated_in(data_, /*is_primary=*/1);
  ricci_array* const a = From(t, stream_);
  EXPECT_EQ(Read(a), (Floats{1, 1, 1, 1}));
  ricci_array_release(a);
  deleted_ = 0;
  allocated_in(data_, /*is_primary=*/0);
  const std::string why =
      " is memory of device cuda:0, but of another context than the device's, so that runs cannot use it; copy it";
  EXPECT_EQ(ErrorOf(Tensor()), "dlpack: the data" + why);
  void* const data = reinterpret_cast<void*>(static_cast<uintptr_t>(data_));
  const std::pair<const char*, std::string> devices[] = {
      {"cuda", why}, {"ref", " is memory of device cuda:0, but device ref uses memory of the host"}};
  for (const auto& [kind, reason] : devices) {
    GpuProgram f(ricci_device_find(runner_.ctx(), kind, std::strlen(kind)));
    ricci_call* call = nullptr;
    ASSERT_TRUE(Ok(f.Compile(runner_.ctx(), kDouble)) && Ok(ricci_call_create(f.executable(), &call)));
    EXPECT_EQ(Message(ricci_call_bind(call, 0, data, kBytes)),
              "call: the pointer for slot 0 (argument 0 of program f)" + reason);
    ricci_call_release(call);
  }
}

TEST_F(DlpackOnGpu, WhatCannotBeSharedIsNamed) {
  DlManagedTensor t = Tensor();
  t.tensor.device_id = 1;
  EXPECT_EQ(
      ErrorOf(t),
      "dlpack: memory of device type 2, number 1, but that of device cuda:0 is of type 2, number 0; copy it there "
      "first");
  t = Tensor();
  t.tensor.device_type = 1;
  EXPECT_EQ(
      ErrorOf(t),
      "dlpack: memory of device type 1, number 0, but that of device cuda:0 is of type 2, number 0; copy it there "
      "first");
  t = Tensor();
  float on_host[4] = {};
  t.tensor.data = on_host;
  EXPECT_EQ(ErrorOf(t), "dlpack: the data is not memory of device cuda:0; copy it there (ricci_array_from_host)");
  t = Tensor();
  shape_[0] = 5;
  EXPECT_EQ(ErrorOf(t), "dlpack: the data is not memory of device cuda:0; copy it there (ricci_array_from_host)")
      << "that is too small";
  shape_[0] = 4;
  ricci_array* out = nullptr;
  t = Tensor();
  EXPECT_EQ(
      Message(ricci_array_from_dlpack(ricci_device_find(runner_.ctx(), "ref", 3), reinterpret_cast<ricci_dlpack*>(&t),
                                      &out)),
      "dlpack: memory of device type 2, number 0, but that of device ref is of type 1, number 0; copy it there first");
  ricci_stream* elsewhere = nullptr;
  ASSERT_TRUE(Ok(ricci_stream_create(GpuOf(runner_.ctx(), 1), &elsewhere)));
  EXPECT_EQ(Message(ricci_array_from_dlpack_on(gpu_, elsewhere, reinterpret_cast<ricci_dlpack*>(&t), &out)),
            "ricci_array_from_dlpack_on: the stream is of device cuda:1, not cuda:0");
  ricci_stream_release(elsewhere);
}

}}  // namespace ricci::testing
