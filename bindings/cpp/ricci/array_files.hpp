// ricci/array_files.hpp: arrays in files: .npy and .npz of NumPy, and safetensors. Include it next to ricci.hpp.
//
// Element types and errors are those of the C ABI, ricci/array_file.h: NOT_FOUND, INVALID_ARGUMENT, UNIMPLEMENTED or
// DATA_LOSS, with the path. What is read is copied to the context's first device.
#ifndef RICCI_ARRAY_FILES_HPP_
#define RICCI_ARRAY_FILES_HPP_
#include <string>

#include "ricci/array.hpp"

namespace ricci { inline namespace v0 {

struct NamedArray {
  std::string name;  // empty in .npy
  Array array;
};
// What a file holds, in its order.
class ArrayFile : public std::vector<NamedArray> {
 public:
  using std::vector<NamedArray>::vector;
  // The array of that name; throws with the names there are.
  const Array& at(std::string_view name, Location at = Location::Here()) const;
  // The only array, as of a .npy file; throws if there are others.
  const Array& only(Location at = Location::Here()) const;
};
// Reads a file of any of the formats, which its first bytes show.
ArrayFile load(const Context& ctx, const std::string& path, Location at = Location::Here());
// Writes one array as .npy, whatever the path ends with.
void save(const std::string& path, const Array& array, Location at = Location::Here());
// Writes arrays with names as .npz or .safetensors, as the path ends.
void savez(const std::string& path, std::span<const NamedArray> arrays, Location at = Location::Here());
void savez(const std::string& path, std::initializer_list<NamedArray> arrays, Location at = Location::Here());

}}  // namespace ricci::v0
#endif
