#include "pass/kernel/kernel_builder.h"
#include "pass/kernel/fusion.h"

#include "control/parts.h"
#include "pass/target/choose_lowering.h"
#include "prim/rule_call.h"
#include "trace/attrs.h"
#include "trace/builder.h"
#include "transform/rules.h"

namespace ricci { inline namespace v0 { namespace pass {

std::vector<int64_t> RowMajor(std::span<const int64_t> shape) {
  std::vector<int64_t> strides(shape.size(), 1);
  for (size_t d = shape.size(); d-- > 1;) strides[d - 1] = strides[d] * std::max<int64_t>(shape[d], 1);
  return strides;
}

KernelBuilder::KernelBuilder(prim::Registry& registry, std::string_view name, const Target& target)
    : registry_(registry), target_(target), w_(name) {
  if (target.contracts()) w_.ContractProducts();
}

ArrayId KernelBuilder::Add(Array a) {
  arrays_.push_back(std::move(a));
  return static_cast<ArrayId>(arrays_.size() - 1);
}

// Whether it is flat follows from its operands, so this is found once for each array, not once for each path to it.
ArrayId KernelBuilder::AddLazy(ir::TypeId t, Lazy lazy) {
  const ir::ArrayType& own = registry_.vocabulary().types.Get(t);
  const bool scalar = lazy.lowering->kind == RICCI_LOWER_SCALAR;
  lazy.flat = std::all_of(lazy.operands.begin(), lazy.operands.end(),
                          [&](ArrayId o) { return scalar ? IsFlat(o, own) : type(o).rank() == 0; });
  return Add({t, std::move(lazy)});
}

ArrayId KernelBuilder::AddBuffer(ir::TypeId t, uint32_t access, Binding binding) {
  const ir::ArrayType& type = registry_.vocabulary().types.Get(t);
  Storage storage;
  storage.number = w_.Buffer(type.dtype, type.elements, access);
  storage.strides = RowMajor(type.shape);
  bindings_.push_back(std::move(binding));
  return Add({t, std::move(storage)});
}

ArrayId KernelBuilder::AddLiteral(ir::TypeId t, const ir::Constant& c) { return Add({t, Literal{c.splat, c.data, 0}}); }

// The buffer of a loop's counter, one for each loop.
absl::StatusOr<uint32_t> KernelBuilder::AddCounter(uint32_t loop) {
  RICCI_ASSIGN(const ir::TypeId type, registry_.vocabulary().types.Intern(RICCI_I64, {}));
  for (uint32_t i = 0; i < bindings_.size(); ++i) {
    if (bindings_[i].kind == Binding::Kind::kCounter && bindings_[i].index == loop) return i;
  }
  AddBuffer(type, RICCI_ACCESS_READ, {Binding::Kind::kCounter, loop, nullptr});
  return static_cast<uint32_t>(bindings_.size() - 1);
}

// An operand or result, seen through its slot.
absl::StatusOr<ArrayId> KernelBuilder::AddSlot(ir::TypeId t, uint32_t access, Binding binding, const Slot* slot) {
  if (slot == nullptr || slot->length < 0) return AddBuffer(t, access, std::move(binding));
  types::TypeTable& types = registry_.vocabulary().types;
  const ir::ArrayType& element = types.Get(t);
  std::vector<int64_t> shape{slot->length};
  shape.insert(shape.end(), element.shape.begin(), element.shape.end());
  RICCI_ASSIGN(ir::TypeId stack_type, types.WithShape(element, shape));
  const ArrayId stack = AddBuffer(stack_type, access, std::move(binding));
  RICCI_ASSIGN(const uint32_t counter, AddCounter(slot->loop));
  Val index = w_.Load(counter, w_.Index(0));
  if (slot->length > 0) w_.AssumeLess(index, slot->length);  // otherwise this never runs
  if (slot->reverse) index = w_.Sub(w_.Index(slot->length - 1), index);
  return View(stack, 0, index);
}

// ---- lowerings ----

absl::StatusOr<KernelBuilder::Result> KernelBuilder::Lower(const ir::Program& p, const ir::Equation& eqn,
                                                           std::span<const Slot> slots) {
  const trace::Op op(p, eqn);
  const prim::Row& row = registry_.Get(eqn.prim);
  RICCI_ASSIGN(const ricci_lowering* l, ChooseLowering(row, *op.get(), target_, kKernelKinds));
  if (l == nullptr) {
    return transform::AtEquation(NoLowering(registry_, *op.get(), target_, kKernelKinds), p, eqn, "lower");
  }
  const bool update = IsUpdate(*l);
  RICCI_ASSIGN(std::vector<ArrayId> operands, BindOperands(p, eqn, slots, update));
  RICCI_ASSIGN(const std::vector<ArrayId> results, BindResults(p, eqn, slots));
  if (update) operands[0] = results[0];
  RICCI_TRY(transform::AtEquation(Compute(p, eqn, *l, operands, results), p, eqn, "lower"));
  auto out = Finish();
  if (!out.ok()) return transform::AtEquation(out.status(), p, eqn, "lower");
  if (update) out->kernel.updates = static_cast<int32_t>(StorageOf(results[0]).number);
  return out;
}

// A value that is several operands has one array. Operand 0 of an update is left out.
absl::StatusOr<std::vector<ArrayId>> KernelBuilder::BindOperands(const ir::Program& p, const ir::Equation& eqn,
                                                                 std::span<const Slot> slots, bool update) {
  std::vector<ArrayId> operands(update ? 1 : 0, 0);
  base::HashMap<ir::ValueId, ArrayId> bound;
  for (uint32_t i = update; i < eqn.operands.size(); ++i) {
    const ir::ValueId v = eqn.operands[i];
    if (const auto before = bound.find(v); before != bound.end()) {
      operands.push_back(before->second);
      continue;
    }
    if (const ir::Constant* c = p.constant(v)) {
      operands.push_back(AddLiteral(p.type_id(v), *c));
    } else {
      const Slot* slot = slots.empty() ? nullptr : &slots[i];
      RICCI_ASSIGN(ArrayId a, AddSlot(p.type_id(v), RICCI_ACCESS_READ, {Binding::Kind::kOperand, i, nullptr}, slot));
      operands.push_back(a);
    }
    bound[v] = operands.back();
  }
  return operands;
}

absl::StatusOr<std::vector<ArrayId>> KernelBuilder::BindResults(const ir::Program& p, const ir::Equation& eqn,
                                                                std::span<const Slot> slots) {
  std::vector<ArrayId> results;
  for (uint32_t i = 0; i < eqn.n_results; ++i) {
    const Slot* slot = slots.empty() ? nullptr : &slots[eqn.operands.size() + i];
    RICCI_ASSIGN(ArrayId a, AddSlot(p.type_id(eqn.result(i)), RICCI_ACCESS_READ_WRITE,
                                    {Binding::Kind::kResult, i, nullptr}, slot));
    results.push_back(a);
  }
  return results;
}

// Stores the results of `eqn`.
absl::Status KernelBuilder::Compute(const ir::Program& p, const ir::Equation& eqn, const ricci_lowering& l,
                                    const std::vector<ArrayId>& operands, const std::vector<ArrayId>& results) {
  const bool fusion = registry_.Get(eqn.prim).flow == prim::Flow::kFusion;
  const int64_t n_rows = fusion ? FusionParts(eqn.attrs).rows : 0;
  if (n_rows > 0) return InlineFusion(eqn, static_cast<uint32_t>(n_rows), operands, results);
  if (l.kind == RICCI_LOWER_LOOPS) return RunLoops(p, eqn, l, operands, results, IsUpdate(l)).status();
  std::vector<ArrayId> lazy;
  for (uint32_t i = 0; i < eqn.n_results; ++i) {
    lazy.push_back(AddLazy(p.type_id(eqn.result(i)), {&p, &eqn, &l, operands, i}));
  }
  return CopyGroup(results, lazy);
}

absl::StatusOr<KernelBuilder::Result> KernelBuilder::LowerCopy(ir::TypeId t, const Slot& from, const Slot& to) {
  RICCI_ASSIGN(ArrayId src, AddSlot(t, RICCI_ACCESS_READ, {Binding::Kind::kOperand, 0, nullptr}, &from));
  RICCI_ASSIGN(ArrayId dst, AddSlot(t, RICCI_ACCESS_READ_WRITE, {Binding::Kind::kResult, 0, nullptr}, &to));
  RICCI_TRY(Copy(dst, src));
  return Finish();
}

absl::StatusOr<KernelBuilder::Result> KernelBuilder::Finish() {
  Result out;
  RICCI_ASSIGN(out.kernel, w_.Finish());
  out.bindings = std::move(bindings_);
  out.checks = std::move(checks_);
  return out;
}

absl::StatusOr<std::vector<ArrayId>> KernelBuilder::RunLoops(const ir::Program& f, const ir::Equation& eqn,
                                                             const ricci_lowering& l, std::vector<ArrayId> operands,
                                                             std::span<const ArrayId> results, bool updates) {
  const trace::Op op(f, eqn);
  const Running running(*this, {std::move(operands), {results.begin(), results.end()}, &f, &eqn, w_.Depth(), updates});
  const prim::Row& row = registry_.Get(eqn.prim);
  const auto call = [&] { return l.loops(l.self, Abi(this), op.get()); };
  RICCI_TRY(transform::AtEquation(prim::CallRule(row, "loops", call), f, eqn, "lower"));
  RICCI_TRY(transform::AtEquation(w_.status(), f, eqn, "lower"));
  if (w_.Depth() != context_.depth) {
    const absl::Status open = prim::Violation(row, "loops", "leaves a loop or branch open, or ends one too many");
    return transform::AtEquation(open, f, eqn, "lower");
  }
  return context_.results;
}

KernelBuilder::Running::Running(KernelBuilder& k, Context context)
    : k_(k), outer_(std::move(context)), location_(k.w_.SetLocation(outer_.eqn->location)) {
  std::swap(k_.context_, outer_);
}
KernelBuilder::Running::~Running() {
  std::swap(k_.context_, outer_);
  k_.w_.SetLocation(location_);
}

absl::Status KernelBuilder::Require(Val condition, absl::Status otherwise) {
  RICCI_TRY(base::Invariant(context_.eqn != nullptr, "kernel: a check outside a lowering"));
  w_.Require(condition, static_cast<uint32_t>(checks_.size()));
  RICCI_TRY(w_.status());
  // A message that begins with a primitive is about that primitive: a `check` speaks for the operation that it comes
  // from.
  const std::string_view text(otherwise.message().data(), otherwise.message().size());
  const std::string_view first = text.substr(0, text.find(": "));
  if (registry_.Find(first) != nullptr) otherwise = base::WithSite(otherwise, {.primitive = std::string(first)});
  checks_.push_back(transform::AtEquation(std::move(otherwise), *context_.program, *context_.eqn, "run"));
  return absl::OkStatus();
}

}}}  // namespace ricci::v0::pass
