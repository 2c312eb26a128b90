// The types of arguments and results, without running anything.
#include "ricci/inspect.hpp"

namespace ricci { inline namespace v0 {

ricci_type TypeOfLeaf(CallSite&, const Array& a) { return a.type_id(); }
ricci_type TypeOfLeaf(CallSite& site, const ShapeDType& s) {
  return MakeTypeAt(site.at, site.ctx, s.dtype, s.shape).id();
}
ShapeDType ShapeOfResult(const Program& f, ricci_ctx* ctx, size_t i) {
  const ArrayType t(ctx, f.results()[i]);
  return {Shape(t.shape().begin(), t.shape().end()), t.dtype()};
}

}}  // namespace ricci::v0
