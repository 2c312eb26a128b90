// Blocks of the Writer: loops, branches, reductions.
//
// A block is a scope of values, and a mark in the text and in the state of the memory. What turns out never to run is
// written like everything else and cut off when its block ends, so that lowerings need not know.
#include <algorithm>
#include <utility>

#include "base/status.h"
#include "kernel/block_ops.h"
#include "kernel/scalar/scalar_eval.h"
#include "kernel/writer.h"
#include "kernel/writer_state.h"
#include "ricci/exact.h"

namespace ricci { inline namespace v0 { namespace kernel {
namespace {

Block Open(Writer::Impl& w, BlockKind kind, bool loop) {
  Block b{.kind = kind};
  b.order_begin = w.nodes.order.size();
  b.outer_scope = w.nodes.scope();
  b.memory = w.memory.Enter(loop);
  return b;
}

// The number of trips of a loop from lo to hi - 1; nothing if it is not known.
std::optional<int64_t> TripCount(const NodeTable& nodes, Val lo, Val hi) {
  const Range a = nodes.RangeOf(lo), b = nodes.RangeOf(hi);
  if (b.max <= a.min) return 0;
  if (a.min != a.max || b.min != b.max) return std::nullopt;
  int64_t trips = 0;
  return __builtin_sub_overflow(b.min, a.min, &trips) ? std::nullopt : std::optional(trips);
}

bool HasNoEffect(const Writer::Impl& w, const Block& block) {
  return std::none_of(w.nodes.order.begin() + static_cast<ptrdiff_t>(block.order_begin), w.nodes.order.end(),
                      [&](Val v) { return HasEffect(w.nodes[v].inst.op); });
}

}  // namespace

// Opens FOR or REDUCE, whose block the caller has pushed; returns the index.
Val Writer::OpenLoop(uint32_t op, Val lo, Val hi, int64_t imm) {
  Impl& w = *impl_;
  Block& block = w.blocks.back();
  const std::optional<int64_t> trips = TripCount(w.nodes, lo, hi);
  block.dropped = trips == 0;
  block.emitted = trips != 1;
  const Range a = w.nodes.RangeOf(lo), b = w.nodes.RangeOf(hi);
  if (!block.emitted) {
    w.memory.Leave(block.memory);
    return a.min == a.max ? w.nodes.Integer(RICCI_I64, a.min) : lo;
  }
  w.nodes.OpenScope();
  const uint16_t dtype = RICCI_I64;
  block.begin = w.nodes.Append({static_cast<uint16_t>(op), dtype, lo, hi, 0, imm});
  if (!block.dropped && b.max != INT64_MIN) w.nodes.Narrow(block.begin, {a.min, b.max - 1});
  return block.begin;
}

Val Writer::For(Val lo, Val hi, bool parallel) {
  if (!CheckIndex(lo, "for") || !CheckIndex(hi, "for")) return 0;
  impl_->blocks.push_back(Open(*impl_, BlockKind::kFor, /*loop=*/true));
  return OpenLoop(RICCI_K_FOR, lo, hi, parallel);
}

int64_t Writer::Points() const {
  const NodeTable& nodes = impl_->nodes;
  int64_t points = 1;
  for (const Block& block : impl_->blocks) {
    if (!block.emitted) continue;
    const ricci_inst& begin = nodes[block.begin].inst;
    const std::optional<int64_t> trips = TripCount(nodes, begin.a, begin.b);
    if (block.kind != BlockKind::kFor || begin.imm == 0 || !trips) break;
    points = ricci_exact_clamp(ricci_exact_of(points) * *trips, 0, INT64_MAX);
  }
  return points;
}

void Writer::InOrder(uint32_t depth) {
  for (size_t i = depth; i < impl_->blocks.size(); ++i) {
    const Block& block = impl_->blocks[i];
    if (block.kind == BlockKind::kFor && block.emitted) impl_->nodes[block.begin].inst.imm = 0;
  }
}

void Writer::Parallel(std::span<const int64_t> extents, Val* index) {
  if (!ok()) return;
  impl_->blocks.push_back(Open(*impl_, BlockKind::kGroup, /*loop=*/false));
  impl_->blocks.back().emitted = false;
  for (size_t i = 0; i < extents.size(); ++i) {
    index[i] = For(Index(0), Index(extents[i]), /*parallel=*/true);
    if (ok()) impl_->blocks.back().in_group = true;
  }
}

void Writer::While() {
  if (!ok()) return;
  Impl& w = *impl_;
  w.blocks.push_back(Open(w, BlockKind::kWhile, /*loop=*/true));
  w.nodes.OpenScope();
  w.blocks.back().begin = w.nodes.Append({RICCI_K_WHILE, 0, 0, 0, 0, 0});
}

void Writer::Cond(Val condition) {
  if (!CheckValue(condition, "cond") || !Check(DType(condition) == RICCI_BOOL, "cond: the condition must be bool")) {
    return;
  }
  Impl& w = *impl_;
  const bool expected = !w.blocks.empty() && w.blocks.back().kind == BlockKind::kWhile && !w.blocks.back().has_cond;
  if (!Check(expected, "cond: no while is open that lacks its condition")) return;
  w.blocks.back().has_cond = true;
  w.nodes.Append({RICCI_K_COND, 0, condition, 0, 0, 0});
  w.folder.Assume(condition, true, &w.blocks.back().facts);
}

void Writer::If(Val condition) {
  if (!CheckValue(condition, "if") || !Check(DType(condition) == RICCI_BOOL, "if: the condition must be bool")) return;
  Impl& w = *impl_;
  Block block = Open(w, BlockKind::kIf, /*loop=*/false);
  const std::optional<bool> truth = w.folder.Truth(condition);
  block.condition = condition;
  block.emitted = truth != true;
  block.skip_else = truth == true;
  block.dropped = truth == false;
  if (block.emitted) {
    w.nodes.OpenScope();
    block.begin = w.nodes.Append({RICCI_K_IF, 0, condition, 0, 0, 0});
    if (!truth) w.folder.Assume(condition, true, &block.facts);
  }
  w.blocks.push_back(std::move(block));
}

void Writer::Else() {
  if (!ok()) return;
  Impl& w = *impl_;
  if (!Check(!w.blocks.empty() && w.blocks.back().kind == BlockKind::kIf, "else: no if is open")) return;
  const Block then = w.blocks.back();
  if (then.skip_else || then.dropped) {
    CloseBlock();
    Block block = Open(w, BlockKind::kElse, /*loop=*/false);
    block.dropped = then.skip_else;
    block.emitted = block.dropped;
    if (block.emitted) w.nodes.OpenScope();
    w.blocks.push_back(std::move(block));
    return;
  }
  Block& block = w.blocks.back();
  block.kind = BlockKind::kElse;
  w.folder.Forget(&block.facts);
  w.nodes.CloseScope(block.outer_scope);
  w.nodes.OpenScope();
  w.nodes.Append({RICCI_K_ELSE, 0, 0, 0, 0, 0});
  // A mark of `then` stays in block.memory: whatever either branch wrote is unknown after the block.
  w.memory.Leave(then.memory);
  w.folder.Assume(block.condition, false, &block.facts);
}

void Writer::CloseBlock() {
  Impl& w = *impl_;
  Block block = std::move(w.blocks.back());
  w.blocks.pop_back();
  w.folder.Forget(&block.facts);
  if (!block.emitted) return;
  if (block.kind == BlockKind::kFor && ShouldUnroll(block)) {
    Unroll(block, 0);
    return;
  }
  if (block.kind == BlockKind::kScan && ShouldUnroll(block)) return UnrollScan(block);
  if (block.dropped) {
    w.nodes.order.resize(block.order_begin);
  } else if (block.kind != BlockKind::kReduce) {
    w.nodes.Append({RICCI_K_END, 0, 0, 0, 0, 0});
  }
  w.nodes.CloseScope(block.outer_scope);
  w.memory.Leave(block.memory);
}

void Writer::End() {
  if (!ok()) return;
  Impl& w = *impl_;
  if (!Check(!w.blocks.empty(), "end: no block is open")) return;
  while (w.blocks.back().in_group) CloseBlock();
  const Block& top = w.blocks.back();
  if (!Check(top.kind != BlockKind::kReduce, "end: a reduction is closed by its yield")) return;
  if (!Check(top.kind != BlockKind::kScan || top.has_prefix, "end: the scan has no prefix")) return;
  if (!Check(top.kind != BlockKind::kWhile || top.has_cond, "end: the while has no condition")) return;
  CloseBlock();
}

Val Writer::Reduce(uint32_t combiner, Val lo, Val hi) {
  if (!CheckIndex(lo, "reduce") || !CheckIndex(hi, "reduce")) return 0;
  if (!Check(IsCombiner(combiner), "reduce: the combiner must be add, mul, max, min, and, or, xor")) return 0;
  impl_->blocks.push_back(Open(*impl_, BlockKind::kReduce, /*loop=*/true));
  impl_->blocks.back().combiner = combiner;
  return OpenLoop(RICCI_K_REDUCE, lo, hi, combiner);
}

uint32_t Writer::OpenCombiner() const {
  const bool open = !impl_->blocks.empty() && impl_->blocks.back().kind == BlockKind::kReduce;
  return open ? impl_->blocks.back().combiner : 0;
}

Val Writer::Yield(Val v) {
  if (!CheckValue(v, "yield")) return 0;
  Impl& w = *impl_;
  if (!Check(!w.blocks.empty() && w.blocks.back().kind == BlockKind::kReduce, "yield: no reduction is open")) return 0;
  const Block block = w.blocks.back();
  const uint32_t dtype = DType(v);
  const uint32_t operands[] = {dtype, dtype};
  if (const auto result = ResultDType(block.combiner, 0, operands); !result.ok()) {
    Check(false, std::string(result.status().message()));
    return 0;
  }
  if (!types::IsNarrowFloat(dtype) && ShouldUnroll(block)) {
    w.blocks.pop_back();
    return Unroll(block, v);
  }
  const uint64_t identity = IdentityOf(block.combiner, dtype);
  // A reduction over a dimension of 0 elements is such a case, however often it would be repeated.
  const bool nothing = block.dropped || (ConstantBits(v) == identity && HasNoEffect(w, block));
  w.blocks.back().dropped = nothing;
  CloseBlock();
  if (nothing) return w.nodes.Constant(dtype, identity);
  if (!block.emitted) return v;
  const int64_t contracted = v > block.begin && IsContracted(block.combiner, v) ? 1 : 0;
  return w.nodes.Append({RICCI_K_YIELD, static_cast<uint16_t>(dtype), block.begin, v, 0, contracted});
}

}}}  // namespace ricci::v0::kernel
