// Matrices taken as operands, and their rows, columns and diagonals by masks, which work in loops too.
#include "host/linalg/matrix_steps.h"

namespace ricci { inline namespace v0 { namespace plain {

Value AnyMatrices(std::string_view name, const Operand& a) {
  const Value v = UseInexact(name, a);
  if (v.rank() >= 2) return v;
  FailAt(a.at, name, ": operand is ", v.type(), "; its last two dimensions must be those of a matrix");
}
Value SquareMatrices(std::string_view name, const Operand& a) {
  const Value v = UseInexact(name, a);
  if (v.rank() >= 2 && RowsOf(v) == ColumnsOf(v)) return v;
  FailAt(a.at, name, ": operand is ", v.type(), "; its last two dimensions must be those of a square matrix");
}
Value Adjoint(const Value& a) {
  const Value t = AxisToEnd(a, a.rank() - 2);
  return IsComplex(t.dtype()) ? lax::conj(t) : t;
}
Value DiagonalOf(const Value& a, int64_t above) {
  const Value on = RowNumbers(a) + static_cast<double>(above) == ColumnNumbers(a);
  return lax::reduce_sum(Where(on, a, 0), Shape{a.rank() - 1});
}
Value OverMatrix(const Value& v, const Value& like) {
  return lax::broadcast_in_dim(v, like.shape(), CountFrom(0, v.rank()));
}
Value WithBatch(const Value& v, Dims batch, int64_t own) {
  Shape shape(batch.begin(), batch.end());
  shape.insert(shape.end(), v.shape().end() - own, v.shape().end());
  return BroadcastValue(v, shape);
}
Value ColumnAt(const Value& a, const Value& k) {
  return KeptSum(Where(ColumnNumbers(a) == k, a, 0), Shape{a.rank() - 1});
}
Value RowAt(const Value& a, const Value& k) { return ColumnAt(AxisToEnd(a, a.rank() - 2), k); }
Value CornerAt(const Value& a, const Value& k) {
  const Value here = (RowNumbers(a) == k) & (ColumnNumbers(a) == k);
  return lax::reduce_sum(Where(here, a, 0), Shape{a.rank() - 2, a.rank() - 1});
}

}}}  // namespace ricci::v0::plain
