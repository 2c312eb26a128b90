// Pairs of floats of 16 bits in a u32, the first one in its lower half: instructions compute both at once.
//
// Elsewhere such floats are computed in f32 and rounded. The bits are the same: f32 has more than twice as many digits
// as they, and two more, so a sum, difference or product that was rounded to f32 rounds on as the exact one would
// (Figueroa, "When is double rounding innocuous?", 1995). That holds where f32 itself has fewer digits too: sums are
// exact there, and so are products of f16; a product of bf16 has 16 digits, so f32 loses some only of what is less than
// half of the least bf16, which becomes 0 either way. Where the result is NaN, both give the NaN of PTX. Sums and
// products are those of `fma`, since bf16 has no others before sm_90: a * 1 + b and a * b + -0 round once, to the right
// zero.
//
// Values stay in pairs (`fma.rn.bf16x2`, `max.NaN.f16x2`) until an operation needs f32. Results of f32 come back two at
// a time (`cvt.rn.bf16x2.f32`). Quotients, roots and `fma` are those of f32.
#include "cuda/device/device_text.h"
#include "cuda/device/types.h"
#include "ricci/float_format.h"

namespace ricci::cuda {
namespace {

uint64_t BitsOfBoth(uint32_t dtype, double v) { return ricci_float_encode(ricci_float_format_of(dtype), v) * 65537; }
std::string Literal(uint64_t bits) { return std::to_string(bits) + "u"; }

// PTX that gives r, of a and b.
std::string InstructionOf(uint32_t op, uint32_t dtype) {
  const std::string type = std::string(DTypeName(dtype)) + "x2";
  const auto fma = [&](const std::string& x, const std::string& y, const std::string& z) {
    return "\"fma.rn." + type + " %0, %1, %2, %3;\" : \"=r\"(r) : \"r\"(" + x + "), \"r\"(" + y + "), \"r\"(" + z + ")";
  };
  if (op == RICCI_S_ADD) return fma("a", Literal(BitsOfBoth(dtype, 1)), "b");
  if (op == RICCI_S_SUB) return fma("b", Literal(BitsOfBoth(dtype, -1)), "a");
  if (op == RICCI_S_MUL) return fma("a", "b", Literal(BitsOfBoth(dtype, -0.0)));
  return "\"" + OperationName(op) + ".NaN." + type + " %0, %1, %2;\" : \"=r\"(r) : \"r\"(a), \"r\"(b)";
}
int FirstArchitecture(uint32_t op, uint32_t dtype) {
  const bool is_extremum = op == RICCI_S_MIN || op == RICCI_S_MAX;
  return dtype == RICCI_F16 && !is_extremum ? 530 : 800;
}

}  // namespace

std::string HalfOfPair(const std::string& pair, int half) {
  return half == 0 ? "(u16)" + pair : "(u16)(" + pair + " >> 16)";
}

std::string PairOfBits(DeviceText& d, const std::string& first, const std::string& second) {
  return d.Function("ricci_dev_pair",
                    [] {
                      return "u32 ricci_dev_pair(u16 first, u16 second) {\n"
                             "  return (u32)first | (u32)second << 16;\n}";
                    }) +
         "(" + first + ", " + second + ")";
}

std::string PairOfConstant(uint64_t bits) { return Literal((bits & 65535) * 65537); }

std::string PairOfF32(DeviceText& d, uint32_t dtype, const std::string& first, const std::string& second) {
  const std::string type = std::string(DTypeName(dtype)) + "x2", name = "ricci_dev_" + type + "_of_f32";
  return d.Function(
             name,
             [&] {
               return "u32 " + name + "(f32 first, f32 second) {\n" +
                      ByInstruction(
                          d, "u32", 800,
                          "\"cvt.rn." + type + ".f32 %0, %1, %2;\" : \"=r\"(r) : \"f\"(second), \"f\"(first)", [&] {
                            return "  return " +
                                   PairOfBits(d, Narrowed(d, dtype, "first"), Narrowed(d, dtype, "second")) + ";\n";
                          });
             }) +
         "(" + first + ", " + second + ")";
}

bool HasPairs(uint32_t op, uint32_t dtype) {
  if (dtype != RICCI_F16 && dtype != RICCI_BF16) return false;
  return op == RICCI_S_ADD || op == RICCI_S_SUB || op == RICCI_S_MUL || op == RICCI_S_MIN || op == RICCI_S_MAX ||
         op == RICCI_S_NEG || op == RICCI_S_ABS;
}

std::string PrintPair(DeviceText& d, uint32_t op, uint32_t dtype, const std::string* in) {
  const uint64_t signs = ricci_float_format_of(dtype).sign * 65537;
  if (op == RICCI_S_NEG) return in[0] + " ^ " + Literal(signs);
  if (op == RICCI_S_ABS) return in[0] + " & " + Literal(signs ^ 0xffffffff);
  const std::string name = "ricci_dev_" + OperationName(op) + "_" + std::string(DTypeName(dtype)) + "x2";
  const auto half = [&](int number) {
    const std::string operands[] = {HalfOfPair("a", number), HalfOfPair("b", number)};
    return PrintScalar(d, op, dtype, dtype, operands, 2);
  };
  d.Function(name, [&] {
    return "u32 " + name + "(u32 a, u32 b) {\n" +
           ByInstruction(d, "u32", FirstArchitecture(op, dtype), InstructionOf(op, dtype),
                         [&] { return "  return " + PairOfBits(d, half(0), half(1)) + ";\n"; });
  });
  return name + "(" + in[0] + ", " + in[1] + ")";
}

}  // namespace ricci::cuda
