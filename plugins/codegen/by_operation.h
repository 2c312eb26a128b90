// ByOperation: a table with one entry for each scalar operation (RICCI_S_*), written as the rows that are not empty.
#ifndef RICCI_CODEGEN_BY_OPERATION_H_
#define RICCI_CODEGEN_BY_OPERATION_H_
#include <array>
#include <cstddef>
#include <cstdint>

#include "ricci/kernel.h"

namespace ricci::codegen {

template <typename T>
struct OperationRow {
  uint32_t op;
  T entry;
};
// An operation has one row at most: a second one does not compile.
template <typename T, size_t kRows>
consteval std::array<T, RICCI_S_COUNT> ByOperation(const OperationRow<T> (&rows)[kRows]) {
  std::array<T, RICCI_S_COUNT> table{};
  std::array<bool, RICCI_S_COUNT> taken{};
  for (const OperationRow<T>& row : rows) {
    if (taken.at(row.op)) throw "an operation has two rows";
    taken[row.op] = true;
    table[row.op] = row.entry;
  }
  return table;
}

}  // namespace ricci::codegen
#endif
