// Processors that objects can be made for, by LLVM's names of targets and processors.
//
// LLVM writes to stderr and goes on where it does not know a name, so names are looked up before it gets them.
#ifndef RICCI_OBJECT_PROCESSOR_NAMES_H_
#define RICCI_OBJECT_PROCESSOR_NAMES_H_
#include <string>
#include <string_view>

namespace ricci::object {

struct Processor {
  std::string triple;
  std::string name, features;                  // as cpu::Settings takes them; name empty: the processor of this machine
  unsigned vector_bytes = 16, registers = 16;  // the widest registers, and how many there are
};

// `target`: `x86_64-linux-gnu` or `aarch64-linux-gnu`; empty: this machine's. `name`: one of LLVM's, `native`, or
// empty: `x86-64-v3`, and for AArch64 `generic`. False with `error`, which lists what there is.
bool FindProcessor(std::string_view target, std::string_view name, Processor& out, std::string& error);

}  // namespace ricci::object
#endif
