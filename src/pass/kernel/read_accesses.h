// ReadAccesses: by how many accesses the elements of a value are computed, if they are computed wherever they are read.
//
// Views of one array at several positions (a stencil, a shifted copy) compute what they read once per access, and along
// a chain that multiplies: after n steps of two accesses there are 2^n. So fuse, for kernels, and the kernel builder,
// for bodies of loops and lanes, ask here before they let a value be computed where it is read. An access is a map from
// the points of what is stored to the elements that they need, as a hash: an elementwise operation needs its operands
// where its own elements are needed, anything else somewhere else.
//
// The limit is 16 accesses; below it a value is also stored where the work of all of them costs more than a stored
// value. One rule serves kernels (fuse), rows of merged kernels (kernel_rows) and bodies of loops and lanes
// (kernel_inline). So code grows linearly with a chain everywhere (tests/pass/stencil_chains_test.cc).
#ifndef RICCI_PASS_READ_ACCESSES_H_
#define RICCI_PASS_READ_ACCESSES_H_
#include <cstdint>
#include <vector>

#include "ir/program.h"

namespace ricci { inline namespace v0 { namespace pass {

using Accesses = std::vector<uint64_t>;  // sorted

inline constexpr size_t kMaxAccesses = 16;  // at which an array is read by views

// May an expression of this cost be computed at each of `accesses`, or must it be stored? A view costs an access only.
bool MayRepeatAt(size_t accesses, bool view, int64_t cost, int64_t cheap_to_repeat);

// Equations are set from the last to the first.
class ReadAccesses {
 public:
  explicit ReadAccesses(const ir::Program& f);

  // Equation e is stored: there is one access, by its own points.
  void SetStored(uint32_t e, bool elementwise);
  // Equation e is computed at `accesses`, where it is read.
  void SetComputed(uint32_t e, bool elementwise, Accesses accesses);
  // Equation e becomes a program that is not known here, which may read its operands at several positions.
  void SetDecomposed(uint32_t e);
  // Where v is read, once all equations that read it are set; of those that are not set nothing is. Of more than
  // kMaxAccesses not all. Results of the program are read by one access.
  Accesses Of(ir::ValueId v) const;
  // Where any result of the equation is read.
  Accesses OfResults(const ir::Equation& eqn) const;

 private:
  struct Reader {
    uint32_t equation, operand;
  };
  struct Reading {
    bool elementwise = false;
    Accesses accesses;
  };
  void Collect(ir::ValueId v, Accesses& accesses) const;

  std::vector<uint32_t> first_;  // by value: where its readers begin; one more at the end
  std::vector<Reader> readers_;
  std::vector<Reading> of_;  // by equation, after them the results
};

}}}  // namespace ricci::v0::pass
#endif
