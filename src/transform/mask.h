// Masks: one flag for each parameter, operand or result of a program or an equation, and lists of those whose flag is
// set.
#ifndef RICCI_TRANSFORM_MASK_H_
#define RICCI_TRANSFORM_MASK_H_
#include <algorithm>
#include <span>

#include "trace/builder.h"

namespace ricci { inline namespace v0 { namespace transform {

using Mask = std::vector<uint8_t>;
using MaskView = std::span<const uint8_t>;

// How many are set.
inline uint32_t Count(MaskView mask) {
  return static_cast<uint32_t>(std::count_if(mask.begin(), mask.end(), [](uint8_t m) { return m != 0; }));
}
inline Mask Not(MaskView mask) {
  Mask out(mask.begin(), mask.end());
  for (uint8_t& m : out) m = !m;
  return out;
}
// Flags of the values that are not kZero.
inline Mask NonZero(std::span<const trace::Val> vals) {
  Mask out;
  for (const trace::Val v : vals) out.push_back(v != trace::kZero);
  return out;
}
// flags |= after; true if that changed anything. Fixpoints over loop carries continue while it does.
inline bool Merge(std::span<uint8_t> flags, MaskView after) {
  bool changed = false;
  for (size_t i = 0; i < flags.size(); ++i) {
    changed |= !flags[i] && after[i];
    flags[i] |= after[i];
  }
  return changed;
}

// The elements of `v` with mask[i] != 0.
template <typename T>
std::vector<T> Where(std::span<const T> v, MaskView mask) {
  std::vector<T> out;
  for (size_t i = 0; i < v.size(); ++i) {
    if (mask[i]) out.push_back(v[i]);
  }
  return out;
}
inline trace::Vals Where(const trace::Vals& v, MaskView mask) { return Where(std::span<const trace::Val>(v), mask); }
// The inverse: to[i] is the next of `from` where mask[i] != 0, and stays as it is elsewhere.
template <typename T>
void Scatter(MaskView mask, std::span<const T> from, T* to) {
  size_t next = 0;
  for (size_t i = 0; i < mask.size(); ++i) {
    if (mask[i]) to[i] = from[next++];
  }
}
inline void Scatter(MaskView mask, const trace::Vals& from, trace::Val* to) {
  Scatter(mask, std::span<const trace::Val>(from), to);
}

}}}  // namespace ricci::v0::transform
#endif
