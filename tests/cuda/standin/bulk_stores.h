// BulkStores: boxes that the GPU stores from shared memory by itself, in groups of the thread that asks for them, as
// "cp.async.bulk.tensor", "cp.async.bulk.commit_group" and "cp.async.bulk.wait_group" of PTX ISA say.
//
// A box is read from shared memory as late as may be, when its thread waits for that (`.read`), and written to memory
// when the thread waits for the whole store, or when the block ends. What it reads and what it writes is done by two
// agents of the thread (race_log.h), of whose end those know who have waited, and whom they tell.
//
// It finds what is written over before its thread has waited, what is stored before all who have written it are there
// or have shown it to the GPU, and stores that are not waited for until shared memory is gone.
#ifndef RICCI_STANDIN_BULK_STORES_H_
#define RICCI_STANDIN_BULK_STORES_H_
#include <deque>
#include <map>
#include <string>
#include <vector>

#include "mbarriers.h"

namespace ricci::cuda::standin {

class BulkStores {
 public:
  // What is wrong, which ends the launch; empty if there is nothing. `box.to` is where it lies.
  std::string Store(const BoxToCopy& box, const Asker& who);
  void Commit(const Asker& who) { ++Of(who.thread).groups; }
  // For all groups of the thread but the last so many: until they are read, or until they are stored.
  void Wait(unsigned but, bool only_reads, const Asker& who);
  // Stores that are on their way go on after a barrier of the block.
  std::string AfterBarrier(LaunchCheck* check);
  // The block has ended, and with it its shared memory.
  std::string AtEnd();

 private:
  struct PendingStore {
    uint32_t group;
    Thread reader, writer;
    const char* from;
    uint32_t bytes;
    std::vector<Piece> pieces;
    const void* site;
    std::vector<char> content = {};  // once it is read
  };
  struct OfThread {
    uint32_t number;      // in the order in which threads have begun to store
    uint32_t groups = 0;  // that were committed
    std::deque<PendingStore> stores = {};
  };

  static std::string NoteAll(PendingStore& s, LaunchCheck* check);
  static void Read(PendingStore& s);
  static void Write(const PendingStore& s);
  OfThread& Of(const Thread& t);

  std::map<uint32_t, OfThread> all_;  // by thread
};

}  // namespace ricci::cuda::standin
#endif
