// Equations that hold closed functions: programs whose captures come before their arguments.
#ifndef RICCI_BINDINGS_CPP_HOST_HOLDING_EQUATION_H_
#define RICCI_BINDINGS_CPP_HOST_HOLDING_EQUATION_H_
#include "ricci/callable.hpp"
#include "ricci/emit.hpp"

namespace ricci { inline namespace v0 {

// `f` with its last parameters, from `first` on, moved to the front: where such equations want what is captured.
Program LastFirst(const CallSite& site, const Program& f, size_t first);
// An equation of `prim` with `n_out` results, at the location where its operands are.
Values EmitHolding(const CallSite& site, std::string_view prim, const Values& in, size_t n_out,
                   std::initializer_list<Attr> attrs);

}}  // namespace ricci::v0
#endif
