#include "fibers.h"

#include <ucontext.h>

#include <algorithm>
#include <memory>
#include <vector>

namespace ricci::cuda::standin {
namespace {

constexpr size_t kStackBytes = 384 << 10;  // the private arrays of a thread, and what calls need
constexpr size_t kWarp = 32;

enum class State : uint8_t { kReady, kShuffle, kBarrier, kDone };

struct Fiber {
  ucontext_t context;
  std::unique_ptr<char[]> stack;
  Place place;
  State state = State::kReady;
  uint64_t value = 0;  // of a shuffle: given, then taken
  unsigned across = 0;
};

struct Block {
  Kernel kernel;
  void** arguments;
  std::vector<Fiber> fibers;
  ucontext_t scheduler;
  Fiber* running = nullptr;
};
Block* block = nullptr;  // one at a time

void Wait(State state) {
  Block* const b = block;
  Fiber* const f = b->running;
  f->state = state;
  swapcontext(&f->context, &b->scheduler);
}
uint64_t Shuffle(uint64_t value, unsigned across) {
  Fiber* const f = block->running;
  f->value = value;
  f->across = across;
  Wait(State::kShuffle);
  return f->value;
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

bool All(const Block& b, size_t first, size_t last, State state) {
  return std::all_of(b.fibers.begin() + static_cast<ptrdiff_t>(first), b.fibers.begin() + static_cast<ptrdiff_t>(last),
                     [state](const Fiber& f) { return f.state == state; });
}

// Lanes of a warp that have all reached a shuffle get the value of their partners.
void Exchange(Block& b, size_t first, size_t last) {
  std::vector<uint64_t> values;
  for (size_t i = first; i < last; ++i) values.push_back(b.fibers[i].value);
  for (size_t i = first; i < last; ++i) {
    const size_t partner = (i - first) ^ b.fibers[i].across;
    if (partner < values.size()) b.fibers[i].value = values[partner];
    b.fibers[i].state = State::kReady;
  }
}

// True if something could go on.
bool Advance(Block& b, bool backwards) {
  bool any = false;
  const size_t n = b.fibers.size();
  for (size_t i = 0; i < n; ++i) {
    Fiber& f = b.fibers[backwards ? n - 1 - i : i];
    if (f.state != State::kReady) continue;
    Run(b, f);
    any = true;
  }
  for (size_t first = 0; first < n; first += kWarp) {
    const size_t last = std::min(first + kWarp, n);
    if (!All(b, first, last, State::kShuffle)) continue;
    Exchange(b, first, last);
    any = true;
  }
  if (All(b, 0, n, State::kBarrier)) {
    for (Fiber& f : b.fibers) f.state = State::kReady;
    any = true;
  }
  return any;
}

}  // namespace

void RunBlock(Kernel kernel, void** arguments, const Place& launch, uint64_t seed) {
  Block b{kernel, arguments, {}, {}, nullptr};
  b.fibers.resize(size_t{launch.threads[0]} * launch.threads[1] * launch.threads[2]);
  for (size_t i = 0; i < b.fibers.size(); ++i) {
    Fiber& f = b.fibers[i];
    f.stack.reset(new char[kStackBytes]);
    f.place = launch;
    f.place.thread[0] = static_cast<unsigned>(i % launch.threads[0]);
    f.place.thread[1] = static_cast<unsigned>(i / launch.threads[0] % launch.threads[1]);
    f.place.thread[2] = static_cast<unsigned>(i / launch.threads[0] / launch.threads[1]);
    f.place.shuffle = Shuffle;
    f.place.barrier = Barrier;
    getcontext(&f.context);
    f.context.uc_stack.ss_sp = f.stack.get();
    f.context.uc_stack.ss_size = kStackBytes;
    makecontext(&f.context, Begin, 0);
  }
  block = &b;
  while (!All(b, 0, b.fibers.size(), State::kDone) && Advance(b, seed % 2 == 0)) {
  }
  block = nullptr;
  if (All(b, 0, b.fibers.size(), State::kDone)) return;
  Machine& m = Machine::Get();
  const std::lock_guard lock(m.mutex);
  m.Complain("threads of a block wait for others that have ended, or wait elsewhere");
}

}  // namespace ricci::cuda::standin
