// Places of the host's source: in printed text, in what NVRTC says of wrong texts, and in the line table of machine
// code.
#include "source_lines.h"

#include "cuda/scaled_row.h"
#include "cuda/simulated_gpu.h"
#include "support/cached_host.h"

namespace ricci::testing { namespace {

using cuda::EachLinePlaced;
using cuda::LineDirective;

TEST(SourceLines, Directives) {
  EXPECT_EQ(LineDirective("train.cc", 12), "#line 12 \"train.cc\"");
  EXPECT_EQ(LineDirective("a\\b\"c", 1), "#line 1 \"a\\\\b\\\"c\"");
  EXPECT_EQ(LineDirective("", 12), "");
  EXPECT_EQ(LineDirective("train.cc", 0), "") << "a line that is not known";
  EXPECT_EQ(LineDirective("two\nlines", 1), "") << "it would end the directive";
  EXPECT_EQ(LineDirective(static_cast<const ricci_ctx*>(nullptr), 1), "");
}

TEST(SourceLines, AreSaidBeforeEachLine) {
  EXPECT_EQ(EachLinePlaced("a\nb\n"), "a\nb\n");
  EXPECT_EQ(EachLinePlaced("a\n#line 7 \"f\"\nb\nc\n#line 9 \"f\"\nd\n\ne\n\nf\n"),
            "a\n#line 7 \"f\"\nb\n#line 7 \"f\"\nc\n#line 9 \"f\"\nd\n#line 7 \"ricci.cu\"\n\ne\n\nf\n");
}

constexpr std::string_view kText =
    "program f(%x: f32[100], %y: f32[100]) {\n"
    "  %a: f32[100] = mul(%x, %y)\n"
    "  %b: f32[100] = sin(%a)\n"
    "  %c: f32[100] = add(%b, %x)\n"
    "  return %c\n"
    "}";

class LinesOfNvrtc : public ::testing::Test {
 protected:
  LinesOfNvrtc() {
    SetOption(runner_.ctx(), "cuda.arch", "sm_90");
    SetOption(runner_.ctx(), "cuda.compiler", RICCI_NVRTC);
    EXPECT_TRUE(Ok(ricci_context_add_plugin(runner_.ctx(), QueryScaledRow)));
    EXPECT_TRUE(Ok(ricci_context_add_plugin(runner_.ctx(), ricci_plugin_query_cuda)));
  }
  std::string CompileError(const std::string& text) {
    const Program f = runner_.Parse(text);
    ricci_executable* x = nullptr;
    ricci_device* const gpu = ricci_device_find(runner_.ctx(), "cuda", 4);
    ricci_compile_opts o = ricci_compile_opts_default();
    o.devices = &gpu;
    o.n_devices = 1;
    ricci_status* const s = ricci_compile(f.get(), &o, &x);
    EXPECT_NE(s, nullptr);
    return Message(s);
  }
  ProgramRunner runner_;
};

// Each equation's line once, in the order of the text.
TEST_F(LinesOfNvrtc, OfFusedEquations) {
  const std::string text = runner_.Dump(runner_.Parse(kText), "native", "cuda");
  for (const char* line : {"#line 2 \"test\"", "#line 3 \"test\"", "#line 4 \"test\""}) {
    EXPECT_NE(text.find(line), std::string::npos) << text;
  }
  size_t directives = 0;
  for (size_t at = text.find("#line"); at != text.npos; at = text.find("#line", at + 1)) ++directives;
  EXPECT_LE(directives, 8u) << text;
}

// The line table of the machine code has a list of files.
TEST_F(LinesOfNvrtc, InMachineCode) {
  const Program f = runner_.Parse(std::string("program f(%x: f32[100]) {\n  %y: f32[100] = sin(%x)\n  return %y\n}"));
  const std::string object = runner_.Dump(f, "object", "cuda");
  EXPECT_NE(object.find(".debug_line"), std::string::npos);
  EXPECT_NE(object.find(std::string("test\0", 5)), std::string::npos);
}

TEST_F(LinesOfNvrtc, OfASourceAreThePlugins) {
  const auto text = [](const char* a) {
    return std::string("program f(%x: f64[40]) {\n  %z: f64[40] = test.scaled(%x) a=") + a + "\n  return %z\n}";
  };
  const std::string known = CompileError(text("15.0")), unknown = CompileError(text("13.0"));
  EXPECT_EQ(known.find("test:2: test.scaled: "), 0u) << known;
  EXPECT_NE(
      known.find("scaled_row.h(" + std::to_string(kWrongTextLine + 1) + "): error: identifier \"y\" is undefined"),
      std::string::npos)
      << known;
  EXPECT_NE(unknown.find("ricci.cu(2): error: identifier \"y\" is undefined"), std::string::npos) << unknown;
}

}}  // namespace ricci::testing
