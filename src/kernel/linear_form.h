// LinearForm: an integer as a linear combination of opaque values (atoms), `3*a + 128*b + 7`.
//
// Forms are exact modulo 2^64 (and so modulo 2^32 for i32), whatever the values are: sums cancel and constants collect
// without knowing ranges. Terms are sorted by atom, so that equal forms are equal bytes. At most kMaxTerms terms:
// beyond that a value becomes an atom of its own, which bounds the work per instruction.
#ifndef RICCI_KERNEL_LINEAR_FORM_H_
#define RICCI_KERNEL_LINEAR_FORM_H_
#include <algorithm>
#include <cstdint>

#include "base/hash.h"

namespace ricci { inline namespace v0 { namespace kernel {

inline constexpr size_t kMaxTerms = 8;

struct Term {
  uint32_t atom;
  int64_t factor;  // not 0
  bool operator==(const Term&) const = default;
};

// Up to twice kMaxTerms terms, the most that a sum of two forms can have, without an allocation.
class TermList {
 public:
  static constexpr size_t kCapacity = 2 * kMaxTerms;
  TermList() = default;
  TermList(const TermList& o) { *this = o; }
  TermList& operator=(const TermList& o) {
    size_ = o.size_;
    std::copy(o.begin(), o.end(), terms_);
    return *this;
  }
  void push_back(Term t) { terms_[size_++] = t; }
  void erase(Term* at) {
    std::copy(at + 1, end(), at);
    --size_;
  }
  void resize(size_t smaller) { size_ = smaller; }
  size_t size() const { return size_; }
  bool empty() const { return size_ == 0; }
  Term& operator[](size_t i) { return terms_[i]; }
  const Term& operator[](size_t i) const { return terms_[i]; }
  Term* begin() { return terms_; }
  Term* end() { return terms_ + size_; }
  const Term* begin() const { return terms_; }
  const Term* end() const { return terms_ + size_; }
  bool operator==(const TermList& o) const { return std::equal(begin(), end(), o.begin(), o.end()); }

 private:
  size_t size_ = 0;
  Term terms_[kCapacity];
};

struct LinearForm {
  TermList terms;
  int64_t constant = 0;

  static LinearForm Of(uint32_t atom) {
    LinearForm f;
    f.terms.push_back({atom, 1});
    return f;
  }
  static LinearForm OfConstant(int64_t c) {
    LinearForm f;
    f.constant = c;
    return f;
  }
  bool IsAtom() const { return terms.size() == 1 && terms[0].factor == 1 && constant == 0; }
  bool operator==(const LinearForm& o) const { return constant == o.constant && terms == o.terms; }
};

// Arithmetic wraps at `bits` (32 or 64): factors and constants are kept sign-extended from there.
inline int64_t WrapTo(int bits, int64_t v) { return bits == 32 ? static_cast<int32_t>(v) : v; }
inline int64_t WrappedProduct(int64_t a, int64_t b) {
  return static_cast<int64_t>(static_cast<uint64_t>(a) * static_cast<uint64_t>(b));
}
inline int64_t WrappedSum(int64_t a, int64_t b) {
  return static_cast<int64_t>(static_cast<uint64_t>(a) + static_cast<uint64_t>(b));
}

// x + factor * y, each of at most kMaxTerms terms.
LinearForm Combine(const LinearForm& x, const LinearForm& y, int64_t factor, int bits);
inline LinearForm Scaled(const LinearForm& x, int64_t factor, int bits) { return Combine({}, x, factor, bits); }

inline uint64_t HashOf(const LinearForm& f, uint32_t dtype) {
  base::Hasher h;
  h.Add(dtype).Add(static_cast<uint64_t>(f.constant));
  for (const Term& t : f.terms) h.Add(t.atom).Add(static_cast<uint64_t>(t.factor));
  return h.Done();
}

}}}  // namespace ricci::v0::kernel
#endif
