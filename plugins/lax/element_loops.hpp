// A function of numbers that needs loops, applied to every element: each element runs its own loop, for as long as it
// needs, also in lanes.
//
// A lowering with while loops over whole arrays would run all elements for as long as the slowest, and store every
// variable of the loop. Numbers are computed in f64 for every dtype and rounded once.
#ifndef RICCI_LAX_ELEMENT_LOOPS_HPP_
#define RICCI_LAX_ELEMENT_LOOPS_HPP_
#include "ricci/plugin.hpp"

namespace ricci { inline namespace v0 { namespace lax {

// One number that changes in a loop.
class Variable {
 public:
  Variable(KernelBuilder& k, const Eqn& e, DType dtype) : at_(k.Local(e.Type(dtype, {}))) {}
  Variable(KernelBuilder& k, const Eqn& e, Scalar first) : Variable(k, e, first.dtype()) { *this = first; }
  Variable(const Variable&) = default;
  const Variable& operator=(Scalar v) const {
    at_.Store({}, v);
    return *this;
  }
  operator Scalar() const { return at_.Load({}); }

 private:
  KernelArray at_;
};

// The kernel and equation of one element.
struct Work {
  KernelBuilder& k;
  const Eqn& e;
  Scalar Number(double v) const { return k.Constant(DType::kF64, v); }
  Variable New(Scalar first) const { return Variable(k, e, first); }
  Variable New(double first) const { return New(Number(first)); }
};

// result[i] = F(operands[i]...), in f64.
template <Scalar (*F)(const Work& w, std::span<const Scalar> in)>
void EachElement(KernelBuilder& k, const Eqn& e) {
  k.Parallel(e.out().shape(), [&](const Index& at) {
    std::vector<Scalar> in;
    for (uint32_t i = 0; i < e.n_in(); ++i) in.push_back(Convert(k.Operand(i).Load(at), DType::kF64));
    k.Result().Store(at, Convert(F({k, e}, in), e.out().dtype()));
  });
}

// A row of such a function of `n` numbers of one floating dtype.
template <uint32_t n, Scalar (*F)(const Work& w, std::span<const Scalar> in)>
constexpr Row LoopedFunction(std::string_view name, std::string_view doc, JvpRule jvp, std::string_view examples) {
  return {.name = name,
          .doc = doc,
          .flags = RICCI_PRIM_EXPENSIVE,
          .type = rules::Same<n, kFloats>,
          .jvp = jvp,
          .batch = rules::kElementwise,
          .factors_of = rules::ElementwiseFactors,
          .lowerings = lower::Loops<EachElement<F>>,
          .missing = rules::kNotLinear,
          .examples = examples};
}

}}}  // namespace ricci::v0::lax
#endif
