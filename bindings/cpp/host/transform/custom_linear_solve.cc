// custom_linear_solve over lists of leaves.
#include "ricci/custom_linear_solve.hpp"

#include "host/core/holding_equation.h"

namespace ricci { inline namespace v0 {

Values LinearFunction::operator()(const Values& x) const { return Inline(closed.program, Joined(x, closed.captured)); }

LinearFunction CloseLinear(const CallSite& site, std::string_view what, LeafFunction f, const Values& b,
                           std::string_view name_of_b, bool more) {
  LinearFunction out{Close(site, f, TypesOf(b))};
  const std::span<const ricci_type> given = out.closed.program.results();
  if (given.size() < b.size() || (given.size() > b.size() && !more)) {
    site.Fail(what, " gives ", Count(given.size(), "array"), "; ", name_of_b, " has ", b.size());
  }
  for (size_t i = 0; i < b.size(); ++i) {
    if (given[i] == b[i].type().id()) continue;
    site.Fail(what, " gives ", ArrayType(site.context(), given[i]), " as array ", i, "; that of ", name_of_b, " is ",
              b[i].type());
  }
  return out;
}

LinearFunction TransposeOf(const CallSite& site, const LinearFunction& f, const Values& b) {
  std::vector<uint8_t> linear(f.closed.program.params().size(), 0);
  std::fill_n(linear.begin(), b.size(), 1);
  const Program transposed = MakeProgramAt(site.at, [&](ricci_program** out) {
    return ricci_linear_transpose(f.closed.program.handle(), linear.data(), static_cast<uint32_t>(linear.size()),
                                  /*ct_nonzero=*/nullptr, /*in_nonzero=*/nullptr, out);
  });
  return {{LastFirst(site, transposed, f.closed.captured.size()), f.closed.captured}};
}

Values SolveLeaves(const CallSite& site, const LinearFunction& matvec, const LinearFunction& solve,
                   const LinearFunction* vecmat, const LinearFunction* transpose_solve, const Values& b) {
  const size_t n_out = solve.closed.program.results().size();
  const auto constants_first = [&](const LinearFunction& f) { return LastFirst(site, f.closed.program, b.size()); };
  const Program map = constants_first(matvec), found = constants_first(solve);
  if (vecmat == nullptr) {
    const Values in = Joined(Joined(matvec.closed.captured, solve.closed.captured), b);
    return EmitHolding(site, "custom_linear_solve", in, n_out, {{"matvec", map.handle()}, {"solve", found.handle()}});
  }
  const Program transposed = constants_first(*vecmat), back = constants_first(*transpose_solve);
  const Values maps = Joined(matvec.closed.captured, vecmat->closed.captured);
  const Values solvers = Joined(solve.closed.captured, transpose_solve->closed.captured);
  return EmitHolding(site, "custom_linear_solve", Joined(Joined(maps, solvers), b), n_out,
                     {{"matvec", map.handle()},
                      {"vecmat", transposed.handle()},
                      {"solve", found.handle()},
                      {"transpose_solve", back.handle()}});
}

}}  // namespace ricci::v0
