// Diagonals and triangles of matrices, and indices of flattened arrays.
#include <algorithm>

#include "host/core/plain_math.h"
#include "ricci/creation.hpp"

namespace ricci { inline namespace v0 {

using namespace plain;

Value diagonal(const Operand& x, int64_t offset, AxisNumber axis1, AxisNumber axis2) {
  const Value v = Use("diagonal", x);
  if (v.rank() < 2) FailAt(x.at, "diagonal: ", v.type(), " has fewer than 2 dimensions");
  const int64_t rows = Axis("diagonal", x.at, axis1, v.rank()), columns = Axis("diagonal", x.at, axis2, v.rank());
  if (rows == columns) FailAt(x.at, "diagonal: both axes are ", rows);
  Shape order;
  for (int64_t d = 0; d < v.rank(); ++d) {
    if (d != rows && d != columns) order.push_back(d);
  }
  order.push_back(rows);
  order.push_back(columns);
  Value last = lax::transpose(v, order);
  const int64_t r = last.rank() - 2, n = last.dim(r), m = last.dim(r + 1);
  const int64_t row = offset < 0 ? std::min(n, -std::max(offset, -n)) : 0,
                column = offset > 0 ? std::min(m, offset) : 0;
  const int64_t count = std::min(n - row, m - column);
  last = Cut(Cut(last, row, row + count, r), column, column + count, r + 1);
  const Value i = Positions(last, DType::kI32, r), j = Positions(last, DType::kI32, r + 1),
              masked = Where(i == j, last, 0);
  if (last.dtype() == DType::kBool) return lax::reduce_or(masked, {&r, 1});
  return lax::reduce_sum(masked, {&r, 1});
}
Value trace(const Operand& x, int64_t offset, AxisNumber axis1, AxisNumber axis2) {
  return sum(Operand(diagonal(x, offset, axis1, axis2), x.at), -1);
}

namespace {

// A vector on diagonal k of a square matrix.
Value OnDiagonal(const Operand& x, const Value& v, int64_t k) {
  const int64_t n = v.dim(0), size = AsDimension(Exact(n) + Exact(k < 0 ? -std::max(k, -INT64_MAX) : k), "diag: size ");
  const Value padded =
      lax::pad(v, Scalar(v, 0), Shape{std::max<int64_t>(k, 0)}, Shape{std::max<int64_t>(-k, 0)}, Shape{0});
  const Value mask = eye(Operand(v, x.at), size, size, k, DType::kBool);
  return Where(mask, lax::broadcast_in_dim(padded, Shape{size, size}, Shape{1}), 0);
}

}  // namespace

Value diag(const Operand& x, int64_t k) {
  const Value v = Use("diag", x);
  if (v.rank() == 1) return OnDiagonal(x, v, k);
  if (v.rank() != 2) FailAt(x.at, "diag: operand is ", v.type(), "; it must have 1 or 2 dimensions");
  return diagonal(Operand(v, x.at), k);
}
Value diagflat(const Operand& x, int64_t k) {
  const Value v = Use("diagflat", x);
  return OnDiagonal(x, ravel(Operand(v, x.at)), k);
}
Value fill_diagonal(const Operand& x, const Operand& value) {
  const Operand in[] = {x, value};
  const CallSite site = SiteOf("fill_diagonal", in);
  const Value v = site.Lift(x, DType::kNone);
  if (v.rank() < 2) site.Fail(v.type(), " has fewer than 2 dimensions");
  const Value given = To(site.Lift(value, v.dtype()), v.dtype());
  const int64_t n = *std::min_element(v.shape().begin(), v.shape().end()), count = given.type().elements(), first = 0;
  if (v.rank() > 2 && !std::all_of(v.shape().begin(), v.shape().end(), [&](int64_t d) { return d == n; })) {
    site.Fail(v.type(), " has more than 2 dimensions; they must be of one size");
  }
  if (count == 0) site.Fail("there is no value");
  Value on = lax::reshape(given, {&count, 1});
  if (count > 1) on = Cut(Emit1("tile", {on}, {{"reps", Shape{(n + count - 1) / count}}}), 0, n, 0);
  Value mask = Positions(v, DType::kI32, 0) == Positions(v, DType::kI32, 1);
  for (int64_t d = 2; d < v.rank(); ++d) mask = mask & (Positions(v, DType::kI32, 0) == Positions(v, DType::kI32, d));
  const Value line = count == 1 ? BroadcastValue(on, Shape{n}) : on;
  const Value padded = lax::pad(line, Scalar(v, 0), Shape{0}, Shape{v.dim(0) - n}, Shape{0});
  return Where(mask, lax::broadcast_in_dim(padded, v.shape(), {&first, 1}), v);
}

namespace {

// Rows and columns for which `keep` is true, row by row, as constants.
template <typename Keep>
std::pair<Value, Value> IndicesWhere(std::string_view name, const Operand& in, int64_t n, int64_t m, Keep keep) {
  const CallSite site = SiteOf(name, {&in, 1});
  if (n < 0 || m < 0) site.Fail("sizes are ", n, " and ", m, "; they must not be negative");
  std::vector<int32_t> rows, columns;
  for (int64_t i = 0; i < n; ++i) {
    for (int64_t j = 0; j < m; ++j) {
      if (!keep(i, j)) continue;
      rows.push_back(static_cast<int32_t>(i));
      columns.push_back(static_cast<int32_t>(j));
    }
  }
  const auto constant = [&](const std::vector<int32_t>& data) {
    const ArrayType type = MakeTypeAt(site.at, site.context(), DType::kI32, Shape{static_cast<int64_t>(data.size())});
    Value out{site.builder, RICCI_VAL_NONE, site.scope};
    if (data.empty())
      CheckAt(site.at, ricci_builder_zero(site.builder, type.id(), &out.id));
    else
      CheckAt(site.at, ricci_builder_const(site.builder, type.id(), data.data(), 4 * data.size(), &out.id));
    return out;
  };
  return {constant(rows), constant(columns)};
}
Dims MatrixShape(std::string_view name, const Operand& x) {
  if (x.shape().size() != 2)
    FailAt(x.at, name, ": operand has ", Count(static_cast<int64_t>(x.shape().size()), "dimension"),
           "; it must have 2");
  return x.shape();
}

}  // namespace

std::pair<Value, Value> tril_indices(const Operand& in, int64_t n, int64_t k, std::optional<int64_t> m) {
  return IndicesWhere("tril_indices", in, n, m.value_or(n), [=](int64_t i, int64_t j) { return j - i <= k; });
}
std::pair<Value, Value> triu_indices(const Operand& in, int64_t n, int64_t k, std::optional<int64_t> m) {
  return IndicesWhere("triu_indices", in, n, m.value_or(n), [=](int64_t i, int64_t j) { return j - i >= k; });
}
std::pair<Value, Value> tril_indices_from(const Operand& x, int64_t k) {
  const Dims shape = MatrixShape("tril_indices_from", x);
  return tril_indices(x, shape[0], k, shape[1]);
}
std::pair<Value, Value> triu_indices_from(const Operand& x, int64_t k) {
  const Dims shape = MatrixShape("triu_indices_from", x);
  return triu_indices(x, shape[0], k, shape[1]);
}
Values diag_indices(const Operand& in, int64_t n, int64_t ndim) {
  if (ndim < 1) FailAt(in.at, "diag_indices: ndim is ", ndim, "; it must be at least 1");
  return Values(static_cast<size_t>(ndim), arange(in, n));
}
Values diag_indices_from(const Operand& x) {
  const Dims shape = x.shape();
  if (shape.size() < 2 || !std::all_of(shape.begin(), shape.end(), [&](int64_t d) { return d == shape[0]; })) {
    FailAt(x.at, "diag_indices_from: shape is ", shape, "; it must have at least 2 dimensions of one size");
  }
  return diag_indices(x, shape[0], static_cast<int64_t>(shape.size()));
}

Values unravel_index(const Operand& i, const Shape& shape) {
  Value rest = Use("unravel_index", i);
  if (!IsInt(rest.dtype())) FailAt(i.at, "unravel_index: operand is ", rest.type(), "; it must be an integer");
  const auto total = static_cast<double>(ElementCount(shape));
  if (!In(rest.dtype(), kUnsigned)) rest = Where(rest < 0, rest + total, rest);
  rest = Max(Min(rest, Scalar(rest, total - 1)), Scalar(rest, 0));
  Values out(shape.size());
  for (size_t d = shape.size(); d-- > 0;) {
    const auto n = static_cast<double>(shape[d]);
    out[d] = lax::rem(rest, Num(rest, n));
    rest = lax::div(rest, Num(rest, n));
  }
  return out;
}
Value ravel_multi_index(const Values& indices, const Shape& shape, std::string_view mode, Location at) {
  if (indices.empty() || indices.size() != shape.size()) {
    FailAt(at, "ravel_multi_index: ", indices.size(), indices.size() == 1 ? " index" : " indices", " for shape ",
           shape);
  }
  if (mode != "clip" && mode != "wrap") FailAt(at, "ravel_multi_index: mode is ", mode, "; it must be clip or wrap");
  std::vector<Operand> operands;
  for (const Value& v : indices) operands.emplace_back(v, at);
  const Values in = UseTogether("ravel_multi_index", operands);
  Value out = lax::zeros_like(in[0]);
  for (size_t d = 0; d < shape.size(); ++d) {
    const auto n = static_cast<double>(shape[d]);
    const Value i = mode == "clip" ? Max(Min(in[d], Scalar(in[d], n - 1)), Scalar(in[d], 0))
                                   : remainder(Operand(in[d], at), Operand(Num(in[d], n), at));
    out = out * n + i;
  }
  return out;
}

}}  // namespace ricci::v0
