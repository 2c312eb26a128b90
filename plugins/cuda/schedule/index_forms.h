// IndexForms: indices as sums of the coordinates of a point, and of trips of loops, each times a constant factor, and
// of a constant.
#ifndef RICCI_CUDA_INDEX_FORMS_H_
#define RICCI_CUDA_INDEX_FORMS_H_
#include <vector>

#include "ricci/backend.h"

namespace ricci::cuda {

// The factor of each dimension of the domain, of each loop, then the constant; empty: the value has another form.
using IndexForm = std::vector<int64_t>;

class IndexForms {
 public:
  // `loops`: whose indices count too.
  explicit IndexForms(const ricci_kernel_table& k, std::vector<uint32_t> loops = {});
  const IndexForm& Of(uint32_t v) const { return forms_[v]; }

 private:
  size_t size() const { return k_.domain_rank + loops_.size() + 1; }  // of a form
  IndexForm Find(uint32_t v) const;
  IndexForm Combined(const ricci_inst& q) const;

  const ricci_kernel_table& k_;
  const std::vector<uint32_t> loops_;
  std::vector<IndexForm> forms_;
};

}  // namespace ricci::cuda
#endif
