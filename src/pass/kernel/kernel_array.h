// KernelArray: what an array of a kernel is while the kernel is built. Only storage is in memory and can be stored to;
// the others are ways to compute an element, by which producers fuse into what reads them.
#ifndef RICCI_PASS_KERNEL_ARRAY_H_
#define RICCI_PASS_KERNEL_ARRAY_H_
#include <memory>
#include <span>
#include <variant>
#include <vector>

#include "ir/program.h"
#include "kernel/writer.h"
#include "ricci/primitive.h"

namespace ricci { inline namespace v0 { namespace pass {

using kernel::Val;
using ArrayId = ricci_karr;  // 0 = none

// What an array may be.
namespace array {

struct Storage {  // elements in a buffer or private array
  bool local = false;
  uint32_t number = 0;  // buffer or local
  Val offset = 0;       // 0 = none
  std::vector<int64_t> strides;
  bool of_row = false;  // only elements of the row that is being computed may be accessed
};
struct Lazy {  // result `result` of an equation whose operands are `operands`
  const ir::Program* program = nullptr;
  const ir::Equation* eqn = nullptr;
  const ricci_lowering* lowering = nullptr;
  std::vector<ArrayId> operands;
  uint32_t result = 0;
  bool flat = false;  // element n needs only elements n of what it reads
};
struct Slice {  // `base` at `index` along `axis`, where base is not storage
  ArrayId base = 0;
  uint32_t axis = 0;
  Val index = 0;
};
struct Literal {  // a constant
  bool splat = true;
  std::shared_ptr<const ir::ConstantData> data;
  ArrayId buffer = 0;  // made when an index is not constant
};
struct Elements {  // evaluated, one value per element
  std::vector<Val> values;
  ArrayId spilled = 0;  // a private array with them, made when an index is not constant
  bool of_row = false;  // the one value is that of the row that is being computed
};

}  // namespace array

struct KernelArray {
  ir::TypeId type = 0;
  std::variant<array::Storage, array::Lazy, array::Slice, array::Literal, array::Elements> is;
};

// The strides of elements in row-major order.
std::vector<int64_t> RowMajor(std::span<const int64_t> shape);

}}}  // namespace ricci::v0::pass
#endif
