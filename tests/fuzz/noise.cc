#include "fuzz/noise.h"

#include <algorithm>
#include <cmath>

#include "fuzz/dice.h"
#include "fuzz/noise_rows.h"
#include "pass/program/pass.h"
#include "ricci/element.hpp"
#include "trace/attrs.h"

namespace ricci::testing {
namespace {

using trace::Val;
using trace::Vals;

// How a variant moves results.
enum class Way : uint8_t { kBoth, kCoarse, kUp, kDown };
constexpr Way kWays[kNoiseVariants] = {Way::kBoth, Way::kBoth, Way::kCoarse, Way::kUp,
                                       Way::kDown, Way::kBoth, Way::kCoarse, Way::kBoth};

class Noise {
 public:
  Noise(uint32_t variant, Rounding rounding)
      : variant_(variant), way_(kWays[variant % kNoiseVariants]), rounding_(rounding), dice_(variant + 1) {}

  absl::StatusOr<ir::ProgramRef> Apply(const ir::Program& f) {
    const auto nested = [&](const ir::Program& p) { return Apply(p); };
    return pass::Rebuild(f,
                         [&](trace::Builder& b, const ir::Program& from, const ir::Equation& eqn,
                             std::span<const Val> operands) -> absl::StatusOr<Vals> {
                           const std::string_view name = b.registry().vocabulary().PrimName(eqn.prim);
                           Vals in(operands.begin(), operands.end());
                           const bool jax = rounding_ == Rounding::kJax;
                           const bool contracts = name == "add" || name == "sub";
                           for (size_t i = 0; i < in.size(); ++i) {
                             Val& v = in[i];
                             RICCI_ASSIGN(v, Settle(b, v));
                             if (contracts && IsReal(b, v) && IsProduct(from, eqn.operands[i])) {
                               RICCI_ASSIGN(v, MoveBy(b, v, InfoOf(Of(b, v)).epsilon));
                             }
                             if (jax && variant_ % 2 != 0 && MixesInfinities(name, Of(b, v))) {
                               RICCI_ASSIGN(v, Ordinary(b, v));
                             }
                             if (IsOneOf(kMovesOperands, name) || (jax && IsOneOf(kMovesOperandsInJax, name))) {
                               RICCI_ASSIGN(v, Move(b, v, Coarser(from, eqn, Of(b, v))));
                             }
                           }
                           const bool halves = variant_ >= kNoiseVariants && variant_ % 4 == 1 &&
                                               IsOneOf(kAddsProducts, name) && IsWide(b, in[0]);
                           if (halves) {
                             RICCI_ASSIGN(in[0], Times(b, in[0], 0.5));
                           }
                           RICCI_ASSIGN(Vals out, pass::CopyWithNested(b, from, eqn, in, nested));
                           if (halves && IsWide(b, out[0])) {
                             RICCI_ASSIGN(out[0], Times(b, out[0], 2));
                           }
                           const bool holds_programs =
                               std::any_of(eqn.attrs.begin(), eqn.attrs.end(),
                                           [](const ricci_attr& a) { return !ir::Programs(a).empty(); });
                           for (Val& v : out) {
                             // A size is a root, a sign a quotient by it.
                             const bool rounds = (name == "abs" || name == "sign") && IsComplex(Of(b, in[0]));
                             if ((rounds || !IsOneOf(kExact, name)) && !holds_programs) {
                               RICCI_ASSIGN(v, MoveResult(b, name, in, v));
                             } else if (rounding_ == Rounding::kAll && IsInexact(Of(b, v))) {
                               RICCI_ASSIGN(v, MoveBy(b, v, StepOfConversion(name, Of(b, v), eqn)));
                             }
                           }
                           return out;
                         });
  }

 private:
  // Whether `v` is a product, or one that was moved. An addition may fuse with it, and then does not round it.
  static bool IsProduct(const ir::Program& f, ir::ValueId v) {
    for (const ir::Equation* e = f.definition(v); e != nullptr; e = f.definition(e->operands[0])) {
      const std::string_view name = f.vocabulary()->PrimName(e->prim);
      if (IsOneOf(kProducts, name)) return true;
      if (!IsOneOf(kExact, name) || e->operands.empty()) return false;
    }
    return false;
  }
  static bool IsOneOf(auto& list, std::string_view name) {
    return std::find(std::begin(list), std::end(list), name) != std::end(list);
  }
  static bool MixesInfinities(std::string_view name, DType dtype) {
    return IsOneOf(kMixesInfinities, name) || (IsComplex(dtype) && IsOneOf(kMixesComplexInfinities, name));
  }
  static bool IsReal(const trace::Builder& b, Val v) { return IsFloat(Of(b, v)); }
  static bool IsWide(const trace::Builder& b, Val v) { return In(Of(b, v), kWideFloats); }
  static DType Of(const trace::Builder& b, Val v) { return static_cast<DType>(b.type(v).dtype); }
  static absl::StatusOr<Val> Splat(trace::Builder& b, Val like, double number) {
    const Element e = Encode(Of(b, like), number);
    return b.Constant(b.type_id(like), std::as_bytes(std::span(e.bytes).first(e.size)));
  }
  static absl::StatusOr<Val> Times(trace::Builder& b, Val v, double number) {
    RICCI_ASSIGN(const Val factor, Splat(b, v, number));
    return b.Emit1("mul", {}, std::array{v, factor});
  }
  // The dtype that rounds an operand of `dtype`: that of the results if it is narrower (a product of f64 as f32).
  static DType Coarser(const ir::Program& f, const ir::Equation& eqn, DType dtype) {
    if (eqn.n_results == 0) return dtype;
    const auto result = static_cast<DType>(f.type(eqn.result(0)).dtype);
    const bool coarser = IsFloat(result) && IsFloat(dtype) && InfoOf(result).epsilon > InfoOf(dtype).epsilon;
    return coarser ? result : dtype;
  }
  absl::StatusOr<Val> Move(trace::Builder& b, Val v) { return Move(b, v, Of(b, v)); }
  // v (1 + d), with d complex if v is, of a few units in the last place of `dtype`, and different for each element: if
  // all were of one size, two of them would often cancel, as in 1 / exp(x).
  absl::StatusOr<Val> Move(trace::Builder& b, Val v, DType dtype) {
    if (IsComplex(dtype)) return MoveBy(b, v, InfoOf(PartOf(dtype)).epsilon * 4);
    if (!IsReal(b, v)) return v;
    const int steps = In(dtype, kTinyFloats) ? 1 : BitsOf(dtype) == 16 ? 2 : 4;
    if (In(Of(b, v), kTinyFloats)) return Step(b, v);
    // Later variants mix the ways: where one leaves a value equal, another may move it.
    const bool coarse = way_ == Way::kCoarse && (variant_ < kNoiseVariants || dice_.Chance(0.5));
    return coarse ? Coarse(b, v, steps, dtype) : MoveBy(b, v, InfoOf(dtype).epsilon * steps);
  }
  absl::StatusOr<Val> MoveResult(trace::Builder& b, std::string_view name, const Vals& in, Val v) {
    RICCI_ASSIGN(v, Move(b, v));
    const bool jax = rounding_ == Rounding::kJax;
    const bool in_parts = jax && IsComplex(Of(b, v)) && IsOneOf(kPartsCancelInJax, name);
    const bool shifts = IsOneOf(kVectors, name) || in_parts || (jax && IsOneOf(kCancelsInJax, name));
    if (shifts && IsInexact(Of(b, v))) return Shift(b, v, in_parts || IsOneOf(kMissesZerosInJax, name));
    if (way_ == Way::kUp && IsOneOf(kFade, name)) return Appear(b, v);
    if (way_ == Way::kDown && IsOneOf(kOverflow, name)) return Return(b, v, in);
    if (way_ == Way::kDown && IsOneOf(kProducts, name) && dice_.Chance(0.5)) return Return(b, v, in);
    return v;
  }
  // v and about the distance of the numbers next to 1, up or down; zeros too, or not.
  absl::StatusOr<Val> Shift(trace::Builder& b, Val v, bool zeros) {
    if (IsComplex(Of(b, v))) {
      return InParts(b, v, [&](Val part) { return Shift(b, part, zeros); });
    }
    RICCI_ASSIGN(Val distance, Splat(b, v, InfoOf(PartOf(Of(b, v))).epsilon));
    RICCI_ASSIGN(distance, MoveBy(b, distance, 0.5));
    RICCI_ASSIGN(const Val shifted, b.Emit1(dice_.Chance(0.5) ? "add" : "sub", {}, std::array{v, distance}));
    if (zeros) return shifted;
    RICCI_ASSIGN(const Val zero, Splat(b, v, 0));
    RICCI_ASSIGN(const Val is_zero, b.Emit1("eq", {}, std::array{v, zero}));
    return b.Emit1("select_n", {}, std::array{is_zero, shifted, v});
  }
  // Rounded to multiples of about 2 `steps` units in the last place of `dtype`; subnormal results become zero.
  absl::StatusOr<Val> Coarse(trace::Builder& b, Val v, int steps, DType dtype) {
    const int dropped = steps == 2 ? 2 : 3;
    return b.Emit1("reduce_precision",
                   std::array{trace::IntAttr("exponent_bits", InfoOf(Of(b, v)).exponent_bits),
                              trace::IntAttr("mantissa_bits", InfoOf(dtype).mantissa_bits - dropped)},
                   std::array{v});
  }
  // `otherwise` where `v` is the number `from`.
  absl::StatusOr<Val> Instead(trace::Builder& b, Val v, double from, Val otherwise) {
    RICCI_ASSIGN(const Val number, Splat(b, v, from));
    RICCI_ASSIGN(const Val is_it, b.Emit1("eq", {}, std::array{v, number}));
    return b.Emit1("select_n", {}, std::array{is_it, v, otherwise});
  }
  // Results that faded to zero become the smallest number.
  absl::StatusOr<Val> Appear(trace::Builder& b, Val v) {
    if (!IsReal(b, v)) return v;
    const FloatInfo info = InfoOf(Of(b, v));
    RICCI_ASSIGN(const Val smallest, Splat(b, v, info.tiny * info.epsilon));
    return Instead(b, v, 0.0, smallest);
  }
  // Results that overflowed become the largest number, unless an operand was already infinite.
  absl::StatusOr<Val> Return(trace::Builder& b, Val v, const Vals& operands) {
    if (!IsReal(b, v)) return v;
    RICCI_ASSIGN(Val out, Finite(b, v));
    for (const Val operand : operands) {
      RICCI_ASSIGN(const Val was_finite, b.Emit1("is_finite", {}, std::array{operand}));
      RICCI_ASSIGN(out, b.Emit1("select_n", {}, std::array{was_finite, v, out}));
    }
    return out;
  }
  // The rounding of a row that counts as exact.
  static double StepOfConversion(std::string_view name, DType dtype, const ir::Equation& eqn) {
    if (name == "convert_element_type") return InfoOf(PartOf(dtype)).epsilon;
    if (name != "reduce_precision") return 0;
    for (const ricci_attr& a : eqn.attrs) {
      if (std::string_view(a.name.ptr, a.name.len) == "mantissa_bits")
        return std::max(std::ldexp(1, -static_cast<int>(a.i)), InfoOf(dtype).epsilon);
    }
    return 0;
  }
  bool GoesUp() { return way_ == Way::kUp || (way_ != Way::kDown && dice_.Chance(0.5)); }
  // A constant of the type of `like` whose elements are element().
  template <typename F>
  static absl::StatusOr<Val> EachOf(trace::Builder& b, Val like, F&& element) {
    int64_t n = 1;
    for (int64_t d : b.type(like).shape) n *= d;
    std::vector<std::byte> bytes;
    for (int64_t i = 0; i < std::max<int64_t>(n, 1); ++i) {
      const Element e = element();
      for (uint32_t k = 0; k < e.size; ++k) bytes.push_back(static_cast<std::byte>(e.bytes[k]));
    }
    return b.Constant(b.type_id(like), bytes);
  }
  // The next number up or down, unless it is zero: how far floats of 8 and 4 bits, of so few steps, are moved.
  absl::StatusOr<Val> Step(trace::Builder& b, Val v) {
    const DType dtype = Of(b, v);
    RICCI_ASSIGN(const Val towards,
                 EachOf(b, v, [&] { return Encode(dtype, GoesUp() ? GreatestFloat(dtype) : LeastFloat(dtype)); }));
    RICCI_ASSIGN(const Val next, b.Emit1("nextafter", {}, std::array{v, towards}));
    RICCI_ASSIGN(const Val zero, Splat(b, v, 0));
    RICCI_ASSIGN(const Val is_zero, b.Emit1("eq", {}, std::array{v, zero}));
    return b.Emit1("select_n", {}, std::array{is_zero, next, v});
  }
  absl::StatusOr<Val> MoveBy(trace::Builder& b, Val v, double step) {
    if (step == 0) return v;
    const DType dtype = Of(b, v);
    if (In(dtype, kTinyFloats)) return Step(b, v);
    RICCI_ASSIGN(Val factor, EachOf(b, v, [&] {
                   const double d = step * dice_.Real(0.5, 1.5);
                   const bool up = GoesUp();
                   const std::complex<double> turn(1 + (up ? d : -d), dice_.Real(-1, 1) * step);
                   return IsComplex(dtype) ? Encode(dtype, turn) : Encode(dtype, turn.real());
                 }));
    if (variant_ >= kNoiseVariants && IsReal(b, v)) {
      RICCI_ASSIGN(factor, Scattered(b, v, factor));
    }
    return b.Emit1("mul", {}, std::array{v, factor});
  }
  // 1 + d becomes 1 + d w, with w from -1 to 1 by the last digits of `v`, so that trips of one loop differ too.
  absl::StatusOr<Val> Scattered(trace::Builder& b, Val v, Val factor) {
    RICCI_ASSIGN(const Val last_digits, Splat(b, v, std::ldexp(3, InfoOf(Of(b, v)).mantissa_bits)));
    RICCI_ASSIGN(const Val one, Splat(b, v, 1));
    RICCI_ASSIGN(const Val angle, b.Emit1("mul", {}, std::array{v, last_digits}));
    RICCI_ASSIGN(const Val wave, b.Emit1("sin", {}, std::array{angle}));
    RICCI_ASSIGN(const Val d, b.Emit1("sub", {}, std::array{factor, one}));
    RICCI_ASSIGN(const Val part, b.Emit1("mul", {}, std::array{d, wave}));
    RICCI_ASSIGN(const Val scattered, b.Emit1("add", {}, std::array{one, part}));
    RICCI_ASSIGN(const Val known, b.Emit1("is_finite", {}, std::array{angle}));
    return b.Emit1("select_n", {}, std::array{known, factor, scattered});
  }
  // Zeros of one sign and NaNs of one sign.
  absl::StatusOr<Val> Settle(trace::Builder& b, Val v) {
    if (!IsReal(b, v)) return v;
    if (rounding_ == Rounding::kJax && variant_ % 4 >= 2) {
      RICCI_ASSIGN(v, Flush(b, v));
    }
    RICCI_ASSIGN(const Val signed_zero, Splat(b, v, variant_ % 2 == 0 ? 0.0 : -0.0));
    RICCI_ASSIGN(v, Instead(b, v, 0.0, signed_zero));
    RICCI_ASSIGN(const Val is_nan, b.Emit1("ne", {}, std::array{v, v}));
    RICCI_ASSIGN(const Val nan, Splat(b, v, variant_ % 2 == 0 ? std::nan("") : -std::nan("")));
    return b.Emit1("select_n", {}, std::array{is_nan, v, nan});
  }

  // change(part) for both parts of a complex number.
  template <typename F>
  static absl::StatusOr<Val> InParts(trace::Builder& b, Val v, F&& change) {
    RICCI_ASSIGN(Val re, b.Emit1("real", {}, std::array{v}));
    RICCI_ASSIGN(Val im, b.Emit1("imag", {}, std::array{v}));
    RICCI_ASSIGN(re, change(re));
    RICCI_ASSIGN(im, change(im));
    return b.Emit1("complex", {}, std::array{re, im});
  }
  // Finite numbers in the place of infinities and NaNs, in both parts of complex numbers.
  absl::StatusOr<Val> Ordinary(trace::Builder& b, Val v) {
    if (IsComplex(Of(b, v))) {
      return InParts(b, v, [&](Val part) { return Ordinary(b, part); });
    }
    if (!IsReal(b, v)) return v;
    RICCI_ASSIGN(const Val one, Splat(b, v, 1));
    RICCI_ASSIGN(const Val is_finite, b.Emit1("is_finite", {}, std::array{v}));
    return b.Emit1("select_n", {}, std::array{is_finite, one, v});
  }
  // The largest numbers in the place of infinities.
  absl::StatusOr<Val> Finite(trace::Builder& b, Val v) {
    const double max = InfoOf(Of(b, v)).max, inf = std::numeric_limits<double>::infinity();
    for (double sign : {1.0, -1.0}) {
      RICCI_ASSIGN(const Val largest, Splat(b, v, sign * max));
      RICCI_ASSIGN(v, Instead(b, v, sign * inf, largest));
    }
    return v;
  }
  // Zero in the place of subnormal numbers.
  static absl::StatusOr<Val> Flush(trace::Builder& b, Val v) {
    RICCI_ASSIGN(const Val size, b.Emit1("abs", {}, std::array{v}));
    RICCI_ASSIGN(const Val smallest, Splat(b, v, InfoOf(Of(b, v)).tiny));
    RICCI_ASSIGN(const Val is_subnormal, b.Emit1("lt", {}, std::array{size, smallest}));
    RICCI_ASSIGN(const Val zero, Splat(b, v, 0));
    return b.Emit1("select_n", {}, std::array{is_subnormal, v, zero});
  }

  const uint32_t variant_;
  const Way way_;
  const Rounding rounding_;
  Dice dice_;
};

}  // namespace

absl::StatusOr<ir::ProgramRef> WithNoise(const ir::Program& f, uint32_t variant, Rounding rounding) {
  return Noise(variant, rounding).Apply(f);
}

}  // namespace ricci::testing
