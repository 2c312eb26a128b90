// Script: the row `h.op`, of which one rule does what a test says, and how to make the core call that rule.
#ifndef RICCI_TESTS_API_HOSTILE_SCRIPT_H_
#define RICCI_TESTS_API_HOSTILE_SCRIPT_H_
#include "hostile_case.h"
#include "ricci/check.h"

namespace ricci::testing {

// What a rule was called with; what it has no use for is NULL.
struct RuleCall {
  HostileCases* test = nullptr;
  const ricci_op* op = nullptr;
  ricci_builder* b = nullptr;  // of partial_eval: the known one
  const ricci_val* in = nullptr;
  ricci_val* out = nullptr;  // [1] where the rule fills values
  const ricci_jvp_args* jvp = nullptr;
  const ricci_transpose_args* transpose = nullptr;
  const ricci_batch_args* batch = nullptr;
  const ricci_partial_eval_args* partial_eval = nullptr;
  const ricci_dce_args* dce = nullptr;
  ricci_kernel_builder* k = nullptr;
  const ricci_sval *loaded = nullptr, *index = nullptr;
  ricci_sval* element = nullptr;
  ricci_view_map* view_map = nullptr;
  ricci_library_plan* plan = nullptr;
  const ricci_source_args* source = nullptr;
  void* sink = nullptr;
  void (*write)(void*, const char*, size_t) = nullptr;
};
using Act = std::function<ricci_status*(const RuleCall&)>;

struct Script {
  HostileCases* test = nullptr;
  Act act;
  ricci_prim_def def = Def("h.op");
  ricci_lowering lowering{}, copy{};
  ricci_library library{};
  const ricci_lowering* list[2] = {&lowering, &copy};

  ricci_status* Do(RuleCall call) const {
    call.test = test;
    return act(call);
  }
};
// The script of the case that runs now: its context is gone before the next one begins.
inline Script& NewScript() {
  static std::unique_ptr<Script> script;
  script = std::make_unique<Script>();
  return *script;
}
inline const Script& Of(void* self) { return *static_cast<const Script*>(self); }

// Each rule of a row, and each callback of its lowerings.
inline const std::vector<std::string>& AllRules() {
  static const std::vector<std::string> rules = {
      "abstract_eval", "jvp",       "transpose", "batch",  "partial_eval", "dce",   "simplify", "contract", "view_map",
      "factors_of",    "decompose", "match",     "scalar", "index",        "loops", "plan",     "launch",   "source"};
  return rules;
}
// The row whose rule of that name acts; everything else of it is right.
void SetRule(Script& s, const std::string& rule);
// Makes the core call that rule.
ricci_status* Use(HostileCases& t, const std::string& rule);
// A case in which it does what `act` says.
HostileCase RuleThat(const std::string& rule, const std::string& what, std::vector<std::string> said, Act act);

}  // namespace ricci::testing
#endif
