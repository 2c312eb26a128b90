#include "pass/kernel/read_places.h"

#include <algorithm>

#include "base/hash.h"

namespace ricci { inline namespace v0 { namespace pass {
namespace {

constexpr size_t kOfDecomposed = kMaxPlaces / 2;            // at which it reads each operand, for all we know
constexpr size_t kMostCollected = kMaxPlaces * kMaxPlaces;  // before equal ones are removed

void RemoveEqual(Places& places) {
  std::sort(places.begin(), places.end());
  places.erase(std::unique(places.begin(), places.end()), places.end());
}

}  // namespace

bool MayRepeatAt(size_t places, bool view, int64_t cost, int64_t cheap_to_repeat) {
  if (places > kMaxPlaces) return false;
  return view || places <= 1 || 2 * static_cast<int64_t>(places) * cost <= cheap_to_repeat;
}

ReadPlaces::ReadPlaces(const ir::Program& f) : first_(f.values.size() + 1), of_(f.equations.size() + 1) {
  const auto each_read = [&](const auto& read) {
    for (uint32_t e = 0; e < f.equations.size(); ++e) {
      const auto operands = f.equations[e].operands;
      for (uint32_t k = 0; k < operands.size(); ++k) read(operands[k], Reader{e, k});
    }
    for (ir::ValueId r : f.results) read(r, Reader{static_cast<uint32_t>(f.equations.size()), 0});
  };
  each_read([&](ir::ValueId v, Reader) { ++first_[v + 1]; });
  for (size_t v = 1; v < first_.size(); ++v) first_[v] += first_[v - 1];
  readers_.resize(first_.back());
  std::vector<uint32_t> next(first_.begin(), first_.end() - 1);
  each_read([&](ir::ValueId v, Reader reader) { readers_[next[v]++] = reader; });
  SetStored(static_cast<uint32_t>(f.equations.size()), /*elementwise=*/true);
}

void ReadPlaces::SetStored(uint32_t e, bool elementwise) { of_[e] = {elementwise, {e}}; }

void ReadPlaces::SetComputed(uint32_t e, bool elementwise, Places places) { of_[e] = {elementwise, std::move(places)}; }

void ReadPlaces::SetDecomposed(uint32_t e) {
  of_[e] = {};
  for (uint64_t i = 0; i < kOfDecomposed; ++i) of_[e].places.push_back(i);
}

Places ReadPlaces::Of(ir::ValueId v) const {
  Places places;
  Collect(v, places);
  return places;
}

Places ReadPlaces::OfResults(const ir::Equation& eqn) const {
  Places places;
  for (uint32_t i = 0; i < eqn.n_results; ++i) Collect(eqn.result(i), places);
  return places;
}

void ReadPlaces::Collect(ir::ValueId v, Places& places) const {
  for (uint32_t i = first_[v]; i < first_[v + 1]; ++i) {
    const auto [e, k] = readers_[i];
    for (uint64_t at : of_[e].places) {
      places.push_back(of_[e].elementwise ? at : base::Hasher().Add(at).Add(e).Add(k).Done());
    }
    if (places.size() <= kMostCollected) continue;
    RemoveEqual(places);
    if (places.size() > kMaxPlaces) return;
  }
  RemoveEqual(places);
}

}}}  // namespace ricci::v0::pass
