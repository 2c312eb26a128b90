#include "laws/numbers.h"

#include <cmath>
#include <cstdio>
#include <cstring>
#include <limits>

#include "base/status_abi.h"
#include "ricci/float_format.h"

namespace ricci { inline namespace v0 { namespace laws {
namespace {

template <typename T, typename Convert>
void Write(const Numbers& from, Bytes& to, Convert convert) {
  to.resize(from.size() * sizeof(T));
  for (size_t i = 0; i < from.size(); ++i) {
    const T v = convert(from[i]);
    std::memcpy(to.data() + i * sizeof(T), &v, sizeof(T));
  }
}
template <typename T, typename Convert>
void Read(const Bytes& from, Numbers& to, Convert convert) {
  to.resize(from.size() / sizeof(T));
  for (size_t i = 0; i < to.size(); ++i) {
    T v;
    std::memcpy(&v, from.data() + i * sizeof(T), sizeof(T));
    to[i] = convert(v);
  }
}

template <typename T>
void WriteAs(const Numbers& from, Bytes& to) {
  Write<T>(from, to, [](double v) {
    if constexpr (std::is_unsigned_v<T>) return static_cast<T>(static_cast<uint64_t>(static_cast<int64_t>(v)));
    return static_cast<T>(v);
  });
}
template <typename T>
void ReadAs(const Bytes& from, Numbers& to) {
  Read<T>(from, to, [](T v) { return static_cast<double>(v); });
}
template <uint32_t kDType, typename Bits>
void WriteFloats(const Numbers& from, Bytes& to) {
  static constexpr ricci_float_format kFormat = ricci_float_format_of(kDType);
  Write<Bits>(from, to, [](double v) { return static_cast<Bits>(ricci_float_encode(kFormat, v)); });
}
template <uint32_t kDType, typename Bits>
void ReadFloats(const Bytes& from, Numbers& to) {
  static constexpr ricci_float_format kFormat = ricci_float_format_of(kDType);
  Read<Bits>(from, to, [](Bits bits) { return ricci_float_decode(kFormat, bits); });
}

struct Coding {
  uint32_t dtype;
  void (*write)(const Numbers& from, Bytes& to);
  void (*read)(const Bytes& from, Numbers& to);
};
constexpr Coding kCodings[] = {
    {RICCI_BOOL, WriteAs<uint8_t>, ReadAs<uint8_t>},
    {RICCI_I8, WriteAs<int8_t>, ReadAs<int8_t>},
    {RICCI_I16, WriteAs<int16_t>, ReadAs<int16_t>},
    {RICCI_I32, WriteAs<int32_t>, ReadAs<int32_t>},
    {RICCI_I64, WriteAs<int64_t>, ReadAs<int64_t>},
    {RICCI_U8, WriteAs<uint8_t>, ReadAs<uint8_t>},
    {RICCI_U16, WriteAs<uint16_t>, ReadAs<uint16_t>},
    {RICCI_U32, WriteAs<uint32_t>, ReadAs<uint32_t>},
    {RICCI_U64, WriteAs<uint64_t>, ReadAs<uint64_t>},
    {RICCI_F16, WriteFloats<RICCI_F16, uint16_t>, ReadFloats<RICCI_F16, uint16_t>},
    {RICCI_BF16, WriteFloats<RICCI_BF16, uint16_t>, ReadFloats<RICCI_BF16, uint16_t>},
    {RICCI_F32, WriteFloats<RICCI_F32, uint32_t>, ReadFloats<RICCI_F32, uint32_t>},
    {RICCI_F64, WriteFloats<RICCI_F64, uint64_t>, ReadFloats<RICCI_F64, uint64_t>},
    {RICCI_F8E4M3FN, WriteFloats<RICCI_F8E4M3FN, uint8_t>, ReadFloats<RICCI_F8E4M3FN, uint8_t>},
    {RICCI_F8E5M2, WriteFloats<RICCI_F8E5M2, uint8_t>, ReadFloats<RICCI_F8E5M2, uint8_t>},
    {RICCI_F8E8M0FNU, WriteFloats<RICCI_F8E8M0FNU, uint8_t>, ReadFloats<RICCI_F8E8M0FNU, uint8_t>},
    {RICCI_F4E2M1FN, WriteFloats<RICCI_F4E2M1FN, uint8_t>, ReadFloats<RICCI_F4E2M1FN, uint8_t>},
    {RICCI_KEY, WriteAs<uint32_t>, ReadAs<uint32_t>}};

absl::StatusOr<const Coding*> CodingOf(const Type& t) {
  for (const Coding& c : kCodings) {
    if (c.dtype == types::PartOf(t.dtype)) return &c;
  }
  return absl::UnimplementedError(base::Cat("check: no numbers of ", types::Info(t.dtype).name));
}

absl::StatusOr<Type> TypeOf(const ricci_ctx* ctx, ricci_type id) {
  ricci_type_desc d = ricci_type_desc_default();
  RICCI_TRY(base::FromAbi(ricci_type_get(ctx, id, &d)));
  Type t{id, d.dtype, d.rank, d.dims, 1};
  for (uint32_t i = 0; i < t.rank; ++i) t.elements *= t.dims[i];
  return t;
}

}  // namespace

Program Own(ricci_program* p) { return {p, ricci_program_release}; }

absl::StatusOr<Signature> SignatureOf(const ricci_ctx* ctx, const ricci_program* p) {
  ricci_op types{};
  ricci_program_signature(p, &types.n_in, &types.in_types, &types.n_out, &types.out_types);
  return SignatureOf(ctx, types);
}

absl::StatusOr<Signature> SignatureOf(const ricci_ctx* ctx, const ricci_op& op) {
  Signature out;
  for (uint32_t i = 0; i < op.n_in; ++i) {
    RICCI_ASSIGN(out.params.emplace_back(), TypeOf(ctx, op.in_types[i]));
  }
  for (uint32_t i = 0; i < op.n_out; ++i) {
    RICCI_ASSIGN(out.results.emplace_back(), TypeOf(ctx, op.out_types[i]));
  }
  return out;
}

absl::StatusOr<Bytes> Encode(const Type& t, const Numbers& from) {
  RICCI_ASSIGN(const Coding* coding, CodingOf(t));
  Bytes out;
  coding->write(from, out);
  return out;
}

absl::StatusOr<Numbers> Decode(const Type& t, const Bytes& from) {
  RICCI_ASSIGN(const Coding* coding, CodingOf(t));
  Numbers out;
  coding->read(from, out);
  return out;
}

absl::StatusOr<std::vector<Bytes>> EncodeAll(const std::vector<Type>& types, const Arrays& numbers) {
  RICCI_TRY(base::Invariant(types.size() == numbers.size(), "one list of numbers per parameter"));
  std::vector<Bytes> out;
  for (size_t i = 0; i < types.size(); ++i) {
    RICCI_ASSIGN(out.emplace_back(), Encode(types[i], numbers[i]));
  }
  return out;
}
absl::StatusOr<Arrays> DecodeAll(const std::vector<Type>& types, const std::vector<Bytes>& bytes) {
  Arrays out;
  for (size_t i = 0; i < types.size(); ++i) {
    RICCI_ASSIGN(out.emplace_back(), Decode(types[i], bytes[i]));
  }
  return out;
}

double Difference(double got, double want) {
  if (got == want || (std::isnan(got) && std::isnan(want))) return 0;
  const double difference = std::fabs(got - want) / std::max(1.0, std::fabs(want));
  return std::isnan(difference) ? std::numeric_limits<double>::infinity() : difference;
}

double Tolerance(const Type& t, int64_t largest) {
  constexpr double kShort = 1024;  // elements: the numbers below hold for sums of so many
  // From f16 on; for floats of 8 and 4 bits, two units in the last place of 1.
  constexpr double kFloats[] = {1.5e-2, 0.125, 1e-5, 1e-9, 0, 0, 0.25, 0.5, 2, 1};
  static_assert(std::size(kFloats) == RICCI_F4E2M1FN - RICCI_F16 + 1);
  const double growth = std::max(1.0, static_cast<double>(largest) / kShort);
  return t.inexact() ? growth * kFloats[types::PartOf(t.dtype) - RICCI_F16] : 0;
}

std::string ElementOf(const Type& t, size_t i) {
  const auto parts = static_cast<size_t>(t.parts());
  const std::string element = base::Cat("element ", i / parts);
  if (parts == 1) return element;
  constexpr const char* kOfComplex[] = {" (real part)", " (imaginary part)"};
  constexpr const char* kOfKey[] = {" (lower word)", " (upper word)"};
  return element + (t.complex() ? kOfComplex : kOfKey)[i % parts];
}

std::string ToText(double v) {
  char text[32];
  std::snprintf(text, sizeof text, "%.9g", v);
  return text;
}

}}}  // namespace ricci::v0::laws
