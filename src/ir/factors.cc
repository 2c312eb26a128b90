#include "ir/factors.h"

#include "base/status.h"

namespace ricci { inline namespace v0 { namespace ir {
namespace {

constexpr std::string_view kKinds[] = {"",   "sum", "prod",  "max", "min",    "and",
                                       "or", "xor", "whole", "seq", "window", "indexed"};
static_assert(std::size(kKinds) == static_cast<size_t>(FactorKind::kCount));

}  // namespace

std::string_view NameOf(FactorKind kind) { return kKinds[static_cast<size_t>(kind)]; }

std::string Factors::About(uint32_t factor) const { return base::Cat("`", text, "`: factor ", names[factor]); }

std::optional<FactorsRef> FactorTable::Find(uint32_t equation, const prim::Row* row) const {
  std::lock_guard lock(mutex_);
  if (equation >= entries_.size() || entries_[equation].row != row) return std::nullopt;
  return entries_[equation].factors;
}

void FactorTable::Keep(uint32_t equation, const prim::Row* row, FactorsRef factors) {
  std::lock_guard lock(mutex_);
  if (equation >= entries_.size()) entries_.resize(size_t{equation} + 1);
  entries_[equation] = {row, std::move(factors)};
}

void FactorTable::Share(uint32_t equation, const FactorTable& there, uint32_t its) {
  Entry known;
  {
    std::lock_guard lock(there.mutex_);
    if (its < there.entries_.size()) known = there.entries_[its];
  }
  if (known.row != nullptr) Keep(equation, known.row, std::move(known.factors));
}

}}}  // namespace ricci::v0::ir
