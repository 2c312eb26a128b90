// The numbers are those of the table of compute capabilities in NVIDIA's CUDA programming guide. Registers are given to
// warps in pieces, and warps to a processor's four parts; shared memory is given to blocks in pieces.
#include "cuda/explain/occupancy.h"

#include <algorithm>

namespace ricci::cuda {
namespace {

struct Processor {
  std::string_view architecture;
  int warps, blocks, shared_bytes, reserved_bytes;  // reserved: of each block
};
constexpr int kRegisters = 65536, kRegisterPiece = 256, kParts = 4, kKilo = 1024;
constexpr int kSharedPiece = 128;  // 256 before sm_80, which no limit of sm_75 shows
constexpr Processor kProcessors[] = {
    {"sm_75", 32, 16, 64 * kKilo, 0},       {"sm_80", 64, 32, 164 * kKilo, kKilo},
    {"sm_86", 48, 16, 100 * kKilo, kKilo},  {"sm_87", 48, 16, 164 * kKilo, kKilo},
    {"sm_89", 48, 24, 100 * kKilo, kKilo},  {"sm_90", 64, 32, 228 * kKilo, kKilo},
    {"sm_100", 64, 32, 228 * kKilo, kKilo}, {"sm_103", 64, 32, 228 * kKilo, kKilo},
    {"sm_110", 48, 24, 228 * kKilo, kKilo}, {"sm_120", 48, 24, 100 * kKilo, kKilo},
    {"sm_121", 48, 24, 100 * kKilo, kKilo},
};

int RoundedUp(int n, int piece) { return (n + piece - 1) / piece * piece; }

}  // namespace

std::optional<int> OccupancyOf(std::string_view architecture, const Resources& used, int threads) {
  const std::string_view plain = architecture.substr(0, architecture.find_last_of("0123456789") + 1);  // sm_90a
  for (const Processor& p : kProcessors) {
    if (p.architecture != plain) continue;
    const int warps = (threads + 31) / 32;
    int blocks = std::min(p.blocks, p.warps / warps);
    if (used.registers > 0) {
      const int held = kRegisters / RoundedUp(used.registers * 32, kRegisterPiece) / kParts * kParts;
      blocks = std::min(blocks, held / warps);
    }
    const int bytes = RoundedUp(used.shared_bytes + p.reserved_bytes, kSharedPiece);
    if (bytes > 0) blocks = std::min(blocks, p.shared_bytes / bytes);
    return 100 * blocks * warps / p.warps;
  }
  return std::nullopt;
}

}  // namespace ricci::cuda
