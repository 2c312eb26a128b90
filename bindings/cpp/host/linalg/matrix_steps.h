// Steps on matrices, the last two dimensions of a Value, that the files of scipy_linalg.hpp share.
#ifndef RICCI_BINDINGS_CPP_HOST_MATRIX_STEPS_H_
#define RICCI_BINDINGS_CPP_HOST_MATRIX_STEPS_H_
#include "host/core/plain_math.h"

namespace ricci { inline namespace v0 { namespace plain {

inline int64_t RowsOf(const Value& a) { return a.dim(a.rank() - 2); }
inline int64_t ColumnsOf(const Value& a) { return a.dim(a.rank() - 1); }
inline Dims BatchOf(const Value& a) { return a.shape().first(a.shape().size() - 2); }
// The operand in a floating dtype; throws unless its last two dimensions are those of a matrix, or a square one.
Value AnyMatrices(std::string_view name, const Operand& a);
Value SquareMatrices(std::string_view name, const Operand& a);
Value Adjoint(const Value& a);
inline Value RowNumbers(const Value& a) { return Positions(a, DType::kI32, a.rank() - 2); }
inline Value ColumnNumbers(const Value& a) { return Positions(a, DType::kI32, a.rank() - 1); }
inline Value IsDiagonal(const Value& a) { return RowNumbers(a) == ColumnNumbers(a); }
// The diagonal, or with `above` the one so many positions above it, of square matrices as a vector that begins with its
// first element and ends with zeros.
Value DiagonalOf(const Value& a, int64_t above = 0);
// A number of each matrix as each element of it.
Value OverMatrix(const Value& v, const Value& like);
// v with the last `own` dimensions as they are, and those before broadcast to `batch`.
Value WithBatch(const Value& v, Dims batch, int64_t own = 2);
// Column k, or row k, of each matrix as one with a single column; k is a scalar i32.
Value ColumnAt(const Value& a, const Value& k);
Value RowAt(const Value& a, const Value& k);
// Element (k, k) of each matrix.
Value CornerAt(const Value& a, const Value& k);

}}}  // namespace ricci::v0::plain
#endif
