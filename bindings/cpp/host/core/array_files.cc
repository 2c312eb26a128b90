// Arrays read from files and written to them, over the C ABI.
#include "ricci/array_files.hpp"

#include <algorithm>
#include <memory>

namespace ricci { inline namespace v0 {
namespace {

struct ReleaseFile {
  void operator()(ricci_array_file* f) const { ricci_array_file_release(f); }
};
// The elements in host memory, as long as the array lives.
ricci_named_array Described(std::string_view name, const NamedArray& a, const Location& at) {
  if (a.array.empty()) FailAt(at, name, ": array `", a.name, "` is empty (default-constructed or moved from)");
  const void* const data = a.array.block_until_ready(at).data();
  const uint64_t bytes = ricci_array_bytes(a.array.handle());
  if (data == nullptr && bytes > 0) {
    FailAt(at, name, ": array `", a.name,
           "` has no elements in memory of the host; it was donated, or its device's memory "
           "cannot be read");
  }
  const Dims dims = a.array.shape();
  return {ToAbi(a.name), static_cast<uint32_t>(a.array.dtype()), static_cast<uint32_t>(dims.size()), dims.data(), data,
          bytes};
}
void Write(std::string_view name, const std::string& path, uint32_t format, std::span<const NamedArray> arrays,
           const Location& at) {
  std::vector<ricci_named_array> described;
  for (const NamedArray& a : arrays) described.push_back(Described(name, a, at));
  CheckAt(at, ricci_array_file_save(path.data(), path.size(), format, described.data(),
                                    static_cast<uint32_t>(described.size())));
}

}  // namespace

const Array& ArrayFile::at(std::string_view name, Location at) const {
  const auto found = std::find_if(begin(), end(), [&](const NamedArray& a) { return a.name == name; });
  if (found != end()) return found->array;
  std::string names;
  for (const NamedArray& a : *this) names += Text(names.empty() ? "" : ", ", a.name);
  FailAt(at, "load: the file has no array `", name, "`; it has ", names.empty() ? "none" : names);
}
const Array& ArrayFile::only(Location at) const {
  if (size() != 1) FailAt(at, "load: the file has ", size(), " arrays, not one; name one of them");
  return front().array;
}

ArrayFile load(const Context& ctx, const std::string& path, Location at) {
  ricci_array_file* handle = nullptr;
  CheckAt(at, ricci_array_file_load(ctx.handle(), path.data(), path.size(), &handle));
  const std::unique_ptr<ricci_array_file, ReleaseFile> file(handle);
  ArrayFile out;
  for (uint32_t i = 0; i < ricci_array_file_count(handle); ++i) {
    ricci_named_array a{};
    CheckAt(at, ricci_array_file_get(handle, i, &a));
    const Shape shape(a.dims, a.dims + a.rank);
    out.push_back({std::string(View(a.name)), Array(ctx, static_cast<DType>(a.dtype), shape, a.data, at)});
  }
  return out;
}
void save(const std::string& path, const Array& array, Location at) {
  const NamedArray one{{}, array};
  Write("save", path, RICCI_ARRAYS_NPY, {&one, 1}, at);
}
void savez(const std::string& path, std::span<const NamedArray> arrays, Location at) {
  if (path.ends_with(".npy"))
    FailAt(at, "savez: the path ends with .npy, a file of one array; use save, .npz or .safetensors");
  Write("savez", path, RICCI_ARRAYS_BY_ENDING, arrays, at);
}
void savez(const std::string& path, std::initializer_list<NamedArray> arrays, Location at) {
  savez(path, std::span<const NamedArray>(arrays.begin(), arrays.size()), at);
}

}}  // namespace ricci::v0
