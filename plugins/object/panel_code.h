// Functions that factorise some columns of a matrix, as code.
#ifndef RICCI_OBJECT_PANEL_CODE_H_
#define RICCI_OBJECT_PANEL_CODE_H_
#include "cpu/library/product.h"
#include "cpu/llvm/llvm_builder.h"
#include "processor_names.h"

namespace ricci::object {

inline constexpr int64_t kPanelColumns = 32;  // at most
// Elements from column to column of the copy of a panel: there is room for a whole panel of columns of a product after
// the last row, whatever the processor.
constexpr int64_t PanelStride(int64_t rows) { return rows / 16 * 16 + 48; }
LLVMValueRef EmitPanelStride(const cpu::LlvmBuilder& l, LLVMValueRef rows);

// Each emits, once for a module, `void panel(a, stride, rows, width, pivots, scratch)`, which factorises `width`
// columns of a in a copy: element [i, j] of the factor is then at j * PanelStride(rows) + i of the scratch memory too,
// where what is above the diagonal of a symmetric one is anything. Pivots are i32, from the first of these rows on.
LLVMValueRef EmitLuPanel(const cpu::LlvmBuilder& l, cpu::GemmType type, const Processor& processor);
// NULL for pivots. Where the matrix is not positive definite, a root is NaN, and so is all that comes after it.
LLVMValueRef EmitCholeskyPanel(const cpu::LlvmBuilder& l, cpu::GemmType type, const Processor& processor);

}  // namespace ricci::object
#endif
