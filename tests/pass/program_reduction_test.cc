// ricci_program_reduce: what is left of a program is what the host asks for, and every candidate is a valid program.
#include <functional>

#include "support/program_runner.h"

namespace ricci::testing { namespace {

using Fails = std::function<bool(const std::string& text)>;

// The search on the text of candidates, which must all be programs that verify.
class Reduction {
 public:
  explicit Reduction(Fails fails) : fails_(std::move(fails)) {
    how_.hdr.size = sizeof how_;
    how_.self = this;
    how_.fails = [](void* self, const ricci_program* candidate) -> uint32_t {
      auto& r = *static_cast<Reduction*>(self);
      ++r.calls;
      Ok(ricci_program_verify(candidate));
      return r.fails_(TextOf(candidate));
    };
  }
  // The text of the reduced program, or the message of an error.
  std::string Of(ProgramRunner& r, std::string_view text) {
    const Program f = r.Parse(text);
    ricci_program* out = nullptr;
    if (ricci_status* s = ricci_program_reduce(f.get(), &how_, &out)) return Message(s);
    const Program owned(out);
    return TextOf(out);
  }
  ricci_reduction& how() { return how_; }
  uint64_t calls = 0;

 private:
  static std::string TextOf(const ricci_program* p) {
    std::string text;
    Ok(ricci_program_print(
        p, &text, [](void* sink, const char* from, size_t n) { static_cast<std::string*>(sink)->append(from, n); }));
    return text;
  }
  const Fails fails_;
  ricci_reduction how_{};
};

Reduction Holding(std::string_view word) {
  return Reduction([word](const std::string& text) { return text.find(word) != std::string::npos; });
}

constexpr std::string_view kLong =
    "program f(%x: f32[6,5], %y: f32[5,7]) {\n"
    "  %d: f32[6,7] = dot_general(%x, %y) lhs_contract=[1] rhs_contract=[0]\n"
    "  %e: f32[6,7] = exp(%d)\n"
    "  %s: f32[6] = reduce_sum(%e) axes=[1]\n"
    "  %r: f32[6], %t: f32[3,6] = scan(%s) length=3 num_carry=1 num_consts=0 body=program(%a: f32[6]) {\n"
    "    %b: f32[6] = neg(%a)\n"
    "    %c: f32[6] = log(%b)\n"
    "    %u: f32[6] = sin(%c)\n"
    "    return %u, %c\n"
    "  }\n"
    "  %v: f32[6] = add(%r, %s)\n"
    "  return %v, %t\n"
    "}";

TEST(Reduction, OneEquationIsLeft) {
  ProgramRunner r;
  EXPECT_EQ(Holding(" exp(").Of(r, kLong), "program f(%0: f32[1,1]) {\n  %1: f32[1,1] = exp(%0)\n  return %1\n}\n");
}

TEST(Reduction, BodiesAreUnwrapped) {
  ProgramRunner r;
  EXPECT_EQ(Holding(" log(").Of(r, kLong), "program(%0: f32[1]) {\n  %1: f32[1] = log(%0)\n  return %1\n}\n");
}

TEST(Reduction, WhatHoldsItIsKeptWhereItMatters) {
  ProgramRunner r;
  const auto fails = [](const std::string& text) {
    return text.find("scan(") != std::string::npos && text.find(" log(") != std::string::npos;
  };
  const std::string small = Reduction(fails).Of(r, kLong);
  EXPECT_NE(small.find("length=1"), std::string::npos) << small;
  EXPECT_EQ(small.find("sin("), std::string::npos) << small;
  EXPECT_EQ(small.find("dot_general"), std::string::npos) << small;
}

TEST(Reduction, ConstantsBecomeSplats) {
  ProgramRunner r;
  EXPECT_EQ(Holding(" mul(").Of(r,
                                "program f(%x: f64[3]) { %c: f64[3] = constant [2.0, 3.0, 4.0]"
                                "  %y: f64[3] = mul(%x, %c)  %z: f64[3] = mul(%y, %c)  return %z }"),
            "program f(%0: f64[1]) {\n  %1: f64[1] = constant 2.0\n  %2: f64[1] = mul(%0, %1)\n  return %2\n}\n");
}

TEST(Reduction, TheSearchHasBounds) {
  ProgramRunner r;
  Reduction few = Holding(" exp(");
  few.how().tries = 3;
  few.Of(r, kLong);
  EXPECT_LE(few.calls, 4u);  // and one to see that it fails at all
}

TEST(Reduction, WrongArgumentsAreNamed) {
  ProgramRunner r;
  EXPECT_EQ(Holding("no such text").Of(r, kLong), "reduce: program f does not fail");
  Reduction none = Holding("x");
  none.how().fails = nullptr;
  EXPECT_EQ(none.Of(r, kLong), "ricci_program_reduce: how->fails is NULL");
  Reduction flags = Holding("x");
  flags.how().hdr.flags = 1;
  EXPECT_EQ(flags.Of(r, kLong), "reduction: unknown flags in hdr.flags 1; none are known");
  ricci_program* out = nullptr;
  EXPECT_EQ(Message(ricci_program_reduce(nullptr, &none.how(), &out)), "ricci_program_reduce: f is NULL");
}

}  // namespace
}  // namespace ricci::testing
