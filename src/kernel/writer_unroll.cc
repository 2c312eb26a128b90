// Unrolling: a short loop over a private array is written again for each iteration, through the same calls.
//
// With constant indices the elements of small private arrays are forwarded from SET to GET, so the arrays vanish and
// their elements live in registers. Of loops that only access buffers, only the smallest reductions (products of 3 by 3
// matrices) are unrolled, since their loads are shared with what follows; the others stay, for backends to vectorise.
// The size is bounded per loop. A REDUCE of floats may be reordered, so it may be unrolled; one of narrow floats stays,
// because its sum is kept wider.
#include <algorithm>
#include <vector>

#include "kernel/block_ops.h"
#include "kernel/scalar/scalar_eval.h"
#include "kernel/writer.h"
#include "kernel/writer_state.h"
#include "ricci/exact.h"

namespace ricci { inline namespace v0 { namespace kernel {
namespace {

constexpr int64_t kMostIterations = 8;
constexpr size_t kMostInstructions = 256;
constexpr int64_t kFewIterations = 4;
constexpr size_t kFewInstructions = 64;
constexpr int64_t kLongLoop = 1024;

// Whether a parallel loop may still become the domain, which is worth more.
bool MayBecomeDomain(const std::vector<Block>& open, const Block& block, const NodeTable& nodes) {
  if (nodes[block.begin].inst.imm == 0 || block.kind != BlockKind::kFor) return false;
  bool mates = block.in_group;
  for (auto it = open.rbegin(); it != open.rend(); ++it) {
    if (mates && it->in_group) continue;
    mates = false;
    if (it->emitted) return false;
  }
  return true;
}

// Whether there is an inner loop that takes so long that what is around it does not matter; such a loop may be run by
// several threads.
bool HoldsLongLoop(const Block& block, const NodeTable& nodes) {
  for (size_t i = block.order_begin + 1; i < nodes.order.size(); ++i) {
    const ricci_inst& inst = nodes[nodes.order[i]].inst;
    if (inst.op != RICCI_K_FOR && inst.op != RICCI_K_REDUCE && inst.op != RICCI_K_SCAN) continue;
    const auto lo = nodes.IntegerOf(inst.a), hi = nodes.IntegerOf(inst.b);
    if (lo && hi && ricci_exact_clamp(ricci_exact_of(*hi) - *lo, 0, kLongLoop) == kLongLoop) return true;
  }
  return false;
}

}  // namespace

// `block` is a FOR, REDUCE or SCAN; it may still be on the stack of open blocks.
bool Writer::ShouldUnroll(const Block& block) const {
  const NodeTable& nodes = impl_->nodes;
  if (!block.emitted || block.dropped) return false;
  const ricci_inst& begin = nodes[block.begin].inst;
  const auto lo = nodes.IntegerOf(begin.a), hi = nodes.IntegerOf(begin.b);
  if (!lo || !hi) return false;
  const int64_t trips = ricci_exact_clamp(ricci_exact_of(*hi) - *lo, 0, kMostIterations + 1);
  if (trips > kMostIterations) return false;
  const auto opens_scan = [&](Val v) { return nodes.Is(v, RICCI_K_SCAN); };
  if (std::any_of(nodes.order.begin() + static_cast<ptrdiff_t>(block.order_begin) + 1, nodes.order.end(), opens_scan)) {
    return false;
  }
  const size_t body = nodes.order.size() - block.order_begin;
  const size_t total = body * static_cast<size_t>(trips);
  const bool few = trips <= kFewIterations && total <= kFewInstructions;
  if (block.kind == BlockKind::kReduce && few && !HoldsLongLoop(block, nodes)) return true;
  if (total > kMostInstructions) return false;
  if (block.kind == BlockKind::kScan) return true;
  for (size_t i = block.order_begin; i < nodes.order.size(); ++i) {
    const ricci_inst& inst = nodes[nodes.order[i]].inst;
    if (inst.op == RICCI_K_GET || inst.op == RICCI_K_SET) return !MayBecomeDomain(impl_->blocks, block, nodes);
  }
  return false;
}

// The block has been popped, and its instructions are the end of the text. Returns the combination of what was yielded.
Val Writer::Unroll(const Block& block, Val yielded) {
  Impl& w = *impl_;
  const ricci_inst begin = w.nodes[block.begin].inst;
  const std::vector<Val> body(w.nodes.order.begin() + static_cast<ptrdiff_t>(block.order_begin) + 1,
                              w.nodes.order.end());
  w.nodes.order.resize(block.order_begin);
  w.nodes.CloseScope(block.outer_scope);
  w.memory.Rollback(block.memory);
  std::vector<Val> now(w.nodes.size() - block.begin);  // what a value of the body is in this iteration
  Val combined = 0;
  const int64_t lo = *w.nodes.IntegerOf(begin.a), hi = *w.nodes.IntegerOf(begin.b);
  for (int64_t i = lo; i < hi && ok(); ++i) {
    now[0] = Index(i);
    for (const Val v : body) Replay(w.nodes[v].inst, v, block.begin, now);
    if (yielded == 0) continue;
    const Val v = Replayed(yielded, block.begin, now);
    if (combined != 0 && IsContracted(block.combiner, v)) {
      const ricci_inst product = w.nodes[v].inst;
      combined = MultiplyAdd(product.a, product.b, combined);
    } else {
      combined = combined != 0 ? Op(block.combiner, combined, v) : v;
    }
  }
  return combined;
}

// The first value closes the block; its body is then written again for each of the others, and what that value does not
// need of it is dead.
void Writer::Yields(std::span<const Val> values, Val* combined) {
  for (const Val v : values) {
    if (!CheckValue(v, "yield")) return;
  }
  Impl& w = *impl_;
  if (!Check(OpenCombiner() != 0, "yield: no reduction is open")) return;
  const Block block = w.blocks.back();
  const auto body_begin = w.nodes.order.begin() + static_cast<ptrdiff_t>(block.order_begin) + (block.emitted ? 1 : 0);
  const std::vector<Val> body(body_begin, w.nodes.order.end());
  const auto scans = [&](Val v) { return w.nodes.Is(v, RICCI_K_SCAN); };
  if (!Check(std::none_of(body.begin(), body.end(), scans),
             "yield: several values are not possible with a scan in the body"))
    return;
  const Val end = static_cast<Val>(w.nodes.size());
  combined[0] = Yield(values[0]);
  for (size_t i = 1; i < values.size() && ok(); ++i) {
    combined[i] = values[i];
    if (!block.emitted) continue;
    const ricci_inst begin = w.nodes[block.begin].inst;
    std::vector<Val> now(end - block.begin);
    now[0] = Reduce(block.combiner, begin.a, begin.b);
    for (const Val v : body) Replay(w.nodes[v].inst, v, block.begin, now);
    combined[i] = Yield(Replayed(values[i], block.begin, now));
  }
}

// The value in the copy for value `x` of a body that began at `first`.
Val Writer::Replayed(Val x, Val first, std::span<const Val> now) const {
  return x < first || impl_->nodes.IsConstant(x) ? x : now[x - first];
}

void Writer::Replay(const ricci_inst& source, Val v, Val first, std::vector<Val>& now) {
  const ricci_inst inst = source;  // a copy: the table grows meanwhile
  const auto current = [&](Val x) { return Replayed(x, first, now); };
  const Val a = current(inst.a), b = current(inst.b), c = current(inst.c);
  const auto buffer = static_cast<uint32_t>(inst.imm);
  Val& out = now[v - first];
  if (IsScalar(inst.op)) {
    const Val in[] = {a, b, c};
    out = Scalar(inst.op, inst.op == RICCI_S_CONVERT || inst.op == RICCI_S_BITCAST ? inst.dtype : 0,
                 {in, InfoOf(inst.op).arity});
    return;
  }
  switch (inst.op) {
    case RICCI_K_LOAD:
      out = Load(buffer, a);
      break;
    case RICCI_K_STORE:
      Store(buffer, a, b);
      break;
    case RICCI_K_COMBINE:
      Combine(buffer, a, RICCI_COMBINER_OF(inst.imm), b);
      break;
    case RICCI_K_LOCAL:
      out = static_cast<Val>(Local(inst.dtype, inst.imm));
      break;
    case RICCI_K_GET:
      out = Get(LocalId{a}, b);
      break;
    case RICCI_K_SET:
      Set(LocalId{a}, b, c);
      break;
    case RICCI_K_FOR:
      out = For(a, b, inst.imm != 0);
      break;
    case RICCI_K_WHILE:
      While();
      break;
    case RICCI_K_COND:
      Cond(a);
      break;
    case RICCI_K_IF:
      If(a);
      break;
    case RICCI_K_ELSE:
      Else();
      break;
    case RICCI_K_END:
      End();
      break;
    case RICCI_K_REDUCE:
      out = Reduce(buffer, a, b);
      break;
    case RICCI_K_YIELD:
      out = Yield(b);
      break;
    case RICCI_K_ASSUME_LESS:
      AssumeLess(a, inst.imm);
      break;
    case RICCI_K_CHECK:
      Require(a, buffer);
      break;
    default:
      break;  // constants and the domain are outside all bodies
  }
}

}}}  // namespace ricci::v0::kernel
