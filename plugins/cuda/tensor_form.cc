#include "tensor_form.h"

#include <algorithm>

#include "codegen/analysis.h"
#include "index_forms.h"
#include "tensor_map.h"

namespace ricci::cuda {
namespace {

using Along = TensorForm::Along;
using Dimension = TensorForm::Dimension;

// Dimensions, the outermost first, as one: each goes on where the one inside of it ends. Those of one element are none.
std::optional<Dimension> AsOne(const std::vector<Dimension>& dimensions) {
  std::optional<Dimension> all;
  for (size_t i = dimensions.size(); i-- > 0;) {
    const Dimension& d = dimensions[i];
    if (d.size == 1) continue;
    if (all && d.stride != all->stride * all->size) return {};
    if (all) {
      all->size *= d.size;
    } else {
      all = d;
    }
  }
  return all;
}

// What the driver takes (cuTensorMapEncodeTiled): distances that are multiples of 16 bytes, each one of the one before,
// and nothing that overlaps.
bool AreTaken(const std::vector<Dimension>& dimensions, int64_t bytes) {
  constexpr int64_t kMostStride = int64_t{1} << 40, kMostSize = int64_t{1} << 31;
  if (dimensions.size() > TensorMap::kMostRank || dimensions[0].stride != 1) return false;
  for (size_t i = 1; i < dimensions.size(); ++i) {
    const int64_t stride = dimensions[i].stride;
    if (stride <= 1 || stride > kMostStride / bytes || stride * bytes % TensorMap::kAlignment != 0) return false;
    if (i > 1 && stride % dimensions[i - 1].stride != 0) return false;
    if (stride / dimensions[i - 1].stride < dimensions[i - 1].size) return false;
  }
  return std::all_of(dimensions.begin(), dimensions.end(), [](const Dimension& d) { return d.size < kMostSize; });
}

}  // namespace

std::optional<TensorForm> TensorFormOf(const ricci_kernel_table& k, uint32_t load, const std::vector<uint32_t>& loops,
                                       const TensorSides& sides) {
  const ricci_inst& q = k.insts[load];
  if (q.op != RICCI_K_LOAD) return {};
  const IndexForms forms(k, loops);
  const IndexForm& f = forms.Of(q.a);
  if (f.empty()) return {};
  std::vector<Dimension> of_sum, of_side;
  for (size_t l = 0; l < loops.size(); ++l) {
    of_sum.push_back({Along::kSum, 0, codegen::TripsOf(k, loops[l]).value_or(0), f[k.domain_rank + l]});
  }
  for (const uint32_t d : sides.side) of_side.push_back({Along::kSide, 0, k.domain[d], f[d]});
  const std::optional<Dimension> sum = AsOne(of_sum), side = AsOne(of_side);
  if (!sum || !side) return {};
  TensorForm form{
      .buffer = static_cast<uint32_t>(RICCI_BUFFER_OF(q.imm)), .first = f.back(), .dimensions = {*sum, *side}};
  for (const uint32_t d : sides.batch) {
    if (f[d] != 0 && k.domain[d] > 1) form.dimensions.push_back({Along::kBatch, d, k.domain[d], f[d]});
  }
  const int64_t bytes = codegen::SizeOfDType(q.dtype);
  std::stable_sort(form.dimensions.begin(), form.dimensions.end(),
                   [](const Dimension& a, const Dimension& b) { return a.stride < b.stride; });
  if (form.dimensions[0].along == Along::kBatch || form.first < 0 || form.first * bytes % TensorMap::kAlignment != 0) {
    return {};
  }
  if (!AreTaken(form.dimensions, bytes)) return {};
  return form;
}

}  // namespace ricci::cuda
