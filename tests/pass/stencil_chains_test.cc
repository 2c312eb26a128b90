// Chains of steps that read their operand at two or three places (stencils, shifts, mirrored and gathered copies):
// kernels grow linearly with the chain, wherever it is: at the top, in batches, in lanes, and in bodies of loops. One
// table of steps times one of settings. Counted in instructions.
#include "base/status.h"
#include "pass/lowered_program.h"
#include "trace/attrs.h"
#include "trace/builder.h"

namespace ricci::testing { namespace {

// One step from `x` to `y`, both f32[n]; names that end in `$` are of this step.
struct Step {
  const char* name;
  const char* text;
};
constexpr Step kSteps[] = {
    {"heat",
     "%p$: f32[130] = pad(X, %z) low=[1] high=[1] interior=[0]\n"
     "%l$: f32[128] = slice(%p$) start_indices=[0] limit_indices=[128]\n"
     "%r$: f32[128] = slice(%p$) start_indices=[2] limit_indices=[130]\n"
     "%y$: f32[128] = add(%l$, %r$)\n"},
    {"wave",
     "%p$: f32[130] = pad(X, %z) low=[1] high=[1] interior=[0]\n"
     "%l$: f32[128] = slice(%p$) start_indices=[0] limit_indices=[128]\n"
     "%r$: f32[128] = slice(%p$) start_indices=[2] limit_indices=[130]\n"
     "%s$: f32[128] = add(%l$, %r$)\n%y$: f32[128] = sub(%s$, X)\n"},
    {"heat_of_tanh",
     "%p$: f32[130] = pad(X, %z) low=[1] high=[1] interior=[0]\n"
     "%l$: f32[128] = slice(%p$) start_indices=[0] limit_indices=[128]\n"
     "%t$: f32[128] = tanh(%l$)\n"
     "%r$: f32[128] = slice(%p$) start_indices=[2] limit_indices=[130]\n"
     "%y$: f32[128] = add(%t$, %r$)\n"},
    {"mirrored_ends",
     "%f$: f32[1] = slice(X) start_indices=[0] limit_indices=[1]\n"
     "%e$: f32[1] = slice(X) start_indices=[127] limit_indices=[128]\n"
     "%p$: f32[130] = concatenate(%f$, X, %e$) dimension=0\n"
     "%l$: f32[128] = slice(%p$) start_indices=[0] limit_indices=[128]\n"
     "%r$: f32[128] = slice(%p$) start_indices=[2] limit_indices=[130]\n"
     "%y$: f32[128] = sub(%l$, %r$)\n"},
    {"roll",
     "%a$: f32[127] = slice(X) start_indices=[1] limit_indices=[128]\n"
     "%b$: f32[1] = slice(X) start_indices=[0] limit_indices=[1]\n"
     "%c$: f32[128] = concatenate(%a$, %b$) dimension=0\n%y$: f32[128] = sub(%c$, X)\n"},
    {"roll_both_ways",
     "%a$: f32[127] = slice(X) start_indices=[1] limit_indices=[128]\n"
     "%b$: f32[1] = slice(X) start_indices=[0] limit_indices=[1]\n"
     "%c$: f32[128] = concatenate(%a$, %b$) dimension=0\n"
     "%d$: f32[1] = slice(X) start_indices=[127] limit_indices=[128]\n"
     "%e$: f32[127] = slice(X) start_indices=[0] limit_indices=[127]\n"
     "%f$: f32[128] = concatenate(%d$, %e$) dimension=0\n"
     "%s$: f32[128] = add(%c$, %f$)\n%y$: f32[128] = sub(%s$, X)\n"},
    {"reverse", "%r$: f32[128] = rev(X) dimensions=[0]\n%y$: f32[128] = sub(%r$, X)\n"},
    {"transpose",
     "%a$: f32[16,8] = reshape(X) new_sizes=[16,8]\n"
     "%t$: f32[8,16] = transpose(%a$) permutation=[1,0]\n"
     "%b$: f32[128] = reshape(%t$) new_sizes=[128]\n%y$: f32[128] = sub(%b$, X)\n"},
    {"broadcast",
     "%s$: f32[16] = slice(X) start_indices=[0] limit_indices=[16]\n"
     "%a$: f32[16,8] = broadcast_in_dim(%s$) shape=[16,8] broadcast_dimensions=[0]\n"
     "%b$: f32[128] = reshape(%a$) new_sizes=[128]\n%y$: f32[128] = sub(%b$, X)\n"},
    {"dynamic_slice",
     "%p$: f32[130] = pad(X, %z) low=[1] high=[1] interior=[0]\n"
     "%s$: f32[128] = dynamic_slice(%p$, %k) slice_sizes=[128]\n%y$: f32[128] = sub(%s$, X)\n"},
    {"gather",
     "%g$: f32[128] = gather(X, %i) offset_dims=[] collapsed_slice_dims=[0] start_index_map=[0] "
     "slice_sizes=[1] mode=\"clip\"\n"
     "%h$: f32[128] = gather(X, %j) offset_dims=[] collapsed_slice_dims=[0] start_index_map=[0] "
     "slice_sizes=[1] mode=\"clip\"\n%y$: f32[128] = sub(%g$, %h$)\n"},
    {"interleave",
     "%r$: f32[128] = rev(X) dimensions=[0]\n"
     "%c$: f32[256] = concatenate(X, %r$) dimension=0\n"
     "%y$: f32[128] = slice(%c$) start_indices=[0] limit_indices=[256] strides=[2]\n"},
    {"choice",
     "%p$: f32[128] = pad(X, %z) low=[1] high=[-1] interior=[0]\n"
     "%q$: f32[128] = pad(X, %z) low=[-1] high=[1] interior=[0]\n"
     "%c$: bool[128] = lt(%p$, %q$)\n%y$: f32[128] = select_n(%c$, %p$, %q$)\n"},
    {"sums",
     "%p$: f32[128] = pad(X, %z) low=[1] high=[-1] interior=[0]\n"
     "%c$: f32[128] = cumsum(%p$) axis=0 reverse=false\n%y$: f32[128] = sub(%p$, %c$)\n"},
    {"halves",
     "%a$: f32[64], %b$: f32[64] = split(X) sizes=[64,64] axis=0\n"
     "%s$: f32[64] = add(%a$, %b$)\n%d$: f32[64] = sub(%a$, %b$)\n"
     "%y$: f32[128] = concatenate(%s$, %d$) dimension=0\n"},
    {"barrier",
     "%p$: f32[130] = pad(X, %z) low=[1] high=[1] interior=[0]\n"
     "%o$: f32[130] = optimization_barrier(%p$)\n"
     "%l$: f32[128] = slice(%o$) start_indices=[0] limit_indices=[128]\n"
     "%r$: f32[128] = slice(%o$) start_indices=[2] limit_indices=[130]\n"
     "%y$: f32[128] = sub(%l$, %r$)\n"},
    {"branch",
     "%p$: f32[130] = pad(X, %z) low=[1] high=[1] interior=[0]\n"
     "%y$: f32[128] = cond(%k, %p$) branches=[program(%p: f32[130]) {\n"
     "%l: f32[128] = slice(%p) start_indices=[0] limit_indices=[128] return %l }, program(%p: f32[130]) {\n"
     "%l: f32[128] = slice(%p) start_indices=[0] limit_indices=[128]\n"
     "%r: f32[128] = slice(%p) start_indices=[2] limit_indices=[130]\n"
     "%d: f32[128] = sub(%l, %r) return %d }]\n"},
};

// The program of `body`, which takes f32[128] to f32[128].
struct Setting {
  const char* name;
  std::string (*around)(std::string_view body);
  bool many_points = false;
};
std::string Plain(std::string_view body) { return base::Cat("program f", body); }
std::string Vmap(std::string_view body, std::string_view schedule) {
  return base::Cat(
      "program f(%x: f32[4,128]) { %r: f32[4,128] = vmap(%x) size=4 in_axes=[0] out_axes=[0] axis_name=\"\"",
      " schedule=\"", schedule, "\" body=program", body, " return %r }");
}
std::string Batched(std::string_view body) { return Vmap(body, "batched"); }
std::string Lanes(std::string_view body) { return Vmap(body, "lanes"); }
std::string Scan(std::string_view body, std::string_view place) {
  return base::Cat("program f(%x: f32[128]) { %r: f32[128] = scan(%x) length=2 num_consts=0 num_carry=1 run_in=\"",
                   place, "\" body=program", body, " return %r }");
}
std::string ScanInKernel(std::string_view body) { return Scan(body, "kernel"); }
std::string ScanInPlan(std::string_view body) { return Scan(body, "plan"); }
std::string WhileInLanes(std::string_view body) {
  return Lanes(base::Cat("(%x: f32[128]) { %n: i32[] = constant 0\n%m: i32[], %r: f32[128] = while(%n, %x) ",
                         "cond_nconsts=0 body_nconsts=0 max_trips=4 cond=program(%n: i32[], %x: f32[128]) { ",
                         "%t: i32[] = constant 2  %p: bool[] = lt(%n, %t)  return %p } ",
                         "body=program(%n: i32[], %x: f32[128]) { %o: i32[] = constant 1  %m: i32[] = add(%n, %o)\n",
                         "%y: f32[128] = call(%x) body=program", body, "\nreturn %m, %y }\nreturn %r }"));
}
constexpr Setting kSettings[] = {
    {"plain", Plain},
    {"batched", Batched},
    {"lanes", Lanes},
    {"scan_in_kernel", ScanInKernel},
    {"scan_in_plan", ScanInPlan},
    {"while_in_lanes", WhileInLanes},
    {"plain_of_many_points", Plain, /*many_points=*/true},
    {"batched_of_many_points", Batched, /*many_points=*/true},
    {"lanes_of_many_points", Lanes, /*many_points=*/true},
};

std::string Chain(const Step& step, int length) {
  std::string text =
      "(%x: f32[128]) {\n%z: f32[] = constant 0.5  %k: i32[] = constant 1\n"
      "%n: i32[128] = iota() dtype=i32 shape=[128] dimension=0  %nn: i32[128] = mul(%n, %n)\n"
      "%i: i32[128,1] = reshape(%n) new_sizes=[128,1]  %j: i32[128,1] = reshape(%nn) new_sizes=[128,1]\n";
  std::string x = "%x";
  for (int i = 0; i < length; ++i) {
    const std::string number = std::to_string(i);
    for (const char* c = step.text; *c != 0; ++c) {
      text += *c == '$' ? number : *c == 'X' ? x : std::string(1, *c);
    }
    x = "%y" + number;
  }
  return text + "return " + x + " }";
}

size_t Instructions(const pass::Lowered& l) {
  size_t sum = 0;
  for (const ricci_plan_step& step : l.plan.steps) {
    if (step.kind == RICCI_STEP_KERNEL) sum += l.kernels[step.index].insts.size();
  }
  return sum;
}

class LinearChains : public LoweredProgram {
 protected:
  void ExpectLinear(const Step& step, const Setting& setting) {
    const pass::Options options = setting.many_points ? OfManyPoints() : pass::Options();
    const auto instructions = [&](int length) {
      return Instructions(*Lower(setting.around(Chain(step, length)), options));
    };
    size_t before = instructions(10);
    for (const int length : {20, 40, 80}) {
      const size_t now = instructions(length);
      ASSERT_LE(now, 9 * before / 4 + 64) << length << " steps";
      before = now;
    }
    ExpectSameAsReference(setting.around(Chain(step, 4)));
  }
};

class StencilChains : public LinearChains, public ::testing::WithParamInterface<std::tuple<Step, Setting>> {};

TEST_P(StencilChains, GrowLinearly) { ExpectLinear(std::get<0>(GetParam()), std::get<1>(GetParam())); }

INSTANTIATE_TEST_SUITE_P(Of, StencilChains,
                         ::testing::Combine(::testing::ValuesIn(kSteps), ::testing::ValuesIn(kSettings)),
                         [](const auto& test) {
                           return base::Cat(std::get<0>(test.param).name, "_", std::get<1>(test.param).name);
                         });

// x - reverse(x), which no kernel has a lowering for: what it is decomposed into reads x twice, and is read by views.
TEST_F(LinearChains, OfWhatIsDecomposedInKernels) {
  static constexpr ricci_library kLibrary = {
      {sizeof(ricci_library), 0, nullptr},
      [](void*, const ricci_op*, ricci_library_plan*) { return ricci_status_make(RICCI_INTERNAL, "not called", 10); },
      [](void*, const ricci_launch*) { return ricci_status_make(RICCI_INTERNAL, "not called", 10); },
      nullptr};
  ricci_lowering call{}, decomposition{};
  for (ricci_lowering* l : {&call, &decomposition}) l->hdr.size = sizeof *l, l->target = {"*", 1};
  call.kind = RICCI_LOWER_LIBRARY, call.library = &kLibrary;
  decomposition.kind = RICCI_LOWER_DECOMPOSE;
  decomposition.decompose = [](void*, ricci_builder* b, const ricci_op*, const ricci_val* in, ricci_val* out) {
    const int64_t first[] = {0};
    const ricci_attr dimensions[] = {trace::IntsAttr("dimensions", first)};
    const trace::Val both[] = {in[0], trace::FromAbi(b)->Emit1("rev", dimensions, {in, 1}).value()};
    out[0] = trace::FromAbi(b)->Emit1("sub", {}, both).value();
    return static_cast<ricci_status*>(nullptr);
  };
  const ricci_lowering* lowerings[] = {&call, &decomposition};
  ricci_prim_def row{};
  row.hdr.size = sizeof row;
  row.name = {"test.odd", 8};
  row.abstract_eval = [](void*, ricci_builder* b, const ricci_op* op) {
    return ricci_builder_set_out_types(b, op->in_types, 1);
  };
  row.lowerings = lowerings, row.n_lowerings = 2;
  ASSERT_TRUE(Ok(ricci_prim_register(ctx, &row, nullptr)));
  for (const Setting& setting : {Setting{"lanes", Lanes}, Setting{"scan", ScanInKernel}}) {
    SCOPED_TRACE(setting.name);
    ExpectLinear({"", "%y$: f32[128] = test.odd(X)\n"}, setting);
    ExpectLinear({"",
                  "%p$: f32[130] = pad(X, %z) low=[1] high=[1] interior=[0]\n"
                  "%s$: f32[128] = slice(%p$) start_indices=[2] limit_indices=[130]\n"
                  "%y$: f32[128] = test.odd(%s$)\n"},
                 setting);
  }
}

}  // namespace
}  // namespace ricci::testing
