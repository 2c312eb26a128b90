// The text of a scatter (ordered_scatter.h): where updates go, then the functions that its launches run.
#include "codegen/identity.h"
#include "cuda/device/device_text.h"
#include "cuda/device/types.h"
#include "cuda/lowering/ordered_scatter.h"
#include "ricci/kernel.h"

namespace ricci::cuda {
namespace {

// $T: the type of a number, $X: of an index, $I and $U: of numbers of elements and updates, $P: the parameters, $W: the
// arrays that are sorted, $E, $N, $C, $L: how many numbers the operand has, updates, columns, updates of a line; $M: $N
// times $C.

// $B: what else each thread begins with.
constexpr std::string_view kBegin = R"(
// The result begins as the operand.
extern "C" __global__ void scatter_begin($P) {
  const $U thread = ($U)blockIdx.x * blockDim.x + threadIdx.x, threads = ($U)gridDim.x * blockDim.x;
  for ($U i = thread; i < $E; i += threads) y[i] = x[i];
$B}
)";
// $S: the arrays that are to be sorted.
constexpr std::string_view kKeys = R"($S
  for ($U e = thread; e < $N; e += threads) {
    unsorted.x0[e] = ($U)TargetOf(indices, e);
    unsorted.x1[e] = e;
  }
)";

// Most elements have one update, so the end is looked for only where there are more.
constexpr std::string_view kEnd = R"(
// The end of the updates from `first` on that are of the same element.
static __device__ $U EndOf(const $U* elements, $U first) {
  const $U element = elements[first];
  $U lo = first + 1, hi = (first / $L + 1) * $L;
  if (lo == hi || elements[lo] != element) return lo;
  while (lo < hi) {
    const $U mid = lo + (hi - lo) / 2;
    if (elements[mid] == element) {
      lo = mid + 1;
    } else {
      hi = mid;
    }
  }
  return lo;
}
)";

// $V: the new number from the old one `v` and the update `u`.
constexpr std::string_view kCombine = R"(
// A thread for each column of the first update of each element makes all of the element, in their order.
extern "C" __global__ void scatter_combine($P) {
$W
  const $U threads = ($U)gridDim.x * blockDim.x;
  for ($U i = ($U)blockIdx.x * blockDim.x + threadIdx.x; i < $M; i += threads) {
    const $U at = i / $C, column = i % $C, element = sorted.x0[at];
    if (element == ~($U)0 || (at != 0 && sorted.x0[at - 1] == element)) continue;
    $T* const to = y + (element + ToOf(column));
    const $T* const from = updates + FromOf(column);
    const $U end = EndOf(sorted.x0, at);
    $T v = *to;
#pragma unroll 4
    for ($U next = at; next < end; ++next) {
      const $T u = from[SourceOf(sorted.x1[next])];
      v = $V;
    }
    *to = v;
  }
}
)";

constexpr std::string_view kReplace = R"(
// A thread for each column of the last update of each element makes it.
extern "C" __global__ void scatter_combine($P) {
$W
  const $U threads = ($U)gridDim.x * blockDim.x;
  for ($U i = ($U)blockIdx.x * blockDim.x + threadIdx.x; i < $M; i += threads) {
    const $U at = i / $C, column = i % $C, element = sorted.x0[at];
    if (element == ~($U)0 || (at + 1 != $N && sorted.x0[at + 1] == element)) continue;
    y[element + ToOf(column)] = updates[SourceOf(sorted.x1[at]) + FromOf(column)];
  }
}
)";

constexpr std::string_view kAdd = R"(
// A thread for each column of each update.
extern "C" __global__ void scatter_add($P) {
  const $U threads = ($U)gridDim.x * blockDim.x;
  for ($U i = ($U)blockIdx.x * blockDim.x + threadIdx.x; i < $M; i += threads) {
    const $U e = i / $C, column = i % $C, element = ($U)TargetOf(indices, e);
    if (element == ~($U)0) continue;
    const $T u = updates[SourceOf(e) + FromOf(column)];
    atomicAdd(y + (element + ToOf(column)), $V);
  }
}
)";

class Printer {
 public:
  Printer(const Scatter& scatter, ScatterWay way)
      : s_(scatter),
        in_order_(way != ScatterWay::kAtomics),
        unsigned_(s_.IsShort() ? "u32" : "u64"),
        signed_(s_.IsShort() ? "i32" : "i64") {}

  std::string Print() {
    std::string functions =
        TargetFunction() + Function("SourceOf", "the updates where update `e` begins", Updates(), &Scatter::Dim::from);
    functions += Function("ToOf", "the operand from column 0 to column `e`", s_.columns, &Scatter::Dim::to);
    functions += Function("FromOf", "the updates from column 0 to column `e`", s_.columns, &Scatter::Dim::from);
    if (in_order_) functions += PrintLineSort(s_.sort, Frame(), device_);
    functions += Filled(kBegin, in_order_ ? Filled(kKeys) : "");
    if (!in_order_) {
      functions += Filled(kAdd);
    } else if (s_.combiner == 0) {
      functions += Filled(kReplace);
    } else {
      functions += Filled(kEnd) + Filled(kCombine);
    }
    return "// " + s_.name +
           (in_order_ ? ": sorted by element, the updates of each in their order\n"
                      : ": atomic additions, in any order (cuda.scatter=atomics)\n") +
           device_.Text() + functions;
  }

 private:
  static std::string Number(int64_t v) { return std::to_string(v); }

  std::string Filled(std::string_view text, const std::string& begin = {}) {
    const std::string n = Number(s_.n_updates()), all = Number(s_.n_updates() * s_.n_columns());
    const std::string value = NewValue(), parameters = Parameters(), sorted = "  const To sorted = " + Pair(0) + ";",
                      unsorted = "  const To unsorted = " + Unsorted() + ";";
    return Fill(text, {{'T', TypeName(s_.dtype)},
                       {'U', unsigned_},
                       {'P', parameters},
                       {'W', sorted},
                       {'S', unsorted},
                       {'E', Number(s_.n_operand)},
                       {'N', n},
                       {'C', Number(s_.n_columns())},
                       {'L', Number(s_.sort.n)},
                       {'M', all},
                       {'V', value},
                       {'B', begin}});
  }

  // From `v` and `u`; of atomic additions what is added.
  std::string NewValue() {
    std::string u = "u";
    if (s_.negates) u = PrintScalar(device_, RICCI_S_NEG, s_.dtype, s_.dtype, &u, 1);
    if (!in_order_ || s_.combiner == 0) return u;
    const std::string in[] = {"v", u};
    return PrintScalar(device_, codegen::CombinerOf(s_.combiner, s_.dtype), s_.dtype, s_.dtype, in, 2);
  }

  std::string Parameters() const {
    const std::string type(TypeName(s_.dtype));
    return "const " + type + "* x, const " + std::string(TypeName(s_.index_dtype)) + "* indices, const " + type +
           "* updates, " + type + "* y" + (in_order_ ? ", u8* workspace" : "");
  }

  // ---- the sort ----
  // One of the two pairs of arrays in the workspace: elements and numbers of updates.
  std::string Pair(int number) const {
    std::string pair;
    for (size_t i = 0; i < 2; ++i) {
      const uint64_t offset = s_.sort.OffsetOf(i) + static_cast<uint64_t>(number) * s_.sort.OffsetOf(2);
      pair += std::string(i == 0 ? "{" : ", ") + "(" + unsigned_ + "*)(workspace + " + std::to_string(offset) + ")";
    }
    return pair + "}";
  }
  // The sort begins with what its first launch does not write.
  std::string Unsorted() const { return Pair(s_.sort.merges % 2 == 0 ? 1 : 0); }
  LineSortFrame Frame() const {
    return {Parameters(), "  const From operands = " + Unsorted() + ";",
            "  const To results = " + Pair(0) + ", other = " + Pair(1) + ";"};
  }

  // ---- offsets ----
  std::vector<Scatter::Dim> Updates() const {
    std::vector<Scatter::Dim> dims = s_.lines;
    dims.insert(dims.end(), s_.points.begin(), s_.points.end());
    dims.insert(dims.end(), s_.moves.begin(), s_.moves.end());
    return dims;
  }
  // The sum of the coordinates that number `e` has in `dims`, each times its step.
  std::string Linear(const std::vector<Scatter::Dim>& dims, int64_t Scatter::Dim::*step) const {
    int64_t inner = Scatter::ExtentOf(dims);
    const int64_t all = inner;
    std::string sum;
    for (const Scatter::Dim& dim : dims) {
      inner /= dim.extent;
      if (dim.extent == 1 || dim.*step == 0) continue;
      std::string coordinate = inner == 1 ? "e" : "e / " + Number(inner);
      if (inner * dim.extent != all) coordinate += " % " + Number(dim.extent);
      const bool is_plain = inner == 1 && inner * dim.extent == all;
      if (dim.*step != 1) coordinate = (is_plain ? "e" : "(" + coordinate + ")") + " * " + Number(dim.*step);
      sum += (sum.empty() ? "" : " + ") + coordinate;
    }
    return sum.empty() ? "0" : sum;
  }
  std::string Function(const char* name, const char* what, const std::vector<Scatter::Dim>& dims,
                       int64_t Scatter::Dim::*step) const {
    return "\n// In " + std::string(what) + ".\nstatic __device__ " + unsigned_ + " " + name + "(" + unsigned_ +
           " e) { return " + Linear(dims, step) + "; }\n";
  }

  // An index as i64; what no i64 holds is out of every range.
  std::string Wide(const std::string& index) const {
    if (s_.index_dtype != RICCI_U64) return index;
    return index + " > 9223372036854775807ull ? 9223372036854775807ll : (i64)" + index;
  }

  std::string TargetFunction() const {
    std::string body;
    if (!s_.starts.empty()) {
      body += "  const " + std::string(TypeName(s_.index_dtype)) + "* const position = indices + (" +
              Linear(Updates(), &Scatter::Dim::index) + ");\n";
    }
    body += "  " + signed_ + " to = (" + signed_ + ")(" + Linear(Updates(), &Scatter::Dim::to) + ");\n";
    for (size_t j = 0; j < s_.starts.size(); ++j) {
      const std::string at = "at" + Number(static_cast<int64_t>(j)), last = Number(s_.starts[j].last);
      body += "  const i64 " + at + " = " + Wide("position[" + Number(static_cast<int64_t>(j)) + "]") + ";\n";
      if (!s_.clips) body += "  if (" + at + " < 0 || " + at + " > " + last + ") return -1;\n";
      const std::string start =
          s_.clips ? "(" + at + " < 0 ? 0 : " + at + " > " + last + " ? " + last + " : " + at + ")" : at;
      body += "  to += (" + signed_ + ")" + start + " * " + Number(s_.starts[j].to) + ";\n";
    }
    return "\n// The number in column 0 that update `e` is for; -1: it is dropped.\nstatic __device__ " + signed_ +
           " TargetOf(const " + std::string(TypeName(s_.index_dtype)) + "* indices, " + unsigned_ + " e) {\n" + body +
           "  return to;\n}\n";
  }

  const Scatter& s_;
  const bool in_order_;
  const std::string unsigned_, signed_;
  DeviceText device_;
};

}  // namespace

std::string PrintScatter(const Scatter& scatter, ScatterWay way) { return Printer(scatter, way).Print(); }

}  // namespace ricci::cuda
