// ricci_cuda_quality: prints the CUDA text of typical programs, for quality.py: a line `==== name` before each. A
// program that the backend does not take gives a line `!!!! message` in place of its text.
#include <cmath>
#include <cstdio>
#include <exception>

#include "bench/bench_program.h"
#include "cuda/simulated_gpu.h"

namespace ricci::testing { namespace {

using namespace ricci::lax;  // NOLINT: the programs read like jax.lax
using bench::Param;
using bench::ProgramRef;

constexpr int64_t kMany = 1 << 20, kRows = 4096;
constexpr DType kF32 = DType::kF32, kBF16 = DType::kBF16;

struct Program {
  const char* name;
  ProgramRef program;
};

// ---- elementwise ----
Values Gelu(const Values& in) {
  const Value y = add(in[0], in[1]), cube = mul(mul(y, y), y);
  const Value t = tanh(mul(0.7978845608, add(y, mul(0.044715, cube))));
  return {mul(mul(0.5, y), add(t, 1.0))};
}
Values Fused(const Values& in) {  // 1 to 4 operands
  Value y = add(mul(in[0], in[0]), 1.0);
  for (size_t i = 1; i < in.size(); ++i) y = add(mul(y, in[i]), 0.5);
  return {y};
}
Value AlongColumns(const Value& v, Dims shape) { return broadcast_in_dim(v, shape, Shape{1}); }
Values BiasAndScale(const Values& in) {
  return {add(mul(in[0], AlongColumns(in[1], in[0].shape())), AlongColumns(in[2], in[0].shape()))};
}
Values PlusTransposed(const Values& in) { return {add(in[0], transpose(in[1], Shape{1, 0}))}; }
Values Reversed(const Values& in) { return {add(in[0], rev(in[1], Shape{0}))}; }
Values EveryOther(const Values& in) {
  return {mul(Emit1("slice", {in[0]},
                    {{"start_indices", Shape{0}}, {"limit_indices", Shape{2 * kMany}}, {"strides", Shape{2}}}),
              2.0)};
}
Values Masked(const Values& in) { return {select(in[0], in[1], mul(in[1], 0.5))}; }

// ---- rows and columns ----
Value AlongRows(const Value& v, Dims shape) { return broadcast_in_dim(v, shape, Shape{0}); }
Values Softmax(const Values& in) {
  const Value x = in[0], top = stop_gradient(reduce_max(x, Shape{1}));
  const Value e = exp(sub(x, AlongRows(top, x.shape())));
  return {div(e, AlongRows(reduce_sum(e, Shape{1}), x.shape()))};
}
Values Layernorm(const Values& in) {
  const Value x = in[0];
  const double scale = 1.0 / static_cast<double>(x.dim(1));
  const Value mean = mul(reduce_sum(x, Shape{1}), scale), centred = sub(x, AlongRows(mean, x.shape()));
  const Value variance = mul(reduce_sum(mul(centred, centred), Shape{1}), scale);
  return {mul(centred, AlongRows(rsqrt(add(variance, 1e-5)), x.shape()))};
}
Values ColumnSum(const Values& in) { return {reduce_sum(in[0], Shape{0})}; }
Values Total(const Values& in) { return {reduce_sum(in[0], Shape{0})}; }
Values Transposed(const Values& in) { return {transpose(in[0], Shape{1, 0})}; }
Values GatherRows(const Values& in) {
  const GatherDims dims{.offset_dims = {1}, .collapsed_slice_dims = {0}, .start_index_map = {0}};
  return {gather(in[0], in[1], dims, Shape{1, in[0].dim(1)}, "clip")};
}
Values Bits(const Values& in) {
  const Value key = Emit1("random_wrap", {in[0]});
  return {Emit1("random_bits", {key}, {{"shape", Shape{kMany}}, {"bit_width", 32}})};
}

// ---- lanes ----
Value Acceleration(const Value& angle, const Value& speed) { return sub(neg(sin(angle)), mul(0.1, speed)); }
Value Ahead(const Value& x, double h, const Value& slope) { return add(x, mul(h, slope)); }
Values Rk4(const Values& in) {
  const double h = 0.01;
  const Value th = in[0], w = in[1], b1 = Acceleration(th, w);
  const Value a2 = Ahead(w, h / 2, b1), b2 = Acceleration(Ahead(th, h / 2, w), a2);
  const Value a3 = Ahead(w, h / 2, b2), b3 = Acceleration(Ahead(th, h / 2, a2), a3);
  const Value a4 = Ahead(w, h, b3), b4 = Acceleration(Ahead(th, h, a3), a4);
  const auto weighted = [&](const Value& x, const Value& k1, const Value& k2, const Value& k3, const Value& k4) {
    return Ahead(x, h / 6, add(add(add(k1, mul(2.0, k2)), mul(2.0, k3)), k4));
  };
  return {weighted(th, w, a2, a3, a4), weighted(w, b1, b2, b3, b4)};
}
ProgramRef Pendulum(ricci_ctx* ctx, bool grad) {
  const std::vector<Param> state(2, Param{});
  const ProgramRef body = bench::Trace(ctx, state, Rk4);
  ProgramRef f = bench::Trace(ctx, state, [&](const Values& in) {
    const Values out = bench::Scan(body.get(), in, 1000);
    return grad ? Values{out[0]} : out;
  });
  if (grad) f = bench::Grad(f.get(), 2);
  return bench::Vmap(f.get(), 65536);
}
Values Cholesky(const Values& in) { return {linalg::cholesky(in[0])}; }

// ---- a step of lattice Boltzmann, D2Q9 on a periodic grid ----
constexpr int kCx[9] = {0, 1, 0, -1, 0, 1, -1, -1, 1}, kCy[9] = {0, 0, 1, 0, -1, 1, 1, -1, -1};
constexpr double kWeight[9] = {4.0 / 9, 1.0 / 9, 1.0 / 9, 1.0 / 9, 1.0 / 9, 1.0 / 36, 1.0 / 36, 1.0 / 36, 1.0 / 36};
Value Roll(const Value& x, int64_t shift, int64_t axis) {
  const int64_t n = x.dim(axis), cut = shift > 0 ? n - shift : -shift;
  if (shift == 0) return x;
  const Value parts[] = {slice_in_dim(x, cut, n, axis), slice_in_dim(x, 0, cut, axis)};
  return concatenate(parts, axis);
}
Value Moment(const Values& f, const int (&c)[9]) {
  Value sum;
  for (size_t i = 0; i < 9; ++i) {
    if (c[i] == 0) continue;
    const Value term = c[i] == 1 ? f[i] : neg(f[i]);
    sum = sum.is_none() ? term : add(sum, term);
  }
  return sum;
}
Values Lattice(const Values& in) {
  const int64_t n = in[0].dim(1);
  Values f, out;
  for (int64_t i = 0; i < 9; ++i) f.push_back(squeeze(slice_in_dim(in[0], i, i + 1, 0), Shape{0}));
  const Value rho = reduce_sum(in[0], Shape{0}), u = div(Moment(f, kCx), rho), v = div(Moment(f, kCy), rho);
  const Value square = mul(1.5, add(mul(u, u), mul(v, v)));
  for (size_t i = 0; i < 9; ++i) {
    const Value cu = mul(3.0, add(mul(kCx[i], u), mul(kCy[i], v)));
    const Value shape = sub(add(add(cu, 1.0), mul(0.5, mul(cu, cu))), square);
    const Value moved = Roll(Roll(mul(mul(rho, kWeight[i]), shape), kCx[i], 0), kCy[i], 1);
    out.push_back(reshape(moved, Shape{1, n, n}));
  }
  return {concatenate(out, 0)};
}

// ---- products ----
Values Product(const Values& in) {
  return {dot_general(in[0], in[1], {.lhs_contract = {1}, .rhs_contract = {0}}, kF32)};
}
Values Scores(const Values& in) {  // of attention: [batch, time, head, feature]
  return {dot_general(in[0], in[1],
                      {.lhs_contract = {3}, .rhs_contract = {3}, .lhs_batch = {0, 2}, .rhs_batch = {0, 2}}, kF32)};
}

std::vector<Program> Programs(ricci_ctx* ctx) {
  const auto of = [ctx](const std::vector<Param>& in, Values (*f)(const Values&)) { return bench::Trace(ctx, in, f); };
  const Param line{{kMany}}, half{{kMany}, kBF16}, square{{1024, 1024}}, rows{{kRows, 1024}}, column{{1024}};
  return {{"fused1", of({line}, Fused)},
          {"fused2", of({line, line}, Fused)},
          {"fused3", of({line, line, line}, Fused)},
          {"fused4", of({line, line, line, line}, Fused)},
          {"fused1_bf16", of({half}, Fused)},
          {"fused4_bf16", of({half, half, half, half}, Fused)},
          {"gelu", of({line, line}, Gelu)},
          {"gelu_bf16", of({half, half}, Gelu)},
          {"gelu_odd", of({{{kMany + 3}}, {{kMany + 3}}}, Gelu)},
          {"masked", of({{{kMany}, DType::kBool}, line}, Masked)},
          {"bias", of({rows, column, column}, BiasAndScale)},
          {"bias_odd", of({{{kRows, 1023}}, {{1023}}, {{1023}}}, BiasAndScale)},
          {"plus_transposed", of({square, square}, PlusTransposed)},
          {"reversed", of({line, line}, Reversed)},
          {"every_other", of({{{2 * kMany}}}, EveryOther)},
          {"softmax1024", of({rows}, Softmax)},
          {"softmax8192", of({{{512, 8192}}}, Softmax)},
          {"layernorm", of({rows}, Layernorm)},
          {"column_sum", of({rows}, ColumnSum)},
          {"total", of({line}, Total)},
          {"transpose", of({square}, Transposed)},
          {"gather_rows", of({rows, {{8192, 1}, DType::kI32}}, GatherRows)},
          {"threefry", of({{{2}, DType::kU32}}, Bits)},
          {"rk4", Pendulum(ctx, /*grad=*/false)},
          {"rk4_grad", Pendulum(ctx, /*grad=*/true)},
          {"cholesky6", bench::Vmap(of({{{6, 6}}}, Cholesky).get(), 65536)},
          {"lattice", of({{{9, 1024, 1024}}}, Lattice)},
          {"product_bf16", of({{{1024, 1024}, kBF16}, {{1024, 1024}, kBF16}}, Product)},
          {"scores_bf16", of({{{4, 1024, 8, 64}, kBF16}, {{4, 1024, 8, 64}, kBF16}}, Scores)}};
}

std::string TextOf(ricci_ctx* ctx, const ricci_program* f) {
  ricci_compile_opts o{};
  o.hdr.size = sizeof o;
  ricci_device* const gpu = ricci_device_find(ctx, "cuda", 4);
  o.devices = &gpu;
  o.n_devices = 1;
  ricci_executable* x = nullptr;
  Check(ricci_compile(f, &o, &x));
  const std::shared_ptr<ricci_executable> owner(x, ricci_executable_release);
  std::string text;
  Check(ricci_executable_dump(x, "native", 6, &text, [](void* sink, const char* p, size_t n) {
    static_cast<std::string*>(sink)->append(p, n);
  }));
  return text;
}

void PrintAll() {
  const bench::ContextRef ctx = bench::MakeContext();
  Check(ricci_context_add_plugin(ctx.get(), QuerySimulatedGpu));
  for (const Program& p : Programs(ctx.get())) {
    std::printf("==== %s\n", p.name);
    try {
      std::puts(TextOf(ctx.get(), p.program.get()).c_str());
    } catch (const std::exception& e) {
      std::printf("!!!! %s\n", e.what());
    }
  }
}

}}  // namespace ricci::testing

int main() {
  try {
    ricci::testing::PrintAll();
  } catch (const std::exception& e) {
    std::fprintf(stderr, "%s\n", e.what());
    return 1;
  }
}
