// Sums, differences, negations and products with constants that stay within 64 bits.
#include "cuda/schedule/index_forms.h"

#include <algorithm>
#include <utility>

namespace ricci::cuda {

IndexForms::IndexForms(const ricci_kernel_table& k, std::vector<uint32_t> loops)
    : k_(k), loops_(std::move(loops)), forms_(k.n_insts) {
  for (uint32_t v = 1; v < k.n_insts; ++v) forms_[v] = Find(v);
}

IndexForm IndexForms::Find(uint32_t v) const {
  const ricci_inst& q = k_.insts[v];
  if (const auto loop = std::find(loops_.begin(), loops_.end(), v); loop != loops_.end()) {
    IndexForm form(size());
    form[k_.domain_rank + static_cast<size_t>(loop - loops_.begin())] = 1;
    return form;
  }
  if (q.dtype != RICCI_I64) return {};
  const bool is_product = q.op == RICCI_S_MUL && k_.insts[q.b].op == RICCI_K_CONST;
  if (q.op == RICCI_S_ADD || q.op == RICCI_S_SUB || q.op == RICCI_S_NEG || is_product) return Combined(q);
  IndexForm form(size());
  if (q.op == RICCI_K_DOMAIN) {
    form[static_cast<size_t>(q.imm)] = 1;
  } else if (q.op == RICCI_K_CONST) {
    form.back() = q.imm;
  } else {
    return {};
  }
  return form;
}

IndexForm IndexForms::Combined(const ricci_inst& q) const {
  const bool is_negation = q.op == RICCI_S_NEG;
  const IndexForm zero(size()), &a = is_negation ? zero : forms_[q.a], &b = forms_[is_negation ? q.a : q.b];
  if (a.empty() || b.empty()) return {};
  IndexForm form(a.size());
  for (size_t d = 0; d < form.size(); ++d) {
    const bool overflows = q.op == RICCI_S_MUL   ? __builtin_mul_overflow(a[d], b.back(), &form[d])
                           : q.op == RICCI_S_ADD ? __builtin_add_overflow(a[d], b[d], &form[d])
                                                 : __builtin_sub_overflow(a[d], b[d], &form[d]);
    if (overflows) return {};
  }
  return form;
}

}  // namespace ricci::cuda
