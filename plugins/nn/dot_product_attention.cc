// dot_product_attention: softmax(scale q k^T + bias) v for each head, with the layouts and masks of
// jax.nn.dot_product_attention.
//
// The second result is the logarithm of the sum of the exponentials of each row of scores, what backward passes of
// vendors start from; it has a derivative like any result. Scores and sums are f32 for 16-bit operands. f64 stays f64
// throughout, where jax.nn takes the softmax in f32. A row in which nothing counts gives all keys the same weight, and
// scores that do not count are -0.7 times the greatest f32, both as there. The batch of vmap becomes part of dimension
// 0, where keys of dropout are repeated like all else.
#include "attention_blocks.hpp"
#include "lax/factor_text.hpp"
#include "merged_batch.hpp"

namespace ricci { inline namespace v0 { namespace nn { namespace rows {
namespace {

// ---- the decomposition ----
Values Decompose(const Eqn& e, std::span<const Value> in) {
  const AttentionForm f(e);
  if (e.out().elements() == 0 || f.s == 0) {
    const Value none = lax::zeros(e.builder(), e.out(1));
    return {lax::zeros(e.builder(), e.out(0)), lax::sub(none, lax::full_like(none, HUGE_VAL))};
  }
  const std::vector<BlockRange> ranges = BlockRanges(e, f);
  Shape rows;
  for (const BlockRange& r : ranges) rows.push_back(r.Rows(f));
  const Values queries = lax::split(in[kQuery], rows, 1);
  Values outs, sums;
  for (size_t i = 0; i < ranges.size(); ++i) {
    const Values part = AttentionScan(e, ranges[i], queries[i], in).Run();
    outs.push_back(part[0]);
    sums.push_back(part[1]);
  }
  return {lax::concatenate(outs, 1), lax::concatenate(sums, 1)};
}
constexpr Lowering kLowerings[] = {{.decompose = Decompose, .flags = RICCI_LOWERING_TRANSFORMABLE}};

// ---- batch ----
void BatchRule(const Eqn& e, Batch& a) {
  const AttentionForm f(e);
  Values in;
  for (size_t i = 0; i < a.in.size(); ++i) {
    const Batched& x = a.in[i];
    const bool is_extra = i >= kFirstExtra && i < f.extras_end;
    const bool same_for_all = is_extra && !x.is_batched() && x.value.dim(0) == 1;
    in.push_back(same_for_all ? x.value : Merged(x, a.size, i < f.extras_end ? f.b : f.keys));
  }
  SetUnmerged(e, e.EmitN(in), a);
}

// ---- factors: batch and, unless positions count, queries and heads are parallel; in dropout all positions count ----
std::string Factors(const Eqn& e) {
  const AttentionForm f(e);
  lax::FactorText text;
  const bool heads_apart = f.k == f.n, splits_heads = heads_apart || f.k == 1;
  const bool key_of_each = !f.has_dropout || f.keys == f.b;
  const int64_t b = key_of_each ? text.Shared() : text.Whole();
  const int64_t t = f.by_position() || f.has_dropout ? text.Whole() : text.Shared();
  const int64_t n = splits_heads && !f.has_dropout ? text.Shared() : text.Whole(), k = heads_apart ? n : text.Whole();
  const int64_t s = text.Whole(), h = text.Whole(), features = text.Shared();
  text.AddIn(Shape{b, t, n, h});
  text.AddIn(Shape{b, s, k, h});
  text.AddIn(Shape{b, s, k, features});
  const int64_t all[] = {b, n, t, s};
  for (uint32_t i = kFirstExtra; i < f.extras_end; ++i) {
    Shape own;
    for (int64_t d = 0; d < 4; ++d) {
      const bool is_full = e.in(i).dim(d) == (d == 0 ? f.b : d == 1 ? f.n : d == 2 ? f.t : f.s);
      own.push_back(is_full ? all[d] : text.Whole());
    }
    text.AddIn(own);
  }
  if (f.has_dropout) text.AddIn(Shape{key_of_each ? b : text.Whole()});
  text.AddOut(Shape{b, t, n, features});
  text.AddOut(Shape{b, t, n});
  return text.Done();
}

constexpr Row kRows[] = {
    {.name = "dot_product_attention",
     .doc = "y, logsumexp = dot_product_attention(query, key, value, extras...): softmax(`scale` * query key^T + bias) "
            "value for each head, of queries [B,T,N,H], keys and values [B,S,K,H] and, if given, a bias and a mask of "
            "bool that broadcast to [B,N,T,S]; each of K heads serves N / K; `is_causal` and `local_window_size` "
            "[before, after] leave out keys by their place; `block_size` queries are computed at a time; with "
            "`dropout_rate` the last operand is key[C], C a divisor of B, and each probability becomes 0 or is divided "
            "by 1 - `dropout_rate`, as jax.random.bernoulli draws for [B/C,N,T,S] from each key",
     .attrs = kAttentionAttrs,
     .flags = RICCI_PRIM_EXPENSIVE,
     .type = AttentionType,
     .batch = BatchRule,
     .factors_of = Factors,
     .lowerings = kLowerings,
     .examples = "(f64[2,2,1,2], f64[2,3,1,2], f64[2,3,1,2]); "
                 "(f64[1,3,2,1], f64[1,3,1,1], f64[1,3,1,1]) is_causal=true block_size=2; "
                 "(f64[1,3,2,2], f64[1,2,2,2], f64[1,2,2,2], f64[1,2,3,2], bool[1,1,1,2]) scale=0.5 "
                 "local_window_size=[1,2] block_size=2; "
                 "program (%q: f64[2,3,1,2], %k: f64[2,4,1,2], %v: f64[2,4,1,2], %s: u32[2] in 0..1000) { %r: key[2] = "
                 "random_seed(%s) %y: f64[2,3,1,2], %l: f64[2,3,1] = dot_product_attention(%q, %k, %v, %r) "
                 "block_size=2 dropout_rate=0.5 return %y, %l }"}};

}  // namespace

RowList dot_product_attention_rows() { return kRows; }

}}}}  // namespace ricci::v0::nn::rows
