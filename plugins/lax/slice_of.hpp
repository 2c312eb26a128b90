// SliceOf: a slice that looks through concatenations, of which it keeps only the operands that it needs.
#ifndef RICCI_LAX_SLICE_OF_HPP_
#define RICCI_LAX_SLICE_OF_HPP_
#include "ricci/plugin.hpp"

namespace ricci { inline namespace v0 { namespace lax {

// x[start, limit) with steps of 1. Its parts in each operand of a concatenation are concatenated again.
inline Value SliceOf(const Value& x, Dims start, Dims limit) {
  const Producer p(x);
  if (!p.Is("concatenate")) return slice(x, start, limit);
  const auto along = static_cast<size_t>(p.eqn().integer("dimension"));
  Values parts;
  int64_t before = 0;
  for (uint32_t i = 0; i < p.eqn().n_in(); ++i) {
    const Value part = p.operand(i);
    const int64_t n = part.shape()[along];
    Shape from(start.begin(), start.end()), to(limit.begin(), limit.end());
    from[along] = std::clamp<int64_t>(start[along] - before, 0, n);
    to[along] = std::clamp<int64_t>(limit[along] - before, 0, n);
    before += n;  // exact: at most the size of x
    if (from[along] < to[along]) parts.push_back(SliceOf(part, from, to));
  }
  if (parts.empty()) return slice(x, start, limit);
  return parts.size() == 1 ? parts[0] : concatenate(parts, static_cast<int64_t>(along));
}

}}}  // namespace ricci::v0::lax
#endif
