// The text of a sort of lines (line_sort.h): what is the same for all, then what depends on the operands.
#include "cuda/device/device_text.h"
#include "cuda/device/types.h"
#include "cuda/lowering/line_sort.h"

namespace ricci::cuda {
namespace {

// $T: elements of a tile, $I: of a thread.
constexpr std::string_view kConstants = R"(
enum { kTile = $T, kItems = $I, kThreads = kTile / kItems };
)";

// Of two runs that are sorted, and joined: how many of the first `diagonal` elements are of the left run. $N: a name,
// $I: the type of numbers, $A: more arguments, $L and $R: the keys of number `mid` of the left run, and of the one of
// the right run that it meets.
constexpr std::string_view kSplit = R"(
static __device__ $I $N($A, $I n_left, $I n_right, $I diagonal) {
  $I lo = diagonal > n_right ? diagonal - n_right : 0, hi = diagonal < n_left ? diagonal : n_left;
  while (lo < hi) {
    const $I mid = (lo + hi) / 2;
    if (Before($R, $L)) {
      hi = mid;
    } else {
      lo = mid + 1;
    }
  }
  return lo;
}
)";

// $A: arguments, $O: the operands, $P: the offsets, $N: elements of a line, $S: from one to the next, $B: tiles of a
// line.
constexpr std::string_view kTiles = R"(
// Each block sorts a tile: threads their items, then runs of these are merged.
extern "C" __global__ void sort_tiles($A, i64 to_results) {
  __shared__ Key keys[kTile];
  __shared__ u16 order[kTile];
$O
$P
  const To to = to_results ? results : other;
  const i64 line = blockIdx.x / $B, first = (i64)(blockIdx.x % $B) * kTile;
  const i64 begin = line / $S * $N * $S + line % $S + first * $S;
  const i32 count = $N - first < kTile ? (i32)($N - first) : kTile;
  for (i32 i = (i32)threadIdx.x; i < kTile; i += kThreads) {
    const Key own_key = i < count ? KeyAt(operands, begin + i * $S) : Last();
    keys[i] = own_key;
  }
  __syncthreads();
  const i32 own = (i32)threadIdx.x * kItems;
  Key key[kItems];
  u16 at[kItems];
#pragma unroll
  for (i32 i = 0; i < kItems; ++i) {
    key[i] = keys[own + i];
    at[i] = (u16)(own + i);
  }
  // Neighbours trade places.
#pragma unroll
  for (i32 round = 0; round < kItems; ++round) {
#pragma unroll
    for (i32 i = round % 2; i + 1 < kItems; i += 2) {
      const bool swap = Before(key[i + 1], key[i]);
      const Key first_key = swap ? key[i + 1] : key[i], second_key = swap ? key[i] : key[i + 1];
      const u16 first_at = swap ? at[i + 1] : at[i], second_at = swap ? at[i] : at[i + 1];
      key[i] = first_key;
      key[i + 1] = second_key;
      at[i] = first_at;
      at[i + 1] = second_at;
    }
  }
  for (i32 width = kItems;; width *= 2) {
    __syncthreads();
#pragma unroll
    for (i32 i = 0; i < kItems; ++i) {
      keys[own + i] = key[i];
      order[own + i] = at[i];
    }
    __syncthreads();
    if (width == kTile) break;
    const i32 pair = own / (2 * width) * (2 * width);
    const Key* const left_keys = keys + pair;
    const Key* const right_keys = left_keys + width;
    i32 left = Split(left_keys, right_keys, width, width, own - pair), right = own - pair - left;
#pragma unroll
    for (i32 i = 0; i < kItems; ++i) {
      const bool is_right = left == width || (right < width && Before(right_keys[right], left_keys[left]));
      const i32 from = is_right ? pair + width + right++ : pair + left++;
      key[i] = keys[from];
      at[i] = order[from];
    }
  }
  for (i32 i = (i32)threadIdx.x; i < count; i += kThreads) Move(to, begin + i * $S, operands, begin + order[i] * $S);
}
)";

constexpr std::string_view kMerge = R"(
// Each block writes a tile of two runs of `width` elements that are merged.
extern "C" __global__ void sort_merge($A, i64 to_results, i64 width) {
  __shared__ Key keys[kTile];
  __shared__ u16 order[kTile];
  __shared__ i64 bounds[2];
$P
  const To to = to_results ? results : other;
  const From from = Read(to_results ? other : results);
  const i64 line = blockIdx.x / $B, first = (i64)(blockIdx.x % $B) * kTile, pair = first / (2 * width) * (2 * width);
  const i64 begin = line / $S * $N * $S + line % $S, left_begin = begin + pair * $S, right_begin = left_begin + width * $S;
  const i32 count = $N - first < kTile ? (i32)($N - first) : kTile;
  const i64 n_left = $N - pair < width ? $N - pair : width;
  const i64 n_right = $N - pair - n_left < width ? $N - pair - n_left : width;
  if (threadIdx.x < 2) {
    bounds[threadIdx.x] =
        SplitFar(from, left_begin, right_begin, n_left, n_right, first - pair + (threadIdx.x == 0 ? 0 : count));
  }
  __syncthreads();
  const i32 of_left = (i32)(bounds[1] - bounds[0]), of_right = count - of_left;
  const i64 left_place = left_begin + bounds[0] * $S, right_place = right_begin + (first - pair - bounds[0]) * $S;
  for (i32 i = (i32)threadIdx.x; i < count; i += kThreads) {
    const Key own_key = KeyAt(from, i < of_left ? left_place + i * $S : right_place + (i - of_left) * $S);
    keys[i] = own_key;
  }
  __syncthreads();
  const i32 own = (i32)threadIdx.x * kItems;
  if (own < count) {
    const Key* const right_keys = keys + of_left;
    i32 left = Split(keys, right_keys, of_left, of_right, own), right = own - left;
    for (i32 i = own; i < own + kItems && i < count; ++i) {
      const bool is_right = left == of_left || (right < of_right && Before(right_keys[right], keys[left]));
      order[i] = (u16)(is_right ? of_left + right++ : left++);
    }
  }
  __syncthreads();
  for (i32 i = (i32)threadIdx.x; i < count; i += kThreads) {
    const i32 at = order[i];
    Move(to, begin + (first + i) * $S, from, at < of_left ? left_place + at * $S : right_place + (at - of_left) * $S);
  }
}
)";

std::string X(size_t operand) { return "x" + std::to_string(operand); }
std::string TypeOf(const LineSort& sort, size_t operand) { return std::string(TypeName(PartOf(sort.dtypes[operand]))); }

class Printer {
 public:
  Printer(const LineSort& sort, const LineSortFrame& frame, DeviceText& device)
      : sort_(sort), frame_(frame), device_(device) {
    for (size_t k = 0; k < sort_.keys; ++k) {
      words_.push_back({PartOf(sort_.dtypes[k]), X(k), "from." + X(k) + "[" + IndexOf(k, "i", 0) + "]"});
      if (!IsComplex(sort_.dtypes[k])) continue;
      words_.push_back({PartOf(sort_.dtypes[k]), X(k) + "i", "from." + X(k) + "[" + IndexOf(k, "i", 1) + "]"});
    }
  }

  std::string Print() {
    std::string words;
    for (size_t w = 0; w < words_.size(); ++w) words += WordFunction(w);
    const std::string n = Number(sort_.n), step = Number(sort_.inner) + "ll", blocks = Number(sort_.tiles());
    std::string text = Fill(kConstants, {{'T', Number(sort_.tile)}, {'I', Number(LineSort::kItems)}});
    text += Structs() + words + KeyFunctions() + MoveFunctions();
    text += Fill(kSplit, {{'N', "Split"},
                          {'I', "i32"},
                          {'A', "const Key* left, const Key* right"},
                          {'L', "left[mid]"},
                          {'R', "right[diagonal - 1 - mid]"}});
    const std::initializer_list<std::pair<char, std::string_view>> by = {
        {'A', frame_.arguments}, {'O', frame_.operands}, {'P', frame_.offsets}, {'N', n}, {'S', step}, {'B', blocks}};
    text += Fill(kTiles, by);
    if (sort_.merges != 0) {
      const std::string left = "KeyAt(x, left + mid * " + step + ")",
                        right = "KeyAt(x, right + (diagonal - 1 - mid) * " + step + ")";
      text += Fill(
          kSplit,
          {{'N', "SplitFar"}, {'I', "i64"}, {'A', "const From& x, i64 left, i64 right"}, {'L', left}, {'R', right}});
      text += Fill(kMerge, by);
    }
    return text;
  }

 private:
  // Of a key, which has two if it is complex: their type, and the name and the element they have in the text.
  struct Word {
    uint32_t dtype;
    std::string name, element;
    std::string Type() const { return BitsOf(dtype) > 32 ? "u64" : "u32"; }
  };

  static std::string Number(int64_t v) { return std::to_string(v); }
  // The index of a part of element `i` of an operand, whose array holds parts.
  std::string IndexOf(size_t operand, const std::string& i, int part) const {
    if (!IsComplex(sort_.dtypes[operand])) return i;
    return "2 * " + i + (part == 0 ? "" : " + 1");
  }

  std::string Structs() const {
    std::string key, from, to;
    for (const Word& word : words_) key += "  " + word.Type() + " " + word.name + ";\n";
    for (size_t i = 0; i < sort_.dtypes.size(); ++i) {
      const std::string type = TypeOf(sort_, i);
      from += "  const " + type + "* " + X(i) + ";\n";
      to += "  " + type + "* " + X(i) + ";\n";
    }
    return "struct Key {\n" + key + "};\nstruct From {\n" + from + "};\nstruct To {\n" + to + "};\n";
  }

  // A key as an unsigned number that is larger for what comes later. -0 is 0, and every NaN the largest.
  std::string WordFunction(size_t w) {
    const uint32_t dtype = words_[w].dtype;
    const std::string type = words_[w].Type(), half = type == "u64" ? "9223372036854775808ull" : "2147483648u",
                      head = "\nstatic __device__ " + type + " Word" + std::to_string(w) + "(" +
                             std::string(TypeName(dtype)) + " v) {\n";
    if (!IsFloat(dtype)) {
      if (!IsSigned(dtype)) return head + "  return v;\n}\n";
      return head + "  return (" + type + ")v + " + half + ";\n}\n";
    }
    const uint32_t real = dtype == RICCI_F64 ? RICCI_F64 : RICCI_F32;
    const std::string v = Convert(device_, dtype, real, "v");
    return head + "  const " + std::string(TypeName(real)) + " x = " + v + ";\n  const " + type +
           " bits = " + BitsOfReal(device_, real, "x") + ";\n  if (x != x) return ~(" + type +
           ")0;\n  if (x == 0) return " + half + ";\n  return bits < " + half + " ? bits + " + half + " : ~bits;\n}\n";
  }

  std::string KeyFunctions() const {
    std::string at, last, before;
    for (size_t w = 0; w < words_.size(); ++w) {
      const std::string& x = words_[w].name;
      at += "  key." + x + " = Word" + std::to_string(w) + "(" + words_[w].element + ");\n";
      last += "  key." + x + " = ~(" + words_[w].Type() + ")0;\n";
      before += w + 1 == words_.size() ? "  return a." + x + " < b." + x + ";\n"
                                       : "  if (a." + x + " != b." + x + ") return a." + x + " < b." + x + ";\n";
    }
    return "\nstatic __device__ Key KeyAt(const From& from, i64 i) {\n  Key key;\n" + at +
           "  return key;\n}\n\nstatic __device__ Key Last() {\n  Key key;\n" + last +
           "  return key;\n}\n\nstatic __device__ bool Before(const Key& a, const Key& b) {\n" + before + "}\n";
  }

  std::string MoveFunctions() const {
    std::string move, read;
    for (size_t i = 0; i < sort_.dtypes.size(); ++i) {
      for (int part = 0; part <= (IsComplex(sort_.dtypes[i]) ? 1 : 0); ++part) {
        move +=
            "  to." + X(i) + "[" + IndexOf(i, "i", part) + "] = from." + X(i) + "[" + IndexOf(i, "j", part) + "];\n";
      }
      read += std::string(i == 0 ? "" : ", ") + "x." + X(i);
    }
    const std::string move_head = "\nstatic __device__ void Move(const To& to, i64 i, const From& from, i64 j) {\n";
    return move_head + move + "}\n" +
           (sort_.merges == 0 ? "" : "\nstatic __device__ From Read(const To& x) { return {" + read + "}; }\n");
  }

  const LineSort& sort_;
  const LineSortFrame& frame_;
  DeviceText& device_;
  std::vector<Word> words_;
};

}  // namespace

LineSortFrame FrameOf(const LineSort& sort) {
  std::string in, out, operands, results, other;
  for (size_t i = 0; i < sort.dtypes.size(); ++i) {
    const std::string n = std::to_string(i), type = TypeOf(sort, i), comma = i == 0 ? "" : ", ";
    in += comma + "const " + type + "* x" + n;
    out += ", " + type + "* y" + n;
    operands += comma + "x" + n;
    results += comma + "y" + n;
    other +=
        comma + (sort.merges == 0 ? "y" + n : "(" + type + "*)(workspace + " + std::to_string(sort.OffsetOf(i)) + ")");
  }
  return {in + out + (sort.merges == 0 ? "" : ", u8* workspace"), "  const From operands = {" + operands + "};",
          "  const To results = {" + results + "}, other = {" + other + "};"};
}

std::string PrintLineSort(const LineSort& sort, const LineSortFrame& frame, DeviceText& device) {
  return Printer(sort, frame, device).Print();
}

}  // namespace ricci::cuda
