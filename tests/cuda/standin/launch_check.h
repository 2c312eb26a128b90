// LaunchCheck: what the threads of the launch that runs do to memory.
//
// Checked code calls it before each access (device_prelude.cc). Kernels run one at a time, so there is one at most.
//
// It finds accesses out of bounds: of what is allocated, exactly, and of each array in shared memory, not of a private
// array. It finds vectors that are not aligned to their size, and shared memory that the block has not written.
// Unwritten memory of the device is in written_bytes.h, races are in race_log.h. A report has the thread, the block,
// the array or argument, and the line of the text.
//
// g++ instruments the text (`-fsanitize=thread`) with calls before each access, which come here instead of to the
// sanitizer. So the text needs no special types, and any C++ in it is checked; at -O0 each access of the text is one.
// Shared arrays are variables in a section of their own, with gaps; their names and sizes are those of the ELF symbols.
// Wrappers around pointers were the other way, but casts of addresses bypass them. What a function returns is not seen
// where it goes straight into memory (`keys[i] = KeyOf(x)` with a struct); a variable in between helps.
#ifndef RICCI_TESTS_CUDA_LAUNCH_CHECK_H_
#define RICCI_TESTS_CUDA_LAUNCH_CHECK_H_
#include <string>
#include <vector>

#include "access_figures.h"
#include "kernel_library.h"

namespace ricci::cuda::standin {

class LaunchCheck {
 public:
  LaunchCheck(const Function& f, const std::vector<CuPointer>& arguments, uint64_t shared_bytes);
  ~LaunchCheck();
  LaunchCheck(const LaunchCheck&) = delete;

  void BeginBlock(uint64_t block);
  void EndBlock();
  void Barrier(std::vector<Thread*>& threads);
  void SyncWarp(const std::vector<Thread*>& lanes) { races_.SyncWarp(lanes); }
  RaceLog& races() { return races_; }
  // The thread that runs from now on; what is in its stack is its own.
  void Runs(Thread* t, uintptr_t stack, uint64_t bytes);
  // False if the launch cannot go on, for the reason that Fault() gives.
  bool Note(uintptr_t p, uint32_t bytes, uint32_t kind, const void* site);
  // What `agent` reads and writes of a box that the GPU copies, for the thread that has asked it to.
  enum class Copied : uint8_t { kFromDevice, kToShared, kFromShared, kToDevice };
  bool NoteCopy(Thread& agent, uintptr_t p, uint32_t bytes, Copied what, const void* site);
  const std::string& Fault() const { return fault_; }
  // After the launch: what it has touched, as accesses of `step`.
  void Touch(const StepRef& step) const;

 private:
  static constexpr size_t kLatest = 16;
  struct Buffer {
    uintptr_t begin;
    uint64_t bytes;
    std::shared_ptr<Shadow> shadow;
    std::shared_ptr<WrittenBytes> written;  // null: the host's, which counts as written
  };

  const Buffer* BufferOf(uintptr_t p);
  bool NoteShared(SharedSection& section, uintptr_t p, uint32_t bytes, Access access, const void* site);
  void NoteWritten(const Buffer& b, uintptr_t p, uint32_t bytes, Access access, const void* site);
  bool NoteByTensorCores(uintptr_t p, uint32_t bytes, uint32_t group, const void* site);
  bool NoteBy(Thread& agent, SharedSection& section, uintptr_t p, uint32_t bytes, Access access, const void* site);
  void ComplainOfProxy(Access access, uint32_t bytes, uintptr_t p, const void* site, const RaceLog::Race& last);
  SharedSection* SectionOf(uintptr_t p) const;
  bool NoteGlobal(const Buffer& b, uintptr_t p, uint32_t bytes, Access access, const void* site);
  bool Fail(const std::string& what);
  void Complain(const std::string& what);
  // `thread 3 of block 1 reads 4 bytes at tile + 12 (ricci.cu:5)`
  std::string Said(Access access, uint32_t bytes, const std::string& place, const void* site) const;
  std::string PlaceOf(uintptr_t p) const;
  std::string Other(const RaceLog::Race& race) const;

  static RaceLog& races_;
  const Function& function_;
  const std::vector<CuPointer> arguments_;
  const uint64_t shared_bytes_;
  std::vector<Buffer> buffers_;         // by address
  const Buffer* latest_[kLatest] = {};  // that were found, by the page of the address
  std::vector<Thread> readers_;         // by thread: as whom tensor cores read for it
  Thread* thread_ = nullptr;
  uintptr_t stack_ = 0;
  uint64_t stack_bytes_ = 0, block_ = 0;
  bool has_raced_ = false, has_complained_ = false, has_missed_ = false;
  std::string fault_;
  AccessFigures figures_;
};

}  // namespace ricci::cuda::standin
#endif
