// The options of the plugin: other libraries, and an architecture to compile for without a GPU.
#include <gtest/gtest.h>

#include <algorithm>

#include "cuda/driver/library_paths.h"
#include "cuda/simulated_gpu.h"
#include "support/program_runner.h"

namespace ricci::testing { namespace {

constexpr std::string_view kText = "program f(%x: f32[3]) {\n  %y: f32[3] = add(%x, %x)\n  return %y\n}";

class CudaOptions : public ::testing::Test {
 protected:
  void Set(std::string_view key, std::string_view value) {
    ASSERT_TRUE(Ok(ricci_context_config(runner_.ctx(), key.data(), key.size(), value.data(), value.size())));
  }
  ricci_status* Add() { return ricci_context_add_plugin(runner_.ctx(), ricci_plugin_query_cuda); }
  std::string NameOfGpu() {
    ricci_device_desc desc{};
    desc.hdr.size = sizeof desc;
    ricci_device_info(ricci_device_find(runner_.ctx(), "cuda", 4), &desc);
    return {desc.name.ptr, desc.name.len};
  }

  ProgramRunner runner_;
};

TEST_F(CudaOptions, OtherLibraries) {
  Set("cuda.driver", RICCI_STANDIN);
  Set("cuda.compiler", RICCI_STANDIN);
  ASSERT_TRUE(Ok(Add()));
  EXPECT_EQ(NameOfGpu(), "simulated GPU");
  EXPECT_EQ(runner_.RunEverywhere(runner_.Parse(std::string(kText)), {{1, 2, 3}})[0], (Numbers{2, 4, 6}));
}

TEST_F(CudaOptions, WhatIsMissingIsNamed) {
  Set("cuda.driver", "/no/libcuda.so");
  const std::string message = Message(Add());
  EXPECT_EQ(message.find("cuda: no CUDA device: /no/libcuda.so cannot be opened: "), 0u) << message;
}

TEST_F(CudaOptions, MistypedKey) {
  Set("cuda.ach", "sm_90a");
  EXPECT_EQ(
      Message(Add()),
      "config: unknown key cuda.ach; the plugin cuda knows cuda.arch, cuda.compiler, cuda.cupti, cuda.disassembler, "
      "cuda.driver, cuda.libraries, cuda.nvtx, cuda.pairs_from, cuda.scatter");
}

TEST_F(CudaOptions, UnknownWayToScatter) {
  Set("cuda.driver", RICCI_STANDIN);
  Set("cuda.compiler", RICCI_STANDIN);
  Set("cuda.scatter", "fast");
  EXPECT_EQ(Message(Add()), "cuda: the option cuda.scatter is fast; it must be ordered, sorted or atomics");
}

// A product of the least size for pairs, with sums of 64 trips.
TEST_F(CudaOptions, ShorterSumsByPairs) {
  constexpr std::string_view kProduct = R"(program f(%x: bf16[2048,64], %y: bf16[64,2048]) {
  %z: f32[2048,2048] = dot_general(%x, %y) lhs_contract=[1] rhs_contract=[0] preferred_element_type=f32
  return %z
})";
  for (const auto& [from, by_pairs] : {std::pair("65", false), std::pair("64", true)}) {
    ProgramRunner runner;
    for (const auto& [key, value] : {std::pair<std::string_view, std::string_view>("cuda.driver", RICCI_STANDIN),
                                     {"cuda.compiler", RICCI_STANDIN},
                                     {"cuda.pairs_from", from}}) {
      ASSERT_TRUE(Ok(ricci_context_config(runner.ctx(), key.data(), key.size(), value.data(), value.size())));
    }
    ASSERT_TRUE(Ok(ricci_context_add_plugin(runner.ctx(), ricci_plugin_query_cuda)));
    const std::string text = runner.Dump(runner.Parse(std::string(kProduct)), "native", "cuda");
    EXPECT_EQ(text.find("_pairs(") != text.npos, by_pairs) << text;
  }
}

TEST_F(CudaOptions, WrongNumberOfTrips) {
  for (const std::string text : {"0", "-3", "64x", "9223372036854775808", "many"}) {
    ProgramRunner runner;
    constexpr std::string_view kKey = "cuda.pairs_from";
    ASSERT_TRUE(Ok(ricci_context_config(runner.ctx(), kKey.data(), kKey.size(), text.data(), text.size())));
    EXPECT_EQ(Message(ricci_context_add_plugin(runner.ctx(), ricci_plugin_query_cuda)),
              "cuda: the option cuda.pairs_from is " + text + "; it must be a number of trips, from 1 to 2^63 - 1");
  }
}

TEST_F(CudaOptions, MissingCompilerIsNamed) {
  Set("cuda.driver", RICCI_STANDIN);
  Set("cuda.compiler", "/no/libnvrtc.so");
  EXPECT_EQ(Message(Add()),
            "cuda: no compiler for CUDA: none of these can be opened: /no/libnvrtc.so; install NVRTC (of CUDA 12 or "
            "later), or name its file by the option cuda.compiler");
}

// In toolkits, folders of the host and by name; the newer version in any of them first.
TEST_F(CudaOptions, WhereTheCompilerIsLookedFor) {
  EXPECT_EQ(
      cuda::CompilerPaths({"/home/cuda", "/usr/local/cuda-12.9"}, "/a/lib::/b"),
      (std::vector<std::string>{"/home/cuda/lib64/libnvrtc.so.13", "/home/cuda/lib/libnvrtc.so.13",
                                "/usr/local/cuda-12.9/lib64/libnvrtc.so.13", "/usr/local/cuda-12.9/lib/libnvrtc.so.13",
                                "/a/lib/libnvrtc.so.13", "/b/libnvrtc.so.13", "libnvrtc.so.13",
                                "/home/cuda/lib64/libnvrtc.so.12", "/home/cuda/lib/libnvrtc.so.12",
                                "/usr/local/cuda-12.9/lib64/libnvrtc.so.12", "/usr/local/cuda-12.9/lib/libnvrtc.so.12",
                                "/a/lib/libnvrtc.so.12", "/b/libnvrtc.so.12", "libnvrtc.so.12"}));
}

// The system's own first: a process has one.
TEST_F(CudaOptions, WhereTheDriverIsLookedFor) {
  const std::vector<std::string> places = cuda::DriverPaths({"/home/cuda"});
  EXPECT_EQ(places.front(), "libcuda.so.1");
  EXPECT_EQ(places.back(), "/home/cuda/compat/libcuda.so.1");
  EXPECT_EQ(std::count(places.begin(), places.end(), "/usr/local/nvidia/lib64/libcuda.so.1"), 1);
}

TEST_F(CudaOptions, AllPlacesAreNamed) {
  std::string error;
  EXPECT_EQ(cuda::OpenDriver({"/no/a", "/no/b", "/no/c"}, error), nullptr);
  EXPECT_EQ(error.find("no CUDA device: /no/a cannot be opened: "), 0u) << error;
  EXPECT_NE(error.find("; nor can /no/b, /no/c"), error.npos) << error;
  EXPECT_EQ(cuda::OpenCompiler({"/no/a", "/no/b"}, error), nullptr);
  EXPECT_NE(error.find("none of these can be opened: /no/a, /no/b;"), error.npos) << error;
}

// After a library that is not a compiler, or lacks a part of one, the search goes on.
TEST_F(CudaOptions, TheNextCompilerIsTaken) {
  std::string error;
  EXPECT_NE(cuda::OpenCompiler({"/no/a", "libm.so.6", RICCI_STANDIN}, error), nullptr) << error;
}

TEST_F(CudaOptions, LibraryThatIsNoCompilerIsNamed) {
  Set("cuda.arch", "sm_90");
  Set("cuda.compiler", "libm.so.6");
  EXPECT_EQ(Message(Add()), "cuda: no compiler for CUDA: libm.so.6 has no function nvrtcCreateProgram");
}

TEST_F(CudaOptions, GpuThatIsNewerThanTheCompiler) {
  OfStandin<void(int)>("ricci_standin_newest")(89);
  Set("cuda.driver", RICCI_STANDIN);
  Set("cuda.compiler", RICCI_STANDIN);
  const std::string message = Message(Add());
  OfStandin<void(int)>("ricci_standin_newest")(121);
  EXPECT_EQ(
      message,
      "cuda: simulated GPU is newer than the compiler: NVRTC 13.0 does not know the architecture sm_90a; it knows "
      "sm_75, sm_80, sm_86, sm_87, sm_88, sm_89; install a newer NVRTC, or name its file by the option "
      "cuda.compiler");
  EXPECT_TRUE(Ok(Add()));
}

// Whatever the compiler knows.
TEST_F(CudaOptions, GpuThatIsTooOld) {
  OfStandin<void(int)>("ricci_standin_capability")(70);
  Set("cuda.driver", RICCI_STANDIN);
  Set("cuda.compiler", RICCI_STANDIN);
  const std::string message = Message(Add());
  OfStandin<void(int)>("ricci_standin_capability")(90);
  EXPECT_EQ(
      message,
      "cuda: simulated GPU cannot be used: the architecture sm_70 is older than sm_75, the first one that kernels "
      "are written for");
  EXPECT_TRUE(Ok(Add()));
}

TEST_F(CudaOptions, ArchitectureThatIsTooOld) {
  Set("cuda.arch", "sm_62");
  Set("cuda.compiler", RICCI_STANDIN);
  EXPECT_EQ(
      Message(Add()),
      "cuda: option cuda.arch: the architecture sm_62 is older than sm_75, the first one that kernels are written "
      "for");
}

// Without a driver: programs are compiled, their text and machine code can be seen, and runs are refused.
TEST_F(CudaOptions, CompilesForAGpuThatIsNotThere) {
  Set("cuda.arch", "sm_90a");
  Set("cuda.driver", "/no/libcuda.so");
  Set("cuda.compiler", RICCI_STANDIN);
  ASSERT_TRUE(Ok(Add()));
  EXPECT_EQ(NameOfGpu(), "compiles only, for sm_90a");
  const Program f = runner_.Parse(std::string(kText));
  EXPECT_NE(runner_.Dump(f, "native", "cuda").find("__global__ void k0_"), std::string::npos);
  EXPECT_FALSE(runner_.Dump(f, "object", "cuda").empty());
  EXPECT_NE(runner_.RunErrorOn(f, {{1, 2, 3}}, "cuda").find("this device only compiles (option cuda.arch)"),
            std::string::npos);
}

}}  // namespace ricci::testing
