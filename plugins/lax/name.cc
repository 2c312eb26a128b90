// name: its operand unchanged, under a name that policies of checkpoint refer to (jax.ad_checkpoint.checkpoint_name).
//
// Only the value has the name: its tangent passes by without one, so the operation itself is never transposed. Compiled
// programs have nothing left of it.
#include "ricci/plugin.hpp"

namespace ricci { inline namespace v0 { namespace lax { namespace rows {
namespace {

constexpr AttrSpec kAttrs[] = {{"name", AttrKind::kString}};

void JvpRule(const Eqn& e, Jvp& a) {
  a.out = e.EmitN(a.primals);
  a.out_tangents[0] = a.tangents[0];
}

constexpr Row kRows[] = {{.name = "name",
                          .doc = "y = name(x): x itself, called `name` in policies of checkpoint",
                          .attrs = kAttrs,
                          .flags = RICCI_PRIM_NAMES,
                          .type = rules::Same<1, kAny | SetOf(DType::kKey)>,
                          .jvp = JvpRule,
                          .batch = rules::kElementwise,
                          .simplify = rules::Transparent,
                          .lowerings = lower::Scalar<rules::Identity>,
                          .missing = "transpose: tangents have no name",
                          .examples = "(f64[2,3]) name=\"hidden\""}};

}  // namespace

RowList name_rows() { return kRows; }

}}}}  // namespace ricci::v0::lax::rows
