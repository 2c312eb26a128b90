// What a factor of a product costs where it is computed by the product itself, against storing it first.
//
// A product reads an element of a factor many times, so what computes one is normally stored before it. Where many
// points run at once, a product is computed by tiles, in which all rows (columns) share what they read: there an
// element is computed once for each tile that reads it. That is cheaper than a launch and two ways through memory as
// long as it is little arithmetic from few bytes: a scale, a mask, weights that are kept in fewer bits. But a cast of
// f32 to bf16 makes a tile read twice as much, so it pays only where few tiles read it.
//
// On the GPU of plugins/cuda/cuda_plugin.cc a factor is computed by the product if `times x ((bytes read - bytes) /
// 16384 + operations / 65536) <= 2 x bytes / 8192 + 4000 / elements`. It may take 4 operations at most for each byte of
// an element, of both factors together (kFactorOperations of target.cc). So weights of 8 bits that are scaled to bf16
// are never stored in more. Where launches do not count, a scaled factor of f32 is stored above 8,192 columns, a cast
// of f32 to bf16 above 384. What the kernel before computes anyway (an activation of a layer) stays there.
#ifndef RICCI_PASS_FACTOR_COST_H_
#define RICCI_PASS_FACTOR_COST_H_
#include "ir/factors.h"
#include "pass/target/target.h"

namespace ricci { inline namespace v0 { namespace pass {

struct FactorWork {
  double times = 0;  // that an element is computed: once for each tile that reads it
  double elements = 1;
  double bytes = 0;        // of an element,
  double read_bytes = 0;   // and of what it is computed from
  int64_t operations = 0;  // simple ones, for an element
};
bool PaysInProduct(const FactorWork& work, const ricci_target& t);

// How many tiles of `tile` rows (columns) read an element of operand `k` of the product with these factors. 0: not a
// plain product (a window, a dimension that is looked up), or nothing is known of it.
double TilesThatRead(const ir::Factors* product, size_t k, int64_t tile);

}}}  // namespace ricci::v0::pass
#endif
