// Runs that the host ends, by a request or a deadline: on every backend, wherever the run is, they end soon.
#include <gtest/gtest.h>

#include <atomic>
#include <chrono>
#include <functional>
#include <thread>

#include "backend_with.h"
#include "cpu/run/run_state.h"
#include "stoppable_run.h"

namespace ricci::testing { namespace {

constexpr double kSoon = 2;  // seconds, on a slow machine
constexpr std::chrono::milliseconds kLater{20};

std::string Replaced(std::string text, const std::string& from, const std::string& to) {
  for (size_t at = text.find(from); at != std::string::npos; at = text.find(from, at + to.size())) {
    text.replace(at, from.size(), to);
  }
  return text;
}

// A loop that never ends: halving never reaches 1.
std::string Endless(const std::string& type) {
  return Replaced(
      "while(%x) cond_nconsts=0 body_nconsts=0 cond=program(%a: T) { %l: T = constant 1.0  %p: bool[] = lt(%a, %l)"
      "  return %p } body=program(%a: T) { %h: T = constant 0.5  %b: T = mul(%a, %h)  return %b }",
      "T", type);
}

// The same as a loop of the plan: its carry is large, and each trip runs at least one kernel.
std::string EndlessInThePlan() {
  return "while(%x) cond_nconsts=0 body_nconsts=0 cond=program(%a: f64[300,300]) {"
         "  %s: f64[] = reduce_max(%a) axes=[0,1]  %l: f64[] = constant 1.0  %p: bool[] = lt(%s, %l)  return %p }"
         " body=program(%a: f64[300,300]) { %t: f64[300,300] = transpose(%a) permutation=[1,0]"
         "  %h: f64[300,300] = constant 0.5  %b: f64[300,300] = mul(%t, %h)  return %b }";
}

std::string Long(const std::string& trips, const std::string& body) {
  return "scan(%x) length=" + trips + " num_consts=0 num_carry=1 body=program(%a: f64[]) { " + body + " return %b }";
}

// A body that becomes several functions if the bound is low, with a long loop in one of them.
std::string ManyOperations() {
  std::string text = "%b0: f64[] = sin(%a) ";
  for (int i = 1; i < 60; ++i) {
    const std::string before = "%b" + std::to_string(i - 1);
    text += "%b" + std::to_string(i) + ": f64[] = " + (i % 3 == 0 ? "sin(" : "mul(%a, ") + before + ") ";
  }
  return text + "%l: f64[] = " + Replaced(Long("1000000000000", "%b: f64[] = cos(%a)"), "%x", "%b59") +
         " %b: f64[] = add(%a, %l)";
}

std::string ManyProducts() {
  std::string text;
  for (int i = 0; i < 1000; ++i) {
    const std::string before = i == 0 ? "%x" : "%y" + std::to_string(i - 1);
    text += "%y" + std::to_string(i) + ": f64[600,600] = dot_general(" + before +
            ", %x) lhs_contract=[1] rhs_contract=[0] ";
  }
  return text + "return %y999 }";
}

struct Example {
  const char* name;
  std::string text;
  bool fused = false;  // without fusion its arrays would take terabytes
};

std::vector<Example> Examples() {
  const std::string f = "program f(%x: f64[]) { %y: f64[] = ", end = " return %y }";
  const std::string four_loops = Long(
      "1000",
      "%b: f64[] = " +
          Replaced(Long("1000", "%b: f64[] = " + Replaced(Long("1000", "%b: f64[] = " + Replaced(Long("1000",
                                                                                                      "%b: f64[] = "
                                                                                                      "sin(%a)"),
                                                                                                 "%x", "%a")),
                                                          "%x", "%a")),
                   "%x", "%a"));
  const std::string vmap =
      "program f(%x: f64[1000]) { %y: f64[1000] = vmap(%x) size=1000 in_axes=[0] out_axes=[0] schedule=\"lanes\""
      " body=program(%x: f64[]) { %y: f64[] = ";
  return {
      {"while in a kernel", f + Endless("f64[]") + end},
      {"scan in a kernel", f + Long("1000000000000", "%b: f64[] = sin(%a)") + end},
      {"scan within scans", f + four_loops + end},
      {"while in the plan", "program f(%x: f64[300,300]) { %y: f64[300,300] = " + EndlessInThePlan() + " return %y }"},
      {"while in lanes", vmap + Endless("f64[]") + " return %y } return %y }"},
      {"scan in lanes", vmap + Long("1000000000000", "%b: f64[] = sin(%a)") + " return %y } return %y }"},
      {"several functions", f + Long("1000000000000", ManyOperations()) + end},
      {"several functions in lanes", vmap + Long("1000000000000", ManyOperations()) + " return %y } return %y }"},
      {"large reduction",
       "program f(%x: f64[]) { %i: f64[2000000,500000] = iota() dtype=f64 shape=[2000000,500000] dimension=1"
       "  %j: f64[2000000,500000] = sin(%i) %y: f64[] = reduce_sum(%j) axes=[0,1] return %y }",
       true},
      {"large rows",
       "program f(%x: f64[]) { %i: f64[2000,500000000] = iota() dtype=f64 shape=[2000,500000000] dimension=1"
       "  %j: f64[2000,500000000] = sin(%i) %y: f64[2000] = reduce_max(%j) axes=[1] return %y }",
       true},
      {"many points",
       "program f(%x: f64[1000000]) { %y: f64[1000000] = vmap(%x) size=1000000 in_axes=[0] out_axes=[0]"
       " body=program(%x: f64[]) { %y: f64[] = " +
           Long("1000000", "%b: f64[] = sin(%a)") + " return %y } return %y }"},
      {"products in a loop",
       "program f(%x: f64[300,300]) { %y: f64[300,300] = scan(%x) length=1000000000 num_consts=0 num_carry=1"
       " body=program(%a: f64[300,300]) { %b: f64[300,300] = dot_general(%a, %a) lhs_contract=[1] rhs_contract=[0]"
       " return %b } return %y }"},
      {"products one after another", "program f(%x: f64[600,600]) { " + ManyProducts()},
  };
}

// The run ends within kSoon, with this code.
void ExpectEnd(StoppableRun& run, uint32_t code, const std::function<uint32_t()>& end, const std::string& what) {
  const uint64_t start = MonotonicNanoseconds();
  EXPECT_EQ(end(), code) << what << ": " << run.message();
  const double seconds = static_cast<double>(MonotonicNanoseconds() - start) * 1e-9;
  EXPECT_LT(seconds, kSoon) << what;
  const char* message = code == RICCI_CANCELLED ? "run cancelled by the host" : "run passed its deadline";
  EXPECT_NE(run.message().find(message), std::string::npos) << what << ": " << run.message();
}

void ExpectCancelled(StoppableRun& run, const std::string& what) {
  uint32_t word = 0;
  std::thread host([&] {
    std::this_thread::sleep_for(kLater);
    std::atomic_ref(word).store(1, std::memory_order_relaxed);
  });
  ExpectEnd(
      run, RICCI_CANCELLED, [&] { return run.Run(&word); }, what + ", cancelled later");
  host.join();
  ExpectEnd(
      run, RICCI_CANCELLED, [&] { return run.Run(&word); }, what + ", cancelled before");
}

void ExpectLate(StoppableRun& run, const std::string& what) {
  const uint64_t now = MonotonicNanoseconds();
  const uint64_t deadline = now + std::chrono::nanoseconds(kLater).count();
  ExpectEnd(
      run, RICCI_DEADLINE_EXCEEDED, [&] { return run.Run(nullptr, deadline); }, what + ", deadline ahead");
  EXPECT_GE(MonotonicNanoseconds(), deadline) << what;
  const uint32_t word = 0;
  ExpectEnd(
      run, RICCI_DEADLINE_EXCEEDED, [&] { return run.Run(&word, now); }, what + ", deadline passed");
}

TEST(Cancel, EndsARunWhereverItIs) {
  ProgramRunner r;
  for (const Example& example : Examples()) {
    const Program f = r.Parse(example.text);
    ASSERT_NE(f, nullptr) << example.name;
    for (const std::string& device : r.Devices()) {
      if (example.fused && device == "ref") continue;
      StoppableRun run(r.ctx(), f, device);
      const std::string what = device + ", " + example.name;
      ExpectCancelled(run, what);
      ExpectLate(run, what);
    }
  }
}

cpu::Settings ShortFunctions() {
  cpu::Settings settings;
  settings.cuts.region_code = 64;
  settings.cuts.piece_steps = 2;
  return settings;
}

// A function that is left in the middle ends its callers.
TEST(Cancel, EndsARunInFunctionsOfFunctions) {
  ProgramRunner r;
  ASSERT_TRUE(Ok(ricci_context_add_plugin(r.ctx(), QueryBackendWith<ShortFunctions>)));
  for (const Example& example : Examples()) {
    const Program f = r.Parse(example.text);
    const std::string name = example.name, native = r.Dump(f, "native", "cpu");
    EXPECT_TRUE(name.find("several functions") != 0 || native.find("_region2(") != std::string::npos) << name;
    EXPECT_TRUE(name != "products one after another" || native.find("@piece") != std::string::npos) << name;
    EXPECT_TRUE(name != "while in the plan" || r.Dump(f, "plan", "cpu").find("while") != std::string::npos) << name;
    StoppableRun run(r.ctx(), f, "cpu");
    ExpectCancelled(run, name);
  }
}

// The text of the code shows that a long loop runs as blocks of trips.
TEST(Cancel, OnlyLongLoopsPoll) {
  ProgramRunner r;
  const auto polls = [&](const std::string& trips) {
    const Program f =
        r.Parse("program f(%x: f64[]) { %y: f64[] = " + Long(trips, "%b: f64[] = sin(%a)") + " return %y }");
    return r.Dump(f, "native", "cpu").find("ricci_cpu_stopped") != std::string::npos;
  };
  EXPECT_FALSE(polls("1000"));
  EXPECT_TRUE(polls("10000"));
}

// Counts to the argument, alone and in lanes that end one after another.
constexpr const char* kCount =
    "while(%z, %n) cond_nconsts=0 body_nconsts=0 cond=program(%i: f64[], %n: f64[]) { %p: bool[] = lt(%i, %n)"
    "  return %p } body=program(%i: f64[], %n: f64[]) { %o: f64[] = constant 1.0  %j: f64[] = add(%i, %o)"
    "  return %j, %n }";

TEST(Cancel, TheSameCodeRunsAgain) {
  ProgramRunner r;
  const std::string count = "%z: f64[] = constant 0.0  %i: f64[], %m: f64[] = " + std::string(kCount);
  const Program one = r.Parse("program f(%n: f64[]) { " + count + " return %i }");
  const Program lanes = r.Parse(
      "program f(%x: f64[50]) { %y: f64[50] = vmap(%x) size=50 in_axes=[0] out_axes=[0]"
      " body=program(%n: f64[]) { " +
      count + " return %i } return %y }");
  for (const std::string& device : r.Devices()) {
    for (const Program* f : {&one, &lanes}) {
      const int n = f == &one ? 1 : 50;
      StoppableRun run(r.ctx(), *f, device);
      for (int i = 0; i < n; ++i) run.argument(0)[i] = i % 3 == 0 ? 1e15 : 100 * i;
      ExpectCancelled(run, device);
      for (int i = 0; i < n; ++i) run.argument(0)[i] = 5000 + 100 * i;
      const uint32_t word = 0;
      for (int watched = 0; watched < 2; ++watched) {
        EXPECT_EQ(run.Run(watched != 0 ? &word : nullptr, watched != 0 ? ~uint64_t{0} : 0),
                  static_cast<uint32_t>(RICCI_OK));
        for (int i = 0; i < n; ++i) EXPECT_EQ(run.result(0)[i], 5000 + 100 * i) << device;
      }
    }
  }
}

// Bits are the same whether or not the host can end the run: blocks of trips are always there, and values in registers
// survive a poll.
TEST(Cancel, AWatchedRunGivesTheSameBits) {
  const std::string turns =
      "scan(%x, %x, %x) length=5000 num_consts=0 num_carry=3 body=program(%a: T, %b: T, %c: T) {"
      " %s: T = sin(%b) %d: T = mul(%s, %a) %e: T = add(%d, %c) %f: T = cos(%e) %g: T = sub(%a, %f) return %f, %g, %s "
      "}";
  const std::string results = "%p: T, %q: T, %r: T = " + turns + " %t: T = add(%p, %q) %u: T = add(%t, %r)";
  ProgramRunner r;
  const Program f = r.Parse(
      "program f(%x: f64[3000,500]) { %s: f64[3000,500] = sin(%x)  %0: f64[3000] = reduce_sum(%s) axes=[1]"
      "  %1: f64[500] = reduce_sum(%s) axes=[0]  %2: f64[] = reduce_sum(%s) axes=[0,1]"
      "  %3: f64[3000,500] = cumsum(%s) axis=0 reverse=false  %4: f64[500] = vmap(%1) size=500 in_axes=[0]"
      " out_axes=[0] schedule=\"lanes\" body=program(%x: f64[]) { " +
      Replaced(results, "T", "f64[]") + " return %u }  %x1: f64[] = sin(%2) " +
      Replaced(Replaced(results, "T", "f64[]"), "%x", "%x1") + " return %0, %1, %2, %3, %4, %u }");
  StoppableRun run(r.ctx(), f, "cpu");
  for (int i = 0; i < 1500000; ++i) run.argument(0)[i] = i * 1e-3;
  const size_t sizes[] = {3000, 500, 1, 1500000, 500, 1};
  ASSERT_EQ(run.Run(), static_cast<uint32_t>(RICCI_OK));
  std::vector<std::vector<double>> want;
  for (size_t i = 0; i < 6; ++i) want.emplace_back(run.result(i), run.result(i) + sizes[i]);
  const uint32_t word = 0;
  ASSERT_EQ(run.Run(&word, ~uint64_t{0}), static_cast<uint32_t>(RICCI_OK));
  for (size_t i = 0; i < 6; ++i) EXPECT_EQ(want[i], std::vector(run.result(i), run.result(i) + sizes[i])) << i;
}

// A run that has seen the request obeys it, even if the host takes it back.
TEST(Cancel, WhatWasSeenIsKept) {
  uint32_t word = 0;
  ricci_run_args args{};
  args.cancel = &word;
  cpu::RunState run{nullptr, &args, nullptr, 1, 0};
  EXPECT_EQ(cpu::RicciCpuStopped(&run, 0, 0), 0u);
  word = 7;
  EXPECT_EQ(cpu::RicciCpuStopped(&run, 0, 0), static_cast<uint32_t>(RICCI_CANCELLED));
  word = 0;
  args.deadline_ns = 1;
  EXPECT_EQ(cpu::RicciCpuStopped(&run, 0, 0), static_cast<uint32_t>(RICCI_CANCELLED));
}

}  // namespace
}  // namespace ricci::testing
