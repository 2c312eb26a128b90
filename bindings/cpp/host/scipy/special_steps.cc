// What special functions take.
#include "host/scipy/special_steps.h"

namespace ricci { inline namespace v0 { namespace plain {

RealOperands::RealOperands(std::string_view name, std::span<const Operand> xs)
    : wide(UseTogether(name, xs, /*inexact=*/true)) {
  dtype = wide[0].dtype();
  xs.size() == 1 ? WantReal(name, xs[0].at, wide[0]) : WantReal(name, xs[0].at, wide);
  if (dtype == DType::kF64) return;
  for (Value& v : wide) v = To(v, DType::kF32);
}

}}}  // namespace ricci::v0::plain
