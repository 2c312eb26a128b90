// Private arrays: short ones are the thread's, long ones in memory that a launch is given, since the driver keeps local
// memory for all threads that can be resident.
#include <gtest/gtest.h>

#include <cmath>

#include "cuda/bare_driver.h"
#include "cuda/counting.h"
#include "cuda/gpu_program.h"
#include "cuda/schedule/launch_shape.h"
#include "cuda/schedule/team.h"
#include "ricci/plugin.hpp"
#include "support/program_runner.h"

namespace ricci::testing { namespace {

// test.turned: lines from the end, and the places of their elements, by private arrays.
void Turned(KernelBuilder& k, const Eqn& e) {
  const int64_t n = e.in(0).dim(1), lines = e.in(0).dim(0);
  k.Parallel(Dims(&lines, 1), [&](const Index& line) {
    const KernelArray elements = k.Local(e.Type(e.in(0).dtype(), Dims(&n, 1))),
                      places = k.Local(e.Type(DType::kI32, Dims(&n, 1)));
    k.Loop(n, [&](Scalar i) {
      elements.Store({n - 1 - i}, k.Operand(0).Load({line[0], i}));
      places.Store({n - 1 - i}, Convert(i, DType::kI32));
    });
    k.Loop(n, [&](Scalar i) {
      k.Result(0).Store({line[0], i}, elements.Load({i}));
      k.Result(1).Store({line[0], i}, places.Load({i}));
    });
  });
}
ArrayTypes TypeOfTurned(const Eqn& e) { return {e.in(0), e.Type(DType::kI32, e.in(0).shape())}; }
constexpr Lowering kTurnedLowerings[] = {{.loops = Turned}};
constexpr Row kTurnedRows[] = {{.name = "test.turned",
                                .type = TypeOfTurned,
                                .lowerings = kTurnedLowerings,
                                .missing = "jvp, transpose, batch: not of interest"}};
RowList TurnedRows() { return kTurnedRows; }
RowList (*const kTurnedTables[])() = {TurnedRows};
constexpr ricci_plugin kTurnedPlugin =
    Describe("turned", "1", [](void*, ricci_ctx* ctx) { return AttachRows(ctx, kTurnedTables); });
ricci_status* QueryTurnedRow(const ricci_host_info*, const ricci_plugin** out) {
  *out = &kTurnedPlugin;
  return nullptr;
}

// Lines of so many elements of a dtype, turned.
std::string TurnedText(const std::string& dtype, int64_t lines, int64_t n) {
  const std::string shape = "[" + std::to_string(lines) + "," + std::to_string(n) + "]", type = dtype + shape;
  return "program f(%x: " + type + ") {\n  %y: " + type + ", %i: i32" + shape +
         " = test.turned(%x)\n  return %y, %i\n}";
}

class LocalMemory : public ::testing::Test {
 protected:
  LocalMemory() {
    EXPECT_TRUE(Ok(ricci_context_add_plugin(runner_.ctx(), QuerySimulatedGpu)));
    EXPECT_TRUE(Ok(ricci_context_add_plugin(runner_.ctx(), QueryTurnedRow)));
  }
  bool IsInMemory(const Program& f) {
    return runner_.Dump(f, "native", "cuda").find("// private arrays in memory: ") != std::string::npos;
  }

  ProgramRunner runner_;
};

// Of a private matrix that is written below its diagonal nothing else is read.
TEST_F(LocalMemory, TrianglesAreReadWhereTheyAreWritten) {
  constexpr size_t kRows = 24;
  const Program f = runner_.Parse("program f(%x: f64[2,24,24]) { %l: f64[2,24,24] = cholesky(%x) return %l }");
  EXPECT_TRUE(IsInMemory(f));
  Numbers x(2 * kRows * kRows);
  for (size_t i = 0; i < x.size(); ++i) x[i] = i / kRows % kRows == i % kRows ? 30 : std::sin(static_cast<double>(i));
  runner_.RunEverywhere(f, {x}, 1e-12);
}

TEST_F(LocalMemory, LongArraysAreInMemory) {
  const auto expect = [this](const std::string& dtype, int64_t lines, int64_t n, bool in_memory) {
    SCOPED_TRACE(dtype + " " + std::to_string(n));
    const Program f = runner_.Parse(TurnedText(dtype, lines, n));
    EXPECT_EQ(IsInMemory(f), in_memory);
    Numbers x(static_cast<size_t>(lines * n));
    for (size_t i = 0; i < x.size(); ++i) x[i] = static_cast<double>(i % 2000);
    runner_.RunEverywhere(f, {x});
  };
  constexpr int64_t kMost = cuda::kMostLocalBytes;
  expect("f32", 70, kMost / 8, false);
  expect("f32", 70, kMost / 8 + 1, true);
  expect("i64", 3, kMost / 12, false);
  expect("i64", 3, kMost / 12 + 1, true);
  expect("f64", 300, 500, true);  // more than a block
  expect("f32", 2, 40000, true);
  expect("f64", 3, 30001, true);
}

// Neighbours turn neighbouring lines: the elements that they access of their arrays are adjacent, 8 f32 in a sector.
TEST_F(LocalMemory, NeighboursAccessNeighbours) {
  GpuProgram f(GpuOf(runner_.ctx()));
  ASSERT_TRUE(Ok(f.Compile(runner_.ctx(), TurnedText("f32", 64, 600))));
  ASSERT_TRUE(Ok(f.Give({Floats(64 * 600, 1)})));
  const Counting counting;
  ASSERT_TRUE(Ok(f.Enqueue()));
  ASSERT_TRUE(Ok(ricci_array_wait(f.out()[0])));
  const ricci_standin_figures counted = Counted();
  // Of each element: lines of operands and results lie apart, a sector for each of 64 threads (3 accesses); those of
  // both arrays (a store and a load each) are 8 sectors together.
  EXPECT_EQ(counted.sectors, 600u * (3 * 64 + 4 * 8));
}

// On an H100: all together have what the driver would keep for arrays of 4 KB.
TEST(LaunchShape, ThreadsThatNeedMuchMemoryAreFew) {
  constexpr int64_t kThreads = 1 << 20, kProcessors = 132;
  EXPECT_EQ(cuda::ShapeOf(kThreads, 0, kProcessors).blocks, 4096u);
  const cuda::LaunchShape few = cuda::ShapeOf(kThreads, 16000, kProcessors);
  EXPECT_EQ(few.threads, 256u);
  EXPECT_EQ(few.blocks, 132u * 2048 * 4096 / 16000 / 256);
  EXPECT_EQ(cuda::ShapeOf(kThreads, uint64_t{1} << 40, kProcessors).blocks, 1u);
}

// All threads that can be resident have the stack of the largest kernel: 2,048 on each of 4 processors.
TEST(LocalMemoryOfTheStandin, IsThatOfAllResidentThreads) {
  const BareDriver driver;
  std::string error;
  const auto kernel = [](const std::string& name, int elements) {
    return "extern \"C\" __global__ void " + name + "(float* a) {\n  float big[" + std::to_string(elements) +
           "];\n  big[0] = 1;\n  a[0] = big[0];\n}\n";
  };
  const cuda::CuModule m = driver.Load(kernel("most", 32768) + kernel("more", 32769), error);
  ASSERT_NE(m, nullptr) << error;
  cuda::CuStream stream = nullptr;
  driver->cuStreamCreate(&stream, 1);
  cuda::CuPointer a = driver.Allocate(4, stream);
  void* arguments[] = {&a};
  const auto launch = [&](const char* name) {
    return driver->cuLaunchKernel(driver.Find(m, name), 1, 1, 1, 1, 1, 1, 0, stream, arguments, nullptr);
  };
  EXPECT_EQ(launch("most"), cuda::kCuSuccess);
  EXPECT_EQ(launch("more"), cuda::kCuOutOfMemory);
  driver->cuMemFreeAsync(a, stream);
  driver->cuStreamSynchronize(stream);
  driver->cuStreamDestroy(stream);
  driver->cuModuleUnload(m);
}

}}  // namespace ricci::testing
