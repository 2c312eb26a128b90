// SOURCE lowerings as CUDA C++: what they compute among other operations, and how wrong ones are refused.
#include "cuda/scaled_row.h"
#include "cuda/simulated_gpu.h"
#include "support/program_runner.h"

namespace ricci::testing { namespace {

class CudaSource : public ::testing::Test {
 protected:
  CudaSource() {
    EXPECT_TRUE(Ok(ricci_context_add_plugin(runner_.ctx(), QueryScaledRow)));
    EXPECT_TRUE(Ok(ricci_context_add_plugin(runner_.ctx(), QuerySimulatedGpu)));
  }
  static std::string Text(const char* a) {
    return std::string("program f(%x: f64[40]) {\n  %y: f64[40] = add(%x, %x)\n  %z: f64[40] = test.scaled(%y) a=") +
           a + "\n  %s: f64[] = reduce_sum(%z) axes=[0]\n  return %z, %s\n}";
  }
  std::string CompileError(const char* a) {
    const Program f = runner_.Parse(Text(a));
    ricci_compile_opts o{};
    o.hdr.size = sizeof o;
    ricci_device* const gpu = ricci_device_find(runner_.ctx(), "cuda", 4);
    o.devices = &gpu;
    o.n_devices = 1;
    ricci_executable* x = nullptr;
    ricci_status* const s = ricci_compile(f.get(), &o, &x);
    EXPECT_EQ(ricci_status_code(s), RICCI_INVALID_ARGUMENT);
    return s == nullptr ? "" : Message(s);
  }
  ProgramRunner runner_;
};

TEST_F(CudaSource, RunsAmongKernels) {
  Numbers x(40);
  for (size_t i = 0; i < x.size(); ++i) x[i] = 0.25 * static_cast<double>(i) - 3;
  const std::vector<Numbers> out = runner_.RunEverywhere(runner_.Parse(Text("1.5")), {x});
  EXPECT_EQ(out[0][1], 3 * x[1]);
}

// More than 48 KB must be asked for, which the simulated driver wants too.
TEST_F(CudaSource, MayWantMuchSharedMemory) {
  const std::vector<Numbers> out = runner_.RunEverywhere(runner_.Parse(Text("16.0")), {Numbers(40, 1)});
  EXPECT_EQ(out[0][1], 32);
  EXPECT_NE(CompileError("17.0").find("its launch wants 307200 bytes of shared memory; a block of simulated GPU has "
                                      "232448 at most"),
            std::string::npos);
}

// One text, so one function, whose leave is for the most that any launch wants.
TEST_F(CudaSource, LaunchesThatWantDifferentSharedMemory) {
  const Program f = runner_.Parse(
      "program f(%x: f64[40]) {\n  %y: f64[40] = test.scaled(%x) a=16.0\n  %z: f64[40] = test.scaled(%y) a=18.0\n"
      "  return %z\n}");
  EXPECT_EQ(runner_.RunEverywhere(f, {Numbers(40, 1)})[0][1], 16 * 18);
}

TEST_F(CudaSource, WrongTextIsRefusedWithItsLine) {
  const std::string message = CompileError("13.0");
  EXPECT_NE(message.find("test.scaled"), std::string::npos) << message;
  EXPECT_NE(message.find("ricci.cu:2"), std::string::npos) << message;
}

TEST_F(CudaSource, LaunchThatNoDeviceTakesIsRefused) {
  EXPECT_NE(CompileError("14.0").find("blocks of 4096 threads; there are 2147483647 of 1024 at most"),
            std::string::npos);
}

}}  // namespace ricci::testing
