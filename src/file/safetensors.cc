// The format safetensors: the size of a header (u64), the header in JSON, the elements of all tensors.
//
//   {"w": {"dtype": "F32", "shape": [2, 3], "data_offsets": [0, 24]}, "__metadata__": {"made by": "..."}}
//
// As its specification asks, the tensors must cover the data without gaps or overlap. Metadata is skipped, unknown
// fields of a tensor are refused. Of JSON only this much is read: objects, strings, and lists of integers that are not
// negative. The format has no c128 and no keys.
#include <algorithm>
#include <charconv>

#include "absl/strings/str_join.h"
#include "base/status.h"
#include "file/array_file.h"
#include "file/bytes.h"
#include "types/dtype.h"

namespace ricci { inline namespace v0 { namespace file {
namespace {

constexpr size_t kAlign = 8;
constexpr std::string_view kMetadata = "__metadata__";

struct Code {
  std::string_view text;
  uint32_t dtype;
};
constexpr Code kCodes[] = {
    {"BOOL", RICCI_BOOL},        {"I8", RICCI_I8},   {"I16", RICCI_I16},          {"I32", RICCI_I32},
    {"I64", RICCI_I64},          {"U8", RICCI_U8},   {"U16", RICCI_U16},          {"U32", RICCI_U32},
    {"U64", RICCI_U64},          {"F16", RICCI_F16}, {"BF16", RICCI_BF16},        {"F32", RICCI_F32},
    {"F64", RICCI_F64},          {"C64", RICCI_C64}, {"F8_E4M3", RICCI_F8E4M3FN}, {"F8_E5M2", RICCI_F8E5M2},
    {"F8_E8M0", RICCI_F8E8M0FNU}};

struct Tensor {
  std::string name, dtype;
  std::vector<int64_t> shape, offsets;
};

// Reads the header; every function returns whether it could.
class HeaderReader {
 public:
  explicit HeaderReader(std::string_view text) : rest_(text) {}

  bool Read(std::vector<Tensor>& out) {
    return Object([&](const std::string& name) {
             if (name == kMetadata) return Object([&](const std::string&) { return String(skipped_); });
             Tensor t;
             t.name = name;
             if (!Object([&](const std::string& key) { return Field(key, t); })) return false;
             out.push_back(std::move(t));
             return true;
           }) &&
           (Space(), rest_.empty());
  }

 private:
  void Space() { rest_.remove_prefix(std::min(rest_.find_first_not_of(" \t\r\n"), rest_.size())); }
  bool Eat(char c) {
    Space();
    if (!rest_.starts_with(c)) return false;
    rest_.remove_prefix(1);
    return true;
  }

  // `member(key)` reads the value of each key.
  template <typename Member>
  bool Object(Member&& member) {
    if (!Eat('{')) return false;
    if (Eat('}')) return true;
    do {
      std::string key;
      if (!String(key) || !Eat(':') || !member(key)) return false;
    } while (Eat(','));
    return Eat('}');
  }
  bool Field(const std::string& key, Tensor& t) {
    if (key == "dtype") return String(t.dtype);
    if (key == "shape") return Integers(t.shape);
    return key == "data_offsets" && Integers(t.offsets);
  }
  bool Integers(std::vector<int64_t>& out) {
    out.clear();
    if (!Eat('[')) return false;
    if (Eat(']')) return true;
    do {
      Space();
      int64_t v = 0;
      const auto [end, error] = std::from_chars(rest_.data(), rest_.data() + rest_.size(), v);
      if (error != std::errc() || v < 0) return false;
      rest_.remove_prefix(static_cast<size_t>(end - rest_.data()));
      out.push_back(v);
    } while (Eat(','));
    return Eat(']');
  }

  bool String(std::string& out) {
    out.clear();
    if (!Eat('"')) return false;
    while (!rest_.empty() && rest_[0] != '"') {
      if (rest_[0] == '\\') {
        if (!Escape(out)) return false;
      } else {
        out += rest_[0];
        rest_.remove_prefix(1);
      }
    }
    return Eat('"');
  }
  // A control character or a quote; a surrogate pair is not joined but refused.
  bool Escape(std::string& out) {
    constexpr std::string_view kFrom = "\"\\/bfnrt", kTo = "\"\\/\b\f\n\r\t";
    if (rest_.size() < 2) return false;
    if (const size_t at = kFrom.find(rest_[1]); at != std::string_view::npos) {
      out += kTo[at];
      rest_.remove_prefix(2);
      return true;
    }
    uint32_t code = 0;
    if (rest_[1] != 'u' || rest_.size() < 6) return false;
    const auto [end, error] = std::from_chars(rest_.data() + 2, rest_.data() + 6, code, 16);
    if (error != std::errc() || end != rest_.data() + 6 || (code >= 0xd800 && code < 0xe000)) return false;
    AppendUtf8(code, out);
    rest_.remove_prefix(6);
    return true;
  }
  static void AppendUtf8(uint32_t code, std::string& out) {
    if (code < 0x80) {
      out += static_cast<char>(code);
    } else if (code < 0x800) {
      out += static_cast<char>(0xc0 | code >> 6);
      out += static_cast<char>(0x80 | (code & 0x3f));
    } else {
      out += static_cast<char>(0xe0 | code >> 12);
      out += static_cast<char>(0x80 | (code >> 6 & 0x3f));
      out += static_cast<char>(0x80 | (code & 0x3f));
    }
  }

  std::string_view rest_;
  std::string skipped_;
};

void AppendString(std::string& out, std::string_view text) {
  constexpr char kDigits[] = "0123456789abcdef";
  out += '"';
  for (const char c : text) {
    const auto v = static_cast<unsigned char>(c);
    if (v < 0x20) {
      out += "\\u00";
      out += kDigits[v >> 4];
      out += kDigits[v & 15];
      continue;
    }
    if (c == '"' || c == '\\') out += '\\';
    out += c;
  }
  out += '"';
}

absl::StatusOr<FileArray> ToArray(const Tensor& t, std::string_view data, std::string_view origin) {
  const auto code = std::ranges::find(kCodes, std::string_view(t.dtype), &Code::text);
  if (code == std::end(kCodes)) {
    return absl::UnimplementedError(
        base::Cat(origin, ": tensor ", t.name, " has elements of type `", t.dtype, "`, which is not supported"));
  }
  FileArray a{t.name, code->dtype, t.shape, {}, {}};
  if (t.offsets.size() != 2 || t.offsets[0] > t.offsets[1] || static_cast<uint64_t>(t.offsets[1]) > data.size()) {
    return absl::DataLossError(base::Cat(origin, ": the file is damaged: tensor ", t.name, " is outside of it"));
  }
  a.data = data.substr(static_cast<size_t>(t.offsets[0]), static_cast<size_t>(t.offsets[1] - t.offsets[0]));
  RICCI_ASSIGN(const uint64_t size, BytesWithin(a.dtype, a.shape, a.data.size(), origin));
  if (size != a.data.size()) {
    return absl::DataLossError(base::Cat(origin, ": the file is damaged: tensor ", t.name, " takes ", size,
                                         " bytes, its offsets give it ", a.data.size()));
  }
  RICCI_TRY(CheckBools(a, origin));
  return a;
}

// Do the tensors cover all `size` bytes, each once?
bool Covered(std::vector<Tensor> tensors, size_t size) {
  std::ranges::sort(tensors, {}, &Tensor::offsets);
  int64_t at = 0;
  for (const Tensor& t : tensors) {
    if (t.offsets[0] != at) return false;
    at = t.offsets[1];
  }
  return static_cast<uint64_t>(at) == size;
}

}  // namespace

absl::StatusOr<std::vector<FileArray>> ReadSafetensors(std::string_view bytes, std::string_view origin) {
  ByteReader r(bytes);
  const std::string_view header = r.GetBytes(r.Get<uint64_t>());
  if (r.failed()) return absl::DataLossError(base::Cat(origin, ": the file is damaged: it ends within its header"));
  std::vector<Tensor> tensors;
  if (!HeaderReader(header).Read(tensors)) {
    return absl::DataLossError(base::Cat(origin, ": the file is damaged: its header cannot be read"));
  }
  std::vector<FileArray> out;
  for (const Tensor& t : tensors) {
    RICCI_ASSIGN(FileArray a, ToArray(t, r.Rest(), origin));
    out.push_back(std::move(a));
  }
  if (!Covered(std::move(tensors), r.Rest().size())) {
    return absl::DataLossError(base::Cat(origin, ": the file is damaged: its tensors do not cover it"));
  }
  return out;
}

bool SafetensorsHas(uint32_t dtype) { return std::ranges::find(kCodes, dtype, &Code::dtype) != std::end(kCodes); }

absl::StatusOr<std::string> WriteSafetensors(std::span<const FileArray> arrays) {
  std::string header = "{";
  uint64_t at = 0;
  for (const FileArray& a : arrays) {
    const auto code = std::ranges::find(kCodes, a.dtype, &Code::dtype);
    if (code == std::end(kCodes)) {
      return base::InvalidArgument("safetensors has no elements of ", types::Info(a.dtype).name, " (array ", a.name,
                                   ")");
    }
    if (a.name == kMetadata) return base::InvalidArgument("in safetensors no array may be named ", kMetadata);
    if (header.size() > 1) header += ',';
    AppendString(header, a.name);
    header += base::Cat(":{\"dtype\":\"", code->text, "\",\"shape\":[", absl::StrJoin(a.shape, ","),
                        "],\"data_offsets\":[", at, ",", at + a.data.size(), "]}");
    at += a.data.size();
  }
  header += '}';
  header.resize((header.size() + kAlign - 1) / kAlign * kAlign, ' ');
  ByteWriter w;
  w.Add(uint64_t{header.size()});
  w.AddBytes(header);
  for (const FileArray& a : arrays) w.AddBytes(a.data);
  return w.Take();
}

}}}  // namespace ricci::v0::file
