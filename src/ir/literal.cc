#include "ir/literal.h"

#include <charconv>
#include <cmath>
#include <cstring>

#include "base/status.h"
#include "ricci/float_format.h"

namespace ricci { inline namespace v0 { namespace ir {
namespace {

using types::DTypeClass;

uint64_t Bits(const std::byte* p, uint32_t size) {
  uint64_t bits = 0;
  std::memcpy(&bits, p, size);
  return bits;
}

// The C++ library reads and writes the other two.
bool IsNarrow(uint32_t dtype) { return dtype != RICCI_F32 && dtype != RICCI_F64; }

// The bits of `nan`: quiet, positive, without payload.
uint64_t CanonicalNan(uint32_t dtype) { return ricci_float_format_of(dtype).nan; }

std::string_view ShortestNarrow(uint32_t dtype, uint64_t bits, double v, char (&buffer)[64]) {
  for (int digits = 1;; ++digits) {
    const auto end = std::to_chars(buffer, buffer + 64, v, std::chars_format::general, digits).ptr;
    double back = 0;
    std::from_chars(buffer, end, back);
    if (digits == 9 || ricci_float_encode(ricci_float_format_of(dtype), back) == bits)
      return {buffer, static_cast<size_t>(end - buffer)};
  }
}

std::string_view Shortest(uint32_t dtype, uint64_t bits, double v, char (&buffer)[64]) {
  if (IsNarrow(dtype)) return ShortestNarrow(dtype, bits, v, buffer);
  const auto end = dtype == RICCI_F32 ? std::to_chars(buffer, buffer + 64, static_cast<float>(v)).ptr
                                      : std::to_chars(buffer, buffer + 64, v).ptr;
  return {buffer, static_cast<size_t>(end - buffer)};
}

void AppendFloat(std::string& out, uint32_t dtype, uint64_t bits) {
  const double v = ricci_float_decode(ricci_float_format_of(dtype), bits);
  char buffer[64];
  if (std::isnan(v) && bits != CanonicalNan(dtype)) {
    const auto end = std::to_chars(buffer, buffer + 64, bits, 16).ptr;
    out += "0x";
    out.append(buffer, end);
    return;
  }
  if (std::isnan(v) || std::isinf(v)) {
    out += std::isnan(v) ? "nan" : v < 0 ? "-inf" : "inf";
    return;
  }
  const std::string_view text = Shortest(dtype, bits, v, buffer);
  out += text;
  if (text.find_first_of(".e") == std::string_view::npos) out += ".0";
}

absl::Status Bad(std::string_view text, uint32_t dtype) {
  return base::InvalidArgument("`", text.substr(0, 40), "` is not a value of ", types::Info(dtype).name);
}

template <typename T>
bool ReadNumber(std::string_view text, T& out) {
  const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), out);
  return error == std::errc() && end == text.data() + text.size();
}

absl::Status ReadHexBits(std::string_view text, uint32_t dtype, uint64_t& bits) {
  const auto [end, error] = std::from_chars(text.data() + 2, text.data() + text.size(), bits, 16);
  const uint32_t size = types::Info(dtype).size;
  const bool fits = error == std::errc() && end == text.data() + text.size() && (size == 8 || bits >> (8 * size) == 0);
  return fits ? absl::OkStatus() : Bad(text, dtype);
}

absl::Status ReadFloat(std::string_view text, uint32_t dtype, uint64_t& bits) {
  if (text == "nan") {
    bits = CanonicalNan(dtype);
    return absl::OkStatus();
  }
  if (text.substr(0, 2) == "0x") return ReadHexBits(text, dtype, bits);
  float single = 0;
  double v = 0;
  const bool is_number = text.find_first_of("0123456789") != std::string_view::npos;
  if (!is_number && text != "inf" && text != "-inf") return Bad(text, dtype);
  if (dtype == RICCI_F32 ? !ReadNumber(text, single) : !ReadNumber(text, v)) return Bad(text, dtype);
  bits = ricci_float_encode(ricci_float_format_of(dtype), dtype == RICCI_F32 ? static_cast<double>(single) : v);
  return absl::OkStatus();
}

absl::Status ReadInteger(std::string_view text, uint32_t dtype, uint64_t& bits) {
  const types::DTypeInfo& info = types::Info(dtype);
  const uint32_t unused = 64 - 8 * info.size;
  if (info.cls == DTypeClass::kSigned) {
    int64_t v = 0;
    if (!ReadNumber(text, v) || static_cast<int64_t>(static_cast<uint64_t>(v) << unused) >> unused != v) {
      return Bad(text, dtype);
    }
    bits = static_cast<uint64_t>(v);
    return absl::OkStatus();
  }
  return ReadNumber(text, bits) && bits << unused >> unused == bits ? absl::OkStatus() : Bad(text, dtype);
}

}  // namespace

void AppendElement(std::string& out, uint32_t dtype, const std::byte* p) {
  const types::DTypeInfo& info = types::Info(dtype);
  if (info.cls == DTypeClass::kComplex) {
    const uint32_t part = types::PartOf(dtype), size = types::Info(part).size;
    out += '(';
    AppendFloat(out, part, Bits(p, size));
    out += ", ";
    AppendFloat(out, part, Bits(p + size, size));
    out += ')';
    return;
  }
  const uint64_t bits = Bits(p, info.size);
  if (info.cls == DTypeClass::kFloat) return AppendFloat(out, dtype, bits);
  if (info.cls == DTypeClass::kBool) {
    out += bits != 0 ? "true" : "false";
    return;
  }
  const uint32_t unused = 64 - 8 * info.size;
  out += info.cls == DTypeClass::kSigned ? std::to_string(static_cast<int64_t>(bits << unused) >> unused)
                                         : std::to_string(bits);
}

absl::Status ReadElement(std::string_view text, uint32_t dtype, std::byte* out) {
  const types::DTypeInfo& info = types::Info(dtype);
  uint64_t bits = 0;
  if (info.cls == DTypeClass::kFloat) {
    RICCI_TRY(ReadFloat(text, dtype, bits));
  } else if (info.cls == DTypeClass::kBool) {
    if (text != "true" && text != "false") return Bad(text, dtype);
    bits = text == "true";
  } else {
    RICCI_TRY(ReadInteger(text, dtype, bits));
  }
  std::memcpy(out, &bits, info.size);
  return absl::OkStatus();
}

}}}  // namespace ricci::v0::ir
