#include "pass/kernel/read_accesses.h"

#include <algorithm>

#include "base/hash.h"

namespace ricci { inline namespace v0 { namespace pass {
namespace {

constexpr size_t kOfDecomposed = kMaxAccesses / 2;              // at which it reads each operand, for all we know
constexpr size_t kMostCollected = kMaxAccesses * kMaxAccesses;  // before equal ones are removed

void RemoveEqual(Accesses& accesses) {
  std::sort(accesses.begin(), accesses.end());
  accesses.erase(std::unique(accesses.begin(), accesses.end()), accesses.end());
}

}  // namespace

bool MayRepeatAt(size_t accesses, bool view, int64_t cost, int64_t cheap_to_repeat) {
  if (accesses > kMaxAccesses) return false;
  return view || accesses <= 1 || 2 * static_cast<int64_t>(accesses) * cost <= cheap_to_repeat;
}

ReadAccesses::ReadAccesses(const ir::Program& f) : first_(f.values.size() + 1), of_(f.equations.size() + 1) {
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

void ReadAccesses::SetStored(uint32_t e, bool elementwise) { of_[e] = {elementwise, {e}}; }

void ReadAccesses::SetComputed(uint32_t e, bool elementwise, Accesses accesses) {
  of_[e] = {elementwise, std::move(accesses)};
}

void ReadAccesses::SetDecomposed(uint32_t e) {
  of_[e] = {};
  for (uint64_t i = 0; i < kOfDecomposed; ++i) of_[e].accesses.push_back(i);
}

Accesses ReadAccesses::Of(ir::ValueId v) const {
  Accesses accesses;
  Collect(v, accesses);
  return accesses;
}

Accesses ReadAccesses::OfResults(const ir::Equation& eqn) const {
  Accesses accesses;
  for (uint32_t i = 0; i < eqn.n_results; ++i) Collect(eqn.result(i), accesses);
  return accesses;
}

void ReadAccesses::Collect(ir::ValueId v, Accesses& accesses) const {
  for (uint32_t i = first_[v]; i < first_[v + 1]; ++i) {
    const auto [e, k] = readers_[i];
    for (uint64_t at : of_[e].accesses) {
      accesses.push_back(of_[e].elementwise ? at : base::Hasher().Add(at).Add(e).Add(k).Done());
    }
    if (accesses.size() <= kMostCollected) continue;
    RemoveEqual(accesses);
    if (accesses.size() > kMaxAccesses) return;
  }
  RemoveEqual(accesses);
}

}}}  // namespace ricci::v0::pass
