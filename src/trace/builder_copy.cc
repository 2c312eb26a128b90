// Appending equations of other programs: one with new operands (Copy), or all of a program (Inline).
//
// Transforms do little else, so this must stay linear: an equation whose operand types have not changed keeps its
// attributes, result types and factors, and no rule is called again.
#include "trace/builder.h"
#include "trace/rewriter.h"

namespace ricci { inline namespace v0 { namespace trace {

absl::StatusOr<Vals> Builder::Copy(const Program& from, const ir::Equation& eqn, std::span<const Val> in) {
  location_ = eqn.location;
  const prim::Row& row = registry_.Get(eqn.prim);
  RICCI_TRY(AtSite(CheckOperands(row, in), row, "emit"));
  bool same = in.size() == eqn.operands.size();
  for (size_t i = 0; same && i < in.size(); ++i) same = type_id(in[i]) == from.type_id(eqn.operands[i]);
  if (!same) return Emit(eqn.prim, eqn.attrs, in);
  out_types_.clear();
  for (uint32_t i = 0; i < eqn.n_results; ++i) out_types_.push_back(from.type_id(eqn.result(i)));
  const uint32_t its = eqn.n_results == 0 ? 0 : from.values[eqn.first_result].index;
  Vals out = Append(row, eqn.attrs, in);
  if (!out.empty()) program_->factors.Share(program_->values[Index(out[0])].index, from.factors, its);
  return out;
}

absl::StatusOr<Vals> Builder::Inline(const Program& f, std::span<const Val> in) {
  if (f.vocabulary() != &registry_.vocabulary()) {
    return base::InvalidArgument("program ", f.name, " is of another context");
  }
  if (in.size() != f.n_params()) {
    return base::InvalidArgument("program ", f.name, " takes ", base::Count(f.n_params(), "argument"), ", not ",
                                 in.size());
  }
  const ir::LocationId outer = location_;
  for (size_t i = 0; i < in.size(); ++i) {
    if (!Owns(in[i])) return base::InvalidArgument("program ", f.name, ": argument ", i, " belongs to another builder");
    if (type_id(in[i]) != f.param_types[i]) {
      return base::InvalidArgument("program ", f.name, ": argument ", i, " is ", ToText(type(in[i])), ", not ",
                                   ToText(types().Get(f.param_types[i])));
    }
  }
  Rewriter values(f, *this);
  values.SetParams(in);
  RICCI_TRY(values.AddConstants());
  RICCI_TRY(values.CopyAll());
  location_ = outer;
  return values.Results();
}

}}}  // namespace ricci::v0::trace
