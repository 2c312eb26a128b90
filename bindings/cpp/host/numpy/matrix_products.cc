// Powers and chains of matrix products, inverses of tensors, and the Cholesky factor.
#include "host/core/plain_math.h"
#include "ricci/creation.hpp"
#include "ricci/einsum.hpp"
#include "ricci/linalg.hpp"
#include "ricci/products.hpp"

namespace ricci { inline namespace v0 { namespace linalg {

using namespace plain;

namespace {

Value SquareMatrices(std::string_view name, const Location& at, const Value& v) {
  if (v.rank() >= 2 && v.dim(v.rank() - 1) == v.dim(v.rank() - 2)) return v;
  FailAt(at, name, ": operand is ", v.type(), "; its last two dimensions must be those of a square matrix");
}

}  // namespace

Value matrix_power(const Operand& a, int64_t n) {
  Value square = SquareMatrices("matrix_power", a.at, Use("matrix_power", a));
  if (n == 0) {
    const Value one = eye(Operand(square, a.at), square.dim(square.rank() - 1), square.dtype());
    return BroadcastValue(one, square.shape());
  }
  if (n < 0) square = inv(Operand(square, a.at));
  std::optional<Value> out;
  for (uint64_t left = n < 0 ? 0 - static_cast<uint64_t>(n) : static_cast<uint64_t>(n);;) {
    if (left % 2 == 1) out = out ? matmul(*out, square) : square;
    left /= 2;
    if (left == 0) return *out;
    square = matmul(square, square);
  }
}

Value multi_dot(std::initializer_list<Operand> arrays) {
  return multi_dot(std::span<const Operand>(arrays.begin(), arrays.size()));
}
Value multi_dot(std::span<const Operand> arrays) {
  constexpr size_t kMost = 50;  // einsum has 52 letters
  const Location at = arrays.empty() ? Location::Here() : arrays[0].at;
  if (arrays.size() < 2 || arrays.size() > kMost) {
    FailAt(at, "multi_dot: ", Count(arrays.size(), "array"), "; it takes from 2 to ", kMost);
  }
  const auto letter = [](size_t i) { return static_cast<char>(i < 26 ? 'a' + i : 'A' + (i - 26)); };
  std::string text;
  for (size_t i = 0; i < arrays.size(); ++i) {
    const size_t rank = arrays[i].shape().size();
    const bool at_end = i == 0 || i + 1 == arrays.size();
    if (rank != 2 && !(rank == 1 && at_end)) {
      FailAt(at, "multi_dot: operand ", i, " has ", Count(rank, "dimension"),
             "; all are matrices, except that the first and the last may be vectors");
    }
    if (i > 0) text += ',';
    if (rank == 2 || i > 0) text += letter(i);
    if (rank == 2 || i == 0) text += letter(i + 1);
  }
  text += "->";
  if (arrays.front().shape().size() == 2) text += letter(0);
  if (arrays.back().shape().size() == 2) text += letter(arrays.size());
  return EinsumOf(Subscripts(text, at), arrays);
}

Value tensorinv(const Operand& a, int64_t ind) {
  const Value v = UseInexact("tensorinv", a);
  if (ind < 1 || ind > v.rank())
    FailAt(a.at, "tensorinv: ind is ", ind, " for ", v.type(), "; it must be from 1 to its rank");
  const Dims rows = v.shape().first(static_cast<size_t>(ind)), columns = v.shape().subspan(static_cast<size_t>(ind));
  const int64_t n = ElementCount(rows), m = ElementCount(columns);
  if (n != m)
    FailAt(a.at, "tensorinv: the first ", Count(ind, "dimension"), " of ", v.type(), ind == 1 ? " has " : " have ",
           Count(n, "element"), ", the others ", m);
  Shape shape(columns.begin(), columns.end());
  shape.insert(shape.end(), rows.begin(), rows.end());
  return lax::reshape(inv(Operand(lax::reshape(v, Shape{n, n}), a.at)), shape);
}

namespace {

// With these dimensions moved to the end, in their order.
Value MovedToEnd(const Operand& a, const Value& v, const Shape& axes) {
  std::vector<bool> moved(static_cast<size_t>(v.rank()));
  Shape order, last;
  for (int64_t axis : axes) {
    const int64_t d = Axis("tensorsolve", a.at, axis, v.rank());
    if (moved[static_cast<size_t>(d)]) FailAt(a.at, "tensorsolve: axis ", axis, " occurs twice");
    moved[static_cast<size_t>(d)] = true;
    last.push_back(d);
  }
  for (int64_t d = 0; d < v.rank(); ++d) {
    if (!moved[static_cast<size_t>(d)]) order.push_back(d);
  }
  order.insert(order.end(), last.begin(), last.end());
  return lax::transpose(v, order);
}

}  // namespace

Value tensorsolve(const Operand& a, const Operand& b, const Shape& axes) {
  const Operand in[] = {a, b};
  const CallSite site = SiteOf("tensorsolve", in);
  const DType dtype = ToInexact(PromotedDType(site, in));
  const Value m = MovedToEnd(a, To(site.Lift(a, dtype), dtype), axes), right = To(site.Lift(b, dtype), dtype);
  const auto rank = static_cast<size_t>(right.rank());
  if (m.rank() < right.rank() || !SameDims(m.shape().first(rank), right.shape())) {
    site.Fail("operands are ", m.type(), " and ", right.type(), "; the first dimensions of a must be those of b");
  }
  const Dims rest = m.shape().subspan(rank);
  const int64_t n = ElementCount(right.shape());
  if (n != ElementCount(rest))
    site.Fail("a is ", m.type(), " and b has ", n, " elements; the other dimensions of a need as many");
  const Value x = solve(Operand(lax::reshape(m, Shape{n, n}), a.at), Operand(lax::reshape(right, Shape{n}), a.at));
  return lax::reshape(x, Shape(rest.begin(), rest.end()));
}

Value cholesky(const Operand& a, bool upper) {
  const Value m = SquareMatrices("cholesky", a.at, UseInexact("cholesky", a));
  const auto adjoint = [&](const Value& v) {
    const Value t = swapaxes(Operand(v, a.at), -1, -2);
    return IsComplex(t.dtype()) ? lax::conj(t) : t;
  };
  const Value l = lax::linalg::cholesky((m + adjoint(m)) / 2);
  return upper ? adjoint(l) : l;
}

}}}  // namespace ricci::v0::linalg
