// Checks while a program runs: a while that needs more trips than it stated, and `check` itself, on every device.
#include <algorithm>

#include "support/program_runner.h"

namespace ricci::testing { namespace {

std::string Replaced(std::string text, std::string_view what, const std::string& with) {
  for (size_t at; (at = text.find(what)) != std::string::npos;) text.replace(at, what.size(), with);
  return text;
}

class Checks : public ::testing::Test {
 protected:
  // f(x) = (x * 2^k)^2, where k is the least for which |x| * 2^k >= 8. `size`: elements that the loop carries along;
  // above some hundred it runs in the plan instead of a kernel.
  Program Doubling(int max_trips, int size = 1) {
    static constexpr char kText[] = R"(
program doubling(%x: f64[]) {
  %init: f64[SIZE] = broadcast_in_dim(%x) shape=[SIZE] broadcast_dimensions=[]
  %end: f64[SIZE] = while(%init) cond_nconsts=0 body_nconsts=0 max_trips=TRIPS cond=program going_on(%v: f64[SIZE]) {
    %abs: f64[SIZE] = abs(%v)
    %most: f64[] = reduce_max(%abs) axes=[0]
    %eight: f64[] = constant 8.0
    %less: bool[] = lt(%most, %eight)
    return %less
  } body=program twice(%v: f64[SIZE]) {
    %next: f64[SIZE] = add(%v, %v)
    return %next
  }
  %y: f64[] = reduce_max(%end) axes=[0]
  %z: f64[] = mul(%y, %y)
  return %z
})";
    return r.Parse(Replaced(Replaced(kText, "SIZE", std::to_string(size)), "TRIPS", std::to_string(max_trips)));
  }
  // The result may be any value, but the run must fail, and the next one must not.
  void ExpectBound(const Program& f, const std::vector<Numbers>& beyond, const std::vector<Numbers>& within,
                   const Numbers& want) {
    EXPECT_EQ(r.RunError(f, beyond), kMessage);
    ExpectNear(r.RunEverywhere(f, within).back(), want, 1e-12);
  }

  ProgramRunner r;
  const std::string kMessage =
      "test:4: while: the condition still holds after 3 trips, the given bound; raise max_trips, or end the loop "
      "earlier";
};

TEST_F(Checks, WhileUpToItsBound) {
  for (int size : {1, 1000}) {
    const Program f = Doubling(3, size);
    EXPECT_EQ(r.RunEverywhere(f, {{1.5}})[0][0], 144);
    EXPECT_EQ(r.RunEverywhere(f, {{1}})[0][0], 64);
    EXPECT_EQ(r.RunEverywhere(f, {{9}})[0][0], 81);
    EXPECT_EQ(r.RunEverywhere(Doubling(0, size), {{9}})[0][0], 81);
  }
}

TEST_F(Checks, WhileBeyondItsBound) {
  for (int size : {1, 1000}) {
    ExpectBound(Doubling(3, size), {{0.5}}, {{1}}, {64});
    EXPECT_NE(r.RunError(Doubling(0, size), {{1}}).find("after 0 trips"), std::string::npos);
  }
}

TEST_F(Checks, DerivativesOfAWhileBeyondItsBound) {
  for (int size : {1, 1000}) {
    const Program f = Doubling(3, size);
    ExpectBound(r.Grad(f), {{0.5}}, {{1}}, {128});
    ExpectBound(r.Grad(f, {0}, /*with_value=*/true), {{0.5}}, {{1.5}}, {192});
    ExpectBound(r.Jvp(f, {1}), {{0.5}, {1}}, {{1}, {1}}, {128});
    ExpectBound(r.Jvp(r.Grad(f), {1}), {{0.5}, {1}}, {{1}, {1}}, {128});
    ExpectBound(r.Grad(r.Grad(f)), {{0.5}}, {{1}}, {128});
  }
}

TEST_F(Checks, OneLaneBeyondTheBoundFailsTheRun) {
  const Numbers within = {1, 9, 4, 2, 3, 1.5, 5, 8, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1};
  Numbers beyond = within, want, slope;
  beyond[17] = 0.99;
  for (double x : within) {
    double y = x;
    while (y < 8) y += y;
    want.push_back(y * y);
    slope.push_back(2 * y * y / x);
  }
  for (int size : {1, 1000}) {
    SCOPED_TRACE(size);
    const Program f = Doubling(3, size);
    ExpectBound(r.Vmap(f, {0}, {0}, 18), {beyond}, {within}, want);
    ExpectBound(r.Batch(f, {1}, 18), {beyond}, {within}, want);
    ExpectBound(r.Vmap(r.Grad(f), {0}, {0}, 18), {beyond}, {within}, slope);
    ExpectBound(r.Batch(r.Grad(f), {1}, 18), {beyond}, {within}, slope);
  }
}

TEST_F(Checks, WithinAScan) {
  const Program f = r.Parse(R"(
program total(%xs: f64[5]) {
  %zero: f64[] = constant 0.0
  %sum: f64[] = scan(%zero, %xs) length=5 num_consts=0 num_carry=1 body=program trip(%s: f64[], %x: f64[]) {
    %end: f64[] = while(%x) cond_nconsts=0 body_nconsts=0 max_trips=3 cond=program going_on(%v: f64[]) {
      %eight: f64[] = constant 8.0
      %less: bool[] = lt(%v, %eight)
      return %less
    } body=program twice(%v: f64[]) {
      %next: f64[] = add(%v, %v)
      return %next
    }
    %t: f64[] = add(%s, %end)
    return %t
  }
  return %sum
})");
  const std::string message = Replaced(kMessage, "test:4", "test:5");
  EXPECT_EQ(r.RunError(f, {{1, 2, 0.5, 4, 5}}), message);
  EXPECT_EQ(r.RunEverywhere(f, {{1, 2, 3, 4, 5}})[0][0], 8 + 8 + 12 + 8 + 10);
  const Program g = r.Grad(f);
  EXPECT_EQ(r.RunError(g, {{1, 2, 3, 4, 0.25}}), message);
  ExpectNear(r.RunEverywhere(g, {{1, 2, 3, 4, 5}})[0], {8, 4, 4, 2, 2}, 1e-12);
  const Program lanes = r.Vmap(g, {0}, {0}, 2);
  EXPECT_EQ(r.RunError(lanes, {{1, 2, 3, 4, 5, 1, 2, 3, 4, 0.25}}), message);
  ExpectNear(r.RunEverywhere(lanes, {{1, 2, 3, 4, 5, 5, 4, 3, 2, 1}})[0], {8, 4, 4, 2, 2, 2, 2, 4, 4, 8}, 1e-12);
}

TEST_F(Checks, CheckIsTheIdentityWithACondition) {
  const Program f = r.Parse(R"(
program safe_log(%x: f64[]) {
  %zero: f64[] = constant 0.0
  %positive: bool[] = gt(%x, %zero)
  %y: f64[] = check(%positive, %x) code=3 message="safe_log: the argument must be positive"
  %z: f64[] = log(%y)
  return %z
})");
  const std::string message = "test:5: check: safe_log: the argument must be positive";
  EXPECT_EQ(r.RunEverywhere(f, {{1}})[0][0], 0);
  EXPECT_EQ(r.RunError(f, {{-1}}), message);
  EXPECT_NEAR(r.RunEverywhere(r.Grad(f), {{4}})[0][0], 0.25, 1e-12);
  EXPECT_EQ(r.RunError(r.Grad(f), {{-4}}), message);
  EXPECT_NEAR(r.RunEverywhere(r.Grad(r.Grad(f)), {{4}})[0][0], -1.0 / 16, 1e-12);
  ExpectNear(r.RunEverywhere(r.Vmap(r.Grad(f), {0}, {0}, 3), {{1, 2, 4}})[0], {1, 0.5, 0.25}, 1e-12);
  EXPECT_EQ(r.RunError(r.Batch(f, {1}, 3), {{1, 2, -4}}), message);
  EXPECT_EQ(r.RunError(r.Vmap(f, {0}, {0}, 3), {{1, -2, 4}}), message);
}

TEST_F(Checks, AConstantThatFailsIsNotFoldedAway) {
  const Program f = r.Parse(R"(
program never(%x: f64[]) {
  %no: bool[] = constant false
  %one: f64[] = constant 1.0
  %y: f64[] = check(%no, %one) code=9 message="never"
  %z: f64[] = add(%x, %y)
  return %z
})");
  EXPECT_EQ(r.RunError(f, {{1}}), "test:5: check: never");
}

TEST_F(Checks, WrongChecks) {
  EXPECT_EQ(r.ParseError("program f(%x: f64[]) {\n  %y: f64[] = check(%x, %x) code=3 message=\"no\"\n  return %y\n}"),
            "test:2: check: the condition is f64[], not bool[]");
  EXPECT_EQ(r.ParseError("program f(%p: bool[], %x: f64[]) {\n  %y: f64[] = check(%p, %x) code=0 message=\"no\"\n  "
                         "return %y\n}"),
            "test:2: check: 0 is not the code of a failure; give one from 1 to 16");
}

// A bound call reports the failure each time, and the status has the site.
TEST_F(Checks, BoundCallsReportAndGoOn) {
  const Program f = Doubling(3);
  for (const std::string& kind : r.Devices()) {
    ricci_compile_opts o{};
    o.hdr.size = sizeof o;
    ricci_device* const on = ricci_device_find(r.ctx(), kind.data(), kind.size());
    o.devices = &on;
    o.n_devices = 1;
    ricci_executable* x = nullptr;
    ricci_call* call = nullptr;
    ASSERT_TRUE(Ok(ricci_compile(f.get(), &o, &x)));
    ASSERT_TRUE(Ok(ricci_call_create(x, &call)));
    double in = 0, out = 0;
    ASSERT_TRUE(Ok(ricci_call_bind(call, 0, &in, sizeof in)));
    ASSERT_TRUE(Ok(ricci_call_bind(call, 1, &out, sizeof out)));
    for (double value : {1.0, 0.5, 2.0, 0.25, 4.0}) {
      in = value;
      ricci_status* s = ricci_call_run(call);
      EXPECT_EQ(ricci_status_code(s), value < 1 ? uint32_t{RICCI_OUT_OF_RANGE} : 0u) << kind;
      ricci_str prim, rule, file;
      uint32_t line;
      ricci_status_site(s, &prim, &rule, &file, &line);
      EXPECT_EQ(std::string(prim.ptr, prim.len), value < 1 ? "while" : "");
      EXPECT_EQ(line, value < 1 ? 4u : 0u);
      EXPECT_EQ(s == nullptr ? out : 64, 64) << kind;
      ricci_status_free(s);
    }
    ricci_call_release(call);
    ricci_executable_release(x);
  }
}

}  // namespace
}  // namespace ricci::testing
