// IndexForms: indices as sums of the coordinates of a point, each times a constant factor, and of a constant.
#ifndef RICCI_CUDA_INDEX_FORMS_H_
#define RICCI_CUDA_INDEX_FORMS_H_
#include <vector>

#include "ricci/backend.h"

namespace ricci::cuda {

// The factor of each dimension of the domain, then the constant; empty: the value is no such sum.
using IndexForm = std::vector<int64_t>;

class IndexForms {
 public:
  explicit IndexForms(const ricci_kernel_table& k);
  const IndexForm& Of(uint32_t v) const { return forms_[v]; }

 private:
  IndexForm Find(const ricci_inst& q) const;
  IndexForm Combined(const ricci_inst& q) const;

  const ricci_kernel_table& k_;
  std::vector<IndexForm> forms_;
};

}  // namespace ricci::cuda
#endif
