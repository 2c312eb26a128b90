// A primitive for tests that is one library call: its result has the operand's type, its only rule is `batch`, if any.
#ifndef RICCI_TESTS_CPU_LIBRARY_ROW_H_
#define RICCI_TESTS_CPU_LIBRARY_ROW_H_
#include <string_view>

#include "ricci/primitive.h"
#include "ricci/ricci.h"

namespace ricci::testing {

// `self` goes to the library's plan.
inline ricci_status* RegisterLibraryRow(ricci_ctx* ctx, std::string_view name, const ricci_library& library, void* self,
                                        decltype(ricci_prim_def::batch) batch = nullptr) {
  ricci_lowering lowering{};
  lowering.hdr.size = sizeof lowering;
  lowering.kind = RICCI_LOWER_LIBRARY;
  lowering.target = {"*", 1};
  lowering.library = &library;
  const ricci_lowering* lowerings[] = {&lowering};
  ricci_prim_def row{};
  row.hdr.size = sizeof row;
  row.name = {name.data(), name.size()};
  row.self = self;
  row.abstract_eval = [](void*, ricci_builder* b, const ricci_op* op) {
    return ricci_builder_set_out_types(b, op->in_types, 1);
  };
  row.batch = batch;
  row.lowerings = lowerings;
  row.n_lowerings = 1;
  ricci_prim prim = 0;
  return ricci_prim_register(ctx, &row, &prim);
}

}  // namespace ricci::testing
#endif
