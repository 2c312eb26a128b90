// SliceOf: a slice that looks through concatenations, of which it keeps only the operands that it needs.
#ifndef RICCI_LAX_SLICE_OF_HPP_
#define RICCI_LAX_SLICE_OF_HPP_
#include "ricci/plugin.hpp"

namespace ricci { inline namespace v0 { namespace lax {

inline Value SliceOf(const Value& x, Dims start, Dims limit, Dims strides = {});

// If x is a concatenation, x[start:limit:strides] of its operands; several are concatenated again if steps are 1. No
// value if there is none such. No strides: all 1.
inline Value SliceOfOperands(const Value& x, Dims start, Dims limit, Dims strides) {
  const Producer p(x);
  if (!p.Is("concatenate")) return {};
  const auto along = static_cast<size_t>(p.eqn().integer("dimension"));
  const int64_t stride = strides.empty() ? 1 : strides[along];
  Shape from(start.begin(), start.end()), to(limit.begin(), limit.end());
  Values parts;
  for (uint32_t i = 0; i < p.eqn().n_in(); ++i) {  // from, to: counted from the first element of operand i
    const Value part = p.operand(i);
    const int64_t n = part.shape()[along], end = to[along];
    to[along] = std::min(end, n);
    if (from[along] < to[along]) {
      if (stride != 1 && (end > n || !parts.empty())) return {};
      parts.push_back(SliceOf(part, from, to, strides));
      from[along] = to[along];
    }
    from[along] -= n;
    to[along] = end - n;
  }
  return parts.size() > 1 ? concatenate(parts, static_cast<int64_t>(along)) : parts.empty() ? Value{} : parts[0];
}
inline Value SliceOf(const Value& x, Dims start, Dims limit, Dims strides) {
  const Value found = SliceOfOperands(x, start, limit, strides);
  return found.is_none() ? slice(x, start, limit, strides) : found;
}

}}}  // namespace ricci::v0::lax
#endif
