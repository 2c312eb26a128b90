// The dot test: <u, jvp(v)> = <vjp(u), v> for a whole program.
//
// Both sides are one program, so that noise shows how exactly each can be known.
#include <cmath>

#include "fuzz/whole_program_laws.h"
#include "ir/walk.h"
#include "ricci/lax.hpp"

namespace ricci::testing {
namespace {

Values Inline(const Program& p, const Values& in, size_t results) {
  std::vector<ricci_val> ids, out(results);
  for (const Value& v : in) ids.push_back(v.id);
  ricci_builder* b = in[0].builder;
  Check(ricci_builder_inline(b, p.get(), ids.data(), static_cast<uint32_t>(ids.size()), out.data(),
                             static_cast<uint32_t>(out.size())));
  Values made;
  for (ricci_val id : out) made.push_back({b, id});
  return made;
}

// The sum of a[i] b[i] in f64, or of their magnitudes.
Value Dot(const Values& a, const Values& b, bool magnitudes) {
  Value sum;
  for (size_t i = 0; i < a.size(); ++i) {
    Value product =
        lax::mul(lax::convert_element_type(a[i], DType::kF64), lax::convert_element_type(b[i], DType::kF64));
    if (magnitudes) product = lax::abs(product);
    Shape axes(static_cast<size_t>(product.rank()));
    for (size_t k = 0; k < axes.size(); ++k) axes[k] = static_cast<int64_t>(k);
    const Value part = lax::reduce_sum(product, axes);
    sum = sum.is_none() ? part : lax::add(sum, part);
  }
  return sum;
}

// x, v, u -> <u, jvp(v)>, <vjp(u), v>, the sums of the magnitudes of both.
Program BothSides(ricci_ctx* ctx, const Program& f, const Mask& active) {
  const Program jvp = JvpOf(WithoutCustomRules(f), active), backward = BackwardOf(ctx, f, active);
  const std::vector<ArrayType> params = ParamsOf(ctx, jvp.get()), cotangents = ParamsOf(ctx, backward.get());
  const size_t n = active.size(), n_results = ResultsOf(ctx, f.get()).size();
  std::vector<ricci_type> types;
  for (const ArrayType& t : params) types.push_back(t.id());
  for (size_t i = n; i < cotangents.size(); ++i) types.push_back(cotangents[i].id());
  std::vector<ricci_val> ids(types.size());
  ricci_builder* b = nullptr;
  Check(ricci_builder_create(ctx, "dot", 3, types.data(), static_cast<uint32_t>(types.size()), &b, ids.data()));
  std::unique_ptr<ricci_builder, decltype(&ricci_builder_abandon)> guard(b, ricci_builder_abandon);
  Values x_v, x_u, v, u;
  for (size_t i = 0; i < ids.size(); ++i) {
    const Value value{b, ids[i]};
    if (i < params.size()) x_v.push_back(value);
    if (i < n || i >= params.size()) x_u.push_back(value);
    if (i >= n) (i < params.size() ? v : u).push_back(value);
  }
  Values pushed = Inline(jvp, x_v, n_results + u.size());
  pushed.erase(pushed.begin(), pushed.begin() + static_cast<int64_t>(n_results));
  const Values pulled = Inline(backward, x_u, v.size());
  const Value results[] = {Dot(pushed, u, false), Dot(pulled, v, false),
                           lax::add(Dot(pushed, u, true), Dot(pulled, v, true))};
  const ricci_val out[] = {results[0].id, results[1].id, results[2].id};
  ricci_program* made = nullptr;
  Check(ricci_builder_finish(b, out, 3, &made));
  (void)guard.release();
  return Own(made);
}

std::multiset<std::string> NamesOf(const std::vector<HostCall>& calls) {
  std::multiset<std::string> names;
  for (const HostCall& c : calls) names.insert(c.what);
  return names;
}

// Forward mode and reverse mode have the effects of f once each; but custom rules have what is in them.
Complaint CheckCalls(ricci_ctx* ctx, const Program& f, const RunResult& both, std::vector<Bytes> inputs) {
  if (both.calls.empty() && !CallsHost(f.get())) return {};
  const std::multiset<std::string> rows = RowsOf(f);
  if (rows.contains("custom_jvp") || rows.contains("custom_vjp")) return {};
  inputs.resize(ParamsOf(ctx, f.get()).size());
  const RunResult once = Compiled(ctx, f.get(), "ref").Run(inputs);
  if (once.error) return {};
  std::multiset<std::string> want = NamesOf(once.calls);
  want.merge(NamesOf(once.calls));
  if (NamesOf(both.calls) == want) return {};
  return Text(both.calls.size(), " calls with an effect in jvp and reverse mode together, it must be ", want.size());
}

// Does a derivative round to 4 bits? A cotangent below a quarter is zero there, so it is not linear.
bool HasCoarseTangents(const Program& p) {
  for (const ir::Program* f : ir::NestedFirst(*ir::FromAbi(p.get()))) {
    for (uint32_t v = 0; v < f->values.size(); ++v) {
      if (f->constant(v) == nullptr && f->type(v).dtype == RICCI_F4E2M1FN) return true;
    }
  }
  return false;
}

double Number(const RunResult& r, size_t i) { return ReadFloat(DType::kF64, r.arrays[i].data()); }

}  // namespace

Complaint CheckDot(ricci_ctx* ctx, const Program& f, Dice&, uint64_t seed, LawCounts& counts) {
  // Its derivative rounds tangents, and flushes them to zero if it has few exponent bits: it is not linear.
  if (RowsOf(f).contains("reduce_precision") || HasCoarseTangents(f)) return {};
  const Program both = BothSides(ctx, f, FloatingOf(ParamsOf(ctx, f.get())));
  const std::vector<Bytes> inputs = DrawInputs(ctx, both.get(), seed, /*special=*/false);
  Reference reference(ctx, both, inputs, counts.loops, Rounding::kAll);
  if (IsBrokenPromise(reference.want()) || IsRefusedCall(both, reference.want())) return {};
  if (reference.want().error) return reference.want().error;
  if (Complaint c = CheckCalls(ctx, f, reference.want(), inputs)) return c;
  ++counts.elements;
  const double forward = Number(reference.want(), 0), backward = Number(reference.want(), 1),
               size = Number(reference.want(), 2);
  if (!std::isfinite(size)) return ++counts.undecided, Complaint();
  if (std::fabs(forward - backward) <= 1e-15 * size) return {};
  const std::optional<double> a = reference.Spread(0, 0), b = reference.Spread(1, 0);
  if (!a || !b) return ++counts.undecided, Complaint();
  const double tolerance = 8 * (*a + *b) + 1e-30;
  if (std::fabs(forward - backward) > tolerance)
    return Text("<u, jvp(v)> is ", std::to_string(forward), ", <vjp(u), v> is ", std::to_string(backward));
  if (tolerance > 0.1 * size) ++counts.undecided;
  return {};
}

}  // namespace ricci::testing
