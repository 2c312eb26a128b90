// release: a held program taken out of the equation that holds it is complete, and references further out count one
// level less.
#include "transform/release.h"

#include "ir/self_reference.h"
#include "transform/grad.h"
#include "transform/transform_fixture.h"

namespace ricci::testing { namespace {

class ReleaseTest : public TransformTest {
 protected:
  // The program that equation 0 of `f` holds as `name`, out of that equation.
  ir::ProgramRef Out(const ir::ProgramRef& f, std::string_view name = "jvp") {
    const ir::Equation& eqn = f->equations[0];
    return Get(transform::Release(*Held(f, 0, name), eqn.prim, eqn.attrs));
  }
  int64_t Outward(const ir::ProgramRef& f) {
    return ir::OutwardLevel(*f, registry().vocabulary().FindPrim("custom_jvp"));
  }
};

// exp, with a rule that applies it again.
constexpr std::string_view kExp = R"(
program f(%x: f64[]) {
  %y: f64[] = custom_jvp(%x) call=program value(%x: f64[]) {
    %y: f64[] = exp(%x)
    return %y
  } jvp=program rule(%x: f64[], %dx: f64[]) {
    %y: f64[] = custom_jvp(%x) self=1
    %dy: f64[] = mul(%y, %dx)
    return %y, %dy
  }
  return %y
})";

TEST_F(ReleaseTest, TheEquationThatStandsForTheHolderGetsItsPrograms) {
  const ir::ProgramRef f = Parse(kExp);
  EXPECT_EQ(Outward(ir::ProgramRef(Held(f, 0, "jvp"))), 1);
  const ir::ProgramRef rule = Out(f);
  EXPECT_EQ(Outward(rule), 0);
  EXPECT_EQ(Text(rule), R"(
program rule(%0: f64[], %1: f64[]) {
  %2: f64[] = custom_jvp(%0) call=program value(%0: f64[]) {
    %1: f64[] = exp(%0)
    return %1
  } jvp=program rule(%0: f64[], %1: f64[]) {
    %2: f64[] = custom_jvp(%0) self=1
    %3: f64[] = mul(%2, %1)
    return %2, %3
  }
  %3: f64[] = mul(%2, %1)
  return %2, %3
})");
  EXPECT_EQ(Held(rule, 0, "jvp"), Held(f, 0, "jvp")) << "the holder's program itself, not a copy";
  ExpectNear(Run(rule, {{0.5}, {2}})[1], {2 * std::exp(0.5)}, 1e-15);
}

TEST_F(ReleaseTest, AProgramThatRefersToNothingIsItself) {
  const ir::ProgramRef f = Parse(kExp);
  EXPECT_EQ(Out(f, "call").get(), Held(f, 0, "call"));
  EXPECT_EQ(Out(Parse(kExp), "jvp")->equations.size(), 2u);
}

// sin, whose rule holds cos, whose rule stands for itself (1) and for sin (2).
constexpr std::string_view kSineAndCosine = R"(
program f(%x: f64[]) {
  %s: f64[] = custom_jvp(%x) call=program sine(%x: f64[]) {
    %s: f64[] = sin(%x)
    return %s
  } jvp=program rule(%x: f64[], %dx: f64[]) {
    %c: f64[] = custom_jvp(%x) call=program cosine(%x: f64[]) {
      %c: f64[] = cos(%x)
      return %c
    } jvp=program(%x: f64[], %dx: f64[]) {
      %c: f64[] = custom_jvp(%x) self=1
      %s: f64[] = custom_jvp(%x) self=2
      %m: f64[] = neg(%s)
      %dc: f64[] = mul(%m, %dx)
      return %c, %dc
    }
    %s: f64[] = custom_jvp(%x) self=1
    %ds: f64[] = mul(%c, %dx)
    return %s, %ds
  }
  return %s
})";

TEST_F(ReleaseTest, AnEquationWithinAnotherOfThePrimitiveIsCountedFromInside) {
  const ir::ProgramRef rule = Out(Parse(kSineAndCosine));
  EXPECT_EQ(Outward(rule), 0);
  // In the rule of the cosine, which is still held: self=1 stays, self=2 has become a complete sine, two levels in.
  const ir::Program& inner = *Held(rule, 0, "jvp");
  EXPECT_EQ(ir::SelfLevel(inner.equations[0].attrs), 1);
  EXPECT_EQ(ir::SelfLevel(inner.equations[1].attrs), 0);
  EXPECT_NE(ir::FindAttr(inner.equations[1].attrs, "call"), nullptr);
  EXPECT_NE(ir::FindAttr(inner.equations[1].attrs, "jvp"), nullptr);
  EXPECT_EQ(ir::SelfLevel(rule->equations[1].attrs), 0);
}

TEST_F(ReleaseTest, AReferenceFurtherOutCountsOneLevelLess) {
  const ir::ProgramRef f = Parse(kSineAndCosine);
  // Out of the cosine only: its own reference is complete, the sine is now one level out.
  const ir::ProgramRef rule(Held(f, 0, "jvp"));
  const ir::ProgramRef inner = Out(rule);
  EXPECT_EQ(Outward(inner), 1);
  EXPECT_EQ(ir::SelfLevel(inner->equations[0].attrs), 0);
  EXPECT_EQ(ir::SelfLevel(inner->equations[1].attrs), 1);
  // The cosine's rule within it is as far in as before.
  const ir::Program& again = *Held(inner, 0, "jvp");
  EXPECT_EQ(ir::SelfLevel(again.equations[0].attrs), 1);
  EXPECT_EQ(ir::SelfLevel(again.equations[1].attrs), 2);
}

// Every order of the derivative is right when rules are taken out in turn.
TEST_F(ReleaseTest, ReleasedRulesHaveDerivativesOfTheirOwn) {
  ir::ProgramRef rule = Out(Parse(kSineAndCosine));
  EXPECT_EQ(Run(rule, {{0.5}, {1}})[1], Numbers{std::cos(0.5)});
  const auto second = Get(transform::Jvp(*rule, Mask{1, 0}));
  ExpectNear(Run(second.program, {{0.5}, {1}, {1}})[3], {-std::sin(0.5)}, 1e-15);
  const auto third = Get(transform::Jvp(*second.program, Mask{1, 0, 0}));
  const auto got = Run(third.program, {{0.5}, {1}, {1}, {1}});
  ExpectNear(got.back(), {-std::cos(0.5)}, 1e-15);
}

// The cosine's rule holds a third function, whose rule stands for the cosine (2) and for the sine (3).
constexpr std::string_view kThree = R"(
program f(%x: f64[]) {
  %s: f64[] = custom_jvp(%x) call=program sine(%x: f64[]) {
    %s: f64[] = sin(%x)
    return %s
  } jvp=program(%x: f64[], %dx: f64[]) {
    %c: f64[] = custom_jvp(%x) call=program cosine(%x: f64[]) {
      %c: f64[] = cos(%x)
      return %c
    } jvp=program(%x: f64[], %dx: f64[]) {
      %m: f64[] = custom_jvp(%x) call=program minus_sine(%x: f64[]) {
        %s: f64[] = sin(%x)
        %m: f64[] = neg(%s)
        return %m
      } jvp=program(%x: f64[], %dx: f64[]) {
        %c: f64[] = custom_jvp(%x) self=2
        %s: f64[] = custom_jvp(%x) self=3
        %m: f64[] = neg(%s)
        %n: f64[] = neg(%c)
        %dm: f64[] = mul(%n, %dx)
        return %m, %dm
      }
      %c: f64[] = custom_jvp(%x) self=1
      %s: f64[] = custom_jvp(%x) self=2
      %zero: f64[] = add(%m, %s)
      %d: f64[] = add(%m, %zero)
      %dc: f64[] = mul(%d, %dx)
      return %c, %dc
    }
    %s: f64[] = custom_jvp(%x) self=1
    %ds: f64[] = mul(%c, %dx)
    return %s, %ds
  }
  return %s
})";

// The holder's programs are then in another equation of the primitive: what they refer to is one level further out.
TEST_F(ReleaseTest, TheProgramsOfTheHolderMayGetDeeper) {
  const ir::ProgramRef f = Parse(kThree);
  const ir::ProgramRef inner = Out(ir::ProgramRef(Held(f, 0, "jvp")));  // the rule of the cosine
  EXPECT_EQ(Outward(inner), 1);
  const ir::Program& third = *Held(inner, 0, "jvp");
  EXPECT_EQ(ir::SelfLevel(third.equations[0].attrs), 0) << "the cosine, complete";
  EXPECT_EQ(ir::SelfLevel(third.equations[1].attrs), 2) << "the sine";
  const ir::Program& cosine = trace::ProgramOf(third.equations[0].attrs, "jvp");
  EXPECT_EQ(ir::SelfLevel(cosine.equations[1].attrs), 1);
  EXPECT_EQ(ir::SelfLevel(cosine.equations[2].attrs), 3) << "the sine, one level further out than it was";
  ir::ProgramRef derivative = f;
  const double want[] = {std::sin(0.5), std::cos(0.5), -std::sin(0.5), -std::cos(0.5), std::sin(0.5), std::cos(0.5)};
  for (double value : want) {
    ExpectNear(Run(derivative, {{0.5}})[0], {value}, 1e-14);
    const uint32_t arg = 0;
    derivative = Get(transform::Grad(*derivative, {&arg, 1}, false));
  }
}

TEST_F(ReleaseTest, LoopsAndBranchesAreNoLevels) {
  const ir::ProgramRef rule = Out(Parse(R"(
program f(%x: f64[]) {
  %y: f64[] = custom_jvp(%x) call=program(%x: f64[]) {
    %y: f64[] = exp(%x)
    return %y
  } jvp=program(%x: f64[], %dx: f64[]) {
    %y: f64[] = scan(%x) length=1 num_consts=0 num_carry=1 body=program(%c: f64[]) {
      %y: f64[] = custom_jvp(%c) self=1
      return %y
    }
    %dy: f64[] = mul(%y, %dx)
    return %y, %dy
  }
  return %y
})"));
  EXPECT_EQ(Outward(rule), 0);
  EXPECT_EQ(ir::SelfLevel(Held(rule, 0)->equations[0].attrs), 0);
  ExpectNear(Run(rule, {{0.5}, {2}})[1], {2 * std::exp(0.5)}, 1e-15);
}

TEST_F(ReleaseTest, AProgramHeldTwiceIsRewrittenOnce) {
  const ir::ProgramRef f = Parse(kExp);
  const ir::Equation& holder = f->equations[0];
  const ir::ProgramRef body = Parse("program g(%x: f64[]) {\n  return %x\n}");
  // g(x) = self(x), called three times by a program that the holder could hold.
  auto b = New(std::vector<ir::TypeId>{body->param_types[0]}, "g");
  const trace::Val x = b->param(0);
  ricci_program* slot;
  const ricci_attr attrs[] = {trace::ProgramAttr("call", *Held(f, 0, "call"), slot), trace::IntAttr("self", 1)};
  const trace::Val y = Get(b->Emit1("custom_jvp", attrs, {&x, 1}));
  const ir::ProgramRef calls = Calls(Get(b->Finish({&y, 1})), 3);
  EXPECT_EQ(Outward(calls), 1);
  const ir::ProgramRef out = Get(transform::Release(*calls, holder.prim, holder.attrs));
  EXPECT_EQ(Outward(out), 0);
  EXPECT_NE(Held(out, 0), Held(calls, 0));
  EXPECT_EQ(Held(out, 1), Held(out, 0));
  EXPECT_EQ(Held(out, 2), Held(out, 0));
}

}  // namespace
}  // namespace ricci::testing
