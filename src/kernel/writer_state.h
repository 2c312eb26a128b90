// What a Writer holds; shared by the files that implement it.
#ifndef RICCI_KERNEL_WRITER_STATE_H_
#define RICCI_KERNEL_WRITER_STATE_H_
#include <string>
#include <vector>

#include "kernel/memory_state.h"
#include "kernel/node_table.h"
#include "kernel/scalar_fold.h"

namespace ricci { inline namespace v0 { namespace kernel {

enum class BlockKind : uint8_t { kGroup, kFor, kWhile, kIf, kElse, kReduce, kScan };

struct Block {
  BlockKind kind;
  bool emitted = true;                            // false: transparent, its instructions belong to the block around it
  bool dropped = false;                           // its instructions are cut off when it ends
  bool in_group = false;                          // closed together with the kGroup below it
  bool has_cond = false;                          // kWhile: Cond was written
  bool skip_else = false;                         // kIf: the condition is known to hold
  Val begin = 0;                                  // the instruction that opened it
  Val condition = 0;                              // kIf
  uint32_t combiner = 0;                          // kReduce
  uint32_t states = 0;                            // kScan
  bool has_combiner = false, has_prefix = false;  // kScan
  uint32_t outer_scope = 0;
  size_t order_begin = 0;  // length of the text when it opened
  MemoryState::Mark memory{};
  FactLog facts;
};

struct Writer::Impl {
  explicit Impl(std::string_view kernel_name) : name(kernel_name), folder(nodes) {}

  std::string name;
  bool contracts = false;  // the target has fused multiply-adds
  std::vector<ricci_kernel_buffer> buffers;
  std::vector<uint8_t> accessed, combined;  // buffers that are loaded from or stored to; buffers that are combined into
  NodeTable nodes;
  ScalarFolder folder;
  MemoryState memory;
  std::vector<Block> blocks;
};

// Turns the contents of a writer into the finished kernel (writer_finish.cc).
Kernel FinishKernel(Writer::Impl& w);

}}}  // namespace ricci::v0::kernel
#endif
