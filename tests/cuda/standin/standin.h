// A stand-in for libcuda and NVRTC: a simulated GPU whose memory is the host's and whose kernels are compiled by g++.
//
// What is enqueued runs only when somebody waits for it, so a forgotten wait shows as poison. Every access of a copy or
// of a kernel is checked against what is allocated and what was written (written_bytes.h), and against those of other
// threads (race_log.h) and steps (steps.h). Threads of a kernel run in sequence, and so do the nodes of a graph, in an
// order that a seed decides. Any call can be made to fail. Mistakes and what was not given back are lines of the
// report.
//
// Tests change what it does by functions `ricci_standin_*` (of_standin.h). With RICCI_STANDIN_STRICT in the environment
// a program that knows nothing of the stand-in (a sample, the tool) fails if there is something to report.
//
// Memory that was freed is kept for a while, so that no other allocation has its address. Each operation of a stream
// takes a microsecond for events with times. One operation is done when the host asks for an event in vain.
//
// Reported too: handles and modules that are gone, contexts that are not popped, and what is freed twice. So are calls
// in a context that is known to be destroyed, or in a forked process (standin_host.cc).
#ifndef RICCI_TESTS_CUDA_STANDIN_H_
#define RICCI_TESTS_CUDA_STANDIN_H_
#include <unistd.h>

#include <condition_variable>
#include <cstdint>
#include <deque>
#include <functional>
#include <map>
#include <memory>
#include <mutex>
#include <set>
#include <string>
#include <thread>
#include <utility>
#include <vector>

#include "cuda/driver/driver.h"
#include "ptx.h"
#include "race_log.h"
#include "standin_figures.h"
#include "steps.h"
#include "written_bytes.h"

namespace ricci::cuda::standin {

constexpr int kDevices = 2;
constexpr int kProcessors = 4;                        // of each
constexpr uint64_t kMemoryBytes = uint64_t{1} << 30;  // of each device

// What an operation does, when it comes to its turn.
using Work = std::function<void(const StepRef& step)>;
struct Operation {
  Work run;
  bool gives_back;  // it runs even in a context that has failed
  StepRef step;
  bool takes_time = true;
};
struct Context {
  int device;
  bool is_destroyed = false, is_told = false;  // and whether a call has returned that
};
struct Pool {
  int device;
  uint64_t used = 0, reserved = 0, threshold = 0;
  bool is_destroyed = false;
};
struct Stream;
// What a host captures (standin_capture.cc).
struct Capture {
  CuGraph graph;
  Stream* origin;
  int mode;
  std::thread::id thread;
  bool is_invalid = false, has_ended = false;
};
struct Stream {
  int device = 0;
  Context* context = nullptr;
  bool is_blocking = false, is_counted = false;  // counted: not a default stream
  std::shared_ptr<Capture> capture = nullptr;    // null: it is not captured
  std::vector<CuGraphNode> last = {};            // what comes next in the capture comes after these
  std::deque<Operation> queue;
  uint64_t pushed = 0, done = 0, time = 0;  // time: of those done, how many do not note times
  bool running = false, is_destroyed = false;
  uint64_t number = 0, steps = 0;  // of the stream, as steps name it; of its steps
  Clock clock;                     // of a step that would be enqueued now
};
// When an event came: so many operations of its stream were done then, and of all streams. Each takes a microsecond.
struct EventTime {
  bool has_come = false;
  uint64_t in_stream = 0, of_all = 0;
};
struct Event {
  Stream* stream = nullptr;
  uint64_t at = 0;  // come once that many operations of the stream are done
  Clock clock;
  std::shared_ptr<Capture> capture = nullptr;  // it was recorded in: a point after these nodes
  std::vector<CuGraphNode> last = {};
  int device = 0;
  bool is_timed = false;
  std::shared_ptr<EventTime> time = nullptr;
};
struct Module;
struct Allocation {
  uint64_t bytes;
  int device;
  Pool* pool;
  std::shared_ptr<Shadow> shadow = std::make_shared<Shadow>();
  std::shared_ptr<WrittenBytes> written = nullptr;
  Context* context = nullptr;  // what cuMemAlloc gives is of one, what comes from a pool of none
};

class Machine {
 public:
  static Machine& Get();

  std::mutex mutex;
  std::condition_variable changed;
  std::map<uintptr_t, Allocation> memory;
  std::map<uintptr_t, uint64_t> pinned;
  std::map<uintptr_t, int> pinned_by;  // the device in whose context it was allocated
  std::deque<Context> all_contexts;    // also those that were destroyed
  Context* primary[kDevices] = {};     // null: to be made
  std::deque<Pool> all_pools;          // also those that were destroyed
  std::deque<Stream> all_streams;      // also those that were dropped: events may name them
  std::set<Event*> all_events;
  std::deque<std::shared_ptr<Module>> all_modules;                    // also those that were unloaded
  std::map<std::pair<Context*, uintptr_t>, Stream*> default_streams;  // by context and handle
  std::vector<std::shared_ptr<Capture>> captures;                     // those that have not ended
  int64_t pools = 0;
  int process = getpid();        // whose driver it is
  int64_t retained[kDevices]{};  // of `contexts`
  int64_t streams = 0, modules = 0, contexts = 0, graphs = 0, execs = 0;
  StepLog steps;
  uint64_t numbers = 0;                                     // that streams have had
  std::vector<std::pair<uint64_t, uint64_t>> free_numbers;  // of streams that were destroyed, with their steps
  std::string complaints;
  uint64_t seed = 1, launches = 0;  // since it was set
  uint64_t time = 0;                // operations that are done, without those that note times
  bool asking_takes_time = true;    // something is done whenever the host asks whether an event has come
  int driver_version = 12080;       // as cuDriverGetVersion says
  uint32_t most_depth = ~0u;        // of conditional nodes in each other
  uint64_t most_pitch = INT32_MAX;  // CU_DEVICE_ATTRIBUTE_MAX_PITCH
  int capability = 90;              // of the devices
  // The most dynamic shared memory that a block may be given when it is asked for.
  unsigned MostSharedBytes() const { return (capability == 90 ? 227u : capability == 80 ? 163u : 99u) << 10; }

  // ---- standin_calls.cc ----
  // At the start of each call: the error that it must give.
  CuResult Enter(const char* call);
  CuResult CheckHostRules(const char* call);
  std::string calls;            // the names of all calls, each with a line end
  uint64_t fails_after = 0;     // the call that fails is so many calls from now; 0: none
  CuResult failure = 0;         // what it gives
  bool fails_for_good = false;  // and then all that use a context
  bool failed_for_good = false;
  std::string failed_call;

  void Complain(const std::string& what) { complaints += what + "\n"; }  // with the mutex held
  // The stream of a handle, also of the default stream (CU_STREAM_LEGACY); null: there is none. NULL is none here: the
  // plugin means no default stream by accident. The order that the driver gives default streams with others is not
  // there, so what relies on it is reported.
  Stream* Find(CuStream handle);
  bool Holds(CuPointer p, uint64_t bytes) const;
  // The piece that holds `p`, or null.
  const Allocation* PieceAt(CuPointer p) const;
  // `name` is that of the step.
  void Push(Stream& s, const std::string& name, Work work, bool gives_back, bool takes_time = true);
  StepRef NewStep(Stream& s, const std::string& name);
  // That a step touches memory, as it runs; a complaint if that is not in order, or if it was freed.
  void Touch(uintptr_t begin, uint64_t bytes, bool writes, const StepRef& step);
  // The allocation that holds this byte, with where it begins; null if none does.
  std::pair<uintptr_t, const Allocation*> AllocationAt(uintptr_t p) const;
  // These bytes of memory of a device, or those of it that are, are written from now on.
  void Write(uintptr_t begin, uint64_t bytes);
  // As many of them are written as of those at `from`; the host's memory counts as written.
  void CopyWritten(uintptr_t begin, uintptr_t from, uint64_t bytes);
  // A complaint if `step` reads unwritten bytes of memory of a device.
  void CheckWritten(uintptr_t begin, uint64_t bytes, const StepRef& step);
  // `no such memory`, or who has freed it.
  std::string NoSuchMemory(uintptr_t p) const;
  // Runs operations of `s` until `count` are done. The lock is held by the caller and let go while one runs.
  void Drain(std::unique_lock<std::mutex>& lock, Stream& s, uint64_t count);
};

// ---- standin_compiler.cc ----
struct Library;
struct Function;
struct Module {
  Library* library = nullptr;
  bool is_unloaded = false;
  int device = 0;
  std::map<std::string, std::unique_ptr<Function>> functions;
};
// An operation of a warp, where the lanes that `mask` names meet: each gives `bytes` bytes at `mine` and finds what
// they all gave in `all`, `bytes` for each of 32 lanes. What lanes outside the mask have there is left as it was.
struct Meeting {
  const char* what = nullptr;  // the operation, and where in the text: lanes must meet at the same
  const void* site = nullptr;
  unsigned mask = 0, bytes = 0;
  const void* mine = nullptr;
  void* all = nullptr;
  unsigned group = 0;  // so many threads meet in place of a warp, who must all give the same and get nothing
};
struct BoxToCopy;
// Where a thread is: block, blocks, thread in its block, threads of a block; each by x, y, z.
struct Place {
  unsigned block[3], blocks[3], thread[3], threads[3];
  // How the thread meets others of its block (fibers.h).
  void (*meet)(const Meeting& at);
  void (*barrier)();
  // What checked code calls: before an access (launch_check.h), and with `*blocks_left` at 0 after so many basic
  // blocks.
  void (*access)(const void* p, uint32_t bytes, uint32_t kind, const void* site);
  void (*never_ends)();
  uint64_t* blocks_left;
  // An instruction of inline PTX (ptx.h); addresses in shared memory are counted from `shared`.
  void (*ptx)(const char* text, PtxOperand* operands, unsigned n, const void* site, char* shared);
  void (*set_condition)(unsigned long long condition, unsigned value);  // cudaGraphSetConditional
  void (*fence_proxy)();            // the thread shows what it has written to tensor cores (race_log.h)
  void (*fault)(const char* what);  // the thread has done what a GPU forbids: the launch ends
  // Barriers in shared memory and copies that count at them (mbarriers.h).
  void (*mbarrier_init)(void* at, unsigned arrivals, const void* site);
  void (*mbarrier_arrive)(void* at, unsigned bytes, const void* site);
  void (*mbarrier_wait)(void* at, unsigned parity, const void* site);
  void (*copy_box)(const BoxToCopy& box, void* at, const void* site);
  void (*has_waited)(unsigned group);  // for all groups of products before this one
  // Clusters: the block's rank; all threads of a cluster meet; barriers that the thread has begun are there for other
  // blocks; the thread uses this barrier of the block `rank`.
  unsigned rank;
  void (*barrier_of_cluster)();
  void (*fence_mbarrier_init)();
  void (*other_block)(unsigned rank, const void* mbarrier);
  // Stores of boxes (bulk_stores.h), and barriers of some threads of the block.
  void (*store_box)(const BoxToCopy& box, const void* site);
  void (*commit_stores)();
  void (*wait_for_stores)(unsigned but, bool only_reads);
  void (*named_barrier)(unsigned number, unsigned threads);
};
constexpr const char* kEndOfWait = "wgmma.wait_group, its end";  // where lanes meet then
// A kernel of a module, called with the addresses of its arguments as one thread; without a place it tells how many
// arguments it has, times kMaps how many of these are tensor maps, the last ones, and kMeets if its threads wait for
// each other.
// And kStack times the bytes of its private arrays, which a GPU has in local memory (or in registers), and kPairs if
// two blocks are a cluster.
constexpr uint64_t kMaps = uint64_t{1} << 16, kPairs = uint64_t{1} << 31, kMeets = uint64_t{1} << 32,
                   kStack = uint64_t{1} << 33;
// Between the dynamic shared memory of two blocks of a cluster: as much as a block may have.
constexpr uint64_t kSharedOfBlock = 227 << 10;
using Kernel = uint64_t (*)(void** arguments, const Place* place);
// `image` is what the compiler gave as machine code, or PTX.
CuResult LoadModule(const void* image, int driver_version, Module& out);

// ---- standin_launch.cc ----
// A launch as an operation: arguments are eight bytes at most, or tensor maps, and kept as they are now.
CuResult MakeLaunch(CuFunction f, const unsigned (&grid)[3], const unsigned (&block)[3], void** arguments,
                    unsigned shared_bytes, Work& out);
std::string NameOf(CuFunction f);

// ---- standin_conditions.cc ----
// What the kernel that `step` runs calls.
void SetCondition(unsigned long long condition, unsigned value);
// The step whose kernel this thread runs, or null.
void RunsKernel(const StepRef& step);

// ---- standin_streams.cc ----
// Whether it has not been destroyed; if it has, a complaint. With the mutex held.
bool IsLive(Machine& m, const char* call, CuStream stream);

// ---- standin_pool.cc ----
// Pools give back what they keep beyond their threshold; with the mutex held.
void HostHasWaited(Machine& m, int device);

// ---- standin_memory.cc ----
// Memory is given back late, so that what still uses it finds no other piece there. With the mutex held.
void Quarantine(void* p, uint64_t bytes);
// After each piece of memory, so that an index beyond it is in no other.
constexpr uint64_t kGapBytes = 256;
inline void* Memory(CuPointer p) { return reinterpret_cast<void*>(static_cast<uintptr_t>(p)); }
// A copy as an operation: those places that are on a device must be allocated now and when it runs.
Work MakeCopy(const char* call, void* dst, const void* src, size_t bytes, CuPointer device_dst, CuPointer device_src);
Work MakeMemset(const char* call, CuPointer dst, unsigned value, size_t count);

// ---- standin_host.cc ----
// What a call gives since the host has done something to the driver; kCuSuccess if that does not concern it.
CuResult HostRules(Machine& m, const char* call);

// ---- standin_capture.cc: with the mutex held ----
// A complaint, after which the capture is of no use.
CuResult Invalidate(Machine& m, Capture& capture, const std::string& what, CuResult result);
// Whether a call might wait for a stream that is captured, which the mode of the thread forbids; then why not.
CuResult MightWaitForCapture(Machine& m, const char* call);
// The stream comes after the event, which was recorded in a capture, or which it must not wait for since it is
// captured.
CuResult WaitInCapture(Machine& m, Stream& s, const Event& e);

// ---- standin_driver.cc ----
Context* CurrentContext();  // null: none
int PushedContexts();       // of this thread
// The device of the current context, or -1 with a complaint; with the mutex held.
int CurrentDevice(Machine& m, const char* call);
// What a node is of which a call of a stream becomes the work: as in NodeWork (standin_graph.h).
struct AsNode {
  CuFunction function = nullptr;
  uint64_t bytes = 0;
  const void* host = nullptr;
  std::pair<const Context*, const Context*> contexts = {};
};
// An operation of a stream; refused if no context is current.
CuResult Push(const char* call, CuStream stream, Work work, bool gives_back = false, const std::string& name = "",
              const AsNode& node = {});
// A handle of the driver is the address of an object here.
template <typename T, typename H>
T& As(H handle) {
  return *reinterpret_cast<T*>(handle);
}
template <typename H, typename T>
H Handle(T* p) {
  return reinterpret_cast<H>(p);
}

constexpr CuResult kNotInitialized = 3, kIllegalState = 401, kUpdateRefused = 910, kCaptureUnsupported = 900,
                   kCaptureInvalidated = 901, kCaptureMerge = 902, kCaptureUnmatched = 903, kCaptureUnjoined = 904,
                   kCaptureIsolation = 905, kCapturedEvent = 907, kCaptureWrongThread = 908;
constexpr CuResult kInvalidValue = 1, kInvalidClusterSize = 912, kInvalidHandle = 400, kInvalidContext = 201;

// ---- the functions of libcuda: standin_driver.cc, standin_launch.cc, standin_graph.cc ----
#define RICCI_X(name, arguments) CuResult name arguments;
RICCI_CUDA_FUNCTIONS(RICCI_X)
RICCI_CUDA_CONDITION_FUNCTIONS(RICCI_X)
#undef RICCI_X

}  // namespace ricci::cuda::standin

// What went wrong and what was not given back; empty if there is nothing. The memory of the text is the stand-in's.
extern "C" const char* ricci_standin_report();
// What went wrong, which is then forgotten.
extern "C" const char* ricci_standin_complaints();
// Orders of blocks, threads and nodes: 1 forwards, 2 backwards, others at random, in each launch another one.
extern "C" void ricci_standin_seed(uint64_t seed);
// Of so many texts one is compiled so that all its accesses are checked; 0: none. First all are.
extern "C" void ricci_standin_check(uint32_t every);
// What devices say of their compute capability from now on: 90 for 9.0, which they have first.
extern "C" void ricci_standin_capability(int capability);
// A launch of checked code may run so many basic blocks; then it is said never to end.
extern "C" void ricci_standin_bound(uint64_t blocks);
// The version of the driver, such as 12000: an older one knows fewer functions, and no newer PTX. First 12080.
extern "C" void ricci_standin_version(int version);
// An executable graph may have so many conditional nodes in each other; first as many as it likes.
extern "C" void ricci_standin_depth(uint32_t most);
// No pitch of a copy may be above that; first 2^31 - 1, as of a GPU.
extern "C" void ricci_standin_pitch(uint64_t most);
// What a host may do: destroy all contexts (cuDevicePrimaryCtxReset of each device), with all that is in them; begin
// the capture of a stream in a mode (CUstreamCaptureMode), and end it, which gives the graph, or NULL with the error
// that cuStreamEndCapture returns. A copy of the process by fork needs no call; ricci_standin_new_process says that
// this one stands for a new program, which has called the driver never before.
// ricci_standin_reset_device resets one of the devices.
extern "C" void ricci_standin_reset();
extern "C" void ricci_standin_reset_device(int device);
extern "C" void ricci_standin_new_process();
extern "C" int ricci_standin_begin_capture(ricci::cuda::CuStream stream, int mode);
extern "C" int ricci_standin_end_capture(ricci::cuda::CuStream stream, ricci::cuda::CuGraph* out);
// The number of a stream, as reports name it.
extern "C" uint64_t ricci_standin_number(ricci::cuda::CuStream stream);
// This memory of a device counts as written.
extern "C" void ricci_standin_written(ricci::cuda::CuPointer p, uint64_t bytes);
// Enqueued work runs, though the host does not wait for it.
extern "C" void ricci_standin_run();
// The piece of memory that begins at `p` is as cuMemAlloc gives it, in the primary context (1) or in another (0).
extern "C" void ricci_standin_allocated_in(ricci::cuda::CuPointer p, int is_primary);
// How many contexts this thread has pushed.
extern "C" int ricci_standin_pushed();
// The n-th text that is compiled from now on gives this nvrtcResult.
extern "C" void ricci_standin_compiler_fails(uint32_t n, int result);
// The host reads or writes this memory itself.
extern "C" void ricci_standin_host(const void* p, uint64_t bytes, int writes);
// Texts that are compiled from now on are those for sm_80, with inline PTX, which is evaluated (1), or those with
// functions of the stand-in in its place (0), as at first.
extern "C" void ricci_standin_ptx(int evaluated);
// How many instructions have been.
extern "C" uint64_t ricci_standin_evaluated();
// From now on accesses are counted (1) or not (0), first not; what was counted since then.
extern "C" void ricci_standin_count(int count);
extern "C" void ricci_standin_counted(ricci_standin_figures* out);
// The names of the calls since the last time that this was called, one in a line.
extern "C" const char* ricci_standin_calls();
// The n-th call from now gives the error `code`; `for_good`: so do all later calls that use a context, and streams run
// no work any more. What gives something back does so even when it fails. 0: no call fails any more.
extern "C" void ricci_standin_fail(uint64_t n, int code, int for_good);
// The name of the call that has failed since then; empty if none has.
extern "C" const char* ricci_standin_failed();
#endif
