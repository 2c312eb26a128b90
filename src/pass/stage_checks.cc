#include "pass/stage_checks.h"

#include "ir/verify.h"

namespace ricci { inline namespace v0 { namespace pass {
namespace {

absl::Status AfterStage(std::string_view stage, const absl::Status& s) {
  if (s.ok()) return s;
  const absl::string_view what = s.message();
  return absl::Status(s.code(), absl::StrCat("after pass ", base::ToAbsl(stage), ": ", what));
}

std::string TypesText(const ir::Program& p, std::span<const ir::TypeId> types) {
  std::string text = "(";
  for (ir::TypeId t : types) text += (text.size() == 1 ? "" : ", ") + ToText(p.vocabulary()->types.Get(t));
  return text + ")";
}
std::string Signature(const ir::Program& p) {
  return base::Cat(TypesText(p, {p.param_types.data(), p.param_types.size()}), " -> ",
                   TypesText(p, {p.result_types.data(), p.result_types.size()}));
}

absl::Status SameSignature(const ir::Program& given, const ir::Program& now) {
  const auto same = [](const auto& a, const auto& b) { return std::equal(a.begin(), a.end(), b.begin(), b.end()); };
  if (same(given.param_types, now.param_types) && same(given.result_types, now.result_types)) return absl::OkStatus();
  return absl::InternalError(
      base::Cat("program ", given.name, ": was ", Signature(given), " and has become ", Signature(now)));
}

}  // namespace

absl::Status CheckProgram(std::string_view stage, const ir::Program& given, const ir::Program& now) {
  RICCI_TRY(AfterStage(stage, ir::Verify(now)));
  return AfterStage(stage, SameSignature(given, now));
}

absl::Status CheckPlan(std::string_view stage, const Options& options, const Lowered& lowered, bool has_offsets) {
  const ir::Program& f = *lowered.optimized;
  kernel::PlanFacts facts;
  for (uint32_t i = 0; i < f.n_params(); ++i) facts.inputs.push_back(f.type(i));
  for (ir::ValueId r : f.results) facts.outputs.push_back(f.type(r));
  facts.donate = options.donate;
  facts.output_alias = lowered.output_alias;
  facts.has_offsets = has_offsets;
  return AfterStage(stage, kernel::VerifyPlan(lowered.plan, lowered.kernels, facts));
}

}}}  // namespace ricci::v0::pass
