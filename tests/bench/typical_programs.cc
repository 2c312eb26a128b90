#include "typical_programs.h"

namespace bench {

using namespace ricci::lax;  // NOLINT: the programs read like jax.lax
using ricci::ArrayType;
using ricci::Dims;
using ricci::DType;
using ricci::Shape;
using ricci::Value;
using ricci::Values;

namespace {

Value AlongRows(const Value& v, Dims shape) { return broadcast_in_dim(v, shape, Shape{0}); }

// ---- pendulum ----
Value Acceleration(const Value& angle, const Value& speed) { return sub(neg(sin(angle)), mul(0.1, speed)); }
Value Ahead(const Value& x, double h, const Value& slope) { return add(x, mul(h, slope)); }
Value Weighted(const Value& x, double h, const Value& k1, const Value& k2, const Value& k3, const Value& k4) {
  return Ahead(x, h / 6, add(add(add(k1, mul(2.0, k2)), mul(2.0, k3)), k4));
}
Values Rk4(const Values& in) {
  const double h = 0.01;
  const Value th = in[0], w = in[1];
  const Value b1 = Acceleration(th, w);
  const Value a2 = Ahead(w, h / 2, b1), b2 = Acceleration(Ahead(th, h / 2, w), a2);
  const Value a3 = Ahead(w, h / 2, b2), b3 = Acceleration(Ahead(th, h / 2, a2), a3);
  const Value a4 = Ahead(w, h, b3), b4 = Acceleration(Ahead(th, h, a3), a4);
  return {Weighted(th, h, w, a2, a3, a4), Weighted(w, h, b1, b2, b3, b4)};
}

// ---- lattice ----
constexpr int kCx[9] = {0, 1, 0, -1, 0, 1, -1, -1, 1}, kCy[9] = {0, 0, 1, 0, -1, 1, 1, -1, -1};

Value Roll(const Value& x, int64_t shift, int64_t axis) {
  const int64_t n = x.dim(axis), cut = shift > 0 ? n - shift : -shift;
  if (shift == 0) return x;
  const Value parts[] = {slice_in_dim(x, cut, n, axis), slice_in_dim(x, 0, cut, axis)};
  return concatenate(parts, axis);
}
// sum of c[i] f[i]
Value Moment(const Values& f, const int (&c)[9]) {
  Value sum;
  for (size_t i = 0; i < 9; ++i) {
    if (c[i] == 0) continue;
    const Value term = c[i] == 1 ? f[i] : neg(f[i]);
    sum = sum.is_none() ? term : add(sum, term);
  }
  return sum;
}

}  // namespace

Values Gelu(const Values& in) {
  const Value y = add(in[0], in[1]);
  const Value cube = mul(mul(y, y), y);
  const Value t = tanh(mul(0.7978845608, add(y, mul(0.044715, cube))));
  return {mul(mul(0.5, y), add(t, 1.0))};
}

Values Softmax(const Values& in) {
  const Value x = in[0], top = stop_gradient(reduce_max(x, Shape{1}));
  const Value e = exp(sub(x, AlongRows(top, x.shape())));
  return {div(e, AlongRows(reduce_sum(e, Shape{1}), x.shape()))};
}

Values Layernorm(const Values& in) {
  const Value x = in[0];
  const double scale = 1.0 / static_cast<double>(x.dim(1));
  const Value mean = mul(reduce_sum(x, Shape{1}), scale);
  const Value centred = sub(x, AlongRows(mean, x.shape()));
  const Value variance = mul(reduce_sum(mul(centred, centred), Shape{1}), scale);
  return {mul(centred, AlongRows(rsqrt(add(variance, 1e-5)), x.shape()))};
}

ProgramRef Pendulum(ricci_ctx* ctx, int64_t length, bool grad) {
  const std::vector<Param> state(2, Param{});
  const ProgramRef body = Trace(ctx, state, Rk4);
  const ProgramRef f = Trace(ctx, state, [&](const Values& in) {
    const Values out = Scan(body.get(), in, length);
    return grad ? Values{out[0]} : out;
  });
  return grad ? Grad(f.get(), 2) : f;
}

Values LatticeStep(const Values& in) {
  const int64_t n = in[0].dim(1);
  Values f;
  for (int64_t i = 0; i < 9; ++i) f.push_back(squeeze(slice_in_dim(in[0], i, i + 1, 0), Shape{0}));
  const Value rho = reduce_sum(in[0], Shape{0}), u = div(Moment(f, kCx), rho), v = div(Moment(f, kCy), rho);
  const Value square = mul(1.5, add(mul(u, u), mul(v, v)));
  Values out;
  for (size_t i = 0; i < 9; ++i) {
    const Value cu = mul(3.0, add(mul(kCx[i], u), mul(kCy[i], v)));
    const Value shape = sub(add(add(cu, 1.0), mul(0.5, mul(cu, cu))), square);
    const Value moved = Roll(Roll(mul(mul(rho, kLatticeWeights[i]), shape), kCx[i], 0), kCy[i], 1);
    out.push_back(reshape(moved, Shape{1, n, n}));
  }
  return {concatenate(out, 0)};
}

namespace {

Value Table(ricci_builder* b, Dims shape, DType dtype, const void* data, size_t bytes) {
  Value out{b};
  ricci::Check(
      ricci_builder_const(b, ArrayType::Make(ricci_builder_context(b), dtype, shape).id(), data, bytes, &out.id));
  return out;
}
// Each of the nine arrays along `axis`, from n - shift on.
Value RollEach(const Value& x, const int (&shifts)[9], int64_t axis) {
  const int64_t n = x.dim(axis);
  int32_t starts[9];
  for (size_t i = 0; i < 9; ++i) starts[i] = static_cast<int32_t>((n - shifts[i]) % n);
  const Value at = Table(x.builder, Shape{9, 1}, DType::kI32, starts, sizeof starts);
  const Value parts[] = {x, x};
  const GatherDims dims{.offset_dims = {1, 2},
                        .start_index_map = {axis},
                        .operand_batching_dims = {0},
                        .start_indices_batching_dims = {0}};
  return gather(concatenate(parts, axis), at, dims, Shape{1, x.dim(1), x.dim(2)}, "clip");
}

}  // namespace

Values StreamStep(const Values& in) {
  const Value f = in[0];
  const Shape all(f.shape().begin(), f.shape().end()), of_grid = {1, 2}, of_direction = {0};
  const auto each = [&](const Value& v) { return broadcast_in_dim(v, all, of_grid); };
  const auto directions = [&](const auto& numbers) {
    float table[9];
    std::copy(std::begin(numbers), std::end(numbers), table);
    return broadcast_in_dim(Table(f.builder, Shape{9}, DType::kF32, table, sizeof table), all, of_direction);
  };
  const Value x = directions(kCx), y = directions(kCy), rho = reduce_sum(f, Shape{0});
  const Value u = div(reduce_sum(mul(x, f), Shape{0}), rho), v = div(reduce_sum(mul(y, f), Shape{0}), rho);
  const Value square = mul(1.5, add(mul(u, u), mul(v, v)));
  const Value cu = mul(3.0, add(mul(x, each(u)), mul(y, each(v))));
  const Value shape = sub(add(add(cu, 1.0), mul(0.5, mul(cu, cu))), each(square));
  const Value equilibrium = mul(mul(directions(kLatticeWeights), each(rho)), shape);
  const Value after = sub(f, mul(1.2, sub(f, equilibrium)));
  return {RollEach(RollEach(after, kCx, 1), kCy, 2)};
}

}  // namespace bench
