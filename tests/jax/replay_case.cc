#include "replay_case.h"

#include <charconv>
#include <cstring>
#include <sstream>

#include "ricci/base.h"

namespace replay {
namespace {

// Walks through the text: lines of words, and raw bytes whose number is given by a line.
class Cursor {
 public:
  explicit Cursor(std::string_view text) : rest_(text) {}
  bool done() const { return rest_.empty(); }
  std::vector<std::string> Line() {
    const size_t end = std::min(rest_.find('\n'), rest_.size());
    std::istringstream words{std::string(rest_.substr(0, end))};
    rest_.remove_prefix(std::min(end + 1, rest_.size()));
    std::vector<std::string> out;
    for (std::string w; words >> w;) out.push_back(w);
    return out;
  }
  std::string_view Bytes(const std::string& count, bool newline) {
    const size_t n = std::min<size_t>(std::stoull(count), rest_.size());
    const std::string_view bytes = rest_.substr(0, n);
    rest_.remove_prefix(std::min(n + (newline ? 1 : 0), rest_.size()));
    return bytes;
  }

 private:
  std::string_view rest_;
};

uint32_t DTypeNamed(std::string_view name) {
  for (uint32_t d = RICCI_BOOL; d <= RICCI_KEY; ++d) {
    ricci_str s;
    ricci_dtype_name(d, &s);
    if (name == std::string_view(s.ptr, s.len)) return d;
  }
  return 0;
}

// `f32[2,3]`
Array ReadType(const std::string& text) {
  Array a;
  const size_t bracket = text.find('[');
  a.dtype = DTypeNamed(text.substr(0, bracket));
  std::istringstream dims(text.substr(bracket + 1));
  for (int64_t d; dims >> d; dims.get()) a.dims.push_back(d);
  return a;
}

std::vector<int64_t> ReadPlaces(const std::string& count, Cursor& at) {
  std::vector<int64_t> out(std::stoull(count));
  const std::string_view bytes = at.Bytes(std::to_string(8 * out.size()), /*newline=*/false);
  std::memcpy(out.data(), bytes.data(), bytes.size());
  return out;
}

bool ReadLine(const std::vector<std::string>& words, Cursor& at, std::vector<Case>& out) {
  const std::string& first = words[0];
  if (first == "case" && words.size() == 2) {
    out.push_back({words[1], {}, {}, {}, {}});
    return true;
  }
  if (out.empty()) return false;
  Case& c = out.back();
  if (first == "program" && words.size() == 2) {
    c.program = at.Bytes(words[1], /*newline=*/false);
    return true;
  }
  if (first == "input" && words.size() == 3) {
    c.inputs.push_back(ReadType(words[1]));
    c.inputs.back().bytes = at.Bytes(words[2], /*newline=*/true);
    return true;
  }
  if ((first == "result" && words.size() == 5) || (first == "sample" && words.size() == 6)) {
    Array a = ReadType(words[1]);
    if (first == "sample") a.places = ReadPlaces(words[5], at);
    a.bytes = at.Bytes(words[2], /*newline=*/true);
    a.rtol = std::stod(words[3]);
    a.atol = std::stod(words[4]);
    c.results.push_back(a);
    return true;
  }
  if (first == "checksum" && words.size() == 3) {
    c.results.push_back(ReadType(words[1]));
    c.results.back().checksum = static_cast<uint32_t>(std::stoul(words[2], nullptr, 16));
    return true;
  }
  c.transforms.push_back(words);
  return first == "jvp" || first == "vjp" || first == "vmap";
}

}  // namespace

std::vector<Case> ReadCases(std::string_view file, std::string& error) {
  std::vector<Case> out;
  Cursor at(file);
  while (!at.done()) {
    const std::vector<std::string> words = at.Line();
    if (words.empty() || words[0] == "end") continue;
    if (!ReadLine(words, at, out)) {
      error = "unknown line `" + words[0] + "` after case " + (out.empty() ? "none" : out.back().name);
      break;
    }
  }
  return out;
}

std::string TypeText(uint32_t dtype, const std::vector<int64_t>& dims) {
  ricci_str name;
  ricci_dtype_name(dtype, &name);
  std::string out(name.ptr, name.len);
  out += '[';
  for (size_t i = 0; i < dims.size(); ++i) out += (i == 0 ? "" : ",") + std::to_string(dims[i]);
  return out + ']';
}

}  // namespace replay
