// Dropout of the probabilities of attention: each stays, divided by 1 - `dropout_rate`, or becomes 0.
//
// What stays depends on the key and on the position [b, n, t, s] of the probability alone, so blocks of any size, the
// gradient, which computes a block again, and every backend draw the same; no mask is ever stored. It is that of
// jax.random.bernoulli(key, 1 - dropout_rate, [B, N, T, S]) in f32, bit for bit. With C keys, each serves B / C
// elements of the batch, as if these were all.
#ifndef RICCI_NN_ATTENTION_DROPOUT_HPP_
#define RICCI_NN_ATTENTION_DROPOUT_HPP_
#include "attention_form.hpp"

namespace ricci { inline namespace v0 { namespace nn {

// The position of the first query and of the first key of a block, i64 scalars.
struct BlockPosition {
  Value query, key;
};

// The two words of the key of each element of the batch, u32[B,2], from key[C].
inline Value KeyWords(const AttentionForm& f, const Value& keys) {
  const int64_t split[] = {keys.dim(0), f.b / keys.dim(0), 2}, joined[] = {f.b, 2}, kept[] = {0, 2};
  const Value words = Emit1("random_unwrap", {keys});
  return lax::reshape(lax::broadcast_in_dim(words, split, kept), joined);
}

// The numbers of the probabilities of a block, u64[B,K,t,G,s], in an array [B / C, N, T, S] for each key.
inline Value PositionNumbers(const AttentionForm& f, const BlockPosition& at, Dims shape) {
  ricci_builder* b = at.query.builder;
  const Dims rows = shape.first(4);
  const auto number = [&](Dims dims, int64_t d) { return lax::iota(b, DType::kU64, dims, d); };
  const auto next = [](const Value& x, int64_t size, const Value& position) {
    return lax::add(lax::mul(x, lax::full_like(x, size)), position);
  };
  const auto from = [](const Value& first, Dims dims) {
    return lax::broadcast_in_dim(lax::convert_element_type(first, DType::kU64), dims, {});
  };
  const Value element = number(rows, 0), of_key = lax::rem(element, lax::full_like(element, f.b / f.keys));
  const Value in_group = number(rows, 3), head = next(number(rows, 1), f.g, in_group);
  const Value first = from(at.query, rows), query = lax::add(number(rows, 2), first);
  const Value row = next(next(of_key, f.n, head), f.t, query);
  const int64_t by_row[] = {0, 1, 2, 3};
  const Value first_key = from(at.key, shape), key = lax::add(number(shape, 4), first_key);
  return next(lax::broadcast_in_dim(row, shape, by_row), f.s, key);
}

// Which probabilities [B,K,t,G,s] of a block stay: those whose number of 23 random bits is below that of 1 - rate.
inline Value Kept(const AttentionForm& f, const Value& words, const BlockPosition& at, Dims shape) {
  const Value position = PositionNumbers(f, at, shape);
  const int64_t by_element[] = {0};
  const auto word = [&](int64_t i) {
    return lax::broadcast_in_dim(lax::squeeze(lax::slice_in_dim(words, i, i + 1, 1), Shape{1}), shape, by_element);
  };
  const auto low_half = [](const Value& x) { return lax::convert_element_type(x, DType::kU32); };
  const Value high = lax::shift_right_logical(position, lax::full_like(position, 32));
  const Value low_count = low_half(position), high_count = low_half(high), second_word = word(1);
  const Values random = lax::threefry2x32(word(0), second_word, high_count, low_count);
  const Value bits = lax::bitwise_xor(random[0], random[1]);
  const double stays = static_cast<float>(1 - f.dropout_rate);
  const auto limit = static_cast<int64_t>(std::ceil(std::ldexp(stays, 23)));  // exact: at most 2^23
  const Value bound = lax::full_like(bits, limit);
  return lax::lt(lax::shift_right_logical(bits, lax::full_like(bits, 9)), bound);
}

inline Value Dropped(const AttentionForm& f, const Value& words, const BlockPosition& at, const Value& probabilities) {
  const Value kept = Kept(f, words, at, probabilities.shape()), zero = lax::zeros_like(probabilities);
  return lax::select(kept, lax::div(probabilities, 1 - f.dropout_rate), zero);
}

}}}  // namespace ricci::v0::nn
#endif
