// SinkCopies: moves a copy of what a CASE makes into its branches, each of which then has a buffer of its own for it.
//
// Then each branch can drop the copy by itself: one that writes over the destination, or only passes the destination
// on, need not copy because another branch must (cond(k, step, identity) in a loop is such a case).
#ifndef RICCI_PASS_SINK_COPIES_H_
#define RICCI_PASS_SINK_COPIES_H_
#include <span>
#include <vector>

#include "kernel/kernel.h"

namespace ricci { inline namespace v0 { namespace pass {

// Buffers that were one, and may become one again if nothing was gained; in the order of the branches.
using SplitBuffers = std::vector<std::vector<uint32_t>>;

SplitBuffers SinkCopies(kernel::Plan& plan, std::span<const kernel::Kernel> kernels);

}}}  // namespace ricci::v0::pass
#endif
