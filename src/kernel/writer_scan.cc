// Prefix scans of the Writer: a loop whose combiner is a separate piece of text before the body, because it may run
// several times for one iteration, on values that belong to no iteration: of neighbouring lanes, of chunks. Each state
// has instructions of its own (LEFT, RIGHT, COMBINED, PREFIX), so tables need no pool of operands. The interpreter runs
// the combiner once a trip, in order.
#include <algorithm>

#include "kernel/block_ops.h"
#include "kernel/scalar/scalar_eval.h"
#include "kernel/writer.h"
#include "kernel/writer_state.h"

namespace ricci { inline namespace v0 { namespace kernel {
namespace {

// The instructions of the states of a scan, by state.
struct ScanParts {
  std::vector<Val> left, right, combined, prefix;

  ScanParts(const NodeTable& nodes, std::span<const Val> body) {
    for (const Val v : body) {
      if (nodes.Is(v, RICCI_K_LEFT)) left.push_back(v);
      if (nodes.Is(v, RICCI_K_RIGHT)) right.push_back(v);
      if (nodes.Is(v, RICCI_K_COMBINED)) combined.push_back(v);
      if (nodes.Is(v, RICCI_K_PREFIX)) prefix.push_back(v);
    }
  }
};

}  // namespace

void Writer::Scan(Val lo, Val hi, std::span<const Val> identities, Val* left, Val* right) {
  if (!CheckIndex(lo, "scan") || !CheckIndex(hi, "scan")) return;
  if (!Check(!identities.empty(), "scan: there must be at least one state")) return;
  for (const Val v : identities) {
    if (!CheckValue(v, "scan")) return;
  }
  Impl& w = *impl_;
  Block block{.kind = BlockKind::kScan};
  block.order_begin = w.nodes.order.size();
  block.outer_scope = w.nodes.scope();
  block.memory = w.memory.Enter(/*loop=*/true);
  block.states = static_cast<uint32_t>(identities.size());
  const Range a = w.nodes.RangeOf(lo), b = w.nodes.RangeOf(hi);
  block.dropped = b.max <= a.min;
  w.nodes.OpenScope();
  block.begin = w.nodes.Append({RICCI_K_SCAN, RICCI_I64, lo, hi, 0, block.states});
  if (!block.dropped && b.max != INT64_MIN) w.nodes.Narrow(block.begin, {a.min, b.max - 1});
  w.blocks.push_back(block);
  w.nodes.OpenScope();
  for (uint32_t i = 0; i < block.states; ++i) {
    left[i] = w.nodes.Append({RICCI_K_LEFT, static_cast<uint16_t>(DType(identities[i])), identities[i], 0, 0, i});
  }
  for (uint32_t i = 0; i < block.states; ++i) {
    right[i] = w.nodes.Append({RICCI_K_RIGHT, static_cast<uint16_t>(DType(identities[i])), 0, 0, 0, i});
  }
}

// Checks that `values` are one for each state of the innermost open scan, of its dtype.
bool Writer::CheckStates(const char* what, std::span<const Val> values) {
  if (!ok()) return false;
  Impl& w = *impl_;
  const std::string name = what;
  const bool open = !w.blocks.empty() && w.blocks.back().kind == BlockKind::kScan;
  if (!Check(open, name + ": no scan is open")) return false;
  const Block& block = w.blocks.back();
  if (!Check(values.size() == block.states, name + ": there must be one value for each state")) return false;
  for (size_t i = 0; i < values.size(); ++i) {
    const Val left = block.begin + 1 + static_cast<Val>(i);
    if (!CheckValue(values[i], what)) return false;
    if (!Check(DType(values[i]) == DType(left), name + ": the dtype is not that of the identity")) return false;
  }
  return true;
}

Val Writer::Combiner(std::span<const Val> results) {
  if (!CheckStates("combiner", results)) return 0;
  Impl& w = *impl_;
  Block& block = w.blocks.back();
  if (!Check(!block.has_combiner, "combiner: the scan already has one")) return 0;
  for (size_t i = block.order_begin + 1; i < w.nodes.order.size(); ++i) {
    const uint16_t op = w.nodes[w.nodes.order[i]].inst.op;
    if (!Check(IsScalar(op) || IsPartOfScan(op), "combiner: it may have only scalar operations")) return 0;
  }
  block.has_combiner = true;
  for (size_t i = 0; i < results.size(); ++i) {
    const auto dtype = static_cast<uint16_t>(DType(results[i]));
    w.nodes.Append({RICCI_K_COMBINED, dtype, results[i], 0, 0, static_cast<int64_t>(i)});
  }
  w.nodes.CloseScope(w.nodes.ScopeOf(block.begin));
  return block.begin;
}

void Writer::Prefix(std::span<const Val> elements, Val* prefixes) {
  if (!CheckStates("prefix", elements)) return;
  Impl& w = *impl_;
  Block& block = w.blocks.back();
  if (!Check(block.has_combiner && !block.has_prefix, "prefix: a scan has one, after the combiner")) return;
  block.has_prefix = true;
  for (size_t i = 0; i < elements.size(); ++i) {
    const auto dtype = static_cast<uint16_t>(DType(elements[i]));
    prefixes[i] = w.nodes.Append({RICCI_K_PREFIX, dtype, elements[i], 0, 0, static_cast<int64_t>(i)});
  }
}

// Like Unroll: in place of the prefixes the combiner is written again, from the states and the elements.
void Writer::UnrollScan(const Block& block) {
  Impl& w = *impl_;
  const ricci_inst begin = w.nodes[block.begin].inst;
  const std::vector<Val> body(w.nodes.order.begin() + static_cast<ptrdiff_t>(block.order_begin) + 1,
                              w.nodes.order.end());
  const ScanParts parts(w.nodes, body);
  const auto end = std::find(body.begin(), body.end(), parts.combined.back());
  const std::vector<Val> combiner(body.begin(), end), loop(end + 1, body.end());
  w.nodes.order.resize(block.order_begin);
  w.nodes.CloseScope(block.outer_scope);
  w.memory.Rollback(block.memory);
  std::vector<Val> now(w.nodes.size() - block.begin), states;
  const auto current = [&](Val v) { return v < block.begin || w.nodes.IsConstant(v) ? v : now[v - block.begin]; };
  for (const Val v : parts.left) states.push_back(w.nodes[v].inst.a);
  const auto combine = [&] {
    for (size_t i = 0; i < states.size(); ++i) {
      now[parts.left[i] - block.begin] = states[i];
      now[parts.right[i] - block.begin] = current(w.nodes[parts.prefix[i]].inst.a);
    }
    for (const Val v : combiner) {
      if (!IsPartOfScan(w.nodes[v].inst.op)) Replay(w.nodes[v].inst, v, block.begin, now);
    }
    for (size_t i = 0; i < states.size(); ++i) {
      now[parts.prefix[i] - block.begin] = states[i] = current(w.nodes[parts.combined[i]].inst.a);
    }
  };
  const int64_t lo = *w.nodes.IntegerOf(begin.a), hi = *w.nodes.IntegerOf(begin.b);
  for (int64_t i = lo; i < hi && ok(); ++i) {
    now[0] = Index(i);
    for (const Val v : loop) {
      if (v == parts.prefix.back()) {
        combine();
      } else if (!w.nodes.Is(v, RICCI_K_PREFIX)) {
        Replay(w.nodes[v].inst, v, block.begin, now);
      }
    }
  }
}

}}}  // namespace ricci::v0::kernel
