#include "pass/program/product_readers.h"

#include <algorithm>

#include "prim/registry.h"

namespace ricci { inline namespace v0 { namespace pass {
namespace {

constexpr size_t kMaxFactor = 32;  // equations that are looked at to see what a factor costs

}  // namespace

double ProductReaders::Ratio(ir::ValueId of, ir::ValueId to) const {
  return static_cast<double>(f_.type(of).elements) / static_cast<double>(std::max<int64_t>(f_.type(to).elements, 1));
}

// Of an element.
int64_t ProductReaders::BytesOf(ir::ValueId v) const {
  const ir::ArrayType& t = f_.type(v);
  return static_cast<int64_t>(t.bytes) / std::max<int64_t>(t.elements, 1);
}

// It is not asked about.
bool ProductReaders::ReadsOnce(uint32_t user) const {
  if (info_[user].dead) return true;
  if (info_[user].kind == EquationKind::kExpression) return !info_[user].often;
  return prim::Registry::Of(f_).Get(f_.equations[user].prim).has(RICCI_PRIM_READS_ONCE);
}

// How often an element of this operand is read; 0: not by a product.
double ProductReaders::TimesOf(uint32_t user, size_t operand) const {
  const EquationInfo& reader = info_[user];
  const ir::Equation& u = f_.equations[user];
  if (reader.kind == EquationKind::kExpression) return reader.times * Ratio(u.result(0), u.operands[operand]);
  return TilesThatRead(reader.factors.get(), operand, options_.target.limits.product_tile);
}

void ProductReaders::Find(uint32_t e) {
  const ir::ValueId v = f_.equations[e].result(0);
  EquationInfo& info = info_[e];
  for (const uint32_t user : users_[v]) {
    if (ReadsOnce(user)) continue;
    const ir::Equation& u = f_.equations[user];
    const bool expression = info_[user].kind == EquationKind::kExpression;
    for (size_t k = 0; k < u.operands.size(); ++k) {
      if (u.operands[k] != v) continue;
      const double times = TimesOf(user, k);
      if (times == 0) {
        info.times = 0;
        return;
      }
      info.times += times;
      info.factor_bytes = std::max(info.factor_bytes, expression ? info_[user].factor_bytes : BytesOf(v));
    }
  }
}

bool ProductReaders::IsFactor(uint32_t e, const std::vector<uint32_t>& groups) const {
  const EquationInfo& info = info_[e];
  if (info.times == 0) return false;
  int64_t before = 0;
  for (const uint32_t g : groups) before = std::max(before, info_[g].factor_operations);
  const int64_t most = options_.target.limits.factor_operations * info.factor_bytes - before;
  const std::optional<FactorWork> work = WorkOf(e, most);
  return work && PaysInProduct(*work, options_.target.numbers);
}

bool ProductReaders::MayPullIn(uint32_t from) const {
  if (info_[from].kind != EquationKind::kExpression) return false;
  return !info_[from].view || !JoinsArrays(f_, f_.equations[from]);
}

// With the expressions that e reads, as far as that takes at most so many operations. Nothing if e takes more, or reads
// what a kernel computes anyway, which e should rather join.
std::optional<FactorWork> ProductReaders::WorkOf(uint32_t e, int64_t most) const {
  const ir::ValueId result = f_.equations[e].result(0);
  FactorWork work{.times = info_[e].times,
                  .elements = static_cast<double>(std::max<int64_t>(f_.type(result).elements, 1)),
                  .bytes = static_cast<double>(BytesOf(result)),
                  .operations = info_[e].own};
  if (work.operations > most) return {};
  std::vector<uint32_t> all = {e};
  std::vector<ir::ValueId> read;
  for (size_t i = 0; i < all.size(); ++i) {
    for (const ir::ValueId v : f_.equations[all[i]].operands) {
      if (f_.constant(v) != nullptr || std::find(read.begin(), read.end(), v) != read.end()) continue;
      if (f_.values[v].kind == ir::ValueKind::kResult) {
        const uint32_t from = f_.values[v].index;
        if (std::find(all.begin(), all.end(), from) != all.end()) continue;
        const int64_t more = info_[from].view ? 0 : info_[from].own;
        if (MayPullIn(from) && work.operations + more <= most && all.size() < kMaxFactor) {
          work.operations += more;
          all.push_back(from);
          continue;
        }
        if (info_[from].kind != EquationKind::kCall && Ratio(v, result) >= 1) return {};
      }
      read.push_back(v);
      work.read_bytes += static_cast<double>(BytesOf(v)) * std::min(Ratio(v, result), 1.0);
    }
  }
  return work;
}

}}}  // namespace ricci::v0::pass
