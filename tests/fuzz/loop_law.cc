// The loop law: vmap, and the batching rules, give what single runs give, lane by lane.
#include "fuzz/whole_program_laws.h"

namespace ricci::testing {
namespace {

// One lane of an array with the batch as dimension `axis`; the array itself if it has none.
Bytes LaneOf(const Bytes& all, const ArrayType& one, int32_t axis, int64_t lane) {
  if (axis < 0) return all;
  auto inner = static_cast<size_t>(SizeOf(one.dtype()));
  for (int64_t d = axis; d < one.rank(); ++d) inner *= static_cast<size_t>(one.dim(d));
  Bytes out;
  if (inner == 0) return out;
  const size_t row = inner * static_cast<size_t>(kBatch);
  for (size_t from = inner * static_cast<size_t>(lane); from < all.size(); from += row)
    out.insert(out.end(), all.begin() + static_cast<int64_t>(from), all.begin() + static_cast<int64_t>(from + inner));
  return out;
}
std::vector<Bytes> LanesOf(const std::vector<Bytes>& all, const std::vector<ArrayType>& one, const BatchAxes& axes,
                           int64_t lane) {
  std::vector<Bytes> out;
  for (size_t i = 0; i < all.size(); ++i) out.push_back(LaneOf(all[i], one[i], axes[i], lane));
  return out;
}

struct Batched {
  Program program;
  BatchAxes in, out;
};

class Loop {
 public:
  Loop(ricci_ctx* ctx, const Program& f, uint64_t seed, bool special, LawCounts& counts)
      : ctx_(ctx), f_(f), seed_(seed), special_(special), counts_(counts) {}

  Complaint Compare(const Batched& b) {
    const std::vector<Bytes> inputs = DrawInputs(ctx_, b.program.get(), seed_, special_);
    const RunResult got = Compiled(ctx_, b.program.get(), "ref").Run(inputs);
    const std::vector<ArrayType> params = ParamsOf(ctx_, f_.get()), results = ResultsOf(ctx_, f_.get());
    std::vector<Reference> lanes;
    bool broken = false;
    for (int64_t lane = 0; lane < kBatch; ++lane) {
      const std::vector<Bytes> in = LanesOf(inputs, params, b.in, lane);
      lanes.push_back(lane == 0 ? Reference(ctx_, f_, in, counts_.loops) : Reference(lanes[0], in));
      const RunResult& want = lanes.back().want();
      if (IsRefusedCall(f_, want)) return {};
      broken |= IsBrokenPromise(want);
      if (want.error && !IsBrokenPromise(want)) return Text("lane ", lane, ": ", *want.error);
    }
    if (broken || IsRefusedCall(b.program, got)) return {};  // if one lane fails, all do
    if (got.error) return Text("batched: ", *got.error);
    if (Complaint c = CallsAddUp(got, lanes)) return c;
    for (int64_t lane = 0; lane < kBatch; ++lane) {
      const RunResult mine = {LanesOf(got.arrays, results, b.out, lane), {}, 0};
      if (Complaint c = lanes[static_cast<size_t>(lane)].Compare(mine, Text("lane ", lane))) return c;
    }
    return {};
  }

 private:
  // A call with an effect is made for each lane, in any order, or once if it is the same for all.
  static Complaint CallsAddUp(const RunResult& got, const std::vector<Reference>& lanes) {
    const std::map<std::string, int64_t> batched = TimesOf(got.calls);
    std::map<std::string, int64_t> most = batched, sum = batched;
    for (auto& [what, n] : most) n = 0;
    for (auto& [what, n] : sum) n = 0;
    for (const Reference& lane : lanes) {
      for (const auto& [what, n] : TimesOf(lane.want().calls)) {
        most[what] = std::max(most[what], n);
        sum[what] += n;
      }
    }
    for (const auto& [what, n] : sum) {
      const auto found = batched.find(what);
      const int64_t times = found == batched.end() ? 0 : found->second;
      if (times < most[what] || times > n)
        return Text("batched: ", what, " is called ", times, " times, it must be between ", most[what], " and ", n);
    }
    return {};
  }
  static std::map<std::string, int64_t> TimesOf(const std::vector<HostCall>& calls) {
    std::map<std::string, int64_t> times;
    for (const HostCall& c : calls) ++times[c.what];
    return times;
  }

  ricci_ctx* ctx_;
  const Program& f_;
  const uint64_t seed_;
  const bool special_;
  LawCounts& counts_;
};

Batched ByRules(ricci_ctx* ctx, const Program& f, Dice& dice) {
  Batched b;
  Mask in, out;
  for (size_t i = ParamsOf(ctx, f.get()).size(); i > 0; --i) in.push_back(dice.Chance(0.7));
  for (size_t i = ResultsOf(ctx, f.get()).size(); i > 0; --i) out.push_back(dice.Chance(0.5));
  b.program = BatchOf(f, in, out);
  for (uint8_t batched : in) b.in.push_back(batched != 0 ? 0 : -1);
  for (uint8_t batched : out) b.out.push_back(batched != 0 ? 0 : -1);
  return b;
}

}  // namespace

Complaint CheckLoop(ricci_ctx* ctx, const Program& f, Dice& dice, uint64_t seed, bool special, LawCounts& counts) {
  Loop loop(ctx, f, seed, special, counts);
  if (dice.Chance(0.7)) return loop.Compare(ByRules(ctx, f, dice));
  const BatchAxes in = SomeInAxes(dice, ParamsOf(ctx, f.get())), out = SomeOutAxes(dice, ResultsOf(ctx, f.get()));
  return loop.Compare({VmapOf(f, in, out), in, out});
}

}  // namespace ricci::testing
