// The end of a Writer: from nodes to the flat table.
//
// Dead code first: what reaches no store and no check is removed, with the loops and branches around it. Then the outer
// parallel loops become the domain, if there are only repeatable scalars around them. Last, constants move to the top
// and numbers become dense.
//
// A division by a power of two becomes a shift here, not before: the simplifier must recognise digits `x / a % b`.
// Loops after the load of a position of a COMBINE are not part of the domain.
#include <algorithm>
#include <bit>

#include "base/hash_map.h"
#include "kernel/block_ops.h"
#include "kernel/scalar/scalar_eval.h"
#include "kernel/writer_state.h"

namespace ricci { inline namespace v0 { namespace kernel {
namespace {

// Division of a non-negative value by a power of two needs no correction for the sign.
void UseShifts(NodeTable& nodes) {
  for (const Val v : std::vector<Val>(nodes.order)) {
    if (!nodes[v].non_negative_division) continue;
    const int64_t c = nodes.IntegerOf(nodes[v].inst.b).value_or(0);
    if (!std::has_single_bit(static_cast<uint64_t>(c))) continue;
    const bool division = nodes.Is(v, RICCI_S_DIV);
    const Val operand = nodes.Integer(nodes.DType(v), division ? std::countr_zero(static_cast<uint64_t>(c)) : c - 1);
    nodes[v].inst.op = division ? RICCI_S_SHR : RICCI_S_AND;
    nodes[v].inst.b = operand;
  }
}

// ---- dead code ----
class Liveness {
 public:
  explicit Liveness(const NodeTable& nodes) : nodes_(nodes), links_(nodes.size()), live_(nodes.size()) {
    Scan();
    for (; !work_.empty();) {
      const Val v = work_.back();
      work_.pop_back();
      Visit(v);
    }
  }

  std::vector<Val> Kept() const {
    std::vector<Val> kept;
    for (const Val v : nodes_.order) {
      if (!Keeps(v)) continue;
      if (nodes_.Is(v, RICCI_K_END) && nodes_.Is(kept.back(), RICCI_K_ELSE)) kept.pop_back();
      kept.push_back(v);
    }
    return kept;
  }

 private:
  struct Links {
    Val block = 0;    // the instruction that opens the block around it
    Val partner = 0;  // of END, ELSE: what opened the block; of WHILE: its COND; of REDUCE: its YIELD
    Val set = 0;      // of LOCAL: its last SET; of SET: the one before
  };

  void Scan() {
    std::vector<Val> open{0};
    for (const Val v : nodes_.order) {
      const ricci_inst& inst = nodes_[v].inst;
      if (ClosesBlock(inst.op)) {
        links_[v].partner = open.back();
        if (inst.op == RICCI_K_YIELD) links_[open.back()].partner = v;
        open.pop_back();
      }
      links_[v].block = open.back();
      if (inst.op == RICCI_K_ELSE) links_[v].partner = open.back();
      if (inst.op == RICCI_K_COND) links_[open.back()].partner = v;
      if (IsPartOfScan(inst.op)) parts_[open.back()].push_back(v);
      if (inst.op == RICCI_K_SET) links_[v].set = std::exchange(links_[inst.a].set, v);
      if (HasEffect(inst.op) && inst.op != RICCI_K_SET) Mark(v);
      if (OpensBlock(inst.op)) open.push_back(v);
    }
  }

  void Mark(Val v) {
    if (v == 0 || live_[v]) return;
    live_[v] = 1;
    work_.push_back(v);
  }

  void Visit(Val v) {
    const ricci_inst& inst = nodes_[v].inst;
    Mark(links_[v].block);
    Mark(inst.a), Mark(inst.b), Mark(inst.c);
    if (inst.op == RICCI_K_WHILE || inst.op == RICCI_K_REDUCE) Mark(links_[v].partner);
    if (inst.op == RICCI_K_SCAN) {
      for (const Val part : parts_[v]) Mark(part);
    }
    if (inst.op != RICCI_K_LOCAL) return;
    for (Val set = links_[v].set; set != 0; set = links_[set].set) Mark(set);
  }

  bool Keeps(Val v) const {
    const ricci_inst& inst = nodes_[v].inst;
    if (inst.op == RICCI_K_END || inst.op == RICCI_K_ELSE) return live_[links_[v].partner];
    if (inst.op != RICCI_K_ASSUME_LESS) return live_[v];
    return live_[inst.a] && !nodes_.IsConstant(inst.a) && (links_[v].block == 0 || live_[links_[v].block]);
  }

  const NodeTable& nodes_;
  std::vector<Links> links_;
  base::HashMap<Val, std::vector<Val>> parts_;  // of a SCAN
  std::vector<uint8_t> live_;
  std::vector<Val> work_;
};

// ---- the domain ----
class DomainFinder {
 public:
  DomainFinder(NodeTable& nodes, size_t n_buffers) : nodes_(nodes), written_(n_buffers) {}

  // Turns loops of `text` into DOMAIN instructions; returns the extents.
  std::vector<int64_t> Run(std::vector<Val>& text) {
    FindEnds(text);
    std::vector<int64_t> extents;
    size_t end = text.size();
    for (size_t i = 0; i < end && extents.size() < RICCI_MAX_RANK; ++i) {
      const ricci_inst inst = nodes_[text[i]].inst;
      if (Repeatable(inst)) continue;
      if (!IsParallelFromZero(inst) || end_of_[i] + 1 != end) break;
      const auto dim = static_cast<int64_t>(extents.size());
      extents.push_back(*nodes_.IntegerOf(inst.b));
      nodes_[text[i]].inst = {RICCI_K_DOMAIN, RICCI_I64, 0, 0, 0, dim};
      --end;
    }
    text.resize(end);
    return extents;
  }

 private:
  void FindEnds(const std::vector<Val>& text) {
    end_of_.resize(text.size());
    std::vector<size_t> open;
    for (size_t i = 0; i < text.size(); ++i) {
      const ricci_inst& inst = nodes_[text[i]].inst;
      if (inst.op == RICCI_K_STORE || inst.op == RICCI_K_COMBINE) written_[RICCI_BUFFER_OF(inst.imm)] = 1;
      combines_ |= inst.op == RICCI_K_COMBINE;
      if (ClosesBlock(inst.op)) {
        end_of_[open.back()] = i;
        open.pop_back();
      }
      if (OpensBlock(inst.op)) open.push_back(i);
    }
  }
  bool Repeatable(const ricci_inst& inst) const {
    // Where windows are combined into a buffer, the position of a window is loaded once for all of its elements.
    if (inst.op == RICCI_K_LOAD) return !written_[inst.imm] && !combines_;
    return IsScalar(inst.op) || inst.op == RICCI_K_LOCAL || inst.op == RICCI_K_ASSUME_LESS;
  }
  bool IsParallelFromZero(const ricci_inst& inst) const {
    return inst.op == RICCI_K_FOR && inst.imm == 1 && nodes_.IntegerOf(inst.a) == 0 && nodes_.IntegerOf(inst.b);
  }

  NodeTable& nodes_;
  std::vector<uint8_t> written_;
  bool combines_ = false;
  std::vector<size_t> end_of_;
};

// ---- numbers ----
void Renumber(const NodeTable& nodes, const std::vector<Val>& text, Kernel& k) {
  std::vector<Val> number(nodes.size());
  const auto add = [&](Val v, const ricci_inst& inst) {
    number[v] = static_cast<Val>(k.insts.size());
    k.insts.push_back(inst);
    k.locations.push_back(nodes[v].location);
  };
  add(0, nodes[0].inst);
  for (const Val v : text) {
    const ricci_inst& inst = nodes[v].inst;
    for (const Val operand : {inst.a, inst.b, inst.c}) {
      if (operand == 0 || number[operand] != 0 || !nodes.IsConstant(operand)) continue;
      add(operand, nodes[operand].inst);
    }
  }
  for (const Val v : text) {
    ricci_inst inst = nodes[v].inst;
    inst.a = number[inst.a], inst.b = number[inst.b], inst.c = number[inst.c];
    add(v, inst);
  }
  const auto is_unknown = [](uint64_t location) { return location == 0; };
  if (std::all_of(k.locations.begin(), k.locations.end(), is_unknown)) k.locations.clear();
}

// Sets the access of each buffer to what is done to it, at least one of READ and WRITE.
void SetAccess(Kernel& k) {
  std::vector<uint32_t> used(k.buffers.size());
  for (const ricci_inst& inst : k.insts) {
    if (inst.op == RICCI_K_LOAD) used[inst.imm] |= RICCI_ACCESS_READ;
    if (inst.op == RICCI_K_STORE) used[inst.imm] |= RICCI_ACCESS_WRITE;
    if (inst.op == RICCI_K_COMBINE) used[RICCI_BUFFER_OF(inst.imm)] |= RICCI_ACCESS_READ | RICCI_ACCESS_WRITE;
  }
  for (size_t i = 0; i < used.size(); ++i) {
    if (used[i] != 0) k.buffers[i].access = used[i];
  }
}

}  // namespace

Kernel FinishKernel(Writer::Impl& w) {
  UseShifts(w.nodes);
  std::vector<Val> text = Liveness(w.nodes).Kept();
  Kernel k;
  k.name = w.name;
  k.buffers = std::move(w.buffers);
  k.domain = DomainFinder(w.nodes, k.buffers.size()).Run(text);
  Renumber(w.nodes, text, k);
  SetAccess(k);
  return k;
}

}}}  // namespace ricci::v0::kernel
