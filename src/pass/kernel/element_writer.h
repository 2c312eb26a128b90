// ElementWriter: a Writer that takes elements of every dtype. Kernels hold no complex numbers: here one is a pair of
// values, its real and imaginary part, and an array of them is an array of twice as many floating numbers, with the two
// parts adjacent.
//
// A pair has a number like any value, marked by its highest bit. It may be loaded, stored, combined by Yield (sums) and
// Scan, and used by the scalar operations that complex numbers have (complex_scalar.cc). Everything else that a Writer
// does takes only values of kernels, and fails for a pair.
#ifndef RICCI_PASS_ELEMENT_WRITER_H_
#define RICCI_PASS_ELEMENT_WRITER_H_
#include <vector>

#include "base/hash_map.h"
#include "kernel/writer.h"

namespace ricci { inline namespace v0 { namespace pass {

using kernel::LocalId;
using kernel::Val;

struct Pair {  // a complex number
  Val re = 0, im = 0;
};

class ElementWriter : public kernel::Writer {
 public:
  using Writer::Writer;

  // ---- what a Writer does, for elements of any dtype ----
  uint32_t Buffer(uint32_t dtype, int64_t elements, uint32_t access);
  Val Element(uint32_t dtype, const std::byte* element);  // a constant, given by its bytes
  Val Scalar(uint32_t op, uint32_t dtype, std::span<const Val> operands);
  Val Op(uint32_t op, Val a, Val b) { return Scalar(op, 0, {{a, b}}); }
  Val MultiplyAdd(Val a, Val b, Val c);
  Val Load(uint32_t buffer, Val index);
  void Store(uint32_t buffer, Val index, Val v);
  LocalId Local(uint32_t dtype, int64_t elements);
  Val Get(LocalId local, Val index);
  void Set(LocalId local, Val index, Val v);
  Val Yield(Val v);
  void Scan(Val lo, Val hi, std::span<const Val> identities, Val* left, Val* right);
  Val Combiner(std::span<const Val> results);
  void Prefix(std::span<const Val> elements, Val* prefixes);
  uint32_t DType(Val v) const;
  bool Usable(Val v) const;

  // ---- complex numbers ----
  // Also false for a number that no value has: a plugin may pass any number.
  bool IsPair(Val v) const { return (v & kPair) != 0 && (v & ~kPair) < pairs_.size(); }
  // From two values of f32 or of f64; 0 after an error.
  Val Complex(Val re, Val im);
  Pair PartsOf(Val complex) const { return pairs_[complex & ~kPair]; }

 private:
  static constexpr Val kPair = Val{1} << 31;

  bool InBuffer(uint32_t buffer) const { return buffer < complex_buffers_.size() && complex_buffers_[buffer] != 0; }
  Val Twice(Val index) { return Mul(index, Index(2)); }
  Val After(Val twice) { return Add(twice, Index(1)); }
  bool CheckPair(Val v, std::string_view where);
  std::vector<Val> Parts(std::span<const Val> values) const;
  void Join(std::span<const Val> like, std::span<const Val> parts, Val* out);

  std::vector<Pair> pairs_;
  std::vector<uint8_t> complex_buffers_;  // by buffer
  base::HashSet<uint32_t> complex_locals_;
};

}}}  // namespace ricci::v0::pass
#endif
