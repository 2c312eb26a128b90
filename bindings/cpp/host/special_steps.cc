// What special functions take.
#include "special_steps.h"

namespace ricci { inline namespace v0 { namespace plain {

RealOperands::RealOperands(std::string_view name, std::span<const Operand> xs)
    : wide(UseTogether(name, xs, /*inexact=*/true)) {
  dtype = wide[0].dtype();
  if (IsComplex(dtype)) {
    FailAt(xs[0].at, name, xs.size() == 1 ? ": operand is " : ": operands are ", wide[0].type(),
           xs.size() == 1 ? "; it must be real" : "; they must be real");
  }
  if (dtype == DType::kF64) return;
  for (Value& v : wide) v = To(v, DType::kF32);
}

}}}  // namespace ricci::v0::plain
