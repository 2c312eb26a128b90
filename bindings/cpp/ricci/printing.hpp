// ricci/printing.hpp: arrays as text, as NumPy prints them.
//
// Eight digits at most, all elements with the same number of them, rows in brackets, lines of at most 75 characters,
// and of more than 1,000 elements only the first and last three along each dimension.
#ifndef RICCI_PRINTING_HPP_
#define RICCI_PRINTING_HPP_
#include <string>

#include "ricci/array.hpp"

namespace ricci { inline namespace v0 {

// Waits for the elements. Keys have no text: INVALID_ARGUMENT.
std::string to_string(const Array& a, Location at = Location::Here());

// Whatever takes characters as std::ostream does.
template <typename Stream>
requires requires(Stream& s, const char* p) { s.write(p, 1).flush(); }
Stream& operator<<(Stream& out, const Array& a) {
  const std::string text = to_string(a);
  out.write(text.data(), static_cast<std::ptrdiff_t>(text.size()));
  return out;
}

}}  // namespace ricci::v0
#endif
