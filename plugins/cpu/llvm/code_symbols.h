// All functions that generated code may call: none is looked up in the process, where an embedding host may have hidden
// its libraries, or may have other functions of those names.
//
// The tables are tested for all scalar operations of all dtypes, with and without the processor's newer instructions.
#ifndef RICCI_CPU_CODE_SYMBOLS_H_
#define RICCI_CPU_CODE_SYMBOLS_H_
#include <span>
#include <string_view>

namespace ricci::cpu {

struct CodeSymbol {
  const char* name;
  void* address;
};

// NULL: there is none.
void* FindCodeSymbol(std::string_view name);

// ---- the tables, each in the file of its functions ----

std::span<const CodeSymbol> MathSymbols();     // math_library.cc: special functions that have no formula
std::span<const CodeSymbol> RuntimeSymbols();  // plan_calls.cc: parallel loops and library calls

}  // namespace ricci::cpu
#endif
