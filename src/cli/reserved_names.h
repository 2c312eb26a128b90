// Names that no function of an object can have, because C, C++ or their libraries have them.
#ifndef RICCI_CLI_RESERVED_NAMES_H_
#define RICCI_CLI_RESERVED_NAMES_H_
#include <string_view>

namespace ricci { inline namespace v0 { namespace cli {

// Whether `name` is a word of C or C++, or a function, type or macro of the library of C, of libm of the GNU C library,
// or of <stdint.h>, which headers of objects include.
bool IsReservedName(std::string_view name);

}}}  // namespace ricci::v0::cli
#endif
