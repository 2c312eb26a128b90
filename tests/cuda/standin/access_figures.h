// How well the accesses of warps use memory: what the lanes of a warp access at one place of the text, the same time
// that each comes there, is one request.
//
// Memory of the device moves in sectors of 32 bytes, so the figure is the sectors that a request touches against the
// least that its bytes need. Shared memory has 32 banks of 4 bytes: lanes that want different words of a bank wait for
// each other; of accesses of 8 and 16 bytes the lanes of a half and of a quarter of a warp are served together.
//
// Counted after `ricci_standin_count`. At -O0 a value that is read twice counts twice.
#ifndef RICCI_TESTS_CUDA_ACCESS_FIGURES_H_
#define RICCI_TESTS_CUDA_ACCESS_FIGURES_H_
#include <cstdint>
#include <map>
#include <utility>
#include <vector>

#include "standin_figures.h"

namespace ricci::cuda::standin {

class AccessFigures {
 public:
  // `memory`: 0, or whose shared memory it is: each block of a cluster has banks of its own.
  void Note(uint32_t thread, const void* site, uintptr_t address, uint32_t bytes, bool is_shared, uint32_t memory);
  // Counts the requests of the block that has ended.
  void EndBlock(ricci_standin_figures& figures);

 private:
  struct Lane {
    uint32_t warp;
    const void* site;
    uint32_t time, lane;  // the number of times that the lane has been there; which piece of 16 bytes
    uint32_t piece, memory;
    uintptr_t address;
    uint32_t bytes;
    bool is_shared;
  };
  using Request = std::vector<Lane>;
  static void Count(const Request& r, ricci_standin_figures& figures);

  std::vector<Lane> lanes_;
  std::map<std::pair<uint32_t, const void*>, uint32_t> times_;
};

}  // namespace ricci::cuda::standin
#endif
