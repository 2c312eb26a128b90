// Making and reading attributes of equations, inside the core.
//
// A made attribute borrows its data: keep the array alive until the emit that takes it returns.
#ifndef RICCI_TRACE_ATTRS_H_
#define RICCI_TRACE_ATTRS_H_
#include <span>
#include <string_view>

#include "ir/program.h"

namespace ricci { inline namespace v0 { namespace trace {

inline ricci_attr AttrBase(std::string_view name, uint32_t kind, uint32_t count, const void* data) {
  return {{name.data(), name.size()}, kind, count, 0, 0.0, data};
}
inline ricci_attr IntAttr(std::string_view name, int64_t value, uint32_t kind = RICCI_ATTR_INT) {
  ricci_attr a = AttrBase(name, kind, 1, nullptr);
  a.i = value;
  return a;
}
inline ricci_attr BoolAttr(std::string_view name, bool value) { return IntAttr(name, value, RICCI_ATTR_BOOL); }
inline ricci_attr DTypeAttr(std::string_view name, uint32_t dtype) { return IntAttr(name, dtype, RICCI_ATTR_DTYPE); }
inline ricci_attr IntsAttr(std::string_view name, std::span<const int64_t> values) {
  return AttrBase(name, RICCI_ATTR_INTS, static_cast<uint32_t>(values.size()), values.data());
}
inline ricci_attr StringAttr(std::string_view name, std::string_view value) {
  return AttrBase(name, RICCI_ATTR_STRING, static_cast<uint32_t>(value.size()), value.data());
}
// `slot` holds the handle while the attribute is in use.
inline ricci_attr ProgramAttr(std::string_view name, const ir::Program& p, ricci_program*& slot) {
  slot = ir::Abi(&p);
  return AttrBase(name, RICCI_ATTR_PROGRAM, 1, &slot);
}
inline ricci_attr ProgramsAttr(std::string_view name, std::span<ricci_program* const> programs) {
  return AttrBase(name, RICCI_ATTR_PROGRAMS, static_cast<uint32_t>(programs.size()), programs.data());
}

// Reading. The attribute is there and has its kind: emit has checked that.
inline std::span<const ricci_attr> AttrsOf(const ricci_op& op) { return {op.attrs, op.n_attrs}; }
inline int64_t IntOf(std::span<const ricci_attr> attrs, std::string_view name, int64_t otherwise = 0) {
  const ricci_attr* a = ir::FindAttr(attrs, name);
  return a == nullptr ? otherwise : a->i;
}
inline std::span<const int64_t> IntsOf(std::span<const ricci_attr> attrs, std::string_view name) {
  const ricci_attr* a = ir::FindAttr(attrs, name);
  if (a == nullptr) return {};
  return {static_cast<const int64_t*>(a->data), a->count};
}
inline std::string_view StringOf(std::span<const ricci_attr> attrs, std::string_view name) {
  const ricci_attr* a = ir::FindAttr(attrs, name);
  if (a == nullptr) return {};
  return {static_cast<const char*>(a->data), a->count};
}
inline const ir::Program& ProgramOf(std::span<const ricci_attr> attrs, std::string_view name) {
  return *ir::FromAbi(*static_cast<ricci_program* const*>(ir::FindAttr(attrs, name)->data));
}

// NULL if the optional attribute is left out.
inline const ir::Program* ProgramIn(std::span<const ricci_attr> attrs, std::string_view name) {
  return ir::FindAttr(attrs, name) == nullptr ? nullptr : &ProgramOf(attrs, name);
}

}}}  // namespace ricci::v0::trace
#endif
