// threefry2x32: two random words from two words of key and two of counter; elementwise, an operand may be a scalar.
#include "threefry.hpp"

namespace ricci { inline namespace v0 { namespace lax { namespace rows {
namespace {

ArrayType Shaped(const Eqn& e) {
  ArrayType out = e.in(0);
  for (uint32_t i = 1; i < e.n_in(); ++i) {
    if (out.rank() == 0) out = e.in(i);
  }
  return out;
}
ArrayTypes Type(const Eqn& e) {
  e.WantOperands(4);
  const ArrayType out = Shaped(e);
  for (uint32_t i = 0; i < 4; ++i) {
    const ArrayType x = e.in(i);
    if (x.dtype() != DType::kU32 || (x.rank() != 0 && x != out)) {
      e.Fail("operand ", i, " is ", x, "; operands must be u32, of one shape or scalars");
    }
  }
  return ArrayTypes{out, out};
}
Scalar FromIndex(KernelBuilder& k, const Eqn& e, uint32_t result, std::span<const Scalar> at) {
  Scalar in[4];
  for (uint32_t i = 0; i < 4; ++i) in[i] = k.Operand(i).Load(e.in(i).rank() == 0 ? std::span<const Scalar>() : at);
  const auto [first, second] = Threefry(in[0], in[1], in[2], in[3]);
  return result == 0 ? first : second;
}
std::string Factors(const Eqn& e) {
  const std::string all = rules::Letters(rules::Range(e.out().rank()));
  std::string in;
  for (uint32_t i = 0; i < 4; ++i) in += (i == 0 ? "" : ", ") + (e.in(i).rank() == 0 ? std::string() : all);
  return in + " -> " + all + ", " + all;
}

constexpr Row kRows[] = {{.name = "threefry2x32",
                          .doc = "y0, y1 = threefry2x32(k0, k1, x0, x1): x0 and x1 encrypted with the key k0, k1 by "
                                 "Threefry, 20 rounds (Salmon et al. 2011)",
                          .flags = RICCI_PRIM_TRANSCENDENTAL,
                          .type = Type,
                          .jvp = rules::ZeroTangent,
                          .batch = rules::kElementwise,
                          .factors_of = Factors,
                          .lowerings = lower::Index<FromIndex>,
                          .missing = rules::kDiscrete,
                          .examples = "(u32[] in 0..1000, u32[] in 0..1000, u32[4] in 0..1000, u32[4] in 0..1000)"}};

}  // namespace

RowList threefry2x32_rows() { return kRows; }

}}}}  // namespace ricci::v0::lax::rows
