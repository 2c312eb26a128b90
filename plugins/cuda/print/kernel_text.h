// A kernel as CUDA C++: a `__global__` function that a person could have written.
//
// The text is plain C: no header, no template, and a few functions that every CUDA compiler knows. So people can read
// it, its errors have a line, and any C++ compiler can run it. PTX is in functions `ricci_dev_*` only (device_text.h).
// The text has each decision as a comment, which `--explain` prints too: KernelPrinter::Decide writes both.
#ifndef RICCI_CUDA_KERNEL_TEXT_H_
#define RICCI_CUDA_KERNEL_TEXT_H_
#include <functional>
#include <string>
#include <string_view>
#include <vector>

#include "cuda/device/device_text.h"
#include "cuda/driver/tensor_map.h"
#include "cuda/driver/text_target.h"
#include "cuda/print/pair_launch.h"
#include "cuda/tile/alignment.h"
#include "cuda/tile/tile_size.h"
#include "ricci/backend.h"

namespace ricci::cuda {

// How the points of a kernel are spread over threads.
struct Launch {
  int64_t points = 0;   // of the domain; 0: nothing runs
  int64_t team = 1;     // threads for each point (team.h)
  int64_t vector = 1;   // points that a thread takes at once (vector.h)
  int64_t columns = 1;  // points whose teams share a block (team.h)
  // Points that update the same elements, where the order matters: the domain is cut into this many groups that never
  // meet, and `lanes` threads go through the points of one in order, sharing the trips of `loop`. 0: in any order.
  int64_t groups = 0, lanes = 1;
  uint32_t loop = 0;
  // That blocks compute in place of points (product_tile.h, transpose_tile.h); 0: there are none.
  int64_t tiles = 0;
  // Shared memory that a launch with tiles gives each block; of NAME_parts if there is one. 0: what the text declares
  // is all.
  uint64_t tile_shared_bytes = 0;
  // Of the function with tiles, NAME or NAME_parts. Where addresses are others, the same with `_unaligned` after its
  // name takes its place: it has the same arguments, launch and results.
  Alignment alignment;
  // Long reductions and scans are made in so many parts by a launch before this one (phases.h), of the function
  // NAME_parts, which leaves them in memory that is the last argument of both. 0: without such a launch.
  int64_t parts = 0;
  int64_t parts_threads = 0;  // of that launch
  uint64_t parts_bytes = 0;
  int64_t blocks = 0;  // of this launch, where it has a block for each part too; 0: it has not
  // Private arrays that are too long for a thread are in memory too, the last argument, which holds so many bytes for
  // each thread that is launched. 0: they are the thread's.
  uint64_t thread_bytes = 0;
  // That the function and NAME_parts are given after all other arguments.
  std::vector<TensorMap> maps;
  PairLaunch pairs;  // the same by pairs of blocks, where the architecture has products of groups of warps
  // What was decided and why, for people: of the function, and of NAME_parts.
  std::vector<std::string> decisions, decisions_of_parts;

  // Dynamic shared memory of a block, of the function or of NAME_parts.
  uint64_t shared_bytes(bool of_parts) const { return of_parts == (parts != 0) ? tile_shared_bytes : 0; }
  // Of the function with tiles, of `name`.
  std::string NameOfUnaligned(const std::string& name) const {
    return name + (parts != 0 ? "_parts" : "") + "_unaligned";
  }
  int64_t threads() const {
    if (points == 0) return 0;
    if (tiles != 0) return tiles * kTileThreads;
    if (groups != 0) return groups * lanes;
    if (blocks != 0) return blocks * team;
    return columns > 1 ? (points + columns - 1) / columns * columns * team : (points + vector - 1) / vector * team;
  }
};

// The function that makes an update of integers at once; empty if there is none that every device has.
std::string_view AtomicName(uint32_t combiner, uint32_t dtype);

// The directive for a location in the host's source (source_lines.h); empty where it is unknown.
using LineOf = std::function<std::string(uint64_t location)>;

// Appends the function `name`, whose arguments are the addresses of the buffers, then that of the word of failed
// checks; `launch` is how it wants to be launched. `in_arena`: by buffer, whether its address is a multiple of
// kArenaAlignment in every launch. False, with `error`, if the kernel holds what cannot be printed.
inline constexpr uint64_t kArenaAlignment = 16;
bool PrintKernel(const ricci_kernel_table& k, const std::string& name, const TextTarget& target,
                 const std::vector<uint8_t>& in_arena, const LineOf& line_of, DeviceText& device, std::string& text,
                 Launch& launch, std::string& error);

}  // namespace ricci::cuda
#endif
