// grad and jvp over lists of leaves.
#include "ricci/derivatives.hpp"

namespace ricci { inline namespace v0 {

std::vector<uint8_t> LeavesOfArguments(const CallSite& site, const Values& leaves, std::span<const size_t> counts,
                                       std::span<const size_t> chosen) {
  std::vector<uint8_t> out(leaves.size(), 0);
  for (size_t arg : chosen) {
    size_t first = 0;
    for (size_t i = 0; i < arg; ++i) first += counts[i];
    for (size_t i = first; i < first + counts[arg]; ++i) {
      out[i] = 1;
      if (IsInexact(leaves[i].dtype())) continue;
      site.Fail("leaf ", i - first, " of argument ", arg, " is ", leaves[i].type(),
                ", which has no derivative; convert it with astype, or choose other arguments as in ", site.name,
                "<1>(f)");
    }
  }
  return out;
}

Values GradLeaves(const CallSite& site, LeafFunction f, const Values& leaves, std::span<const size_t> counts,
                  std::span<const size_t> chosen) {
  LeavesOfArguments(site, leaves, counts, chosen);
  std::vector<uint32_t> argnums;
  for (size_t arg : chosen) {
    size_t first = 0;
    for (size_t i = 0; i < arg; ++i) first += counts[i];
    for (size_t i = 0; i < counts[arg]; ++i) argnums.push_back(static_cast<uint32_t>(first + i));
  }
  const Closed<Value> closed = Close(site, f, TypesOf(leaves));
  const std::span<const ricci_type> results = closed.program.results();
  if (results.empty()) site.Fail("the function gives no array; it must give a floating scalar");
  const ArrayType value(site.context(), results[0]);
  if (value.rank() != 0 || !IsFloat(value.dtype())) {
    const bool holomorphic = IsComplex(value.dtype());
    site.Fail("the function gives ", value, ", not a floating scalar; ",
              holomorphic ? "take its real or imaginary part, or use vjp" : "reduce it to one, or use jacrev");
  }
  const Program g = MakeProgramAt(site.at, [&](ricci_program** out) {
    return ricci_grad(closed.program.handle(), argnums.data(), static_cast<uint32_t>(argnums.size()), 1, out);
  });
  return Apply(site, g, Joined(leaves, closed.captured));
}

namespace {

void WantTangents(const CallSite& site, const Values& primals, const Values& tangents) {
  if (primals.size() != tangents.size())
    site.Fail(Count(primals.size(), "primal"), " but ", Count(tangents.size(), "tangent"));
  for (size_t i = 0; i < primals.size(); ++i) {
    if (primals[i].type() != tangents[i].type()) {
      site.Fail("leaf ", i, ": the primal is ", primals[i].type(), ", its tangent ", tangents[i].type());
    }
  }
}

}  // namespace

Values JvpLeaves(const CallSite& site, LeafFunction f, const Values& x, const Values& dx) {
  WantTangents(site, x, dx);
  const Closed<Value> closed = Close(site, f, TypesOf(x));
  const auto active = FloatMask(site.context(), closed.program.params(), x.size());
  const Program j = MakeProgramAt(site.at, [&](ricci_program** out) {
    return ricci_jvp(closed.program.handle(), active.data(), static_cast<uint32_t>(active.size()), out);
  });
  const Values all = Apply(site, j, Joined(Joined(x, closed.captured), Selected(dx, active)));
  const size_t n = closed.program.results().size();
  const Values y = Part(all, 0, n);
  const auto has = FloatMask(site.context(), closed.program.results(), n);
  return Joined(y, WithZeros(y, std::span(all).subspan(n), has));
}

}}  // namespace ricci::v0
