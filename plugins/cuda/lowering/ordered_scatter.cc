#include "cuda/lowering/ordered_scatter.h"

#include <algorithm>
#include <array>
#include <optional>
#include <span>
#include <string_view>

#include "cuda/device/types.h"
#include "cuda/driver/gpu.h"
#include "cuda/print/kernel_text.h"
#include "ricci/attr.h"
#include "ricci/exact.h"

namespace ricci::cuda {
namespace {

constexpr int64_t kFewPoints = 256;  // that one thread has updated before a sort has begun
// The result is a copy of the operand, which a kernel need not make: so many numbers are copied, by estimate, in the
// time that a thread takes for an update.
constexpr int64_t kCopiedForAPoint = int64_t{1} << 16;
constexpr int64_t kMostNumbers = int64_t{1} << 40;  // of an array; sums and products of a few such stay exact
constexpr int64_t kMostBlocks = int64_t{1} << 15;   // threads take more numbers each, if there are more

struct RowOf {
  const char* name;
  uint32_t combiner;
  bool negates;
};
constexpr std::array<RowOf, 6> kRows = {{{"scatter", 0, false},
                                         {"scatter-add", RICCI_S_ADD, false},
                                         {"scatter-sub", RICCI_S_ADD, true},
                                         {"scatter-mul", RICCI_S_MUL, false},
                                         {"scatter-min", RICCI_S_MIN, false},
                                         {"scatter-max", RICCI_S_MAX, false}}};
// What a lowering's `self` points to.
struct Lowered {
  RowOf row;
  ScatterWay way;
};
constexpr std::array<Lowered, 3 * kRows.size()> kLowered = [] {
  std::array<Lowered, 3 * kRows.size()> all{};
  for (size_t i = 0; i < kRows.size(); ++i) {
    all[3 * i] = {kRows[i], ScatterWay::kOrdered};
    all[3 * i + 1] = {kRows[i], ScatterWay::kSorted};
    all[3 * i + 2] = {kRows[i], ScatterWay::kAtomics};
  }
  return all;
}();
const Lowered& Of(void* self) { return *static_cast<const Lowered*>(self); }

// ---- the operation ----
using Ints = std::span<const int64_t>;
Ints IntsOf(const ricci_op* op, const char* name) {
  const ricci_attr* a = ricci_op_attr(op, name);
  return a == nullptr ? Ints() : Ints(static_cast<const int64_t*>(a->data), a->count);
}
bool IsClip(const ricci_op* op) {
  const ricci_attr* a = ricci_op_attr(op, "mode");
  return a != nullptr && std::string_view(static_cast<const char*>(a->data), a->count) == "clip";
}
bool Has(Ints dims, int64_t d) { return std::find(dims.begin(), dims.end(), d) != dims.end(); }

struct ArrayOf {
  uint32_t dtype = 0;
  std::vector<int64_t> dims, strides;  // in numbers: parts of complex elements
  int64_t numbers = 0;

  // False if it is too large.
  bool Read(const ricci_op* op, uint32_t operand) {
    ricci_type_desc desc = ricci_type_desc_default();
    if (ricci_status* failed = ricci_type_get(op->ctx, op->in_types[operand], &desc)) {
      ricci_status_free(failed);
      return false;
    }
    dtype = desc.dtype;
    dims.assign(desc.dims, desc.dims + desc.rank);
    strides.resize(dims.size());
    ricci_exact step = ricci_exact_of(IsComplex(dtype) ? 2 : 1);
    for (size_t d = dims.size(); d-- > 0;) {
      if (ricci_exact_narrow(step, 0, kMostNumbers, &strides[d]) == 0) return false;
      step = step * dims[d];
    }
    return ricci_exact_narrow(step, 0, kMostNumbers, &numbers) != 0;
  }
};

class Reader {
 public:
  explicit Reader(const ricci_op* op)
      : window_(IntsOf(op, "update_window_dims")),
        dropped_(IntsOf(op, "inserted_window_dims")),
        starts_(IntsOf(op, "scatter_dims_to_operand_dims")),
        operand_batch_(IntsOf(op, "operand_batching_dims")),
        index_batch_(IntsOf(op, "scatter_indices_batching_dims")) {
    is_read_ = x_.Read(op, 0) && indices_.Read(op, 1) && updates_.Read(op, 2);
    s_.clips = IsClip(op);
  }

  std::optional<Scatter> Read(const RowOf& row, ScatterWay way) {
    if (!is_read_ || x_.numbers == 0) return std::nullopt;
    s_.name = row.name;
    s_.dtype = PartOf(x_.dtype);
    s_.index_dtype = indices_.dtype;
    s_.combiner = row.combiner;
    s_.negates = row.negates;
    s_.n_operand = x_.numbers;
    if (!IsTaken(way)) return std::nullopt;
    ReadPoints();
    ReadWindows();
    if (updates_.numbers == 0 || (way != ScatterWay::kSorted && !Pays()) || !PrepareSort()) return std::nullopt;
    return std::move(s_);
  }

 private:
  // A thread or atomic operations of a kernel do what is not taken: parts of complex numbers that need each other, and
  // integers.
  bool IsTaken(ScatterWay way) const {
    if (IsComplex(x_.dtype) && s_.combiner != 0 && s_.combiner != RICCI_S_ADD) return false;
    if (way == ScatterWay::kAtomics)
      return s_.combiner == RICCI_S_ADD && (s_.dtype == RICCI_F32 || s_.dtype == RICCI_F64);
    return s_.combiner == 0 || AtomicName(s_.combiner, s_.dtype).empty();
  }

  // Dimensions of the index array but the last count windows, as those of the updates do that are not of windows.
  void ReadPoints() {
    std::vector<size_t> counting;
    for (size_t d = 0; d < updates_.dims.size(); ++d) {
      if (!Has(window_, static_cast<int64_t>(d))) counting.push_back(d);
    }
    const auto dim = [&](size_t d) {
      return Scatter::Dim{indices_.dims[d], indices_.strides[d], 0, updates_.strides[counting[d]]};
    };
    for (size_t i = 0; i < index_batch_.size(); ++i) {
      s_.lines.push_back(dim(static_cast<size_t>(index_batch_[i])));
      s_.lines.back().to = x_.strides[static_cast<size_t>(operand_batch_[i])];
    }
    for (size_t d = 0; d + 1 < indices_.dims.size(); ++d) {
      if (!Has(index_batch_, static_cast<int64_t>(d))) s_.points.push_back(dim(d));
    }
  }

  void ReadWindows() {
    std::vector<int64_t> sizes(x_.dims.size(), 1);
    for (size_t d = 0, next = 0; d < x_.dims.size(); ++d) {
      const auto along = static_cast<int64_t>(d);
      if (Has(dropped_, along) || Has(operand_batch_, along)) continue;
      const auto of_updates = static_cast<size_t>(window_[next++]);
      sizes[d] = updates_.dims[of_updates];
      const bool is_moved = Has(starts_, along) && sizes[d] < x_.dims[d];
      (is_moved ? s_.moves : s_.columns).push_back({sizes[d], 0, x_.strides[d], updates_.strides[of_updates]});
    }
    for (const int64_t along : starts_) {
      const auto d = static_cast<size_t>(along);
      s_.starts.push_back({x_.dims[d] - sizes[d], x_.strides[d]});
    }
    if (IsComplex(x_.dtype)) s_.columns.push_back({2, 0, 1, 1});
  }

  bool Pays() const {
    const int64_t points = Scatter::ExtentOf(s_.points);
    return points >= kFewPoints && x_.numbers / kCopiedForAPoint <= points;
  }

  // The products are at most the numbers of the updates.
  bool PrepareSort() {
    LineSort& sort = s_.sort;
    sort.outer = Scatter::ExtentOf(s_.lines);
    sort.n = Scatter::ExtentOf(s_.points) * Scatter::ExtentOf(s_.moves);
    const bool is_short = std::max({x_.numbers, updates_.numbers, indices_.numbers}) < INT32_MAX;
    sort.dtypes.assign(2, is_short ? uint32_t{RICCI_U32} : uint32_t{RICCI_U64});
    sort.keys = 1;
    return CutLines(sort);
  }

  const Ints window_, dropped_, starts_, operand_batch_, index_batch_;
  ArrayOf x_, indices_, updates_;
  bool is_read_ = false;
  Scatter s_;
};

ricci_status* Match(void* self, const ricci_op* op, uint32_t* accept) {
  return Guard([&]() -> ricci_status* {
    *accept = Reader(op).Read(Of(self).row, Of(self).way) ? 1 : 0;
    return nullptr;
  });
}

// ---- the launches ----
int64_t BlocksFor(int64_t numbers) {
  return std::clamp<int64_t>((numbers + Scatter::kThreads - 1) / Scatter::kThreads, 1, kMostBlocks);
}

ricci_status* GiveLaunches(void* self, const ricci_op* op, const ricci_source_args* a) {
  return Guard([&]() -> ricci_status* {
    const ScatterWay way = Of(self).way;
    const Scatter scatter = *Reader(op).Read(Of(self).row, way);
    const std::string text = PrintScatter(scatter, way);
    const bool in_order = way != ScatterWay::kAtomics;
    ricci_source s = ricci_source_default();
    s.text = {text.data(), text.size()};
    s.block[0] = Scatter::kThreads;
    s.workspace_bytes = in_order ? scatter.workspace_bytes() : 0;
    s.entry = ricci_str_of("scatter_begin");
    s.grid[0] = BlocksFor(in_order ? std::max(scatter.n_operand, scatter.n_updates()) : scatter.n_operand);
    if (ricci_status* failed = a->give(a->sink, &s)) return failed;
    if (in_order) {
      if (ricci_status* failed = GiveLineSort(scatter.sort, s, *a)) return failed;
    }
    s.entry = ricci_str_of(in_order ? "scatter_combine" : "scatter_add");
    s.grid[0] = BlocksFor(scatter.n_updates() * scatter.n_columns());
    return a->give(a->sink, &s);
  });
}

ricci_status* AddScatter(ricci_ctx* ctx, const Lowered& lowered) {
  const ricci_str name = ricci_str_of(lowered.row.name);
  ricci_prim row = 0;
  if (ricci_status* none = ricci_prim_find(ctx, name.ptr, name.len, &row)) {
    ricci_status_free(none);
    return nullptr;
  }
  ricci_lowering l{};
  l.hdr.size = sizeof l;
  l.kind = RICCI_LOWER_SOURCE;
  l.priority = lowered.way == ScatterWay::kAtomics ? 20 : 10;
  l.target = ricci_str_of("cuda");
  l.self = const_cast<Lowered*>(&lowered);
  l.match = Match;
  l.source = GiveLaunches;
  return ricci_prim_add_lowering(ctx, row, &l);
}

}  // namespace

int64_t Scatter::ExtentOf(const std::vector<Dim>& dims) {
  int64_t extent = 1;
  for (const Dim& dim : dims) extent *= dim.extent;
  return extent;
}

// What atomic additions do not take is in order.
ricci_status* AddScatters(ricci_ctx* ctx, ScatterWay way) {
  for (const Lowered& lowered : kLowered) {
    const bool is_other = way == ScatterWay::kAtomics && lowered.way == ScatterWay::kOrdered;
    if (lowered.way != way && !is_other) continue;
    if (ricci_status* failed = AddScatter(ctx, lowered)) return failed;
  }
  return nullptr;
}

}  // namespace ricci::cuda
