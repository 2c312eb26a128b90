#include "fibers.h"

#include <ucontext.h>

#include <algorithm>
#include <cstring>
#include <memory>
#include <numeric>
#include <random>
#include <vector>

namespace ricci::cuda::standin {
namespace {

constexpr size_t kStackBytes = 384 << 10;  // the private arrays of a thread, and what calls need
constexpr size_t kWarp = 32;

enum class State : uint8_t { kReady, kMeets, kBarrier, kDone };

struct Fiber {
  ucontext_t context;
  Place place;
  State state = State::kReady;
  Meeting meeting;  // where it waits, with kMeets
};

struct Block {
  Kernel kernel;
  void** arguments;
  std::vector<Fiber> fibers;
  std::vector<size_t> order;  // in which they run
  ucontext_t scheduler;
  Fiber* running = nullptr;
  std::string fault;
};
thread_local Block* block = nullptr;

size_t NumberOf(const Fiber& f) { return static_cast<size_t>(&f - block->fibers.data()); }
Fiber* WarpOf(const Fiber& f) { return &block->fibers[NumberOf(f) / kWarp * kWarp]; }
size_t LanesOf(const Fiber& f) { return std::min(kWarp, block->fibers.size() - NumberOf(f) / kWarp * kWarp); }
bool Names(unsigned mask, size_t lane) { return (mask >> lane & 1) != 0; }

// ---- what a thread does ----
void Wait(State state) {
  Block* const b = block;
  Fiber* const f = b->running;
  f->state = state;
  swapcontext(&f->context, &b->scheduler);
}
void Meet(const Meeting& at) {
  block->running->meeting = at;
  Wait(State::kMeets);
}
void Barrier() { Wait(State::kBarrier); }

void Begin() {
  Fiber* const f = block->running;
  block->kernel(block->arguments, &f->place);
  Wait(State::kDone);
}

void Run(Block& b, Fiber& f) {
  b.running = &f;
  swapcontext(&b.scheduler, &f.context);
}

bool All(const Block& b, State state) {
  return std::all_of(b.fibers.begin(), b.fibers.end(), [state](const Fiber& f) { return f.state == state; });
}

// ---- operations of warps ----
bool IsSameMeeting(const Meeting& a, const Meeting& b) {
  return std::strcmp(a.what, b.what) == 0 && a.site == b.site && a.mask == b.mask && a.bytes == b.bytes;
}

// Whether all lanes that the mask of `f` names wait where it does.
bool HaveCome(const Fiber& f) {
  const Fiber* const warp = WarpOf(f);
  for (size_t lane = 0; lane < kWarp; ++lane) {
    if (!Names(f.meeting.mask, lane)) continue;
    if (lane >= LanesOf(f) || warp[lane].state != State::kMeets) return false;
    if (!IsSameMeeting(f.meeting, warp[lane].meeting)) return false;
  }
  return true;
}

void Exchange(Fiber& f) {
  Fiber* const warp = WarpOf(f);
  const Meeting met = f.meeting;
  for (size_t to = 0; to < kWarp; ++to) {
    if (!Names(met.mask, to)) continue;
    for (size_t from = 0; from < kWarp; ++from) {
      if (!Names(met.mask, from) || met.bytes == 0) continue;
      std::memcpy(static_cast<char*>(warp[to].meeting.all) + from * met.bytes, warp[from].meeting.mine, met.bytes);
    }
    warp[to].state = State::kReady;
  }
}

// ---- the order ----
// The first seeds run threads forwards and backwards; others draw warps, and lanes within them.
std::vector<size_t> OrderOf(size_t n, uint64_t seed) {
  std::vector<size_t> order(n);
  std::iota(order.begin(), order.end(), size_t{0});
  if (seed % 2 == 0) std::reverse(order.begin(), order.end());
  if (seed <= 2) return order;
  std::mt19937_64 random(seed);
  std::vector<uint64_t> of_warp(n / kWarp + 1), of_lane(n);
  for (uint64_t& w : of_warp) w = random();
  for (uint64_t& l : of_lane) l = random();
  std::sort(order.begin(), order.end(), [&](size_t a, size_t b) {
    if (a / kWarp != b / kWarp) return of_warp[a / kWarp] < of_warp[b / kWarp];
    return of_lane[a] < of_lane[b];
  });
  return order;
}

// A warp runs until none of its lanes can go on. True if something could.
bool AdvanceWarp(Block& b, size_t first, size_t last) {
  bool any = false;
  for (bool more = true; more && b.fault.empty();) {
    more = false;
    for (size_t i = first; i < last; ++i) {
      Fiber& f = b.fibers[b.order[i]];
      if (f.state == State::kReady) Run(b, f), more = true;
    }
    for (size_t i = first; i < last; ++i) {
      Fiber& f = b.fibers[b.order[i]];
      if (f.state == State::kMeets && HaveCome(f)) Exchange(f), more = true;
    }
    any |= more;
  }
  return any;
}

bool Advance(Block& b) {
  bool any = false;
  for (size_t first = 0, last; first < b.order.size(); first = last) {
    for (last = first; last < b.order.size() && b.order[last] / kWarp == b.order[first] / kWarp;) ++last;
    any |= AdvanceWarp(b, first, last);
  }
  if (!All(b, State::kBarrier)) return any;
  for (Fiber& f : b.fibers) f.state = State::kReady;
  return true;
}

// ---- threads that can never go on ----
std::string At(const Fiber& f) {
  const std::string thread = "thread " + std::to_string(NumberOf(f));
  if (f.state == State::kDone) return thread + " has ended";
  return thread + " waits at " + (f.state == State::kBarrier ? "__syncthreads" : f.meeting.what);
}

// Why lanes that the mask of `f` names do not meet it.
std::string WhyApart(const Fiber& f) {
  const Fiber* const warp = WarpOf(f);
  for (size_t lane = 0; lane < kWarp; ++lane) {
    if (!Names(f.meeting.mask, lane)) continue;
    const std::string named = "lane " + std::to_string(lane) + " of its mask ";
    if (lane >= LanesOf(f)) return named + "is not there";
    const Fiber& other = warp[lane];
    if (other.state != State::kMeets) return At(other);
    if (f.meeting.mask != other.meeting.mask) return At(other) + " with another mask";
    if (!IsSameMeeting(f.meeting, other.meeting)) return At(other) + " elsewhere";
  }
  return "";
}

std::string WhyStuck(const Block& b) {
  for (const Fiber& f : b.fibers) {
    if (f.state == State::kMeets) return "wrong mask or shuffle: " + At(f) + ", " + WhyApart(f);
  }
  const auto find = [&](State state) {
    return std::find_if(b.fibers.begin(), b.fibers.end(), [=](const Fiber& f) { return f.state == state; });
  };
  return "divergent barrier: " + At(*find(State::kBarrier)) + ", " + At(*find(State::kDone));
}

// ---- stacks ----
// Kept for the next block of this thread.
char* StackOf(size_t fiber) {
  thread_local std::vector<std::unique_ptr<char[]>> stacks;
  while (stacks.size() <= fiber) stacks.emplace_back(new char[kStackBytes]);
  return stacks[fiber].get();
}

void Prepare(Fiber& f, size_t i, const Place& launch) {
  f.place = launch;
  f.place.thread[0] = static_cast<unsigned>(i % launch.threads[0]);
  f.place.thread[1] = static_cast<unsigned>(i / launch.threads[0] % launch.threads[1]);
  f.place.thread[2] = static_cast<unsigned>(i / launch.threads[0] / launch.threads[1]);
  f.place.meet = Meet;
  f.place.barrier = Barrier;
  getcontext(&f.context);
  f.context.uc_stack.ss_sp = StackOf(i);
  f.context.uc_stack.ss_size = kStackBytes;
  makecontext(&f.context, Begin, 0);
}

}  // namespace

std::string RunBlock(Kernel kernel, void** arguments, const Place& launch, uint64_t seed) {
  const size_t n = size_t{launch.threads[0]} * launch.threads[1] * launch.threads[2];
  Block b{kernel, arguments, std::vector<Fiber>(n), OrderOf(n, seed), {}, nullptr, {}};
  for (size_t i = 0; i < n; ++i) Prepare(b.fibers[i], i, launch);
  block = &b;
  while (b.fault.empty() && !All(b, State::kDone)) {
    if (!Advance(b)) b.fault = WhyStuck(b);
  }
  block = nullptr;
  return b.fault;
}

}  // namespace ricci::cuda::standin
