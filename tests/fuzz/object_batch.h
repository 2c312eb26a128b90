// ObjectBatch: programs compiled by the tool into objects, linked into one host (guarded_calls.c), and their functions
// run there, each in a process of its own.
//
// Linking also checks what a header and an object promise: the headers are C99 or newer C, and C++, without a warning,
// after those of the C library; the objects can be part of a shared object; nothing is undefined but functions of libm
// and memory; and nothing can be written but a workspace of an object's own.
//
// Sixteen programs are one host. Each function runs twice, on arrays and a workspace that end or begin at pages that
// nothing may touch (guarded_calls.c). The stack has 512 KB. An eighth of the hosts have AddressSanitizer and UBSan.
#ifndef RICCI_TESTS_FUZZ_OBJECT_BATCH_H_
#define RICCI_TESTS_FUZZ_OBJECT_BATCH_H_
#include "fuzz/object_job.h"
#include "fuzz/temporary_folder.h"

namespace ricci::testing {

struct ObjectTool {
  std::string path;      // of `ricci`
  bool aarch64 = false;  // objects for AArch64, run by qemu-aarch64
  bool verbose = false;  // prints why programs are refused
  bool empty() const { return path.empty(); }
};

// How a command ended: `status` is that of its exit, or 256 and the number of a signal.
struct CommandEnd {
  int status = 0;
  std::string says;  // on stdout and stderr
};

// What a function of an object gave: its number, and results if that is 0.
struct ObjectRun {
  int32_t number = 0;
  RunResult run;
};

class ObjectBatch {
 public:
  // `sanitized`: the host is built with AddressSanitizer and UBSan.
  ObjectBatch(const ObjectTool& tool, bool sanitized) : tool_(tool), sanitized_(sanitized) {}

  // Compiles a program, text or binary; if that succeeds its functions get the next numbers.
  CommandEnd Compile(const std::string& file, const std::string& words, const ObjectOptions& options,
                     const std::vector<ObjectFunction>& functions);
  // The number of the first function of the next program.
  size_t n_functions() const { return n_functions_; }
  // The header of the program last compiled.
  std::string Header() const;
  // The host of all programs; a complaint of the compiler or the linker.
  Complaint Link() const;
  ObjectRun Run(ricci_ctx* ctx, size_t function, const Program& p, const std::vector<Bytes>& inputs) const;

 private:
  std::string Path(std::string_view file) const { return Text("'", folder_.path(), "/", file, "'"); }
  void Write(std::string_view file, const std::string& text) const;
  std::string Compiler() const { return tool_.aarch64 ? "aarch64-linux-gnu-gcc" : "gcc"; }
  Complaint LinkCommand(const std::string& command) const;

  const ObjectTool tool_;
  const bool sanitized_;
  Folder folder_;
  size_t n_programs_ = 0, n_functions_ = 0;
  std::string includes_, calls_, table_, objects_, unchanging_;  // the last: objects without memory
};

}  // namespace ricci::testing
#endif
