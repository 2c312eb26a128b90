// ricci/check.h: turns examples, of the caller or of the row, into programs, and runs the laws on them.
#include "base/abi_text.h"
#include "ricci/check.h"

#include "api/arguments.h"
#include "base/abi_struct.h"
#include "laws/row_rules.h"
#include "laws/trial.h"
#include "runtime/context/context.h"

using namespace ricci;
using api::Arguments;
using api::Border;
using laws::Example;
using laws::Findings;

namespace {

// The status `s` with `what`, which it is about, before its message.
absl::Status About(std::string_view what, const absl::Status& s) {
  if (s.ok()) return s;
  const absl::string_view why = s.message();
  return absl::Status(s.code(), absl::StrCat(base::ToAbsl(what), ": ", why));
}

// ---- examples of the caller ----
absl::StatusOr<ricci_check_example> ReadExample(Arguments args, const ricci_check_example* from) {
  RICCI_ASSIGN(const ricci_check_example e,
               base::ReadStruct(from, "example",
                                {RICCI_FLAG(RICCI_CHECK_NO_DERIVATIVES), RICCI_FLAG(RICCI_CHECK_NO_BATCH),
                                 RICCI_FLAG(RICCI_CHECK_REF_ONLY), RICCI_FLAG(RICCI_CHECK_FIRST_ORDER)}));
  RICCI_TRY(args.Array("operands", e.operands, e.n_operands));
  RICCI_TRY(args.Array("attrs", e.attrs, e.n_attrs));
  return e;
}

Example ToExample(std::string name, laws::Program program, const ricci_check_example& e) {
  Example out{std::move(name), std::move(program), {}, e.hdr.flags, e.seed};
  for (uint32_t i = 0; i < e.n_operands; ++i) out.ranges.push_back({e.operands[i].low, e.operands[i].high});
  return out;
}

absl::StatusOr<std::vector<Example>> Given(Arguments args, ricci_ctx* c, ricci_prim prim,
                                           const ricci_check_example* examples, uint32_t n) {
  RICCI_TRY(args.Array("examples", examples, n));
  std::vector<Example> out;
  for (uint32_t i = 0; i < n; ++i) {
    const std::string name = base::Cat("example ", i);
    RICCI_ASSIGN(const ricci_check_example e, ReadExample(args, &examples[i]));
    std::vector<ricci_type> types;
    for (uint32_t k = 0; k < e.n_operands; ++k) types.push_back(e.operands[k].type);
    absl::StatusOr<laws::Program> program = laws::OneEquation(c, prim, {e.attrs, e.n_attrs}, types);
    RICCI_TRY(About(name, program.status()));
    out.push_back(ToExample(name, *std::move(program), e));
  }
  return out;
}

// ---- checking and reporting ----
struct Options {
  std::string_view device;
  void* sink = nullptr;
  void (*law)(void*, const ricci_check_law*) = nullptr;
};
absl::StatusOr<Options> ReadOptions(ricci_ctx* c, const ricci_check_opts* from) {
  if (from == nullptr) return Options();
  RICCI_ASSIGN(const ricci_check_opts o, base::ReadStruct(from, "options"));
  const Options out{base::View(o.device), o.sink, o.law};
  if (!out.device.empty() && ricci_device_find(c, out.device.data(), out.device.size()) == nullptr) {
    return absl::NotFoundError(base::Cat("no device of kind ", out.device, "; add the plugin that provides it"));
  }
  return out;
}

absl::Status CheckExamples(ricci_ctx* c, const std::vector<Example>& examples, const Options& o, Findings& findings) {
  for (const Example& e : examples) {
    absl::StatusOr<laws::Trial> trial = laws::Trial::Of(c, e, o.device, findings);
    RICCI_TRY(About(e.name, trial.status()));
    trial->CheckAll();
  }
  return absl::OkStatus();
}

// Reports every law; returns the failure of the first one that does not hold.
absl::Status Report(const Findings& findings, const Options& o) {
  absl::Status first;
  for (size_t i = 0; i < findings.size(); ++i) {
    const laws::Finding& found = findings[i];
    if (first.ok()) first = found.failure;
    if (o.law == nullptr) continue;
    const std::string_view name = laws::AllLaws()[i].name;
    const absl::string_view why = found.failure.message();
    ricci_check_law law{};
    law.hdr.size = sizeof law;
    law.name = {name.data(), name.size()};
    law.comparisons = found.comparisons;
    law.worst = found.worst;
    law.failure = {why.data(), why.size()};
    o.law(o.sink, &law);
  }
  return first;
}

}  // namespace

extern "C" {

ricci_status* ricci_check_primitive(ricci_ctx* c, const char* name, size_t len, const ricci_check_example* examples,
                                    uint32_t n, const ricci_check_opts* o) {
  return Border(__func__, [&](Arguments args) -> absl::Status {
    RICCI_TRY(args.NotNull({{"c", c}, {"name", name}}));
    ricci_prim prim = 0;
    RICCI_TRY(base::FromAbi(ricci_prim_find(c, name, len, &prim)));
    RICCI_ASSIGN(const Options options, ReadOptions(c, o));
    prim::Registry& registry = runtime::FromAbi(c)->registry();
    const prim::Row& row = registry.Get(prim);
    absl::StatusOr<std::vector<Example>> found =
        n == 0 ? laws::ExamplesOf(registry, row) : Given(args, c, prim, examples, n);
    RICCI_TRY(About(row.name, found.status()));
    if (found->empty()) {
      return absl::InvalidArgumentError(
          base::Cat(row.name, ": the row has no examples; add some to it, or pass some with the call"));
    }
    for (Example& e : *found) {
      e.flags |= laws::LawsWithoutRule(row);
      e.row = row.name;
    }
    Findings findings(laws::AllLaws().size());
    laws::CheckRules(row, findings);
    RICCI_TRY(About(row.name, CheckExamples(c, *found, options, findings)));
    return About(row.name, Report(findings, options));
  });
}

ricci_status* ricci_check_program(const ricci_program* f, const ricci_check_example* example,
                                  const ricci_check_opts* o) {
  return Border(__func__, [&](Arguments args) -> absl::Status {
    RICCI_TRY(args.NotNull({{"f", f}}));
    const ir::Program& p = *ir::FromAbi(f);
    ricci_ctx* const c = p.vocabulary()->abi;
    RICCI_ASSIGN(const Options options, ReadOptions(c, o));
    const laws::Program owned = laws::Own(ricci_program_retain(const_cast<ricci_program*>(f)));
    Example e{"", owned, {}, 0, 0};
    if (example != nullptr) {
      RICCI_ASSIGN(const ricci_check_example given, ReadExample(args, example));
      RICCI_TRY(args.Count("n_operands", given.n_operands, p.n_params(), "one per parameter"));
      e = ToExample("", owned, given);
    } else {
      for (uint32_t i = 0; i < p.n_params(); ++i) e.ranges.push_back(laws::DefaultRange(p.type(i).dtype));
    }
    Findings findings(laws::AllLaws().size());
    RICCI_TRY(CheckExamples(c, {e}, options, findings));
    return About(p.name, Report(findings, options));
  });
}
}
