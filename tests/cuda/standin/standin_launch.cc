// Launches of kernels: blocks in sequence, in an order that the seed decides.
//
// Reported: dynamic shared memory above 48 KB that was not asked for, or more than the device has. Private arrays take
// memory of the device for all threads that can be resident, as with the driver.
#include <algorithm>
#include <atomic>
#include <cstring>
#include <numeric>
#include <optional>
#include <random>
#include <vector>

#include "fibers.h"

namespace ricci::cuda::standin {
namespace {

constexpr uint64_t kSeeds = 1000003;  // between the seeds of two launches
std::atomic<uint64_t> bound{uint64_t{1} << 32};

// The place of number `i` of these sizes, counted along x first.
void PlaceAt(uint64_t i, const unsigned (&sizes)[3], unsigned (&out)[3]) {
  for (int d = 0; d < 3; ++d) {
    out[d] = static_cast<unsigned>(i % sizes[d]);
    i /= sizes[d];
  }
}

// Seeds as for threads (fibers.cc).
std::vector<uint64_t> OrderOfBlocks(uint64_t n, uint64_t seed) {
  std::vector<uint64_t> order(n);
  std::iota(order.begin(), order.end(), uint64_t{0});
  if (seed % 2 == 0) std::reverse(order.begin(), order.end());
  if (seed > 2) std::shuffle(order.begin(), order.end(), std::mt19937_64(seed));
  return order;
}

void Complain(const std::string& what) {
  Machine& m = Machine::Get();
  const std::lock_guard lock(m.mutex);
  m.Complain(what);
}

// What a kernel writes is not seen if its text is not checked: it may be all that it is given.
void MightWrite(const std::vector<CuPointer>& arguments) {
  Machine& m = Machine::Get();
  const std::lock_guard lock(m.mutex);
  for (const CuPointer p : arguments) {
    const auto [first, a] = m.AllocationAt(static_cast<uintptr_t>(p));
    if (a != nullptr) m.Write(first, a->bytes);
  }
}

// What the driver keeps for the private arrays of a kernel: for as many threads as can be resident on the GPU, whatever
// is launched.
uint64_t LocalBytes(const Function& f) {
  constexpr uint64_t kResidentThreads = 2048;
  return f.stack_bytes * kResidentThreads * kProcessors;
}

// Kernels run one at a time, since their shared memory is that of the code. True if none of its threads did what ends
// a launch.
void RunGrid(const Function& f, std::vector<CuPointer>& values, std::vector<CuTensorMap>& maps, const Place& place,
             uint64_t shared_bytes, const StepRef& step) {
  static std::mutex& one_at_a_time = *new std::mutex;
  const std::lock_guard lock(one_at_a_time);
  if (f.module->is_unloaded) return Complain("kernel " + f.name + ": its module was unloaded before it ran");
  std::optional<LaunchCheck> check;
  std::vector<void*> arguments;
  for (CuPointer& v : values) arguments.push_back(&v);
  for (CuTensorMap& m : maps) arguments.push_back(&m);
  Machine& machine = Machine::Get();
  const uint64_t seed = machine.seed <= 2 ? machine.seed : machine.seed + kSeeds * machine.launches++;
  Launch launch{f, arguments.data(), place, seed, nullptr};
  uint64_t blocks_left = bound;
  launch.place.blocks_left = &blocks_left;
  launch.place.set_condition = SetCondition;
  RunsKernel(step);
  if (f.library->is_checked) {
    launch.check = &check.emplace(f, values, shared_bytes);
  } else {
    MightWrite(values);
  }
  const uint64_t blocks = uint64_t{place.blocks[0]} * place.blocks[1] * place.blocks[2];
  for (const uint64_t cluster : OrderOfBlocks(blocks / f.cluster, launch.seed)) {
    const uint64_t b = cluster * f.cluster;
    PlaceAt(b, place.blocks, launch.place.block);
    if (check) check->BeginBlock(b);
    const std::string fault = RunBlock(launch);
    if (check) check->EndBlock();
    if (fault.empty()) continue;
    Complain("kernel " + f.name + ": " + fault);
    break;
  }
  RunsKernel(nullptr);
  if (check) check->Touch(step);
}

}  // namespace

std::string NameOf(CuFunction f) { return As<Function>(f).name; }

CuResult MakeLaunch(CuFunction function, const unsigned (&grid)[3], const unsigned (&block)[3], void** arguments,
                    unsigned shared_bytes, Work& out) {
  constexpr uint64_t kMostThreads = 1024;
  const Function& f = As<Function>(function);
  Place place{};
  uint64_t blocks = 1, threads = 1;
  for (int d = 0; d < 3; ++d) {
    blocks *= place.blocks[d] = grid[d];
    threads *= place.threads[d] = block[d];
  }
  if (blocks == 0 || threads == 0 || threads > kMostThreads || shared_bytes > f.most_shared) return kInvalidValue;
  if (grid[0] % f.cluster != 0) return kInvalidClusterSize;
  if (LocalBytes(f) > kMemoryBytes) return kCuOutOfMemory;
  std::vector<CuPointer> values;
  std::vector<CuTensorMap> maps(f.maps);
  const uint64_t n = f.arguments - f.maps;
  for (uint64_t i = 0; i < n; ++i) values.push_back(*static_cast<CuPointer*>(arguments[i]));
  for (uint64_t i = 0; i < f.maps; ++i) std::memcpy(&maps[i], arguments[n + i], sizeof maps[i]);
  out = [&f, values, maps, place, shared_bytes](const StepRef& step) mutable {
    RunGrid(f, values, maps, place, shared_bytes, step);
  };
  return kCuSuccess;
}

CuResult cuFuncSetAttribute(CuFunction f, int attribute, int value) {
  Machine& m = Machine::Get();
  const std::lock_guard lock(m.mutex);
  if (CurrentDevice(m, "cuFuncSetAttribute") < 0) return kInvalidContext;
  if (attribute != kCuFunctionMostShared || value < 0 || static_cast<unsigned>(value) > m.MostSharedBytes()) {
    return kInvalidValue;
  }
  As<Function>(f).most_shared = static_cast<unsigned>(value);
  return kCuSuccess;
}

CuResult cuLaunchKernel(CuFunction f, unsigned grid_x, unsigned grid_y, unsigned grid_z, unsigned block_x,
                        unsigned block_y, unsigned block_z, unsigned shared_bytes, CuStream stream, void** arguments,
                        void**) {
  Work launch;
  const CuResult result =
      MakeLaunch(f, {grid_x, grid_y, grid_z}, {block_x, block_y, block_z}, arguments, shared_bytes, launch);
  if (result != kCuSuccess) return result;
  return Push("cuLaunchKernel", stream, std::move(launch), /*gives_back=*/false, "kernel " + NameOf(f), {f});
}

}  // namespace ricci::cuda::standin

extern "C" void ricci_standin_bound(uint64_t blocks) { ricci::cuda::standin::bound = blocks; }
