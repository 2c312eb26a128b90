// One element of a constant as text, and back, bit for bit.
//
// A floating number is the shortest decimal text that reads back to the same bits, with `.0` if it would look like an
// integer; `inf`, `-inf`, `nan`; every other NaN as its bits in hexadecimal (`0x7fc00001`). A complex number is `(re,
// im)`; reading takes each of its parts as an element of types::PartOf its dtype.
#ifndef RICCI_IR_LITERAL_H_
#define RICCI_IR_LITERAL_H_
#include <cstddef>
#include <string>
#include <string_view>

#include "absl/status/status.h"
#include "types/dtype.h"

namespace ricci { inline namespace v0 { namespace ir {

// Appends the element of `dtype` at `p`.
void AppendElement(std::string& out, uint32_t dtype, const std::byte* p);
// Writes the element that `text` names to `out` (as many bytes as the dtype has). INVALID_ARGUMENT says what is wrong.
absl::Status ReadElement(std::string_view text, uint32_t dtype, std::byte* out);

}}}  // namespace ricci::v0::ir
#endif
