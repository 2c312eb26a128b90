// rebuild: the walk that copies a program, with steps that keep, replace or refuse equations and held programs.
#include "transform/rebuild.h"

#include "transform/transform_fixture.h"

namespace ricci::testing { namespace {

using trace::Builder;
using trace::Val;
using trace::Vals;

constexpr std::string_view kText = R"(
program f(%x: f64[], %y: f64[]) {
  %two: f64[] = constant 2.0
  %s: f64[] = sin(%x)
  %p: f64[] = mul(%s, %two)
  %q: f64[] = add(%p, %y)
  return %q, %s, %y
})";

absl::StatusOr<Vals> Copy(Builder& b, const ir::Program& f, const ir::Equation& eqn, std::span<const Val> in) {
  return b.Copy(f, eqn, in);
}

constexpr std::string_view kBranches = R"(
program f(%i: i32[], %x: f64[]) {
  %y: f64[] = cond(%i, %x) branches=[program a(%x: f64[]) {
    %s: f64[] = sin(%x)
    return %s
  }, program b(%x: f64[]) {
    %c: f64[] = cos(%x)
    return %c
  }]
  %n: f64[] = neg(%y)
  return %n
})";

class RebuildTest : public TransformTest {
 protected:
  // A step that replaces `prim` by its first operand.
  transform::RebuildStep Without(std::string_view prim) {
    return [id = registry().vocabulary().FindPrim(prim)](Builder& b, const ir::Program& f, const ir::Equation& eqn,
                                                         std::span<const Val> in) -> absl::StatusOr<Vals> {
      if (eqn.prim == id) return Vals{in[0]};
      return b.Copy(f, eqn, in);
    };
  }
};

TEST_F(RebuildTest, CopyingStepsGiveTheSameProgram) {
  const ir::ProgramRef f = Parse(kText);
  const ir::ProgramRef copy = Get(transform::Rebuild(*f, Copy));
  EXPECT_NE(copy.get(), f.get());
  const ir::PrintOptions with_locations{.locations = true};
  EXPECT_EQ(ir::Print(*copy, with_locations), ir::Print(*f, with_locations));
}

TEST_F(RebuildTest, LaterEquationsReadWhatAStepReturned) {
  EXPECT_EQ(Text(Get(transform::Rebuild(*Parse(kText), Without("sin")))), R"(
program f(%0: f64[], %1: f64[]) {
  %2: f64[] = constant 2.0
  %3: f64[] = mul(%0, %2)
  %4: f64[] = add(%3, %1)
  return %4, %0, %1
})");
}

TEST_F(RebuildTest, WhatAStepEmitsHasTheLocationOfItsEquation) {
  const ir::ProgramRef f = Parse(kText);
  const auto twice = [&](Builder& b, const ir::Program&, const ir::Equation& eqn,
                         std::span<const Val> in) -> absl::StatusOr<Vals> {
    RICCI_ASSIGN(const Val once, b.Emit1("neg", {}, in.first(1)));
    EXPECT_EQ(b.location(), eqn.location);
    return Vals{once};
  };
  const ir::ProgramRef made = Get(transform::Rebuild(*f, twice));
  ASSERT_EQ(made->equations.size(), 3u);
  for (size_t e = 0; e < 3; ++e) EXPECT_EQ(made->equations[e].location, f->equations[e].location);
}

TEST_F(RebuildTest, AppendedToABuilderItTakesItsValues) {
  const ir::ProgramRef f = Parse(kText);
  auto b = New(std::vector<ir::TypeId>{f->param_types[0]}, "g");
  const Val x = b->param(0), n = Get(b->Emit1("neg", {}, {&x, 1}));
  const Vals out = Get(transform::AppendRebuilt(*b, *f, Vals{n, x}, Copy));
  ASSERT_EQ(out.size(), 3u);
  EXPECT_EQ(out[2], x);
  const ir::ProgramRef g = Get(b->Finish(out));
  EXPECT_EQ(Prims(g), "neg sin mul add");
  ExpectNear(Run(g, {{-0.5}})[0], {2 * std::sin(0.5) - 0.5}, 1e-15);
}

TEST_F(RebuildTest, TheErrorOfAStepEndsTheWalk) {
  int steps = 0;
  const auto fails = [&](Builder&, const ir::Program&, const ir::Equation&,
                         std::span<const Val>) -> absl::StatusOr<Vals> {
    ++steps;
    return absl::CancelledError("enough");
  };
  EXPECT_EQ(ErrorOf(transform::Rebuild(*Parse(kText), fails), absl::StatusCode::kCancelled), "enough");
  EXPECT_EQ(steps, 1);
}

TEST_F(RebuildTest, ALongChainNeedsNoDeepStack) {
  constexpr int kLong = 100'000;
  EXPECT_EQ(Get(transform::Rebuild(*Chain("neg", kLong), Copy))->equations.size(), size_t{kLong});
}

class CopyWithNested : public RebuildTest {
 protected:
  ir::ProgramRef Of(const ir::ProgramRef& f, const transform::ProgramStep& step) {
    return Get(
        transform::Rebuild(*f, [&](Builder& b, const ir::Program& p, const ir::Equation& eqn, std::span<const Val> in) {
          return transform::CopyWithNested(b, p, eqn, in, step);
        }));
  }
  // Replaces every sine by its operand.
  transform::ProgramStep NoSine() {
    return [this](const ir::Program& p) { return transform::Rebuild(p, Without("sin")); };
  }
};

TEST_F(CopyWithNested, UnchangedProgramsStayTheSamePrograms) {
  const ir::ProgramRef f = Parse(kBranches);
  const ir::ProgramRef same = Of(f, [](const ir::Program& p) { return ir::ProgramRef(&p); });
  EXPECT_EQ(Text(same), Text(f));
  const auto before = ir::Programs(f->equations[0].attrs[0]), after = ir::Programs(same->equations[0].attrs[0]);
  EXPECT_TRUE(std::ranges::equal(before, after));
}

TEST_F(CopyWithNested, EveryHeldProgramIsReplaced) {
  const ir::ProgramRef f = Parse(kBranches), made = Of(f, NoSine());
  EXPECT_EQ(Text(made), R"(
program f(%0: i32[], %1: f64[]) {
  %2: f64[] = cond(%0, %1) branches=[program a(%0: f64[]) {
    return %0
  }, program b(%0: f64[]) {
    %1: f64[] = cos(%0)
    return %1
  }]
  %3: f64[] = neg(%2)
  return %3
})");
  EXPECT_EQ(Text(f), Text(Parse(kBranches))) << "the original stays as it was";
}

TEST_F(CopyWithNested, TheNewEquationIsTypedAgain) {
  const ir::ProgramRef other = Parse("program a(%x: f64[]) {\n  %n: i32[] = constant 1\n  return %n\n}");
  const auto step = [&](Builder& b, const ir::Program& p, const ir::Equation& eqn, std::span<const Val> in) {
    int branch = 0;
    return transform::CopyWithNested(b, p, eqn, in,
                                     [&](const ir::Program& q) { return branch++ == 0 ? other : ir::ProgramRef(&q); });
  };
  const auto made = transform::Rebuild(*Parse(kBranches), step);
  EXPECT_EQ(ErrorOf(made), "cond: branch 1 result 0 is f64[], not i32[]");
  EXPECT_EQ(base::SiteOf(made.status()).line, 3u);
}

TEST_F(RebuildTest, MapSaysWhetherAProgramChanged) {
  const ir::ProgramRef f = Parse(kBranches);
  transform::NewAttributes attrs(f->equations[0].attrs);
  int seen = 0;
  const auto keep = [&](const ir::Program& p) {
    ++seen;
    return ir::ProgramRef(&p);
  };
  EXPECT_FALSE(Get(attrs.Map(attrs.list[0], keep)));
  EXPECT_EQ(seen, 2) << "both branches";
  ricci_attr number = trace::IntAttr("n", 3);
  EXPECT_FALSE(Get(attrs.Map(number, keep)));
  EXPECT_EQ(seen, 2) << "a number holds none";
}

}  // namespace
}  // namespace ricci::testing
