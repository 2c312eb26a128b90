// A plugin in C++: block_tridiagonal.solve(l, d, u, b), the x with A x = b, where row i of the block matrix A is
// [.. l[i] d[i] u[i] ..]: l[i] stands left of the diagonal, u[i] right of it, and l[0] and u[n-1] are not read.
//
// l, d and u are [batch..., n, k, k], b and x [batch..., n, k, columns]. The rows of blocks are eliminated in order
// (Golub and Van Loan, "Matrix Computations", 4.5), each block by Gauss-Jordan elimination with pivots from its own
// rows; pivots are not looked for in other blocks, so matrices should be dominated by their diagonal blocks, or
// definite. All derivatives are solves: of the same matrix, or of its transpose. This file has the row,
// block_elimination.hpp the loops.
#include "block_elimination.hpp"

namespace block_tridiagonal { namespace {

using namespace ricci;

// ---- types ----
constexpr DTypeSet kTaken = SetOf(DType::kF32) | SetOf(DType::kF64);

ArrayTypes Type(const Eqn& e) {
  e.WantOperands(4);
  rules::WantDType(e, 0, kTaken);
  const ArrayType blocks = e.in(0), b = e.in(3);
  const int64_t rank = blocks.rank();
  if (rank < 3 || blocks.dim(rank - 2) != blocks.dim(rank - 1)) {
    e.Fail("operand 0 is ", blocks, "; its last dimensions must be rows of blocks, then square blocks");
  }
  for (uint32_t i = 1; i < 3; ++i) {
    if (e.in(i) != blocks) e.Fail("operands 0 and ", i, " are ", blocks, " and ", e.in(i), "; they must have one type");
  }
  const auto upto = blocks.shape().size() - 1;
  if (b.dtype() != blocks.dtype() || b.rank() != rank || !SameDims(b.shape().first(upto), blocks.shape().first(upto))) {
    e.Fail("operands 0 and 3 are ", blocks, " and ", b,
           "; b must have their dtype and dimensions, but for its columns");
  }
  return b;
}

// ---- derivatives ----
int64_t RowOf(const Value& x) { return x.rank() - 3; }
// Row i of the result is row i - 1 of x (down) or i + 1; zeros where there is none.
Value Moved(const Value& x, bool down) {
  const int64_t row = RowOf(x), n = x.dim(row);
  Shape none(static_cast<size_t>(x.rank()), 0), one = none;
  one[static_cast<size_t>(row)] = 1;
  const Value kept = lax::slice_in_dim(x, down ? 0 : 1, down ? n - 1 : n, row);
  return lax::pad(kept, lax::zeros(x.builder, x.type().WithShape({})), down ? one : none, down ? none : one, none);
}
// Each block times the block of x in its place.
Value BlockProduct(const Value& blocks, const Value& x) {
  const int64_t row = blocks.rank() - 2;
  const Shape leading = rules::Range(row);
  return lax::dot_general(blocks, x, {{row + 1}, {row}, leading, leading});
}
// A x of the matrix with these blocks, of which some may be zero; the symbolic zero if all are.
Value Product(std::span<const Value> blocks, const Value& x) {
  Value sum = Value::Zero(x.builder);
  const auto add_up = [&](const Value& part) { sum = sum.is_zero() ? part : lax::add(sum, part); };
  if (!blocks[0].is_zero()) add_up(BlockProduct(blocks[0], Moved(x, /*down=*/true)));
  if (!blocks[1].is_zero()) add_up(BlockProduct(blocks[1], x));
  if (!blocks[2].is_zero()) add_up(BlockProduct(blocks[2], Moved(x, /*down=*/false)));
  return sum;
}
// A dx = db - dA x.
void JvpRule(const Eqn& e, Jvp& a) {
  a.out = e.EmitN(a.primals);
  if (e.out().elements() == 0) return;
  Value right = a.tangents[3];
  const Value moved = Product(std::span(a.tangents).first(3), a.out[0]);
  if (!moved.is_zero()) right = right.is_zero() ? lax::neg(moved) : lax::sub(right, moved);
  if (!right.is_zero()) a.out_tangents[0] = e.Emit({a.primals[0], a.primals[1], a.primals[2], right});
}
Value BlocksTransposed(const Value& blocks) {
  Shape order = rules::Range(blocks.rank());
  std::swap(order[order.size() - 2], order[order.size() - 1]);
  return lax::transpose(blocks, order);
}
// The transposed matrix has the blocks of the other side, transposed, of the row before or after.
Value RightCt(const Eqn& e, const Value& ct, std::span<const Value> in) {
  if (e.out().elements() == 0) return ct;
  const Value lower = BlocksTransposed(Moved(in[2], /*down=*/true));
  const Value upper = BlocksTransposed(Moved(in[0], /*down=*/false));
  return e.Emit({lower, BlocksTransposed(in[1]), upper, ct});
}

// ---- batch ----
// Right-hand sides of one matrix become columns, so that it is eliminated once.
Batched BatchOfRight(const Eqn& e, const Batch& a) {
  const int64_t columns = e.in(3).rank() - 1;
  const Value b = rules::MoveDim(a.in[3].value, a.in[3].dim, columns);
  Shape joined(e.in(3).shape().begin(), e.in(3).shape().end());
  joined.back() = AsDimension(Exact(joined.back()) * a.size, e.name(), ": columns of the batch ");
  const Value x = e.Emit({a.in[0].value, a.in[1].value, a.in[2].value, lax::reshape(b, joined)});
  return {lax::reshape(x, b.shape()), columns};
}
Values EmitBatched(const Eqn& e, std::span<const Value> in, int64_t) { return e.EmitN(in); }
void BatchRule(const Eqn& e, Batch& a) {
  const bool one_matrix = std::none_of(a.in.begin(), a.in.begin() + 3, [](const Batched& x) { return x.is_batched(); });
  if (one_matrix) return (void)(a.out[0] = BatchOfRight(e, a));
  rules::BatchAllFirst<EmitBatched>(e, a);
}

// ---- factors: batches and columns are split, rows and blocks are not ----
std::string Factors(const Eqn& e) {
  std::string batch;
  for (int64_t i = 0; i + 3 < e.in(0).rank(); ++i) batch += rules::Letter(i) + "0 ";
  const std::string right = batch + "row k column";
  std::string out;
  for (const char* side : {"l", "d", "u"}) {
    out += batch;
    for (const char* dim : {"row", "left", "right"}) out += Text(" ", side, dim);
    out += ", ";
  }
  out += right + " -> " + batch + "row k column; whole row k";
  for (const char* side : {"l", "d", "u"}) out += Text(" ", side, "row ", side, "left ", side, "right");
  return out;
}

constexpr Row kRows[] = {
    {.name = "block_tridiagonal.solve",
     .doc =
         "x = block_tridiagonal.solve(l, d, u, b): the solution of A x = b, where A has blocks l left of its diagonal "
         "d and u right of it, l[0] and u[n-1] left out; NaN or infinite if a block is singular when it is eliminated",
     .flags = RICCI_PRIM_EXPENSIVE,
     .type = Type,
     .jvp = JvpRule,
     .transpose = rules::TransposeEach<nullptr, nullptr, nullptr, RightCt>,
     .batch = BatchRule,
     .factors_of = Factors,
     .lowerings = lower::Loops<Eliminate>,
     .examples = "program (%l: f64[3,2,2] in -0.4..0.4, %s: f64[3,2,2] in -0.4..0.4, %u: f64[3,2,2] in -0.4..0.4,"
                 "         %b: f64[3,2,2]) {"
                 "  %i: f64[2,2] = constant [0.0, 3.0, 3.0, 0.0]"  // off the diagonal, so rows change places
                 "  %j: f64[3,2,2] = broadcast_in_dim(%i) shape=[3,2,2] broadcast_dimensions=[1,2]"
                 "  %d: f64[3,2,2] = add(%s, %j)"
                 "  %x: f64[3,2,2] = block_tridiagonal.solve(%l, %d, %u, %b) return %x }; "
                 "(f64[4,1,1] in -0.5..0.5, f64[4,1,1] in 2..3, f64[4,1,1] in -0.5..0.5, f64[4,1,3]); "
                 "(f64[2,1,1,1] in 1..2, f64[2,1,1,1] in 1..2, f64[2,1,1,1] in 1..2, f64[2,1,1,2]); "
                 "program (%l: f32[3,2,2] in -0.4..0.4, %s: f32[3,2,2] in -0.4..0.4, %b: f32[3,2,2]) {"
                 "  %i: f32[2,2] = constant [0.0, 3.0, 3.0, 0.0]"
                 "  %j: f32[3,2,2] = broadcast_in_dim(%i) shape=[3,2,2] broadcast_dimensions=[1,2]"
                 "  %d: f32[3,2,2] = add(%s, %j)"
                 "  %x: f32[3,2,2] = block_tridiagonal.solve(%l, %d, %l, %b) return %x }; "
                 "(f64[2,1,1], f64[2,1,1], f64[2,1,1], f64[2,1,0]); "
                 "(f32[5,1,1] in -0.5..0.5, f32[5,1,1] in 2..3, f32[5,1,1] in -0.5..0.5, f32[5,1,2])"}};

RowList Rows() { return kRows; }
RowList (*const kTables[])() = {Rows};
ricci_status* Attach(void*, ricci_ctx* ctx) { return AttachRows(ctx, kTables); }
constexpr ricci_plugin kPlugin = Describe("block_tridiagonal", "0.1.0", Attach);

}  // namespace
}  // namespace block_tridiagonal

extern "C" ricci_status* ricci_plugin_query_block_tridiagonal(const ricci_host_info*, const ricci_plugin** out) {
  *out = &block_tridiagonal::kPlugin;
  return nullptr;
}
