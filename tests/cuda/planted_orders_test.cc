// Mistakes in the order of driver calls: the simulated GPU reports each with what it is about, and nothing for its
// right twin.
#include <gtest/gtest.h>

#include "cuda/driver_script.h"

namespace ricci::testing { namespace {

struct Planted {
  const char *name, *said;  // what the complaint has in it; `|` between what it may have
  const char *wrong, *right;
};

// Scripts (driver_script.h). Streams are s, t, u in this order.
constexpr Planted kPlanted[] = {
    // ---- between streams ----
    {"ReadElsewhere", "kernel reads in stream t reads what kernel writes in stream s writes",  //
     "writes a s; reads a t", "writes a s; mark e s; wait e t; reads a t"},
    {"WriteOfWhatOtherReads", "kernel writes in stream t writes what kernel reads in stream s reads",  //
     "reads a s; writes a t", "reads a s; mark e s; wait e t; writes a t"},
    {"TwoWrites", "cuMemsetD32Async in stream t writes what kernel writes in stream s writes",  //
     "writes a s; set a t", "writes a s; mark e s; wait e t; set a t"},
    {"TwoUpdates", "kernel adds in stream t writes what kernel adds in stream s writes",  //
     "adds a s; adds a t", "adds a s; mark e s; wait e t; adds a t"},
    {"EventTooEarly", "kernel reads in stream t reads what kernel writes in stream s",  //
     "mark e s; writes a s; wait e t; reads a t", "writes a s; mark e s; wait e t; reads a t"},
    {"WaitTooLate", "kernel reads in stream t reads what kernel writes in stream s",  //
     "writes a s; mark e s; reads a t; wait e t", "writes a s; mark e s; wait e t; reads a t"},
    {"WaitBeforeRecord", "kernel reads in stream t reads what kernel writes in stream s",  //
     "writes a s; wait e t; mark e s; reads a t", "writes a s; mark e s; wait e t; reads a t"},
    {"EventOfOtherStream", "kernel reads in stream t reads what kernel writes in stream s",  //
     "writes a s; mark e u; wait e t; reads a t", "writes a s; mark e s; wait e t; reads a t"},
    {"WaitInOtherStream", "kernel reads in stream t reads what kernel writes in stream s",  //
     "writes a s; mark e s; wait e u; reads a t", "writes a s; mark e s; wait e u; mark f u; wait f t; reads a t"},
    {"EventRecordedAgainTooLate", "kernel reads in stream t reads what kernel writes in stream s",
     "mark e s; wait e t; writes a s; mark e s; reads a t", "mark e s; writes a s; mark e s; wait e t; reads a t"},
    {"OneOfTwoWriters", "kernel reads in stream u reads what kernel writes in stream t",
     "writes a s; writes b t; mark e s; wait e u; reads a u; reads b u",
     "writes a s; writes b t; mark e s; mark f t; wait e u; wait f u; reads a u; reads b u"},
    {"OneOfTwoReaders", "kernel writes in stream u writes what kernel reads in stream s reads",
     "reads a s; reads a t; mark e t; wait e u; writes a u",
     "reads a s; reads a t; mark e t; wait e u; mark f s; wait f u; writes a u"},
    {"CopyBetweenElsewhere", "cuMemcpyDtoDAsync in stream t reads what kernel writes in stream s writes",
     "writes a s; copy b a t", "writes a s; mark e s; wait e t; copy b a t"},
    {"PeerCopyElsewhere", "kernel reads in stream t reads what cuMemcpyPeerAsync in stream s writes",
     "peer b a s; reads b t", "peer b a s; mark e s; wait e t; reads b t"},
    {"PutElsewhere", "kernel reads in stream t reads what cuMemcpyHtoDAsync in stream s writes",  //
     "put a s; reads a t", "put a s; sync s; reads a t"},
    {"SyncOfOtherStream", "kernel reads in stream t reads what kernel writes in stream s writes",  //
     "writes a s; sync t; reads a t", "writes a s; sync s; reads a t"},
    // ---- the pool ----
    {"UsedBeforeAllocated", "kernel writes in stream t writes what cuMemAllocFromPoolAsync in stream s writes",
     "new c s; writes c t; sync t; free c s", "new c s; mark e s; wait e t; writes c t; sync t; free c s"},
    {"FreedWhileRead", "cuMemFreeAsync in stream s writes what kernel reads in stream t reads",
     "new c s; sync s; reads c t; runs; free c s", "new c s; sync s; reads c t; mark e t; wait e s; free c s"},
    {"FreedBeforeRead", "memory that cuMemFreeAsync in stream s has freed",  //
     "new c s; free c s; reads c s", "new c s; reads c s; free c s"},
    {"FreedBeforeCopied", "memory that cuMemFreeAsync in stream s has freed",  //
     "new c s; free c s; get c s", "new c s; get c s; free c s"},
    {"FreedBeforeSet", "memory that cuMemFreeAsync in stream s has freed",
     "new c s; free c s; mark e s; wait e t; set c t", "new c s; mark e s; wait e t; set c t; sync t; free c s"},
    {"FreedTwice", "memory that cuMemFreeAsync in stream s has freed",  //
     "new c s; free c s; free c s", "new c s; free c s"},
    {"FreedInOtherStream", "cuMemFreeAsync in stream t writes what kernel writes in stream s writes",
     "new c s; writes c s; runs; free c t", "new c s; writes c s; mark e s; wait e t; free c t"},
    // ---- the host ----
    {"LookBeforeCopied", "cuMemcpyDtoHAsync in stream s writes what the host reads",  //
     "get a s; look a", "get a s; sync s; look a"},
    {"LookAfterOtherEvent", "cuMemcpyDtoHAsync in stream s writes what the host reads",  //
     "mark e s; get a s; await e; look a", "get a s; mark e s; await e; look a"},
    {"LookWithoutQuery", "cuMemcpyDtoHAsync in stream s writes what the host reads",  //
     "get a s; mark e s; look a", "get a s; mark e s; ask e; look a"},
    {"LookThoughOnlyRun", "the host reads what cuMemcpyDtoHAsync in stream s writes",  //
     "get a s; runs; look a", "get a s; call s; runs; look a"},
    {"FilledWhileCopied", "cuMemcpyHtoDAsync in stream s reads what the host writes",  //
     "put a s; fill a", "put a s; sync s; fill a"},
    {"LookAfterStreamIsDropped", "the host reads what cuMemcpyDtoHAsync in stream s writes", "get a s; drop s; look a",
     "get a s; sync s; drop s; look a"},
    {"PinnedFreedWhileCopied", "cuMemcpyHtoDAsync in stream s reads memory that cuMemFreeHost has freed",
     "pin p; put a s p; unpin p", "pin p; put a s p; sync s; unpin p"},
    {"PinnedReadByKernel", "kernel reads in stream s reads what the host writes",
     "pin p; reads p s; fill p; sync s; unpin p", "pin p; fill p; reads p s; sync s; unpin p"},
    {"PinnedFreedTwice", "cuMemFreeHost: no such memory", "pin p; unpin p; unpin p", "pin p; unpin p"},
    // ---- graphs: `node GRAPH WHAT MEMORY AFTER...` ----
    {"NodesWithoutEdge", "reads what kernel writes (node 0) in stream s|writes what kernel reads (node 1) in stream s",
     "node g writes a; node g reads a; launch g s", "node g writes a; node g reads a 0; launch g s"},
    {"WritersWithoutEdge", "writes what memset (node 1) in stream s|writes what kernel writes (node 0) in stream s",
     "node g writes a; node g set a; launch g s", "node g writes a; node g set a 0; launch g s"},
    {"EdgePastTheWriter", "what kernel writes (node 1) in stream s writes|what kernel reads (node 2) in stream s reads",
     "node g reads b; node g writes a 0; node g reads a 0; launch g s",
     "node g reads b; node g writes a 0; node g reads b 1; node g reads a 2; launch g s"},
    {"GraphBesideStream", "kernel reads in stream t reads what kernel writes (node 0) in stream s writes",
     "node g writes a; launch g s; reads a t", "node g writes a; launch g s; mark e s; wait e t; reads a t"},
    {"GraphsInTwoStreams", "(node 0) in stream t writes what kernel reads (node 0) in stream s reads",
     "node g reads a; node h writes a; launch g s; launch h t",
     "node g reads a; node h writes a; launch g s; sync s; launch h t"},
    {"GraphAfterFree", "memory that cuMemFreeAsync in stream s has freed",
     "new c s; node g reads c; free c s; launch g s", "new c s; node g reads c; launch g s; free c s"},
    {"NodeMovedToMemoryInUse", "kernel writes (node 0) in stream t writes what kernel reads in stream s reads",
     "node g writes a; launch g t; sync t; reads b s; move g 0 writes b; launch g t",
     "node g writes a; launch g t; sync t; reads b s; sync s; move g 0 writes b; launch g t"},
    {"GraphLaunchedTwiceAtOnce", "cuGraphLaunch: the graph is running",  //
     "node g reads a; launch g s; launch g t", "node g reads a; launch g s; sync s; launch g t"},
    // ---- handles and contexts ----
    {"EventDropped", "cuStreamWaitEvent: no such event", "mark e s; lose e; wait e t", "mark e s; wait e t; lose e"},
    {"StreamDropped", "cuLaunchKernel: no such stream", "drop s; reads a s", "reads a s; sync s; drop s"},
    {"ModuleUnloadedTooEarly", "kernel reads: its module was unloaded before it ran", "reads a s; unload",
     "reads a s; sync s; unload"},
    {"PoppedTooOften", "cuCtxPopCurrent without a context", "pop; pop; push", "pop; push"},
    {"AllocatedWithoutContext", "cuMemAllocFromPoolAsync without a context", "pop; new c s; push", "pop; push"},
    {"LeftPushed", "a thread has ended with a context pushed", "thread push", "thread push pop"},
    // ---- what is not given back ----
    {"MemoryLeft", "1 pieces of memory left", "new c s", "new c s; free c s"},
    {"PinnedLeft", "1 pieces of pinned memory left", "pin p", "pin p; unpin p"},
    {"EventLeft", "1 events left", "event e", "event e; lose e"},
};

bool HasOneOf(const std::string& text, const std::string& choices) {
  std::istringstream all(choices);
  for (std::string one; std::getline(all, one, '|');) {
    if (text.find(one) != text.npos) return true;
  }
  return false;
}

// Whatever the order in which nodes and streams happen to run.
TEST(PlantedOrders, AreReported) {
  for (const uint64_t seed : {1, 2, 3}) {
    OfStandin<void(uint64_t)>("ricci_standin_seed")(seed);
    for (const Planted& p : kPlanted) {
      SCOPED_TRACE(std::string(p.name) + ", seed " + std::to_string(seed));
      const std::string found = RunDriverScript(p.wrong);
      EXPECT_TRUE(HasOneOf(found, p.said)) << found;
      EXPECT_EQ(RunDriverScript(p.right), "");
    }
  }
  OfStandin<void(uint64_t)>("ricci_standin_seed")(1);
}

}  // namespace
}  // namespace ricci::testing
