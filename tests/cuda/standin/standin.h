// A stand-in for libcuda and NVRTC: a simulated GPU whose memory is the host's and whose kernels are compiled by g++.
//
// What is enqueued runs only when somebody waits for it, so a forgotten wait shows as poison. Every address of a copy
// is checked against what is allocated. Threads of a kernel run one after the other, in an order that a seed decides.
// Mistakes and what was not given back are lines of the report.
#ifndef RICCI_TESTS_CUDA_STANDIN_H_
#define RICCI_TESTS_CUDA_STANDIN_H_
#include <condition_variable>
#include <cstdint>
#include <deque>
#include <functional>
#include <map>
#include <mutex>
#include <string>

#include "driver.h"

namespace ricci::cuda::standin {

constexpr int kDevices = 2;
constexpr uint64_t kMemoryBytes = uint64_t{1} << 30;  // of each device

struct Stream {
  int device = 0;
  std::deque<std::function<void()>> queue;
  uint64_t pushed = 0, done = 0;
  bool running = false;
};
struct Event {
  Stream* stream = nullptr;
  uint64_t at = 0;  // come once that many operations of the stream are done
};
struct Allocation {
  uint64_t bytes;
  int device;
};

class Machine {
 public:
  static Machine& Get();

  std::mutex mutex;
  std::condition_variable changed;
  std::map<uintptr_t, Allocation> memory;
  uint64_t used[kDevices] = {};
  std::deque<Stream> all_streams;  // also those that were dropped: events may name them
  int64_t streams = 0, events = 0, modules = 0, contexts = 0, pinned = 0;
  std::string complaints;
  uint64_t seed = 1;

  void Complain(const std::string& what) { complaints += what + "\n"; }  // with the mutex held
  bool Holds(CuPointer p, uint64_t bytes) const;
  void Push(Stream& s, std::function<void()> operation);
  // Runs operations of `s` until `count` are done. The lock is held by the caller and let go while one runs.
  void Drain(std::unique_lock<std::mutex>& lock, Stream& s, uint64_t count);
};

// ---- standin_compiler.cc ----
struct Module {
  void* library = nullptr;
};
// Where a thread is: block, blocks, thread in its block, threads of a block; each by x, y, z.
struct Place {
  unsigned block[3], blocks[3], thread[3], threads[3];
  // How the thread meets others of its block (fibers.h).
  uint64_t (*shuffle)(uint64_t value, unsigned across);
  void (*barrier)();
};
// A kernel of a module, called with the addresses of its arguments as one thread; without a place it tells how many
// arguments it has, and kMeets if its threads wait for each other.
constexpr uint64_t kMeets = uint64_t{1} << 32;
using Kernel = uint64_t (*)(void** arguments, const Place* place);
CuResult LoadModule(const void* image, Module& out);
Kernel FindKernel(const Module& module, const char* name);

}  // namespace ricci::cuda::standin

// What went wrong and what was not given back; empty if there is nothing. The memory of the text is the stand-in's.
extern "C" const char* ricci_standin_report();
extern "C" void ricci_standin_seed(uint64_t seed);
#endif
