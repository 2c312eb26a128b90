#include "ir/verify.h"

#include "base/hash_map.h"
#include "base/status.h"
#include "ir/walk.h"

namespace ricci { inline namespace v0 { namespace ir {
namespace {

template <typename... Args>
absl::Status Broken(const Program& p, const Args&... what) {
  return absl::InternalError(base::Cat("program ", p.name.empty() ? "(unnamed)" : p.name, ": ", what...));
}

absl::Status VerifyValues(const Program& p) {
  const size_t sizes[] = {p.param_types.size(), p.constants.size(), p.equations.size()};
  for (ValueId v = 0; v < p.values.size(); ++v) {
    const Value& value = p.values[v];
    if (!p.vocabulary()->types.Has(value.type)) return Broken(p, "%", v, ": type ", value.type, " is not known");
    if (value.index >= sizes[static_cast<int>(value.kind)]) return Broken(p, "%", v, ": it has no definition");
  }
  for (uint32_t i = 0; i < p.n_params(); ++i) {
    if (i >= p.values.size() || p.values[i].kind != ValueKind::kParam || p.values[i].index != i ||
        p.values[i].type != p.param_types[i]) {
      return Broken(p, "parameter ", i, " is not value %", i);
    }
  }
  return absl::OkStatus();
}

absl::Status VerifyConstants(const Program& p) {
  for (const Constant& c : p.constants) {
    if (c.value >= p.values.size() || p.constant(c.value) != &c) return Broken(p, "a constant has no value");
    const ArrayType& t = p.type(c.value);
    const uint64_t bytes = c.splat ? types::Info(t.dtype).size : t.bytes;
    if (c.data == nullptr || c.data->bytes.size() != bytes) {
      return Broken(p, "%", c.value, ": constant of ", ToText(t), " takes ", base::Count(bytes, "byte"));
    }
  }
  return absl::OkStatus();
}

using ProgramSet = base::HashSet<const Program*>;

absl::Status VerifyEquation(const Program& p, const ProgramSet& held, uint32_t number, ValueId& last) {
  const Equation& e = p.equations[number];
  const auto broken = [&](const auto&... what) {
    return Broken(p, "equation ", number, " (", p.vocabulary()->PrimName(e.prim), "): ", what...);
  };
  if (e.prim == 0 || e.prim >= p.vocabulary()->PrimCount()) return broken("primitive ", e.prim, " is not known");
  for (ValueId v : e.operands) {
    if (v >= p.values.size()) return broken("operand %", v, " does not exist");
    if (p.values[v].kind == ValueKind::kResult && p.values[v].index >= number) {
      return broken("operand %", v, " is used before it is defined");
    }
  }
  if (e.n_results != 0 && e.first_result < last) return broken("results are out of order");
  for (uint32_t i = 0; i < e.n_results; ++i) {
    const ValueId v = e.result(i);
    if (v >= p.values.size() || p.definition(v) != &e) return broken("result %", v, " is not its own");
    last = v + 1;
  }
  for (const ricci_attr& a : e.attrs) {
    for (ricci_program* f : Programs(a)) {
      if (!held.contains(FromAbi(f))) return broken("a nested program is not held");
    }
  }
  return absl::OkStatus();
}

absl::Status VerifyOne(const Program& p) {
  RICCI_TRY(VerifyValues(p));
  RICCI_TRY(VerifyConstants(p));
  ProgramSet held;
  for (const ProgramRef& f : p.nested) held.insert(f.get());
  ValueId last = 0;
  for (uint32_t i = 0; i < p.equations.size(); ++i) RICCI_TRY(VerifyEquation(p, held, i, last));
  if (p.results.size() != p.result_types.size()) return Broken(p, "results and their types differ in number");
  for (uint32_t i = 0; i < p.n_results(); ++i) {
    if (p.results[i] >= p.values.size()) return Broken(p, "result ", i, " does not exist");
    if (p.type_id(p.results[i]) != p.result_types[i]) return Broken(p, "result ", i, " has another type");
  }
  return absl::OkStatus();
}

}  // namespace

absl::Status Verify(const Program& p) {
  for (const Program* inner : NestedFirst(p)) RICCI_TRY(VerifyOne(*inner));
  return absl::OkStatus();
}

}}}  // namespace ricci::v0::ir
