// LoweredProgram: a context with the built-in rows, and programs as text after all passes: their kernels, their
// results, and the results of the same program without passes.
#ifndef RICCI_TESTS_PASS_LOWERED_PROGRAM_H_
#define RICCI_TESTS_PASS_LOWERED_PROGRAM_H_
#include <cmath>
#include <memory>

#include "base/status_abi.h"
#include "pass/pipeline.h"
#include "support/small_program.h"

namespace ricci::testing {

class LoweredProgram : public SmallProgram {
 protected:
  std::unique_ptr<pass::Lowered> Lower(std::string_view text, pass::Options options = {}) {
    ricci_program* f = Parse(text);
    if (f == nullptr) return std::make_unique<pass::Lowered>();
    auto lowered = pass::Lower(*ir::FromAbi(f), options);
    ricci_program_release(f);
    EXPECT_TRUE(lowered.ok()) << lowered.status();
    return lowered.ok() ? *std::move(lowered) : std::make_unique<pass::Lowered>();
  }
  // Of a device that runs many points at once.
  static pass::Options OfManyPoints() {
    ricci_target numbers = pass::TypicalTarget();
    numbers.points_wanted = 1 << 16;
    pass::Options options;
    options.target = pass::Target("ref", numbers);
    return options;
  }
  // Names and domains of the kernels in the order of the plan: "add[4,3] reduce_sum[]".
  static std::string Kernels(const pass::Lowered& l) {
    std::string text;
    for (const kernel::Kernel& k : l.kernels) {
      text += (text.empty() ? "" : " ") + k.name + "[";
      for (size_t d = 0; d < k.domain.size(); ++d) text += (d == 0 ? "" : ",") + std::to_string(k.domain[d]);
      text += "]";
    }
    return text;
  }
  // All results as doubles; parameters (f32) are filled with numbers between -1 and 1.
  static std::vector<double> Run(const pass::Lowered& l) {
    std::vector<std::vector<float>> arrays;
    std::vector<void*> inputs, outputs;
    for (const ricci_plan_buffer& b : l.plan.buffers) {
      if (b.kind != RICCI_BUFFER_INPUT && b.kind != RICCI_BUFFER_OUTPUT) continue;
      std::vector<float>& a = arrays.emplace_back(b.bytes / sizeof(float) + 1);
      for (size_t i = 0; i < a.size(); ++i)
        a[i] = static_cast<float>(std::sin(static_cast<double>(i * (b.index + 1)) * 0.7 + b.index));
      auto& list = b.kind == RICCI_BUFFER_INPUT ? inputs : outputs;
      list.resize(std::max<size_t>(list.size(), b.index + 1));
      list[b.index] = a.data();
    }
    const kernel::KernelViews kernels(l.kernels);
    std::vector<std::max_align_t> arena(l.plan.arena_bytes / sizeof(std::max_align_t) + 1);
    EXPECT_EQ(
        kernel::Interpret(l.plan.View(), kernels.data(), kernels.size(), inputs.data(), outputs.data(), arena.data()),
        absl::OkStatus());
    std::vector<double> values;
    for (const ricci_plan_buffer& b : l.plan.buffers) {
      if (b.kind != RICCI_BUFFER_OUTPUT) continue;
      const auto* a = static_cast<const float*>(outputs[b.index]);
      values.insert(values.end(), a, a + b.bytes / sizeof(float));
    }
    return values;
  }
  // The program gives the same numbers as when each equation runs by itself.
  void ExpectSameAsReference(std::string_view text, double tolerance = 2e-5, const pass::Options& options = {}) {
    pass::Options reference;
    reference.reference = true;
    const std::vector<double> got = Run(*Lower(text, options)), want = Run(*Lower(text, reference));
    ASSERT_EQ(got.size(), want.size());
    for (size_t i = 0; i < got.size(); ++i) {
      if (std::isnan(got[i]) && std::isnan(want[i])) continue;
      ASSERT_NEAR(got[i], want[i], tolerance * (1 + std::abs(want[i]))) << "element " << i << " of\n" << text;
    }
  }
};

}  // namespace ricci::testing
#endif
