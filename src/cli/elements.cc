#include "cli/elements.h"

#include <bit>
#include <cmath>
#include <cstring>
#include <random>

#include "cli/stored_arrays.h"
#include "ricci/float_format.h"

namespace ricci { inline namespace v0 { namespace cli {

uint32_t PartOf(uint32_t dtype) {
  return dtype == RICCI_C64 ? uint32_t{RICCI_F32} : dtype == RICCI_C128 ? uint32_t{RICCI_F64} : dtype;
}

namespace {

// The bits of one element drawn from `random`.
uint64_t Draw(uint32_t dtype, std::mt19937_64& random) {
  const uint64_t r = random();
  const double uniform = static_cast<double>(r >> 11) * 0x1p-52 - 1;
  switch (dtype) {
    case RICCI_BOOL:
      return r & 1;
    case RICCI_F16:  // sign and a magnitude from [0.25, 1)
      return (r & 0x8000) | (0x3400 + (r >> 16 & 0x7ff));
    case RICCI_BF16:
      return std::bit_cast<uint32_t>(static_cast<float>(uniform)) >> 16;
    case RICCI_F32:
      return std::bit_cast<uint32_t>(static_cast<float>(uniform));
    case RICCI_F8E4M3FN:
    case RICCI_F8E5M2:
    case RICCI_F4E2M1FN:
      return ricci_float_encode(ricci_float_format_of(dtype), uniform);
    case RICCI_F8E8M0FNU:
      return ricci_float_encode(ricci_float_format_of(dtype), std::fabs(uniform));
    case RICCI_F64:
      return std::bit_cast<uint64_t>(uniform);
    case RICCI_KEY:
      return r;
    default:
      return r & 7;
  }
}

Array Random(const Session& session, ricci_type id, ricci_device* device, std::mt19937_64& random) {
  const TypeInfo type = session.Info(id);
  const uint32_t part = PartOf(type.dtype), size = ricci_dtype_size(part);
  std::vector<unsigned char> bytes = HostBytes(session, id);
  for (size_t at = 0; at < bytes.size(); at += size) {
    const uint64_t bits = Draw(part, random);
    std::memcpy(bytes.data() + at, &bits, size);
  }
  ricci_array* out = nullptr;
  Check(ricci_array_from_host(device, id, bytes.data(), nullptr, &out));
  return Own(out);
}

// `0=x.npy` instead of `0=@x.npy`.
bool IsFile(const std::string& text) {
  std::FILE* file = std::fopen(text.c_str(), "rb");
  if (file != nullptr) std::fclose(file);
  return file != nullptr;
}

// The user did not write the program around the literal: messages leave out its line and column, and what follows it.
Program ParseLiteral(const Session& session, ricci_type type, const std::string& text, const std::string& origin) {
  try {
    return session.Parse("program () { %0: " + session.TypeText(type) + " = constant " + text + " return %0 }", origin);
  } catch (const Failure& e) {
    if (IsFile(text)) throw Failure(origin + ": `" + text + "` is a file; write @" + text + " for the array in it");
    std::string message = e.what();
    constexpr std::string_view kAfter = ", not `return`";
    const size_t end = message.find(": ");
    if (message.find("expected an equation or `return`") != message.npos ||
        message.ends_with("expected `(`, not `return`")) {
      throw Failure(origin + ": something follows the literal");
    }
    if (message.ends_with(kAfter))
      message.replace(message.size() - kAfter.size(), kAfter.size(), ", the text ends here");
    throw Failure(origin + (end == std::string::npos ? ": " + message : message.substr(end)));
  }
}

// A literal is what may follow `constant` in a program, so a program that returns it is run.
Array Literal(const Session& session, ricci_type type, const std::string& text, const std::string& origin,
              ricci_device* device) {
  const Program p = ParseLiteral(session, type, text, origin);
  const Executable x = Compile(p.get(), session.Device("ref"), 0);
  ricci_array* raw = nullptr;
  Check(ricci_executable_run(x.get(), nullptr, 0, &raw, 1, nullptr));
  const Array value = Own(raw);
  std::vector<unsigned char> bytes(ricci_array_bytes(raw));
  Check(ricci_array_copy_to_host(raw, bytes.data(), bytes.size()));
  ricci_array* out = nullptr;
  Check(ricci_array_from_host(device, type, bytes.data(), nullptr, &out));
  return Own(out);
}

template <typename T>
T As(const void* p) {
  T v;
  std::memcpy(&v, p, sizeof v);
  return v;
}

std::string Number(double v, int digits) {
  if (std::isnan(v)) return "nan";  // whatever its sign, which says nothing
  char text[40];
  std::snprintf(text, sizeof text, "%.*g", digits, v);
  return text;
}

std::string ElementText(uint32_t dtype, const void* p) {
  if (const uint32_t part = PartOf(dtype); part != dtype) {
    const auto* imaginary = static_cast<const unsigned char*>(p) + ricci_dtype_size(part);
    return "(" + ElementText(part, p) + ", " + ElementText(part, imaginary) + ")";
  }
  switch (dtype) {
    case RICCI_BOOL:
      return As<uint8_t>(p) != 0 ? "true" : "false";
    case RICCI_I8:
      return std::to_string(As<int8_t>(p));
    case RICCI_I16:
      return std::to_string(As<int16_t>(p));
    case RICCI_I32:
      return std::to_string(As<int32_t>(p));
    case RICCI_I64:
      return std::to_string(As<int64_t>(p));
    case RICCI_U8:
      return std::to_string(As<uint8_t>(p));
    case RICCI_U16:
      return std::to_string(As<uint16_t>(p));
    case RICCI_U32:
      return std::to_string(As<uint32_t>(p));
    case RICCI_F16:
      return Number(ricci_float_decode(ricci_float_format_of(dtype), As<uint16_t>(p)), 5);
    case RICCI_BF16:
      return Number(ricci_float_decode(ricci_float_format_of(dtype), As<uint16_t>(p)), 4);
    case RICCI_F8E4M3FN:
    case RICCI_F8E5M2:
    case RICCI_F8E8M0FNU:
    case RICCI_F4E2M1FN:
      return Number(ricci_float_decode(ricci_float_format_of(dtype), As<uint8_t>(p)), 3);
    case RICCI_F32:
      return Number(As<float>(p), 9);
    case RICCI_F64:
      return Number(As<double>(p), 17);
    default:
      return std::to_string(As<uint64_t>(p));
  }
}

// What --input gives for each of `n` parameters, or "".
std::vector<std::string> Literals(const Arguments& arguments, size_t n) {
  std::vector<std::string> literals(n);
  for (const std::string& text : arguments.all("input")) {
    const size_t equals = text.find('=');
    const std::string index = text.substr(0, equals);
    const bool is_number =
        !index.empty() && index.find_first_not_of("0123456789") == std::string::npos && index.size() < 6;
    if (equals == std::string::npos || !is_number || text.substr(equals + 1).find_first_not_of('@') == text.npos)
      throw UsageError("--input takes INDEX=LITERAL, such as '0=[1.0, 2.0]', or INDEX=@FILE, not " + text);
    const auto i = static_cast<size_t>(std::stoi(index));
    if (i >= n) throw Failure("--input " + index + ": the program has " + CountOfParameters(n));
    if (!literals[i].empty())
      throw UsageError("--input " + index + " is given twice: " + literals[i] + " and " + text.substr(equals + 1));
    literals[i] = text.substr(equals + 1);
  }
  return literals;
}

// One array per parameter, drawn if it has no literal.
std::vector<Array> Made(const Session& session, const Arguments& arguments, const std::vector<std::string>& literals,
                        const std::vector<ricci_type>& params, ricci_device* device) {
  std::mt19937_64 random(static_cast<uint64_t>(arguments.integer_or("seed", 0)));
  std::vector<Array> out;
  for (size_t i = 0; i < params.size(); ++i) {
    const std::string origin = "--input " + std::to_string(i);
    if (literals[i].empty()) {
      out.push_back(Random(session, params[i], device, random));
    } else if (literals[i][0] == '@') {
      out.push_back(FromFile(session, params[i], literals[i].substr(1), origin, device));
    } else {
      out.push_back(Literal(session, params[i], literals[i], origin, device));
    }
  }
  return out;
}

}  // namespace

double FloatAt(uint32_t dtype, const unsigned char* p) {
  switch (dtype) {
    case RICCI_F32:
      return As<float>(p);
    case RICCI_F64:
      return As<double>(p);
    default:
      return ricci_float_decode(ricci_float_format_of(dtype), As<uint16_t>(p));
  }
}

std::vector<Array> Inputs(const Session& session, const Arguments& arguments, const std::vector<ricci_type>& params,
                          ricci_device* device) {
  return Made(session, arguments, Literals(arguments, params.size()), params, device);
}

std::vector<Array> DrawnInputs(const Session& session, const Arguments& arguments,
                               const std::vector<ricci_type>& params, ricci_device* device) {
  return Made(session, arguments, std::vector<std::string>(params.size()), params, device);
}

std::vector<bool> GivenInputs(const Arguments& arguments, size_t n) {
  std::vector<bool> given;
  for (const std::string& literal : Literals(arguments, n)) given.push_back(!literal.empty());
  return given;
}

std::string ElementsText(const TypeInfo& type, const void* data, int64_t limit) {
  const auto* bytes = static_cast<const unsigned char*>(data);
  const uint32_t size = ricci_dtype_size(type.dtype);
  if (type.shape.empty()) return ElementText(type.dtype, bytes);
  std::string text = "[";
  for (int64_t i = 0; i < std::min(type.elements, limit); ++i) {
    text += (i == 0 ? "" : ", ") + ElementText(type.dtype, bytes + static_cast<size_t>(i) * size);
  }
  return text + (type.elements > limit ? ", ...]" : "]");
}

}}}  // namespace ricci::v0::cli
