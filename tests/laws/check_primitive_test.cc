// ricci_check_primitive and ricci_check_program: right rows pass, each law catches the row that breaks it, and wrong
// calls and examples are reported.
#include <gtest/gtest.h>

#include <map>

#include "laws/mutated_rows.h"
#include "ricci/check.h"
#include "ricci/ricci.h"
#include "support/program_runner.h"

namespace ricci::testing { namespace {

struct Verdict {
  std::string message;                         // of the status; empty if all laws hold
  std::map<std::string, std::string> failing;  // by law
  std::map<std::string, uint64_t> comparisons;
};

class CheckPrimitive : public ::testing::Test {
 protected:
  CheckPrimitive() { EXPECT_TRUE(Ok(ricci_context_add_plugin(runner_.ctx(), mutated::Query))); }

  static void Collect(void* sink, const ricci_check_law* law) {
    Verdict& v = *static_cast<Verdict*>(sink);
    const std::string name(law->name.ptr, law->name.len);
    v.comparisons[name] = law->comparisons;
    if (law->failure.len != 0) v.failing[name] = std::string(law->failure.ptr, law->failure.len);
  }
  static ricci_check_opts Into(Verdict& v) {
    ricci_check_opts o{};
    o.hdr.size = sizeof o;
    o.sink = &v;
    o.law = Collect;
    return o;
  }
  static std::string Told(ricci_status* s) { return s == nullptr ? "" : Message(s); }

  // Checks at the examples of the row, against all devices or one kind (`ref`: none).
  Verdict Check(std::string_view name, std::string_view device = "ref") {
    Verdict v;
    ricci_check_opts o = Into(v);
    o.device = {device.data(), device.size()};
    v.message = Told(ricci_check_primitive(runner_.ctx(), name.data(), name.size(), nullptr, 0, &o));
    return v;
  }
  // `law` fails, and none of the laws before it.
  void ExpectCaught(std::string_view name, std::string_view law, std::string_view device = "ref") {
    const Verdict v = Check(name, device);
    EXPECT_TRUE(v.failing.contains(std::string(law))) << name << ": " << v.message;
    const std::string start = law == "rules" ? ": law rules: " : ": example 0: law " + std::string(law) + ": ";
    EXPECT_EQ(v.message.substr(0, name.size() + start.size()), std::string(name) + start);
  }
  // `law` fails, but not as the first one.
  void ExpectAmong(std::string_view name, std::string_view law) {
    const Verdict v = Check(name);
    EXPECT_TRUE(v.failing.contains(std::string(law))) << name << ": " << v.message;
  }
  Verdict CheckProgram(std::string_view text) {
    const Program p = runner_.Parse(text);
    Verdict v;
    const ricci_check_opts o = Into(v);
    v.message = Told(ricci_check_program(p.get(), nullptr, &o));
    return v;
  }

  ProgramRunner runner_;
};

TEST_F(CheckPrimitive, RightRowsPass) {
  for (const char* name : {"test.cube", "test.flip", "sin", "dot_general", "concatenate"}) {
    const Verdict v = Check(name, /*device=*/"");
    EXPECT_EQ(v.message, "");
    EXPECT_EQ(v.comparisons.size(), 18u);
    for (const auto& [law, n] : v.comparisons) {
      const bool none = law == "view_maps" ? name != std::string_view("concatenate")
                                           : law == "device" && runner_.Devices().size() == 1;
      EXPECT_EQ(n == 0, none) << name << ": " << law;
    }
  }
}

// ---- one mutated row per law ----
TEST_F(CheckPrimitive, MissingRuleWithoutReason) { ExpectCaught("test.no_reason", "rules"); }
TEST_F(CheckPrimitive, TextOfAnotherProgram) {
  mutated::Asked() = 0;
  ExpectCaught("test.moody_type", "text");
}
TEST_F(CheckPrimitive, UnwrittenElement) {
  ExpectCaught("test.unwritten", "written");
  const Verdict v = Check("test.unwritten", /*device=*/"");
  EXPECT_EQ(v.message,
            "test.unwritten: example 0: law written: element 5 of result 0 was never written by the lowering");
  EXPECT_EQ(v.failing.size(), 1u);
}
// What passes believe: each claim that does not hold, and its counterpart that does.
TEST_F(CheckPrimitive, ClaimsThatDoNotHold) {
  const auto expect = [&](const char* name, const std::string& why) {
    const std::string want = std::string(name) + ": example 0: law rules: " + why;
    EXPECT_EQ(Check(name).message.substr(0, want.size()), want);
  };
  expect("test.commutes", "the row has RICCI_PRIM_COMMUTATIVE, but with its operands exchanged result 0, element 0 is");
  expect("test.commutes_alone", "the row has RICCI_PRIM_COMMUTATIVE, but takes 1 operand");
  expect("test.view", "the row has RICCI_PRIM_VIEW, but element 0 of the result is none of operand 0");
  expect("test.checked", "a lowering checks its operands (ricci_kernel_check), so a run may fail");
  expect("test.other_elsewhere", "its lowering for `elsewhere`: result 0, element 0 is");
  for (const char* name :
       {"test.product_commutes", "test.view_of_all", "test.checked_and_says_so", "test.same_elsewhere"}) {
    EXPECT_EQ(Check(name, /*device=*/"").message, "");
  }
}
// A check of a lowering in C++ fails the run, with the primitive, its words and the place.
TEST_F(CheckPrimitive, ACheckOfALoweringFailsTheRun) {
  const Program p =
      runner_.Parse("program f(%x: f64[2]) {\n  %y: f64[2] = test.checked_and_says_so(%x)\n  return %y\n}");
  ricci_executable* x = nullptr;
  ASSERT_TRUE(Ok(ricci_compile(p.get(), nullptr, &x)));
  const auto run = [&](double low) {
    const double elements[] = {1, low};
    const Shape shape = {2};
    ricci_array *in = nullptr, *out = nullptr;
    const ricci_type type = ArrayType::Make(runner_.ctx(), DType::kF64, shape).id();
    EXPECT_TRUE(Ok(ricci_array_from_host(ricci_device_get(runner_.ctx(), 0), type, elements, nullptr, &in)));
    const std::string said = Told(ricci_executable_run(x, &in, 1, &out, 1, nullptr));
    ricci_array_release(in);
    ricci_array_release(out);
    return said;
  };
  EXPECT_EQ(run(-8), "");
  EXPECT_NE(run(-10).find("test.checked_and_says_so: the element is -9 or less"), std::string::npos) << run(-10);
  ricci_executable_release(x);
}
TEST_F(CheckPrimitive, ALoweringThatWritesToItsOperand) {
  ExpectCaught("test.over_operand", "written");
  EXPECT_EQ(Check("test.over_operand").message,
            "test.over_operand: example 0: law written: element 4 of operand 0 was changed by the lowering, which may "
            "only read it");
}
TEST_F(CheckPrimitive, ADerivativeThatChangesTheResult) {
  ExpectCaught("test.other_result", "jvp");
  const Verdict v = Check("test.other_result");
  EXPECT_NE(v.message.find("it changes the value: result 0, element 0 is "), std::string::npos) << v.message;
  EXPECT_TRUE(v.failing.contains("transpose"));
}
TEST_F(CheckPrimitive, PartsOfComplexNumbersAreNamed) {
  const std::string said = Check("test.other_part").message;
  EXPECT_NE(said.find("result 0, element 0 (real part) is "), std::string::npos) << said;
}
TEST_F(CheckPrimitive, KeysAreDrawnAndCompared) {
  const Verdict right = Check("test.keys", /*device=*/"");
  EXPECT_EQ(right.message, "");
  EXPECT_GT(right.comparisons.at("batch"), 0u);
  ExpectAmong("test.wrong_keys", "batch");
  EXPECT_NE(Check("test.wrong_keys").message.find(" (lower word) is "), std::string::npos);
}
TEST_F(CheckPrimitive, WrongFactors) { ExpectCaught("test.wrong_factors", "factors"); }
TEST_F(CheckPrimitive, WrongViewMaps) {
  const auto expect = [&](const std::string& name, const std::string& why) {
    ExpectCaught(name, "view_maps");
    EXPECT_EQ(Check(name).message, name + ": example 0: law view_maps: " + why);
  };
  expect("test.wrong_view_map",
         "test.wrong_view_map `view_map` of operand 0: its element 0 is not element 0 of the result");
  expect("test.half_told", "test.half_told `view_map`: no operand has element 3 of the result");
  expect("test.view_map_outside",
         "test.view_map_outside: rule view_map of plugin test: gives an impossible map for elements of operand 0, "
         "f64[2,3], in "
         "f64[2,3]");
}
TEST_F(CheckPrimitive, WrongSimplify) { ExpectCaught("test.wrong_simplify", "optimized"); }
TEST_F(CheckPrimitive, WrongLoweringOfOneDevice) {
  if (runner_.Devices().size() > 1) ExpectCaught("test.other_on_cpu", "device", "cpu");
}
TEST_F(CheckPrimitive, WrongDerivative) {
  ExpectCaught("test.wrong_sign", "jvp");
  ExpectCaught("test.wrong_value", "jvp");
}
TEST_F(CheckPrimitive, WrongDerivativeByOneOperand) {
  const auto starts = [&](const std::string& name, const std::string& how) {
    const std::string want = name + ": example 0: law jvp: tangent of operand " + how + ": result 0, element 0 is ";
    EXPECT_EQ(Check(name).message.substr(0, want.size()), want);
  };
  starts("test.twice_by_second", "1 is 2.0 times the finite difference");
  starts("test.wrong_sign", "0 is -1.0 times the finite difference");
  starts("test.wrong_value", "0 is not the finite difference");
}
// At ordinary points both are right.
TEST_F(CheckPrimitive, WrongDerivativesWhereOperandsAreEqual) {
  ExpectCaught("test.uneven_at_ties", "jvp");
  ExpectCaught("test.uneven_curvature", "jvp of jvp");
}
TEST_F(CheckPrimitive, NaNInTheBatchOfInfinities) { ExpectAmong("test.nan_in_batch", "vmap"); }
TEST_F(CheckPrimitive, WrongTranspose) { ExpectCaught("test.flip_transpose", "transpose"); }
TEST_F(CheckPrimitive, WrongSecondDerivative) { ExpectCaught("test.second_order", "jvp of jvp"); }
TEST_F(CheckPrimitive, WrongDerivativeOfTheTranspose) {
  ExpectCaught("test.wrong_after_transpose", "jvp of transpose");
}
TEST_F(CheckPrimitive, WrongTransposeOfTheDerivative) { ExpectCaught("test.second_transpose", "transpose of jvp"); }
TEST_F(CheckPrimitive, OtherValuesInLanes) { ExpectAmong("test.moody", "vmap"); }
TEST_F(CheckPrimitive, WrongBatchAxis) { ExpectAmong("test.flip_batch", "batch"); }
TEST_F(CheckPrimitive, WrongBatchOfTheTangent) { ExpectAmong("test.wrong_batch_of_tangent", "vmap of jvp"); }
TEST_F(CheckPrimitive, WrongBatchOfTheTranspose) { ExpectAmong("test.wrong_batch_of_transpose", "vmap of transpose"); }
TEST_F(CheckPrimitive, WrongTangentOfTheBatch) { ExpectAmong("test.wrong_tangent_of_batch", "jvp of vmap"); }
TEST_F(CheckPrimitive, WrongTransposeOfTheBatch) { ExpectAmong("test.wrong_transpose_of_batch", "transpose of vmap"); }

// ---- programs ----
TEST_F(CheckPrimitive, ProgramsAreChecked) {
  const Verdict right = CheckProgram(R"(
program right(%x: f64[3], %n: i32[3]) {
  %s: f64[3] = sin(%x)
  %p: f64[3] = pow(%s, %n)
  return %p
})");
  EXPECT_EQ(right.message, "");
  EXPECT_GT(right.comparisons.at("vmap of transpose"), 0u);
  EXPECT_EQ(right.comparisons.at("rules"), 0u);
  const Verdict wrong = CheckProgram(R"(
program wrong(%x: f64[2]) {
  %y: f64[2] = custom_jvp(%x) call=program(%a: f64[2]) {
    %b: f64[2] = mul(%a, %a)
    return %b
  } jvp=program(%a: f64[2], %t: f64[2]) {
    %b: f64[2] = mul(%a, %a)
    %u: f64[2] = mul(%a, %t)
    return %b, %u
  }
  return %y
})");
  EXPECT_EQ(wrong.message.substr(0, 88),
            "wrong: law jvp: tangent of operand 0 is 0.5 times the finite difference: result 0, eleme");
  EXPECT_NE(wrong.message.find("; rules used: jvp of custom_jvp"), std::string::npos) << wrong.message;
  EXPECT_TRUE(wrong.failing.contains("jvp of vmap"));
  EXPECT_FALSE(wrong.failing.contains("transpose"));
}

// Not `neg`, through which no tangent passes, nor rows of other rules.
TEST_F(CheckPrimitive, RulesOfAProgramAreNamed) {
  const Verdict v = CheckProgram(R"(
program wrong(%x: f64[2], %n: i32[2]) {
  %m: i32[2] = neg(%n)
  %s: f64[2] = sin(%x)
  %c: f64[2] = test.wrong_sign(%s)
  %p: f64[2] = pow(%c, %m)
  return %p
})");
  const std::string told = v.failing.at("jvp");
  EXPECT_EQ(told.substr(told.rfind("; ")), "; rules used: jvp of pow, sin, test.wrong_sign");
  const std::string flip = Check("test.wrong_after_transpose").message;
  EXPECT_EQ(
      flip.substr(flip.find("rules used: ")),
      "rules used: jvp of test.flip_tangent, test.wrong_after_transpose; transpose of test.wrong_after_transpose");
  EXPECT_EQ(Check("test.flip_transpose").message.find("rules used"), std::string::npos);
}

// ---- wrong calls ----
TEST_F(CheckPrimitive, NoExampleIsAnError) {
  EXPECT_EQ(Check("custom_linear").message,
            "custom_linear: the row has no examples; add some to it, or pass some with the call");
}
TEST_F(CheckPrimitive, ExamplesOfTheCaller) {
  const Shape shape = {2, 3};
  ricci_check_operand x{ArrayType::Make(runner_.ctx(), DType::kF64, shape).id(), 0, -2, 2};
  ricci_check_example e{};
  e.hdr.size = sizeof e;
  e.operands = &x;
  e.n_operands = 1;
  EXPECT_EQ(Told(ricci_check_primitive(runner_.ctx(), "test.cube", 9, &e, 1, nullptr)), "");
  ricci_status* s = ricci_check_primitive(runner_.ctx(), "test.wrong_sign", 15, &e, 1, nullptr);
  EXPECT_EQ(ricci_status_code(s), static_cast<uint32_t>(RICCI_FAILED_PRECONDITION));
  EXPECT_EQ(Message(s).substr(0, 36), "test.wrong_sign: example 0: law jvp:");
  e.hdr.flags = RICCI_CHECK_NO_DERIVATIVES;
  EXPECT_EQ(Told(ricci_check_primitive(runner_.ctx(), "test.wrong_sign", 15, &e, 1, nullptr)), "");
  e.hdr.size = 0;
  EXPECT_EQ(Told(ricci_check_primitive(runner_.ctx(), "test.cube", 9, &e, 1, nullptr)),
            "test.cube: example: hdr.size is 0; set it to the size of the struct");
}
TEST_F(CheckPrimitive, UnknownDeviceIsAnError) {
  ricci_check_opts o{};
  o.hdr.size = sizeof o;
  o.device = {"tpu", 3};
  EXPECT_EQ(Told(ricci_check_primitive(runner_.ctx(), "sin", 3, nullptr, 0, &o)),
            "no device of kind tpu; add the plugin that provides it");
}

// What is wrong in the text of an example.
TEST_F(CheckPrimitive, WrongExamplesAreTold) {
  const auto told = [&](const char* name, const char* examples) {
    Row row = mutated::kRows[0];
    row.name = name;
    row.examples = examples;
    static std::vector<std::unique_ptr<Row>> rows;  // rows outlive the context
    Register(runner_.ctx(), *rows.emplace_back(std::make_unique<Row>(row)));
    return Check(name).message;
  };
  EXPECT_EQ(told("test.a", "(f64[2] in 1)"),
            "test.a: example 0, `(f64[2] in 1)`: `1` is not a range; write `in LOW..HIGH`");
  EXPECT_EQ(told("test.b", "(f64[2]); (f64[2] in 2..1)"),
            "test.b: example 1, `(f64[2] in 2..1)`: the range 2..1 is empty");
  EXPECT_EQ(told("test.c", "(f64[2] in 1..x)"),
            "test.c: example 0, `(f64[2] in 1..x)`: `x` is not a bound of a range; write `in LOW..HIGH`");
  EXPECT_EQ(told("test.d", "f64[2]"), "test.d: example 0, `f64[2]`: an example begins with `(` or `program`");
  EXPECT_EQ(told("test.e", "order=3 (f64[2])"),
            "test.e: example 0, `order=3 (f64[2])`: order=3; it is 0 or 1, and 2 if it is not given");
  EXPECT_EQ(told("test.f", "(f64[2], f64[2])"),
            "test.f: example 0, `(f64[2], f64[2])`: test.f: takes 1 operand, not 2");
  EXPECT_EQ(told("test.g", "(f64[2]) y=1"),
            "test.g: example 0, `(f64[2]) y=1`: test.g: unknown attribute y; it takes none");
}

}  // namespace
}  // namespace ricci::testing
