// What the distributions of jax.random share: key and parameters as values of one program, and the steps that many
// take.
#ifndef RICCI_BINDINGS_CPP_HOST_RANDOM_DRAWS_H_
#define RICCI_BINDINGS_CPP_HOST_RANDOM_DRAWS_H_
#include "host/core/numpy_steps.h"
#include "ricci/random.hpp"

namespace ricci { inline namespace v0 { namespace random {

// Fails unless it is a key.
Value UseKey(std::string_view name, const Operand& k);

// One call of a distribution.
struct Draw {
  CallSite site;
  Value key_value;
  Shape shape;  // of the result
  DType dtype;
  Values parameters;  // of `dtype` and `shape`

  Operand In(const Value& v) const { return Operand(v, site.at); }
  Operand key() const { return In(key_value); }
  std::pair<Operand, Operand> TwoKeys() const;
  // Uniform in [low, high), standard normal; of the shape and dtype of the result.
  Value Uniform(double low = 0, double high = 1) const { return uniform(key(), shape, dtype, low, high); }
  Value Normal() const { return normal(key(), shape, dtype); }
};

// Parameters of a floating `dtype`. They must broadcast to `shape`, which if it is empty is that of all together.
Draw DrawOf(std::string_view name, const Operand& k, std::span<const Operand> parameters, const Shape& shape,
            DType dtype);
inline Draw DrawOf(std::string_view name, const Operand& k, std::initializer_list<Operand> parameters,
                   const Shape& shape, DType dtype) {
  return DrawOf(name, k, std::span(parameters.begin(), parameters.size()), shape, dtype);
}
// The last dimension of a parameter, which must have one; the others are `batch`, unless that is given.
int64_t TakeLast(const CallSite& site, std::string_view parameter, Dims of, Shape& batch);

inline Value Half(const Value& x) { return lax::div(x, lax::full_like(x, 2)); }

}}}  // namespace ricci::v0::random
#endif
