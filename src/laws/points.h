// Taking arrays apart along dimensions and combining them element by element, as bytes of any dtype.
#ifndef RICCI_LAWS_POINTS_H_
#define RICCI_LAWS_POINTS_H_
#include "ir/factors.h"
#include "laws/numbers.h"

namespace ricci { inline namespace v0 { namespace laws {

using Points = std::vector<int64_t>;  // positions along a factor, in the order in which they are taken

Points Span(int64_t from, int64_t to);  // from .. to - 1
// The array that has points[i] of `from` at position i, along every dimension in `dims`.
Bytes Taken(const Type& t, const Bytes& from, const std::vector<uint32_t>& dims, const Points& points);
// Can elements of that type be combined in that way?
bool Combines(ir::FactorKind kind, const Type& t);
// Element by element; integers wrap.
absl::StatusOr<Numbers> Combined(ir::FactorKind kind, const Type& t, const Bytes& a, const Bytes& b);
// The first element that differs by more than rounding, as `element 3 is 1, it must be 2`; empty if none does.
std::string Mismatch(const Type& t, const Numbers& got, const Numbers& want);
absl::StatusOr<std::string> Mismatch(const Type& t, const Bytes& got, const Bytes& want);

}}}  // namespace ricci::v0::laws
#endif
