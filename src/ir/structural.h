// Structural hash and equality of programs: what they compute, not how it is named.
//
// One rule for whether two programs or equations are the same, used by cache keys, equality and cse. Names of
// programs, numbers of values, source locations, unused constants and sharing of nested programs do not count;
// constants count by type and bytes, nested programs by structure. The hash is stable over runs and machines.
#ifndef RICCI_IR_STRUCTURAL_H_
#define RICCI_IR_STRUCTURAL_H_
#include <cstdint>
#include <utility>

#include "base/hash.h"
#include "base/hash_map.h"
#include "ir/program.h"

namespace ricci { inline namespace v0 { namespace ir {

// Hashes and compares by structure, and remembers the programs it has seen, so that questions about many equations take
// linear time in all. The programs must outlive it.
class Structure {
 public:
  // `locations`: those of equations count in comparisons too.
  explicit Structure(bool locations = false) : locations_(locations) {}

  uint64_t HashOf(const Program& p);
  bool Same(const Program& a, const Program& b);
  // What equation `e` of `p` does, apart from its operands: the primitive, and attributes by name and content. An
  // attribute that is left out differs from any value that is given.
  uint64_t HashOfOperation(const Program& p, const Equation& e);
  bool SameOperation(const Program& a, const Equation& e, const Program& b, const Equation& f);

 private:
  uint64_t HashOne(const Program& p);
  void AddAttr(base::Hasher& h, const ricci_attr& a);
  bool SameAttr(const ricci_attr& a, const ricci_attr& b);
  bool SameEquation(const Program& a, const Equation& e, const Program& b, const Equation& f);

  const bool locations_;
  base::HashMap<const Program*, uint64_t> hashes_;
  base::HashSet<std::pair<const Program*, const Program*>> same_;
};

// For constants of one type.
bool SameElements(const Constant& a, const Constant& b);

// Linear in the size of `p` and all programs in it.
uint64_t Hash(const Program& p);
// Programs of one context or of two.
bool Equal(const Program& a, const Program& b);
// Equal, and every equation has the same source location. Programs of one context.
bool EqualWithLocations(const Program& a, const Program& b);

}}}  // namespace ricci::v0::ir
#endif
