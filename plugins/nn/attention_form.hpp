// The operands, sizes and attributes of dot_product_attention, as its rules read them.
//
// The letters are those of jax.nn: B batch, T queries, S keys and values, N heads of queries, K heads of keys and
// values, G = N / K heads of queries that share one of keys, H features of a head.
#ifndef RICCI_NN_ATTENTION_FORM_HPP_
#define RICCI_NN_ATTENTION_FORM_HPP_
#include <cmath>

#include "along_axes.hpp"

namespace ricci { inline namespace v0 { namespace nn {

inline constexpr uint32_t kQuery = 0, kKey = 1, kValue = 2, kFirstExtra = 3;
inline constexpr AttrSpec kAttentionAttrs[] = {{"scale", AttrKind::kFloat, "1 / sqrt(H)"},
                                               {"is_causal", AttrKind::kBool, "false"},
                                               {"local_window_size", AttrKind::kInts, "none"},
                                               {"block_size", AttrKind::kInt, "chosen by the sizes"},
                                               {"dropout_rate", AttrKind::kFloat, "none"}};

struct AttentionForm {
  explicit AttentionForm(const Eqn& e)
      : b(e.in(kQuery).dim(0)),
        t(e.in(kQuery).dim(1)),
        n(e.in(kQuery).dim(2)),
        h(e.in(kQuery).dim(3)),
        s(e.in(kKey).dim(1)),
        k(e.in(kKey).dim(2)),
        g(k == 0 ? 1 : n / k),
        scale(e.number("scale", h == 0 ? 1 : 1 / std::sqrt(static_cast<double>(h)))),
        is_causal(e.flag("is_causal", false)),
        window(e.ints("local_window_size")),
        has_dropout(e.has("dropout_rate")),
        dropout_rate(has_dropout ? e.number("dropout_rate") : 0),
        extras_end(e.n_in() - (has_dropout ? 1 : 0)),
        keys(has_dropout ? e.in(extras_end).dim(0) : 0),
        has_mask(extras_end > kFirstExtra && e.in(extras_end - 1).dtype() == DType::kBool) {}
  bool by_position() const { return is_causal || !window.empty(); }

  int64_t b, t, n, h, s, k, g;
  double scale;
  bool is_causal;
  Dims window;  // how many keys before and after the position of the query count; or empty: all
  bool has_dropout;
  double dropout_rate;
  uint32_t extras_end;  // the operands from kFirstExtra on before this one are bias and mask
  int64_t keys;         // of dropout, each of which serves B / keys elements of the batch
  bool has_mask;
};

inline bool IsMask(const ArrayType& t) { return t.dtype() == DType::kBool; }

// ---- type ----
// Operand `i` has dimensions [B or 1, N or 1, T or 1, S or 1].
inline void CheckExtra(const Eqn& e, uint32_t i) {
  const AttentionForm f(e);
  const ArrayType extra = e.in(i);
  const int64_t full[] = {f.b, f.n, f.t, f.s};
  bool fits = extra.rank() == 4;
  for (int64_t d = 0; fits && d < 4; ++d) fits = extra.dim(d) == 1 || extra.dim(d) == full[d];
  if (!fits) {
    e.Fail("operand ", i, " is ", extra, "; a bias or mask must be ", extra.WithShape(full),
           ", any size of which may be 1");
  }
}
// A bias, a mask, or a bias and then a mask.
inline void CheckExtras(const Eqn& e) {
  const uint32_t end = AttentionForm(e).extras_end;
  for (uint32_t i = kFirstExtra; i < end; ++i) {
    const bool is_last = i + 1 == end;
    if (!IsMask(e.in(i)) || !is_last)
      rules::WantDType(e, i, SetOf(lax::SumDType(e.in(0).dtype())) | SetOf(e.in(0).dtype()));
    CheckExtra(e, i);
  }
  if (end == kFirstExtra + 2 && !IsMask(e.in(kFirstExtra + 1))) {
    e.Fail("operand 4 is ", e.in(kFirstExtra + 1), "; after a bias there may be a mask of bool");
  }
}
// The last operand is the keys of dropout, if there is any.
inline void CheckDropout(const Eqn& e) {
  if (!e.has("dropout_rate")) return;
  const double rate = e.number("dropout_rate");
  if (!(rate >= 0 && rate < 1)) e.Fail("dropout_rate ", rate, " must be at least 0 and less than 1");
  const uint32_t last = e.n_in() - 1;
  const ArrayType keys = e.in(last);
  if (keys.dtype() != DType::kKey || keys.rank() != 1) {
    e.Fail("operand ", last, " is ", keys, "; with dropout_rate the last operand must be keys of one dimension");
  }
  const int64_t batch = e.in(kQuery).dim(0);
  if (keys.dim(0) == 0 ? batch != 0 : batch % keys.dim(0) != 0) {
    e.Fail("operand ", last, " is ", keys, "; dimension 0 of ", e.in(kQuery), " must be a multiple of its keys");
  }
}
inline void CheckAttentionAttrs(const Eqn& e) {
  const Dims window = e.ints("local_window_size");
  const bool fits = window.empty() || (window.size() == 2 && window[0] >= 0 && window[1] >= 0);
  if (e.has("local_window_size") && (!fits || window.empty())) {
    e.Fail("local_window_size ", window,
           " must be two numbers of at least 0, of keys before and after the query's place");
  }
  if (e.has("block_size") && e.integer("block_size") < 1) {
    e.Fail("block_size ", e.integer("block_size"), " must be positive");
  }
}
inline ArrayTypes AttentionType(const Eqn& e) {
  const bool drops = e.has("dropout_rate");
  if (e.n_in() > kFirstExtra + (drops ? 3 : 2)) {
    e.Fail("takes query, key, value and at most a bias", drops ? ", a mask and keys" : " and a mask", ", not ",
           Count(e.n_in(), "operand"));
  }
  rules::WantDType(e, kQuery, kFloats);
  const ArrayType q = e.in(kQuery), key = e.in(kKey);
  for (uint32_t i : {kQuery, kKey}) {
    if (e.in(i).rank() != 4) e.Fail("operand ", i, " is ", e.in(i), "; it must have 4 dimensions");
  }
  if (key.dtype() != q.dtype() || key.dim(0) != q.dim(0) || key.dim(3) != q.dim(3)) {
    e.Fail("operands 0 and 1 are ", q, " and ", key, "; they must agree in dtype and in dimensions 0 and 3");
  }
  if (e.in_id(kValue) != e.in_id(kKey)) {
    e.Fail("operands 1 and 2 are ", key, " and ", e.in(kValue), "; they must have one type");
  }
  const int64_t heads = q.dim(2), key_heads = key.dim(2);
  if (key_heads == 0 ? heads != 0 : heads % key_heads != 0) {
    e.Fail("the ", heads, " heads of ", q, " must be a multiple of the ", key_heads, " heads of ", key);
  }
  CheckAttentionAttrs(e);
  CheckDropout(e);
  CheckExtras(e);
  return ArrayTypes{q, e.Type(lax::SumDType(q.dtype()), q.shape().first(3))};
}

}}}  // namespace ricci::v0::nn
#endif
