// ricci/nn.hpp: the neural primitives (plugins/nn) with the functions and defaults of jax.nn.
//
// Each is one operation of the program, which a plugin of a vendor may compute in its own way; without one it is made
// of the operations of jax.lax. All have derivatives. 16-bit operands are computed in f32 and the result is rounded
// once.
#ifndef RICCI_NN_HPP_
#define RICCI_NN_HPP_
#include <optional>

#include "ricci/lax.hpp"
#include "ricci/nn_functions.hpp"

namespace ricci { inline namespace v0 { namespace nn {

// (x - mean) / sqrt(variance + epsilon) * scale + bias, with mean and variance along `axes`; scale and bias have the
// shape of a slice of x along them.
Value layer_norm(const Operand& x, const Operand& scale, const Operand& bias, const Axes& axes = -1,
                 double epsilon = 1e-5);
// x / sqrt(mean(x^2) + epsilon) * scale, with the mean along `axes`; scale has the shape of a slice of x along them.
Value rms_norm(const Operand& x, const Operand& scale, const Axes& axes = -1, double epsilon = 1e-6);

struct SoftmaxOptions {
  std::optional<Operand> where = {};  // bool, broadcasts to x: elements that count; the others give 0
  double scale = 1;
};
// exp(x * scale) over its sum along `axes`.
Value softmax(const Operand& x, const Axes& axes = -1, const SoftmaxOptions& options = {});

// lhs rhs^T for each batch: lhs [B,M,K], rhs [B,N,K]; each element counts times the scale of its block along K, of
// lhs_scales [B,M,C] and rhs_scales [B,N,C], C a divisor of K. MXFP8 and NVFP4 are forms of it. Computed in f32, or in
// f64 if that is the dtype of the result.
Value scaled_matmul(const Operand& lhs, const Operand& rhs, const Operand& lhs_scales, const Operand& rhs_scales,
                    DType preferred_element_type = DType::kF32);

// How an operand of scaled_dot_general is quantized: `mxfp8`, or `nvfp4` with a number by which it is divided first, 1
// if not given.
struct BlockScaleConfig {
  std::string_view mode;
  std::optional<Operand> global_scale = {};
};
BlockScaleConfig get_scaled_dot_general_config(std::string_view mode, const std::optional<Operand>& global_scale = {});
// lax::dot_general of operands that are quantized by blocks along what is contracted, as `configs` say: of lhs, of rhs
// and of gradients, all of one mode. Without any it is lax::dot_general. The result is f32, bf16 or f16. There is
// reverse mode only; global scales have no derivative. Fails if what is contracted is not whole blocks, of 32 elements
// in mxfp8 and 16 in nvfp4; so does the gradient in mxfp8 if the other dimensions are not.
Value scaled_dot_general(const Operand& lhs, const Operand& rhs, const lax::DotDims& dims,
                         DType preferred_element_type = DType::kF32, const std::vector<BlockScaleConfig>& configs = {});
// The greatest of the absolute values of x along `axes`, NaN if one is; what scales of narrow floats are computed from.
Value amax(const Operand& x, const Axes& axes = {});

struct AttentionOptions {
  std::optional<Operand> bias = {};  // added to the scores, broadcasts to [B,N,T,S]
  std::optional<Operand> mask = {};  // bool, broadcasts to [B,N,T,S]: scores that count
  bool is_causal = false;            // a query sees keys up to its own position
  std::optional<double> scale = {};  // of the scores; 1 / sqrt(H) if not given
  // Integers [B]: how many queries, and keys and values, of each sequence count. Results of other queries are 0.
  std::optional<Operand> query_seq_lengths = {}, key_value_seq_lengths = {};
  std::optional<std::pair<int64_t, int64_t>> local_window_size = {};  // keys before and after the query's position
  // With a rate in (0, 1), a key is needed: each probability becomes 0, or is divided by 1 - rate, as
  // random::bernoulli(key, 1 - rate, [B,N,T,S]) draws. A gradient draws the same; no mask is stored.
  double dropout_rate = 0;
  std::optional<Operand> dropout_key = {};
};
struct AttentionResult {
  Value encoded;   // [B,T,N,H]
  Value residual;  // [B,T,N]: the logarithm of the sum of the exponentials of the scores; without a derivative
};
// softmax(scale query key^T + bias) value for each head: query [B,T,N,H], key and value [B,S,K,H], or without B; each
// of the K heads of keys serves N / K heads of queries. Memory grows with T + S, not with their product, in the
// gradient too. Fails if dropout has a rate and no key.
Value dot_product_attention(const Operand& query, const Operand& key, const Operand& value,
                            const AttentionOptions& options = {});
AttentionResult dot_product_attention_with_residual(const Operand& query, const Operand& key, const Operand& value,
                                                    const AttentionOptions& options = {});

}}}  // namespace ricci::v0::nn
#endif
