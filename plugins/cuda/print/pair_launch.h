// PairLaunch: how a kernel is launched whose tiles pairs of blocks compute (pair_tile.h): the function NAME_pairs, in
// place of the function NAME, in each run whose addresses are aligned.
#ifndef RICCI_CUDA_PAIR_LAUNCH_H_
#define RICCI_CUDA_PAIR_LAUNCH_H_
#include <algorithm>
#include <cstdint>
#include <vector>

#include "cuda/driver/tensor_map.h"
#include "cuda/tile/alignment.h"

namespace ricci::cuda {

struct PairLaunch {
  int64_t pairs = 0;  // of tiles; 0: without such a function
  unsigned threads = 0;
  uint64_t shared_bytes = 0;    // of a block
  std::vector<TensorMap> maps;  // that it is given after all other arguments
  Alignment alignment;

  // A block for each of so many processors; 0: for each tile.
  unsigned blocks(int64_t processors) const {
    const int64_t at_once = processors == 0 ? pairs : std::max<int64_t>(processors / 2, 1);
    return static_cast<unsigned>(std::min(pairs, at_once) * 2);
  }
};

}  // namespace ricci::cuda
#endif
