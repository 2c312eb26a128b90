// A compiled text: its kernels, where its shared memory is, and the line of a place in its code.
#ifndef RICCI_TESTS_CUDA_KERNEL_LIBRARY_H_
#define RICCI_TESTS_CUDA_KERNEL_LIBRARY_H_
#include <string>
#include <string_view>
#include <vector>

#include "race_log.h"
#include "standin.h"

namespace ricci::cuda::standin {

struct SharedArray {
  std::string name;
  uint64_t offset, bytes;  // in its section
};
// The shared memory of all kernels of a text. Between arrays there are gaps, so that an index beyond one shows.
struct SharedSection {
  uintptr_t begin = 0;
  uint64_t bytes = 0;
  std::vector<SharedArray> arrays;
  Shadow shadow;

  bool Has(uintptr_t p) const { return p - begin < bytes; }
  // That of this byte, or null.
  const SharedArray* ArrayAt(uint64_t offset) const;
};

struct Library;
struct Function {
  std::string name;
  Kernel kernel = nullptr;
  uint64_t arguments = 0, maps = 0;  // the last arguments are tensor maps
  bool meets = false;                // its threads wait for each other
  unsigned cluster = 1;              // blocks that run together
  uint64_t stack_bytes = 0;          // of the private arrays of a thread
  Library* library = nullptr;
  const Module* module = nullptr;   // through which it was found
  unsigned most_shared = 48 << 10;  // dynamic shared memory that a launch may give a block, until more is asked for
};

struct Library {
  void* handle = nullptr;
  std::string code;         // the shared object
  bool is_checked = false;  // it reports its accesses
  uintptr_t begin = 0, end = 0;
  SharedSection fixed, dynamic;  // arrays of fixed size; those that take their size from the launch

  // False if the kernel does not exist.
  bool Find(const std::string& name, Function& out);
  bool Has(uintptr_t p) const { return p >= begin && p < end; }
  // `ricci.cu:12`
  std::string LineOf(const void* site) const;
};

// The library of this shared object; loaded once, and never dropped. Null if it cannot be.
Library* LoadLibrary(std::string_view code);

}  // namespace ricci::cuda::standin
#endif
