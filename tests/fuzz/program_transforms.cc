#include "fuzz/program_transforms.h"

#include "base/status_abi.h"
#include "ir/walk.h"
#include "ricci/lax.hpp"
#include "transform/rebuild.h"

namespace ricci::testing {
namespace {

uint32_t Count(const auto& list) { return static_cast<uint32_t>(list.size()); }

Values InlineInto(ricci_ctx* ctx, ricci_builder* b, const Program& p, const Values& in) {
  std::vector<ricci_val> ids, out(ResultsOf(ctx, p.get()).size());
  for (const Value& v : in) ids.push_back(v.id);
  Check(ricci_builder_inline(b, p.get(), ids.data(), Count(ids), out.data(), Count(out)));
  Values made;
  for (ricci_val id : out) made.push_back({b, id});
  return made;
}

// `f` with equations of these primitives as calls.
absl::StatusOr<ir::ProgramRef> Plain(const ir::Program& f, std::span<const std::string_view> primitives) {
  const auto nested = [&](const ir::Program& p) { return Plain(p, primitives); };
  return transform::Rebuild(f,
                            [&](trace::Builder& b, const ir::Program& from, const ir::Equation& eqn,
                                std::span<const trace::Val> in) -> absl::StatusOr<trace::Vals> {
                              const std::string_view name = b.registry().vocabulary().PrimName(eqn.prim);
                              if (std::ranges::find(primitives, name) == primitives.end())
                                return transform::CopyWithNested(b, from, eqn, in, nested);
                              for (const ricci_attr& a : eqn.attrs) {
                                if (std::string_view(a.name.ptr, a.name.len) != "call") continue;
                                RICCI_ASSIGN(const ir::ProgramRef body, nested(*ir::FromAbi(ir::Programs(a)[0])));
                                return b.Inline(*body, in);
                              }
                              return absl::InternalError("a custom derivative without a function");
                            });
}
Program PlainOf(const Program& p, std::initializer_list<std::string_view> primitives) {
  auto plain = Plain(*ir::FromAbi(p.get()), primitives);
  Check(base::ToAbi(plain.status()));
  return Own(ir::Abi(plain->Detach()));
}

}  // namespace

Mask FloatingOf(const std::vector<ArrayType>& types) {
  Mask out;
  for (const ArrayType& t : types) out.push_back(IsFloat(t.dtype()));
  return out;
}

Program JvpOf(const Program& p, const Mask& active) {
  ricci_program* out = nullptr;
  Check(ricci_jvp(p.get(), active.data(), Count(active), &out));
  return Own(out);
}

ReverseMode VjpOf(const Program& p, const Mask& wanted) {
  ricci_program *fwd = nullptr, *bwd = nullptr;
  Check(ricci_vjp(p.get(), wanted.data(), Count(wanted), &fwd, &bwd));
  return {Own(fwd), Own(bwd)};
}

Program BackwardOf(ricci_ctx* ctx, const Program& p, const Mask& wanted) {
  const auto [fwd, bwd] = VjpOf(p, wanted);
  const std::vector<ArrayType> params = ParamsOf(ctx, p.get()), bwd_params = ParamsOf(ctx, bwd.get());
  const size_t n_results = ResultsOf(ctx, p.get()).size(), n_residuals = ResultsOf(ctx, fwd.get()).size() - n_results;
  std::vector<ricci_type> types;
  for (const ArrayType& t : params) types.push_back(t.id());
  for (size_t i = n_residuals; i < bwd_params.size(); ++i) types.push_back(bwd_params[i].id());
  std::vector<ricci_val> ids(types.size());
  ricci_builder* b = nullptr;
  Check(ricci_builder_create(ctx, "backward", 8, types.data(), Count(types), &b, ids.data()));
  std::unique_ptr<ricci_builder, decltype(&ricci_builder_abandon)> guard(b, ricci_builder_abandon);
  Values in;
  for (size_t i = 0; i < params.size(); ++i) in.push_back({b, ids[i]});
  Values residuals = InlineInto(ctx, b, fwd, in);
  residuals.erase(residuals.begin(), residuals.begin() + static_cast<int64_t>(n_results));
  for (size_t i = params.size(); i < ids.size(); ++i) residuals.push_back({b, ids[i]});
  std::vector<ricci_val> cts;
  for (const Value& v : InlineInto(ctx, b, bwd, residuals)) cts.push_back(v.id);
  ricci_program* out = nullptr;
  Check(ricci_builder_finish(b, cts.data(), Count(cts), &out));
  (void)guard.release();
  return Own(out);
}

Program VmapOf(const Program& p, const BatchAxes& in_axes, const BatchAxes& out_axes, int64_t size) {
  ricci_program* out = nullptr;
  Check(ricci_vmap(p.get(), in_axes.data(), Count(in_axes), out_axes.data(), Count(out_axes), size, nullptr, &out));
  return Own(out);
}

Program BatchOf(const Program& p, const Mask& in_batched, Mask& out_batched) {
  ricci_program* out = nullptr;
  Check(ricci_batch(p.get(), in_batched.data(), Count(in_batched), kBatch, nullptr, out_batched.data(), &out));
  return Own(out);
}

Program WithoutCustomRules(const Program& p) { return PlainOf(p, {"custom_jvp", "custom_vjp"}); }
Program WithoutCustomVjp(const Program& p) { return PlainOf(p, {"custom_vjp"}); }

bool MayBeRefused(const Error& e) {
  const std::string rank = Text("rank ", RICCI_MAX_RANK + 1, " exceeds");
  const auto says = [&](std::string_view what) {
    return std::string_view(e.message()).find(what) != std::string::npos;
  };
  return e.code() == RICCI_UNIMPLEMENTED || says(rank) || says("an effect may not run twice");
}

std::multiset<std::string> RowsOf(const Program& p) {
  std::multiset<std::string> out;
  for (const ir::Program* f : ir::NestedFirst(*ir::FromAbi(p.get()))) {
    for (const ir::Equation& eqn : f->equations) out.emplace(prim::Registry::Of(*f).vocabulary().PrimName(eqn.prim));
  }
  return out;
}

}  // namespace ricci::testing
