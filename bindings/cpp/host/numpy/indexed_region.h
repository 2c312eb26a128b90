// The elements of an array that a list of indices names, as indices of a gather or scatter.
//
// NumPy's rules: whole dimensions are the window; numbers, scalars and arrays broadcast together to one block of
// dimensions, which takes their place or, with a slice between them, comes first; a slice that takes only a part is an
// array of indices along a dimension of its own.
#ifndef RICCI_BINDINGS_CPP_HOST_INDEXED_REGION_H_
#define RICCI_BINDINGS_CPP_HOST_INDEXED_REGION_H_
#include "ricci/at.hpp"

namespace ricci { inline namespace v0 {

using IndexList = std::span<const IndexItem>;

struct IndexedRegion {
  Shape shape;        // of the elements
  Value indices;      // for each element outside of the window a vector of indices, along the last dimension
  Shape axes;         // of the array: which axis each entry of that vector counts along, in increasing order
  Shape window_dims;  // of `shape`: those that run over whole axes
  Shape new_dims;     // of `shape` after `index` is done: dimensions of size 1
};

CallSite SiteOfIndex(std::string_view name, const Operand& x, IndexList items, std::span<const Operand> others);
// How many axes of v the items index; throws if it has less.
int64_t AxesUsed(const CallSite& site, const Value& v, IndexList items);
// Whether an index is an array with dimensions.
bool HoldsArray(IndexList items);
IndexedRegion RegionOf(const CallSite& site, const Value& v, IndexList items);
Value GatherRegion(const Value& v, const IndexedRegion& region, std::string_view mode = "clip",
                   std::optional<double> fill_value = {});
// x with the elements at `items` updated by the primitive `prim`; `name` is what messages call it.
Value UpdateRegion(std::string_view name, std::string_view prim, const Operand& x, IndexList items,
                   const Operand& updates, const AtOptions& options = {});
// The mode that options name, in the words of gather and scatter; throws for an unknown mode.
std::string_view ModeOf(const CallSite& site, const AtOptions& options, std::string_view otherwise);

// [start, stop) in steps: the elements that a slice of `n` holds.
struct SliceBounds {
  int64_t start, count, step;
};
SliceBounds BoundsOf(const Slice& s, int64_t n, const Location& at);

}}  // namespace ricci::v0
#endif
