// DLPack: memory is shared in both directions, each deleter runs once, and what cannot be shared is named.
#include "ricci/dlpack.h"

#include "runtime/context/dlpack.h"
#include "support/program_runner.h"

namespace ricci::testing { namespace {

using runtime::DlManagedTensor;

class Dlpack : public ::testing::Test {
 protected:
  Dlpack() { EXPECT_EQ(Message(ricci_context_create(nullptr, &ctx_)), ""); }
  ~Dlpack() override { ricci_context_release(ctx_); }
  ricci_device* device() const { return ricci_device_find(ctx_, "ref", 3); }

  // A tensor f32[2,3] over `data_`.
  DlManagedTensor Tensor() {
    DlManagedTensor t{1, 0, this, [](DlManagedTensor* self) { ++static_cast<Dlpack*>(self->manager_ctx)->deleted_; },
                      0, {}};
    t.tensor = {data_, 1, 0, 2, {2, 32, 1}, shape_, nullptr, 0};
    return t;
  }
  std::string ErrorOf(DlManagedTensor t) {
    ricci_array* out = nullptr;
    const std::string message = Message(ricci_array_from_dlpack(device(), reinterpret_cast<ricci_dlpack*>(&t), &out));
    EXPECT_EQ(deleted_, 0);
    EXPECT_EQ(out, nullptr);
    return message;
  }
  ricci_array* From(DlManagedTensor& t) {
    ricci_array* out = nullptr;
    EXPECT_EQ(Message(ricci_array_from_dlpack(device(), reinterpret_cast<ricci_dlpack*>(&t), &out)), "");
    return out;
  }

  ricci_ctx* ctx_ = nullptr;
  float data_[6] = {1, 2, 3, 4, 5, 6};
  int64_t shape_[2] = {2, 3}, strides_[2] = {3, 1};
  int deleted_ = 0;
};

TEST_F(Dlpack, TensorsAreSharedAndDeletedOnce) {
  DlManagedTensor t = Tensor();
  ricci_array* a = From(t);
  EXPECT_EQ(ricci_array_data(a), data_);
  EXPECT_EQ(deleted_, 0);
  ricci_array_release(a);
  EXPECT_EQ(deleted_, 1);
}

TEST_F(Dlpack, ReadOnlyTensorsAreCopied) {
  DlManagedTensor t = Tensor();
  t.flags = 1;
  t.tensor.strides = strides_;
  ricci_array* a = From(t);
  EXPECT_EQ(deleted_, 1);
  EXPECT_NE(ricci_array_data(a), data_);
  EXPECT_EQ(static_cast<const float*>(ricci_array_data(a))[5], 6);
  ricci_array_release(a);
  EXPECT_EQ(deleted_, 1);
}

TEST_F(Dlpack, ArraysAreSharedUntilTheDeleterRuns) {
  DlManagedTensor t = Tensor();
  ricci_array* a = From(t);
  ricci_dlpack* raw = nullptr;
  ASSERT_EQ(Message(ricci_array_to_dlpack(a, &raw)), "");
  ricci_array_release(a);
  auto* out = reinterpret_cast<DlManagedTensor*>(raw);
  EXPECT_EQ(out->tensor.data, data_);
  EXPECT_EQ(out->tensor.ndim, 2);
  EXPECT_EQ(out->tensor.shape[1], 3);
  EXPECT_EQ(out->tensor.strides[0], 3);
  EXPECT_EQ(out->tensor.dtype.code, 2);
  EXPECT_EQ(out->flags, 1);
  EXPECT_EQ(deleted_, 0);
  out->deleter(out);
  EXPECT_EQ(deleted_, 1);
}

TEST_F(Dlpack, EmptyTensorsHaveNoData) {
  DlManagedTensor t = Tensor();
  shape_[0] = 0;
  t.tensor.data = nullptr;
  ricci_array* a = From(t);
  EXPECT_EQ(ricci_array_bytes(a), 0);
  EXPECT_EQ(deleted_, 1);
  ricci_array_release(a);
}

TEST_F(Dlpack, FloatsOfEightBits) {
  constexpr std::pair<uint8_t, uint32_t> kCodes[] = {{10, RICCI_F8E4M3FN}, {12, RICCI_F8E5M2}, {14, RICCI_F8E8M0FNU}};
  for (const auto& [code, dtype] : kCodes) {
    DlManagedTensor t = Tensor();
    t.tensor.dtype = {code, 8, 1};
    ricci_array* a = From(t);
    ricci_type_desc desc = ricci_type_desc_default();
    ASSERT_EQ(Message(ricci_type_get(ctx_, ricci_array_type(a), &desc)), "");
    EXPECT_EQ(desc.dtype, dtype);
    ricci_dlpack* raw = nullptr;
    ASSERT_EQ(Message(ricci_array_to_dlpack(a, &raw)), "");
    auto* out = reinterpret_cast<DlManagedTensor*>(raw);
    EXPECT_EQ(out->tensor.dtype.code, code);
    EXPECT_EQ(out->tensor.dtype.bits, 8);
    out->deleter(out);
    ricci_array_release(a);
  }
}

TEST_F(Dlpack, WhatCannotBeSharedIsNamed) {
  DlManagedTensor t = Tensor();
  t.major = 2;
  EXPECT_EQ(ErrorOf(t), "dlpack: version 2.0; this is version 1");
  t = Tensor();
  t.tensor.device_type = 2;
  EXPECT_EQ(
      ErrorOf(t),
      "dlpack: memory of device type 2, number 0, but that of device ref is of type 1, number 0; copy it there first");
  t = Tensor();
  t.tensor.dtype = {2, 24, 1};
  EXPECT_EQ(ErrorOf(t), "dlpack: elements of type code 2 with 24 bits and 1 lane are not supported");
  t = Tensor();
  strides_[0] = 1;
  t.tensor.strides = strides_;
  EXPECT_EQ(ErrorOf(t), "dlpack: the stride of dimension 0 is 1, not 3 as in a row-major f32[2,3]; copy it first");
  t = Tensor();
  shape_[0] = -2;
  EXPECT_EQ(ErrorOf(t), "type: negative dimension in f32[-2,3]");
  EXPECT_EQ(Message(ricci_array_to_dlpack(nullptr, nullptr)), "ricci_array_to_dlpack: a is NULL");
}

}  // namespace
}  // namespace ricci::testing
