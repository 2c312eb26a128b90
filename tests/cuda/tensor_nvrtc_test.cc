// What NVRTC makes of products in each number that tensor cores multiply (plugins/cuda/device/tensor_format.h): without
// a warning or a spill, with the instructions that the architecture has.
#include <algorithm>
#include <iterator>
#include <sstream>

#include "cuda/driver/nvrtc_program.h"
#include "cuda/explain/listing.h"
#include "cuda/explain/resources.h"
#include "cuda/in_turn.h"
#include "cuda/simulated_gpu.h"
#include "cuda/text_for.h"
#include "support/cached_host.h"
#include "support/program_runner.h"

namespace ricci::testing { namespace {

class TensorNvrtc : public ::testing::Test {
 protected:
  TensorNvrtc() {
    std::string error;
    nvrtc_ = cuda::OpenCompiler({RICCI_NVRTC}, error);
    nvrtc_->disassembler = RICCI_NVDISASM;
  }
  // The machine code, for which a thread needs no more registers than it has; without tensor cores it may.
  std::string Sass(const std::string& text, const std::string& architecture) {
    const cuda::NvrtcProgram program(*nvrtc_, text);
    std::string log, code, sass;
    EXPECT_TRUE(program.Compile({.architecture = architecture.c_str(), .figures = true}));
    EXPECT_TRUE(program.ReadText(nvrtc_->nvrtcGetProgramLogSize, nvrtc_->nvrtcGetProgramLog, log));
    EXPECT_TRUE(program.Read(nvrtc_->nvrtcGetCUBINSize, nvrtc_->nvrtcGetCUBIN, code)) << log;
    EXPECT_EQ(log.find("warning"), log.npos) << log;
    EXPECT_EQ(log.find("Potential Performance Loss"), log.npos) << log;
    for (const auto& [name, used] : cuda::ResourcesIn(log)) {
      EXPECT_TRUE(used.spill_bytes == 0 || architecture == "sm_75") << name << " " << used.spill_bytes;
    }
    EXPECT_TRUE(Ok(cuda::Disassemble(*nvrtc_, code, sass)));
    return sass;
  }
  // `on_sm_90a` and `elsewhere`: the instruction; sm_75 has none. For one architecture in turn, since each takes a
  // second.
  void ExpectInstructions(const std::string& program, const std::string& on_sm_90a, const std::string& elsewhere) {
    constexpr const char* kArchitectures[] = {"sm_80", "sm_89", "sm_90a", "sm_100a", "sm_120a", "sm_75"};
    for (uint64_t n = 0; n < std::size(kArchitectures); ++n) {
      if (!IsInTurn(n + texts_, std::size(kArchitectures))) continue;
      const std::string architecture = kArchitectures[n];
      SCOPED_TRACE(architecture + (" " + program));
      const std::string sass = Sass(TextFor(kArchitectures[n], program), architecture);
      if (architecture == "sm_75") continue;
      const std::string wanted = architecture == "sm_90a" ? on_sm_90a : elsewhere;
      EXPECT_NE(sass.find(wanted), std::string::npos) << wanted;
    }
    ++texts_;
  }

  std::unique_ptr<cuda::Compiler> nvrtc_;
  uint64_t texts_ = static_cast<uint64_t>(::testing::UnitTest::GetInstance()->current_test_info()->line());
};

std::string Product(const std::string& x, const std::string& y, const std::string& z, const std::string& how) {
  return "program f(%x: " + x + ", %y: " + y + ") {\n  %z: " + z + " = dot_general(%x, %y) " + how + "\n  return %z\n}";
}

TEST_F(TensorNvrtc, IntegersOfEightBits) {
  for (const char* how : {"lhs_contract=[1] rhs_contract=[0]", "lhs_contract=[0] rhs_contract=[1]"}) {
    ExpectInstructions(
        Product("i8[1024,1024]", "u8[1024,1024]", "i32[1024,1024]", how + std::string(" preferred_element_type=i32")),
        " IMMA", " IMMA");
  }
}

TEST_F(TensorNvrtc, Tf32) {
  for (const char* how : {"lhs_contract=[1] rhs_contract=[0]", "lhs_contract=[0] rhs_contract=[1]"}) {
    ExpectInstructions(Product("f32[4096,4096]", "f32[4096,4096]", "f32[4096,4096]",
                               how + std::string(" precision=\"TF32_TF32_F32\"")),
                       ".TF32", ".TF32");
  }
}

// Factors that the product computes, in every layout.
TEST_F(TensorNvrtc, WeightsOfEightBits) {
  for (const bool turned : {false, true}) {
    const std::string w = turned ? "[1024,2048]" : "[2048,1024]", scale = turned ? "[0]" : "[1]";
    ExpectInstructions("program f(%x: bf16[4096,2048], %q: i8" + w + R"(, %s: bf16[1024]) {
  %a: bf16)" + w + " = convert_element_type(%q) new_dtype=bf16\n  %b: bf16" +
                           w + " = broadcast_in_dim(%s) shape=" + w + " broadcast_dimensions=" + scale +
                           "\n  %w: bf16" + w +
                           " = mul(%a, %b)\n  %z: f32[4096,1024] = dot_general(%x, %w) lhs_contract=[1] "
                           "rhs_contract=[" +
                           (turned ? "1" : "0") + "] preferred_element_type=f32\n  return %z\n}",
                       "HGMMA", " HMMA");
  }
}

TEST_F(TensorNvrtc, CastsOfBothFactors) {
  ExpectInstructions(R"(program f(%x: f32[2048,1024], %y: f32[1024,1024]) {
  %a: bf16[2048,1024] = convert_element_type(%x) new_dtype=bf16
  %b: bf16[1024,1024] = convert_element_type(%y) new_dtype=bf16
  %z: f32[2048,1024] = dot_general(%a, %b) lhs_contract=[1] rhs_contract=[0] preferred_element_type=f32
  return %z
})",
                     "HGMMA", " HMMA");
}

// The form for pairs of blocks (pair_tile.h): all products of a step in a row, copies to both blocks, registers given
// from group to group.
TEST_F(TensorNvrtc, PairsOfBlocks) {
  const auto longest_run = [](const std::string& sass) {
    int longest = 0, now = 0;
    std::istringstream lines(sass.substr(sass.find("_pairs:")));
    for (std::string line; std::getline(lines, line);) {
      if (line.find(" HGMMA.64x256x16") != line.npos) {
        longest = std::max(longest, ++now);
      } else if (line.find(" WARPGROUP.") != line.npos || line.find(" SYNCS.") != line.npos) {
        now = 0;
      }
    }
    return longest;
  };
  for (const char* how : {"lhs_contract=[1] rhs_contract=[0]", "lhs_contract=[0] rhs_contract=[1]"}) {
    const std::string sass =
        Sass(TextFor("sm_90a", Product("bf16[2048,2048]", "bf16[2048,2048]", "bf16[2048,2048]", how)), "sm_90a");
    EXPECT_GE(longest_run(sass), 4) << how;
    for (const char* wanted : {"UTMALDG.2D.MULTICAST", "USETMAXREG", "UCGABAR_ARV", "STSM.16.M88.4", "UTMASTG.2D"}) {
      EXPECT_NE(sass.find(wanted), sass.npos) << wanted << " " << how;
    }
    EXPECT_EQ(sass.find("BRA.U.ANY"), sass.npos) << "lanes are taken apart: " << how;
  }
}

}}  // namespace ricci::testing
