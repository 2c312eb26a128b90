// ricci/producer.hpp: what simplify rules ask about their operands: which equation or constant a value comes from.
//
// A simplify rule returns a Value that is equal to the result but cheaper, or an unset Value for "nothing simpler". It
// may use operands, operands of their producers, constants and new equations.
#ifndef RICCI_PRODUCER_HPP_
#define RICCI_PRODUCER_HPP_
#include <optional>

#include "ricci/eqn.hpp"

namespace ricci { inline namespace v0 {

// The equation that computes a value; false if there is none (a parameter, a constant).
class Producer {
 public:
  explicit Producer(const Value& v) : value_(v) {
    const ricci_attr* attrs = nullptr;
    uint32_t result = 0;
    op_.hdr.size = sizeof op_;
    op_.ctx = v.context();
    found_ = ricci_builder_definition(v.builder, v.id, &op_.prim, &attrs, &op_.n_attrs, &op_.n_in, &result) != 0;
    op_.attrs = attrs;
  }
  explicit operator bool() const { return found_; }
  bool Is(std::string_view primitive) const { return found_ && eqn().name() == primitive; }
  // Name and attributes; no types.
  Eqn eqn() const { return Eqn(&op_, value_.builder); }
  Value operand(uint32_t i) const {
    return {value_.builder, ricci_builder_operand(value_.builder, value_.id, i), value_.scope};
  }

 private:
  Value value_;
  ricci_op op_{};
  bool found_ = false;
};

// The bytes of one element of the constant `v`, if all its elements are equal; empty if `v` is not such a constant.
inline std::span<const unsigned char> SplatBytes(const Value& v) {
  const void* data = nullptr;
  uint64_t bytes = 0;
  ricci_builder_constant(v.builder, v.id, &data, &bytes);
  if (data == nullptr || bytes != static_cast<uint64_t>(SizeOf(v.dtype()))) return {};
  return {static_cast<const unsigned char*>(data), bytes};
}
// Whether all elements of `v` are known to be the number `number`; zeros of either sign count as 0.
inline bool IsSplat(const Value& v, double number) {
  const std::span<const unsigned char> bytes = SplatBytes(v);
  if (bytes.empty() || !In(v.dtype(), kAny)) return false;
  const auto is = [&](double x) {
    const Element e = Encode(v.dtype(), x);
    if (In(v.dtype(), kTinyFloats) && ricci_float_decode(FormatOf(v.dtype()), e.bytes[0]) != x) return false;
    return std::equal(bytes.begin(), bytes.end(), e.bytes.begin());
  };
  return is(number) || (number == 0 && IsFloat(v.dtype()) && is(-0.0));
}

}}  // namespace ricci::v0
#endif
