// Kernels that run row by row: several loops over the same row, one after another, in one point of the domain.
//
// The domain is the leading dimensions of all results. What is kept within a row is private: one value, or an array
// with the other dimensions that looks like the whole one (the leading strides are 0), so that lowerings need not know.
// A lowering opens its parallel loops over its whole result; those over the leading dimensions are open already. Each
// access checks that it reads and writes only this row there. merge_groups has tried every lowering by itself
// (StaysInRow), and a group of lowerings that stay in their row stays in its row too, so a violation here is a bug of
// ours.
//
// Expressions are computed where they are read. They are kept in a private row only if several loops read them and
// computing them again is more expensive than reading them back.
#include <set>

#include "base/status_abi.h"
#include "pass/kernel/kernel_builder.h"
#include "pass/kernel/operation_cost.h"
#include "pass/kernel/read_accesses.h"
#include "pass/target/choose_lowering.h"
#include "trace/builder.h"
#include "transform/rules.h"

namespace ricci { inline namespace v0 { namespace pass {

absl::Status KernelBuilder::Parallel(std::span<const int64_t> extents, Val* index) {
  const size_t n = row_.extents.size();
  if (n == 0 || w_.Depth() != row_.depth) {
    w_.Parallel(extents, index);
    return w_.status();
  }
  if (extents.size() < n || !std::equal(row_.extents.begin(), row_.extents.end(), extents.begin())) {
    return LeaveRow("a loop is not over the rows");
  }
  std::copy(row_.index.begin(), row_.index.end(), index);
  w_.Parallel(extents.subspan(n), index + n);
  return w_.status();
}

absl::Status KernelBuilder::CheckRow(const Index& index) {
  const bool same = !index.flat && std::equal(row_.index.begin(), row_.index.end(), index.at.begin());
  return same ? absl::OkStatus() : LeaveRow("another row is accessed");
}

// The flag counts, not the status: that passes through a lowering, which may return another one.
absl::Status KernelBuilder::LeaveRow(std::string_view what) {
  left_row_ = true;
  return absl::InternalError(base::Cat("kernel by rows: ", what));
}

// From here on one row is computed, until the block is closed.
void KernelBuilder::OpenRow(std::span<const int64_t> extents) {
  row_.extents.assign(extents.begin(), extents.end());
  row_.index.resize(extents.size());
  w_.Parallel(extents, row_.index.data());
  row_.depth = w_.Depth();
}

absl::StatusOr<bool> KernelBuilder::StaysInRow(const ir::Program& f, const ir::Equation& eqn, uint32_t n_rows,
                                               std::span<const Reads> reads) {
  const trace::Op op(f, eqn);
  RICCI_ASSIGN(const ricci_lowering* l, ChooseLowering(registry_.Get(eqn.prim), *op.get(), target_, kKernelKinds));
  if (l == nullptr) return false;
  if (l->kind == RICCI_LOWER_SCALAR) return true;  // reads its operands where it is computed
  std::vector<ArrayId> operands, results;
  for (uint32_t i = 0; i < eqn.operands.size(); ++i) {
    const ir::Constant* c = f.constant(eqn.operands[i]);
    const ir::TypeId t = f.type_id(eqn.operands[i]);
    operands.push_back(c != nullptr ? AddLiteral(t, *c)
                                    : AddBuffer(t, RICCI_ACCESS_READ, {Binding::Kind::kOperand, i, nullptr}));
    if (c == nullptr) StorageOf(operands[i]).of_row = reads[i] == Reads::kRow;
  }
  for (uint32_t i = 0; i < eqn.n_results; ++i) {
    results.push_back(
        AddBuffer(f.type_id(eqn.result(i)), RICCI_ACCESS_READ_WRITE, {Binding::Kind::kResult, i, nullptr}));
    StorageOf(results[i]).of_row = true;
  }
  OpenRow(f.type(eqn.result(0)).shape.first(n_rows));
  absl::Status status;
  if (l->kind == RICCI_LOWER_LOOPS) {
    status = RunLoops(f, eqn, *l, operands, results).status();
  } else {
    status = Copy(results[0], AddLazy(f.type_id(eqn.result(0)), {&f, &eqn, l, operands, 0}));
  }
  if (left_row_) return false;
  RICCI_TRY(status);
  return true;
}

absl::StatusOr<ArrayId> KernelBuilder::PrivateRow(ir::TypeId t) {
  const ir::ArrayType& whole = registry_.vocabulary().types.Get(t);
  RICCI_ASSIGN(ir::TypeId row_type,
               registry_.vocabulary().types.WithShape(whole, whole.shape.subspan(row_.extents.size())));
  RICCI_ASSIGN(ArrayId row, Private(row_type));
  Storage storage = StorageOf(row);
  storage.of_row = true;
  storage.strides.insert(storage.strides.begin(), row_.extents.size(), 0);
  return Add({t, std::move(storage)});
}

namespace {

// The loops over a row in which an expression is read, each identified by the equation that it computes.
struct Readers {
  std::set<size_t> loops;
  bool repeats = false;  // more than once within one of them

  void Add(const Readers& other) {
    loops.insert(other.loops.begin(), other.loops.end());
    repeats |= other.repeats;
  }
  bool several() const { return repeats || loops.size() > 1; }
};

}  // namespace

// Which values are kept once they are computed: a value with one element per row; expensive expressions that more than
// one loop reads, and everything that loops make, in a private row or a result. Backwards, since a kept value reads its
// operands in one loop, however many loops read it. Then values that are cheap, given what is kept, are computed again
// after all.
absl::StatusOr<std::vector<KernelBuilder::Kept>> KernelBuilder::ChooseKept(
    const ir::Program& f, std::span<const ricci_lowering* const> lowerings) {
  const size_t n_rows = row_.extents.size();
  RowReads reads(static_cast<uint32_t>(n_rows));
  std::vector<Readers> readers(f.values.size());
  for (ir::ValueId r : f.results) {
    readers[r].loops.insert(f.equations.size());  // the last loop, which stores all remaining results
    reads.MarkRow(r);
  }
  const auto is_loop = [&](size_t e) { return lowerings[e]->kind == RICCI_LOWER_LOOPS; };
  std::vector<Kept> kept(f.values.size(), Kept::kNot);
  OperationCosts operations(registry_, target_);
  std::vector<int64_t> own(f.equations.size());
  for (size_t e = 0; e < own.size(); ++e) own[e] = operations.Of(f, f.equations[e]);
  std::vector<int64_t> cost = CostOfRows(f, own, kept);
  for (size_t e = f.equations.size(); e-- > 0;) {
    const ir::Equation& eqn = f.equations[e];
    const bool elementwise = lowerings[e]->kind == RICCI_LOWER_SCALAR;
    RICCI_ASSIGN(const ir::FactorsRef factors, KnownFactors(f, static_cast<uint32_t>(e), elementwise));
    RICCI_TRY(base::Invariant(reads.Visit(eqn, factors.get()), "a merged equation runs by rows"));
    for (uint32_t i = 0; i < eqn.n_results; ++i) {
      const ir::ValueId v = eqn.result(i);
      const RowReads::Use use = reads.Of(v);
      if (!use.row || use.other) continue;
      const bool expensive = readers[v].several() && cost[v] > target_.limits.read_back;
      if (f.type(v).rank() == n_rows)
        kept[v] = Kept::kValue;
      else if (expensive || is_loop(e))
        kept[v] = Kept::kRow;
    }
    const Readers own{{e}};
    const bool alone = is_loop(e) || kept[eqn.result(0)] != Kept::kNot;
    for (ir::ValueId v : eqn.operands) {
      readers[v].Add(alone ? own : readers[eqn.result(0)]);
      readers[v].repeats |= !is_loop(e) && f.type(v).elements < f.type(eqn.result(0)).elements;
    }
  }
  cost = CostOfRows(f, own, kept);
  for (size_t e = 0; e < f.equations.size(); ++e) {
    const ir::ValueId v = f.equations[e].result(0);
    if (kept[v] == Kept::kRow && !is_loop(e) && cost[v] <= target_.limits.read_back) kept[v] = Kept::kNot;
  }
  KeepWhatViewsRead(f, lowerings, own, reads, kept);
  return kept;
}

// What views read by many accesses: the kernels that were merged here had it stored.
void KernelBuilder::KeepWhatViewsRead(const ir::Program& f, std::span<const ricci_lowering* const> lowerings,
                                      std::span<const int64_t> own, const RowReads& reads, std::span<Kept> kept) const {
  ReadAccesses read(f);
  for (auto e = static_cast<uint32_t>(f.equations.size()); e-- > 0;) {
    const ir::Equation& eqn = f.equations[e];
    const bool elementwise = lowerings[e]->kind == RICCI_LOWER_SCALAR;
    if (lowerings[e]->kind == RICCI_LOWER_LOOPS) {
      read.SetStored(e, elementwise);
      continue;
    }
    const ir::ValueId v = eqn.result(0);
    Accesses accesses = read.Of(v);
    const bool view = !elementwise && !registry_.Get(eqn.prim).has(RICCI_PRIM_TRANSCENDENTAL);
    const RowReads::Use use = reads.Of(v);
    const bool may_keep = kept[v] == Kept::kNot && use.row && !use.other;
    if (may_keep && !MayRepeatAt(accesses.size(), view, own[e], target_.limits.cheap_to_repeat)) kept[v] = Kept::kRow;
    if (kept[v] != Kept::kNot) {
      read.SetStored(e, elementwise);
    } else {
      read.SetComputed(e, elementwise, std::move(accesses));
    }
  }
}

// The cost of one element of each result, including what it is computed from, except what is kept; `own` has the cost
// of each equation by itself.
std::vector<int64_t> KernelBuilder::CostOfRows(const ir::Program& f, std::span<const int64_t> own,
                                               std::span<const Kept> kept) {
  std::vector<int64_t> cost(f.values.size(), 0);
  for (size_t e = 0; e < own.size(); ++e) {
    const ir::Equation& eqn = f.equations[e];
    int64_t sum = own[e];
    for (ir::ValueId o : eqn.operands) sum = std::min(sum + (kept[o] == Kept::kNot ? cost[o] : 1), kMostCost);
    for (uint32_t i = 0; i < eqn.n_results; ++i) cost[eqn.result(i)] = sum;
  }
  return cost;
}

absl::Status KernelBuilder::InlineRows(const ir::Program& f, uint32_t n_rows, std::span<const ArrayId> in,
                                       std::span<const ArrayId> dst, std::span<const StoreThrough> elsewhere) {
  const auto shape = f.type(f.results[0]).shape.first(n_rows);
  OpenRow(shape);
  std::vector<ArrayId> env(f.values.size(), 0), dst_of(f.values.size(), 0);
  std::copy(in.begin(), in.end(), env.begin());
  for (const ir::Constant& c : f.constants) env[c.value] = AddLiteral(f.type_id(c.value), c);
  for (size_t i = 0; i < dst.size(); ++i) {
    if (dst[i] == 0) continue;
    StorageOf(dst[i]).of_row = true;
    if (dst_of[f.results[i]] == 0) dst_of[f.results[i]] = dst[i];
  }
  std::vector<const ricci_lowering*> lowerings;
  for (const ir::Equation& eqn : f.equations) {
    const trace::Op op(f, eqn);
    RICCI_ASSIGN(const ricci_lowering* l, ChooseLowering(registry_.Get(eqn.prim), *op.get(), target_, kKernelKinds));
    RICCI_TRY(base::Invariant(l != nullptr, "a merged equation has a lowering within a kernel"));
    lowerings.push_back(l);
  }
  RICCI_ASSIGN(const std::vector<Kept> kept, ChooseKept(f, lowerings));
  for (size_t e = 0; e < f.equations.size(); ++e) {
    RICCI_TRY(RowEquation(f, f.equations[e], *lowerings[e], kept, dst_of, env));
  }
  std::vector<ArrayId> to, from;
  for (size_t i = 0; i < dst.size(); ++i) {
    const ir::ValueId r = f.results[i];
    const bool filled = f.definition(r) != nullptr &&
                        (kept[r] == Kept::kRow || lowerings[f.values[r].index]->kind == RICCI_LOWER_LOOPS);
    if (dst[i] == 0 || (filled && dst_of[r] == dst[i])) continue;
    to.push_back(dst[i]);
    from.push_back(env[r]);
  }
  std::vector<Val> moved;  // read before anything is written
  for (const StoreThrough& s : elsewhere) {
    RICCI_ASSIGN(moved.emplace_back(), LoadIndex(env[f.results[s.result]], {row_.index, false}));
  }
  RICCI_TRY(CopyGroup(to, from));
  for (size_t i = 0; i < elsewhere.size(); ++i) RICCI_TRY(StoreElsewhere(elsewhere[i], shape, moved[i]));
  RICCI_TRY(base::Invariant(!left_row_, "a merged equation stays in its row"));
  w_.End();
  row_ = {};
  return w_.status();
}

absl::Status KernelBuilder::RowEquation(const ir::Program& f, const ir::Equation& eqn, const ricci_lowering& l,
                                        std::span<const Kept> kept, std::span<const ArrayId> dst_of,
                                        std::vector<ArrayId>& env) {
  std::vector<ArrayId> operands, results;
  for (ir::ValueId v : eqn.operands) operands.push_back(env[v]);
  const auto array_of = [&](ir::ValueId v) -> absl::StatusOr<ArrayId> {
    if (dst_of[v] != 0) return dst_of[v];
    return PrivateRow(f.type_id(v));
  };
  if (l.kind == RICCI_LOWER_LOOPS) {
    for (uint32_t i = 0; i < eqn.n_results; ++i) {
      RICCI_ASSIGN(ArrayId a, array_of(eqn.result(i)));
      results.push_back(a);
    }
    RICCI_ASSIGN(results, RunLoops(f, eqn, l, std::move(operands), results));
  } else {
    results.push_back(AddLazy(f.type_id(eqn.result(0)), {&f, &eqn, &l, std::move(operands), 0}));
  }
  for (uint32_t i = 0; i < eqn.n_results; ++i) {
    const ir::ValueId v = eqn.result(i);
    env[v] = results[i];
    if (kept[v] == Kept::kValue) {  // a loop that reads it need not load it again
      RICCI_ASSIGN(Val value, LoadIndex(results[i], {row_.index, false}));
      env[v] = Add({f.type_id(v), Elements{{value}, 0, /*of_row=*/true}});
    } else if (kept[v] == Kept::kRow && l.kind != RICCI_LOWER_LOOPS) {
      RICCI_ASSIGN(env[v], array_of(v));
      RICCI_TRY(Copy(env[v], results[i]));
    }
  }
  return absl::OkStatus();
}

}}}  // namespace ricci::v0::pass
