// Matrix products, large and small, attention made of them, and convolutions.
#include <cmath>

#include "bench_program.h"

namespace bench {
namespace {

using namespace ricci::lax;  // NOLINT: the programs read like jax.lax
using ricci::DType;
using ricci::Shape;
using ricci::Value;
using ricci::Values;

Prepared Matmul(ricci_ctx* ctx, const Settings& s, int64_t size) {
  const int64_t n = s.small ? 16 : size;
  const ProgramRef f = Trace(ctx, {{{n, n}}, {{n, n}}}, [](const Values& in) {
    return Values{dot_general(in[0], in[1], {.lhs_contract = {1}, .rhs_contract = {0}})};
  });
  const auto d = static_cast<double>(n);
  return Ready(ctx, f.get(), {Uniform(n * n), Uniform(n * n, 1)}, 2 * d * d * d);
}

Prepared Bmm6(ricci_ctx* ctx, const Settings& s) {
  const int64_t n = s.small ? 10 : 100000;
  const ProgramRef f = Trace(ctx, {{{n, 6, 6}}}, [](const Values& in) {
    return Values{
        dot_general(in[0], in[0], {.lhs_contract = {2}, .rhs_contract = {1}, .lhs_batch = {0}, .rhs_batch = {0}})};
  });
  return Ready(ctx, f.get(), {Uniform(36 * n)});
}

// Solutions of systems of six equations, one after another: m m^T + 1 is positive definite.
Prepared Chol6(ricci_ctx* ctx, const Settings& s) {
  const int64_t n = s.small ? 10 : 20000;
  const ProgramRef f = Trace(ctx, {{{n, 6, 6}}, {{n, 6, 1}}}, [](const Values& in) {
    const Value &m = in[0], &b = in[1];
    const Value row = iota(m.builder, DType::kI32, m.shape(), 1), column = iota(m.builder, DType::kI32, m.shape(), 2);
    const Value a =
        add(dot_general(m, m, {.lhs_contract = {2}, .rhs_contract = {2}, .lhs_batch = {0}, .rhs_batch = {0}}),
            convert_element_type(eq(row, column), DType::kF32));
    const Value l = linalg::cholesky(a), y = linalg::triangular_solve(l, b, {.left_side = true, .lower = true});
    return Values{linalg::triangular_solve(l, y, {.left_side = true, .lower = true, .transpose_a = true})};
  });
  return Ready(ctx, f.get(), {Uniform(36 * n), Uniform(6 * n, 1)});
}

// Causal self-attention of q [batch, time, head, feature], with q as key and value too.
Value Attend(const Value& q) {
  const double scale = 1 / std::sqrt(static_cast<double>(q.dim(3)));
  const Value scores = mul(
      dot_general(q, q, {.lhs_contract = {3}, .rhs_contract = {3}, .lhs_batch = {0, 2}, .rhs_batch = {0, 2}}), scale);
  const ricci::Dims shape = scores.shape();
  const Value allowed = ge(iota(q.builder, DType::kI32, shape, 2), iota(q.builder, DType::kI32, shape, 3));
  const Value masked = select(allowed, scores, full_like(scores, -1e30));
  const Value top = broadcast_in_dim(stop_gradient(reduce_max(masked, Shape{3})), shape, Shape{0, 1, 2});
  const Value e = exp(sub(masked, top));
  const Value p = div(e, broadcast_in_dim(reduce_sum(e, Shape{3}), shape, Shape{0, 1, 2}));
  const Value out =
      dot_general(p, q, {.lhs_contract = {3}, .rhs_contract = {1}, .lhs_batch = {0, 1}, .rhs_batch = {0, 2}});
  return transpose(out, Shape{0, 2, 1, 3});
}

// The same as one operation.
Value AttendByPrimitive(const Value& q) {
  return ricci::EmitN(2, "dot_product_attention", Values{q, q, q}, {{"is_causal", true}})[0];
}
// A query sees its own place and the 256 before it.
Value AttendInWindow(const Value& q) {
  return ricci::EmitN(2, "dot_product_attention", Values{q, q, q},
                      {{"is_causal", true}, {"local_window_size", Shape{256, 0}}})[0];
}

struct AttentionCase {
  Value (*attend)(const Value& q);
  bool grad = false;
  Shape shape = {4, 1024, 8, 64};
};
Prepared Attention(ricci_ctx* ctx, const Settings& s, const AttentionCase& c) {
  const Shape shape = s.small ? Shape{1, 16, 2, 8} : c.shape;
  ProgramRef f = Trace(ctx, {{shape}}, [=](const Values& in) {
    const Value out = c.attend(in[0]);
    return Values{c.grad ? reduce_sum(out, Shape{0, 1, 2, 3}) : out};
  });
  if (c.grad) f = Grad(f.get(), 1);
  return Ready(ctx, f.get(), {Uniform(ricci::ElementCount(shape))});
}

// A layer of 64 features on images, 3x3, padded so that their size stays.
Prepared Convolution(ricci_ctx* ctx, const Settings& s, bool grad) {
  const int64_t features = s.small ? 4 : 64, size = s.small ? 6 : 56;
  const Shape images = {s.small ? 2 : 8, features, size, size}, weights = {features, features, 3, 3};
  ProgramRef f = Trace(ctx, {{images}, {weights}}, [grad](const Values& in) {
    const Value y = conv_general_dilated(in[0], in[1], Shape{1, 1}, Shape{1, 1, 1, 1});
    return Values{grad ? reduce_sum(mul(y, y), Shape{0, 1, 2, 3}) : y};
  });
  if (grad) f = Grad(f.get(), 2);
  return Ready(ctx, f.get(), {Uniform(ricci::ElementCount(images)), Uniform(ricci::ElementCount(weights), 1)});
}

}  // namespace

std::vector<Case> ProductCases(ricci_ctx* ctx) {
  return {
      {"matmul256", "GFLOP/s", [=](const Settings& s) { return Matmul(ctx, s, 256); }},
      {"matmul1024", "GFLOP/s", [=](const Settings& s) { return Matmul(ctx, s, 1024); }},
      {"matmul2048", "GFLOP/s", [=](const Settings& s) { return Matmul(ctx, s, 2048); }},
      {"bmm6", "ms", [=](const Settings& s) { return Bmm6(ctx, s); }},
      {"chol6", "ms", [=](const Settings& s) { return Chol6(ctx, s); }},
      {"conv", "ms", [=](const Settings& s) { return Convolution(ctx, s, /*grad=*/false); }},
      {"conv_grad", "ms", [=](const Settings& s) { return Convolution(ctx, s, /*grad=*/true); }},
      {"attention", "ms", [=](const Settings& s) { return Attention(ctx, s, {Attend}); }},
      {"attention_grad", "ms",
       [=](const Settings& s) {
         return Attention(ctx, s, {Attend, true});
       }},
      {"attention_nn", "ms", [=](const Settings& s) { return Attention(ctx, s, {AttendByPrimitive}); }},
      {"attention_nn_grad", "ms",
       [=](const Settings& s) {
         return Attention(ctx, s, {AttendByPrimitive, true});
       }},
      {"attention_window", "ms",
       [=](const Settings& s) {
         return Attention(ctx, s, {AttendInWindow, false, {1, 4096, 8, 64}});
       }},
      {"attention_window_grad", "ms",
       [=](const Settings& s) {
         return Attention(ctx, s, {AttendInWindow, true, {1, 4096, 8, 64}});
       }},
  };
}

}  // namespace bench
