#include "cuda/explain/resources.h"

#include <charconv>

namespace ricci::cuda {
namespace {

// The number before each ` what` in the line, added up: `8 bytes spill stores, 4 bytes spill loads` has 12 of
// `bytes spill`.
int SumBefore(std::string_view line, std::string_view what) {
  int sum = 0;
  for (size_t at = line.find(what); at != line.npos; at = line.find(what, at + 1)) {
    if (at < 2 || line[at - 1] != ' ') continue;
    size_t first = at - 1;
    while (first > 0 && line[first - 1] >= '0' && line[first - 1] <= '9') --first;
    int n = 0;
    std::from_chars(line.data() + first, line.data() + at - 1, n);
    sum += n;
  }
  return sum;
}

}  // namespace

std::map<std::string, Resources> ResourcesIn(std::string_view log) {
  constexpr std::string_view kBegin = "Compiling entry function '";
  std::map<std::string, Resources> out;
  Resources* now = nullptr;
  while (!log.empty()) {
    const std::string_view line = log.substr(0, log.find('\n'));
    log.remove_prefix(std::min(line.size() + 1, log.size()));
    if (const size_t at = line.find(kBegin); at != line.npos) {
      const std::string_view name = line.substr(at + kBegin.size());
      now = &out[std::string(name.substr(0, name.find('\'')))];
    }
    if (now == nullptr) continue;
    now->registers += SumBefore(line, "registers");
    now->stack_bytes += SumBefore(line, "bytes stack");
    now->spill_bytes += SumBefore(line, "bytes spill");
    now->shared_bytes += SumBefore(line, "bytes smem");
  }
  return out;
}

}  // namespace ricci::cuda
