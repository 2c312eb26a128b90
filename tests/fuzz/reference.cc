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
      if (SameBits(have, want, size) || Close(i, at, have)) continue;
      return Text(what, ": result ", i, " (", types_[i], ") element ", at / size, " is ", ElementText(d, have),
                  ", it must be ", ElementText(d, want));
    }
  }
  return {};
}

// Whether it is within the effect of noise on this element (on each part of a complex number). A few variants decide,
// many if the element is not floating or noise moves it by half of its size.
bool Reference::Close(size_t result, size_t at, const std::byte* got) {
  const DType d = PartOf(types_[result].dtype());
  const std::byte* want = &want_.arrays[result][at];
  if (IsFloat(d)) {
    const double g = ReadFloat(d, got), w = ReadFloat(d, want);
    if (std::isnan(g) && std::isnan(w)) return true;
    if (g == w) return true;  // zeros of either sign
  }
  double spread = 0;
  const auto enough = [&] {
    const bool all_or_nothing = !IsFloat(d) || spread >= std::fabs(ReadFloat(d, want)) / 2;
    return all_or_nothing ? kManyNoiseVariants : kNoiseVariants;
  };
  for (uint32_t variant = 0; variant < enough(); ++variant) {
    const std::byte* noisy = Noisy(variant, result, at);
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
    const std::byte* noisy = Noisy(variant, result, at);
    if (noisy == nullptr || !SameKind(want, ReadFloat(d, noisy))) return {};
    spread = std::max(spread, std::fabs(ReadFloat(d, noisy) - want));
  }
  return spread;
}

const std::byte* Reference::Noisy(uint32_t variant, size_t result, size_t at) {
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
  return noisy_[variant].error ? nullptr : &noisy_[variant].arrays[result][at];
}

}  // namespace ricci::testing
