// Symbols of an object that others must define.
#ifndef RICCI_OBJECT_OBJECT_SYMBOLS_H_
#define RICCI_OBJECT_OBJECT_SYMBOLS_H_
#include <string>
#include <string_view>
#include <vector>

namespace ricci::object {

// The undefined symbols of a relocatable ELF object of 64 bits, little-endian, in order of their table.
std::vector<std::string> UndefinedSymbols(std::string_view object);

// Functions of the C library's libm, and those of memory that compilers call: all that an object may need.
bool IsOfCLibrary(std::string_view symbol);

}  // namespace ricci::object
#endif
