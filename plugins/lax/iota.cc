// iota: each element is its own index along `dimension`.
#include "ricci/plugin.hpp"

namespace ricci { inline namespace v0 { namespace lax { namespace rows {
namespace {

constexpr AttrSpec kAttrs[] = {{"dtype", AttrKind::kDType}, {"shape", AttrKind::kInts}, {"dimension", AttrKind::kInt}};

ArrayTypes Type(const Eqn& e) {
  e.WantOperands(0);
  const Dims shape = e.ints("shape");
  const int64_t dimension = e.integer("dimension");
  if (!In(e.dtype("dtype"), kNumbers))
    e.Fail("dtype ", e.dtype("dtype"), " must be an integer, floating or complex dtype");
  if (dimension < 0 || dimension >= static_cast<int64_t>(shape.size())) {
    e.Fail("dimension ", dimension, " is out of range for shape ", shape);
  }
  return e.Type(e.dtype("dtype"), shape);
}

Scalar FromIndex(KernelBuilder&, const Eqn& e, uint32_t, std::span<const Scalar> at) {
  return Convert(at[static_cast<size_t>(e.integer("dimension"))], e.dtype("dtype"));
}

std::string Factors(const Eqn& e) {
  const std::string along = rules::Letter(e.integer("dimension"));
  return Text(" -> ", rules::Letters(rules::Range(e.out().rank())), "; indexed ", along);
}

constexpr Row kRows[] = {{.name = "iota",
                          .doc = "y = iota(): an array of `shape` with the index of each element along `dimension`",
                          .attrs = kAttrs,
                          .type = Type,
                          .jvp = rules::ZeroTangent,
                          .factors_of = Factors,
                          .lowerings = lower::Index<FromIndex>,
                          .missing = "transpose: it has no operand; batch: it has no operand",
                          .examples = "() dtype=i32 shape=[3,4] dimension=1; "
                                      "() dtype=f64 shape=[5] dimension=0"}};

}  // namespace

RowList iota_rows() { return kRows; }

}}}}  // namespace ricci::v0::lax::rows
