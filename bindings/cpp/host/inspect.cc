// Types of arguments and results that are looked at without running anything.
#include "ricci/inspect.hpp"

namespace ricci::inline v0 {

ricci_type TypeOfLeaf(Outside&, const Array& a) { return a.type_id(); }
ricci_type TypeOfLeaf(Outside& o, const ShapeDType& s) {
  ricci_type id = 0;
  CheckAt(o.at, ricci_type_make(o.ctx, static_cast<uint32_t>(s.dtype), static_cast<uint32_t>(s.shape.size()),
                                s.shape.data(), &id));
  return id;
}
ShapeDType ShapeOfResult(const Program& f, ricci_ctx* ctx, size_t i) {
  const ArrayType t(ctx, f.results()[i]);
  return {Shape(t.shape().begin(), t.shape().end()), t.dtype()};
}

}  // namespace ricci::inline v0
