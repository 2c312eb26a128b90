// linear_call over lists of leaves.
#include "ricci/linear_call.hpp"

#include "host/core/holding_equation.h"

namespace ricci { inline namespace v0 {

Values LinearCallLeaves(const CallSite& site, LeafFunction f, LeafFunction transpose, const Values& residuals,
                        const Values& x) {
  const Closed<Value> map = Close(site, f, TypesOf(Joined(residuals, x)));
  const std::vector<ricci_type> results(map.program.results().begin(), map.program.results().end());
  const Closed<Value> back = Close(site, transpose, Joined(TypesOf(residuals), results));
  const std::vector<ricci_type> linear = TypesOf(x);
  for (size_t i = 0; i < x.size(); ++i) {
    if (i < back.program.results().size() && back.program.results()[i] == linear[i]) continue;
    site.Fail("the transpose gives another type for array ", i, " of x, which is ", x[i].type());
  }
  // Both programs take all constants: what each captures, then the residuals.
  const Values constants = Joined(Joined(map.captured, back.captured), residuals);
  const size_t first_residual = map.captured.size() + back.captured.size();
  const auto over_all = [&](const Closed<Value>& p, size_t first_captured, const std::vector<ricci_type>& operands) {
    const auto reordered = [&](const CallSite&, const Values& params) {
      return Inline(p.program, Joined(Part(params, first_residual, residuals.size() + operands.size()),
                                      Part(params, first_captured, p.captured.size())));
    };
    return Wrapped(site, Joined(TypesOf(constants), operands), reordered);
  };
  const Program call = over_all(map, 0, linear), transposed = over_all(back, map.captured.size(), results);
  return EmitHolding(site, "linear_call", Joined(constants, x), results.size(),
                     {{"call", call.handle()},
                      {"transpose", transposed.handle()},
                      {"num_residuals", static_cast<int64_t>(constants.size())}});
}

}}  // namespace ricci::v0
