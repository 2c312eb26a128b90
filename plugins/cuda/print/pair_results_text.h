// PairResults: what groups of warps of pairs of blocks do with their sums (pairs_of_blocks_text.cc), as text.
//
// Where the GPU stores (result_form.h), sums are rounded in registers and left in pieces in shared memory: results of
// 16 bits by matrices of 8 x 8 (`stmatrix`), those of 32 in pairs. Before a piece is written again its last store must
// have read it. Stores are in groups of the thread that asks for them, so that one waits, and all warps of the group
// meet before they write, and before it asks. Elsewhere each warp brings its sums to the points by a slot of its own in
// shared memory, 16 rows and 64 columns at a time, so that warps do not wait for each other, and threads store.
#ifndef RICCI_CUDA_PAIR_RESULTS_TEXT_H_
#define RICCI_CUDA_PAIR_RESULTS_TEXT_H_
#include <string>

#include "cuda/print/kernel_printer.h"

namespace ricci::cuda {

class PairResults {
 public:
  // Of shared memory, for either way.
  static constexpr int64_t kBytes = PairTile::kGroups * ResultForm::kPieces * ResultForm::kPieceBytes;

  // For the printer of the tile that is being written.
  explicit PairResults(KernelPrinter& p) : p_(p), form_(p.pair_tile_.result) {}
  // `begin`: where they are in shared memory.
  void Begin(int64_t begin);
  void OfTile();
  void End();
  std::string Decision() const;

 private:
  // ---- stored by the GPU ----
  void StorePiece();
  void KeepMatrices();  // of 16 bits
  void KeepPairs();     // of 32
  void PointsOfTwo(const std::string& lower, const std::string& matrix);
  // ---- stored by threads ----
  void StorePass();
  void PointsOfWarp();

  KernelPrinter& p_;
  const ResultForm& form_;
};

}  // namespace ricci::cuda
#endif
