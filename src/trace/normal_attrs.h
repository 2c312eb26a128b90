// Attributes as a row declares them: all of them known, of the kinds of the row, in its order.
//
// A host gives attributes in any order, an integer for a float, and anything in the fields that their kind does not
// use. Equations hold one normal form, so that equal attributes are equal in every field and rules find each where the
// row says. This needs no builder, so it is separate from it.
#ifndef RICCI_TRACE_NORMAL_ATTRS_H_
#define RICCI_TRACE_NORMAL_ATTRS_H_
#include <span>
#include <vector>

#include "absl/status/status.h"
#include "prim/registry.h"

namespace ricci { inline namespace v0 { namespace trace {

// Sets `out` to the attributes of `given` in normal form; their data stays where it is. INVALID_ARGUMENT names the
// attribute that is unknown, missing, given twice or of another kind.
absl::Status NormalizeAttrs(const prim::Row& row, std::span<const ricci_attr> given, std::vector<ricci_attr>& out);

}}}  // namespace ricci::v0::trace
#endif
