// The format .npy of NumPy (numpy.lib.format, versions 1 to 3): a magic, a Python dict as text, the elements.
//
// Big-endian elements and arrays in Fortran order become little-endian and row-major as they are read. Types that NumPy
// itself does not have are saved as ml_dtypes names them: bf16 as two raw bytes (`<V2`), which jax.numpy.load takes for
// bf16, and f8e5m2 as `<f1`, which is read here but which NumPy does not load, so that it is not written. All other
// floats of 8 and 4 bits are one raw byte (`<V1`), which could be any of them: both directions refuse it.
#include <charconv>

#include "absl/strings/str_join.h"
#include "base/status.h"
#include "file/array_file.h"
#include "file/bytes.h"
#include "types/dtype.h"

namespace ricci { inline namespace v0 { namespace file {
namespace {

constexpr std::string_view kMagicOfNpy = "\x93NUMPY";
constexpr size_t kAlign = 64;

struct Code {
  std::string_view text;  // kind and size, without the byte order
  uint32_t dtype;
};
constexpr Code kCodes[] = {{"b1", RICCI_BOOL}, {"i1", RICCI_I8},    {"i2", RICCI_I16}, {"i4", RICCI_I32},
                           {"i8", RICCI_I64},  {"u1", RICCI_U8},    {"u2", RICCI_U16}, {"u4", RICCI_U32},
                           {"u8", RICCI_U64},  {"f2", RICCI_F16},   {"f4", RICCI_F32}, {"f8", RICCI_F64},
                           {"c8", RICCI_C64},  {"c16", RICCI_C128}, {"V2", RICCI_BF16}};
constexpr std::string_view kCodeOfE5M2 = "f1";

// What the dict says.
struct Header {
  std::string_view descr;
  bool fortran = false;
  std::vector<int64_t> shape;
  size_t keys = 0;
};

// Reads the dict. Only what NumPy writes is taken: strings in quotes, True and False, tuples of integers.
class DictReader {
 public:
  explicit DictReader(std::string_view text) : rest_(text) {}

  bool Read(Header& h) {
    if (!Eat('{')) return false;
    while (!Eat('}')) {
      const std::string_view key = String();
      if (!Eat(':') || !Value(key, h)) return false;
      if (!Eat(',') && (Space(), !rest_.starts_with('}'))) return false;
      ++h.keys;
    }
    Space();
    return h.keys == 3 && !h.descr.empty() && rest_.empty();
  }

 private:
  void Space() { rest_.remove_prefix(std::min(rest_.find_first_not_of(" \t\n"), rest_.size())); }
  bool Eat(char c) {
    Space();
    if (!rest_.starts_with(c)) return false;
    rest_.remove_prefix(1);
    return true;
  }
  bool EatWord(std::string_view word) {
    Space();
    if (!rest_.starts_with(word)) return false;
    rest_.remove_prefix(word.size());
    return true;
  }
  // Empty if there is none.
  std::string_view String() {
    Space();
    const char quote = rest_.empty() ? 0 : rest_[0];
    const size_t end = quote == '\'' || quote == '"' ? rest_.find(quote, 1) : std::string_view::npos;
    if (end == std::string_view::npos) return {};
    const std::string_view out = rest_.substr(1, end - 1);
    rest_.remove_prefix(end + 1);
    return out;
  }
  bool Value(std::string_view key, Header& h) {
    if (key == "descr") return !(h.descr = String()).empty();
    if (key == "fortran_order") return (h.fortran = EatWord("True")) || EatWord("False");
    return key == "shape" && Shape(h.shape);
  }
  bool Shape(std::vector<int64_t>& shape) {
    if (!Eat('(')) return false;
    while (!Eat(')')) {
      int64_t d = 0;
      Space();
      const auto [end, error] = std::from_chars(rest_.data(), rest_.data() + rest_.size(), d);
      if (error != std::errc()) return false;
      rest_.remove_prefix(static_cast<size_t>(end - rest_.data()));
      if (!Eat(',') && (Space(), !rest_.starts_with(')'))) return false;
      shape.push_back(d);
    }
    return true;
  }

  std::string_view rest_;
};

// The dtype of `descr`, such as `<f4`; `swap`: its elements are big-endian.
absl::StatusOr<uint32_t> DTypeOf(std::string_view descr, bool& swap, std::string_view origin) {
  const std::string_view code = descr.substr(std::string_view("<>|=").find(descr[0]) != std::string_view::npos);
  for (const Code& c : kCodes) {
    if (c.text != code) continue;
    swap = descr[0] == '>';
    return c.dtype;
  }
  if (code == kCodeOfE5M2) return RICCI_F8E5M2;
  return absl::UnimplementedError(
      base::Cat(origin, ": elements of NumPy type `", descr, "` are not supported",
                code == "V1" ? " (f8e4m3fn, f8e8m0fnu and others are saved so: use safetensors for them)" : ""));
}

// `from` with the bytes of each number reversed.
std::vector<char> Swapped(std::string_view from, uint32_t dtype) {
  const size_t size = types::Info(types::PartOf(dtype)).size;
  std::vector<char> out(from.begin(), from.end());
  for (size_t at = 0; at < out.size(); at += size) std::reverse(out.begin() + at, out.begin() + at + size);
  return out;
}

// `from`, where the first index changes fastest, in row-major order.
std::vector<char> RowMajor(std::string_view from, size_t size, std::span<const int64_t> shape) {
  std::vector<char> out(from.size());
  std::vector<int64_t> index(shape.size(), 0);
  std::vector<size_t> stride(shape.size(), size);
  for (size_t d = 1; d < shape.size(); ++d) stride[d] = stride[d - 1] * static_cast<size_t>(shape[d - 1]);
  size_t source = 0;
  for (size_t at = 0; at < out.size(); at += size) {
    std::memcpy(out.data() + at, from.data() + source, size);
    for (size_t d = shape.size(); d-- > 0;) {
      source += stride[d];
      if (++index[d] < shape[d]) break;
      source -= stride[d] * static_cast<size_t>(shape[d]);
      index[d] = 0;
    }
  }
  return out;
}

}  // namespace

absl::StatusOr<FileArray> ReadNpy(std::string_view bytes, std::string_view origin) {
  const auto damaged = [&](std::string_view what) {
    return absl::DataLossError(base::Cat(origin, ": the file is damaged: ", what));
  };
  if (!bytes.starts_with(kMagicOfNpy)) return base::InvalidArgument(origin, ": not a .npy file");
  ByteReader r(bytes.substr(kMagicOfNpy.size()));
  const auto major = r.Get<uint8_t>();
  r.Get<uint8_t>();
  if (major < 1 || major > 3) return base::InvalidArgument(origin, ": version ", int{major}, " of .npy is unknown");
  const std::string_view dict = r.GetBytes(major == 1 ? r.Get<uint16_t>() : r.Get<uint32_t>());
  if (r.failed()) return damaged("it ends within its header");
  Header h;
  if (!DictReader(dict).Read(h)) return damaged("its header cannot be read");
  FileArray a;
  bool swap = false;
  RICCI_ASSIGN(a.dtype, DTypeOf(h.descr, swap, origin));
  a.shape = h.shape;
  const std::string_view rest = r.Rest();
  RICCI_ASSIGN(const uint64_t size, BytesWithin(a.dtype, a.shape, rest.size(), origin));
  a.data = rest.substr(0, size);
  if (swap) a.own = Swapped(a.data, a.dtype);
  if (swap) a.data = {a.own.data(), a.own.size()};
  if (h.fortran && a.shape.size() > 1) a.own = RowMajor(a.data, types::Info(a.dtype).size, a.shape);
  if (!a.own.empty()) a.data = {a.own.data(), a.own.size()};
  RICCI_TRY(CheckBools(a, origin));
  return a;
}

absl::StatusOr<std::string> WriteNpy(const FileArray& a) {
  const auto code = std::ranges::find(kCodes, a.dtype, &Code::dtype);
  if (code == std::end(kCodes)) {
    return base::InvalidArgument("npy has no elements of ", types::Info(a.dtype).name,
                                 SafetensorsHas(a.dtype) ? "; safetensors has" : "");
  }
  const std::string shape = absl::StrJoin(a.shape, ", ") + (a.shape.size() == 1 ? ",)" : ")");
  std::string dict = base::Cat("{'descr': '", types::Info(a.dtype).size == 1 ? "|" : "<", code->text,
                               "', 'fortran_order': False, 'shape': (", shape, ", }");
  const size_t before = kMagicOfNpy.size() + 4;
  dict.resize((before + dict.size() + kAlign) / kAlign * kAlign - before, ' ');
  dict.back() = '\n';
  ByteWriter w;
  w.AddBytes(kMagicOfNpy);
  w.Add(uint8_t{1});
  w.Add(uint8_t{0});
  w.Add(static_cast<uint16_t>(dict.size()));
  w.AddBytes(dict);
  w.AddBytes(a.data);
  return w.Take();
}

}}}  // namespace ricci::v0::file
