// Kinds of element types, and the names of types and operations for messages.
#ifndef RICCI_CODEGEN_DTYPES_H_
#define RICCI_CODEGEN_DTYPES_H_
#include <string>
#include <string_view>

#include "ricci/api_table.h"
#include "ricci/kernel.h"

namespace ricci::codegen {

inline bool IsSigned(uint32_t dtype) { return dtype >= RICCI_I8 && dtype <= RICCI_I64; }
// Floats of 8 and 4 bits.
inline bool IsTiny(uint32_t dtype) { return dtype >= RICCI_F8E4M3FN && dtype <= RICCI_F4E2M1FN; }
inline bool IsFloat(uint32_t dtype) { return (dtype >= RICCI_F16 && dtype <= RICCI_F64) || IsTiny(dtype); }
// Floats that are computed in f32 and rounded.
inline bool IsNarrow(uint32_t dtype) { return dtype == RICCI_F16 || dtype == RICCI_BF16 || IsTiny(dtype); }

// `f32`; static.
inline std::string_view DTypeName(uint32_t dtype) {
  ricci_str name;
  ricci_dtype_name(dtype, &name);
  return {name.ptr, name.len};
}
// Of a scalar operation: `add`; `instruction 300` if this version has none of that number.
inline std::string OperationName(uint32_t op) {
  constexpr const char* kNames[] = {"nothing",
#define RICCI_X(NAME, number, arity, text) text,
                                    RICCI_SCALAR_OPS(RICCI_X)
#undef RICCI_X
  };
  static_assert(sizeof kNames / sizeof *kNames == RICCI_S_COUNT);
  return op < RICCI_S_COUNT ? kNames[op] : "instruction " + std::to_string(op);
}

}  // namespace ricci::codegen
#endif
