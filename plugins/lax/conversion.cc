// convert_element_type, bitcast_convert_type: the dtype changes, by value or by bits; stop_gradient and copy keep it.
//
// A bitcast between widths groups elements: to a narrower dtype it adds a last dimension, to a wider one it consumes
// the last dimension; the first part holds the lowest bits.
//
// Formats of narrow floats and their conversions are those of ml_dtypes. XLA's differ in f4 of NaN, the greatest f4 as
// an integer, and f8e8m0fnu of f64 below the numbers of f32; ours follow ml_dtypes.
#include "ricci/plugin.hpp"

namespace ricci { inline namespace v0 { namespace lax { namespace rows {
namespace {

constexpr AttrSpec kNewDType[] = {{"new_dtype", AttrKind::kDType}};

// ---- convert_element_type ----
ArrayTypes ConvertType(const Eqn& e) {
  e.WantOperands(1);
  rules::WantDType(e, 0, kAny);
  const DType to = e.dtype("new_dtype");
  if (!In(to, kAny)) e.Fail("new_dtype ", to, " is not supported; it takes ", rules::NameOfSet(kAny));
  return e.in(0).WithDType(to);
}
Value ConvertTangent(const Eqn& e, const Value& t, std::span<const Value>, const Value&) {
  return IsInexact(e.dtype("new_dtype")) ? e.Emit({t}) : Value::Zero(t.builder);
}
Value ConvertCt(const Eqn& e, const Value& ct) { return convert_element_type(ct, e.in(0).dtype()); }
Scalar ConvertScalar(KernelBuilder&, const Eqn& e, std::span<const Scalar> in) {
  return Convert(in[0], e.dtype("new_dtype"));
}

// Whether `to` holds every value of `from` exactly.
bool IsLossless(DType from, DType to) {
  if (from == DType::kBool) return to != DType::kF8E8M0FNU;
  if (IsComplex(from) && !IsComplex(to)) return false;
  if (IsComplex(to)) return IsLossless(PartOf(from), PartOf(to));
  if (IsInt(from) && IsInt(to)) {
    const bool fits = BitsOf(to) > BitsOf(from) || (BitsOf(to) == BitsOf(from) && from == to);
    return fits && (In(from, kUnsigned) || In(to, kSigned));
  }
  if (IsInt(from)) return In(to, kWideFloats) && BitsOf(from) <= InfoOf(to).mantissa_bits;
  if (!IsFloat(to)) return false;
  // The formats of 16 bits and more nest by their fields; a smaller one differs in bias and in what it lacks.
  if (In(to, kTinyFloats)) return from == to;
  const FloatInfo a = InfoOf(from), b = InfoOf(to);
  return a.mantissa_bits <= b.mantissa_bits && a.exponent_bits <= b.exponent_bits;
}
// A conversion there and back, or two steps of which the first loses nothing. A float outside of an integer dtype
// becomes its nearest value, while an integer would lose its upper bits: these two steps stay.
Value SimplerConvert(const Eqn& e, std::span<const Value> in) {
  const DType to = e.dtype("new_dtype");
  if (e.in(0).dtype() == to) return in[0];
  const Producer p(in[0]);
  if (!p.Is("convert_element_type") || to == DType::kBool) return {};
  const Value x = p.operand(0);
  const DType from = x.dtype(), between = e.in(0).dtype();
  const bool clamps = IsInt(from) && IsFloat(between) && IsInt(to) && !IsLossless(from, to);
  return IsLossless(from, between) && !clamps ? convert_element_type(x, to) : Value{};
}

// ---- bitcast_convert_type ----
constexpr DTypeSet kBits = kReals;

ArrayTypes BitcastType(const Eqn& e) {
  e.WantOperands(1);
  const ArrayType x = e.in(0);
  const DType to = e.dtype("new_dtype");
  if (x.dtype() == to) return x;
  rules::WantDType(e, 0, kBits);
  if (!In(to, kBits)) e.Fail("new_dtype ", to, " is not supported; it takes ", rules::NameOfSet(kBits));
  if (x.dtype() == DType::kF4E2M1FN || to == DType::kF4E2M1FN) {
    e.Fail("operand is ", x, " and new_dtype ", to, "; f4e2m1fn alone has four bits: convert it to f8e4m3fn");
  }
  const int64_t from_bits = BitsOf(x.dtype()), to_bits = BitsOf(to);
  Shape shape(x.shape().begin(), x.shape().end());
  if (from_bits > to_bits) shape.push_back(from_bits / to_bits);
  if (from_bits < to_bits) {
    if (shape.empty() || shape.back() != to_bits / from_bits) {
      e.Fail("operand ", x, " must have a last dimension of ", to_bits / from_bits, " to become ", to);
    }
    shape.pop_back();
  }
  return e.Type(to, shape);
}
bool SameWidth(const Eqn& e) { return SizeOf(e.in(0).dtype()) == SizeOf(e.out().dtype()); }
Scalar BitcastScalar(KernelBuilder&, const Eqn& e, std::span<const Scalar> in) {
  return Bitcast(in[0], e.out().dtype());
}
DType UnsignedOf(DType d) {
  constexpr DType kBySize[] = {DType::kNone, DType::kU8,   DType::kU16,  DType::kNone, DType::kU32,
                               DType::kNone, DType::kNone, DType::kNone, DType::kU64};
  return kBySize[SizeOf(d)];
}
Scalar BitcastIndex(KernelBuilder& k, const Eqn& e, uint32_t, std::span<const Scalar> at) {
  const DType from = e.in(0).dtype(), to = e.out().dtype(), wide = UnsignedOf(SizeOf(from) > SizeOf(to) ? from : to);
  if (SizeOf(from) > SizeOf(to)) {
    const Scalar part = Convert(at.back(), wide) * BitsOf(to);
    const Scalar bits = Bitcast(k.Operand(0).Load(at.first(at.size() - 1)), wide);
    return Bitcast(Convert(ShiftRightLogical(bits, part), UnsignedOf(to)), to);
  }
  Scalar bits = k.Constant(wide, 0);
  Index from_at(at.begin(), at.end());
  from_at.push_back({});
  for (int64_t i = 0; i < SizeOf(to) / SizeOf(from); ++i) {
    from_at.back() = k.At(i);
    const Scalar part = Convert(Bitcast(k.Operand(0).Load(from_at), UnsignedOf(from)), wide);
    bits = bits | (part << i * BitsOf(from));
  }
  return Bitcast(bits, to);
}
Values BitcastBatch(const Eqn& e, std::span<const Value> in, int64_t) { return {e.Emit(in)}; }
// The last dimension, which one side lacks, is not a factor of both sides.
std::string BitcastFactors(const Eqn& e) {
  const int64_t rank = std::max(e.in(0).rank(), e.out().rank());
  const std::string text =
      rules::Letters(rules::Range(e.in(0).rank())) + " -> " + rules::Letters(rules::Range(e.out().rank()));
  return e.in(0).rank() == e.out().rank() ? text : text + "; whole " + rules::Letter(rank - 1);
}

constexpr Lowering kBitcast[] = {{.scalar = BitcastScalar, .match = SameWidth}, {.index = BitcastIndex}};

constexpr Row kRows[] = {
    {.name = "convert_element_type",
     .doc = "y = convert_element_type(x): x as `new_dtype`: floats round to nearest even, integers wrap; floats become "
            "integers by truncation within the range; bool is x != 0",
     .attrs = kNewDType,
     .type = ConvertType,
     .jvp = rules::Terms<ConvertTangent>,
     .transpose = rules::TransposeFirst<ConvertCt>,
     .batch = rules::kElementwise,
     .simplify = rules::One<SimplerConvert>,
     .lowerings = lower::Scalar<ConvertScalar>,
     .examples = "(i32[2,3] in -2..2) new_dtype=f32; "
                 "order=0 (f8e5m2[2,3]) new_dtype=f32; "
                 "order=0 (f32[2,3]) new_dtype=f4e2m1fn; "
                 "(f64[2,3]) new_dtype=f64; "
                 "(f64[2,3]) new_dtype=f32; "
                 "program (%x: f64[2,3] in 0.1..0.9) { %i: i32[2,3] = convert_element_type(%x) new_dtype=i32 %y: "
                 "f64[2,3] = convert_element_type(%i) new_dtype=f64 return %y }"},
    {.name = "bitcast_convert_type",
     .doc = "y = bitcast_convert_type(x): the bits of x read as `new_dtype`; a narrower dtype adds a last dimension, a "
            "wider one takes it away",
     .attrs = kNewDType,
     .type = BitcastType,
     .jvp = rules::ZeroTangent,
     .batch = rules::BatchAllFirst<BitcastBatch>,
     .factors_of = BitcastFactors,
     .lowerings = kBitcast,
     .missing = rules::kDiscrete,
     .examples = "(f64[2,3]) new_dtype=u32; "
                 "(u32[3,2] in 0..100) new_dtype=i64; "
                 "(f32[4]) new_dtype=i32"},
    {.name = "stop_gradient",
     .doc = "y = stop_gradient(x): x, with a tangent of zero",
     .type = rules::Same<1, kAny | SetOf(DType::kKey)>,
     .jvp = rules::ZeroTangent,
     .batch = rules::kElementwise,
     .simplify = rules::Transparent,
     .lowerings = lower::Scalar<rules::Identity>,
     .missing = rules::kDiscrete,
     .examples = "order=0 (f64[2,3])"},
    {.name = "copy",
     .doc = "y = copy(x): x itself",
     .type = rules::Same<1, kAny | SetOf(DType::kKey)>,
     .jvp = rules::kLinear,
     .transpose = rules::TransposeFirst<[](const Eqn&, const Value& ct) { return ct; }>,
     .batch = rules::kElementwise,
     .simplify = rules::Transparent,
     .lowerings = lower::Scalar<rules::Identity>,
     .examples = rules::kOneReal},
};

}  // namespace

RowList conversion_rows() { return kRows; }

}}}}  // namespace ricci::v0::lax::rows
