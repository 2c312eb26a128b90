// custom_vmap: under vmap a function of the host makes the batch; everywhere else the body is what runs.
//
// The rule here gives sin(x) y for the body cos(x) y, so that results show which of them was used.
#include "support/program_runner.h"

namespace ricci::testing { namespace {

class CustomVmap : public ::testing::Test {
 protected:
  CustomVmap() {
    ricci_callback f{};
    f.hdr.size = sizeof f;
    f.self = this;
    f.batch = SinTimes;
    EXPECT_TRUE(Ok(Add("sin_times", f)));
    f.batch = [](void*, ricci_builder*, const ricci_op*, const ricci_batch_args*) {
      return ricci_status_make(RICCI_OUT_OF_RANGE, "not this batch", 14);
    };
    EXPECT_TRUE(Ok(Add("refuses", f)));
    f.batch = [](void*, ricci_builder*, const ricci_op*, const ricci_batch_args*) -> ricci_status* { return nullptr; };
    EXPECT_TRUE(Ok(Add("gives_nothing", f)));
    f.batch = [](void*, ricci_builder*, const ricci_op*, const ricci_batch_args* a) -> ricci_status* {
      a->out[0] = a->in[0];
      a->out_dims[0] = -1;
      return nullptr;
    };
    EXPECT_TRUE(Ok(Add("wrong_type", f)));
  }
  ricci_status* Add(std::string_view name, const ricci_callback& f) {
    return ricci_context_add_callback(r.ctx(), name.data(), name.size(), &f);
  }
  static ricci_status* Emit(ricci_builder* b, const ricci_op* op, std::string_view name,
                            const std::vector<ricci_attr>& attrs, const std::vector<ricci_val>& in, ricci_val* out) {
    ricci_prim prim = 0;
    if (ricci_status* s = ricci_prim_find(op->ctx, name.data(), name.size(), &prim)) return s;
    return ricci_builder_emit(b, prim, attrs.data(), static_cast<uint32_t>(attrs.size()), in.data(),
                              static_cast<uint32_t>(in.size()), out, 1);
  }
  // sin(x) y, where y is repeated unless it is batched; batched only if x is.
  static ricci_status* SinTimes(void* self, ricci_builder* b, const ricci_op* op, const ricci_batch_args* a) {
    auto& asked = static_cast<CustomVmap*>(self)->asked;
    asked.push_back({a->axis_size, a->in_dims[0], a->in_dims[1]});
    std::vector<ricci_val> sides = {RICCI_VAL_NONE, a->in[1]};
    if (ricci_status* s = Emit(b, op, "sin", {}, {a->in[0]}, sides.data())) return s;
    for (int i = 0; i < 2; ++i) {
      if (a->in_dims[i] >= 0 || a->in_dims[1 - i] < 0) continue;
      ricci_attr shape{}, dims{};
      shape.name = {"shape", 5};
      dims.name = {"broadcast_dimensions", 20};
      shape.kind = dims.kind = RICCI_ATTR_INTS;
      shape.count = 1;
      shape.data = &a->axis_size;
      if (ricci_status* s = Emit(b, op, "broadcast_in_dim", {shape, dims}, {sides[i]}, &sides[i])) return s;
    }
    return Emit(b, op, "mul", {}, sides, a->out);
  }
  // f(x, y), with the operation inside `around`, in which %x and %y become %z.
  Program Around(std::string_view rule, std::string_view around = "") {
    return r.Parse("program f(%x: f64[], %y: f64[]) {" + Call(rule) + std::string(around) + " return %z }");
  }
  static std::string Call(std::string_view rule) {
    return " %z: f64[] = custom_vmap(%x, %y) rule=\"" + std::string(rule) +
           "\" body=program g(%x: f64[], %y: f64[]) { %c: f64[] = cos(%x) %p: f64[] = mul(%c, %y) return %p } ";
  }
  std::string VmapError(std::string_view rule, uint32_t schedule = RICCI_SCHEDULE_AUTO) {
    const Program f = Around(rule);
    const int32_t in[] = {0, 0}, out[] = {0};
    ricci_vmap_opts opts{};
    opts.hdr.size = sizeof opts;
    opts.schedule = schedule;
    ricci_program* p = nullptr;
    ricci_status* const s = ricci_vmap(f.get(), in, 2, out, 1, 3, &opts, &p);
    EXPECT_NE(s, nullptr);
    return Message(s);
  }
  static Numbers SinOf(const Numbers& x, double scale = 1) {
    Numbers out;
    for (double v : x) out.push_back(scale * std::sin(v));
    return out;
  }

  std::vector<std::array<int64_t, 3>> asked;  // size of the batch, dimensions of x and y
  const Numbers x = {0.3, 0.5, 0.7}, ones = {1, 1, 1};
  ProgramRunner r;
};

void Near(const Numbers& got, const Numbers& want) {
  ASSERT_EQ(got.size(), want.size());
  for (size_t i = 0; i < got.size(); ++i) EXPECT_NEAR(got[i], want[i], 1e-14) << i;
}

TEST_F(CustomVmap, TheRuleMakesTheBatchAndTheBodyTheRest) {
  const Program f = Around("sin_times");
  Near(r.RunEverywhere(f, {{0.3}, {2}})[0], {2 * std::cos(0.3)});
  Near(r.RunEverywhere(r.Grad(f), {{0.3}, {2}})[0], {-2 * std::sin(0.3)});
  EXPECT_TRUE(asked.empty());
  Near(r.RunEverywhere(r.Vmap(f, {0, 0}, {0}, 3), {x, {2, 2, 2}})[0], SinOf(x, 2));
  Near(r.RunEverywhere(r.Vmap(f, {0, -1}, {0}, 3), {x, {2}})[0], SinOf(x, 2));
  const std::vector<std::array<int64_t, 3>> want = {{3, 0, 0}, {3, 0, -1}};
  EXPECT_EQ(asked, want);
}

TEST_F(CustomVmap, AContextWithoutTheRuleBatchesTheBody) {
  const Program f = r.Vmap(Around("elsewhere"), {0, 0}, {0}, 3);
  Near(r.RunEverywhere(f, {x, ones})[0], {std::cos(0.3), std::cos(0.5), std::cos(0.7)});
}

TEST_F(CustomVmap, DerivativesOfTheBatchAreThoseOfTheRule) {
  const Program f = Around("sin_times");
  Numbers cos;
  for (double v : x) cos.push_back(2 * std::cos(v));
  const std::vector<Numbers> arguments = {x, {2, 2, 2}, ones};
  Near(r.RunEverywhere(r.Jvp(r.Vmap(f, {0, 0}, {0}, 3), {1, 0}), arguments)[1], cos);
  const Program derivative = r.Jvp(f, {1, 0});
  Near(r.RunEverywhere(r.Vmap(derivative, {0, 0, 0}, {0, 0}, 3), arguments)[1], cos);
  Near(r.RunEverywhere(r.Vmap(derivative, {0, -1, -1}, {0, 0}, 3), {x, {2}, {1}})[1], cos);
  // Of the second derivative the rule is asked for the same batch.
  const Program second = r.Vmap(r.Jvp(derivative, {1, 0, 0}), {0, 0, 0, 0}, {0, 0, 0, 0}, 3);
  Near(r.RunEverywhere(second, {x, {2, 2, 2}, ones, ones})[3], SinOf(x, -2));
  // The values are not batched: the derivative is that of the body.
  Near(r.RunEverywhere(r.Vmap(derivative, {-1, -1, 0}, {0, 0}, 3), {{0.3}, {2}, {1, 2, 3}})[1],
       {-2 * std::sin(0.3), -4 * std::sin(0.3), -6 * std::sin(0.3)});
  const Program sum = r.Parse(R"(
program sum(%x: f64[3], %y: f64[3]) {
  %z: f64[3] = vmap(%x, %y) size=3 in_axes=[0,0] out_axes=[0] body=program f(%x: f64[], %y: f64[]) {)" +
                              Call("sin_times") + R"( return %z }
  %s: f64[] = reduce_sum(%z) axes=[0]
  return %s
})");
  Near(r.RunEverywhere(sum, {x, ones})[0], {std::sin(0.3) + std::sin(0.5) + std::sin(0.7)});
}

TEST_F(CustomVmap, InLoopsAndBranches) {
  const Program scan = r.Parse(
      "program f(%x: f64[], %ys: f64[2]) { %e: f64[] = scan(%x, %ys) length=2 num_consts=0 num_carry=1 "
      "body=program b(%x: f64[], %y: f64[]) {" +
      Call("sin_times") + " return %z } return %e }");
  const Numbers two = {1, 2};
  Near(r.RunEverywhere(r.Vmap(scan, {0, -1}, {0}, 3), {x, two})[0], SinOf(SinOf(x), 2));
  const std::string branches =
      "branches=[program no(%x: f64[], %y: f64[]) { return %x }, "
      "program yes(%x: f64[], %y: f64[]) {" +
      Call("sin_times");
  const std::string head = "program f(%i: i32[], %x: f64[], %y: f64[]) { %r: f64[] = cond(%i, %x, %y) ";
  const Program cond = r.Parse(head + branches + " return %z }] return %r }");
  Near(r.RunEverywhere(r.Vmap(cond, {0, 0, 0}, {0}, 3), {{0, 1, 0}, x, ones})[0], {0.3, std::sin(0.5), 0.7});
  // Elements that do not take the branch must not fail, so each runs by itself, without a batch.
  const Program checked =
      r.Parse(head + branches +
              " %zero: f64[] = constant 0.0 %ok: bool[] = gt(%x, %zero)"
              " %c: f64[] = check(%ok, %z) code=3 message=\"not positive\" return %c }] return %r }");
  Near(r.RunEverywhere(r.Vmap(checked, {0, 0, 0}, {0}, 3), {{0, 1, 0}, {-1, 0.5, 0.7}, ones})[0],
       {-1, std::cos(0.5), 0.7});
}

TEST_F(CustomVmap, WhatRulesDoWrong) {
  EXPECT_EQ(VmapError("refuses"), "test:1: custom_vmap: not this batch");
  EXPECT_EQ(VmapError("gives_nothing"), "test:1: custom_vmap: rule gives_nothing gives no result 0 of this batch");
  EXPECT_EQ(VmapError("wrong_type"), "test:1: custom_vmap: rule wrong_type gives f64[3] for result 0, which is f64[]");
  EXPECT_EQ(VmapError("sin_times", RICCI_SCHEDULE_LANES),
            "vmap: schedule `lanes` is not possible: program f holds a custom_vmap, whose rule is for whole batches");
  const std::string body = " body=program(%a: f64[]) { return %a }";
  const auto wrong = [&](const std::string& attrs) {
    return r.ParseError("program f(%x: f64[]) { %y: f64[] = custom_vmap(%x)" + body + attrs + " return %y }");
  };
  EXPECT_EQ(wrong(""), "test:1: custom_vmap: give either the name of a rule or `of`, not none");
  EXPECT_EQ(wrong(" rule=\"a\" of=program(%a: f64[]) { return %a }"),
            "test:1: custom_vmap: give either the name of a rule or `of`, not both");
  EXPECT_EQ(wrong(" rule=\"a\" moving=[0]"),
            "test:1: custom_vmap: moving says which operands of `of` have a tangent, and there is no `of`");
  EXPECT_EQ(wrong(" of=program(%a: f64[]) { return %a } moving=[1]"),
            "test:1: custom_vmap: moving holds 1 after -1; `of` has 1 parameter and they are named in order");
  EXPECT_EQ(wrong(" of=program(%a: f64[]) { return %a }"), "test:1: custom_vmap: body results: 1 instead of 2");
  const Program called = r.Parse(
      "program f(%x: f64[]) { %y: f64[] = pure_callback(%x) callback=\"sin_times\" results=\"f64[]\" return %y }");
  ricci_executable* e = nullptr;
  EXPECT_EQ(Message(ricci_compile(called.get(), nullptr, &e)),
            "test:1: pure_callback: callback sin_times is a rule for vmap; a run cannot call it");
}

}}  // namespace ricci::testing
