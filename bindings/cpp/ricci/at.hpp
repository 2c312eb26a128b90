// ricci/at.hpp: at(x, {i, kAll, j}).set(y): updates at an index, under the names of jax.numpy's x.at[i, :, j].
//
// set_at, add_at and their kin of indexing.hpp are the same with JAX's defaults.
#ifndef RICCI_AT_HPP_
#define RICCI_AT_HPP_
#include "ricci/indexing.hpp"

namespace ricci { inline namespace v0 {

struct AtOptions {
  // What becomes of traced indices outside of the array: `fill` or `drop` (get fills, updates are dropped), `clip` (to
  // the nearest element) or `promise_in_bounds` (there are none). Without it get clips and updates are dropped.
  std::string_view mode = {};
  std::optional<double> fill_value = {};                    // of get in mode fill; by default as `take` fills
  bool indices_are_sorted = false, unique_indices = false;  // promises, which may make it quicker
};

// The elements of x at a list of items, as in `index`. Each function gives a copy of x in which they are changed;
// operands broadcast to the shape of the elements. Use it within one expression: it refers to x and to the items.
class IndexedElements {
 public:
  IndexedElements(const Operand& x, IndexItems items, const AtOptions& options)
      : x_(x), items_(items), options_(options) {}

  // The elements themselves.
  Value get() const;
  Value set(const Operand& y) const;
  // An element that occurs several times gets every update.
  Value add(const Operand& y) const;
  Value subtract(const Operand& y) const;
  Value multiply(const Operand& y) const;
  Value min(const Operand& y) const;
  Value max(const Operand& y) const;
  // Integers are divided as floating numbers.
  Value divide(const Operand& y) const;
  Value power(const Operand& y) const;
  // f of the elements, once each, in their place; f maps a Value to one of its shape.
  template <typename F>
  Value apply(const F& f) const {
    return set(Operand(f(get()), x_.at));
  }

 private:
  Value Update(std::string_view prim, const Operand& x, const Operand& y) const;
  // Ones of x's shape, times y at the elements.
  Value Factors(const Operand& y) const;

  Operand x_;
  std::vector<IndexItem> items_;
  AtOptions options_;
};
inline IndexedElements at(const Operand& x, IndexItems items, const AtOptions& options = {}) {
  return IndexedElements(x, items, options);
}
// An index of axis 0, of any shape.
inline IndexedElements at(const Operand& x, const Operand& indices, const AtOptions& options = {}) {
  return IndexedElements(x, {IndexItem(indices)}, options);
}

}}  // namespace ricci::v0
#endif
