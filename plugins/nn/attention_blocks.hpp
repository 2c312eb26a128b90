// Attention by blocks of queries, so that memory grows with the length of the sequences and not with its square.
//
// A scan, unless there is one block only, takes one block of queries at a time against all keys that it may see: the
// rows of probabilities of a block are all that is ever stored of them. Each trip is a checkpoint, so reverse mode
// keeps the operands only and computes the probabilities of a block again, and adds up the cotangents of keys and
// values from block to block (Rabe and Staats, "Self-attention does not need O(n^2) memory", 2021; Dao,
// "FlashAttention-2", 2023).
//
// Keys that no query of a block may see by its position are left out, in two steps: groups of blocks take the keys that
// some block of theirs sees, and each trip the window of these that its own block sees. A causal attention leaves out
// three quarters of what could be, one of 4,096 queries that see 256 before them takes a sixth of the time. A mask
// keeps all keys, because a query for which it leaves none takes their mean.
//
// Working memory on `cpu`, causal, 8 heads of 64 features: 23 MB for 1,024 queries and keys, 95 MB for 8,192, with
// gradient 56 and 280 MB. Short sequences have blocks of 128 queries, so that two of them leave out a quarter: a step
// of training a small model (`gpt` of tests/bench) takes 3 to 4 % less, and a seventh longer to compile.
#ifndef RICCI_NN_ATTENTION_BLOCKS_HPP_
#define RICCI_NN_ATTENTION_BLOCKS_HPP_
#include "attention_dropout.hpp"
#include "lax/held_program.hpp"

namespace ricci { inline namespace v0 { namespace nn {

// ---- one block: queries [B, t, K, G, H] of keys and values [B, s, K, H] ----
// What of a score counts, [t, s]; unset: all.
inline Value AllowedByPosition(const AttentionForm& f, const BlockPosition& at, int64_t t, int64_t s) {
  if (!f.by_position()) return {};
  const Value offset = lax::sub(at.key, at.query);
  ricci_builder* b = offset.builder;
  const int64_t shape[] = {t, s};
  const DType dtype = offset.dtype();
  const Value first = lax::broadcast_in_dim(offset, shape, {}), row = lax::sub(lax::iota(b, dtype, shape, 0), first);
  const Value ahead = lax::sub(lax::iota(b, dtype, shape, 1), row);  // the position of the key from that of the query
  const auto at_most = [&](const Value& x, int64_t limit) { return lax::le(x, lax::full_like(x, limit)); };
  Value allowed;
  const auto also = [&](const Value& v) { allowed = allowed.is_none() ? v : lax::bitwise_and(allowed, v); };
  if (f.is_causal) also(at_most(ahead, 0));
  // exact: beyond the longest sequences a window is as good as none
  if (!f.window.empty() && f.window[0] < f.t) also(at_most(lax::neg(ahead), f.window[0]));
  if (!f.window.empty() && f.window[1] < f.s) also(at_most(ahead, f.window[1]));
  return allowed;
}
// A bias or mask [B, N, t, s], any size of which may be 1, as [B, K, t, G, s].
inline Value Grouped(const AttentionForm& f, const Value& x, Dims shape) {
  const bool by_head = x.dim(1) != 1;
  const int64_t split[] = {x.dim(0), by_head ? f.k : 1, by_head ? f.g : 1, x.dim(2), x.dim(3)};
  const int64_t order[] = {0, 1, 3, 2, 4}, all[] = {0, 1, 2, 3, 4};
  return lax::broadcast_in_dim(lax::transpose(lax::reshape(x, split), order), shape, all);
}
// The scores that do not count, as in jax.nn: so low that they add nothing, but finite.
inline Value Masked(const Value& allowed, const Value& scores) {
  constexpr double kLow = -0.7 * 3.4028234663852886e38;
  return lax::select(allowed, scores, lax::full_like(scores, kLow));
}
inline Value Scores(const AttentionForm& f, const BlockPosition& at, const Value& q, const Value& k,
                    std::span<const Value> extras) {
  const lax::DotDims dims{{4}, {3}, {0, 2}, {0, 2}};
  const Value product = lax::dot_general(q, k, dims, lax::SumDType(q.dtype()));  // [B, K, t, G, s]
  Value scores = lax::mul(product, f.scale);
  const Dims shape = scores.shape();
  Value allowed = AllowedByPosition(f, at, q.dim(1), k.dim(1));
  const int64_t by_block[] = {2, 4};
  if (!allowed.is_none()) allowed = lax::broadcast_in_dim(allowed, shape, by_block);
  for (const Value& extra : extras) {
    const Value x = Grouped(f, extra, shape);
    if (!IsMask(extra.type())) {
      scores = lax::add(scores, lax::convert_element_type(x, scores.dtype()));
    } else {
      allowed = allowed.is_none() ? x : lax::bitwise_and(allowed, x);
    }
  }
  return allowed.is_none() ? scores : Masked(allowed, scores);
}
inline Value LogSumExp(const Value& x, Dims axes) {
  const Value top = lax::stop_gradient(lax::reduce_max(x, axes));
  const Value terms = lax::exp(lax::sub(x, SpreadAlong(top, x.shape(), axes)));
  return lax::add(top, lax::log(lax::reduce_sum(terms, axes)));
}
// The results [B, t, N, H] and [B, t, N]. `words`: of the keys of dropout, or unset.
inline Values Attend(const AttentionForm& f, const BlockPosition& at, const Value& q, const Value& k, const Value& v,
                     std::span<const Value> extras, const Value& words) {
  const Value scores = Scores(f, at, q, k, extras);
  const int64_t last[] = {4};
  Value p = Emit1("softmax", {scores}, {{"axes", Dims(last)}});
  if (!words.is_none()) p = Dropped(f, words, at, p);
  const lax::DotDims dims{{4}, {1}, {0, 1}, {0, 2}};
  const Value out = lax::dot_general(lax::convert_element_type(p, v.dtype()), v, dims);  // [B, K, t, G, H]
  const int64_t order[] = {0, 2, 1, 3, 4}, out_shape[] = {f.b, q.dim(1), f.n, f.h};
  const int64_t sum_shape[] = {f.b, q.dim(1), f.n};
  const Value sums = lax::transpose(LogSumExp(scores, last), Dims(order).first(4));
  return {lax::reshape(lax::transpose(out, order), out_shape), lax::reshape(sums, sum_shape)};
}

// ---- all blocks ----
// How many keys before and after its own position a query sees, no more than there are.
struct Reach {
  explicit Reach(const AttentionForm& f) {
    const bool is_limited = !f.window.empty();
    before = is_limited ? std::min(f.window[0], f.t) : f.t;
    after = f.is_causal ? 0 : is_limited ? std::min(f.window[1], f.s) : f.s;
  }
  // The keys that a block of queries sees.
  int64_t OfBlock(int64_t size) const { return before + size + after; }  // exact: lengths of sequences

  int64_t before = 0, after = 0;
};
// Whether keys may be left out: only where every query sees a key among those that are left, else all count alike.
inline bool LeavesOutKeys(const AttentionForm& f) {
  return f.by_position() && f.t - Reach(f).before <= f.s && !f.has_mask;  // exact: not negative
}
// Queries of one block: as many as give a few million scores, but enough for products to be efficient. Where keys are
// left out, a short sequence has several blocks too, since the first ones see few keys.
inline int64_t BlockSize(const Eqn& e, const AttentionForm& f) {
  constexpr int64_t kScores = int64_t{1} << 23, kLeast = 128, kMost = 256, kFew = 4;
  if (e.has("block_size")) return std::min(e.integer("block_size"), std::max<int64_t>(f.t, 1));
  const bool leaves_out = LeavesOutKeys(f);
  const int64_t keys = leaves_out ? std::min(f.s, Reach(f).OfBlock(kMost)) : f.s;
  const int64_t rows = std::max<int64_t>(ElementCount(Shape{f.b, f.n, keys}), 1);
  const int64_t most = leaves_out ? std::clamp((f.t + kFew - 1) / kFew, kLeast, kMost) : kMost;  // exact: rounded up
  return std::min(std::clamp(kScores / rows, kLeast, most), std::max<int64_t>(f.t, 1));
}
// Rows [from, from + blocks * size) of dimension `axis` of x, zeros after its end, with the blocks as dimension 0.
inline Value InBlocks(const Value& x, int64_t axis, int64_t from, int64_t blocks, int64_t size) {
  const int64_t wanted = blocks * size, limit = std::min(x.dim(axis), from + wanted);  // exact: rounded up once
  Value rows = lax::slice_in_dim(x, from, limit, axis);
  Shape none(static_cast<size_t>(x.rank()), 0), after = none, split(x.shape().begin(), x.shape().end());
  after[static_cast<size_t>(axis)] = from + wanted - limit;  // exact: less than a block
  if (limit < from + wanted) rows = lax::pad(rows, lax::zeros(x.builder, x.type().WithShape({})), none, after, none);
  split[static_cast<size_t>(axis)] = size;
  split.insert(split.begin() + axis, blocks);
  return rules::MoveDim(lax::reshape(rows, split), axis, 0);
}
// The blocks [blocks, B, size, ...] in sequence, the first `rows` rows of them: [B, rows, ...].
inline Value FromBlocks(const Value& y, int64_t rows) {
  const Value moved = rules::MoveDim(y, 0, 1);
  Shape joined(moved.shape().begin(), moved.shape().end());
  joined[1] *= joined[2];  // exact: the rows and less than a block
  joined.erase(joined.begin() + 2);
  return lax::slice_in_dim(lax::reshape(moved, joined), 0, rows, 1);
}

// The blocks of queries from `from` on, `blocks` of `size` each, of `keys` keys from `first_key` on, of which each
// block sees `seen` in a row.
struct BlockRange {
  int64_t from, blocks, size, first_key, keys, seen;
  int64_t Rows(const AttentionForm& f) const { return std::min(f.t - from, blocks * size); }  // exact: rounded up once
};
class AttentionScan {
 public:
  // `queries`: those of the blocks of r.
  AttentionScan(const Eqn& e, const BlockRange& r, const Value& queries, std::span<const Value> in)
      : e_(e), f_(e), r_(r) {
    const int64_t heads[] = {f_.b, queries.dim(1), f_.k, f_.g, f_.h};
    consts_ = {Keys(in[kKey], 1), Keys(in[kValue], 1)};
    slices_ = {Positions(), InBlocks(lax::reshape(queries, heads), 1, 0, r.blocks, r.size)};
    for (const Value& extra : in.subspan(kFirstExtra, f_.extras_end - kFirstExtra)) {
      const bool by_key = extra.dim(3) != 1, by_query = extra.dim(2) != 1;
      const Value x = by_key ? Keys(extra, 3) : extra;
      by_query_.push_back(by_query);
      (by_query ? slices_ : consts_).push_back(by_query ? InBlocks(x, 2, r.from, r.blocks, r.size) : x);
    }
    if (f_.has_dropout) consts_.push_back(KeyWords(f_, in.back()));
  }
  // The results for these queries.
  Values Run() const {
    const lax::OwnedProgram trip = lax::ProgramOf(e_, TripTypes(), [&](const Values& in) { return Trip(in); });
    const auto one_trip = [&](const Values& in) {
      return EmitN(2, "checkpoint", in, {{"body", trip.handle()}, {"policy", "nothing"}});
    };
    const int64_t rows = r_.Rows(f_);
    Values in = consts_;
    if (r_.blocks == 1) {
      for (const Value& v : slices_) in.push_back(lax::reshape(v, v.shape().subspan(1)));
      Values out = one_trip(in);
      for (Value& v : out) v = lax::slice_in_dim(v, 0, rows, 1);
      return out;
    }
    const lax::OwnedProgram body = lax::ProgramOf(e_, TripTypes(), one_trip);
    in.insert(in.end(), slices_.begin(), slices_.end());
    Values out =
        EmitN(2, "scan", in,
              {{"body", body.handle()}, {"length", r_.blocks}, {"num_consts", consts_.size()}, {"num_carry", 0}});
    for (Value& v : out) v = FromBlocks(v, rows);
    return out;
  }

 private:
  // The keys of these blocks, along dimension `axis` of x.
  Value Keys(const Value& x, int64_t axis) const {
    return lax::slice_in_dim(x, r_.first_key, r_.first_key + r_.keys, axis);  // exact: a part of x
  }
  // The number, among the keys of these blocks, of the first that the block of queries from `first` on sees.
  Value FirstSeen(const Value& first) const {
    const auto number = [&](int64_t n) { return lax::full_like(first, n); };
    if (r_.seen == r_.keys) return number(0);
    const int64_t ahead = Reach(f_).before + r_.first_key;  // exact: lengths of sequences
    const Value last = number(r_.keys - r_.seen), wanted = lax::sub(first, number(ahead));
    return lax::clamp(number(0), wanted, last);
  }
  // The keys that a block sees, from `start` on, along dimension `axis` of x, which has all keys or one for all.
  Value Seen(const Value& x, const Value& start, int64_t axis) const {
    if (x.dim(axis) == 1 || r_.seen == r_.keys) return x;
    Shape sizes(x.shape().begin(), x.shape().end());
    sizes[static_cast<size_t>(axis)] = r_.seen;
    Values starts(sizes.size(), lax::zeros_like(start));
    starts[static_cast<size_t>(axis)] = start;
    return lax::dynamic_slice(x, starts, sizes);
  }
  // The position of the first query of each block.
  Value Positions() const {
    const int64_t shape[] = {r_.blocks};
    const Value number = lax::iota(e_.builder(), DType::kI64, shape, 0);
    const Value first = lax::full_like(number, r_.from);
    return lax::add(lax::mul(number, lax::full_like(number, r_.size)), first);
  }
  std::vector<ricci_type> TripTypes() const {
    std::vector<ricci_type> types;
    for (const Value& v : consts_) types.push_back(v.type().id());
    for (const Value& v : slices_) types.push_back(v.type().WithShape(v.shape().subspan(1)).id());
    return types;
  }
  // One trip, of the constants and a slice of each of the others.
  Values Trip(const Values& in) const {
    const Value first = in[consts_.size()], start = FirstSeen(first);
    const BlockPosition at = {first, lax::add(start, lax::full_like(start, r_.first_key))};
    size_t const_at = 2, slice_at = consts_.size() + 2;
    Values extras;
    for (bool by_query : by_query_) extras.push_back(Seen(in[by_query ? slice_at++ : const_at++], start, 3));
    const Value words = f_.has_dropout ? in[consts_.size() - 1] : Value();
    const Value values = Seen(in[1], start, 1), keys = Seen(in[0], start, 1);
    return Attend(f_, at, in[consts_.size() + 1], keys, values, extras, words);
  }

  const Eqn& e_;
  const AttentionForm f_;
  const BlockRange r_;
  Values consts_, slices_;
  std::vector<bool> by_query_;  // whether each of the bias and mask has a row for each query
};

// One group where keys are not left out, or where the windows of trips leave out most of them.
inline std::vector<BlockRange> BlockRanges(const Eqn& e, const AttentionForm& f) {
  constexpr int64_t kGroups = 4;
  const int64_t size = BlockSize(e, f), blocks = (f.t + size - 1) / size;  // exact: rounded up once
  if (!LeavesOutKeys(f)) return {{0, blocks, size, 0, f.s, f.s}};
  const Reach reach(f);
  const int64_t seen = reach.OfBlock(size), groups = seen <= f.s / 2 ? 1 : std::min(kGroups, blocks);
  std::vector<BlockRange> out;
  for (int64_t i = 0; i < groups; ++i) {
    const int64_t first = blocks * i / groups, limit = blocks * (i + 1) / groups;              // exact: few groups
    const int64_t from = first * size, first_key = std::max<int64_t>(from - reach.before, 0);  // exact: a row
    const int64_t keys = std::min(f.s, limit * size + reach.after) - first_key;                // exact: rounded up once
    out.push_back({from, limit - first, size, first_key, keys, std::min(seen, keys)});
  }
  return out;
}

}}}  // namespace ricci::v0::nn
#endif
