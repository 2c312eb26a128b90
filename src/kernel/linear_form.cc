#include "kernel/linear_form.h"

namespace ricci { inline namespace v0 { namespace kernel {

LinearForm Combine(const LinearForm& x, const LinearForm& y, int64_t factor, int bits) {
  LinearForm sum;
  sum.constant = WrapTo(bits, WrappedSum(x.constant, WrappedProduct(y.constant, factor)));
  size_t i = 0, j = 0;
  while (i < x.terms.size() || j < y.terms.size()) {
    const bool take_x = j == y.terms.size() || (i < x.terms.size() && x.terms[i].atom <= y.terms[j].atom);
    const bool take_y = i == x.terms.size() || (j < y.terms.size() && y.terms[j].atom <= x.terms[i].atom);
    const uint32_t atom = take_x ? x.terms[i].atom : y.terms[j].atom;
    int64_t f = take_x ? x.terms[i++].factor : 0;
    if (take_y) f = WrappedSum(f, WrappedProduct(y.terms[j++].factor, factor));
    if (f = WrapTo(bits, f); f != 0) sum.terms.push_back({atom, f});
  }
  return sum;
}

}}}  // namespace ricci::v0::kernel
