// dot_general: products summed over pairs of contracted dimensions, for each point of the batch dimensions.
//
// The result has the batch dimensions, then the other dimensions of lhs, then those of rhs, each in order. Bilinear:
// the cotangent of one operand is a product of the cotangent with the other operand. A new batch of one operand becomes
// one of its free dimensions, one of both operands a batch dimension. narrow floats are summed in f32; with
// preferred_element_type the sum and the result have that dtype, and the operands' dtypes may differ. An algorithm
// given as `precision` computes in its own dtypes. That of tf32 rounds operands as the instruction of tensor cores does
// (PTX ISA, `cvt.rna.tf32.f32`): to the nearest number with 10 bits after the point, ties away from zero.
#include <numeric>

#include "dot_dims.hpp"
#include "reduction_parts.hpp"

namespace ricci { inline namespace v0 { namespace lax { namespace rows {
namespace {

constexpr AttrSpec kAttrs[] = {{"lhs_contract", AttrKind::kInts, "[]"},
                               {"rhs_contract", AttrKind::kInts, "[]"},
                               {"lhs_batch", AttrKind::kInts, "[]"},
                               {"rhs_batch", AttrKind::kInts, "[]"},
                               {"preferred_element_type", AttrKind::kDType, "that of the operands"},
                               {"precision", AttrKind::kString, "default"}};

// ---- type ----
ArrayTypes Type(const Eqn& e) {
  e.WantOperands(2);
  CheckPrecision(e);
  return DotType(e, {});
}

// ---- derivatives ----
// The product of ct and `other` is the cotangent of `side` up to the order of dimensions. If one of the two orders of
// the factors needs no transpose, that one is used: [batch, free, contracted] or [batch, contracted, free], where the
// contracted dimensions come in the order of the other operand. If both need one, the last dimension stays the last if
// it can, so that the transpose moves rows and not single elements.
Value CtOf(const Eqn& e, const Value& ct, const Side& side, const Side& other, const Value& other_value,
           int64_t other_at) {
  DotDims d;
  d.lhs_batch = rules::Range(static_cast<int64_t>(side.batch.size()));
  d.rhs_batch.assign(other.batch.begin(), other.batch.end());
  d.rhs_contract = other.free;
  d.lhs_contract.resize(other.free.size());
  std::iota(d.lhs_contract.begin(), d.lhs_contract.end(), other_at);

  std::vector<std::pair<int64_t, int64_t>> pairs;
  for (size_t i = 0; i < side.contract.size(); ++i) pairs.push_back({other.contract[i], side.contract[i]});
  std::sort(pairs.begin(), pairs.end());
  Shape contracted;
  for (const auto& [other_dim, side_dim] : pairs) contracted.push_back(side_dim);

  const auto join = [&](const Shape& second, const Shape& third) {
    Shape all(side.batch.begin(), side.batch.end());
    all.insert(all.end(), second.begin(), second.end());
    all.insert(all.end(), third.begin(), third.end());
    return all;
  };
  const Shape swapped = join(contracted, side.free), straight = join(side.free, contracted);
  const auto fit = [](const Shape& holds) {
    if (std::is_sorted(holds.begin(), holds.end())) return 2;
    return holds.back() + 1 == static_cast<int64_t>(holds.size()) ? 1 : 0;
  };
  const bool swap = fit(swapped) > fit(straight) || fit(swapped) == 2;
  const Shape& holds = swap ? swapped : straight;
  const Value product = swap ? dot_general(other_value, ct, {d.rhs_contract, d.lhs_contract, d.rhs_batch, d.lhs_batch},
                                           PreferredOf(e), e.str("precision"))
                             : dot_general(ct, other_value, d, PreferredOf(e), e.str("precision"));
  Shape permutation(holds.size());
  for (size_t i = 0; i < holds.size(); ++i) permutation[static_cast<size_t>(holds[i])] = static_cast<int64_t>(i);
  return convert_element_type(transpose(product, permutation), side.type.dtype());
}
Value FirstCt(const Eqn& e, const Value& ct, std::span<const Value> in) {
  const Side lhs = SideOf(e, 0), rhs = SideOf(e, 1);
  return CtOf(e, ct, lhs, rhs, in[1], static_cast<int64_t>(lhs.batch.size() + lhs.free.size()));
}
Value SecondCt(const Eqn& e, const Value& ct, std::span<const Value> in) {
  const Side lhs = SideOf(e, 0), rhs = SideOf(e, 1);
  return CtOf(e, ct, rhs, lhs, in[0], static_cast<int64_t>(rhs.batch.size()));
}

// ---- batch ----
// The dimensions of operand `i`, renumbered for one with a new dimension at `at`; at < 0 leaves them.
DotDims ShiftedDims(const Eqn& e, int64_t lhs_at, int64_t rhs_at) {
  const auto shift = [](Dims dims, int64_t at) {
    return at < 0 ? Shape(dims.begin(), dims.end()) : rules::Shifted(dims, at);
  };
  return {shift(e.ints("lhs_contract"), lhs_at), shift(e.ints("rhs_contract"), rhs_at),
          shift(e.ints("lhs_batch"), lhs_at), shift(e.ints("rhs_batch"), rhs_at)};
}
// The number of free dimensions before the new one at `at`.
int64_t FreeBefore(const Side& s, int64_t at) {
  return std::count_if(s.free.begin(), s.free.end(), [&](int64_t d) { return d < at; });
}
void BatchRule(const Eqn& e, Batch& a) {
  const Batched &x = a.in[0], &y = a.in[1];
  DotDims d = ShiftedDims(e, x.dim, y.dim);
  int64_t out_dim = 0;
  if (x.is_batched() && y.is_batched()) {
    d.lhs_batch.insert(d.lhs_batch.begin(), x.dim);
    d.rhs_batch.insert(d.rhs_batch.begin(), y.dim);
  } else {
    const Side lhs = SideOf(e, 0), rhs = SideOf(e, 1);
    const auto n_batch = static_cast<int64_t>(lhs.batch.size()), n_lhs = static_cast<int64_t>(lhs.free.size());
    out_dim = x.is_batched() ? n_batch + FreeBefore(lhs, x.dim) : n_batch + n_lhs + FreeBefore(rhs, y.dim);
  }
  a.out[0] = {dot_general(x.value, y.value, d, PreferredOf(e), e.str("precision")), out_dim};
}

// ---- simplify: a transposed operand is read in place ----
// The dimensions `dims` of transpose(x) as those of x.
Shape Through(Dims permutation, Dims dims) { return rules::Pick(permutation, dims); }

// Allowed if the free dimensions keep their order, which is that of the result.
Value Simpler(const Eqn& e, std::span<const Value> in) {
  DotDims d = ShiftedDims(e, -1, -1);
  Values operands(in.begin(), in.end());
  bool changed = false;
  for (uint32_t i : {0u, 1u}) {
    const Producer p(in[i]);
    if (!p.Is("transpose")) continue;
    const Dims permutation = p.eqn().ints("permutation");
    const Shape free = Through(permutation, SideOf(e, i).free);
    if (!std::is_sorted(free.begin(), free.end())) continue;
    Shape &contract = i == 0 ? d.lhs_contract : d.rhs_contract, &batch = i == 0 ? d.lhs_batch : d.rhs_batch;
    contract = Through(permutation, contract);
    batch = Through(permutation, batch);
    operands[i] = p.operand(0);
    changed = true;
  }
  return changed ? dot_general(operands[0], operands[1], d, PreferredOf(e), e.str("precision")) : Value{};
}

// ---- tf32 ----
constexpr uint32_t kBelowTf32 = 1 << 13;  // the first bit beyond its mantissa is half of that

bool IsTf32(const Eqn& e) { return AlgorithmOf(e) != nullptr && AlgorithmOf(e)->is_tf32; }
// Of f32; the carry of a mantissa goes to the exponent, up to infinity. NaN stays.
Scalar RoundedToTf32(Scalar x) {
  const Scalar bits = Bitcast(x, DType::kU32);
  const Scalar rounded = (bits + Like(bits, kBelowTf32 / 2)) & Like(bits, ~(kBelowTf32 - 1));
  const Scalar result = Bitcast(rounded, DType::kF32);
  return Select(x != x, x, result);
}
Value RoundedToTf32(const Value& x) {
  const Value bits = bitcast_convert_type(x, DType::kU32);
  const Value kept = full_like(bits, ~(kBelowTf32 - 1));
  const Value rounded = bitwise_and(add(bits, full_like(bits, kBelowTf32 / 2)), kept);
  const Value result = bitcast_convert_type(rounded, DType::kF32);
  return select(ne(x, x), x, result);
}

// ---- lowering ----
template <Scalar (*kRound)(Scalar)>
void LoopsOf(KernelBuilder& k, const Eqn& e) {
  const Side lhs = SideOf(e, 0), rhs = SideOf(e, 1);
  const DType out = e.out().dtype(), sum_dtype = SumDType(out);
  const bool is_bool = out == DType::kBool;
  const size_t n_batch = lhs.batch.size();
  k.Parallel(e.out().shape(), [&](const Index& at) {
    Index l(static_cast<size_t>(lhs.type.rank())), r(static_cast<size_t>(rhs.type.rank()));
    const auto put = [](Index& to, int64_t dim, Scalar v) { to[static_cast<size_t>(dim)] = v; };
    for (size_t i = 0; i < n_batch; ++i) put(l, lhs.batch[i], at[i]), put(r, rhs.batch[i], at[i]);
    for (size_t i = 0; i < lhs.free.size(); ++i) put(l, lhs.free[i], at[n_batch + i]);
    for (size_t i = 0; i < rhs.free.size(); ++i) put(r, rhs.free[i], at[n_batch + lhs.free.size() + i]);
    const Shape extents = rules::Pick(lhs.type.shape(), lhs.contract);
    const Scalar sum = k.ReduceBox(is_bool ? RICCI_S_OR : RICCI_S_ADD, extents, [&](const Index& inner) {
      for (size_t i = 0; i < inner.size(); ++i) put(l, lhs.contract[i], inner[i]), put(r, rhs.contract[i], inner[i]);
      const Scalar x = kRound(Convert(k.Operand(0).Load(l), sum_dtype)),
                   y = kRound(Convert(k.Operand(1).Load(r), sum_dtype));
      return is_bool ? x & y : x * y;
    });
    k.Result().Store(at, Convert(sum, out));
  });
}
Scalar Same(Scalar x) { return x; }

// Large complex matrices: four products of their parts, each as fast as a product of real matrices.
constexpr int64_t kManyProducts = 4096;
bool IsLargeComplex(const Eqn& e) {
  const DType dtype = e.out().dtype();
  if (!IsComplex(dtype) || e.in(0).dtype() != dtype || e.in(1).dtype() != dtype) return false;
  const auto terms = Exact(ElementCount(rules::Pick(e.in(0).shape(), e.ints("lhs_contract"))));
  return Clamped(terms * e.out().elements(), 0, kManyProducts) == kManyProducts;
}
Values ByParts(const Eqn& e, std::span<const Value> in) {
  const DType part = PartOf(e.out().dtype());
  const auto product = [&](const Value& x, const Value& y) {
    return e.Emit({x, y}, {{"preferred_element_type", part}});
  };
  const Value a = real(in[0]), b = imag(in[0]), c = real(in[1]), d = imag(in[1]);
  const Value bc = product(b, c), imaginary = add(product(a, d), bc), bd = product(b, d);
  return {complex(sub(product(a, c), bd), imaginary)};
}
// An algorithm is the dtypes that it computes in. A kernel that rounds factors itself finds them in tf32 (its tensor
// cores do that), so a GPU has such products in its loops.
bool IsTf32OfF32(const Eqn& e) {
  return IsTf32(e) && e.in(0).dtype() == DType::kF32 && e.in(1).dtype() == DType::kF32 &&
         e.out().dtype() == DType::kF32;
}
bool HasAlgorithm(const Eqn& e) { return AlgorithmOf(e) != nullptr; }
Values ByAlgorithm(const Eqn& e, std::span<const Value> in) {
  const DotAlgorithm& a = *AlgorithmOf(e);
  const bool rounds = a.is_tf32 && IsTf32OfF32(e);
  const auto operand = [&](const Value& v) {
    if (rounds) return RoundedToTf32(v);
    return In(v.dtype(), a.operands) ? v : convert_element_type(v, a.operand);
  };
  const DType out = e.out().dtype();
  const std::string_view left = a.is_tf32 && !rounds ? a.name : "";  // what is to be done to the operands as f32
  const Value rhs = operand(in[1]), lhs = operand(in[0]);
  const Value product = dot_general(lhs, rhs, ShiftedDims(e, -1, -1), In(out, a.results) ? out : a.result, left);
  return {convert_element_type(product, out)};
}
constexpr Lowering kLowerings[] = {
    {.loops = LoopsOf<RoundedToTf32>, .match = IsTf32OfF32, .target = "cuda", .priority = 3},
    {.decompose = ByAlgorithm, .match = HasAlgorithm, .priority = 2},
    {.decompose = ByParts, .match = IsLargeComplex, .priority = 1},
    {.loops = LoopsOf<Same>}};

// ---- factors: batch, free of lhs, free of rhs, contracted ----
std::string Factors(const Eqn& e) {
  const Side lhs = SideOf(e, 0), rhs = SideOf(e, 1);
  Shape l(static_cast<size_t>(lhs.type.rank())), r(static_cast<size_t>(rhs.type.rank()));
  int64_t next = 0;
  const auto name = [&](Shape& ids, int64_t dim) { ids[static_cast<size_t>(dim)] = next; };
  for (size_t i = 0; i < lhs.batch.size(); ++i, ++next) name(l, lhs.batch[i]), name(r, rhs.batch[i]);
  for (int64_t d : lhs.free) name(l, d), ++next;
  for (int64_t d : rhs.free) name(r, d), ++next;
  const Shape out = rules::Range(next);
  Shape summed;
  for (size_t i = 0; i < lhs.contract.size(); ++i, ++next) {
    name(l, lhs.contract[i]), name(r, rhs.contract[i]);
    summed.push_back(next);
  }
  const std::string text = rules::Letters(l) + ", " + rules::Letters(r) + " -> " + rules::Letters(out);
  return summed.empty() ? text : text + "; sum " + rules::Letters(summed);
}

constexpr Row kRows[] = {{.name = "dot_general",
                          .doc = "z = dot_general(lhs, rhs): products summed over pairs of contracted dimensions; z "
                                 "has the batch dimensions, then the rest of lhs, then of rhs",
                          .attrs = kAttrs,
                          .flags = RICCI_PRIM_EXPENSIVE,
                          .type = Type,
                          .jvp = rules::kBilinear,
                          .transpose = rules::TransposeEach<FirstCt, SecondCt>,
                          .batch = BatchRule,
                          .simplify = rules::One<Simpler>,
                          .factors_of = Factors,
                          .lowerings = kLowerings,
                          .examples =
                              "(f64[2,3], f64[3,4]) lhs_contract=[1] rhs_contract=[0]; "
                              "(f64[3], f64[3]) lhs_contract=[0] rhs_contract=[0]; "
                              "(f64[2], f64[3]) precision=\"highest\"; "
                              "(f32[2,3], f32[3,4]) lhs_contract=[1] rhs_contract=[0] precision=\"F64_F64_F64\"; "
                              "(c128[2,3], c128[3,4]) lhs_contract=[1] rhs_contract=[0]; "
                              "(c64[16,17], c64[17,18]) lhs_contract=[1] rhs_contract=[0]; "
                              "(f64[2,3,4], f64[4,2,5]) lhs_contract=[2] rhs_contract=[0] lhs_batch=[0] rhs_batch=[1]; "
                              "(f64[2,3,4], f64[4,5,3]) lhs_contract=[1,2] rhs_contract=[2,0]"}};

}  // namespace

RowList dot_general_rows() { return kRows; }

}}}}  // namespace ricci::v0::lax::rows
