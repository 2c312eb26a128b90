// ProductReaders: which expressions are factors of products, how often products compute an element of one, and whether
// that is cheaper than to store it (factor_cost.h).
//
// Views are never stored for a product. Cheap factors are computed by it unless they can join the kernel that makes
// what they are computed from.
#ifndef RICCI_PASS_PRODUCT_READERS_H_
#define RICCI_PASS_PRODUCT_READERS_H_
#include <optional>
#include <vector>

#include "pass/cost/factor_cost.h"
#include "pass/program/equation_info.h"

namespace ricci { inline namespace v0 { namespace pass {

// Of one try: `info` is what it has decided so far, of all equations after the one that is asked about.
class ProductReaders {
 public:
  ProductReaders(const ir::Program& f, const Options& options, const std::vector<std::vector<uint32_t>>& users,
                 std::vector<EquationInfo>& info)
      : f_(f), options_(options), users_(users), info_(info) {}

  // How often products compute an element of e, if nothing else reads it many times: sets its `times` and
  // `factor_bytes`.
  void Find(uint32_t e);
  // Is e, which they read, cheaper computed by them? `groups`: those that it would join.
  bool IsFactor(uint32_t e, const std::vector<uint32_t>& groups) const;

 private:
  double TimesOf(uint32_t user, size_t operand) const;
  bool ReadsOnce(uint32_t user) const;
  bool MayPullIn(uint32_t from) const;
  std::optional<FactorWork> WorkOf(uint32_t e, int64_t most) const;
  double Ratio(ir::ValueId of, ir::ValueId to) const;
  int64_t BytesOf(ir::ValueId v) const;

  const ir::Program& f_;
  const Options& options_;
  const std::vector<std::vector<uint32_t>>& users_;
  std::vector<EquationInfo>& info_;
};

}}}  // namespace ricci::v0::pass
#endif
