// WrittenBytes: which bytes of a block of device memory were written since it was allocated.
//
// A GPU gives memory with whatever was in it, so a kernel that reads more than was written computes something else in
// each run. A byte for each byte, not a bit: steps that may run at once write different bytes.
//
// Kernels, copies and memsets write. A copy between devices copies what is known of each byte too; a copy to the host
// must not read unwritten bytes.
#ifndef RICCI_TESTS_CUDA_WRITTEN_BYTES_H_
#define RICCI_TESTS_CUDA_WRITTEN_BYTES_H_
#include <cstdint>
#include <cstdlib>
#include <memory>

namespace ricci::cuda::standin {

class WrittenBytes {
 public:
  // Of unwritten memory. What is never asked for takes no memory of the host.
  explicit WrittenBytes(uint64_t bytes);

  void Write(uint64_t offset, uint64_t bytes);
  // Of these bytes those are written, from now on, that are in `from`.
  void Copy(uint64_t offset, uint64_t bytes, const WrittenBytes& from, uint64_t from_offset);
  // The first unwritten one of these bytes; their end if all are written.
  uint64_t FirstMissing(uint64_t offset, uint64_t bytes) const;

 private:
  struct Free {
    void operator()(unsigned char* p) const { std::free(p); }
  };
  std::unique_ptr<unsigned char[], Free> is_written_;
};

}  // namespace ricci::cuda::standin
#endif
