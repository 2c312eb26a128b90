// partial_eval: what each half computes, which values become residuals, and what policies compute again.
#include "transform/partial_eval.h"

#include <set>

#include "transform/transform_fixture.h"

namespace ricci::testing { namespace {

class PartialEval : public TransformTest {
 protected:
  transform::PartialEvalProgram Split(std::string_view text, const Mask& known, const Mask& force = {},
                                      std::string_view policy = {}) {
    return Get(transform::PartialEval(*Parse(text), known, force, {policy}));
  }
  // The results of both halves in the order of f; arguments of known parameters, then of unknown ones.
  std::vector<Numbers> RunBoth(const transform::PartialEvalProgram& s, const std::vector<Numbers>& known,
                               const std::vector<Numbers>& unknown) {
    const std::vector<Numbers> first = Run(s.known, known);
    const uint32_t n_known = transform::Count(s.out_known);
    std::vector<Numbers> args(first.begin() + n_known, first.end()), out(s.out_known.size());
    args.insert(args.end(), unknown.begin(), unknown.end());
    const std::vector<Numbers> second = Run(s.unknown, args);
    transform::Scatter(s.out_known, std::span(first).first(n_known), out.data());
    transform::Scatter(transform::Not(s.out_known), std::span(second), out.data());
    return out;
  }
};

constexpr std::string_view kProduct = R"(
program f(%x: f64[], %y: f64[]) {
  %two: f64[] = constant 2.0
  %s: f64[] = sin(%x)
  %t: f64[] = mul(%s, %two)
  %p: f64[] = mul(%t, %y)
  %q: f64[] = add(%p, %two)
  %r: f64[] = mul(%q, %t)
  return %r, %s
})";

// The known half ends with one residual, used twice; constants are copied.
TEST_F(PartialEval, EachHalfComputesItsOwnAndConstantsAreCopied) {
  const auto s = Split(kProduct, {1, 0});
  EXPECT_EQ(s.out_known, (Mask{0, 1}));
  EXPECT_EQ(s.n_residuals, 1u);
  EXPECT_EQ(s.residual_param, std::vector<int32_t>{-1});
  EXPECT_EQ(Text(s.known), R"(
program f(%0: f64[]) {
  %1: f64[] = constant 2.0
  %2: f64[] = sin(%0)
  %3: f64[] = mul(%2, %1)
  return %2, %3
})");
  EXPECT_EQ(Text(s.unknown), R"(
program f(%0: f64[], %1: f64[]) {
  %2: f64[] = constant 2.0
  %3: f64[] = mul(%0, %1)
  %4: f64[] = add(%3, %2)
  %5: f64[] = mul(%4, %0)
  return %5
})");
  EXPECT_EQ(RunBoth(s, {{0.7}}, {{3}}), Run(Parse(kProduct), {{0.7}, {3}}));
}

TEST_F(PartialEval, AllKnownAndAllUnknown) {
  const auto known = Split(kProduct, {1, 1});
  EXPECT_EQ(known.out_known, (Mask{1, 1}));
  EXPECT_EQ(known.n_residuals, 0u);
  EXPECT_EQ(Text(known.unknown), "\nprogram f() {\n  return\n}");
  EXPECT_EQ(known.known->n_results(), 2u);
  const auto unknown = Split(kProduct, {0, 0});
  EXPECT_EQ(unknown.out_known, (Mask{0, 0}));
  EXPECT_EQ(unknown.n_residuals, 0u);
  EXPECT_EQ(Text(unknown.known), "\nprogram f() {\n  return\n}");
  EXPECT_EQ(RunBoth(unknown, {}, {{0.7}, {3}}), Run(Parse(kProduct), {{0.7}, {3}}));
}

TEST_F(PartialEval, AResidualThatIsAParameterIsNamed) {
  const auto s = Split(R"(
program f(%a: f64[], %u: f64[], %b: f64[]) {
  %s: f64[] = sin(%b)
  %p: f64[] = mul(%u, %s)
  %q: f64[] = mul(%p, %b)
  %r: f64[] = mul(%q, %a)
  return %r
})",
                       {1, 0, 1});
  EXPECT_EQ(s.residual_param, (std::vector<int32_t>{-1, 2, 0})) << "in the order of the residuals";
  EXPECT_EQ(s.unknown->n_params(), 4u);
  ExpectNear(RunBoth(s, {{2}, {3}}, {{5}})[0], {5 * std::sin(3.0) * 3 * 2}, 1e-15);
}

TEST_F(PartialEval, AForcedResultIsPassedAsAResidual) {
  const auto s = Split("program f(%x: f64[], %y: f64[]) {\n  %s: f64[] = sin(%x)\n  return %s, %x, %s, %y\n}", {1, 0},
                       {1, 1, 0, 0});
  EXPECT_EQ(s.out_known, (Mask{0, 0, 1, 0}));
  EXPECT_EQ(s.residual_param, (std::vector<int32_t>{-1, 0}));
  EXPECT_EQ(Text(s.unknown), "\nprogram f(%0: f64[], %1: f64[], %2: f64[]) {\n  return %0, %1, %2\n}");
  EXPECT_EQ(RunBoth(s, {{0.5}}, {{4}}), (std::vector<Numbers>{{std::sin(0.5)}, {0.5}, {std::sin(0.5)}, {4}}));
}

// What no result of the unknown half needs does not become a residual, and the known half does not compute it.
TEST_F(PartialEval, DeadResidualsAreDroppedInBothHalves) {
  const auto s = Split(R"(
program f(%x: f64[], %y: f64[]) {
  %s: f64[] = sin(%x)
  %dead: f64[] = mul(%s, %y)
  %t: f64[] = neg(%y)
  return %t
})",
                       {1, 0});
  EXPECT_EQ(s.n_residuals, 0u);
  EXPECT_EQ(Text(s.known), "\nprogram f(%0: f64[]) {\n  return\n}");
  EXPECT_EQ(Prims(s.unknown), "neg");
}

constexpr std::string_view kLayers = R"(
program f(%w: f64[2,2], %x: f64[2], %y: f64[2]) {
  %a: f64[2] = dot_general(%w, %x) lhs_contract=[1] rhs_contract=[0]
  %s: f64[2] = sin(%a)
  %c: f64[2] = call(%s) name="other" body=program g(%v: f64[2]) {
    %e: f64[2] = exp(%v)
    return %e
  }
  %n: f64[2] = name(%c) name="kept"
  %m: f64[2] = mul(%s, %n)
  %p: f64[2] = mul(%m, %y)
  return %p
})";

TEST_F(PartialEval, APolicySaysWhatIsSavedAndTheRestIsComputedAgain) {
  const struct {
    std::string_view policy, unknown;
    std::vector<int32_t> residuals;  // parameters, or -1; in any order
  } cases[] = {
      {"", "mul", {-1}},
      {"everything", "mul", {-1}},
      {"nothing", "dot_general sin call name mul mul", {0, 1}},
      {"dots", "sin call name mul mul", {-1}},
      {"dots_with_no_batch_dims", "sin call name mul mul", {-1}},
      {"names:kept", "dot_general sin mul mul", {-1, 0, 1}},
      {"names:other,kept", "dot_general sin mul mul", {-1, 0, 1}},
      {"names:other", "dot_general sin call name mul mul", {0, 1}},
      {"names:", "dot_general sin call name mul mul", {0, 1}},
      {"names_but:kept", "dot_general sin call name mul mul", {0, 1}},
      {"names_but:other", "dot_general sin mul mul", {-1, 0, 1}},
      {"names_but:", "dot_general sin mul mul", {-1, 0, 1}},
      {"dots|names:kept", "sin mul mul", {-1, -1}},
      {"nothing|names:other|dots", "sin call name mul mul", {-1}},
  };
  const Numbers w = {1, 2, -1, 0.5}, x = {0.3, -0.2}, y = {2, 3};
  const auto want = Run(Parse(kLayers), {w, x, y});
  for (const auto& c : cases) {
    SCOPED_TRACE(c.policy);
    const auto s = Split(kLayers, {1, 1, 0}, {}, c.policy);
    EXPECT_EQ(Prims(s.unknown), c.unknown);
    std::vector<int32_t> residuals = s.residual_param;
    std::sort(residuals.begin(), residuals.end());
    EXPECT_EQ(residuals, c.residuals);
    ExpectNear(RunBoth(s, {w, x}, {y})[0], want[0], 1e-15);
  }
}

TEST_F(PartialEval, OnlyProductsWithoutBatchAreSavedByThatPolicy) {
  constexpr std::string_view kBatched = R"(
program f(%w: f64[3,2,2], %x: f64[3,2], %y: f64[3,2]) {
  %a: f64[3,2] = dot_general(%w, %x) lhs_contract=[2] rhs_contract=[1] lhs_batch=[0] rhs_batch=[0]
  %p: f64[3,2] = mul(%a, %y)
  return %p
})";
  EXPECT_EQ(Prims(Split(kBatched, {1, 1, 0}, {}, "dots").unknown), "mul");
  EXPECT_EQ(Prims(Split(kBatched, {1, 1, 0}, {}, "dots_with_no_batch_dims").unknown), "dot_general mul");
}

TEST_F(PartialEval, AnUnknownPolicyIsRefused) {
  EXPECT_EQ(ErrorOf(transform::PartialEval(*Parse(kLayers), Mask{1, 1, 0}, {}, {"dot"})),
            "checkpoint: unknown policy dot; known: everything, nothing, dots, dots_with_no_batch_dims, names:a,b, "
            "names_but:a,b, "
            "and several with | between them");
}

// What a policy does with equations that hold programs: the number of residuals is that of JAX.
constexpr std::string_view kHolding[] = {R"(
program f(%w: f64[2,2], %x: f64[2], %y: f64[2]) {
  %e: f64[2] = exp(%x)
  %a: f64[2], %b: f64[2], %t: f64[2] = call(%w, %e, %y) body=program g(%w: f64[2,2], %v: f64[2], %y: f64[2]) {
    %d: f64[2] = dot_general(%w, %v) lhs_contract=[1] rhs_contract=[0]
    %s: f64[2] = sin(%d)
    %c: f64[2] = cos(%d)
    %t: f64[2] = mul(%c, %y)
    return %s, %c, %t
  }
  %m: f64[2] = mul(%a, %b)
  %p: f64[2] = mul(%m, %t)
  return %p
})",
                                         R"(
program f(%w: f64[2,2], %x: f64[2], %y: f64[2]) {
  %e: f64[2] = exp(%x)
  %i: i32[] = constant 1
  %a: f64[2], %t: f64[2] = cond(%i, %w, %e, %y) branches=[program g(%w: f64[2,2], %v: f64[2], %y: f64[2]) {
    %c: f64[2] = cos(%v)
    %t: f64[2] = mul(%c, %y)
    return %c, %t
  }, program h(%w: f64[2,2], %v: f64[2], %y: f64[2]) {
    %d: f64[2] = dot_general(%w, %v) lhs_contract=[1] rhs_contract=[0]
    %s: f64[2] = sin(%d)
    %c: f64[2] = cos(%s)
    %t: f64[2] = mul(%c, %y)
    return %s, %t
  }]
  %p: f64[2] = mul(%a, %t)
  return %p
})",
                                         R"(
program f(%w: f64[2,2], %x: f64[2], %y: f64[2]) {
  %e: f64[2] = exp(%x)
  %a: f64[2], %t: f64[2], %ys: f64[3,2] = scan(%w, %e, %y) length=3 num_consts=1 num_carry=2 body=program g(%w: f64[2,2], %v: f64[2], %y: f64[2]) {
    %d: f64[2] = dot_general(%w, %v) lhs_contract=[1] rhs_contract=[0]
    %s: f64[2] = sin(%d)
    %c: f64[2] = cos(%d)
    %t: f64[2] = mul(%c, %y)
    return %s, %t, %c
  }
  %r: f64[2] = reduce_sum(%ys) axes=[0]
  %m: f64[2] = mul(%a, %r)
  %p: f64[2] = mul(%m, %t)
  return %p
})",
                                         R"(
program f(%w: f64[2,2], %x: f64[2], %y: f64[2]) {
  %e: f64[2] = exp(%x)
  %a: f64[2], %t: f64[2] = checkpoint(%w, %e, %y) policy="everything" body=program g(%w: f64[2,2], %v: f64[2], %y: f64[2]) {
    %d: f64[2] = dot_general(%w, %v) lhs_contract=[1] rhs_contract=[0]
    %s: f64[2] = sin(%d)
    %c: f64[2] = cos(%d)
    %t: f64[2] = mul(%c, %y)
    return %s, %t
  }
  %p: f64[2] = mul(%a, %t)
  return %p
})",
                                         R"(
program f(%w: f64[2,2], %x: f64[2], %y: f64[2]) {
  %e: f64[2] = exp(%x)
  %a: f64[2], %t: f64[2] = vmap(%w, %e, %y) size=2 in_axes=[0,-1,0] out_axes=[0,0] body=program g(%w: f64[2], %v: f64[2], %y: f64[]) {
    %d: f64[] = dot_general(%w, %v) lhs_contract=[0] rhs_contract=[0]
    %s: f64[] = sin(%d)
    %c: f64[] = cos(%d)
    %t: f64[] = mul(%c, %y)
    return %s, %t
  }
  %p: f64[2] = mul(%a, %t)
  return %p
})"};

TEST_F(PartialEval, APolicyHoldsForWhatAnEquationHolds) {
  const Numbers w = {1, 2, -1, 0.5}, x = {0.3, -0.2}, y = {2, 3};
  for (const std::string_view text : kHolding) {
    SCOPED_TRACE(text);
    const auto want = Run(Parse(text), {w, x, y});
    const auto nothing = Split(text, {1, 1, 0}, {}, "nothing"), dots = Split(text, {1, 1, 0}, {}, "dots");
    EXPECT_EQ(std::set(nothing.residual_param.begin(), nothing.residual_param.end()), (std::set<int32_t>{0, 1}))
        << Text(nothing.unknown);
    EXPECT_EQ(nothing.n_residuals, 2u);
    EXPECT_EQ(std::count(dots.residual_param.begin(), dots.residual_param.end(), -1), 1) << Text(dots.unknown);
    EXPECT_EQ(Text(dots.unknown).find("dot_general"), std::string::npos) << Text(dots.unknown);
    for (const auto* s : {&nothing, &dots}) ExpectNear(RunBoth(*s, {w, x}, {y})[0], want[0], 1e-15);
  }
}

// Its result is saved whatever the policy says, also inside of what an equation holds.
TEST_F(PartialEval, AnEffectDoesNotRunTwice) {
  AddRow("test.effect", [](ricci_prim_def& d) { d.hdr.flags = RICCI_PRIM_EFFECTFUL; });
  const ir::ProgramRef f = Parse(R"(
program f(%x: f64[], %y: f64[]) {
  %e: f64[] = test.effect(%x)
  %p: f64[] = mul(%e, %y)
  return %p
})");
  const auto saved = Get(transform::PartialEval(*f, Mask{1, 0}));
  EXPECT_EQ(Prims(saved.known), "test.effect");
  EXPECT_EQ(Prims(saved.unknown), "mul");
  const auto held = Parse(R"(
program f(%x: f64[], %y: f64[]) {
  %e: f64[], %s: f64[], %t: f64[] = call(%x, %y) body=program g(%x: f64[], %y: f64[]) {
    %e: f64[] = test.effect(%x)
    %s: f64[] = sin(%e)
    %t: f64[] = mul(%s, %y)
    return %e, %s, %t
  }
  %m: f64[] = mul(%e, %s)
  %p: f64[] = mul(%m, %t)
  return %p
})");
  for (const ir::ProgramRef& of : {f, held}) {
    const auto again = Get(transform::PartialEval(*of, Mask{1, 0}, {}, {"nothing"}));
    EXPECT_EQ(again.residual_param, std::vector<int32_t>{-1});
    EXPECT_EQ(Text(again.unknown).find("test.effect"), std::string::npos) << Text(again.unknown);
    EXPECT_NE(Text(again.known).find("test.effect"), std::string::npos) << Text(again.known);
  }
}

// A row that holds programs is split by its rule: each half of the call holds half of the program.
TEST_F(PartialEval, AHeldProgramIsSplitByTheRuleOfItsRow) {
  const auto s = Split(R"(
program f(%x: f64[], %y: f64[]) {
  %a: f64[], %b: f64[] = call(%x, %y) body=program g(%x: f64[], %y: f64[]) {
    %s: f64[] = sin(%x)
    %p: f64[] = mul(%s, %y)
    return %p, %s
  }
  return %a, %b
})",
                       {1, 0});
  EXPECT_EQ(s.out_known, (Mask{0, 1}));
  EXPECT_EQ(Prims(s.known), "call");
  EXPECT_EQ(Prims(s.unknown), "call");
  EXPECT_EQ(s.n_residuals, 1u);
  ExpectNear(RunBoth(s, {{0.5}}, {{3}})[0], {std::sin(0.5) * 3}, 1e-15);
}

struct Seen {
  std::vector<uint64_t> flags;
  std::string policy;
};

TEST_F(PartialEval, ARuleGetsPolicyAndFlagsAndItsResultsAreChecked) {
  Seen seen;
  AddRow("test.split", [&](ricci_prim_def& d) {
    d.self = &seen;
    d.partial_eval = [](void* self, const ricci_op* op, const ricci_partial_eval_args* a) {
      auto& to = *static_cast<Seen*>(self);
      to.flags.push_back(a->hdr.flags);
      to.policy.assign(a->policy.ptr, a->policy.len);
      a->out[0] = a->in[op->n_in - 1];  // the unknown operand
      a->out_is_known[0] = op->n_in == 1;
      return static_cast<ricci_status*>(nullptr);
    };
  });
  const ir::ProgramRef f = Parse("program f(%x: f64[], %y: f64[]) {\n  %s: f64[] = test.split(%x, %y)\n  return %s\n}");
  Get(transform::PartialEval(*f, Mask{1, 0}, {}, {"dots", /*apart=*/true}));
  Get(transform::PartialEval(*f, Mask{1, 0}, {}, {"dots", /*apart=*/false}));
  EXPECT_EQ(seen.flags, (std::vector<uint64_t>{RICCI_PARTIAL_EVAL_APART, 0}));
  EXPECT_EQ(seen.policy, "") << "the policy is for what is known";
  // With one operand the rule says that a value of the unknown builder is known.
  const ir::ProgramRef bad = Parse("program f(%y: f64[]) {\n  %s: f64[] = test.split(%y)\n  return %s\n}");
  const auto refused = transform::PartialEval(*bad, Mask{0});
  EXPECT_EQ(ErrorOf(refused), "test.split: rule partial_eval of the host: slot 0 holds a value of another builder");
  EXPECT_EQ(base::SiteOf(refused.status()).line, 2u);
}

// As a rule does with the programs that its row holds.
TEST_F(PartialEval, AHostPassesFlagsOnAndFindsResidualsThatAreParameters) {
  Seen seen;
  AddRow("test.split", [&](ricci_prim_def& d) {
    d.self = &seen;
    d.partial_eval = [](void* self, const ricci_op*, const ricci_partial_eval_args* a) {
      static_cast<Seen*>(self)->flags.push_back(a->hdr.flags);
      return a->residual(a->split, a->in[0], a->out);
    };
  });
  const ir::ProgramRef f = Parse(R"(
program f(%x: f64[], %c: f64[], %y: f64[]) {
  %s: f64[] = sin(%x)
  %t: f64[] = test.split(%c, %y)
  %p: f64[] = mul(%s, %t)
  return %p
})");
  const uint8_t known[] = {1, 1, 0};
  uint8_t out_known[1];
  uint32_t n = 0;
  ricci_partial_eval_opts o = ricci_partial_eval_opts_default();
  for (const uint32_t flag : {0u, uint32_t{RICCI_PARTIAL_EVAL_APART}}) {
    o.hdr.flags = flag;
    ricci_program *now = nullptr, *later = nullptr;
    ASSERT_TRUE(Ok(ricci_partial_eval(ir::Abi(f.get()), known, 3, &o, out_known, &n, &now, &later)));
    EXPECT_EQ(seen.flags.back(), flag);
    ASSERT_EQ(n, 2u);
    EXPECT_EQ(ricci_program_result_param(now, 0), 1) << "c, the second known parameter";
    EXPECT_EQ(ricci_program_result_param(now, 1), -1) << "a sine";
    EXPECT_EQ(ricci_program_result_param(now, 2), -1) << "there is no such result";
    ricci_program_release(now);
    ricci_program_release(later);
  }
  o.hdr.flags = 2;
  ricci_program *now = nullptr, *later = nullptr;
  const std::string refused = Message(ricci_partial_eval(ir::Abi(f.get()), known, 3, &o, out_known, &n, &now, &later));
  EXPECT_NE(refused.find("RICCI_PARTIAL_EVAL_APART"), refused.npos) << refused;
  EXPECT_EQ(ricci_program_result_param(nullptr, 0), -1);
}

TEST_F(PartialEval, AKnownValueIsOneResidualHoweverOftenARuleAsks) {
  AddRow("test.twice", [](ricci_prim_def& d) {
    d.partial_eval = [](void*, const ricci_op*, const ricci_partial_eval_args* a) {
      ricci_val once = trace::kNone;
      ricci_status* s = a->residual(a->split, a->in[0], &once);
      if (s == nullptr) s = a->residual(a->split, a->in[0], a->out);
      EXPECT_EQ(a->out[0], once);
      return s;
    };
  });
  const auto s =
      Split("program f(%x: f64[], %y: f64[]) {\n  %s: f64[] = test.twice(%x, %y)\n  return %s, %x\n}", {1, 0}, {0, 1});
  EXPECT_EQ(s.residual_param, std::vector<int32_t>{0});
  EXPECT_EQ(Text(s.unknown), "\nprogram f(%0: f64[], %1: f64[]) {\n  return %0, %0\n}");
}

TEST_F(PartialEval, AResidualMustBeAKnownValue) {
  AddRow("test.leak", [&](ricci_prim_def& d) {
    d.partial_eval = [](void*, const ricci_op*, const ricci_partial_eval_args* a) {
      return a->residual(a->split, a->in[0], a->out);
    };
  });
  const ir::ProgramRef f = Parse("program f(%x: f64[]) {\n  %s: f64[] = test.leak(%x)\n  return %s\n}");
  EXPECT_EQ(ErrorOf(transform::PartialEval(*f, Mask{0})), "a residual must be a value of the known builder");
}

TEST_F(PartialEval, AProgramHeldTwiceIsSplitOnce) {
  const ir::ProgramRef held = Parse("program g(%x: f64[]) {\n  %s: f64[] = sin(%x)\n  return %s\n}");
  const auto s = Get(transform::PartialEval(*Calls(held, 3), Mask{0}));
  ASSERT_EQ(s.unknown->equations.size(), 3u);
  EXPECT_EQ(Held(s.unknown, 1), Held(s.unknown, 0));
  EXPECT_EQ(Held(s.unknown, 2), Held(s.unknown, 0));
}

TEST_F(PartialEval, ALongRecomputationNeedsNoDeepStack) {
  constexpr int kLong = 100'000;
  const ir::ProgramRef f = Chain("neg", kLong);
  const auto s = Get(transform::PartialEval(*f, Mask{1}, Mask{1}, {"nothing"}));
  EXPECT_EQ(s.known->equations.size(), 0u);
  EXPECT_EQ(s.unknown->equations.size(), size_t{kLong});
  EXPECT_EQ(s.residual_param, std::vector<int32_t>{0});
}

TEST_F(PartialEval, AWrongNumberOfFlagsIsRefused) {
  EXPECT_EQ(ErrorOf(transform::PartialEval(*Parse(kProduct), Mask{1})),
            "partial_eval: program f has 2 parameters, not 1");
}

}  // namespace
}  // namespace ricci::testing
