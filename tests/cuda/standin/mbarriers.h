// Mbarriers: the barriers in shared memory of the block that runs, at which threads arrive and bytes are counted that
// the GPU copies by itself, as "mbarrier" and "cp.async.bulk.tensor" of PTX ISA say.
//
// A copy is made as late as may be, when somebody waits for its phase and all have arrived; until then there is poison.
// Its accesses are those of an agent (race_log.h), who begins when the thread asks for the copy, and of whose end those
// know who have waited for the phase.
//
// It finds what is read before its reader has waited for the phase in which it comes. It finds what is written over
// while products without a wait may read it, or products of whose end the thread does not know. Bytes that do not come
// or were not expected are reported, and arrivals that are too many or missing, with what the phase lacks. So are
// barriers that are not shown to the GPU, used before a barrier of the block, begun twice or written over. So are
// copies over what threads have used without a fence, to misaligned addresses, over each other, or without a wait.
#ifndef RICCI_STANDIN_MBARRIERS_H_
#define RICCI_STANDIN_MBARRIERS_H_
#include <deque>
#include <string>
#include <vector>

#include "launch_check.h"
#include "tensor_boxes.h"

namespace ricci::cuda::standin {

// As the prelude of texts has it; of a box that is stored, where it lies.
struct BoxToCopy {
  char* to;
  unsigned address, rank;
  const void* map;
  const int* at;
};
// The thread that does something, at this place of the text; `check` of checked code, else null.
struct Asker {
  Thread& thread;
  LaunchCheck* check;
  const void* site;
};
struct PhaseWait {
  void* at = nullptr;
  unsigned parity = 0;
};

class Mbarriers {
 public:
  // What is wrong, which ends the launch; empty if there is nothing.
  std::string Init(void* at, unsigned arrivals, const Asker& who);
  std::string Arrive(void* at, unsigned bytes, const Asker& who);
  std::string Copy(const BoxToCopy& box, void* at, const Asker& who);
  std::string BeginWait(void* at, const Asker& who);
  // Whether the wait is over, which may make copies.
  bool IsOver(const PhaseWait& w, std::string& wrong);
  void EndWait(const PhaseWait& w, const Asker& who);
  // The thread has made a fence.proxy.async; a fence.mbarrier_init.
  void Show(uint32_t thread);
  void ShowToCluster(uint32_t thread);
  // A thread uses the barrier of another block.
  std::string UseFromOther(const void* at, const Thread& who);
  // Copies that are on their way go on after a barrier of the block.
  std::string AfterBarrier(LaunchCheck* check);
  std::string AtEnd() const;
  // `phase 1 of mbarrier 0, which lacks 1 arrivals and 512 bytes`
  std::string Text(const PhaseWait& w) const;

 private:
  struct PendingCopy {
    Thread agent;
    char* to;
    uint32_t bytes, line_bytes;
    std::vector<Piece> pieces;
    const void* site;
  };
  struct Mbarrier {
    void* at;
    uint32_t number, arrivals, pending;
    uint32_t begun_by;
    bool is_shown = false, is_shown_to_cluster = false;
    uint64_t phase = 0, expected = 0, asked = 0;  // bytes
    Epochs arrived = {}, done = {};               // of who has arrived in this phase; in all phases that are over
    std::deque<PendingCopy> copies = {};
  };

  Mbarrier* Find(const void* at);
  // The mbarrier at a place that the thread uses; null, with what is wrong.
  Mbarrier* Use(void* at, const Asker& who, std::string& wrong);
  std::string NoteAll(PendingCopy& c, LaunchCheck* check) const;
  std::string WhyNoCopy(const Mbarrier& b, const BoxToCopy& box, const TensorOnDevice& t) const;
  static std::string TooMany(const Mbarrier& b, uint64_t bytes);
  static void Complete(Mbarrier& b);

  std::deque<Mbarrier> all_;
};

}  // namespace ricci::cuda::standin
#endif
