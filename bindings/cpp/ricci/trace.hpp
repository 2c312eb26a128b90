// ricci/trace.hpp: what a function that is being traced may capture, and where its errors point.
//
// Tracings nest like the lambdas they trace, and all those inside one outermost tracing share a session that knows the
// innermost open one. An outer Value used inside becomes an extra parameter of the inner program (small constants are
// copied instead); the equation that holds the program then gets the outer Value as operand. A concrete Array becomes
// an extra parameter of the outermost program, never a constant. Nothing here is thread-local: a Value knows its trace.
#ifndef RICCI_TRACE_HPP_
#define RICCI_TRACE_HPP_
#include "ricci/program.hpp"

namespace ricci { inline namespace v0 {

using Arrays = std::vector<Array>;

// The program that `call(&program)` makes; its error gets the location of the caller.
template <typename Call>
Program MakeProgramAt(const Location& at, Call&& call) {
  ricci_program* p = nullptr;
  CheckAt(at, call(&p));
  return Program(p);
}
// Throws unless the function that made `v` is still being traced.
void CheckOpen(const Value& v, const Location& at, std::string_view name);
// Appends the equations of `f` to the program of its operands.
Values Inline(const Program& f, std::span<const Value> in);

}}  // namespace ricci::v0
#endif
