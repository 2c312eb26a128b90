// Parts of one block of a kernel that do the same work on other values: an eigenvalue problem that a body solves a
// hundred times. Such parts may share their code, with what they read from outside as its arguments.
#ifndef RICCI_CODEGEN_ALIKE_H_
#define RICCI_CODEGEN_ALIKE_H_
#include <span>
#include <utility>

#include "codegen/analysis.h"

namespace ricci::codegen {

// Instructions [first, last): adjacent whole instructions and blocks of one block. `same` is the first instruction of
// the earliest part with the same code, which may be this one.
struct Part {
  uint32_t first, last, same;
};

struct PartBounds {
  int64_t least, most;  // instructions of code of a part
};

// Parts among instructions [first, last) of one block that another part is equal to: in order, none overlaps another.
// Each holds a loop that stays one in code, so that a call takes little time beside it. `code`: for each instruction
// those of the code of what begins there.
std::vector<Part> FindAlikeParts(const ricci_kernel_table& k, const Blocks& blocks, std::span<const int64_t> code,
                                 uint32_t first, uint32_t last, const PartBounds& bounds);

// What a part of `n` instructions from `a` on reads from outside, constants apart, and what the equal part from `b` on
// reads in its place; each value of the first part once, in the order in which they are read.
std::vector<std::pair<uint32_t, uint32_t>> ValuesFromOutside(const ricci_kernel_table& k, uint32_t a, uint32_t b,
                                                             uint32_t n);

}  // namespace ricci::codegen
#endif
