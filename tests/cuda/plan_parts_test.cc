// Parts of plans: which steps are graphs, and why the host takes part.
#include "cuda/run/plan_parts.h"

#include <gtest/gtest.h>

#include <algorithm>

#include "kernel/kernel.h"

namespace ricci::testing { namespace {

// A plan from its steps: k is a kernel, c a copy, L a library call, E one that only enqueues, H a call of the
// host; [ : ] a WHILE with its
// predicate and body, { , } a CASE with its branches.
class PlanText {
 public:
  explicit PlanText(std::string_view text) {
    constexpr std::pair<char, uint32_t> kKinds[] = {
        {'k', RICCI_STEP_KERNEL},  {'c', RICCI_STEP_COPY},  {'L', RICCI_STEP_LIBRARY}, {'H', RICCI_STEP_LIBRARY},
        {'E', RICCI_STEP_LIBRARY}, {'[', RICCI_STEP_WHILE}, {':', RICCI_STEP_COND},    {']', RICCI_STEP_END},
        {'{', RICCI_STEP_CASE},    {',', RICCI_STEP_NEXT},  {'}', RICCI_STEP_END}};
    for (const char c : text) {
      const auto* const kind = std::find_if(std::begin(kKinds), std::end(kKinds), [=](auto k) { return k.first == c; });
      EXPECT_NE(kind, std::end(kKinds)) << c;
      if (kind == std::end(kKinds)) continue;
      uint32_t index = 0;
      if (kind->second == RICCI_STEP_LIBRARY) {
        index = static_cast<uint32_t>(plan_.libraries.size());
        ricci_plan_library& call = plan_.libraries.emplace_back();
        call.flags = c == 'H' ? uint32_t{RICCI_CALL_ON_HOST} : c == 'E' ? uint32_t{RICCI_CALL_ONLY_ENQUEUES} : 0;
      }
      plan_.Step(kind->second, index, {});
    }
  }
  // `2-5 loops, 6-8; why`: each part from its first step to the one after its last.
  std::string Parts(const std::string& why_no_conditions = "") const {
    const ricci_plan p = plan_.View();
    const cuda::PlanParts parts = cuda::PartsOf(p, cuda::PlanBlocks(p), why_no_conditions);
    EXPECT_EQ(parts.is_one(), parts.for_captures.empty());
    std::string text;
    for (const cuda::PlanPart& part : parts.parts) {
      text += (text.empty() ? "" : ", ") + std::to_string(part.steps.first) + "-" + std::to_string(part.steps.last);
      if (part.has_loops) text += " loops";
      if (part.has_blocks && !part.has_loops) text += " branches";
      if (part.has_choices) text += " choices";
    }
    return parts.is_one() ? text : text + "; " + parts.why_not_one;
  }

 private:
  kernel::Plan plan_;
};
std::string Parts(std::string_view steps, const std::string& why_no_conditions = "") {
  return PlanText(steps).Parts(why_no_conditions);
}

constexpr const char* kHost = "; the plan calls functions of the host";
constexpr const char* kLibrary = "; the plan has library calls";

TEST(PlanParts, APlanWithoutCallsIsOne) {
  EXPECT_EQ(Parts(""), "0-0");
  EXPECT_EQ(Parts("k"), "0-1");
  EXPECT_EQ(Parts("kck"), "0-3");
  EXPECT_EQ(Parts("k[k:k]k"), "0-7 loops");
  EXPECT_EQ(Parts("{k,}"), "0-4 branches");
  EXPECT_EQ(Parts("{k,[k:k]k}"), "0-10 loops choices");
}

TEST(PlanParts, CallsDivideAPlan) {
  EXPECT_EQ(Parts("kkHkck"), std::string("0-2, 3-6") + kHost);
  EXPECT_EQ(Parts("kkLkk"), std::string("0-2, 3-5") + kLibrary);
  EXPECT_EQ(Parts("LkkHL"), std::string("1-3") + kLibrary) << "the first reason";
}

TEST(PlanParts, CallsThatOnlyEnqueueDoNot) {
  EXPECT_EQ(Parts("E"), "0-1");
  EXPECT_EQ(Parts("kEkE"), "0-4");
  EXPECT_EQ(Parts("k[kE:kE]{E,k}"), "0-13 loops choices");
  EXPECT_EQ(Parts("EkLkE"), std::string("0-2, 3-5") + kLibrary);
  EXPECT_EQ(Parts("HE"), kHost) << "one launch";
  EXPECT_EQ(Parts("[k:kE]", "the driver is old"), "3-5; the plan has loops or branches, and the driver is old");
}

TEST(PlanParts, OneLaunchIsNoPart) {
  EXPECT_EQ(Parts("kHkHkk"), std::string("4-6") + kHost);
  EXPECT_EQ(Parts("H"), kHost);
  EXPECT_EQ(Parts("{,}H"), kHost) << "nothing but the choice";
  EXPECT_EQ(Parts("{k,}H[k:]"), std::string("0-4 branches, 5-9 loops") + kHost);
}

TEST(PlanParts, WithinLoopsAndBranchesOfTheHost) {
  EXPECT_EQ(Parts("kk[kk:kkH]kk"), std::string("0-2, 3-5, 6-8, 10-12") + kHost);
  EXPECT_EQ(Parts("{kk,kkL,[k:k]}kk"), std::string("1-3, 4-6, 8-13 loops, 14-16") + kLibrary);
  EXPECT_EQ(Parts("[k:{H,kk}]"), std::string("6-8") + kHost);
}

TEST(PlanParts, ALoopInWhatAsks) {
  EXPECT_EQ(Parts("[[k:k]k:kk]kk"),
            "1-7 loops, 8-10, 11-13; what computes the predicate of a loop has loops or branches itself");
}

TEST(PlanParts, WithoutConditionalNodes) {
  const std::string why = "; the plan has loops or branches, and the driver is old";
  EXPECT_EQ(Parts("kk[k:kk]kk", "the driver is old"), "0-2, 5-7, 8-10" + why);
  EXPECT_EQ(Parts("{kk,{k,kk}}", "the driver is old"), "1-3, 7-9" + why);
  EXPECT_EQ(Parts("kk", "the driver is old"), "0-2");
}

}}  // namespace ricci::testing
