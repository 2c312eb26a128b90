// ricci/array_file.h: arrays in files of other programs.
#include "ricci/array_file.h"

#include "api/arguments.h"
#include "file/array_file.h"
#include "file/disk.h"
#include "runtime/context/context.h"
#include "types/dtype.h"

using namespace ricci;
using api::Arguments;
using api::Border;
using api::View;

// The bytes of the file, and the arrays that borrow from them.
struct ricci_array_file {
  base::Ref<base::Shared> context;  // owns the memory of `bytes`
  file::FileBytes bytes;
  file::ArrayFormat format;
  std::vector<file::FileArray> arrays;
};

namespace {

// Borrows the elements.
absl::StatusOr<file::FileArray> ToFile(Arguments args, uint32_t i, const ricci_named_array& a) {
  RICCI_TRY(args.Array("arrays[i].dims", a.dims, a.rank));
  RICCI_TRY(args.Array("arrays[i].data", a.data, a.bytes));
  file::FileArray out{std::string(View(a.name)), a.dtype, {a.dims, a.dims + a.rank}, {}, {}};
  out.data = {static_cast<const char*>(a.data), a.bytes};
  if (types::Info(a.dtype).size == 0) return args.Wrong("arrays[", i, "]: there is no dtype with number ", a.dtype);
  const auto bytes = file::BytesWithin(a.dtype, out.shape, a.bytes, "");
  if (bytes.ok() && *bytes == a.bytes) return out;
  return args.Wrong("arrays[", i, "]: ", types::ToText(a.dtype, out.shape), " does not have ",
                    base::Count(a.bytes, "byte"));
}

}  // namespace

extern "C" {

ricci_status* ricci_array_file_load(ricci_ctx* c, const char* path, size_t len, ricci_array_file** out) {
  return Border(__func__, [&](Arguments args) -> absl::Status {
    RICCI_TRY(args.NotNull({{"c", c}, {"out", out}}));
    RICCI_TRY(args.Path("path", path, len));
    const ir::Vocabulary& vocabulary = runtime::FromAbi(c)->registry().vocabulary();
    RICCI_ASSIGN(auto bytes, file::FileBytes::Read(vocabulary.memory, View(path, len)));
    RICCI_ASSIGN(const file::ArrayFormat format, file::FormatOf(bytes.bytes(), View(path, len)));
    RICCI_ASSIGN(auto arrays, file::ReadArrays(format, bytes.bytes(), View(path, len)));
    *out = new ricci_array_file{base::Ref<base::Shared>(vocabulary.owner), std::move(bytes), format, std::move(arrays)};
    return absl::OkStatus();
  });
}

uint32_t ricci_array_file_format(const ricci_array_file* f) {
  return f == nullptr ? 0 : static_cast<uint32_t>(f->format);
}

uint32_t ricci_array_file_count(const ricci_array_file* f) {
  return f == nullptr ? 0 : static_cast<uint32_t>(f->arrays.size());
}

ricci_status* ricci_array_file_get(const ricci_array_file* f, uint32_t i, ricci_named_array* out) {
  return Border(__func__, [&](Arguments args) -> absl::Status {
    RICCI_TRY(args.NotNull({{"f", f}, {"out", out}}));
    if (i >= f->arrays.size()) {
      return args.Wrong("i is ", i, ", but the file has ", base::Count(f->arrays.size(), "array"));
    }
    const file::FileArray& a = f->arrays[i];
    *out = {api::ToStr(a.name), a.dtype,       static_cast<uint32_t>(a.shape.size()),
            a.shape.data(),     a.data.data(), a.data.size()};
    return absl::OkStatus();
  });
}

void ricci_array_file_release(ricci_array_file* f) {
  if (f != nullptr) delete f;
}

ricci_status* ricci_array_file_save(const char* path, size_t len, uint32_t format, const ricci_named_array* arrays,
                                    uint32_t n) {
  return Border(__func__, [&](Arguments args) -> absl::Status {
    RICCI_TRY(args.Path("path", path, len));
    RICCI_TRY(args.Array("arrays", arrays, n));
    auto as = static_cast<file::ArrayFormat>(format);
    if (format > RICCI_ARRAYS_SAFETENSORS) return args.Wrong("format is ", format, "; known: 0 to 3");
    if (as == file::ArrayFormat::kByEnding) {
      RICCI_ASSIGN(as, file::FormatByEnding(View(path, len)));
    }
    std::vector<file::FileArray> list;
    for (uint32_t i = 0; i < n; ++i) {
      RICCI_ASSIGN(file::FileArray a, ToFile(args, i, arrays[i]));
      list.push_back(std::move(a));
    }
    const auto bytes = file::WriteArrays(as, list);
    if (!bytes.ok()) {
      return absl::Status(bytes.status().code(), base::Cat(View(path, len), ": ", bytes.status().message()));
    }
    return file::WriteFile(View(path, len), *bytes);
  });
}
}
