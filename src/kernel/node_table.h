// NodeTable: the instructions that a Writer has made so far, equal pure ones only once.
//
// A node's number is its value. Numbers grow and are never reused. `order` is the text of the kernel, from which blocks
// that turn out to be dead are cut off again. Every node belongs to a scope (an open block); a known value may be used
// again only while its scope is open, so leaving a block forgets what was known in it at no cost. Constants belong to
// no block and are not in `order`: the finished kernel has the constants that it uses at its top.
#ifndef RICCI_KERNEL_NODE_TABLE_H_
#define RICCI_KERNEL_NODE_TABLE_H_
#include <vector>

#include "base/hash_map.h"
#include "kernel/linear_form.h"
#include "kernel/writer.h"

namespace ricci { inline namespace v0 { namespace kernel {

struct Node {
  ricci_inst inst{};
  uint32_t scope = 0;
  uint64_t location = 0;
  uint32_t first_term = 0;  // of its form in the pool
  uint8_t n_terms = 0;
  bool has_form = false;
  bool non_negative_division = false;  // DIV or REM of a non-negative value by a positive constant
  int64_t form_constant = 0;
  Range range{INT64_MIN, INT64_MAX};
};

// What makes two pure instructions equal; `version` distinguishes states of the memory.
struct NodeKey {
  uint16_t op, dtype;
  uint32_t a, b, c, version;
  int64_t imm;
  bool operator==(const NodeKey&) const = default;
};
struct NodeKeyHash {
  size_t operator()(const NodeKey& k) const {
    const uint64_t head = uint64_t{k.op} << 48 ^ uint64_t { k.dtype } << 32 ^ k.version;
    const uint64_t operands = base::Mix(uint64_t{k.a} << 32 | k.b, head);
    return base::Mix(operands ^ k.c, static_cast<uint64_t>(k.imm));
  }
};

Range WidestRange(uint32_t dtype);
bool HasForms(uint32_t dtype);  // i32 and i64: linear forms are kept

class NodeTable {
 public:
  NodeTable();

  // ---- making ----
  Val Append(const ricci_inst& inst);  // new, in the current scope
  // The usable node equal to `inst`, or a new one. *fresh (may be NULL) says which.
  Val Unique(const ricci_inst& inst, uint32_t version = 0, bool* fresh = nullptr);
  // From now on, `key` is known to be `v`.
  void Remember(const NodeKey& key, Val v) { known_[key] = v; }
  Val Constant(uint32_t dtype, uint64_t bits);
  Val Integer(uint32_t dtype, int64_t v);

  // ---- asking ----
  const Node& operator[](Val v) const { return nodes_[v]; }
  Node& operator[](Val v) { return nodes_[v]; }
  size_t size() const { return nodes_.size(); }
  uint32_t DType(Val v) const { return nodes_[v].inst.dtype; }
  bool IsConstant(Val v) const { return nodes_[v].inst.op == RICCI_K_CONST; }
  bool Is(Val v, uint32_t op) const { return nodes_[v].inst.op == op; }
  uint64_t Bits(Val v) const { return static_cast<uint64_t>(nodes_[v].inst.imm); }
  // The value of an integer or bool constant.
  std::optional<int64_t> IntegerOf(Val v) const;
  bool Usable(Val v) const { return v != 0 && v < nodes_.size() && scope_open_[nodes_[v].scope]; }

  // ---- forms and ranges ----
  LinearForm FormOf(Val v) const;
  // The value known to have this form, or 0.
  Val FindForm(const LinearForm& f, uint32_t dtype) const;
  void SetForm(Val v, const LinearForm& f);
  // Bounds of the form as a sum of integers; nothing if it may leave the range of the dtype (then it wraps).
  std::optional<Range> ExactRange(const LinearForm& f, uint32_t dtype) const;
  Range RangeOf(Val v) const;
  void Narrow(Val v, Range r);  // intersects; an empty result changes nothing

  // ---- scopes ----
  uint32_t OpenScope();
  void CloseScope(uint32_t outer);  // the current one; `outer` becomes current
  uint32_t scope() const { return scope_; }
  bool IsOpen(uint32_t scope) const { return scope_open_[scope] != 0; }
  uint32_t ScopeOf(Val v) const { return nodes_[v].scope; }

  std::vector<Val> order;
  uint64_t location = 0;  // of what is appended

 private:
  std::vector<Node> nodes_;
  std::vector<Term> terms_;
  std::vector<uint8_t> scope_open_{1};
  uint32_t scope_ = 0;
  base::HashMap<NodeKey, Val, NodeKeyHash> known_;
  base::HashMap<uint64_t, Val> by_form_;
};

}}}  // namespace ricci::v0::kernel
#endif
