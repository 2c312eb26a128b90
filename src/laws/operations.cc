#include "laws/operations.h"

#include "base/abi_text.h"
#include "trace/rewriter.h"

namespace ricci { inline namespace v0 { namespace laws {

Operations::Operations(const ricci_program* examined) {
  for (const ir::Equation& eqn : ir::FromAbi(examined)->equations) examined_.insert(eqn.prim);
}

bool Operations::IsNew(const ricci_op& op) {
  if (!examined_.contains(op.prim)) return false;
  std::string key = std::to_string(op.prim);
  for (uint32_t i = 0; i < op.n_in; ++i) key += " " + std::to_string(op.in_types[i]);
  for (uint32_t i = 0; i < op.n_attrs; ++i) {
    const ricci_attr& a = op.attrs[i];
    const bool words = a.kind == RICCI_ATTR_INTS || a.kind == RICCI_ATTR_FLOATS;
    const size_t bytes = a.kind == RICCI_ATTR_STRING ? a.count : words ? a.count * sizeof(int64_t) : 0;
    key += base::Cat(" ", base::View(a.name), "=", a.i, " ", a.f, " ", a.count, " ");
    key.append(static_cast<const char*>(a.data), bytes);
  }
  return seen_.insert(key).second;
}

absl::StatusOr<RunnableRef> Probe(ricci_ctx* ctx, const ir::Program& f, const std::vector<ir::ValueId>& wanted) {
  RICCI_ASSIGN(auto b,
               trace::Builder::Create(prim::Registry::Of(f), f.name, {f.param_types.data(), f.param_types.size()}));
  trace::Rewriter values(f, *b);
  values.SetParams(b->params());
  RICCI_TRY(values.AddConstants());
  RICCI_TRY(values.CopyAll());
  RICCI_ASSIGN(ir::ProgramRef probe, b->Finish(values[wanted]));
  return Runnable::Of(ctx, ir::Abi(probe.Detach()));
}

absl::Status About(const prim::Row& row, const absl::Status& s) {
  const absl::string_view why = s.message();
  return s.ok() ? s : absl::Status(s.code(), absl::StrCat(row.name, " ", why));
}

}}}  // namespace ricci::v0::laws
