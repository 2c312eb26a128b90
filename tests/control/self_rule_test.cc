// Custom derivatives whose rules apply the function itself: values, derivatives of every order, every batching.
#include "support/program_runner.h"

namespace ricci::testing { namespace {

class SelfRule : public ::testing::Test {
 protected:
  // Derivatives of the scalar function `text` up to the third at `x`, on every device, plain and batched.
  void ExpectDerivatives(const char* text, double x, const Numbers& want) {
    Program f = r.Parse(text);
    for (size_t order = 0; order < want.size(); ++order) {
      SCOPED_TRACE(order);
      ExpectNear(r.RunEverywhere(f, {{x}})[0], {want[order]}, 1e-12);
      const Numbers twice = {x, x}, wanted = {want[order], want[order]};
      ExpectNear(r.RunEverywhere(r.Vmap(f, {0}, {0}, 2), {twice})[0], wanted, 1e-12);
      ExpectNear(r.RunEverywhere(r.Batch(f, {1}, 2), {twice})[0], wanted, 1e-12);
      f = r.Grad(f);
    }
  }
  ProgramRunner r;
};

TEST_F(SelfRule, HasDerivativesOfEveryOrder) {
  const double e = std::exp(0.5);
  ExpectDerivatives(R"(
program f(%x: f64[]) {
  %y: f64[] = custom_jvp(%x) jvp=program(%x: f64[], %dx: f64[]) {
    %y: f64[] = custom_jvp(%x) self=1
    %dy: f64[] = mul(%y, %dx)
    return %y, %dy
  } call=program(%x: f64[]) {
    %y: f64[] = exp(%x)
    return %y
  }
  return %y
})",
                    0.5, {e, e, e, e});
}

TEST_F(SelfRule, StandsInsideOfLoopsAndBranchesOfTheRule) {
  const double e = std::exp(0.5);
  ExpectDerivatives(R"(
program f(%x: f64[]) {
  %y: f64[] = custom_jvp(%x) call=program(%x: f64[]) {
    %y: f64[] = exp(%x)
    return %y
  } jvp=program(%x: f64[], %dx: f64[]) {
    %y: f64[] = scan(%x) length=1 num_consts=0 num_carry=1 body=program(%c: f64[]) {
      %y: f64[] = custom_jvp(%c) self=1
      return %y
    }
    %zero: i32[] = constant 0
    %z: f64[] = cond(%zero, %x) branches=[program(%c: f64[]) {
      %y: f64[] = custom_jvp(%c) self=1
      return %y
    }, program(%c: f64[]) {
      return %c
    }]
    %dy: f64[] = mul(%z, %dx)
    return %y, %dy
  }
  return %y
})",
                    0.5, {e, e, e, e});
}

TEST_F(SelfRule, MayBeAppliedToConstants) {
  const double e = std::exp(0.5);
  ExpectDerivatives(R"(
program f(%x: f64[]) {
  %y: f64[] = custom_jvp(%x) call=program(%x: f64[]) {
    %y: f64[] = exp(%x)
    return %y
  } jvp=program(%x: f64[], %dx: f64[]) {
    %zero: f64[] = constant 0.0
    %one: f64[] = custom_jvp(%zero) self=1
    %same: f64[] = scan(%zero) length=1 num_consts=0 num_carry=1 body=program(%c: f64[]) {
      %y: f64[] = custom_jvp(%c) self=1
      return %y
    }
    %y: f64[] = custom_jvp(%x) self=1
    %a: f64[] = mul(%y, %one)
    %b: f64[] = mul(%a, %same)
    %dy: f64[] = mul(%b, %dx)
    return %y, %dy
  }
  return %y
})",
                    0.5, {e, e, e, e});
}

TEST_F(SelfRule, OperationsMayNeedEachOther) {
  ExpectDerivatives(R"(
program f(%x: f64[]) {
  %s: f64[] = custom_jvp(%x) call=program(%x: f64[]) {
    %s: f64[] = sin(%x)
    return %s
  } jvp=program(%x: f64[], %dx: f64[]) {
    %s: f64[] = custom_jvp(%x) self=1
    %c: f64[] = custom_jvp(%x) call=program(%x: f64[]) {
      %c: f64[] = cos(%x)
      return %c
    } jvp=program(%x: f64[], %dx: f64[]) {
      %c: f64[] = custom_jvp(%x) self=1
      %s: f64[] = custom_jvp(%x) self=2
      %m: f64[] = neg(%s)
      %dc: f64[] = mul(%m, %dx)
      return %c, %dc
    }
    %ds: f64[] = mul(%c, %dx)
    return %s, %ds
  }
  return %s
})",
                    0.5, {std::sin(0.5), std::cos(0.5), -std::sin(0.5), -std::cos(0.5)});
}

TEST_F(SelfRule, OneBatchedOperandBatchesAll) {
  const Program f = r.Parse(R"(
program f(%x: f64[], %y: f64[]) {
  %v: f64[] = custom_jvp(%x, %y) call=program(%x: f64[], %y: f64[]) {
    %e: f64[] = exp(%y)
    %v: f64[] = mul(%x, %e)
    return %v
  } jvp=program(%x: f64[], %y: f64[], %dx: f64[], %dy: f64[]) {
    %one: f64[] = constant 1.0
    %v: f64[] = custom_jvp(%x, %y) self=1
    %e: f64[] = custom_jvp(%one, %y) self=1
    %a: f64[] = mul(%e, %dx)
    %b: f64[] = mul(%v, %dy)
    %dv: f64[] = add(%a, %b)
    return %v, %dv
  }
  return %v
})");
  const Program g = r.Grad(r.Grad(f, {1}), {0});  // d2v / dx dy = exp(y)
  for (const std::vector<uint8_t>& batched : {std::vector<uint8_t>{1, 0}, {0, 1}, {1, 1}}) {
    const std::vector<Numbers> args = {batched[0] ? Numbers{2, 3} : Numbers{2},
                                       batched[1] ? Numbers{0, 1} : Numbers{0}};
    const Numbers want = {1, batched[1] ? std::exp(1.0) : 1};
    const Program after = r.Batch(g, batched, 2);
    Numbers got = r.RunEverywhere(after, args)[0];
    got.resize(2, got[0]);  // not batched where y is not
    ExpectNear(got, want, 1e-12);
  }
}

TEST_F(SelfRule, ReverseRulesToo) {
  const double e = std::exp(0.5);
  ExpectDerivatives(R"(
program f(%x: f64[]) {
  %y: f64[] = custom_vjp(%x) call=program(%x: f64[]) {
    %y: f64[] = exp(%x)
    return %y
  } fwd=program(%x: f64[]) {
    %y: f64[] = custom_vjp(%x) self=1
    return %y, %x
  } bwd=program(%x: f64[], %ct: f64[]) {
    %y: f64[] = custom_vjp(%x) self=1
    %dx: f64[] = mul(%y, %ct)
    return %dx
  }
  return %y
})",
                    0.5, {e, e, e, e});
}

}  // namespace
}  // namespace ricci::testing
