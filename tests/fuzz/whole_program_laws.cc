#include "fuzz/whole_program_laws.h"

#include <algorithm>

namespace ricci::testing {
namespace {

bool AnyOf(const Mask& mask) { return std::count(mask.begin(), mask.end(), 1) != 0; }

// How many of the laws that apply to a program are checked.
constexpr double kShareOfLoops = 0.3, kShare = 0.7;

class Laws {
 public:
  Laws(const LawCase& c, LawCounts& counts)
      : ctx_(c.ctx),
        seed_(c.seed),
        special_(c.special),
        smooth_(c.smooth),
        dice_(c.seed ^ 0x6c617773),
        counts_(counts) {}

  Complaint CheckAll(const Program& program) {
    Program f = program;
    std::string of;
    if (dice_.Chance(0.25)) {
      const BatchAxes in = SomeInAxes(dice_, ParamsOf(ctx_, f.get()));
      if (!Made("vmap", [&] { return f = VmapOf(f, in, SomeOutAxes(dice_, ResultsOf(ctx_, f.get()))); })) return bad_;
      of = " of vmap";
    }
    const Mask active = FloatingOf(ParamsOf(ctx_, f.get()));
    const bool differentiable = AnyOf(active) && AnyOf(FloatingOf(ResultsOf(ctx_, f.get())));
    if (Complaint c = Law("loop" + of, [&](Dice& d) { return Loop(f, d); })) return c;
    if (!differentiable) return {};
    if (Complaint c = Law("dot" + of, [&](Dice& d) { return CheckDot(ctx_, f, d, seed_, counts_); })) return c;
    const Program backward = Made("backward" + of, [&] { return BackwardOf(ctx_, f, active); });
    if (bad_) return bad_;
    if (backward != nullptr) {
      if (Complaint c = Law("loop of backward" + of, [&](Dice& d) { return Loop(backward, d); })) return c;
    }
    const Program plain = WithoutCustomRules(f);
    const Program jvp = Made("jvp" + of, [&] { return JvpOf(plain, active); });
    if (bad_) return bad_;
    if (jvp != nullptr) {
      if (Complaint c = Law("loop of jvp" + of, [&](Dice& d) { return Loop(jvp, d); })) return c;
    }
    if (!smooth_) return {};
    if (Complaint c = Law("difference" + of, [&](Dice& d) { return CheckDifference(ctx_, plain, d, seed_, counts_); }))
      return c;
    if (backward == nullptr) return {};
    const Program forward = WithoutCustomVjp(backward);  // a rule may apply the function whose rule it is
    return Law("difference of backward" + of,
               [&](Dice& d) { return CheckDifference(ctx_, forward, d, seed_, counts_); });
  }

 private:
  Complaint Loop(const Program& f, Dice& dice) { return CheckLoop(ctx_, f, dice, seed_, special_, counts_); }

  // Null if a rule is missing; any other failure is in bad_.
  template <typename Make>
  Program Made(const std::string& name, const Make& make) {
    try {
      return make();
    } catch (const Error& e) {
      Failed(name, e);
      return nullptr;
    }
  }
  void Failed(const std::string& name, const Error& e) {
    if (MayBeRefused(e)) {
      ++counts_.missing[std::string(e.message())];
    } else {
      bad_ = Text("law ", name, ": ", e.message());
    }
  }
  template <typename Check>
  Complaint Law(const std::string& name, const Check& check) {
    Dice dice(dice_.Bits());
    if (!dice.Chance(name.starts_with("loop") ? kShareOfLoops : kShare)) return {};
    try {
      Complaint c = check(dice);
      if (c) return Text("law ", name, ": ", *c);
      ++counts_.held[name];
    } catch (const Error& e) {
      Failed(name, e);
    }
    return bad_;
  }

  ricci_ctx* ctx_;
  const uint64_t seed_;
  const bool special_, smooth_;
  Dice dice_;
  LawCounts& counts_;
  Complaint bad_;
};

}  // namespace

Complaint CheckLaws(const LawCase& c, LawCounts& counts) { return Laws(c, counts).CheckAll(c.program); }

}  // namespace ricci::testing
