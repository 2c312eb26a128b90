#include "cuda/tile/tensor_form.h"

#include <algorithm>
#include <utility>

#include "codegen/analysis.h"
#include "cuda/schedule/index_forms.h"

namespace ricci::cuda {
namespace {

using Along = TensorForm::Along;
using Dimension = TensorForm::Dimension;

std::string N(int64_t v) { return std::to_string(v); }

// Dimensions, the outermost first, as few as possible, the innermost first: one that goes on where the one inside of it
// ends is one with it. Those of one element are none.
std::vector<Dimension> Joined(const std::vector<Dimension>& dimensions) {
  std::vector<Dimension> all;
  for (size_t i = dimensions.size(); i-- > 0;) {
    const Dimension& d = dimensions[i];
    if (d.size == 1) continue;
    if (all.empty() || d.stride != all.back().stride * all.back().size) {
      all.push_back(d);
      continue;
    }
    all.back().size *= d.size;
    all.back().batch.insert(all.back().batch.begin(), d.batch.begin(), d.batch.end());
  }
  return all;
}

class Finder {
 public:
  Finder(const ricci_kernel_table& k, const std::vector<uint32_t>& loops, const TensorSides& sides,
         const TensorBox& box)
      : k_(k), loops_(loops), sides_(sides), box_(box) {}

  TensorForm Find(uint32_t access) {
    const ricci_inst& q = k_.insts[access];
    if (q.op != RICCI_K_LOAD && q.op != RICCI_K_STORE) return No("it is computed");
    const IndexForms forms(k_, loops_);
    const IndexForm& f = forms.Of(q.a);
    if (f.empty()) return No("its index is not a sum of coordinates times constants");
    bytes_ = codegen::SizeOfDType(q.op == RICCI_K_LOAD ? q.dtype : k_.insts[q.b].dtype);
    form_.buffer = static_cast<uint32_t>(RICCI_BUFFER_OF(q.imm));
    form_.first = f.back();
    if (!TakeDimensions(f) || !AreTaken() || !IsABox()) return No(form_.why_not);
    return std::move(form_);
  }

 private:
  static TensorForm No(std::string why) { return {.why_not = std::move(why)}; }
  bool Refuse(std::string why) {
    form_.why_not = std::move(why);
    return false;
  }

  bool TakeDimensions(const IndexForm& f) {
    std::vector<Dimension> sum, side, batch;
    for (size_t l = 0; l < loops_.size(); ++l) {
      sum.push_back({Along::kSum, codegen::TripsOf(k_, loops_[l]).value_or(0), f[k_.domain_rank + l], {}});
    }
    for (const uint32_t d : sides_.rows) sum.push_back({Along::kSum, k_.domain[d], f[d], {}});
    for (const uint32_t d : sides_.side) side.push_back({Along::kSide, k_.domain[d], f[d], {}});
    for (const uint32_t d : sides_.batch) {
      if (f[d] != 0) batch.push_back({Along::kBatch, k_.domain[d], f[d], {d}});
    }
    if (!TakeParts(Joined(sum), box_.along_sum) || !TakeParts(Joined(side), !box_.along_sum)) return false;
    for (Dimension& d : Joined(batch)) form_.dimensions.push_back(std::move(d));
    std::stable_sort(form_.dimensions.begin(), form_.dimensions.end(),
                     [](const Dimension& a, const Dimension& b) { return a.stride < b.stride; });
    return true;
  }

  // The parts of the trips (rows), the innermost first. What a box has of them begins at a multiple of its length: it
  // is within one of a part, or has whole ones of it.
  bool TakeParts(std::vector<Dimension> parts, bool are_line) {
    int64_t rest = are_line ? box_.of_line : box_.lines, inner = 1;
    if (parts.empty()) return Refuse("one element is all that it has in a direction");
    for (size_t i = 0; i < parts.size(); ++i) {
      Dimension& d = parts[i];
      d.inner = inner;
      d.is_outermost = i + 1 == parts.size();
      d.box = d.is_outermost || d.size % rest == 0 ? rest : d.size;
      if (rest % d.box != 0) {
        return Refuse("a step takes " + N(are_line ? box_.of_line : box_.lines) + " elements, which are in parts of " +
                      N(d.size));
      }
      rest /= d.box;
      inner *= d.size;
      form_.dimensions.push_back(d);
    }
    return true;
  }

  // What the driver asks of a tensor: distances that are multiples of 16 bytes, each one of the one before, below 2^40,
  // and nothing that overlaps. Sizes may be 2^32; they are below 2^31 here, as coordinates are.
  bool AreTaken() {
    constexpr int64_t kMostStride = int64_t{1} << 40, kMostSize = int64_t{1} << 31;
    const std::vector<Dimension>& all = form_.dimensions;
    if (all.size() > TensorMap::kMostRank)
      return Refuse("it has " + N(static_cast<int64_t>(all.size())) + " dimensions");
    if (all[0].stride != 1) return Refuse("neighbours are " + N(all[0].stride) + " elements from each other");
    if (form_.first < 0 || form_.first * bytes_ % TensorMap::kAlignment != 0) {
      return Refuse("it begins at element " + N(form_.first) + ", not at a multiple of 16 bytes");
    }
    for (size_t i = 1; i < all.size(); ++i) {
      const int64_t stride = all[i].stride, before = all[i - 1].stride;
      if (stride >= kMostStride / bytes_) return Refuse("a distance is 2^40 bytes or more");
      if (stride * bytes_ % TensorMap::kAlignment != 0) {
        return Refuse("a distance is " + N(stride * bytes_) + " bytes, no multiple of 16");
      }
      if (i > 1 && stride % before != 0) {
        return Refuse("a distance is " + N(stride * bytes_) + " bytes, no multiple of the next one, " +
                      N(before * bytes_));
      }
      if (stride / before < all[i - 1].size) return Refuse("its parts overlap");
    }
    const auto is_long = [](const Dimension& d) { return d.size >= kMostSize; };
    return std::none_of(all.begin(), all.end(), is_long) || Refuse("a dimension has 2^31 elements or more");
  }

  // Whether what is copied at once is the lines that shared memory wants, in their order, and no more than the driver
  // takes of a dimension.
  bool IsABox() {
    constexpr int64_t kMostOfBox = 256;
    const std::vector<Dimension>& all = form_.dimensions;
    const bool along_sum = all[0].along == Along::kSum;
    if (all[0].along == Along::kBatch) return Refuse("neighbours in memory are of the batch");
    if (along_sum != box_.along_sum || all[0].box != box_.of_line) {
      return Refuse("neighbours in memory are fewer than a line has, " + N(box_.of_line));
    }
    int64_t inner = 0;
    for (const Dimension& d : all) {
      if (d.box > kMostOfBox) return Refuse("a box has more than 256 elements in a dimension");
      if (d.box == 1 || (d.along == Along::kSum) == along_sum) continue;
      if (d.inner < inner) return Refuse("lines are in another order than in a tile");
      inner = d.inner;
    }
    return true;
  }

  const ricci_kernel_table& k_;
  const std::vector<uint32_t>& loops_;
  const TensorSides& sides_;
  const TensorBox& box_;
  int64_t bytes_ = 0;  // of an element
  TensorForm form_;
};

}  // namespace

TensorForm TensorFormOf(const ricci_kernel_table& k, uint32_t access, const std::vector<uint32_t>& loops,
                        const TensorSides& sides, const TensorBox& box) {
  return Finder(k, loops, sides, box).Find(access);
}

TensorMap MapOf(const TensorForm& form, uint32_t dtype) {
  const auto bytes = static_cast<uint64_t>(codegen::SizeOfDType(dtype));
  TensorMap m{.argument = form.buffer, .first = static_cast<uint64_t>(form.first) * bytes};
  for (const Dimension& d : form.dimensions) {
    m.sizes[m.rank] = static_cast<uint64_t>(d.size);
    m.strides[m.rank] = static_cast<uint64_t>(d.stride) * bytes;
    m.box[m.rank] = static_cast<uint32_t>(d.box);
    ++m.rank;
  }
  return m;
}

}  // namespace ricci::cuda
