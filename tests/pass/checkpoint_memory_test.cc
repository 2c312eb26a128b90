// checkpoint saves memory: what is computed again is not merged with the first computation, and does not begin before
// its cotangents are ready. Counted in equations and in bytes of the arena.
#include "control/structural_row.h"
#include "pass/lowered_program.h"
#include "transform/grad.h"
#include "transform/partial_eval.h"
#include "transform/vmap.h"

namespace ricci::testing { namespace {

constexpr int kLayers = 20;
constexpr int64_t kVector = 1024 * sizeof(float);

// A chain of layers of four steps each, sin(W x); a layer is a checkpoint with these attributes, or a call.
std::string Chain(std::string_view attrs) {
  std::string text = "program f(%w: f32[1024,1024], %x: f32[1024]) {\n", x = "%x";
  for (int i = 0; i < kLayers; ++i) {
    const std::string y = base::Cat("%y", i);
    text += base::Cat(y, ": f32[1024] = ", attrs.empty() ? "call" : "checkpoint", "(%w, ", x, ") ", attrs,
                      " body=program(%w: f32[1024,1024], %x: f32[1024]) {\n");
    std::string inner = "%x";
    for (int k = 0; k < 4; ++k) {
      text += base::Cat("%a", k, ": f32[1024] = dot_general(%w, ", inner, ") lhs_contract=[1] rhs_contract=[0]\n");
      text += base::Cat("%s", k, ": f32[1024] = sin(%a", k, ")\n");
      inner = base::Cat("%s", k);
    }
    text += base::Cat("return ", inner, " }\n");
    x = y;
  }
  return text + base::Cat("%r: f32[] = reduce_sum(", x, ") axes=[0]\nreturn %r }");
}

class CheckpointMemory : public LoweredProgram {
 protected:
  ir::ProgramRef Gradient(std::string_view text) {
    ricci_program* f = Parse(text);
    const uint32_t arg = 1;  // the gradient with respect to W would be summed over all layers, in memory of its own
    auto grad = transform::Grad(*ir::FromAbi(f), {&arg, 1}, false);
    ricci_program_release(f);
    EXPECT_TRUE(grad.ok()) << grad.status();
    return *std::move(grad);
  }
  static std::unique_ptr<pass::Lowered> Lower(const ir::Program& f) {
    auto lowered = pass::Lower(f, {.target = pass::Target("cpu")});
    EXPECT_TRUE(lowered.ok()) << lowered.status();
    return *std::move(lowered);
  }
  std::unique_ptr<pass::Lowered> LowerGradient(std::string_view text) { return Lower(*Gradient(text)); }
  // Equations of that name in the last program, fusions included.
  int Count(const pass::Lowered& l, std::string_view name) {
    int n = 0;
    const ir::PrimId id = l.optimized->vocabulary()->FindPrim(name);
    auto visit = [&](auto& self, const ir::Program& p) -> void {
      for (const ir::Equation& eqn : p.equations) {
        n += eqn.prim == id;
        for (const ricci_attr& a : eqn.attrs) {
          for (ricci_program* inner : ir::Programs(a)) self(self, *ir::FromAbi(inner));
        }
      }
    };
    visit(visit, *l.optimized);
    return n;
  }
  static int64_t Vectors(const pass::Lowered& l) { return static_cast<int64_t>(l.plan.arena_bytes) / kVector; }
};

TEST_F(CheckpointMemory, StoredResidualAndRecomputedValuesAreCounted) {
  // Each of the 80 steps has a product forwards and one backwards, and a cosine of the product.
  const auto stored = LowerGradient(Chain("")), all = LowerGradient(Chain("policy=\"everything\""));
  EXPECT_EQ(Count(*stored, "dot_general"), 160);
  EXPECT_GE(Vectors(*stored), 80);  // every argument of a sine is stored
  EXPECT_GE(Vectors(*all), 80);
  // Only the argument of a layer is stored; its four products run again on the way back. Nothing reads the result of
  // the last layer, so its products run only on the way back.
  const auto saved = LowerGradient(Chain("policy=\"nothing\""));
  EXPECT_EQ(Count(*saved, "dot_general"), 160 + 80 - 4);
  EXPECT_GE(Vectors(*saved), kLayers - 1);
  EXPECT_LE(Vectors(*saved), kLayers + 8);  // the layers' arguments, and the values of one layer
  // Policies that save the products: only sines are computed again.
  const auto dots = LowerGradient(Chain("policy=\"dots\""));
  EXPECT_EQ(Count(*dots, "dot_general"), 160);
  EXPECT_LE(Vectors(*dots), 80 + 8);
  // prevent_cse=false: the passes merge both computations, and everything is stored again.
  const auto merged = LowerGradient(Chain("policy=\"nothing\" prevent_cse=false"));
  EXPECT_EQ(Count(*merged, "dot_general"), 160);
  EXPECT_GE(Vectors(*merged), 80);
}

// The barrier is mapped like everything else: a batch of gradients keeps only a layer's arguments for every element.
TEST_F(CheckpointMemory, UnderVmap) {
  constexpr int64_t kBatch = 4;
  const auto lower = [&](std::string_view attrs) {
    const ir::ProgramRef g = Gradient(Chain(attrs));
    const int32_t in_axes[] = {-1, 0, -1}, out_axes[] = {0};
    auto mapped =
        transform::Vmap(*g, std::span(in_axes).first(g->n_params()), out_axes, kBatch, "", transform::Schedule::kAuto);
    EXPECT_TRUE(mapped.ok()) << mapped.status();
    return Lower(**mapped);
  };
  const auto stored = lower("policy=\"everything\""), saved = lower("policy=\"nothing\"");
  EXPECT_EQ(Count(*stored, "dot_general"), 160);
  EXPECT_EQ(Count(*saved, "dot_general"), 160 + 80 - 4);
  EXPECT_GE(Vectors(*stored), kBatch * 80);
  EXPECT_LE(Vectors(*saved), kBatch * (kLayers + 8));
}

// The derivative of a gradient does not store more either: where the gradient computes values again, it computes their
// tangents too.
TEST_F(CheckpointMemory, InGradientsOfGradients) {
  const auto second = [&](std::string_view attrs) {
    const ir::ProgramRef g = Gradient(Chain(attrs));
    auto jvp = transform::Jvp(*g, transform::Mask{0, 1});
    EXPECT_TRUE(jvp.ok()) << jvp.status();
    return Lower(*jvp->program);
  };
  const auto stored = second("policy=\"everything\""), saved = second("policy=\"nothing\"");
  EXPECT_GT(Count(*saved, "dot_general"), Count(*stored, "dot_general"));
  EXPECT_LE(2 * Vectors(*saved), Vectors(*stored));
}

TEST_F(CheckpointMemory, BarriersCostNeitherKernelsNorCopies) {
  const auto saved = LowerGradient(Chain("policy=\"nothing\""));
  EXPECT_EQ(Count(*saved, "optimization_barrier"), 0);
  for (const ricci_plan_step& step : saved->plan.steps) EXPECT_NE(step.kind, uint32_t{RICCI_STEP_COPY});
  EXPECT_EQ(Kernels(*saved).find("barrier"), std::string::npos) << Kernels(*saved);
}

TEST_F(CheckpointMemory, AContextWithoutTheBarrierSaysSo) {
  ricci_ctx* bare = nullptr;
  ASSERT_TRUE(Ok(host.CreateContext(&bare)));
  ricci_prim_def d{};
  d.hdr = {sizeof d, RICCI_PRIM_LINEAR, nullptr};
  d.name = control::Str("test.same");
  d.abstract_eval = [](void*, ricci_builder* b, const ricci_op* op) {
    return ricci_builder_set_out_types(b, op->in_types, 1);
  };
  ricci_lowering l{};
  l.hdr.size = sizeof l;
  l.kind = RICCI_LOWER_SCALAR;
  l.scalar = [](void*, ricci_kernel_builder*, const ricci_op*, const ricci_sval* in, ricci_sval* out) {
    out[0] = in[0];
    return static_cast<ricci_status*>(nullptr);
  };
  const ricci_lowering* lowerings[] = {&l};
  d.lowerings = lowerings;
  d.n_lowerings = 1;
  ASSERT_TRUE(Ok(ricci_prim_register(bare, &d, nullptr)));
  for (const bool prevent_cse : {true, false}) {
    const std::string text =
        base::Cat("program f(%x: f32[4]) { %y: f32[4] = checkpoint(%x) policy=\"nothing\" prevent_cse=",
                  prevent_cse ? "true" : "false",
                  " body=program(%x: f32[4]) { %y: f32[4] = test.same(%x) return %y } return %y }");
    ricci_program* f = nullptr;
    ASSERT_TRUE(Ok(ricci_program_parse(bare, text.data(), text.size(), "t", 1, &f)));
    const transform::Mask active{1}, known{1, 0}, force{0, 1};
    auto jvp = transform::Jvp(*ir::FromAbi(f), active);
    ASSERT_TRUE(jvp.ok()) << jvp.status();
    auto split = transform::PartialEval(*jvp->program, known, force);
    ASSERT_TRUE(split.ok()) << split.status();
    const auto lowered = pass::Lower(*split->unknown, {.target = pass::Target("cpu")});
    EXPECT_EQ(lowered.ok(), !prevent_cse);
    if (!lowered.ok()) {
      EXPECT_EQ(lowered.status().code(), absl::StatusCode::kNotFound);
      EXPECT_EQ(lowered.status().message(), "optimization_barrier: no such primitive; add the plugin that provides it");
    }
    ricci_program_release(f);
  }
  ricci_context_release(bare);
}

}  // namespace
}  // namespace ricci::testing
