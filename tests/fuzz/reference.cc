#include "fuzz/reference.h"

#include <cmath>

namespace ricci::testing {
namespace {

bool SameBits(const std::byte* a, const std::byte* b, size_t n) { return n == 0 || std::memcmp(a, b, n) == 0; }
bool SameKind(double a, double b) {
  if (std::isnan(a) || std::isnan(b)) return std::isnan(a) && std::isnan(b);
  return std::isinf(a) || std::isinf(b) ? a == b : true;
}
bool Within(DType d, double got, double want, double spread) {
  if (!SameKind(got, want)) return false;
  if (std::isinf(want)) return true;
  const FloatInfo info = InfoOf(d);
  const double denormal = std::fabs(want) < 4 * info.tiny ? 4 * info.tiny * info.epsilon : 0;
  return std::fabs(got - want) <= 8 * spread + denormal;
}

// What was called, shortly.
std::string TextOf(const std::vector<HostCall>& calls) {
  constexpr size_t kShown = 6;
  std::string text;
  for (size_t i = 0; i < std::min(calls.size(), kShown); ++i) text += Text(i == 0 ? "" : ", ", calls[i].what);
  return calls.size() > kShown ? text + ", ..." : text;
}

}  // namespace

Reference::Reference(ricci_ctx* ctx, const Program& p, std::vector<Bytes> inputs, CheckCounts& counts,
                     Rounding rounding)
    : ctx_(ctx),
      p_(p),
      compiled_(std::make_shared<Compiled>(ctx, p.get(), "ref")),
      noise_(std::make_shared<std::vector<Noise>>()),
      inputs_(std::move(inputs)),
      counts_(counts),
      rounding_(rounding),
      types_(ResultsOf(ctx, p.get())),
      want_(compiled_->Run(inputs_)) {}

Reference::Reference(const Reference& other, std::vector<Bytes> inputs)
    : ctx_(other.ctx_),
      p_(other.p_),
      compiled_(other.compiled_),
      noise_(other.noise_),
      inputs_(std::move(inputs)),
      counts_(other.counts_),
      rounding_(other.rounding_),
      types_(other.types_),
      want_(compiled_->Run(inputs_)) {}

Complaint Reference::Compare(const RunResult& got, std::string_view what) {
  if (got.error) return Text(what, ": ", *got.error);
  for (size_t i = 0; i < types_.size(); ++i) {
    const DType d = PartOf(types_[i].dtype());
    const auto size = static_cast<size_t>(SizeOf(d));
    counts_.compared += types_[i].elements();
    if (SameBits(got.arrays[i].data(), want_.arrays[i].data(), want_.arrays[i].size())) continue;
    for (size_t at = 0; at < want_.arrays[i].size(); at += size) {
      const std::byte *have = &got.arrays[i][at], *want = &want_.arrays[i][at];
      const auto in_noise = [&](uint32_t variant) {
        const RunResult* noisy = Noisy(variant);
        return noisy == nullptr ? nullptr : &noisy->arrays[i][at];
      };
      if (SameBits(have, want, size) || Close(d, have, want, in_noise)) continue;
      return Text(what, ": result ", i, " (", types_[i], ") element ", at / size, " is ", ElementText(d, have),
                  ", it must be ", ElementText(d, want));
    }
  }
  return {};
}

Complaint Reference::CompareCalls(const RunResult& got, std::string_view what) {
  if (!SameFunctions(got.calls, want_.calls)) {
    for (uint32_t variant = 0; variant < kManyNoiseVariants; ++variant) {
      const RunResult* noisy = Noisy(variant);
      if (noisy == nullptr || !SameFunctions(noisy->calls, want_.calls)) return ++counts_.undecided, Complaint();
    }
    return Text(what, ": ", got.calls.size(), " calls of the host, it must be ", want_.calls.size(),
                ", or others: ", TextOf(got.calls), " in the place of ", TextOf(want_.calls));
  }
  for (size_t i = 0; i < got.calls.size(); ++i) {
    for (size_t k = 0; k < got.calls[i].operands.size(); ++k) {
      const DType d = want_.calls[i].dtypes[k];
      const Bytes &have = got.calls[i].operands[k], &want = want_.calls[i].operands[k];
      const auto size = static_cast<size_t>(SizeOf(d));
      counts_.compared += static_cast<int64_t>(want.size() / size);
      for (size_t at = 0; at < want.size(); at += size) {
        const auto in_noise = [&](uint32_t variant) { return NoisyOperand(variant, i, k, at); };
        if (SameBits(&have[at], &want[at], size) || Close(d, &have[at], &want[at], in_noise)) continue;
        return Text(what, ": call ", i, " (", want_.calls[i].what, ") operand ", k, " element ", at / size, " is ",
                    ElementText(d, &have[at]), ", it must be ", ElementText(d, &want[at]));
      }
    }
  }
  return {};
}

// Whether it is within the effect of noise on this element (on each part of a complex number). A few variants decide,
// many if the element is not floating, or if noise moves it by half of its size or, so far, not at all: it may be a
// mask.
bool Reference::Close(DType d, const std::byte* got, const std::byte* want, const InNoise& in_noise) {
  if (IsFloat(d)) {
    const double g = ReadFloat(d, got), w = ReadFloat(d, want);
    if (std::isnan(g) && std::isnan(w)) return true;
    if (g == w) return true;  // zeros of either sign
  }
  double spread = 0;
  const auto enough = [&] {
    const bool all_or_nothing = !IsFloat(d) || spread == 0 || spread >= std::fabs(ReadFloat(d, want)) / 2;
    return all_or_nothing ? kManyNoiseVariants : kNoiseVariants;
  };
  for (uint32_t variant = 0; variant < enough(); ++variant) {
    const std::byte* noisy = in_noise(variant);
    if (noisy == nullptr) return ++counts_.undecided, true;
    if (!IsFloat(d)) {
      if (!SameBits(noisy, want, static_cast<size_t>(SizeOf(d)))) return ++counts_.undecided, true;
      continue;
    }
    const double w = ReadFloat(d, want), n = ReadFloat(d, noisy);
    if (!SameKind(w, n)) return ++counts_.undecided, true;
    spread = std::max(spread, std::fabs(n - w));
    if (Within(d, ReadFloat(d, got), w, spread)) return true;
  }
  return false;
}

std::optional<double> Reference::Spread(size_t result, size_t element) {
  const DType d = types_[result].dtype();
  const size_t at = element * static_cast<size_t>(SizeOf(d));
  const double want = ReadFloat(d, &want_.arrays[result][at]);
  double spread = 0;
  for (uint32_t variant = 0; variant < kNoiseVariants; ++variant) {
    const RunResult* run = Noisy(variant);
    if (run == nullptr) return {};
    const double noisy = ReadFloat(d, &run->arrays[result][at]);
    if (!SameKind(want, noisy)) return {};
    spread = std::max(spread, std::fabs(noisy - want));
  }
  return spread;
}

const std::byte* Reference::NoisyOperand(uint32_t variant, size_t call, size_t operand, size_t at) {
  const RunResult* noisy = Noisy(variant);
  const bool same = noisy != nullptr && SameFunctions(noisy->calls, want_.calls);
  return same ? &noisy->calls[call].operands[operand][at] : nullptr;
}

const RunResult* Reference::Noisy(uint32_t variant) {
  if (variant >= noise_->size()) {
    auto f = WithNoise(*ir::FromAbi(p_.get()), variant, rounding_);
    Noise& made = noise_->emplace_back();
    if (f.ok()) made.program.emplace(ctx_, ir::Abi(f->get()), "ref");
    if (!f.ok()) made.failure = std::string(f.status().message());
  }
  while (variant >= noisy_.size()) {
    const Noise& made = (*noise_)[noisy_.size()];
    noisy_.push_back(made.program ? made.program->Run(inputs_) : RunResult{{}, made.failure, 0});
  }
  return noisy_[variant].error ? nullptr : &noisy_[variant];
}

}  // namespace ricci::testing
