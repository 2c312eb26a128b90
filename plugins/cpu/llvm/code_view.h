// CodeView: generated code as debuggers and profilers of the process see it, while it is loaded.
//
// gdb and lldb read __jit_debug_descriptor, a list of objects, and learn of changes by a call of
// __jit_debug_register_code ("JIT Compilation Interface" in gdb's manual). perf reads /tmp/perf-PID.map, a line for
// each function (tools/perf/Documentation/jit-interface.txt in Linux). Both are off unless the host asks for them.
#ifndef RICCI_CPU_CODE_VIEW_H_
#define RICCI_CPU_CODE_VIEW_H_
#include <memory>
#include <span>
#include <string_view>

#include "cpu/llvm/object_loader.h"

namespace ricci::cpu {

// Who sees code, from the option `cpu.debug`.
struct Viewers {
  bool gdb = false, perf = false;

  bool any() const { return gdb || perf; }
};

// Shows an object to gdb until it is dropped. Any thread.
class CodeView {
 public:
  CodeView(std::span<const char> object, const LoadedObject& loaded);
  ~CodeView();
  CodeView(const CodeView&) = delete;

 private:
  struct Entry;
  std::unique_ptr<Entry> entry_;
};

// Appends the functions of an object to perf's map of this process, each by its readable name. Nothing happens if the
// file cannot be written, as it is for people only. Any thread.
void AppendPerfMap(std::span<const char> object, const LoadedObject& loaded, std::string_view program);

}  // namespace ricci::cpu
#endif
