// Interned types: equal ones have one id, and a type with another shape keeps everything else.
#include "types/array_type.h"

#include <gtest/gtest.h>

#include <cstdlib>

namespace ricci { inline namespace v0 { namespace types { namespace {

class TypeTableTest : public ::testing::Test {
 protected:
  TypeId Id(absl::StatusOr<TypeId> id) {
    EXPECT_TRUE(id.ok()) << id.status();
    return id.ok() ? *id : 0;
  }
  TypeId Make(uint32_t dtype, std::vector<int64_t> dims) { return Id(table_.Intern(dtype, dims)); }
  TypeId WithShape(TypeId t, std::vector<int64_t> dims) { return Id(table_.WithShape(table_.Get(t), dims)); }

  base::HostMemory memory_ = {nullptr, [](void*, size_t size, size_t) { return std::malloc(size); },
                              [](void*, void* p, size_t, size_t) { std::free(p); }};
  TypeTable table_{&memory_};
};

TEST_F(TypeTableTest, AnotherShapeKeepsTheDType) {
  for (uint32_t dtype : {RICCI_F32, RICCI_I8, RICCI_BOOL}) {
    const TypeId t = Make(dtype, {2, 3});
    EXPECT_EQ(WithShape(t, {6}), Make(dtype, {6}));
    EXPECT_EQ(WithShape(t, {}), Make(dtype, {}));
    EXPECT_EQ(WithShape(WithShape(t, {0, 5}), {2, 3}), t);
  }
}

TEST_F(TypeTableTest, OwnDimensionsMayBeGivenBack) {
  const TypeId t = Make(RICCI_F64, {4, 5, 6});
  EXPECT_EQ(Id(table_.WithShape(table_.Get(t), table_.Get(t).shape.subspan(1))), Make(RICCI_F64, {5, 6}));
  EXPECT_EQ(Id(table_.WithShape(table_.Get(t), table_.Get(t).shape)), t);
}

TEST_F(TypeTableTest, ShapesThatNoArrayHas) {
  const TypeId t = Make(RICCI_F32, {});
  const auto error = [&](std::vector<int64_t> dims) {
    return std::string(table_.WithShape(table_.Get(t), dims).status().message());
  };
  EXPECT_EQ(error({2, -1}), "type: negative dimension in f32[2,-1]");
  EXPECT_EQ(error({int64_t{1} << 61, 2}), "type: f32[2305843009213693952,2] exceeds 2^62 bytes");
}

}  // namespace
}}}  // namespace ricci::v0::types
