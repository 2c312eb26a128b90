// Copies of carries and of branches' results: removed where a kernel may write over what it reads, kept where the old
// value is still needed. Counted in the plan, and each plan computes what the reference does.
#include "pass/lowered_program.h"

namespace ricci::testing { namespace {

class CoalesceCopies : public LoweredProgram {
 protected:
  // `copies`: steps of the plan that copy within loops and branches, and outside of them.
  void Expect(std::pair<int, int> copies, const std::string& text) {
    EXPECT_EQ(Copies(*Lower(text)), copies) << text;
    ExpectSameAsReference(text);
  }

  static std::pair<int, int> Copies(const pass::Lowered& l) {
    int depth = 0, inside = 0, outside = 0;
    for (const ricci_plan_step& step : l.plan.steps) {
      depth += step.kind == RICCI_STEP_WHILE || step.kind == RICCI_STEP_CASE;
      depth -= step.kind == RICCI_STEP_END;
      if (step.kind == RICCI_STEP_COPY) ++(depth > 0 ? inside : outside);
    }
    return {inside, outside};
  }
};

// Arrays of 576 bytes: too small to take turns between two buffers. Of 1600: too large for branches inside a kernel.
constexpr char kSmall[] = "f32[12,12]", kLarger[] = "f32[20,20]";

// Each T is the type of the arrays.
std::string Typed(std::string text, const char* type = kSmall) {
  for (size_t at; (at = text.find('T')) != std::string::npos;) text.replace(at, 1, type);
  return text;
}

// A scan of `length` trips in the plan with the carries a, or a and b.
std::string Scan(int n_carry, const std::string& body, int length = 5) {
  const bool one = n_carry == 1;
  const std::string params = one ? "%a: T" : "%a: T, %b: T", results = one ? "%r: T" : "%r: T, %s: T";
  return Typed("program f(" + params + ") { " + results + " = scan(" + (one ? "%a" : "%a, %b") +
               ") length=" + std::to_string(length) + " num_consts=0 num_carry=" + std::to_string(n_carry) +
               " reverse=false run_in=\"plan\" body=program(" + params + ") { " + body + " }  return " +
               (one ? "%r" : "%r, %s") + " }");
}

// ---- one carry ----

TEST_F(CoalesceCopies, AKernelWritesOverTheCarry) {
  for (const int length : {0, 1, 5}) {
    const auto copies = Copies(*Lower(Scan(1, "%n: T = sin(%a)  return %n", length)));
    EXPECT_EQ(copies.first, 0) << length;
    ExpectSameAsReference(Scan(1, "%n: T = sin(%a)  return %n", length));
  }
  Expect({0, 1}, Scan(1,
                      "%p: T = dot_general(%a, %a) lhs_contract=[1] rhs_contract=[0] %t: T = tanh(%p)"
                      " %n: T = add(%t, %a)  return %n"));
}

TEST_F(CoalesceCopies, NotWhereItReadsOtherElements) {
  Expect({1, 1}, Scan(1, "%n: T = rev(%a) dimensions=[0]  return %n"));
  Expect({1, 1}, Scan(1, "%r: T = rev(%a) dimensions=[1] %n: T = sub(%a, %r)  return %n"));
  Expect({1, 1}, Scan(1, "%n: T = dot_general(%a, %a) lhs_contract=[1] rhs_contract=[0]  return %n"));
}

// The product reads the carry after the kernel that makes the next one.
TEST_F(CoalesceCopies, NotWhereTheOldCarryIsReadLater) {
  Expect({1, 2}, Scan(2,
                      "%n: T = sin(%a) %p: T = dot_general(%n, %a) lhs_contract=[1] rhs_contract=[0]"
                      " %m: T = add(%p, %b)  return %n, %m"));
}

TEST_F(CoalesceCopies, ACarryThatIsStacked) {
  const auto stacked = [](const std::string& what) {
    return Typed(
        "program f(%a: T) { %r: T, %s: f32[5,12,12] = scan(%a) length=5 num_consts=0 num_carry=1"
        " reverse=false run_in=\"plan\" body=program(%a: T) { %n: T = sin(%a)  return %n, " +
        what + " } return %r, %s }");
  };
  Expect({0, 1}, stacked("%n"));
  Expect({0, 1}, stacked("%a"));  // the old one, before it is written over
}

// ---- carries that are exchanged ----

TEST_F(CoalesceCopies, ExchangedCarries) {
  Expect({3, 2}, Scan(2, "return %b, %a"));  // one of the two is saved
  Expect({2, 2}, Scan(2, "%n: T = add(%a, %b)  return %b, %n"));
  Expect({1, 2}, Scan(2, "%n: T = add(%a, %b)  return %n, %n"));
  Expect({1, 2}, Scan(2, "return %a, %a"));
  Expect({0, 2}, Scan(2, "%n: T = add(%a, %b)  return %n, %b"));
  // Both kernels read both: the first must not write over what the second reads.
  Expect({1, 2}, Scan(2,
                      "%q: T = rev(%b) dimensions=[0] %n: T = add(%a, %q) %m: T = sub(%b, %n)"
                      " %z: T = rev(%m) dimensions=[0]  return %n, %z"));
}

// ---- while ----

std::string While(int trips, const std::string& body) {
  return Typed(
      "program f(%a: T, %b: T) { %z: i32[] = constant 0 %i: i32[], %r: T, %s: T = while(%z, %a, %b)"
      " cond_nconsts=0 body_nconsts=0 run_in=\"plan\" cond=program(%i: i32[], %a: T, %b: T) {"
      " %n: i32[] = constant " +
      std::to_string(trips) +
      " %p: bool[] = lt(%i, %n)  return %p } body=program(%i: i32[], %a: T, %b: T) {"
      " %one: i32[] = constant 1  %j: i32[] = add(%i, %one)  " +
      body + " } return %r, %s }");
}

TEST_F(CoalesceCopies, CarriesOfAWhile) {
  for (const int trips : {0, 1, 4}) {
    Expect({0, 2}, While(trips,
                         "%p: T = dot_general(%a, %b) lhs_contract=[1] rhs_contract=[0]"
                         " %m: T = tanh(%p) %n: T = sub(%b, %m)  return %j, %m, %n"));
    Expect({3, 2}, While(trips, "return %j, %b, %a"));
  }
}

// The condition is itself a carry, and the predicate shares its place.
TEST_F(CoalesceCopies, AConditionThatIsACarry) {
  Expect({0, 1}, Typed("program f(%a: T) { %t: bool[] = constant true  %p: bool[], %r: T = while(%t, %a)"
                       " cond_nconsts=0 body_nconsts=0 run_in=\"plan\" cond=program(%p: bool[], %a: T) { return %p }"
                       " body=program(%p: bool[], %a: T) { %q: bool[] = constant false %n: T = sin(%a)"
                       " return %q, %n }  return %r }"));
}

// ---- loops in loops ----

std::string Nested(const std::string& inner, const std::string& after) {
  return Scan(1,
              "%d: T = scan(%a, %a) length=3 num_consts=1 num_carry=1 reverse=false run_in=\"plan\""
              " body=program(%o: T, %c: T) { " +
                  inner + " } " + after);
}

TEST_F(CoalesceCopies, LoopsInLoops) {
  Expect({0, 1}, Scan(1,
                      "%d: T = scan(%a) length=3 num_consts=0 num_carry=1 reverse=false run_in=\"plan\""
                      " body=program(%c: T) { %n: T = sin(%c)  return %n }  %e: T = exp(%d)  return %e"));
  // Each trip of the inner loop reads the outer carry again, so the inner one is another array.
  Expect({2, 1}, Nested("%n: T = mul(%o, %c)  return %n", "return %d"));
  Expect({1, 1}, Nested("%n: T = mul(%o, %c)  return %n", "%m: T = add(%d, %a) %e: T = sin(%m)  return %e"));
}

// ---- branches ----

// `k` goes through all branches.
std::string Branches(const std::string& branches, const std::string& after) {
  return Typed(
      "program f(%a: T) { %k: i32[6] = constant [1, 0, 2, 1, 0, 1]  %r: T = scan(%a, %k) length=6 num_consts=0"
      " num_carry=1 reverse=false run_in=\"plan\" body=program(%a: T, %k: i32[]) { %d: T = cond(%k, %a)"
      " branches=[" +
          branches + "]  " + after + " } return %r }",
      kLarger);
}
constexpr char kSame[] = "program(%c: T) { return %c }", kSine[] = "program(%c: T) { %s: T = sin(%c)  return %s }",
               kTurned[] = "program(%c: T) { %s: T = rev(%c) dimensions=[0]  return %s }";

TEST_F(CoalesceCopies, BranchesWriteOverTheCarry) {
  const std::string same = kSame, sine = kSine, turned = kTurned;
  Expect({0, 1}, Branches(sine + ", " + same, "return %d"));
  Expect({0, 1}, Branches(sine + ", " + same, "%e: T = cos(%d)  return %e"));
  Expect({1, 1}, Branches(turned + ", " + same + ", " + sine, "%e: T = add(%d, %a)  return %e"));
}

// Only the branch that needs other elements copies: identity and sine work in the memory of the carry.
TEST_F(CoalesceCopies, EachBranchByItself) {
  const std::string same = kSame, sine = kSine, turned = kTurned;
  Expect({1, 1}, Branches(turned + ", " + same + ", " + sine, "return %d"));
  Expect({2, 1}, Branches(turned + ", " + same + ", " + turned, "return %d"));
  // Branches that cannot avoid a copy share the memory of what they copy.
  const auto bytes = [&](const std::string& branches) {
    return Lower(Branches(branches, "return %d"))->plan.arena_bytes;
  };
  EXPECT_EQ(bytes(turned + ", " + turned + ", " + turned), bytes(turned + ", " + same));
}

TEST_F(CoalesceCopies, ABranchInABranch) {
  const std::string outer = "program(%c: T, %l: i32[]) { %s: T = cond(%l, %c) branches=[" + std::string(kTurned) +
                            ", " + kSame + "]  return %s }";
  Expect({1, 1}, Typed("program f(%a: T) { %k: i32[6] = constant [1, 0, 0, 1, 0, 1]  %m: i32[6] = constant"
                       " [0, 1, 0, 1, 1, 0]  %r: T = scan(%a, %k, %m) length=6 num_consts=0 num_carry=1 reverse=false"
                       " run_in=\"plan\" body=program(%a: T, %k: i32[], %m: i32[]) { %d: T = cond(%k, %a, %m)"
                       " branches=[" +
                           outer +
                           ", program(%c: T, %l: i32[]) { %s: T = sin(%c)  return %s }]"
                           "  return %d } return %r }",
                       kLarger));
}

TEST_F(CoalesceCopies, ABranchOutsideOfLoops) {
  const std::string cond = "%d: T = cond(%k, %s) branches=[" + std::string(kSame) + ", " + kSine + "] ";
  const std::string head =
      "program f(%a: T, %x: f32[]) { %s: T = dot_general(%a, %a) lhs_contract=[1] rhs_contract=[0]"
      " %k: i32[] = convert_element_type(%x) new_dtype=i32 ";
  Expect({0, 0}, Typed(head + cond + "return %d }", kLarger));
  Expect({1, 0},
         Typed(head + cond + "%p: T = dot_general(%d, %s) lhs_contract=[1] rhs_contract=[0]  return %p }", kLarger));
}

// ---- results and parameters ----

TEST_F(CoalesceCopies, ResultsKeepMemoryOfTheirOwn) {
  Expect({0, 2}, Typed("program f(%a: T) { %r: T = scan(%a) length=5 num_consts=0 num_carry=1 reverse=false"
                       " run_in=\"plan\" body=program(%c: T) { %n: T = sin(%c)  return %n }  return %r, %r }"));
}

TEST_F(CoalesceCopies, ADonatedParameterIsTheCarry) {
  const uint8_t donate[] = {1};
  pass::Options options;
  options.donate = donate;
  const auto l = Lower(Scan(1, "%n: T = sin(%a)  return %n"), options);
  EXPECT_EQ(l->output_alias[0], 0);
  EXPECT_EQ(Copies(*l).first, 0);
}

TEST_F(CoalesceCopies, WithoutItAllCopiesStay) {
  pass::Options options;
  options.stages = *pass::ChooseStages("", "coalesce_copies");
  EXPECT_EQ(Copies(*Lower(Scan(1, "%n: T = sin(%a)  return %n"), options)), std::pair(1, 1));
}

}  // namespace
}  // namespace ricci::testing
