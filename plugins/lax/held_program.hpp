// Programs that rules make: built by a lambda over its parameters, owned, inlined.
#ifndef RICCI_LAX_HELD_PROGRAM_HPP_
#define RICCI_LAX_HELD_PROGRAM_HPP_
#include "ricci/handle.hpp"
#include "ricci/plugin.hpp"

namespace ricci { inline namespace v0 { namespace lax {

// In a shared object the functions of the ABI are slots of a table, which are not constants.
inline ricci_program* RetainProgram(ricci_program* p) { return ricci_program_retain(p); }
inline void ReleaseProgram(ricci_program* p) { ricci_program_release(p); }
using OwnedProgram = Handle<ricci_program, RetainProgram, ReleaseProgram>;

// The program with parameters of `types` whose results are f(parameters), next to the equation of a rule.
template <typename F>
OwnedProgram ProgramOf(const Eqn& e, std::span<const ricci_type> types, F&& f) {
  std::vector<ricci_val> params(types.size()), results;
  ricci_builder* b = nullptr;
  Check(ricci_builder_nest(e.builder(), nullptr, 0, types.data(), static_cast<uint32_t>(types.size()), &b,
                           params.data()));
  ricci_program* out = nullptr;
  try {
    Values in;
    for (ricci_val id : params) in.push_back({b, id});
    for (const Value& v : f(in)) results.push_back(v.id);
    Check(ricci_builder_finish(b, results.data(), static_cast<uint32_t>(results.size()), &out));
  } catch (...) {
    ricci_builder_abandon(b);
    throw;
  }
  return OwnedProgram(out);
}
// Appends the equations of `f`, which has `n_out` results.
inline Values Inlined(ricci_program* f, std::span<const Value> in, size_t n_out) {
  const Operands operands(in);
  std::vector<ricci_val> ids(n_out);
  Check(ricci_builder_inline(operands.builder, f, operands.ids.data(), static_cast<uint32_t>(operands.ids.size()),
                             ids.data(), static_cast<uint32_t>(n_out)));
  Values out;
  for (ricci_val id : ids) out.push_back({operands.builder, id, operands.scope});
  return out;
}

}}}  // namespace ricci::v0::lax
#endif
