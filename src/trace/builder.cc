#include "trace/builder.h"

#include "absl/cleanup/cleanup.h"
#include "base/abi_text.h"
#include "ir/self_reference.h"
#include "prim/nearest_name.h"
#include "prim/rule_call.h"
#include "trace/normal_attrs.h"

namespace ricci { inline namespace v0 { namespace trace {
namespace {

using base::View;

// Renumbers the values: parameters come first, in the order `order` (of parameter numbers), then all others in their
// old order.
void OrderParams(Program& p, std::span<const uint32_t> order) {
  std::vector<uint32_t> position(p.n_params());
  for (uint32_t i = 0; i < position.size(); ++i) position[order.empty() ? i : order[i]] = i;
  std::vector<ir::ValueId> to(p.values.size());
  ir::ValueId others = p.n_params();
  for (ir::ValueId v = 0; v < to.size(); ++v) {
    to[v] = p.values[v].kind == ir::ValueKind::kParam ? position[p.values[v].index] : others++;
  }
  const base::Vec<ir::Value> old = p.values;
  for (ir::ValueId v = 0; v < to.size(); ++v) p.values[to[v]] = old[v];
  for (uint32_t i = 0; i < p.n_params(); ++i) {
    p.values[i].index = i;
    p.param_types[i] = p.values[i].type;
  }
  for (ir::Constant& c : p.constants) c.value = to[c.value];
  for (ir::ValueId& r : p.results) r = to[r];
  for (ir::Equation& e : p.equations) {
    ir::ValueId* operands = p.arena.Array<ir::ValueId>(e.operands.size());
    for (size_t i = 0; i < e.operands.size(); ++i) operands[i] = to[e.operands[i]];
    e.operands = {operands, e.operands.size()};
    if (e.n_results != 0) e.first_result = to[e.first_result];
  }
}

// Copies `attrs` into `p`, which takes over the properties of the programs in them (depth, effects, linear maps,
// batching rules).
Attrs CopyAttrs(Program& p, Attrs attrs) {
  ricci_attr* copies = p.arena.Array<ricci_attr>(attrs.size());
  for (size_t i = 0; i < attrs.size(); ++i) {
    copies[i] = ir::CopyAttr(attrs[i], p.arena, p.nested);
    for (ricci_program* f : ir::Programs(attrs[i])) {
      p.depth = std::max(p.depth, ir::FromAbi(f)->depth + 1);
      p.effectful |= ir::FromAbi(f)->effectful;
      p.holds_linear_map |= ir::FromAbi(f)->holds_linear_map;
      p.custom_batch |= ir::FromAbi(f)->custom_batch;
    }
  }
  return {copies, attrs.size()};
}

// Checks that n operands (results) are as many as the doc of the row has names; without a doc any number is right.
absl::Status CheckNumber(const prim::Row& row, std::string_view verb, const prim::NameList& list, std::string_view what,
                         size_t n) {
  if (row.doc_text.empty() || list.Takes(n)) return absl::OkStatus();
  return base::InvalidArgument(row.name, ": ", verb, " ", prim::Describe(list, what), ", not ", n);
}

}  // namespace

Builder::Builder(prim::Registry& registry, uint32_t depth)
    : registry_(registry),
      depth_(depth),
      generation_(registry.vocabulary().NextGeneration()),
      program_(base::Ref<Program>::Adopt(new Program(&registry.vocabulary()))) {
  program_->level = depth;
}

absl::StatusOr<std::unique_ptr<Builder>> Builder::Create(prim::Registry& registry, std::string_view name,
                                                         std::span<const TypeId> params, uint32_t depth) {
  if (depth >= kMaxDepth) return absl::ResourceExhaustedError(base::Cat("programs nested deeper than ", kMaxDepth));
  std::unique_ptr<Builder> b(new Builder(registry, depth));
  b->program_->name = b->program_->arena.Copy(name);
  for (TypeId t : params) RICCI_TRY(b->AddParam(t).status());
  return b;
}

absl::StatusOr<std::unique_ptr<Builder>> Builder::Nest(std::string_view name, std::span<const TypeId> params) const {
  RICCI_ASSIGN(auto b, Create(registry_, name, params, depth_ + 1));
  b->location_ = location_;
  return b;
}

absl::StatusOr<Val> Builder::AddParam(TypeId type) {
  if (!types().Has(type)) return base::InvalidArgument("parameter ", params_.size(), ": type ", type, " is not known");
  const auto index = static_cast<uint32_t>(program_->values.size());
  program_->values.push_back({type, ir::ValueKind::kParam, static_cast<uint32_t>(params_.size())});
  program_->param_types.push_back(type);
  params_.push_back(index);
  return ToVal(index);
}

Vals Builder::params() const {
  Vals out;
  for (uint32_t p : params_) out.push_back(ToVal(p));
  return out;
}

void Builder::SetLocation(std::string_view file, uint32_t line, std::string_view func) {
  location_ = file.empty() ? 0 : registry_.vocabulary().InternLocation(file, line, func);
}

absl::Status Builder::AtSite(absl::Status status, const prim::Row& row, const char* rule) const {
  if (status.ok()) return status;
  const ir::Location at = registry_.vocabulary().GetLocation(location_);
  return base::WithSite(std::move(status), {row.id == 0 ? "" : row.name, rule, at.file, at.line});  // 0: no primitive
}

absl::Status Builder::CheckOperands(const prim::Row& row, std::span<const Val> in) {
  if (row.id == 0) return absl::NotFoundError("there is no primitive with that id; ricci_prim_find finds them by name");
  if (finished_) return absl::FailedPreconditionError("the builder is finished");
  if (in_eval_) return absl::FailedPreconditionError("abstract_eval may not emit");
  for (size_t i = 0; i < in.size(); ++i) {
    if (in[i] == kZero)
      return base::InvalidArgument(row.name, ": operand ", i, " is a symbolic zero; materialise it first");
    if (in[i] == kNone) {
      return base::InvalidArgument(row.name, ": operand ", i, " is RICCI_VAL_NONE: nothing has given it a value");
    }
    if (!Owns(in[i])) {
      return base::InvalidArgument(row.name, ": operand ", i, " belongs to another builder; pass it as a parameter");
    }
  }
  return absl::OkStatus();
}

std::vector<TypeId> Builder::TypesOf(std::span<const Val> in) const {
  std::vector<TypeId> types;
  types.reserve(in.size());
  for (Val v : in) types.push_back(type_id(v));
  return types;
}

// Runs abstract_eval on attrs_; leaves the types in out_types_.
absl::Status Builder::InferTypes(const prim::Row& row, std::span<const Val> in) {
  if (row.def.abstract_eval == nullptr) return absl::UnimplementedError(base::Cat(row.name, ": no abstract_eval rule"));
  const std::vector<TypeId> in_types = TypesOf(in);
  RICCI_TRY(CheckNumber(row, "takes", row.doc.operands, "operand", in.size()));
  ricci_op op{};
  op.hdr.size = sizeof op;
  op.ctx = registry_.vocabulary().abi;
  op.prim = row.id;
  op.n_in = static_cast<uint32_t>(in.size());
  op.in_types = in_types.data();
  op.n_attrs = static_cast<uint32_t>(attrs_.size());
  op.attrs = attrs_.data();
  op.location = location_;
  in_eval_ = true;
  out_types_set_ = false;
  const Loan loan(this);
  absl::Status status;
  {
    const absl::Cleanup ended = [&] { in_eval_ = false; };
    status = prim::CallRule(row, "abstract_eval", [&] { return row.def.abstract_eval(row.def.self, Abi(this), &op); });
  }
  // It may have failed in a function that names another primitive.
  const std::string of = base::SiteOf(status).primitive;
  if (!of.empty() && of != row.name) return prim::Named(row, "abstract_eval", std::move(status));
  RICCI_TRY(status);
  RICCI_TRY(loan.Returned(row, "abstract_eval"));
  if (!out_types_set_) return prim::Violation(row, "abstract_eval", "sets no result types");
  RICCI_TRY(CheckNumber(row, "gives", row.doc.results, "result", out_types_.size()));
  if (row.has(RICCI_PRIM_BARRIER) && out_types_ != in_types) {
    return prim::Violation(row, "abstract_eval", "a barrier gives its operands, with the same types");
  }
  return absl::OkStatus();
}

absl::Status Loan::Returned(const prim::Row& row, std::string_view rule) const {
  if (builder_ == nullptr || !std::exchange(builder_->abandoned_, false)) return absl::OkStatus();
  return prim::Violation(row, rule, "abandons the builder that it got; it may only append to it");
}

absl::Status Builder::SetOutTypes(std::span<const TypeId> given) {
  if (!in_eval_) return absl::FailedPreconditionError("result types are only set in abstract_eval");
  if (given.size() > RICCI_MAX_RESULTS) {
    return base::InvalidArgument(base::Count(given.size(), "result"), ", at most ", RICCI_MAX_RESULTS, " are allowed");
  }
  for (TypeId t : given) {
    if (!types().Has(t)) return base::InvalidArgument("result type ", t, " is not known");
  }
  out_types_.assign(given.begin(), given.end());
  out_types_set_ = true;
  return absl::OkStatus();
}

Vals Builder::Append(const prim::Row& row, Attrs attrs, std::span<const Val> in) {
  Program& p = *program_;
  ir::ValueId* operands = p.arena.Array<ir::ValueId>(in.size());
  for (size_t i = 0; i < in.size(); ++i) operands[i] = Index(in[i]);
  TypeId* types = p.arena.Array<TypeId>(in.size() + out_types_.size());
  for (size_t i = 0; i < in.size(); ++i) types[i] = type_id(in[i]);
  std::copy(out_types_.begin(), out_types_.end(), types + in.size());
  const Attrs copies = CopyAttrs(p, attrs);
  p.effectful |= row.effectful();
  p.holds_linear_map |= row.flow == prim::Flow::kLinearMap;
  p.custom_batch |= row.flow == prim::Flow::kCustomVmap;
  ir::AddOutward(p.outward, row.id, attrs);
  const auto eqn = static_cast<uint32_t>(p.equations.size());
  const auto first = static_cast<uint32_t>(p.values.size());
  p.equations.push_back(
      {row.id, location_, {operands, in.size()}, copies, first, static_cast<uint32_t>(out_types_.size()), types});
  Vals out;
  out.reserve(out_types_.size());
  for (TypeId t : out_types_) {
    out.push_back(ToVal(static_cast<uint32_t>(p.values.size())));
    p.values.push_back({t, ir::ValueKind::kResult, eqn});
  }
  return out;
}

// Can the programs in `a` be nested here?
absl::Status Builder::CheckPrograms(const prim::Row& row, const ricci_attr& a) const {
  for (ricci_program* f : ir::Programs(a)) {
    if (f == nullptr) return base::InvalidArgument(row.name, ": attribute ", View(a.name), " holds no program");
    if (ir::FromAbi(f)->vocabulary() != &registry_.vocabulary()) {
      return base::InvalidArgument(row.name, ": program ", ir::FromAbi(f)->name, " of attribute ", View(a.name),
                                   " is of another context");
    }
    if (depth_ + ir::FromAbi(f)->depth >= kMaxDepth) {
      return absl::ResourceExhaustedError(base::Cat("programs nested deeper than ", kMaxDepth));
    }
  }
  return absl::OkStatus();
}

absl::StatusOr<std::vector<TypeId>> Builder::Infer(PrimId prim, Attrs attrs, std::span<const Val> in) {
  const prim::Row& row = registry_.Get(prim);
  RICCI_TRY(AtSite(CheckOperands(row, in), row, "emit"));
  RICCI_TRY(AtSite(NormalizeAttrs(row, attrs, attrs_), row, "emit"));
  for (const ricci_attr& a : attrs_) RICCI_TRY(AtSite(CheckPrograms(row, a), row, "emit"));
  RICCI_TRY(AtSite(InferTypes(row, in), row, "abstract_eval"));
  return out_types_;
}

absl::StatusOr<Vals> Builder::Emit(PrimId prim, Attrs attrs, std::span<const Val> in, std::optional<size_t> n_out) {
  RICCI_TRY(Infer(prim, attrs, in).status());
  if (n_out.has_value() && *n_out != out_types_.size()) {
    const prim::Row& row = registry_.Get(prim);
    return AtSite(
        base::InvalidArgument(row.name, ": gives ", base::Count(out_types_.size(), "result"), ", not ", *n_out), row,
        "emit");
  }
  return Append(registry_.Get(prim), attrs_, in);
}

absl::StatusOr<Vals> Builder::Emit(std::string_view name, Attrs attrs, std::span<const Val> in) {
  const PrimId id = registry_.vocabulary().FindPrim(name);
  if (id == 0) return prim::NoSuchPrimitive(registry_, name);
  return Emit(id, attrs, in);
}

absl::StatusOr<Val> Builder::Emit1(std::string_view name, Attrs attrs, std::span<const Val> in) {
  RICCI_ASSIGN(Vals out, Emit(name, attrs, in));
  RICCI_TRY(base::Invariant(out.size() == 1, base::Cat(name, " gives one result")));
  return out[0];
}

absl::StatusOr<Val> Builder::Constant(TypeId type, std::span<const std::byte> bytes) {
  if (!types().Has(type)) return base::InvalidArgument("constant: type ", type, " is not known");
  const ArrayType& t = types().Get(type);
  const uint32_t size = types::Info(t.dtype).size;
  if (bytes.size() != t.bytes && bytes.size() != size) {
    return base::InvalidArgument("constant: ", ToText(t), " takes ", base::Count(t.bytes, "byte"), ", or ", size,
                                 " for a splat, not ", bytes.size());
  }
  const bool splat = bytes.size() == size && (t.elements == 1 || bytes.size() != t.bytes);
  return Constant(type, splat, std::make_shared<const ir::ConstantData>(registry_.vocabulary().memory, bytes));
}

absl::StatusOr<Val> Builder::Constant(TypeId type, bool splat, std::shared_ptr<const ir::ConstantData> data) {
  if (finished_) return absl::FailedPreconditionError("the builder is finished");
  if (in_eval_) return absl::FailedPreconditionError("abstract_eval may not add constants");
  Program& p = *program_;
  const auto value = static_cast<uint32_t>(p.values.size());
  p.values.push_back({type, ir::ValueKind::kConstant, static_cast<uint32_t>(p.constants.size())});
  p.constants.push_back({value, splat, std::move(data)});
  return ToVal(value);
}

absl::StatusOr<Val> Builder::Zero(TypeId type) {
  if (!types().Has(type)) return base::InvalidArgument("zero: type ", type, " is not known");
  constexpr std::byte zeros[16] = {};
  return Constant(type, std::span(zeros, types::Info(types().Get(type).dtype).size));
}

absl::StatusOr<ProgramRef> Builder::Finish(std::span<const Val> results, std::span<const uint32_t> param_order) {
  if (finished_) return absl::FailedPreconditionError("the builder is finished");
  for (size_t i = 0; i < results.size(); ++i) {
    if (results[i] == kNone) {
      return base::InvalidArgument("result ", i, " of program ", program_->name,
                                   " is RICCI_VAL_NONE: nothing has given it a value");
    }
    if (!Owns(results[i]))
      return base::InvalidArgument("result ", i, " of program ", program_->name, " belongs to another builder");
  }
  for (Val r : results) {
    program_->results.push_back(Index(r));
    program_->result_types.push_back(type_id(r));
  }
  const bool late = !params_.empty() && params_.back() != params_.size() - 1;
  if (late || !param_order.empty()) OrderParams(*program_, param_order);
  finished_ = true;
  return ProgramRef(program_.get());
}

Op::Op(const Program& program, const ir::Equation& eqn) {
  op_ = {};
  op_.hdr.size = sizeof op_;
  op_.ctx = program.vocabulary()->abi;
  op_.prim = eqn.prim;
  op_.n_in = static_cast<uint32_t>(eqn.operands.size());
  op_.n_out = eqn.n_results;
  op_.n_attrs = static_cast<uint32_t>(eqn.attrs.size());
  op_.in_types = eqn.types;
  op_.out_types = eqn.types + eqn.operands.size();
  op_.attrs = eqn.attrs.data();
  op_.location = eqn.location;
}

}}}  // namespace ricci::v0::trace
