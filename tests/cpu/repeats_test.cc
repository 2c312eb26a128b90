// Repeated steps of a plan have code once: which steps, that results are the same, that library calls stay separate.
#include "codegen/repeats.h"

#include <random>

#include "base/status.h"
#include "library_row.h"
#include "support/program_runner.h"

namespace ricci::testing { namespace {

using codegen::Repeat;

std::string ToText(const std::vector<Repeat>& repeats) {
  std::string text;
  for (const Repeat& r : repeats) {
    text += (text.empty() ? "" : " ") + std::to_string(r.first) + "+" + std::to_string(r.period) +
            (r.times == 1 ? "" : "x" + std::to_string(r.times));
  }
  return text;
}
std::string Found(std::string_view steps, uint32_t worth = 1) {
  const std::vector<uint32_t> numbers(steps.begin(), steps.end());
  return ToText(codegen::RepeatsOf(numbers, worth));
}

TEST(Repeats, AreFoundWhereTheyBegin) {
  EXPECT_EQ(Found(""), "");
  EXPECT_EQ(Found("abcd"), "0+4");
  EXPECT_EQ(Found("aaaa"), "0+1x4");
  EXPECT_EQ(Found("xyabcabcabcz"), "0+2 2+3x3 11+1");
  EXPECT_EQ(Found("ababcababcababc"), "0+5x3") << "not the shorter one";
  EXPECT_EQ(Found("abababa"), "0+2x3 6+1") << "part of a trip is none";
  EXPECT_EQ(Found("aaaabcbcbc", 4), "0+4 4+2x3") << "three are not worth a loop";
}

// The runs found cover all steps in order, repeat equal steps only, and save enough.
TEST(Repeats, OfRandomSteps) {
  std::mt19937 random(1);
  const auto below = [&](uint32_t n) { return static_cast<uint32_t>(random() % n); };
  for (int round = 0; round < 2000; ++round) {
    std::vector<uint32_t> steps, body(1 + below(6));
    for (int part = 0; part < 4; ++part) {
      for (uint32_t& s : body) s = below(4);
      for (uint32_t trips = below(9); trips > 0; --trips) steps.insert(steps.end(), body.begin(), body.end());
      for (uint32_t n = below(4); n > 0; --n) steps.push_back(below(4));
    }
    const uint32_t worth = 1 + below(8);
    uint32_t due = 0;
    for (const Repeat& r : codegen::RepeatsOf(steps, worth)) {
      ASSERT_EQ(r.first, due);
      ASSERT_TRUE(r.times == 1 || r.period * (r.times - 1) >= worth);
      for (uint32_t i = r.first + r.period; i < r.end(); ++i) ASSERT_EQ(steps[i], steps[i - r.period]);
      due = r.end();
    }
    ASSERT_EQ(due, steps.size());
  }
}

// A thousand steps of two kernels.
TEST(Repeats, NeedCodeOnce) {
  ProgramRunner r;
  const auto text = [](int trips) {
    std::string out = "program f(%x0: f32[7,9]) {\n";
    for (int i = 0; i < trips; ++i) {
      out += base::Cat("  %y", i, ": f32[7,9] = cumsum(%x", i, ") axis=0 reverse=false\n  %x", i + 1,
                       ": f32[7,9] = cummax(%y", i, ") axis=1 reverse=true\n");
    }
    return base::Cat(out, "  return %x", trips, " }");
  };
  const auto code_bytes = [&](int trips) {
    ricci_compile_opts o{};
    o.hdr.size = sizeof o;
    ricci_device* const on = ricci_device_find(r.ctx(), "cpu", 3);
    o.devices = &on;
    o.n_devices = 1;
    ricci_executable* x = nullptr;
    ricci_executable_stats info{};
    info.hdr.size = sizeof info;
    EXPECT_TRUE(Ok(ricci_compile(r.Parse(text(trips)).get(), &o, &x)));
    ricci_executable_info(x, &info);
    ricci_executable_release(x);
    return info.code_bytes;
  };
  EXPECT_LT(code_bytes(500), code_bytes(20) + 1024);
  Numbers in(63);
  for (size_t i = 0; i < in.size(); ++i) in[i] = 0.001 * static_cast<double>(i % 11) - 0.004;
  r.RunEverywhere(r.Parse(text(40)), {in});
}

// ---- each library call gets its own state ----
struct Calls {
  std::vector<std::unique_ptr<std::pair<Calls*, int>>> states;
  std::vector<int> launched;
};
ricci_status* Plan(void* self, const ricci_op*, ricci_library_plan* out) {
  auto* calls = static_cast<Calls*>(self);
  calls->states.push_back(std::make_unique<std::pair<Calls*, int>>(calls, static_cast<int>(calls->states.size())));
  out->state = calls->states.back().get();
  out->tasks = 1;
  return nullptr;
}
ricci_status* Launch(void* state, const ricci_launch* l) {
  const auto& [calls, number] = *static_cast<std::pair<Calls*, int>*>(state);
  calls->launched.push_back(number);
  *static_cast<float*>(l->out[0]) = *static_cast<const float*>(l->in[0]) + 1;
  return nullptr;
}
constexpr ricci_library kLibrary = {{sizeof(ricci_library), 0, nullptr}, Plan, Launch, [](void*) {}};

TEST(Repeats, LibraryCallsKeepTheirStates) {
  ProgramRunner r;
  Calls calls;
  ASSERT_TRUE(Ok(RegisterLibraryRow(r.ctx(), "test.call", kLibrary, &calls)));
  std::string text = "program f(%x0: f32[]) {\n";
  for (int i = 0; i < 150; ++i) text += base::Cat(" %x", i + 1, ": f32[] = test.call(%x", i, ")\n");
  EXPECT_EQ(r.Run(r.Parse(text + " return %x150 }"), {{0}}, "cpu")[0][0], 150);
  ASSERT_EQ(calls.launched.size(), 150u);
  for (int i = 0; i < 150; ++i) EXPECT_EQ(calls.launched[static_cast<size_t>(i)], calls.launched[0] + i);
}

}  // namespace
}  // namespace ricci::testing
