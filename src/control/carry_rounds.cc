#include "control/carry_rounds.h"

#include "ir/program.h"
#include "types/dtype.h"

namespace ricci { inline namespace v0 { namespace control {
namespace {

constexpr uint32_t kExactRounds = 32;

using transform::Mask;

// Values that are marked, and those of them that are still to be followed.
struct Marks {
  Mask marked;
  std::vector<ir::ValueId> open;

  void Add(ir::ValueId v) {
    if (marked[v]) return;
    marked[v] = 1;
    open.push_back(v);
  }
  ir::ValueId Next() {
    const ir::ValueId v = open.back();
    open.pop_back();
    return v;
  }
};

// For each value the equations that read it.
std::vector<std::vector<uint32_t>> ReadersOf(const ir::Program& f) {
  std::vector<std::vector<uint32_t>> readers(f.values.size());
  for (uint32_t e = 0; e < f.equations.size(); ++e) {
    for (ir::ValueId v : f.equations[e].operands) readers[v].push_back(e);
  }
  return readers;
}

// For each value the carries whose next value it is.
std::vector<std::vector<uint32_t>> CarriesOf(const ir::Program& body, size_t n_carries) {
  std::vector<std::vector<uint32_t>> carries(body.values.size());
  for (uint32_t i = 0; i < n_carries; ++i) carries[body.results[i]].push_back(i);
  return carries;
}

}  // namespace

bool CarryRounds::Merge(std::span<uint8_t> flags, transform::MaskView after) {
  if (!transform::Merge(flags, after)) return false;
  if (++rounds_ == kExactRounds) Spread(flags);
  return true;
}

void ForwardRounds::Spread(std::span<uint8_t> flags) const {
  const auto readers = ReadersOf(body_), carries = CarriesOf(body_, flags.size());
  Marks marks{Mask(body_.values.size(), 0), {}};
  const auto add = [&](ir::ValueId v) {
    if (!tangents_ || types::IsDifferentiable(body_.type(v).dtype)) marks.Add(v);
  };
  for (uint32_t i = 0; i < flags.size(); ++i) {
    if (flags[i]) add(first_ + i);
  }
  while (!marks.open.empty()) {
    const ir::ValueId v = marks.Next();
    for (uint32_t e : readers[v]) {
      for (uint32_t i = 0; i < body_.equations[e].n_results; ++i) add(body_.equations[e].result(i));
    }
    for (uint32_t i : carries[v]) {
      add(first_ + i);
      flags[i] |= marks.marked[first_ + i];
    }
  }
}

void BackwardRounds::Spread(std::span<uint8_t> flags) const {
  Marks marks{Mask(body_.values.size(), 0), {}};
  for (uint32_t i = 0; i < flags.size(); ++i) {
    if (flags[i]) marks.Add(body_.results[i]);
  }
  while (!marks.open.empty()) {
    const ir::ValueId v = marks.Next();
    if (const ir::Equation* eqn = body_.definition(v)) {
      for (ir::ValueId operand : eqn->operands) marks.Add(operand);
    }
    if (v < first_ || v - first_ >= flags.size()) continue;  // not a carry
    flags[v - first_] = 1;
    marks.Add(body_.results[v - first_]);
  }
}

}}}  // namespace ricci::v0::control
