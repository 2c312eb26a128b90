// Every rule and callback, times every way to fail; every rule that fills values, times every value that is none; every
// rule that gets a builder, times every way to end it.
#include "hostile_script.h"

namespace ricci::testing { namespace {

// ---- failures ----

struct Failure {
  std::string name, said;
  Act act;
  bool names_rule;  // the core says who failed; otherwise the rule's own words are enough
};
std::vector<Failure> Failures() {
  const auto made = [](uint32_t code, std::string text) {
    return [=](const RuleCall&) { return ricci_status_make(code, text.data(), text.size()); };
  };
  return {
      {"fails", "not today", made(RICCI_INTERNAL, "not today"), false},
      {"fails_with_code_ok", "fine", made(RICCI_OK, "fine"), false},
      {"fails_with_an_unknown_code", "odd code", made(4711, "odd code"), false},
      {"fails_in_no_encoding", "\xff\xfe", made(RICCI_INTERNAL, "\xff\xfe"), false},
      {"fails_without_a_message", "failed without a message", made(RICCI_CANCELLED, ""), true},
      {"fails_with_a_null_message", "failed without a message",
       [](const RuleCall&) { return ricci_status_make(RICCI_DATA_LOSS, nullptr, 77); }, true},
      {"throws_an_exception", "threw a C++ exception: boom",
       [](const RuleCall&) -> ricci_status* { throw std::runtime_error("boom"); }, true},
      {"throws_a_number", "threw something that is not a std::exception",
       [](const RuleCall&) -> ricci_status* { throw 7; }, true},
      {"throws_bad_alloc", "out of memory", [](const RuleCall&) -> ricci_status* { throw std::bad_alloc(); }, true}};
}
std::vector<HostileCase> AllFailures() {
  std::vector<HostileCase> out;
  for (const std::string& rule : AllRules()) {
    for (const Failure& f : Failures()) {
      std::vector<std::string> said = {f.said};
      if (f.names_rule) said.push_back("rule " + rule + " of plugin hostile");
      out.push_back(RuleThat(rule, f.name, said, f.act));
    }
  }
  return Named(std::move(out));
}

// ---- values ----

// Fills everything right except that result 0 is `v`; of a jvp rule, `tangent` says which result.
void Fill(const RuleCall& c, ricci_val v, bool tangent) {
  if (c.batch != nullptr) c.batch->out_dims[0] = 0;
  if (c.dce != nullptr) c.dce->used_in[0] = 1;
  if (c.partial_eval != nullptr) c.partial_eval->out_is_known[0] = 1;
  if (c.out != nullptr) c.out[0] = tangent ? c.in[0] : v;
  if (tangent) c.jvp->out_tangents[0] = v;
}
ricci_val Zeros(const RuleCall& c, uint32_t dtype, std::vector<int64_t> dims) {
  ricci_val v = 0;
  EXPECT_TRUE(Ok(ricci_builder_zero(c.b, c.test->TypeOf(dtype, std::move(dims)), &v)));
  return v;
}
// A value of a program nested in this one, and gone.
ricci_val OfNested(const RuleCall& c) {
  ricci_builder* inner = nullptr;
  ricci_val v = 0;
  EXPECT_TRUE(Ok(ricci_builder_nest(c.b, "inner", 5, c.op->in_types, 1, &inner, &v)));
  ricci_builder_abandon(inner);
  return v;
}
// A value of another context, made in the same order as those here.
ricci_val OfAnotherContext(const RuleCall& c) {
  ricci_ctx* other = nullptr;
  EXPECT_TRUE(Ok(ricci_context_create(nullptr, &other)));
  const int64_t four = 4;
  const ricci_type_desc d = ricci_type_desc_of(RICCI_F32, 1, &four);
  ricci_type t = 0;
  EXPECT_TRUE(Ok(ricci_type_make(other, &d, &t)));
  ricci_val v = 0;
  for (uint32_t i = 0; i < 8; ++i) {
    ricci_builder* b = nullptr;
    ricci_val made = 0;
    EXPECT_TRUE(Ok(ricci_builder_create(other, "g", 1, &t, 1, &b, &made)));
    ricci_builder_abandon(b);
    if (made >> 32 == c.in[0] >> 32 || i == 0) v = made;
  }
  ricci_context_release(other);
  return v;
}

struct BadValue {
  std::string name, said;
  std::function<ricci_val(const RuleCall&)> make;
};
std::vector<BadValue> BadValues(bool batched) {
  const std::string want = batched ? "f32[3,4]" : "f32[4]";
  const std::string foreign = "holds a value of another builder";
  return {{"nothing", "is not filled", [](const RuleCall&) -> ricci_val { return RICCI_VAL_NONE; }},
          {"a_symbolic_zero", foreign, [](const RuleCall&) -> ricci_val { return RICCI_VAL_ZERO; }},
          {"a_small_number", foreign, [](const RuleCall&) -> ricci_val { return 12345; }},
          {"a_large_number", foreign, [](const RuleCall&) -> ricci_val { return ~ricci_val{1}; }},
          {"a_value_beyond_the_last", foreign, [](const RuleCall& c) { return c.in[0] | 0xffffffff; }},
          {"a_value_of_a_nested_program", foreign, OfNested},
          {"a_value_of_another_context", foreign, OfAnotherContext},
          {"another_dtype", "is f64[4], not " + want, [](const RuleCall& c) { return Zeros(c, RICCI_F64, {4}); }},
          {"another_size", "is f32[5], not " + want, [](const RuleCall& c) { return Zeros(c, RICCI_F32, {5}); }},
          {"another_rank", "is f32[], not " + want, [](const RuleCall& c) { return Zeros(c, RICCI_F32, {}); }}};
}
std::vector<HostileCase> AllValues() {
  struct Filler {
    std::string rule, slot;
    bool tangent, may_be_zero, may_be_nothing;
  };
  const Filler fillers[] = {{"jvp", "slot 0", false, false, false},         {"jvp", "slot 1", true, true, false},
                            {"transpose", "slot 0", false, true, false},    {"batch", "slot 0", false, false, false},
                            {"decompose", "slot 0", false, false, false},   {"dce", "slot 0", false, false, false},
                            {"simplify", "slot 0", false, false, true},     {"contract", "slot 0", false, false, true},
                            {"partial_eval", "slot 0", false, false, false}};
  std::vector<HostileCase> out;
  for (const Filler& f : fillers) {
    for (const BadValue& bad : BadValues(f.rule == "batch")) {
      if (bad.name == "a_symbolic_zero" && f.may_be_zero) continue;
      if (bad.name == "nothing" && f.may_be_nothing) continue;
      const auto act = [make = bad.make, tangent = f.tangent](const RuleCall& c) -> ricci_status* {
        // The first call of dce only asks what is used.
        if (c.dce != nullptr && c.in == nullptr) return c.dce->used_in[0] = 1, nullptr;
        Fill(c, make(c), tangent);
        return nullptr;
      };
      const std::string rule = "rule " + f.rule + " of plugin hostile: " + f.slot;
      out.push_back(RuleThat(f.rule, (f.tangent ? "tangent_is_" : "gives_") + bad.name, {rule, bad.said}, act));
    }
  }
  return Named(std::move(out));
}

// ---- builders ----

std::vector<HostileCase> AllEnds() {
  struct End {
    std::string name, said;
    std::function<ricci_status*(ricci_builder*)> act;
  };
  const End ends[] = {{"abandons", "abandons the builder that it got; it may only append to it",
                       [](ricci_builder* b) -> ricci_status* { return ricci_builder_abandon(b), nullptr; }},
                      {"finishes", "ricci_builder_finish: b was lent to a rule",
                       [](ricci_builder* b) {
                         ricci_program* p = nullptr;
                         return ricci_builder_finish(b, nullptr, 0, &p);
                       }},
                      {"adds_a_parameter_to", "ricci_builder_param: b was lent to a rule", [](ricci_builder* b) {
                         ricci_val v = 0;
                         return ricci_builder_param(b, 1, &v);
                       }}};
  std::vector<HostileCase> out;
  for (const std::string rule :
       {"abstract_eval", "jvp", "transpose", "batch", "decompose", "simplify", "contract", "dce", "partial_eval"}) {
    for (const End& end : ends) {
      const auto act = [=](const RuleCall& c) -> ricci_status* {
        if (c.dce != nullptr && c.in == nullptr) return c.dce->used_in[0] = 1, nullptr;
        if (c.in != nullptr) Fill(c, c.in[0], false);
        if (rule == "abstract_eval") {
          EXPECT_TRUE(Ok(ricci_builder_set_out_types(c.b, c.op->in_types, 1)));
        }
        return end.act(c.b);
      };
      out.push_back(RuleThat(rule, end.name + "_its_builder", {end.said}, act));
    }
  }
  return Named(std::move(out));
}

using HostileRuleCases = HostileCases;
TEST_P(HostileRuleCases, GiveAStatus) { RunCase(); }
INSTANTIATE_TEST_SUITE_P(Failures, HostileRuleCases, ::testing::ValuesIn(AllFailures()), NameOfCase);
INSTANTIATE_TEST_SUITE_P(Values, HostileRuleCases, ::testing::ValuesIn(AllValues()), NameOfCase);
INSTANTIATE_TEST_SUITE_P(Builders, HostileRuleCases, ::testing::ValuesIn(AllEnds()), NameOfCase);

}  // namespace
}  // namespace ricci::testing
