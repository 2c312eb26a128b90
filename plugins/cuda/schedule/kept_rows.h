// KeptRows: what a pass over a row has read or computed stays in the registers of its threads for the passes after it.
//
// A softmax reads its row three times: for the maximum, for the sum, for the results. The loops of a team over as many
// trips have each trip in the same thread, so that nothing needs to go through memory: a value of a later loop is taken
// from an earlier one where both are the same operations on the same values, with the index of the one in place of that
// of the other. Loads are the same if the kernel does not write the buffer. What only the values that are taken needed
// is not computed at all, so the exponentials of a softmax are computed once too. The loops are written out, because
// registers have no index; that bounds the length of a row.
//
// A value that many loops take is kept by the first one. Where all of them together are too many, only loads are kept.
//
// Equal values in equal trips are recognised, so any number of loops, operands and results works. A thread keeps up to
// 32 values of 32 bits; a row that needs more than a warp has is a block's. Aligned addresses have code of their own.
// The core's merge_groups puts the loops into one kernel where a device has 256 rows or more, if 256 threads can keep a
// row. Of longer rows it wants 2,048.
//
// Not there yet: rows of more than 8,192 values of 32 bits are read again by each loop of a team. So are rows of which
// only some loops read several elements at a time, or whose loops have loops of their own.
#ifndef RICCI_CUDA_KEPT_ROWS_H_
#define RICCI_CUDA_KEPT_ROWS_H_
#include <cstdint>
#include <string>
#include <vector>

#include "codegen/analysis.h"

namespace ricci::cuda {

struct KeptRows {
  std::vector<uint8_t> loops;   // by instruction: a loop that is written out, since it keeps or takes values
  std::vector<uint8_t> keeps;   // by instruction: later loops take its values
  std::vector<uint32_t> of;     // by instruction: the one that keeps its value; 0: it is computed
  std::vector<uint8_t> unused;  // by instruction: only values that are taken needed it
  std::vector<uint8_t> bare;    // by instruction: a loop in which nothing needs the number of the trip
  int64_t values = 0;           // that a thread holds at once, at most; 0: none are kept
  std::string reason;           // why none are, though loops compute the same; empty: they do not

  bool IsUsed() const { return values != 0; }
  bool IsComputed(uint32_t i) const { return !IsUsed() || (of[i] == 0 && unused[i] == 0); }
};
// Of the loops that are `shared` by teams of `size` threads.
KeptRows KeptRowsOf(const ricci_kernel_table& k, const codegen::Blocks& blocks, const std::vector<uint8_t>& shared,
                    int64_t size);

}  // namespace ricci::cuda
#endif
