// Text of programs: print and parse are inverses, wrong text gives a message with its place, hostile text is harmless.
#include <random>

#include "ir/print.h"
#include "ir/structural.h"
#include "ir/verify.h"
#include "program_fixture.h"

namespace ricci { inline namespace v0 { namespace testing { namespace {

class TextTest : public ProgramTest {
 protected:
  // Parses, prints, parses again: same text, equal program. Returns the text.
  std::string RoundTrip(std::string_view text) {
    const ir::ProgramRef p = Parse(text);
    if (!p) return "";
    EXPECT_TRUE(ir::Verify(*p).ok()) << ir::Verify(*p);
    const std::string printed = ir::Print(*p);
    const ir::ProgramRef again = Parse(printed);
    if (!again) return printed;
    EXPECT_EQ(ir::Print(*again), printed);
    EXPECT_TRUE(ir::Equal(*p, *again));
    EXPECT_EQ(ir::Hash(*p), ir::Hash(*again));
    return printed;
  }
  std::string ConstantText(const std::string& type, const std::string& value) {
    const std::string text = RoundTrip("program p() { %0: " + type + " = constant " + value + " return %0 }");
    const size_t from = text.find("constant ") + 9;
    return text.substr(from, text.find('\n', from) - from);
  }
};

TEST_F(TextTest, CanonicalForm) {
  const std::string text =
      "program loss(%0: f32[128,784], %1: f32[]) {\n"
      "  %2: f32[] = constant 0.5\n"
      "  %3: f32[128,784] = mix(%0, %1) n=-3 eps=1e-05 flag=true new_dtype=bf16 mode=\"clip\" axes=[0,1] "
      "weights=[1.0,-inf]\n"
      "  %4: f32[], %5: f32[] = mix-two.parts(%2)\n"
      "  note() text=\"a \\\"b\\\"\\n\\x01\"\n"
      "  return %3, %4, %0\n"
      "}\n";
  EXPECT_EQ(RoundTrip(text), text);
}

TEST_F(TextTest, NamesAndLayoutAreFree) {
  EXPECT_EQ(RoundTrip("program \"my f\"(%x: f32[2]){// note\n%y:f32[2]=mix(%x)axes=[] return %y,%x}"),
            "program \"my f\"(%0: f32[2]) {\n  %1: f32[2] = mix(%0) axes=[]\n  return %1, %0\n}\n");
}

TEST_F(TextTest, NestedPrograms) {
  const std::string text =
      "program(%0: i32[]) {\n"
      "  %1: i32[] = mix(%0) body=program step(%0: i32[]) {\n"
      "    %1: i32[] = constant 7\n"
      "    return %1\n"
      "  } branches=[program() {\n"
      "    return\n"
      "  }, program() {\n"
      "    return\n"
      "  }]\n"
      "  return\n"
      "}\n";
  EXPECT_EQ(RoundTrip(text), text);
}

TEST_F(TextTest, ConstantsKeepTheirBits) {
  EXPECT_EQ(ConstantText("f32[2,2]", "[1.0, 2, nan, -inf]"), "[1.0, 2.0, nan, -inf]");
  EXPECT_EQ(ConstantText("f32[]", "0x7fc00001"), "0x7fc00001");
  EXPECT_EQ(ConstantText("f32[]", "0xffc00000"), "0xffc00000");
  EXPECT_EQ(ConstantText("f32[]", "0x7fc00000"), "nan");
  EXPECT_EQ(ConstantText("f32[]", "-0.0"), "-0.0");
  EXPECT_EQ(ConstantText("f32[]", "1e-45"), "1e-45");
  EXPECT_EQ(ConstantText("f64[]", "0.1"), "0.1");
  EXPECT_EQ(ConstantText("f64[]", "1e300"), "1e+300");
  EXPECT_EQ(ConstantText("f16[]", "0.1"), "0.1");
  EXPECT_EQ(ConstantText("f16[]", "6e-08"), "6e-08");
  EXPECT_EQ(ConstantText("f16[]", "1e9"), "inf");
  EXPECT_EQ(ConstantText("bf16[]", "3.14159"), "3.14");
  EXPECT_EQ(ConstantText("i8[2]", "[-128, 127]"), "[-128, 127]");
  EXPECT_EQ(ConstantText("u64[]", "18446744073709551615"), "18446744073709551615");
  EXPECT_EQ(ConstantText("i64[]", "-9223372036854775808"), "-9223372036854775808");
  EXPECT_EQ(ConstantText("key[]", "42"), "42");
  EXPECT_EQ(ConstantText("bool[3]", "[true, false, true]"), "[true, false, true]");
  EXPECT_EQ(ConstantText("f32[1000000,1000]", "2.0"), "2.0");
  EXPECT_EQ(ConstantText("f32[0]", "[]"), "[]");
  EXPECT_EQ(ConstantText("f32[1]", "[4]"), "4.0");
}

TEST_F(TextTest, ComplexConstantsKeepTheirBits) {
  EXPECT_EQ(ConstantText("c64[]", "(1, -2.5)"), "(1.0, -2.5)");
  EXPECT_EQ(ConstantText("c64[3]", "(0.1, -0.0)"), "(0.1, -0.0)");
  EXPECT_EQ(ConstantText("c64[2]", "[(nan, 0xffc00000), (-inf, 1e-45)]"), "[(nan, 0xffc00000), (-inf, 1e-45)]");
  EXPECT_EQ(ConstantText("c128[2]", "[(0.1, 1e300), (1, 2)]"), "[(0.1, 1e+300), (1.0, 2.0)]");
  EXPECT_EQ(ConstantText("c128[0]", "[]"), "[]");
}

TEST_F(TextTest, FloatsOfEightAndFourBits) {
  EXPECT_EQ(ConstantText("f8e4m3fn[4]", "[0.1, 448, 1e9, 0xff]"), "[0.1, 4.5e+02, nan, 0xff]");
  EXPECT_EQ(ConstantText("f8e5m2[4]", "[0.1, 57344, 1e9, 0x7d]"), "[0.09, 6e+04, inf, 0x7d]");
  EXPECT_EQ(ConstantText("f8e8m0fnu[3]", "[3, 1, 0]"), "[4.0, 1.0, nan]");
  EXPECT_EQ(ConstantText("f4e2m1fn[3]", "[1.6, -0.0, 100]"), "[1.5, -0.0, 6.0]");
}

// Every 16-bit pattern comes back unchanged.
TEST_F(TextTest, NarrowFloatsKeepTheirBits) {
  for (const uint32_t dtype : {RICCI_F16, RICCI_BF16}) {
    trace::Vals results;
    auto b = *trace::Builder::Create(registry(), "all", {});
    std::vector<uint16_t> bits(65536);
    for (uint32_t i = 0; i < bits.size(); ++i) bits[i] = static_cast<uint16_t>(i);
    for (size_t at = 0; at < bits.size(); at += 32) {
      const int64_t shape[] = {32};
      const auto type = *b->types().Intern(dtype, shape);
      results.push_back(*b->Constant(type, std::as_bytes(std::span(bits).subspan(at, 32))));
    }
    const ir::ProgramRef p = *b->Finish(results);
    const ir::ProgramRef again = Parse(ir::Print(*p));
    EXPECT_TRUE(ir::Equal(*p, *again));
  }
}

TEST_F(TextTest, LargeConstantsAreBlobs) {
  std::string list = "[0";
  for (int i = 1; i < 20; ++i) list += "," + std::to_string(i);
  const std::string text = RoundTrip("program p() { %0: f32[20] = constant " + list + "] return %0 }");
  EXPECT_NE(text.find(" = constant #"), std::string::npos) << text;
  EXPECT_NE(text.find("\nblob #"), std::string::npos) << text;
  std::string wrong = text;
  wrong[wrong.rfind('0')] = '1';
  EXPECT_NE(ErrorOf(wrong).find("do not have that hash"), std::string::npos) << ErrorOf(wrong);
  EXPECT_NE(ErrorOf(text.substr(0, text.find("blob"))).find("has no blob line"), std::string::npos);
}

TEST_F(TextTest, LocationsOfText) {
  const ir::ProgramRef p = *TryParse("program p(%x: f32[]) {\n  %y: f32[] = mix(%x)\n  return %y\n}", "f.ricci");
  EXPECT_NE(ir::Print(*p, {.locations = true}).find("mix(%0)  // f.ricci:2\n"), std::string::npos);
}

TEST_F(TextTest, MessagesNameThePlace) {
  const auto body = [](const std::string& s) { return "program p(%x: f32[2]) {\n  " + s + "\n  return %x\n}"; };
  EXPECT_EQ(ErrorOf("programm"), "t:1:1: expected `program`, not `programm`");
  EXPECT_EQ(ErrorOf("program p("), "t:1:11: expected a value `%name`, the text ends here");
  EXPECT_EQ(ErrorOf(body("%y: f32[2] = mix(%z)")), "t:2:20: %z is not defined before");
  EXPECT_EQ(ErrorOf(body("%y: f32[2] = mix(%y)")), "t:2:20: %y is not defined before");
  EXPECT_EQ(ErrorOf(body("%x: f32[2] = mix(%x)")), "t:2:3: %x is defined twice");
  EXPECT_EQ(ErrorOf(body("%y: f99[2] = mix(%x)")), "t:2:7: expected a dtype, such as f32 or i32, not `f99`");
  EXPECT_EQ(ErrorOf(body("%y: f32[3] = mix(%x)")), "t:2:16: mix: result 0 is f32[2], the text says f32[3]");
  EXPECT_EQ(ErrorOf(body("%y: f32[2] = mux(%x)")), "t:2:16: mux: no such primitive; did you mean mix?");
  EXPECT_EQ(ErrorOf(body("%y: f32[2] = constant [1]")), "t:2:25: the list has 1 element, the type 2");
  EXPECT_EQ(ErrorOf(body("%y: i8[] = constant 128")), "t:2:23: `128` is not a value of i8");
  EXPECT_EQ(ErrorOf(body("%y: i32[] = constant 1.5")), "t:2:24: `1.5` is not a value of i32");
  EXPECT_EQ(ErrorOf(body("%y: c64[] = constant 1.5")), "t:2:24: expected a complex number `(re, im)`, not `1.5`");
  EXPECT_EQ(ErrorOf(body("%y: c64[] = constant (1.5)")), "t:2:28: expected `,`, not `)`");
  EXPECT_EQ(ErrorOf(body("%y: c64[] = constant (true, 1)")), "t:2:25: `true` is not a value of f32");
  EXPECT_EQ(ErrorOf(body("%y: f32[-1] = constant 1.5")), "t:2:17: type: negative dimension in f32[-1]");
  EXPECT_EQ(ErrorOf("program p(%x: f32[2], %y: f32[-1]) { return %x }"), "t:1:27: type: negative dimension in f32[-1]");
  EXPECT_EQ(ErrorOf(body("%y: f32[2] = blend(%x)")),
            "t:2:16: blend: no such primitive; add the plugin that provides it");
  constexpr std::string_view kValue = "a number, a text in quotes, true or false, a dtype, a list or a program";
  EXPECT_EQ(ErrorOf(body("%y: f32[2] = mix(%x) n=")), base::Cat("t:3:3: expected ", kValue, ", not `return`"));
  EXPECT_EQ(ErrorOf(body("%y: f32[2] = mix(%x) n=int32")), base::Cat("t:2:26: expected ", kValue, ", not `int32`"));
  EXPECT_EQ(ErrorOf(body("%y: f32[2] = mix(%x) n=[FFT]")), "t:2:27: expected a number, not `FFT`");
  EXPECT_EQ(ErrorOf(body("%y: f32[2] = mix(%x) n=\"a")), "t:2:26: a text without its closing `\"`");
  EXPECT_EQ(ErrorOf(body("%y: f32[2] = mix(%x) n=\x80")), base::Cat("t:2:26: expected ", kValue, ", not the byte 128"));
  EXPECT_EQ(ErrorOf(body("%y: f32[2] = mix(%x) color=3")).substr(0, 28), "mix: unknown attribute color");
  EXPECT_EQ(ErrorOf(body("") + "x"), "t:4:2: expected the end of the text, not `x`");
}

TEST_F(TextTest, NestingIsBounded) {
  std::string deep = "program p() {";
  for (int i = 0; i < 100000; ++i) deep += "note() text=program () {";
  EXPECT_NE(ErrorOf(deep).find("programs nested deeper than 256"), std::string::npos) << ErrorOf(deep);
}

// Mutated texts: an error or a program that prints and parses again; never a crash.
TEST_F(TextTest, MutatedTextsAreHarmless) {
  const std::string seed =
      "program f(%0: f32[2,2], %1: i32[]) {\n"
      "  %2: f32[2,2] = constant [1.0, 2.5, nan, -inf]\n"
      "  %3: f32[2,2] = mix(%0, %2) n=12 eps=1e-05 flag=false mode=\"a\\x41\" axes=[0,1] weights=[0.5,2.0] "
      "body=program g(%a: f32[]) {\n    %b: f32[], %c: f32[] = mix-two.parts(%a)\n    return %c, %b\n  }\n"
      "  note() text=\"end\"\n"
      "  return %3, %1\n"
      "}\n";
  constexpr std::string_view kBytes = "%#\"\\[](){}=:,.-+eEx09afn \n/\xff\0p";
  std::mt19937 random(7);
  int accepted = 0;
  for (int i = 0; i < 20000; ++i) {
    std::string text = seed;
    for (uint32_t edits = 1 + random() % 3; edits != 0; --edits) {
      const size_t at = random() % text.size(), n = random() % 8;
      if (random() % 3 == 0)
        text.erase(at, n);
      else if (random() % 2 == 0)
        text.insert(at, text.substr(random() % text.size(), n));
      else
        text[at] = kBytes[random() % kBytes.size()];
      if (text.empty()) text = " ";
    }
    const auto p = TryParse(text);
    if (!p.ok()) continue;
    ++accepted;
    ASSERT_TRUE(ir::Verify(**p).ok()) << text;
    const auto again = TryParse(ir::Print(**p));
    ASSERT_TRUE(again.ok()) << again.status() << "\n" << text;
    ASSERT_TRUE(ir::Equal(**p, **again)) << text;
  }
  EXPECT_GT(accepted, 100);
}

}  // namespace
}}}  // namespace ricci::v0::testing
