#include "cuda/tile/result_form.h"

#include <algorithm>

#include "codegen/dtypes.h"
#include "cuda/schedule/index_forms.h"
#include "cuda/tile/tile_forms.h"

namespace ricci::cuda {
namespace {

constexpr double kMostOperations = 16;  // of a point: 2048 instructions for all sums of a thread

class Finder {
 public:
  Finder(const ricci_kernel_table& k, const IndexRanges& ranges, const Tile& tile)
      : k_(k), ranges_(ranges), tile_(tile) {}

  ResultForm Find() {
    std::string why_not = WhyNotStored();
    if (why_not.empty()) why_not = WhyNotComputed();
    if (why_not.empty()) return std::move(out_);
    return {.why_not = std::move(why_not)};
  }

 private:
  std::string WhyNotStored() {
    uint32_t store = 0;
    for (uint32_t i = 1; i < k_.n_insts; ++i) {
      if (k_.insts[i].op != RICCI_K_STORE) continue;
      if (store != 0) return "there are several results";
      store = i;
    }
    if (store == 0) return "there is no plain result";
    if (k_.buffers[RICCI_BUFFER_OF(k_.insts[store].imm)].access != RICCI_ACCESS_WRITE) return "they are read again";
    out_.value = k_.insts[store].b;
    out_.dtype = k_.insts[out_.value].dtype;
    if (out_.dtype != RICCI_BF16 && out_.dtype != RICCI_F16 && out_.dtype != RICCI_F32) {
      return "they are " + std::string(codegen::DTypeName(out_.dtype));
    }
    TensorSides sides = SidesOf(k_, tile_, Side::kColumns);
    sides.rows = SidesOf(k_, tile_, Side::kRows).side;
    out_.form = TensorFormOf(k_, store, {}, sides, {false, out_.columns(), ResultForm::kRows});
    if (!out_.form.is_there()) return "of their memory " + out_.form.why_not;
    const auto is_part = [](const TensorForm::Dimension& d) { return d.inner != 1 || !d.is_outermost; };
    const bool has_parts = std::any_of(out_.form.dimensions.begin(), out_.form.dimensions.end(), is_part);
    return has_parts ? "their rows or columns are several dimensions" : "";
  }

  std::string WhyNotComputed() {
    const ricci_inst& result = k_.insts[out_.value];
    out_.is_rounded = out_.dtype != RICCI_F32 && result.op == RICCI_S_CONVERT && k_.insts[result.a].dtype == RICCI_F32;
    if (out_.is_rounded) out_.value = result.a;
    std::vector<uint8_t> given(k_.n_insts);
    for (const TileProduct& p : tile_.sums) given[p.first] = 1;
    const uint32_t last = k_.domain_rank - 1;
    const std::vector<uint32_t> roots{out_.value};
    if (k_.domain[last] % 2 != 0 || tile_.sides[last] != Side::kColumns ||
        !MakeVectorAccess(k_, roots, given, Neighbours(k_, ranges_, last, 2), 2, out_.points)) {
      return "neighbours are not computed together";
    }
    return WhyLong();
  }
  std::string WhyLong() const {
    const IndexForms forms(k_);
    double operations = 0;
    for (uint32_t i = 1; i < k_.n_insts; ++i) {
      if (out_.points.each[i] != 0) operations += codegen::OpCost(k_.insts[i].op);
    }
    for (const uint32_t i : out_.points.loads) {
      if (!IsOfOneSide(forms.Of(k_.insts[i].a))) {
        return "b" + std::to_string(RICCI_BUFFER_OF(k_.insts[i].imm)) + " is read by rows and columns";
      }
    }
    if (operations <= kMostOperations) return {};
    return "a point computes " + std::to_string(static_cast<int64_t>(operations)) + " operations";
  }
  // Not of both rows and columns.
  bool IsOfOneSide(const IndexForm& form) const {
    if (form.empty()) return false;
    const auto depends = [&](Side side) {
      const std::vector<uint32_t> all = SidesOf(k_, tile_, side).side;
      return std::any_of(all.begin(), all.end(), [&](uint32_t d) { return form[d] != 0; });
    };
    return !depends(Side::kRows) || !depends(Side::kColumns);
  }

  const ricci_kernel_table& k_;
  const IndexRanges& ranges_;
  const Tile& tile_;
  ResultForm out_;
};

}  // namespace

ResultForm ResultFormOf(const ricci_kernel_table& k, const IndexRanges& ranges, const Tile& tile) {
  return Finder(k, ranges, tile).Find();
}

}  // namespace ricci::cuda
