// Matrix products as code of their own: what a program in an object has instead of the tiles of plugins/cpu.
//
// The same blocks as there (gemm_kernel.h): panels of packed columns, a block of sums in registers over at most 256
// steps, added block by block. Each sum adds up the same numbers in the same order, so with fused multiply-add the bits
// are those of the tiles. What is left over at an edge is computed in full from the last row or column, and stored in
// part, so nothing beyond an operand is read. 16-bit floats are widened while they are packed; a result of them is
// summed up in f32, a tile of rows at a time, and rounded once.
//
// They are emitted for the sizes at hand, for products from 24^3 on and convolutions as such products of windows. The
// tiles of plugins/cpu are C++, compiled for x86: they would need a linker, and another compiler for each target. What
// is a product, and where windows are, is planned by plugins/cpu. Offsets of windows are constants, of more than 1,024
// only where each row of windows begins: else an image would be as large in the object.
//
// A narrow result is summed up in f32, at most 960 rows and 512 columns at a time, in up to 1.9 MB of workspace.
// Convolutions with at most 8 outputs, inputs times window, or results of a group (depthwise) are generated loops. A
// host adds in another order, and is faster, where it takes planes (cpu/tiles/plane_tile.h), which objects do not have.
#ifndef RICCI_OBJECT_PRODUCT_CODE_H_
#define RICCI_OBJECT_PRODUCT_CODE_H_
#include <string>

#include "cpu/library/product.h"
#include "cpu/llvm/llvm_builder.h"
#include "processor_names.h"

namespace ricci::object {

// Multiplications and additions.
uint64_t ProductFlops(const cpu::Product& p);
// Scratch memory that it needs, aligned to 64, whatever the processor.
uint64_t ProductScratch(const cpu::Product& p);
// Emits `void name(ptr buffers, ptr scratch)`: buffers are the left and right operand and the result.
LLVMValueRef EmitProduct(const cpu::LlvmBuilder& l, const cpu::Product& p, const Processor& processor,
                         const std::string& name);

}  // namespace ricci::object
#endif
