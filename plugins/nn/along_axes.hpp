// Operations along the dimensions `axes` of operand 0: what normalisations and softmax share.
//
// All of them compute in f32 what is given in 16 bits or less, and round the result once. A batch of operand 0 alone
// stays where it is.
#ifndef RICCI_NN_ALONG_AXES_HPP_
#define RICCI_NN_ALONG_AXES_HPP_
#include "lax/reduction_parts.hpp"

namespace ricci { inline namespace v0 { namespace nn {

// Fails unless `axes` are dimensions of operand 0 in their order.
inline void WantIncreasingAxes(const Eqn& e) {
  const Dims axes = e.ints("axes");
  rules::WantAxes(e, 0, "axes", axes);
  if (!std::is_sorted(axes.begin(), axes.end())) e.Fail("axes ", axes, " must increase");
}

inline Value Widened(const Value& x) { return lax::convert_element_type(x, lax::SumDType(x.dtype())); }

// `v`, which lacks the dimensions `axes` of `shape`, repeated along them.
inline Value SpreadAlong(const Value& v, Dims shape, Dims axes) {
  return lax::broadcast_in_dim(v, shape, rules::Complement(axes, static_cast<int64_t>(shape.size())));
}
// The sum of x along `axes`, or its mean, in every element of them.
inline Value SumAlong(const Value& x, Dims axes) { return SpreadAlong(lax::reduce_sum(x, axes), x.shape(), axes); }
inline Value MeanAlong(const Value& x, Dims axes) {
  const int64_t count = ElementCount(rules::Pick(x.shape(), axes));
  return SpreadAlong(lax::div(lax::reduce_sum(x, axes), static_cast<double>(count)), x.shape(), axes);
}

// The factors of operand 0 and the result: `axes` are whole, the others pass through.
inline std::string WholeAlong(Dims axes) { return axes.empty() ? "" : "; whole " + rules::Letters(axes); }

}}}  // namespace ricci::v0::nn
#endif
