// What rules ask a builder of ricci/build.h about the equations that define values.
#include "ricci/build.h"
#include "trace/builder.h"

using ricci::trace::Builder;

namespace {

const Builder* View(const ricci_builder* b) { return reinterpret_cast<const Builder*>(b); }

const ricci::ir::Equation* Definition(const ricci_builder* b, ricci_val v) {
  if (b == nullptr || v == RICCI_VAL_ZERO || !View(b)->Owns(v)) return nullptr;
  return View(b)->program().definition(Builder::Index(v));
}

}  // namespace

extern "C" {

uint32_t ricci_builder_definition(const ricci_builder* b, ricci_val v, ricci_prim* prim, const ricci_attr** attrs,
                                  uint32_t* n_attrs, uint32_t* n_operands, uint32_t* result) {
  const ricci::ir::Equation* eqn = Definition(b, v);
  if (eqn == nullptr) return 0;
  if (prim != nullptr) *prim = eqn->prim;
  if (attrs != nullptr) *attrs = eqn->attrs.data();
  if (n_attrs != nullptr) *n_attrs = static_cast<uint32_t>(eqn->attrs.size());
  if (n_operands != nullptr) *n_operands = static_cast<uint32_t>(eqn->operands.size());
  if (result != nullptr) *result = Builder::Index(v) - eqn->first_result;
  return 1;
}

ricci_val ricci_builder_operand(const ricci_builder* b, ricci_val v, uint32_t i) {
  const ricci::ir::Equation* eqn = Definition(b, v);
  if (eqn == nullptr || i >= eqn->operands.size()) return RICCI_VAL_NONE;
  return View(b)->ToVal(eqn->operands[i]);
}
}
