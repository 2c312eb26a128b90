// Quotients of f32 by one divisor: its inverse once, then a multiplication and two of Newton's steps for each.
//
// The approximate inverse is right to a unit in the last place (PTX ISA); a step makes it the nearest f32. Then a
// quotient that is right to two units is to one after a step, and after the next it is the nearest one (Markstein,
// "Computation of elementary functions on the IBM RISC System/6000 processor", 1990). All divisors were tried with all
// inverses that are so right: of 33 one is a unit off after the step, and of these two have a quotient, of all that
// there are, that is wrong; their digits are all 1, but for one or none, so such divisors are left out. No remainder
// loses digits if the divisor is at least 2^-30 and the quotient 2^-60. What is too large, infinite or not a number
// ends as NaN or 0 here, and zeros may get the other sign, so one comparison finds all that is not right.
// Zeros are right too if the divisor is positive and the remainders are negated: each step then adds a zero of the sign
// that the quotient has.
#include "cuda/device/device_text.h"
#include "cuda/device/types.h"

namespace ricci::cuda {
namespace {

std::string NearInverse(DeviceText& d) {
  return d.Function("ricci_dev_near_inverse_f32", [&] {
    return "f32 ricci_dev_near_inverse_f32(f32 b) {\n" +
           ByInstruction(d, "f32", 530, "\"rcp.approx.ftz.f32 %0, %1;\" : \"=f\"(r) : \"f\"(b)",
                         [] { return "  return 1 / b;\n"; });
  });
}

}  // namespace

std::string InverseOfF32(DeviceText& d, const std::string& divisor) {
  return d.Function("ricci_dev_inverse_f32",
                    [&] {
                      return "f32 ricci_dev_inverse_f32(f32 b, bool* exact) {\n  const f32 r = " + NearInverse(d) +
                             "(b);\n  *exact &= fabsf(b) >= 0x1p-30f && fabsf(b) <= 0x1.fffffep127f && (" +
                             BitsOfReal(d, RICCI_F32, "b") +
                             " & 8388607u) < 8388605u;\n"
                             "  return fmaf(r, fmaf(-b, r, 1.0f), r);\n}";
                    }) +
         "(" + divisor + ", &exact)";
}

std::string QuotientOrZeroOfF32(DeviceText& d, const std::string& a, const std::string& b, const std::string& inverse) {
  return d.Function("ricci_dev_quotient_or_zero_f32",
                    [] {
                      return "f32 ricci_dev_quotient_or_zero_f32(f32 a, f32 b, f32 inverse, bool* exact) {\n"
                             "  f32 q = a * inverse;\n  q = fmaf(-fmaf(b, q, -a), inverse, q);\n"
                             "  q = fmaf(-fmaf(b, q, -a), inverse, q);\n"
                             "  *exact &= fabsf(q) >= 0x1p-60f || a == 0;\n  return q;\n}";
                    }) +
         "(" + a + ", " + b + ", " + inverse + ", &exact)";
}

std::string QuotientOfF32(DeviceText& d, const std::string& a, const std::string& b, const std::string& inverse) {
  return d.Function("ricci_dev_quotient_f32",
                    [] {
                      return "f32 ricci_dev_quotient_f32(f32 a, f32 b, f32 inverse, bool* exact) {\n"
                             "  f32 q = a * inverse;\n  q = fmaf(fmaf(-b, q, a), inverse, q);\n"
                             "  q = fmaf(fmaf(-b, q, a), inverse, q);\n  *exact &= fabsf(q) >= 0x1p-60f;\n"
                             "  return q;\n}";
                    }) +
         "(" + a + ", " + b + ", " + inverse + ", &exact)";
}

}  // namespace ricci::cuda
