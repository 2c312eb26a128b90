// Wrong operands and attributes of the neural primitives, with the exact message.
#include "lax/wrong_operands.h"

namespace ricci::testing { namespace {

std::vector<Wrong> Normalisations() {
  return {
      {{{kF32, {2, 3}}, {kF32, {2}}},
       [](const Values& in) {
         return One(Emit1("rms_norm", in, {{"axes", Shape{1}}, {"epsilon", 0.1}}));
       },
       "rms_norm: operand 1 is f32[2]; it must be f32[3], a slice of f32[2,3] along axes [1]"},
      {{{kF32, {2, 3}}, {kF32, {3}}, {kF64, {3}}},
       [](const Values& in) {
         return One(Emit1("layer_norm", in, {{"axes", Shape{1}}, {"epsilon", 0.1}}));
       },
       "layer_norm: operand 2 is f64[3]; it must be f32[3], a slice of f32[2,3] along axes [1]"},
      {{{kF32, {2, 3}}, {kF32, {3, 2}}},
       [](const Values& in) {
         return One(Emit1("rms_norm", in, {{"axes", Shape{1, 0}}, {"epsilon", 0.1}}));
       },
       "rms_norm: axes [1,0] must increase"},
      {{{kF32, {2}}, {kF32, {2}}},
       [](const Values& in) {
         return One(Emit1("rms_norm", in, {{"axes", Shape{0}}, {"epsilon", -1.0}}));
       },
       "rms_norm: epsilon -1.000000 must be at least 0"},
      {{{kI32, {2}}},
       [](const Values& in) {
         return One(Emit1("softmax", in, {{"axes", Shape{0}}}));
       },
       "softmax: operand 0 is i32[2]; it takes floating dtypes"},
      {{{kF32, {2}}, {kBool, {1}}},
       [](const Values& in) {
         return One(Emit1("softmax", in, {{"axes", Shape{0}}}));
       },
       "softmax: operand 1 is bool[1]; it must be bool[2]"},
      {{{kF32, {2}}},
       [](const Values& in) {
         return One(Emit1("softmax", in, {{"axes", Shape{1}}}));
       },
       "softmax: axes [1] is out of range for operand 0 of f32[2]"},
  };
}

template <typename... Attrs>
Function Attention(Attrs... attrs) {
  return [=](const Values& in) { return EmitN(2, "dot_product_attention", in, {attrs...}); };
}
std::vector<Wrong> Attentions() {
  const std::pair<DType, Shape> q = {kF32, {2, 3, 4, 8}}, k = {kF32, {2, 5, 2, 8}};
  static const Shape kNoWindow = {-1, 2};
  return {
      {{q, k}, Attention(), "dot_product_attention: takes at least 3 operands (query, key, value, extras...), not 2"},
      {{q, {kF32, {2, 5, 2, 7}}, k},
       Attention(),
       "dot_product_attention: operands 0 and 1 are f32[2,3,4,8] and f32[2,5,2,7]; they must agree in dtype and in "
       "dimensions 0 and 3"},
      {{q, k, q},
       Attention(),
       "dot_product_attention: operands 1 and 2 are f32[2,5,2,8] and f32[2,3,4,8]; they must have one type"},
      {{q, k, k, k, k, k},
       Attention(),
       "dot_product_attention: takes query, key, value and at most a bias and a mask, not 6 operands"},
      {{{kF32, {3, 4, 8}}, k, k},
       Attention(),
       "dot_product_attention: operand 0 is f32[3,4,8]; it must have 4 dimensions"},
      {{q, {kF32, {2, 5, 3, 8}}, {kF32, {2, 5, 3, 8}}},
       Attention(),
       "dot_product_attention: the 4 heads of f32[2,3,4,8] must be a multiple of the 3 heads of f32[2,5,3,8]"},
      {{q, k, k, {kF32, {2, 4, 3, 4}}},
       Attention(),
       "dot_product_attention: operand 3 is f32[2,4,3,4]; a bias or mask must be f32[2,4,3,5], any size of which may "
       "be "
       "1"},
      {{q, k, k, {kBool, {1, 1, 1, 1}}, {kBool, {1, 1, 1, 1}}},
       Attention(),
       "dot_product_attention: operand 3 is bool[1,1,1,1]; it takes f32"},
      {{q, k, k, {kF32, {1, 1, 1, 1}}, {kF32, {1, 1, 1, 1}}},
       Attention(),
       "dot_product_attention: operand 4 is f32[1,1,1,1]; after a bias there may be a mask of bool"},
      {{q, k, k},
       Attention(Attr("local_window_size", kNoWindow)),
       "dot_product_attention: local_window_size [-1,2] must be two numbers of at least 0, of keys before and after "
       "the "
       "query's place"},
      {{q, k, k}, Attention(Attr("block_size", 0)), "dot_product_attention: block_size 0 must be positive"},
      {{q, k, k, {DType::kKey, {1}}},
       Attention(Attr("dropout_rate", 1.0)),
       "dot_product_attention: dropout_rate 1.000000 must be at least 0 and less than 1"},
      {{q, k, k},
       Attention(Attr("dropout_rate", 0.5)),
       "dot_product_attention: operand 2 is f32[2,5,2,8]; with dropout_rate the last operand must be keys of one "
       "dimension"},
      {{q, k, k, {DType::kKey, {3}}},
       Attention(Attr("dropout_rate", 0.5)),
       "dot_product_attention: operand 3 is key[3]; dimension 0 of f32[2,3,4,8] must be a multiple of its keys"},
      {{q, k, k, {DType::kKey, {2}}}, Attention(), "dot_product_attention: operand 3 is key[2]; it takes f32"},
      {{q, k, k, k, k, k, {DType::kKey, {1}}},
       Attention(Attr("dropout_rate", 0.5)),
       "dot_product_attention: takes query, key, value and at most a bias, a mask and keys, not 7 operands"},
  };
}

std::vector<Wrong> ScaledProducts() {
  const Function product = [](const Values& in) { return One(Emit1("scaled_matmul", in)); };
  const std::pair<DType, Shape> x = {kF32, {2, 3, 8}}, scales = {kF32, {2, 3, 4}};
  return {
      {{x, x, scales, {kF32, {2, 3}}}, product, "scaled_matmul: operand 3 is f32[2,3]; it must have 3 dimensions"},
      {{x, {kF32, {2, 3, 4}}, scales, scales},
       product,
       "scaled_matmul: operands 0 and 1 are f32[2,3,8] and f32[2,3,4]; they must agree in dimensions 0 and 2"},
      {{x, x, {kF32, {2, 3, 3}}, scales},
       product,
       "scaled_matmul: operand 2 is f32[2,3,3], the scales of f32[2,3,8]; they must agree in dimensions 0 and 1, and "
       "dimension 2 be a divisor"},
      {{x, x, scales, {kF32, {2, 3, 2}}},
       product,
       "scaled_matmul: scales are f32[2,3,4] and f32[2,3,2]; they must agree in dimension 2"},
      {{x, x, scales, scales},
       [](const Values& in) {
         return One(Emit1("scaled_matmul", in, {{"preferred_element_type", kI32}}));
       },
       "scaled_matmul: preferred_element_type i32 must be a floating dtype"},
      {{x, x, scales, {kI32, {2, 3, 4}}}, product, "scaled_matmul: operand 3 is i32[2,3,4]; it takes floating dtypes"},
  };
}

// Of operands [M,K] and [N,K].
Function ScaledDot(std::string_view mode, DType preferred = kF32) {
  return [mode, preferred](const Values& in) {
    return One(Emit1("scaled_dot_general", in,
                     {{"lhs_contract", Shape{1}},
                      {"rhs_contract", Shape{1}},
                      {"mode", mode},
                      {"preferred_element_type", preferred}}));
  };
}
std::vector<Wrong> QuantizedProducts() {
  const std::pair<DType, Shape> x = {kF32, {3, 32}}, y = {kF32, {2, 32}}, scale = {kF32, {}};
  return {
      {{x, y}, ScaledDot("fp8"), "scaled_dot_general: mode fp8 must be mxfp8 or nvfp4"},
      {{x, y}, ScaledDot("nvfp4"), "scaled_dot_general: takes 4 operands, not 2"},
      {{x, y, scale, scale}, ScaledDot("mxfp8"), "scaled_dot_general: takes 2 operands, not 4"},
      {{x, y, scale, {kF32, {1}}},
       ScaledDot("nvfp4"),
       "scaled_dot_general: operand 3 is f32[1], a global scale; it must be f32[]"},
      {{{kF32, {3, 48}}, {kF32, {2, 48}}},
       ScaledDot("mxfp8"),
       "scaled_dot_general: the contracted dimensions have 48 elements; mxfp8 takes blocks of 32"},
      {{x, {kF32, {2, 64}}},
       ScaledDot("mxfp8"),
       "scaled_dot_general: contracting sizes 32 and 64 differ; operands are f32[3,32] and f32[2,64]"},
      {{x, y}, ScaledDot("mxfp8", kF64), "scaled_dot_general: preferred_element_type f64 must be f32, bf16 or f16"},
      {{{kI32, {3, 32}}, y},
       ScaledDot("mxfp8"),
       "scaled_dot_general: operand 0 is i32[3,32]; it takes f16, bf16, f32 and f64"},
      {{{kI32, {3}}},
       [](const Values& in) {
         return One(Emit1("amax", in, {{"axes", Shape{0}}}));
       },
       "amax: operand 0 is i32[3]; it takes floating dtypes"},
      {{{kF32, {3}}},
       [](const Values& in) {
         return One(Emit1("amax", in, {{"axes", Shape{1}}}));
       },
       "amax: axes [1] is out of range for operand 0 of f32[3]"},
  };
}

TEST(NeuralErrors, QuantizedProductsNameBothValues) { ExpectMessages(QuantizedProducts()); }
TEST(NeuralErrors, ScaledProductsNameBothValues) { ExpectMessages(ScaledProducts()); }
TEST(NeuralErrors, NormalisationsNameBothValues) { ExpectMessages(Normalisations()); }
TEST(NeuralErrors, AttentionNamesBothValues) { ExpectMessages(Attentions()); }

}}  // namespace ricci::testing
