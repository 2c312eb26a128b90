#include "cli/stored_arrays.h"

#include <algorithm>

namespace ricci { inline namespace v0 { namespace cli {
namespace {

std::string TypeText(const ricci_named_array& a) { return Session::TypeText(a.dtype, a.dims, a.rank); }

// The names of all arrays, for messages.
std::string NamesOf(const std::vector<ricci_named_array>& arrays) {
  constexpr size_t kMost = 20;
  std::string out;
  for (size_t i = 0; i < std::min(arrays.size(), kMost); ++i) {
    out += (i == 0 ? "" : ", ") + std::string(View(arrays[i].name));
  }
  return out + (arrays.size() > kMost ? ", ..." : "");
}

// FILE:NAME, unless there is a file with all of that as its name.
std::pair<std::string, std::string> Split(const std::string& source) {
  const size_t colon = source.rfind(':');
  if (colon == std::string::npos) return {source, ""};
  if (std::FILE* file = std::fopen(source.c_str(), "rb")) {
    std::fclose(file);
    return {source, ""};
  }
  return {source.substr(0, colon), source.substr(colon + 1)};
}

const ricci_named_array& Find(const std::vector<ricci_named_array>& arrays, const std::string& path,
                              const std::string& name) {
  if (name.empty() && arrays.size() == 1) return arrays[0];
  const auto found = std::find_if(arrays.begin(), arrays.end(), [&](const auto& a) { return View(a.name) == name; });
  if (found != arrays.end()) return *found;
  if (name.empty()) throw Failure(path + ": write @FILE:NAME to choose one of its arrays: " + NamesOf(arrays));
  throw Failure(path + ": no array is named " + name + "; it has " + NamesOf(arrays));
}

// A key is its two words, as jax.random.key_data gives them: u32[..., 2], or one u64.
bool HoldsKeys(const ricci_named_array& a, const TypeInfo& keys) {
  std::vector<int64_t> shape(a.dims, a.dims + a.rank);
  if (a.dtype == RICCI_U32 && !shape.empty() && shape.back() == 2) {
    shape.pop_back();
  } else if (a.dtype != RICCI_U64) {
    return false;
  }
  return keys.dtype == RICCI_KEY && shape == keys.shape;
}

}  // namespace

ArrayFile LoadArrays(const Session& session, const std::string& path) {
  ricci_array_file* f = nullptr;
  Check(ricci_array_file_load(session.context(), path.data(), path.size(), &f));
  return Own(f);
}

std::vector<ricci_named_array> ArraysOf(const ricci_array_file* f) {
  std::vector<ricci_named_array> out(ricci_array_file_count(f));
  for (uint32_t i = 0; i < out.size(); ++i) Check(ricci_array_file_get(f, i, &out[i]));
  return out;
}

Array FromFile(const Session& session, ricci_type type, const std::string& source, const std::string& origin,
               ricci_device* device) {
  const auto [path, name] = Split(source);
  const ArrayFile file = LoadArrays(session, path);
  const std::vector<ricci_named_array> arrays = ArraysOf(file.get());
  const ricci_named_array& a = Find(arrays, path, name);
  const TypeInfo info = session.Info(type);
  if (TypeText(a) != session.TypeText(type) && !HoldsKeys(a, info)) {
    throw Failure(origin + ": " + source + " is " + TypeText(a) + ", the parameter is " + session.TypeText(type) +
                  (info.dtype == RICCI_KEY ? "; a key is u32[2], as jax.random.key_data gives it, or a u64" : ""));
  }
  ricci_array* out = nullptr;
  Check(ricci_array_from_host(device, type, a.data, nullptr, &out));
  return Own(out);
}

void SaveResults(const Session& session, const std::string& path, const std::vector<Array>& results) {
  std::vector<std::vector<unsigned char>> data;
  std::vector<TypeInfo> types;
  std::vector<std::string> names;
  for (const Array& a : results) {
    types.push_back(session.Info(ricci_array_type(a.get())));
    data.push_back(HostBytes(session, ricci_array_type(a.get())));
    Check(ricci_array_copy_to_host(a.get(), data.back().data(), data.back().size()));
    if (types.back().dtype == RICCI_KEY) {  // two words each
      types.back().dtype = RICCI_U32;
      types.back().shape.push_back(2);
    }
    names.push_back(std::to_string(names.size()));
  }
  std::vector<ricci_named_array> arrays;
  for (size_t i = 0; i < results.size(); ++i) {
    arrays.push_back({{names[i].data(), names[i].size()},
                      types[i].dtype,
                      static_cast<uint32_t>(types[i].shape.size()),
                      types[i].shape.data(),
                      data[i].data(),
                      data[i].size()});
  }
  Check(ricci_array_file_save(path.data(), path.size(), RICCI_ARRAYS_BY_ENDING, arrays.data(),
                              static_cast<uint32_t>(arrays.size())));
}

}}}  // namespace ricci::v0::cli
