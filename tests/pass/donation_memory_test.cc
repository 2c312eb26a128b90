// Donation saves memory: a result is made in the memory of a donated argument, so the run needs exactly its bytes less.
// Counted in bytes of the arena and of results that have memory of their own, and on a device without room for more.
#include "pass/lowered_program.h"

namespace ricci::testing { namespace {

constexpr int64_t kVector = 1024 * sizeof(float), kAlignment = 64;

class DonationMemory : public LoweredProgram {
 protected:
  using Donated = std::vector<uint8_t>;

  std::unique_ptr<pass::Lowered> With(std::string_view text, const Donated& donate, std::string_view skip = {}) {
    auto stages = pass::ChooseStages("", skip);
    EXPECT_TRUE(stages.ok()) << stages.status();
    pass::Options options{.target = pass::Target("cpu")};
    options.donate = donate;
    options.stages = *stages;
    return Lower(text, options);
  }
  // What a run allocates.
  static int64_t Bytes(const pass::Lowered& l) {
    auto bytes = static_cast<int64_t>(l.plan.arena_bytes);
    for (const ricci_plan_buffer& b : l.plan.buffers) {
      const bool own = b.kind == RICCI_BUFFER_OUTPUT && (l.output_alias.empty() || l.output_alias[b.index] < 0);
      bytes += own ? static_cast<int64_t>(b.bytes) : 0;
    }
    return bytes;
  }
  // Without donation a run allocates `bytes`, with it `saved` less, for results that take the memory of these
  // arguments. Without the pass donation saves nothing.
  void Expect(std::string_view text, const Donated& donate, int64_t bytes, int64_t saved,
              const std::vector<int32_t>& alias) {
    const auto plain = With(text, {}), given = With(text, donate), off = With(text, donate, "in_place");
    const std::vector<int32_t> none(alias.size(), -1);
    EXPECT_EQ(plain->output_alias, none) << text;
    EXPECT_EQ(given->output_alias, alias) << text;
    EXPECT_EQ(Bytes(*plain), bytes) << text;
    EXPECT_EQ(Bytes(*given), bytes - saved) << text;
    EXPECT_EQ(given->plan.arena_bytes, plain->plan.arena_bytes) << "a result is never in the arena";
    EXPECT_TRUE(off->output_alias.empty()) << text;
    EXPECT_EQ(Bytes(*off), bytes) << text;
  }
};

constexpr std::string_view kStep = R"(
program step(%x: f32[1024], %g: f32[1024]) {
  %y: f32[1024] = add(%x, %g)
  return %y
})";

TEST_F(DonationMemory, AResultTakesTheMemoryOfAnArgument) {
  Expect(kStep, {1, 0}, kVector, kVector, {0});
  Expect(kStep, {0, 1}, kVector, kVector, {1});
  Expect(kStep, {1, 1}, kVector, kVector, {0});  // the first of them
  Expect(kStep, {0, 0}, kVector, 0, {-1});
}

TEST_F(DonationMemory, AnArgumentServesOneResult) {
  constexpr std::string_view kText = R"(
program f(%x: f32[1024], %y: f32[1024]) {
  %s: f32[1024] = add(%x, %y)
  %d: f32[1024] = sub(%x, %y)
  return %s, %d
})";
  Expect(kText, {1, 0}, 2 * kVector, kVector, {0, -1});
  Expect(kText, {0, 1}, 2 * kVector, kVector, {1, -1});
  Expect(kText, {1, 1}, 2 * kVector, 2 * kVector, {0, 1});
}

TEST_F(DonationMemory, NotIfOtherElementsOrBytesAreWritten) {
  Expect("program f(%x: f32[1024]) {\n  %r: f32[1024] = rev(%x) dimensions=[0]\n  return %r\n}", {1}, kVector, 0, {-1});
  Expect("program f(%x: f32[1024]) {\n  %h: f32[512] = slice(%x) start_indices=[0] limit_indices=[512]\n  return %h\n}",
         {1}, kVector / 2, 0, {-1});
}

// The product reads x after the kernel that makes the sum, which is why it has a kernel of its own.
TEST_F(DonationMemory, NotIfTheArgumentIsReadLater) {
  Expect(R"(
program f(%x: f32[32,32]) {
  %a: f32[32,32] = cumsum(%x) axis=0 reverse=false
  %p: f32[32,32] = dot_general(%a, %x) lhs_contract=[1] rhs_contract=[0]
  return %a, %p
})",
         {1}, 2 * kVector, 0, {-1, -1});
}

TEST_F(DonationMemory, AnUpdateIsWrittenIntoTheArgument) {
  Expect(R"(
program f(%cache: f32[32,32], %row: f32[1,32], %i: i32[]) {
  %zero: i32[] = constant 0
  %r: f32[32,32] = dynamic_update_slice(%cache, %row, %i, %zero)
  return %r
})",
         {1, 0, 0}, kVector, kVector, {0});
}

// The initial value of the carry is copied only if the caller keeps the argument.
TEST_F(DonationMemory, ACarryOfALoopIsTheArgument) {
  constexpr std::string_view kText = R"(
program f(%x: f32[1024], %w: f32[1024]) {
  %y: f32[1024] = scan(%w, %x) length=50 num_consts=1 num_carry=1 reverse=false run_in="plan" body=program(%w: f32[1024], %c: f32[1024]) {
    %n: f32[1024] = add(%c, %w)
    return %n
  }
  return %y
})";
  // The arena holds the loop's counter and its condition.
  Expect(kText, {1, 0}, kVector + 2 * kAlignment, kVector, {0});
  Expect(kText, {0, 1}, kVector + 2 * kAlignment, 0, {-1});  // every trip reads it
}

// A device with room for the two arguments and what every run needs: the result must be one of them.
class FullDevice : public SmallProgram {
 protected:
  static constexpr uint64_t kScratch = 512, kRun = kScratch + 256;  // and a word that says which check has failed
  FullDevice() : SmallProgram("late", {.memory_bytes = 2 * kVector + kRun, .scratch_bytes = kScratch}) {}
  uint64_t Free() {
    uint64_t total = 0, free = 0;
    EXPECT_TRUE(Ok(ricci_device_memory(device, &total, &free)));
    return free;
  }
};

TEST_F(FullDevice, StepsRunInTheMemoryOfTheirArgument) {
  ricci_executable* step = CompileText(kStep, {1, 0});
  ricci_array *x = Floats(std::vector<float>(1024, 1)), *g = Floats(std::vector<float>(1024, 0.5f));
  EXPECT_EQ(Free(), kRun);
  for (int i = 0; i < 5; ++i) {
    ricci_array *in[] = {x, g}, *out = nullptr;
    ASSERT_TRUE(Ok(ricci_executable_run(step, in, 2, &out, 1, nullptr)));
    ricci_array_release(x);
    x = out;
    EXPECT_EQ(Read(x), std::vector<float>(1024, 1.5f + 0.5f * static_cast<float>(i)));
    EXPECT_EQ(Free(), 0u) << "the next run needs the memory of this one again";
  }
  for (ricci_array* a : {x, g}) ricci_array_release(a);
  ricci_executable_release(step);
}

TEST_F(FullDevice, WithoutDonationThereIsNoRoom) {
  ricci_executable* step = CompileText(kStep);
  ricci_array *x = Floats(std::vector<float>(1024, 1)), *g = Floats(std::vector<float>(1024, 0.5f));
  ricci_array *in[] = {x, g}, *out = nullptr;
  EXPECT_EQ(ErrorOf(ricci_executable_run(step, in, 2, &out, 1, nullptr), RICCI_RESOURCE_EXHAUSTED),
            "late: 4096 bytes wanted, 0 bytes available");
  for (ricci_array* a : {x, g}) ricci_array_release(a);
  ricci_executable_release(step);
}

}  // namespace
}  // namespace ricci::testing
