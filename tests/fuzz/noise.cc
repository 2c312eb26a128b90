#include "fuzz/noise.h"

#include <algorithm>
#include <cmath>

#include "fuzz/dice.h"
#include "pass/pass.h"
#include "ricci/element.hpp"
#include "trace/attrs.h"

namespace ricci::testing {
namespace {

using trace::Val;
using trace::Vals;

// Rows whose floating results are exact, or operands as they are.
constexpr std::string_view kExact[] = {"abs",
                                       "argmax",
                                       "argmin",
                                       "bitcast_convert_type",
                                       "broadcast_in_dim",
                                       "ceil",
                                       "clamp",
                                       "clz",
                                       "concatenate",
                                       "convert_element_type",
                                       "copy",
                                       "cummax",
                                       "cummin",
                                       "dynamic_slice",
                                       "dynamic_update_slice",
                                       "expand_dims",
                                       "floor",
                                       "gather",
                                       "iota",
                                       "max",
                                       "min",
                                       "neg",
                                       "nextafter",
                                       "optimization_barrier",
                                       "pad",
                                       "reduce_max",
                                       "reduce_min",
                                       "reduce_precision",
                                       "rem",
                                       "reshape",
                                       "rev",
                                       "round",
                                       "scatter",
                                       "scatter-max",
                                       "scatter-min",
                                       "select_n",
                                       "sign",
                                       "slice",
                                       "sort",
                                       "split",
                                       "squeeze",
                                       "stack",
                                       "stop_gradient",
                                       "tile",
                                       "top_k",
                                       "transpose",
                                       "unstack"};
// Rows whose error is that of slightly moved operands, and has nothing to do with the value of a result that cancels:
// those that add or multiply many elements, and special functions next to their zeros.
constexpr std::string_view kMovesOperands[] = {"reduce_sum",   "reduce_prod", "cumsum",      "cumprod",
                                               "cumlogsumexp", "dot_general", "scatter-add", "scatter-sub",
                                               "scatter-mul",  "digamma"};

class Noise {
 public:
  Noise(uint32_t variant, Rounding rounding) : variant_(variant), rounding_(rounding), dice_(variant + 1) {}

  absl::StatusOr<ir::ProgramRef> Apply(const ir::Program& f) {
    const auto nested = [&](const ir::Program& p) { return Apply(p); };
    return pass::Rebuild(f,
                         [&](trace::Builder& b, const ir::Program& from, const ir::Equation& eqn,
                             std::span<const Val> operands) -> absl::StatusOr<Vals> {
                           const std::string_view name = b.registry().vocabulary().PrimName(eqn.prim);
                           const auto is_in = [&](auto& list) {
                             return std::find(std::begin(list), std::end(list), name) != std::end(list);
                           };
                           Vals in(operands.begin(), operands.end());
                           for (Val& v : in) {
                             RICCI_ASSIGN(v, Settle(b, v));
                             if (is_in(kMovesOperands)) {
                               RICCI_ASSIGN(v, Move(b, v));
                             }
                           }
                           RICCI_ASSIGN(Vals out, pass::CopyWithNested(b, from, eqn, in, nested));
                           const bool holds_programs =
                               std::any_of(eqn.attrs.begin(), eqn.attrs.end(),
                                           [](const ricci_attr& a) { return !ir::Programs(a).empty(); });
                           for (Val& v : out) {
                             if (!is_in(kExact) && !holds_programs) {
                               RICCI_ASSIGN(v, Move(b, v));
                             } else if (rounding_ == Rounding::kAll && IsReal(b, v)) {
                               RICCI_ASSIGN(v, MoveBy(b, v, StepOfConversion(name, Of(b, v), eqn)));
                             }
                           }
                           return out;
                         });
  }

 private:
  static bool IsReal(const trace::Builder& b, Val v) { return IsFloat(Of(b, v)); }
  static DType Of(const trace::Builder& b, Val v) { return static_cast<DType>(b.type(v).dtype); }
  static absl::StatusOr<Val> Splat(trace::Builder& b, Val like, double number) {
    const Element e = Encode(Of(b, like), number);
    return b.Constant(b.type_id(like), std::as_bytes(std::span(e.bytes).first(e.size)));
  }
  // v (1 + d), with d of a few units in the last place, another one for each element: were all of one size, two of them
  // would often cancel, as in 1 / exp(x).
  absl::StatusOr<Val> Move(trace::Builder& b, Val v) {
    const DType dtype = Of(b, v);
    return IsReal(b, v) ? MoveBy(b, v, InfoOf(dtype).epsilon * (BitsOf(dtype) == 16 ? 2 : 4)) : v;
  }
  // How much a row rounds that is exact by its definition.
  static double StepOfConversion(std::string_view name, DType dtype, const ir::Equation& eqn) {
    if (name == "convert_element_type") return InfoOf(dtype).epsilon;
    if (name != "reduce_precision") return 0;
    for (const ricci_attr& a : eqn.attrs) {
      if (std::string_view(a.name.ptr, a.name.len) == "mantissa_bits")
        return std::max(std::ldexp(1, -static_cast<int>(a.i)), InfoOf(dtype).epsilon);
    }
    return 0;
  }
  absl::StatusOr<Val> MoveBy(trace::Builder& b, Val v, double step) {
    if (step == 0) return v;
    const DType dtype = Of(b, v);
    int64_t n = 1;
    for (int64_t d : b.type(v).shape) n *= d;
    std::vector<std::byte> bytes;
    for (int64_t i = 0; i < std::max<int64_t>(n, 1); ++i) {
      const double d = step * dice_.Real(0.5, 1.5);
      const Element e = Encode(dtype, 1 + (dice_.Chance(0.5) ? d : -d));
      for (uint32_t k = 0; k < e.size; ++k) bytes.push_back(static_cast<std::byte>(e.bytes[k]));
    }
    RICCI_ASSIGN(const Val factor, b.Constant(b.type_id(v), bytes));
    return b.Emit1("mul", {}, std::array{v, factor});
  }
  // Zeros of one sign and NaNs of one sign.
  absl::StatusOr<Val> Settle(trace::Builder& b, Val v) {
    if (!IsReal(b, v)) return v;
    RICCI_ASSIGN(const Val zero, Splat(b, v, 0.0));
    RICCI_ASSIGN(const Val signed_zero, Splat(b, v, variant_ % 2 == 0 ? 0.0 : -0.0));
    RICCI_ASSIGN(const Val is_zero, b.Emit1("eq", {}, std::array{v, zero}));
    RICCI_ASSIGN(v, b.Emit1("select_n", {}, std::array{is_zero, v, signed_zero}));
    RICCI_ASSIGN(const Val is_nan, b.Emit1("ne", {}, std::array{v, v}));
    RICCI_ASSIGN(const Val nan, Splat(b, v, variant_ % 2 == 0 ? std::nan("") : -std::nan("")));
    return b.Emit1("select_n", {}, std::array{is_nan, v, nan});
  }

  const uint32_t variant_;
  const Rounding rounding_;
  Dice dice_;
};

}  // namespace

absl::StatusOr<ir::ProgramRef> WithNoise(const ir::Program& f, uint32_t variant, Rounding rounding) {
  return Noise(variant, rounding).Apply(f);
}

}  // namespace ricci::testing
