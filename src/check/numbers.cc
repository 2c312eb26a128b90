#include "check/numbers.h"

#include <cstring>

#include "base/status_abi.h"
#include "ricci/array.h"
#include "ricci/executable.h"

namespace ricci::inline v0::check {
namespace {

template <typename T>
void WriteAs(const Numbers& from, std::vector<std::byte>& to) {
  to.resize(from.size() * sizeof(T));
  for (size_t i = 0; i < from.size(); ++i) {
    T v{};
    if constexpr (std::is_unsigned_v<T>) {
      v = static_cast<T>(static_cast<uint64_t>(static_cast<int64_t>(from[i])));
    } else {
      v = static_cast<T>(from[i]);
    }
    std::memcpy(to.data() + i * sizeof(T), &v, sizeof(T));
  }
}
template <typename T>
void ReadAs(const std::vector<std::byte>& from, Numbers& to) {
  to.resize(from.size() / sizeof(T));
  for (size_t i = 0; i < to.size(); ++i) {
    T v;
    std::memcpy(&v, from.data() + i * sizeof(T), sizeof(T));
    to[i] = static_cast<double>(v);
  }
}

struct Coding {
  uint32_t dtype;
  void (*write)(const Numbers& from, std::vector<std::byte>& to);
  void (*read)(const std::vector<std::byte>& from, Numbers& to);
};
constexpr Coding kCodings[] = {
    {RICCI_BOOL, WriteAs<uint8_t>, ReadAs<uint8_t>},  {RICCI_I8, WriteAs<int8_t>, ReadAs<int8_t>},
    {RICCI_I16, WriteAs<int16_t>, ReadAs<int16_t>},   {RICCI_I32, WriteAs<int32_t>, ReadAs<int32_t>},
    {RICCI_I64, WriteAs<int64_t>, ReadAs<int64_t>},   {RICCI_U8, WriteAs<uint8_t>, ReadAs<uint8_t>},
    {RICCI_U16, WriteAs<uint16_t>, ReadAs<uint16_t>}, {RICCI_U32, WriteAs<uint32_t>, ReadAs<uint32_t>},
    {RICCI_U64, WriteAs<uint64_t>, ReadAs<uint64_t>}, {RICCI_F32, WriteAs<float>, ReadAs<float>},
    {RICCI_F64, WriteAs<double>, ReadAs<double>}};

absl::StatusOr<const Coding*> CodingOf(const Type& t) {
  for (const Coding& c : kCodings) {
    if (c.dtype == t.dtype) return &c;
  }
  return absl::UnimplementedError("check: operands and results are bool, integers, f32 or f64");
}

absl::StatusOr<Type> TypeOf(const ricci_ctx* ctx, ricci_type id) {
  Type t{id, 0, 0, nullptr, 1};
  RICCI_TRY(base::FromAbi(ricci_type_get(ctx, id, &t.dtype, &t.rank, &t.dims)));
  for (uint32_t i = 0; i < t.rank; ++i) t.elements *= t.dims[i];
  return t;
}

using Array = std::unique_ptr<ricci_array, void (*)(ricci_array*)>;

}  // namespace

Program Own(ricci_program* p) { return {p, ricci_program_release}; }

absl::StatusOr<Signature> SignatureOf(const ricci_ctx* ctx, const ricci_program* p) {
  uint32_t n_params, n_results;
  const ricci_type *params, *results;
  ricci_program_signature(p, &n_params, &params, &n_results, &results);
  Signature out;
  for (uint32_t i = 0; i < n_params; ++i) {
    RICCI_ASSIGN(out.params.emplace_back(), TypeOf(ctx, params[i]));
  }
  for (uint32_t i = 0; i < n_results; ++i) {
    RICCI_ASSIGN(out.results.emplace_back(), TypeOf(ctx, results[i]));
  }
  return out;
}

absl::StatusOr<Arrays> Run(ricci_ctx*, const ricci_program* p, const Signature& s, const Arrays& inputs,
                           ricci_device* device) {
  ricci_compile_opts options{};
  options.hdr.size = sizeof options;
  options.device = device;
  ricci_executable* raw = nullptr;
  RICCI_TRY(base::FromAbi(ricci_compile(p, &options, &raw)));
  const std::unique_ptr<ricci_executable, void (*)(ricci_executable*)> x(raw, ricci_executable_release);
  std::vector<Array> owned;
  std::vector<ricci_array*> in, out(s.results.size());
  std::vector<std::byte> bytes;
  for (size_t i = 0; i < inputs.size(); ++i) {
    RICCI_ASSIGN(const Coding* coding, CodingOf(s.params[i]));
    coding->write(inputs[i], bytes);
    ricci_array* a = nullptr;
    RICCI_TRY(base::FromAbi(ricci_array_from_host(device, s.params[i].id, bytes.data(), &a)));
    owned.emplace_back(a, ricci_array_release);
    in.push_back(a);
  }
  RICCI_TRY(base::FromAbi(ricci_executable_run(raw, in.data(), static_cast<uint32_t>(in.size()), out.data(),
                                               static_cast<uint32_t>(out.size()))));
  for (ricci_array* a : out) owned.emplace_back(a, ricci_array_release);
  Arrays numbers;
  for (size_t i = 0; i < out.size(); ++i) {
    RICCI_ASSIGN(const Coding* coding, CodingOf(s.results[i]));
    bytes.resize(ricci_array_bytes(out[i]));
    RICCI_TRY(base::FromAbi(ricci_array_copy_to_host(out[i], bytes.data(), bytes.size())));
    coding->read(bytes, numbers.emplace_back());
  }
  return numbers;
}

}  // namespace ricci::inline v0::check
