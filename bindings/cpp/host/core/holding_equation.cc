#include "host/core/holding_equation.h"

namespace ricci { inline namespace v0 {

Program LastFirst(const CallSite& site, const Program& f, size_t first) {
  const std::span<const ricci_type> old = f.params();
  if (first == old.size()) return f;
  const size_t n = old.size() - first;
  std::vector<ricci_type> types(old.begin() + static_cast<int64_t>(first), old.end());
  types.insert(types.end(), old.begin(), old.begin() + static_cast<int64_t>(first));
  auto moved = [&](const CallSite&, const Values& params) {
    return Inline(f, Joined(Part(params, n, first), Part(params, 0, n)));
  };
  return Wrapped(site, types, moved);
}

Values EmitHolding(const CallSite& site, std::string_view prim, const Values& in, size_t n_out,
                   std::initializer_list<Attr> attrs) {
  const Operands operands(in);
  SetLocation(operands.builder, site.at);
  return EmitN(static_cast<uint32_t>(n_out), prim, in, attrs);
}

}}  // namespace ricci::v0
