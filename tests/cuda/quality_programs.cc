// ricci_cuda_quality: prints the CUDA text of typical programs, for quality.py: a line `==== name` before each. A
// program that the backend does not take gives a line `!!!! message` in place of its text. `--architecture 80 NAME...`:
// for sm_80, and these alone if there is any name. With `--occupancy sm_90a`: the occupancy of kernels, whose registers
// and shared memory are read from the input.
#include <cstdio>
#include <cstdlib>
#include <exception>
#include <set>

#include "bench/typical_programs.h"
#include "cuda/explain/occupancy.h"
#include "cuda/of_standin.h"
#include "cuda/simulated_gpu.h"

namespace ricci::testing { namespace {

using namespace ricci::lax;  // NOLINT: the programs read like jax.lax
using bench::Param;
using bench::ProgramRef;

constexpr int64_t kMany = 1 << 20, kRows = 4096;
constexpr DType kF32 = DType::kF32, kBF16 = DType::kBF16, kI8 = DType::kI8, kF8 = DType::kF8E4M3FN;

struct Program {
  const char* name;
  ProgramRef program;
};

// ---- elementwise ----
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
Values AsBf16(const Values& in) { return {convert_element_type(in[0], kBF16)}; }
Values AsF8(const Values& in) { return {convert_element_type(in[0], kF8)}; }
Values Masked(const Values& in) { return {select(in[0], in[1], mul(in[1], 0.5))}; }

// ---- rows and columns ----
Values ColumnSum(const Values& in) { return {reduce_sum(in[0], Shape{0})}; }
Values Total(const Values& in) { return {reduce_sum(in[0], Shape{0})}; }
Values Total2(const Values& in) { return {reduce_sum(in[0], Shape{0, 1})}; }
Values Amax2(const Values& in) { return {Emit1("reduce_max", {abs(in[0])}, {{"axes", Shape{0, 1}}})}; }
Values MeanSquaredError(const Values& in) {
  const Value d = sub(in[0], in[1]);
  return {mul(reduce_sum(mul(d, d), Shape{0, 1}), 1.0 / static_cast<double>(in[0].dim(0) * in[0].dim(1)))};
}
Values BatchStats(const Values& in) {  // of channels: [batch, channel, height, width]
  const Value x = in[0];
  const Shape axes{0, 2, 3};
  const double share = 1.0 / static_cast<double>(x.dim(0) * x.dim(2) * x.dim(3));
  const Value mean = mul(reduce_sum(x, axes), share);
  const Value d = sub(x, broadcast_in_dim(mean, x.shape(), Shape{1}));
  return {mean, mul(reduce_sum(mul(d, d), axes), share)};
}
Values Moments(const Values& in) {
  const Shape axes{0, 2, 3};
  return {reduce_sum(in[0], axes), reduce_sum(mul(in[0], in[0]), axes)};
}
Values Running(const Values& in) { return {cumsum(in[0], 0, /*reverse=*/false)}; }
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
Values Cholesky(const Values& in) { return {linalg::cholesky(in[0])}; }

// ---- products ----
Values Product(const Values& in) {
  return {dot_general(in[0], in[1], {.lhs_contract = {1}, .rhs_contract = {0}}, kF32)};
}
Values Scores(const Values& in) {  // of attention: [batch, time, head, feature]
  return {dot_general(in[0], in[1],
                      {.lhs_contract = {3}, .rhs_contract = {3}, .lhs_batch = {0, 2}, .rhs_batch = {0, 2}}, kF32)};
}

Values ProductGelu(const Values& in) {  // of a layer: the rows of in[0] times in[1], a bias, an activation
  const Value product = dot_general(in[0], in[1], {.lhs_contract = {1}, .rhs_contract = {0}}, kF32);
  return {convert_element_type(bench::Gelu({product, AlongColumns(in[2], product.shape())})[0], in[0].dtype())};
}
Values ProductRelu(const Values& in) {
  const Value product = Product(in)[0];
  const Value sum = add(product, AlongColumns(in[2], product.shape()));
  return {convert_element_type(max(sum, zeros_like(sum)), in[0].dtype())};
}
// Weights of 8 bits and a scale for each column.
Values ScaledWeights(const Values& in) {
  const Value weights = convert_element_type(in[1], in[0].dtype());
  return Product({in[0], mul(weights, AlongColumns(in[2], weights.shape()))});
}
Values ProductOfIntegers(const Values& in) {
  return {dot_general(in[0], in[1], {.lhs_contract = {1}, .rhs_contract = {0}}, DType::kI32)};
}
Values ProductAsTf32(const Values& in) {
  return {dot_general(in[0], in[1], {.lhs_contract = {1}, .rhs_contract = {0}}, kF32, "TF32_TF32_F32")};
}
Values Batched(const Values& in) {
  return {dot_general(in[0], in[1], {.lhs_contract = {2}, .rhs_contract = {1}, .lhs_batch = {0}, .rhs_batch = {0}})};
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
          {"gelu", of({line, line}, bench::Gelu)},
          {"gelu_bf16", of({half, half}, bench::Gelu)},
          {"gelu_odd", of({{{kMany + 3}}, {{kMany + 3}}}, bench::Gelu)},
          {"masked", of({{{kMany}, DType::kBool}, line}, Masked)},
          {"f8_to_bf16", of({{{kMany}, kF8}}, AsBf16)},
          {"f32_to_f8", of({line}, AsF8)},
          {"bias", of({rows, column, column}, BiasAndScale)},
          {"bias_odd", of({{{kRows, 1023}}, {{1023}}, {{1023}}}, BiasAndScale)},
          {"plus_transposed", of({square, square}, PlusTransposed)},
          {"reversed", of({line, line}, Reversed)},
          {"every_other", of({{{2 * kMany}}}, EveryOther)},
          {"softmax1024", of({rows}, bench::Softmax)},
          {"softmax8192", of({{{512, 8192}}}, bench::Softmax)},
          {"layernorm", of({rows}, bench::Layernorm)},
          {"column_sum", of({rows}, ColumnSum)},
          {"total", of({line}, Total)},
          {"total2", of({square}, Total2)},
          {"mse", of({square, square}, MeanSquaredError)},
          {"amax2", of({square}, Amax2)},
          {"batch_stats", of({{{64, 64, 56, 56}}}, BatchStats)},
          {"moments", of({{{64, 64, 56, 56}}}, Moments)},
          {"running_total", of({line}, Running)},
          {"transpose", of({square}, Transposed)},
          {"gather_rows", of({rows, {{8192, 1}, DType::kI32}}, GatherRows)},
          {"threefry", of({{{2}, DType::kU32}}, Bits)},
          {"rk4", bench::Vmap(bench::Pendulum(ctx, 1000, /*grad=*/false).get(), 65536)},
          {"rk4_grad", bench::Vmap(bench::Pendulum(ctx, 1000, /*grad=*/true).get(), 65536)},
          {"cholesky6", bench::Vmap(of({{{6, 6}}}, Cholesky).get(), 65536)},
          {"lattice", of({{{9, 1024, 1024}}}, bench::LatticeStep)},
          {"product_f32", of({square, square}, Product)},
          {"product_f32_gelu", of({rows, square, column}, ProductGelu)},
          {"product_f32_odd", of({{{1023, 1023}}, {{1023, 1023}}}, Product)},
          {"products_f32", of({{{64, 128, 96}}, {{64, 96, 128}}}, Batched)},
          {"product_f32_long", of({{{256, 1 << 16}}, {{1 << 16, 256}}}, Product)},
          {"product_bf16_gelu", of({{{kRows, 1024}, kBF16}, {{1024, 1024}, kBF16}, column}, ProductGelu)},
          {"product_bf16_relu", of({{{kRows, 1024}, kBF16}, {{1024, 1024}, kBF16}, column}, ProductRelu)},
          {"product_bf16", of({{{1024, 1024}, kBF16}, {{1024, 1024}, kBF16}}, Product)},
          {"product_bf16_large", of({{{4096, 4096}, kBF16}, {{4096, 4096}, kBF16}}, Product)},
          {"product_scaled_weights", of({{{kRows, 1024}, kBF16}, {{1024, 1024}, kI8}, {{1024}, kBF16}}, ScaledWeights)},
          {"product_f8", of({{{kRows, 1024}, kF8}, {{1024, 1024}, kF8}}, Product)},
          {"product_f8_e5m2", of({{{kRows, 1024}, DType::kF8E5M2}, {{1024, 1024}, kF8}}, Product)},
          {"product_f8_weights", of({{{kRows, 1024}, kBF16}, {{1024, 1024}, kF8}, {{1024}, kBF16}}, ScaledWeights)},
          {"product_i8", of({{{kRows, 1024}, kI8}, {{1024, 1024}, kI8}}, ProductOfIntegers)},
          {"product_tf32", of({rows, square}, ProductAsTf32)},
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

void PrintAll(int architecture, const std::set<std::string_view>& names) {
  OfStandin<void(int)>("ricci_standin_capability")(architecture);
  const bench::ContextRef ctx = bench::MakeContext();
  Check(ricci_context_add_plugin(ctx.get(), QuerySimulatedGpu));
  for (const Program& p : Programs(ctx.get())) {
    if (!names.empty() && !names.contains(p.name)) continue;
    std::printf("==== %s\n", p.name);
    try {
      std::puts(TextOf(ctx.get(), p.program.get()).c_str());
    } catch (const std::exception& e) {
      std::printf("!!!! %s\n", e.what());
    }
  }
}

// Of blocks with the registers, bytes of shared memory and threads in each line of the input.
void PrintOccupancy(const char* architecture) {
  cuda::Resources used;
  int threads = 0;
  while (std::scanf("%d %d %d", &used.registers, &used.shared_bytes, &threads) == 3) {
    std::printf("%d\n", cuda::OccupancyOf(architecture, used, threads).value_or(0));
  }
}

}}  // namespace ricci::testing

int main(int argc, char** argv) {
  try {
    const std::string_view option = argc > 2 ? argv[1] : "";
    if (option == "--occupancy") {
      ricci::testing::PrintOccupancy(argv[2]);
    } else {
      const bool is_given = option == "--architecture";
      ricci::testing::PrintAll(is_given ? std::atoi(argv[2]) : 90, {argv + (is_given ? 3 : 1), argv + argc});
    }
  } catch (const std::exception& e) {
    std::fprintf(stderr, "%s\n", e.what());
    return 1;
  }
}
