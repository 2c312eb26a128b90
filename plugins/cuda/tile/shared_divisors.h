// SharedDivisors: f32 that a point divides several others by, such as the diagonal of a triangular matrix, or the sum
// of a row.
//
// A division is fifteen instructions: an inverse, Newton's steps, and a way out for numbers that these do not suit. Of
// a divisor that is shared, the inverse is computed once, and what each quotient then takes are five instructions and a
// comparison that notes whether they were right (device_divide.cc). A point for which one was not stores nothing: it
// and the thread's later points are computed by plain divisions, in the loop that runs of accesses (runs.h) have anyway
// for other addresses. So it must be straight code, and read nothing that it writes. A team whose rows are in registers
// (kept_rows.h) keeps the results of its last loop there too, until all its threads say that theirs are right.
//
// Not there yet: an f32 that a point divides by once is divided by as it is. So is one in a kernel without runs of
// accesses and without rows in registers. Square roots are the compiler's.
#ifndef RICCI_CUDA_SHARED_DIVISORS_H_
#define RICCI_CUDA_SHARED_DIVISORS_H_
#include <cstdint>
#include <vector>

#include "codegen/analysis.h"
#include "cuda/tile/vector.h"

namespace ricci::cuda {

struct SharedDivisors {
  std::vector<uint8_t> of;     // by instruction: a division by one of them; empty: there are none
  std::vector<uint8_t> first;  // by instruction: the first division by its divisor
  uint32_t loop = 0;           // of a team, that divides and stores; 0: the point's code

  bool IsUsed() const { return !of.empty(); }
};
SharedDivisors SharedDivisorsOf(const ricci_kernel_table& k, const codegen::Blocks& blocks);
// Of a loop whose results are all stored several at a time.
SharedDivisors RowDivisorsOf(const ricci_kernel_table& k, const codegen::Blocks& blocks, const KeptRows& rows,
                             const Vector& vector);

}  // namespace ricci::cuda
#endif
