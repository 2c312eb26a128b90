#include "fibers.h"

#include <algorithm>
#include <cstddef>
#include <cstring>
#include <memory>
#include <numeric>
#include <random>
#include <utility>
#include <vector>

#include "bulk_stores.h"
#include "mbarriers.h"
#include "stack_switch.h"

namespace ricci::cuda::standin {
namespace {

constexpr size_t kStackBytes = 384 << 10;  // the private arrays of a thread, and what calls need
constexpr size_t kAloneBytes = 8 << 20;    // of the fiber in which threads run that never wait
constexpr size_t kWarp = 32;

// kBarrier: of the block or of its cluster; kNamed: of some threads of the block.
enum class State : uint8_t { kReady, kMeets, kBarrier, kNamed, kPhase, kDone };

struct Fiber {
  Suspended suspended;
  char* stack = nullptr;
  size_t stack_bytes = 0;
  Place place;
  Thread thread;
  State state = State::kReady;
  Meeting meeting;  // where it waits, with kMeets
  AsyncCopies copies;
  PhaseWait wait;          // with kPhase
  unsigned named[2] = {};  // with kNamed: the number of the barrier, and its threads
};

struct Block {
  const Launch& launch;
  std::vector<Fiber>& fibers;
  std::vector<size_t> order;  // in which they run
  Suspended scheduler;
  Fiber* running = nullptr;
  std::string fault;
  Mbarriers mbarriers;
  BulkStores stores;
};
Block* block = nullptr;  // one at a time

size_t NumberOf(const Fiber& f) { return static_cast<size_t>(&f - block->fibers.data()); }
Fiber* WarpOf(const Fiber& f) { return &block->fibers[NumberOf(f) / kWarp * kWarp]; }
size_t LanesOf(const Fiber& f) { return std::min(kWarp, block->fibers.size() - NumberOf(f) / kWarp * kWarp); }
bool Names(unsigned mask, size_t lane) { return (mask >> lane & 1) != 0; }

// ---- fibers and stacks ----
// Kept for the next block of this thread. One pointer: hosts that load many libraries have little room left for the
// variables of threads that are there from the start.
struct OfThread {
  std::vector<Fiber> fibers;
  std::vector<std::unique_ptr<char[]>> stacks;
  std::unique_ptr<char[]> alone;
  std::vector<char> given;
};
OfThread& Kept() {
  thread_local const std::unique_ptr<OfThread> kept(new OfThread);
  return *kept;
}
std::vector<Fiber>& Fibers(size_t n) {
  Kept().fibers.resize(n);
  return Kept().fibers;
}
char* StackOf(size_t fiber) {
  std::vector<std::unique_ptr<char[]>>& stacks = Kept().stacks;
  while (stacks.size() <= fiber) stacks.emplace_back(new char[kStackBytes]);
  return stacks[fiber].get();
}
char* StackOfAlone() {
  std::unique_ptr<char[]>& stack = Kept().alone;
  if (stack == nullptr) stack.reset(new char[kAloneBytes]);
  return stack.get();
}

// ---- what a thread does ----
void Leave() { Switch(block->running->suspended, block->scheduler); }
void Wait(State state) {
  block->running->state = state;
  Leave();
}
void Meet(const Meeting& at) {
  block->running->meeting = at;
  Wait(State::kMeets);
}

// The thread does not go on, nor does any other. Nothing in its stack may own memory.
void OnAccess(const void* p, uint32_t bytes, uint32_t kind, const void* site) {
  LaunchCheck* const check = block->launch.check;
  if (check == nullptr || check->Note(reinterpret_cast<uintptr_t>(p), bytes, kind, site)) return;
  block->fault = check->Fault();
  Leave();
}
void SetPtxFault(const char* text, const char* wrong) {
  block->fault = "inline PTX: thread " + std::to_string(block->running->thread.number) + ": " + wrong + ": " + text;
}
void Ptx(const char* text, PtxOperand* operands, unsigned n, const void* site, char* shared) {
  Fiber& f = *block->running;
  const char* const wrong = EvaluatePtx(text, {f.place, operands, n, site, shared, f.copies});
  if (wrong == nullptr) return;
  SetPtxFault(text, wrong);
  Leave();
}
void FenceProxy() {
  if (block->launch.check != nullptr) block->launch.check->races().Show(block->running->thread);
  block->mbarriers.Show(block->running->thread.number);
}
void FaultOf(const char* what) {
  block->fault = std::string(what) + ": thread " + std::to_string(block->running->thread.number);
  Leave();
}

// ---- barriers and clusters ----
// The threads of a cluster are fibers one block after the other, and as one block to all that looks for faults.
void BarrierOfCluster() { Wait(State::kBarrier); }
void Barrier() {
  if (block->launch.function.cluster != 1) FaultOf("__syncthreads in a cluster, which is not modelled");
  Wait(State::kBarrier);
}
void FenceMbarrierInit() { block->mbarriers.ShowToCluster(block->running->thread.number); }
void OtherBlock(unsigned rank, const void* mbarrier) {
  Fiber& f = *block->running;
  if (rank >= block->launch.function.cluster) FaultOf("a block that its cluster has not is used");
  if (rank == f.place.rank) return;
  const size_t n = block->fibers.size() / block->launch.function.cluster;
  const auto first = block->fibers.begin() + static_cast<std::ptrdiff_t>(rank * n);
  const auto is_done = [](const Fiber& other) { return other.state == State::kDone; };
  if (std::all_of(first, first + static_cast<std::ptrdiff_t>(n), is_done)) FaultOf("a block that has ended is used");
  block->fault = block->mbarriers.UseFromOther(mbarrier, f.thread);
  if (!block->fault.empty()) Leave();
}

// ---- barriers of some threads ----
// Warps come whole (bar.sync is `.aligned`), to a barrier of so many threads as each says.
void NamedBarrier(unsigned number, unsigned threads) {
  constexpr unsigned kBarriers = 16;
  if (number == 0 || number >= kBarriers) FaultOf("bar.sync of no such barrier, or of that of __syncthreads");
  if (threads == 0 || threads % kWarp != 0) FaultOf("bar.sync of a part of a warp");
  block->running->named[0] = number;
  block->running->named[1] = threads;
  Wait(State::kNamed);
}
bool IsAtSameBarrier(const Fiber& a, const Fiber& b) {
  return a.state == State::kNamed && a.place.rank == b.place.rank && a.named[0] == b.named[0];
}
// Whether as many as the barrier of `f` is for have come, which then go on.
bool GoOnFromBarrier(Block& b, const Fiber& f) {
  std::vector<Fiber*> come;
  for (Fiber& other : b.fibers) {
    if (IsAtSameBarrier(other, f)) come.push_back(&other);
  }
  const auto wants_others = [&](const Fiber* c) { return c->named[1] != f.named[1]; };
  if (std::any_of(come.begin(), come.end(), wants_others)) b.fault = "bar.sync of other threads at the same barrier";
  if (come.size() < f.named[1]) return false;
  std::vector<Thread*> threads;
  for (Fiber* const c : come) {
    c->state = State::kReady;
    threads.push_back(&c->thread);
  }
  if (b.launch.check != nullptr) b.launch.check->SyncWarp(threads);
  return true;
}

// ---- mbarriers ----
// Whether something is wrong, which ends the launch: the thread then leaves, with nothing in its stack.
bool IsWrong(std::string wrong) {
  block->fault = std::move(wrong);
  return !block->fault.empty();
}
Asker WhoAsks(const void* site) { return {block->running->thread, block->launch.check, site}; }
void InitMbarrier(void* at, unsigned arrivals, const void* site) {
  if (IsWrong(block->mbarriers.Init(at, arrivals, WhoAsks(site)))) Leave();
}
void ArriveAtMbarrier(void* at, unsigned bytes, const void* site) {
  if (IsWrong(block->mbarriers.Arrive(at, bytes, WhoAsks(site)))) Leave();
}
void CopyBox(const BoxToCopy& box, void* at, const void* site) {
  if (IsWrong(block->mbarriers.Copy(box, at, WhoAsks(site)))) Leave();
}
void WaitForPhase(void* at, unsigned parity, const void* site) {
  Fiber& f = *block->running;
  f.wait = {at, parity};
  if (IsWrong(block->mbarriers.BeginWait(at, WhoAsks(site)))) Leave();
  if (!block->mbarriers.IsOver(f.wait, block->fault)) Wait(State::kPhase);
  block->mbarriers.EndWait(f.wait, WhoAsks(site));
}
// ---- stores of boxes ----
void StoreBox(const BoxToCopy& box, const void* site) {
  if (IsWrong(block->stores.Store(box, WhoAsks(site)))) Leave();
}
void CommitStores() { block->stores.Commit(WhoAsks(nullptr)); }
void WaitForStores(unsigned but, bool only_reads) { block->stores.Wait(but, only_reads, WhoAsks(nullptr)); }

// The thread has waited for all of its groups of products before this one.
void HasWaitedForProducts(unsigned group) {
  if (block->launch.check == nullptr) return;
  Thread& t = block->running->thread;
  RaceLog::Acquire(t, kReaders + t.number, group);
}

void NeverEnds() {
  block->fault = "never ends: thread " + std::to_string(block->running->thread.number) +
                 " runs after as many steps as a launch may have";
  Leave();
}

void Begin() {
  block->launch.function.kernel(block->launch.arguments, &block->running->place);
  Wait(State::kDone);
}

void SetThread(Fiber& f, size_t i) {
  const unsigned(&threads)[3] = f.place.threads;
  const size_t n = size_t{threads[0]} * threads[1] * threads[2];
  f.place.rank = static_cast<unsigned>(i / n);
  f.place.block[0] = block->launch.place.block[0] + f.place.rank;
  f.thread.number = static_cast<uint32_t>(i);
  i %= n;
  f.place.thread[0] = static_cast<unsigned>(i % threads[0]);
  f.place.thread[1] = static_cast<unsigned>(i / threads[0] % threads[1]);
  f.place.thread[2] = static_cast<unsigned>(i / threads[0] / threads[1]);
  // As new, but their memory is kept.
  f.thread.segment = 0;
  f.thread.epoch = 1;
  f.thread.met.clear();
  f.thread.hidden.clear();
  f.copies.open.clear();
  f.copies.groups.clear();
}

// All threads, in sequence.
void BeginAlone() {
  Fiber& f = *block->running;
  for (const size_t i : block->order) {
    SetThread(f, i);
    block->launch.function.kernel(block->launch.arguments, &f.place);
  }
  Wait(State::kDone);
}

void PrepareFiber(Fiber& f, const Launch& launch, void (*begin)(), char* stack, size_t bytes) {
  f.state = State::kReady;
  f.place = launch.place;
  f.place.meet = Meet;
  f.place.barrier = Barrier;
  f.place.access = OnAccess;
  f.place.never_ends = NeverEnds;
  f.place.ptx = Ptx;
  f.place.fence_proxy = FenceProxy;
  f.place.mbarrier_init = InitMbarrier;
  f.place.mbarrier_arrive = ArriveAtMbarrier;
  f.place.mbarrier_wait = WaitForPhase;
  f.place.copy_box = CopyBox;
  f.place.has_waited = HasWaitedForProducts;
  f.place.barrier_of_cluster = BarrierOfCluster;
  f.place.fence_mbarrier_init = FenceMbarrierInit;
  f.place.other_block = OtherBlock;
  f.place.store_box = StoreBox;
  f.place.commit_stores = CommitStores;
  f.place.wait_for_stores = WaitForStores;
  f.place.named_barrier = NamedBarrier;
  f.place.fault = FaultOf;
  f.stack = stack;
  f.stack_bytes = bytes;
  Prepare(f.suspended, begin, stack, bytes);
}

void Run(Block& b, Fiber& f) {
  b.running = &f;
  if (b.launch.check != nullptr) {
    b.launch.check->Runs(&f.thread, reinterpret_cast<uintptr_t>(f.stack), f.stack_bytes);
  }
  Switch(b.scheduler, f.suspended);
}

bool All(const Block& b, State state) {
  return std::all_of(b.fibers.begin(), b.fibers.end(), [state](const Fiber& f) { return f.state == state; });
}

// ---- operations of warps ----
bool IsSameMeeting(const Meeting& a, const Meeting& b) {
  return (a.what == b.what || std::strcmp(a.what, b.what) == 0) && a.site == b.site && a.mask == b.mask &&
         a.bytes == b.bytes && a.group == b.group;
}

// ---- operations of groups of warps ----
Fiber* GroupOf(const Fiber& f) { return &block->fibers[NumberOf(f) / f.meeting.group * f.meeting.group]; }
// The thread of the group of `f` that does not wait where it does; null if all do.
const Fiber* MissingOfGroup(const Fiber& f) {
  const Fiber* const group = GroupOf(f);
  for (size_t i = 0; i < f.meeting.group; ++i) {
    if (group + i == block->fibers.data() + block->fibers.size()) return &f;  // the group is not whole
    if (group[i].state != State::kMeets || !IsSameMeeting(f.meeting, group[i].meeting)) return &group[i];
  }
  return nullptr;
}
void GoOnAsGroup(const Fiber& f) {
  Fiber* const group = GroupOf(f);
  for (size_t i = 0; i < f.meeting.group; ++i) {
    const bool is_same = std::memcmp(group[i].meeting.mine, group->meeting.mine, group->meeting.bytes) == 0;
    if (!is_same && block->fault.empty()) {
      block->fault = std::string(f.meeting.what) + ": thread " + std::to_string(NumberOf(group[i])) +
                     " gives other operands than thread " + std::to_string(NumberOf(*group));
    }
    group[i].state = State::kReady;
  }
}

// Whether all lanes that the mask of `f` names wait where it does.
bool HaveCome(const Fiber& f) {
  if (f.meeting.group != 0) return MissingOfGroup(f) == nullptr;
  const Fiber* const warp = WarpOf(f);
  if (!Names(f.meeting.mask, NumberOf(f) % kWarp)) return false;
  for (size_t lane = 0; lane < kWarp; ++lane) {
    if (!Names(f.meeting.mask, lane)) continue;
    if (lane >= LanesOf(f) || warp[lane].state != State::kMeets) return false;
    if (!IsSameMeeting(f.meeting, warp[lane].meeting)) return false;
  }
  return true;
}

// What the lanes of a meeting give, by lane, goes to each of them.
void Spread(const Meeting& met, Fiber* warp) {
  constexpr unsigned kAll = ~0u;
  std::vector<char>& given = Kept().given;
  given.resize(kWarp * met.bytes);
  for (size_t from = 0; from < kWarp; ++from) {
    if (Names(met.mask, from)) std::memcpy(given.data() + from * met.bytes, warp[from].meeting.mine, met.bytes);
  }
  for (size_t to = 0; to < kWarp; ++to) {
    if (!Names(met.mask, to)) continue;
    char* const all = static_cast<char*>(warp[to].meeting.all);
    for (size_t from = 0; from < kWarp && met.mask != kAll; ++from) {
      if (Names(met.mask, from)) std::memcpy(all + from * met.bytes, given.data() + from * met.bytes, met.bytes);
    }
    if (met.mask == kAll) std::memcpy(all, given.data(), given.size());
  }
}

void Exchange(Fiber& f) {
  if (f.meeting.group != 0) return GoOnAsGroup(f);
  Fiber* const warp = WarpOf(f);
  const Meeting met = f.meeting;
  if (met.bytes != 0) Spread(met, warp);
  std::vector<Thread*> lanes;
  for (size_t to = 0; to < kWarp; ++to) {
    if (!Names(met.mask, to)) continue;
    warp[to].state = State::kReady;
    lanes.push_back(&warp[to].thread);
  }
  LaunchCheck* const check = block->launch.check;
  if (check == nullptr) return;
  if (std::strcmp(met.what, "__syncwarp") == 0) check->SyncWarp(lanes);
  if (std::strcmp(met.what, kEndOfWait) == 0) RaceLog::SyncAgents(lanes);
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
  for (bool more = true; more;) {
    more = false;
    for (size_t i = first; i < last; ++i) {
      Fiber& f = b.fibers[b.order[i]];
      if (f.state != State::kReady) continue;
      Run(b, f);
      if (!b.fault.empty()) return true;
      more = true;
    }
    for (size_t i = first; i < last; ++i) {
      Fiber& f = b.fibers[b.order[i]];
      if (f.state == State::kMeets && HaveCome(f)) Exchange(f), more = true;
      if (f.state == State::kNamed && GoOnFromBarrier(b, f)) more = true;
      if (f.state == State::kPhase && b.mbarriers.IsOver(f.wait, b.fault)) f.state = State::kReady, more = true;
      if (!b.fault.empty()) return true;
    }
    any |= more;
  }
  return any;
}

bool Advance(Block& b) {
  bool any = false;
  for (size_t first = 0, last; first < b.order.size() && b.fault.empty(); first = last) {
    for (last = first; last < b.order.size() && b.order[last] / kWarp == b.order[first] / kWarp;) ++last;
    any |= AdvanceWarp(b, first, last);
  }
  if (!b.fault.empty() || !All(b, State::kBarrier)) return any;
  std::vector<Thread*> threads;
  for (Fiber& f : b.fibers) {
    f.state = State::kReady;
    threads.push_back(&f.thread);
  }
  if (b.launch.check != nullptr) b.launch.check->Barrier(threads);
  b.fault = b.mbarriers.AfterBarrier(b.launch.check);
  if (b.fault.empty()) b.fault = b.stores.AfterBarrier(b.launch.check);
  return true;
}

// ---- threads that can never go on ----
std::string At(const Fiber& f) {
  const std::string thread = "thread " + std::to_string(NumberOf(f));
  if (f.state == State::kDone) return thread + " has ended";
  if (f.state == State::kPhase) return thread + " waits at " + block->mbarriers.Text(f.wait);
  if (f.state == State::kNamed) return thread + " waits at barrier " + std::to_string(f.named[0]);
  return thread + " waits at " + (f.state == State::kBarrier ? "__syncthreads" : f.meeting.what);
}

// Why lanes that the mask of `f` names do not meet it.
std::string WhyApart(const Fiber& f) {
  if (f.meeting.group != 0)
    return At(*MissingOfGroup(f)) + (MissingOfGroup(f) == &f ? ", whose group is not whole" : "");
  const Fiber* const warp = WarpOf(f);
  if (!Names(f.meeting.mask, NumberOf(f) % kWarp)) return "whose mask does not name it";
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
    if (f.state == State::kPhase) return "a phase that never completes: " + At(f);
  }
  for (const Fiber& f : b.fibers) {
    if (f.state == State::kNamed) return "a barrier to which others never come: " + At(f);
  }
  for (const Fiber& f : b.fibers) {
    if (f.state == State::kMeets) return "wrong mask or operation of a warp: " + At(f) + ", " + WhyApart(f);
  }
  const auto find = [&](State state) {
    return std::find_if(b.fibers.begin(), b.fibers.end(), [=](const Fiber& f) { return f.state == state; });
  };
  return "divergent barrier: " + At(*find(State::kBarrier)) + ", " + At(*find(State::kDone));
}

}  // namespace

std::string RunBlock(const Launch& launch) {
  const Place& p = launch.place;
  const bool meets = launch.function.meets;
  const size_t n = size_t{p.threads[0]} * p.threads[1] * p.threads[2] * (meets ? launch.function.cluster : 1);
  Block b{launch, Fibers(meets ? n : 1), OrderOf(n, launch.seed), {}, nullptr, {}, {}, {}};
  block = &b;
  for (size_t i = 0; meets && i < n; ++i) {
    PrepareFiber(b.fibers[i], launch, Begin, StackOf(i), kStackBytes);
    SetThread(b.fibers[i], i);
  }
  if (!meets) PrepareFiber(b.fibers[0], launch, BeginAlone, StackOfAlone(), kAloneBytes);
  if (!meets) Run(b, b.fibers[0]);
  while (b.fault.empty() && !All(b, State::kDone)) {
    if (!Advance(b)) b.fault = WhyStuck(b);
  }
  if (b.fault.empty()) b.fault = b.mbarriers.AtEnd();
  if (b.fault.empty()) b.fault = b.stores.AtEnd();
  block = nullptr;
  return b.fault;
}

}  // namespace ricci::cuda::standin
