// Arrays in files and as tensors of DLPack: what a host writes it reads again, in a context of its own.
#include "ricci/array_files.hpp"

#include <unistd.h>

#include "binding_fixture.h"
#include "ricci/dlpack.hpp"

namespace ricci::testing { namespace {

class ArrayFiles : public BindingTest {
 protected:
  void TearDown() override { ::unlink(path.c_str()); }
  void PathWith(const std::string& ending) {
    path = ::testing::TempDir() + "ricci_array_files_test." + std::to_string(::getpid()) + ending;
  }
  std::string path;
};

TEST_F(ArrayFiles, OneArray) {
  PathWith(".npy");
  save(path, Array(ctx, {1, 2, 3, 4, 5, 6}, {2, 3}));
  const Context other;
  const ArrayFile file = load(other, path);
  EXPECT_EQ(file.only().shape()[1], 3);
  EXPECT_EQ(file.only().to_vector<int32_t>(), (std::vector<int32_t>{1, 2, 3, 4, 5, 6}));
  EXPECT_EQ(sum(file.only()).dtype(), DType::kI32);
}

TEST_F(ArrayFiles, ArraysWithNames) {
  for (const char* ending : {".npz", ".safetensors"}) {
    PathWith(ending);
    savez(path, {{"weights", Vec({0.5f, 2})}, {"steps", Array(ctx, 7)}});
    const ArrayFile file = load(ctx, path);
    EXPECT_EQ(file.size(), 2u);
    EXPECT_EQ(file.at("weights").to_vector<float>(), (Floats{0.5f, 2}));
    EXPECT_EQ(file.at("steps").item<int32_t>(), 7);
    EXPECT_NE(MessageOf([&] { file.at("bias"); }).find("load: the file has no array `bias`; it has "),
              std::string::npos);
    EXPECT_ERROR_HERE(file.only(), "load: the file has 2 arrays, not one; name one of them");
    ::unlink(path.c_str());
  }
}

TEST_F(ArrayFiles, WrongFiles) {
  PathWith(".npy");
  EXPECT_NE(MessageOf([&] { load(ctx, path); }).find(path), std::string::npos);
  EXPECT_ERROR_HERE(savez(path, {{"a", Vec({1})}}),
                    "savez: the path ends with .npy, a file of one array; use save, .npz or .safetensors");
  EXPECT_ERROR_HERE(save(path, Array()), "save: array `` is empty (default-constructed or moved from)");
}

TEST_F(ArrayFiles, TensorsOutliveTheirArray) {
  Array copy;
  {
    const Array x = Vec({1, 2, 3});
    copy = from_dlpack(ctx, to_dlpack(x));
  }
  EXPECT_EQ(copy.to_vector<float>(), (Floats{1, 2, 3}));
  EXPECT_ERROR_HERE(to_dlpack(Array()), "to_dlpack: the array is empty");
}

}}  // namespace ricci::testing
