#include "cuda/tile/product_tile.h"

#include <algorithm>

#include "codegen/dtypes.h"
#include "cuda/device/tensor_format.h"
#include "cuda/tile/tile_forms.h"

namespace ricci::cuda {
namespace {

constexpr uint32_t kMostRank = 32;
constexpr size_t kMostProducts = 4;         // of all sums, which bounds the code
constexpr size_t kMostSums = 2;             // whose sums registers hold at once
constexpr int64_t kLeastCopyBytes = 4;      // that are copied without a register
constexpr int64_t kMostPointsOfAccess = 8;  // whose sums a thread reads at once
constexpr int64_t kBytesOfWarpgroups = 2;   // of the elements that they multiply
// What a value depends on: bit d is dimension d of the domain.
constexpr uint64_t kOnSum = uint64_t{1} << 62;    // on the index of a REDUCE
constexpr uint64_t kOnOther = uint64_t{1} << 63;  // on anything else but memory that the kernel only reads

class Finder {
 public:
  Finder(const ricci_kernel_table& k, const codegen::Blocks& blocks, const IndexRanges& ranges, TileKind kind)
      : k_(k), blocks_(blocks), ranges_(ranges), depends_(k.n_insts), given_(k.n_insts) {
    tile_.kind = kind;
  }

  Tile Find() {
    if (k_.domain_rank < 2 || k_.domain_rank > kMostRank || codegen::PointsOf(k_) == 0 || !MayShare()) return {};
    for (uint32_t i = 1; i < k_.n_insts; ++i) depends_[i] = DependsOn(k_.insts[i]);
    bool plain = true;
    for (uint32_t i = 1; i < k_.n_insts; ++i) {
      if (k_.insts[i].op == RICCI_K_REDUCE) {
        if (blocks_.parent[i] != 0 || !TakeSum(i)) return {};
        i = blocks_.close[i];
      } else if (!IsPlain(k_.insts[i].op)) {
        if (!IsBranch(k_.insts[i].op)) return {};
        plain = false;
      }
    }
    if (tile_.products.empty() || tile_.products.size() > kMostProducts || tile_.sums.size() > kMostSums ||
        !Measure() || !AccessOperands())
      return {};
    if (tile_.on_tensor_cores()) LimitLoaded();
    if (tile_.kind == TileKind::kWarpgroups) FindTensorForms(k_, tile_);
    if (plain) AccessPoints();
    Explain();
    return std::move(tile_);
  }

 private:
  static bool IsPure(uint16_t op) {
    return codegen::IsScalar(op) || op == RICCI_K_CONST || op == RICCI_K_DOMAIN || op == RICCI_K_LOAD ||
           op == RICCI_K_ASSUME_LESS || op == RICCI_K_NOP;
  }
  static bool IsPlain(uint16_t op) { return IsPure(op) || op == RICCI_K_STORE; }
  static bool IsBranch(uint16_t op) {
    return op == RICCI_K_IF || op == RICCI_K_ELSE || op == RICCI_K_END || op == RICCI_K_CHECK;
  }

  // Threads of a block read for each other, so nothing that is written may be read.
  bool MayShare() const {
    std::vector<uint8_t> loaded(k_.n_buffers), stored(k_.n_buffers);
    for (uint32_t i = 1; i < k_.n_insts; ++i) {
      const ricci_inst& q = k_.insts[i];
      if (q.op == RICCI_K_LOAD) loaded[RICCI_BUFFER_OF(q.imm)] = 1;
      if (q.op == RICCI_K_STORE) stored[RICCI_BUFFER_OF(q.imm)] = 1;
    }
    for (uint32_t b = 0; b < k_.n_buffers; ++b) {
      if (loaded[b] != 0 && stored[b] != 0) return false;
    }
    return true;
  }

  uint64_t DependsOn(const ricci_inst& q) const {
    if (q.op == RICCI_K_CONST) return 0;
    if (q.op == RICCI_K_DOMAIN) return uint64_t{1} << q.imm;
    if (q.op == RICCI_K_REDUCE) return kOnSum;
    if (q.op == RICCI_K_LOAD) return depends_[q.a];
    if (!codegen::IsScalar(q.op)) return kOnOther;
    uint64_t all = 0;
    for (const uint32_t operand : {q.a, q.b, q.c}) all |= depends_[operand];
    return all;
  }

  // ---- the sums ----
  bool TakeSum(uint32_t reduce) {
    TileProduct p;
    if (!TakeLoops(p, reduce)) return false;
    p.first = blocks_.close[p.loops.front()];
    p.last = blocks_.close[p.loops.back()];
    const size_t before = tile_.products.size();
    if (!TakeTerms(p, k_.insts[p.last].b)) return false;
    given_[p.first] = 1;
    tile_.sums.push_back(tile_.products[before]);
    return true;
  }
  // A product, or a sum of products that are all of one trip (a short loop that the core has written out): each is
  // added as if it had trips of its own.
  bool TakeTerms(TileProduct& p, uint32_t v) {
    const ricci_inst& q = k_.insts[v];
    if (v < p.loops.back() || tile_.products.size() > kMostProducts) return false;
    if (q.op == RICCI_S_ADD && q.dtype == k_.insts[p.last].dtype) return TakeTerms(p, q.a) && TakeTerms(p, q.b);
    if (q.op == RICCI_S_FMA && !TakeTerms(p, q.c)) return false;
    p.product = v;
    p.contracted = q.op == RICCI_S_FMA || (k_.insts[p.last].imm != 0 && k_.insts[p.last].b == v);
    return TakeProduct(p);
  }
  bool TakeProduct(TileProduct& p) {
    const ricci_inst& q = k_.insts[p.product];
    if ((q.op != RICCI_S_MUL && q.op != RICCI_S_FMA) || q.dtype != k_.insts[p.last].dtype) return false;
    // As threads hold them; the text has indices in 32 bits that are of 64.
    const unsigned bytes = codegen::SizeOfDType(q.dtype);
    if ((bytes != 4 && bytes != 8) || ranges_.IsShort(q.a) || ranges_.IsShort(q.b)) return false;
    if (!tile_.products.empty() && bytes != codegen::SizeOfDType(k_.insts[tile_.products[0].product].dtype)) {
      return false;
    }
    if (!TakeSides(p, q.a, q.b)) return false;
    tile_.products.push_back(p);
    return true;
  }
  // REDUCEs of which each holds nothing but plain values and the next one.
  bool TakeLoops(TileProduct& p, uint32_t reduce) const {
    for (uint32_t loop = reduce; loop != 0;) {
      const std::optional<int64_t> trips = codegen::TripsOf(k_, loop);
      if (static_cast<uint32_t>(k_.insts[loop].imm) != RICCI_S_ADD || !trips || *trips <= 0) return false;
      if (codegen::ConstantOf(k_, k_.insts[loop].a) != 0) return false;
      if (__builtin_mul_overflow(p.trips, *trips, &p.trips) || p.trips >= IndexRanges::kShort) return false;
      p.loops.push_back(loop);
      const std::optional<uint32_t> inner = InnerOf(loop);
      if (!inner) return false;
      loop = *inner;
    }
    return true;
  }
  // The one loop in a loop, which gives what it yields; 0: there is none, nothing: there is something else.
  std::optional<uint32_t> InnerOf(uint32_t loop) const {
    uint32_t inner = 0;
    for (uint32_t i = loop + 1; i < blocks_.close[loop]; ++i) {
      if (k_.insts[i].op == RICCI_K_REDUCE && inner == 0) {
        inner = i;
        i = blocks_.close[i];
        if (k_.insts[blocks_.close[loop]].b != i) return {};
      } else if (!IsPure(k_.insts[i].op)) {
        return {};
      }
    }
    return inner;
  }

  // Which factor belongs to the rows. The last dimension of the domain, along which results are neighbours, is a
  // column.
  bool TakeSides(TileProduct& p, uint32_t a, uint32_t b) {
    const uint64_t on_a = depends_[a] & ~kOnSum, on_b = depends_[b] & ~kOnSum;
    if (((on_a | on_b) & kOnOther) != 0) return false;
    const uint64_t of_a = on_a & ~on_b, of_b = on_b & ~on_a;
    if (of_a == 0 || of_b == 0) return false;
    const bool swap = of_a > of_b;
    p.operands[0].value = swap ? b : a;
    p.operands[1].value = swap ? a : b;
    std::vector<Side> sides(k_.domain_rank, Side::kBatch);
    for (uint32_t d = 0; d < k_.domain_rank; ++d) {
      if (((swap ? of_b : of_a) >> d & 1) != 0) sides[d] = Side::kRows;
      if (((swap ? of_a : of_b) >> d & 1) != 0) sides[d] = Side::kColumns;
    }
    if (!tile_.sides.empty() && tile_.sides != sides) return false;
    tile_.sides = std::move(sides);
    return true;
  }

  // ---- tensor cores ----
  TensorFormat FormatOf(const TileProduct& p) const {
    return TensorFormatOf(k_, p.product, p.operands[0].value, p.operands[1].value);
  }
  // Bytes of an element in all products of the kernel; 0: they are not all for tensor cores, or differ.
  int64_t TensorBytes() const {
    const int64_t bytes = FormatOf(tile_.products[0]).IsUsed() ? FormatOf(tile_.products[0]).bytes() : 0;
    const bool all = std::all_of(tile_.products.begin(), tile_.products.end(), [&](const TileProduct& p) {
      return FormatOf(p).IsUsed() && FormatOf(p).bytes() == bytes;
    });
    return all ? bytes : 0;
  }

  // ---- sizes ----
  bool Measure() {
    const int64_t tensor_bytes = TensorBytes();
    const bool for_tensor_cores = tensor_bytes != 0;
    if (tile_.on_tensor_cores() && !for_tensor_cores) return false;
    if (tile_.kind == TileKind::kWarpgroups && tensor_bytes != kBytesOfWarpgroups) return false;
    for (uint32_t d = 0; d < k_.domain_rank; ++d) {
      int64_t& extent = tile_.extents[static_cast<size_t>(tile_.sides[d])];
      if (__builtin_mul_overflow(extent, k_.domain[d], &extent) || extent >= IndexRanges::kShort) return false;
    }
    ProductShape shape{.rows = tile_.extents[0],
                       .columns = tile_.extents[1],
                       .batch = tile_.extents[2],
                       .trips = 0,
                       .products = static_cast<int64_t>(tile_.sums.size()),
                       .bytes = for_tensor_cores ? tensor_bytes : 4,
                       .on_tensor_cores = for_tensor_cores};
    for (const TileProduct& p : tile_.products) {
      shape.trips += p.trips;
      if (!for_tensor_cores) shape.bytes = codegen::SizeOfDType(k_.insts[p.product].dtype);
    }
    tile_.size = TileSizeOf(shape);
    if (for_tensor_cores && tile_.kind == TileKind::kRegisters) tile_.size = ByRegisters(tile_.size);
    if (tile_.kind == TileKind::kWarpgroups) tile_.size = ByWarpgroups(tile_.size, shape.trips);
    return tile_.size.step != 0 && tile_.tiles() < IndexRanges::kShort;
  }

  // ---- accesses ----
  // The last dimension of a side: its neighbours are neighbours of the side.
  uint32_t LastOf(Side side) const {
    uint32_t last = 0;
    for (uint32_t d = 0; d < k_.domain_rank; ++d) {
      if (tile_.sides[d] == side) last = d;
    }
    return last;
  }
  bool AccessOperands() {
    for (TileProduct& p : tile_.products) {
      const TensorFormat format = tile_.on_tensor_cores() ? FormatOf(p) : TensorFormat{};
      for (const Side side : {Side::kRows, Side::kColumns}) {
        TileOperand& o = p.operands[static_cast<size_t>(side)];
        o.dtype = k_.insts[p.product].dtype;
        if (format.IsUsed()) {
          o.value = format.factors[static_cast<size_t>(side)].value;
          o.dtype = format.factors[static_cast<size_t>(side)].dtype;
        }
        if (!AccessOperand(p, side, o)) return false;
      }
    }
    return true;
  }
  // Elements that are computed, or loaded individually, stay in registers of their thread until they are stored to
  // shared memory, so their number at a time is limited.
  void LimitLoaded() {
    constexpr int64_t kMostLoadedBytes = 64;
    const auto least = [&] { return TripsOfMatrices(tile_.products[0].operands[0].dtype); };
    while (LoadedBytes() > kMostLoadedBytes && tile_.size.step > least()) {
      if (tile_.kind == TileKind::kWarpgroups) {
        tile_.size = ByWarpgroups(tile_.size, tile_.size.step / 2);
      } else {
        tile_.size.step /= 2;
      }
    }
  }
  // Of a thread and one step, at most.
  int64_t LoadedBytes() const {
    int64_t most = 0;
    for (const TileProduct& p : tile_.products) {
      most = std::max(most, LoadedBytesOf(p, Side::kRows) + LoadedBytesOf(p, Side::kColumns));
    }
    return most;
  }
  int64_t LoadedBytesOf(const TileProduct& p, Side side) const {
    constexpr int64_t kRegister = 4;
    const TileOperand& o = p.operands[static_cast<size_t>(side)];
    if (o.is_copy) return 0;
    const int64_t elements = tile_.size.extents[static_cast<size_t>(side)] * tile_.size.step;
    int64_t of_access = 0;
    for (const uint32_t i : o.access.loads) {
      const int64_t bytes = o.is_turned ? kRegister : codegen::SizeOfDType(k_.insts[i].dtype);  // each is rearranged
      of_access += std::max(kRegister, o.access.together[i] != 0 ? o.access.size * bytes : bytes);
    }
    return CeilDiv(CeilDiv(elements, o.access.size), kTileThreads) * of_access;
  }
  // The longest accesses, along the side or along the sum.
  bool AccessOperand(const TileProduct& p, Side side, TileOperand& o) {
    if (!ChooseAccess(p, side, o)) return false;
    const bool in_order = tile_.on_tensor_cores() ? o.along_sum || IsReadEitherWay(o.dtype) : !o.along_sum;
    o.is_turned = tile_.on_tensor_cores() && !in_order && o.access.size == kTurned;
    o.is_copy = in_order && o.dtype == k_.insts[o.value].dtype && o.access.together[o.value] != 0 &&
                o.access.bytes >= kLeastCopyBytes;
    return true;
  }
  bool ChooseAccess(const TileProduct& p, Side side, TileOperand& o) {
    const uint32_t loop = p.loops.back(), last = LastOf(side);
    const int64_t bytes = codegen::SizeOfDType(o.dtype);
    for (int64_t n = kMostVectorBytes / bytes; n > 1; n /= 2) {
      const std::vector<uint32_t> roots{o.value};
      const bool may_be_turned = n <= kTurned || !tile_.on_tensor_cores() || IsReadEitherWay(o.dtype);
      if (may_be_turned && k_.domain[last] % n == 0 && Take(roots, Neighbours(k_, ranges_, last, n), n, o.access))
        return true;
      if (codegen::TripsOf(k_, loop).value_or(0) % n != 0) continue;
      o.along_sum = Take(roots, Neighbours(k_, ranges_, loop, n, /*flat=*/false), n, o.access);
      if (o.along_sum) return true;
    }
    const Neighbours alone(k_, ranges_, loop, 1, /*flat=*/false);
    if (!MakeVectorAccess(k_, std::vector<uint32_t>{o.value}, given_, alone, 1, o.access)) return false;
    // Threads next to each other should read neighbours, which may lie either way.
    o.along_sum = IsInOrder(o.access, loop) && !IsInOrder(o.access, DomainOf(last));
    return true;
  }
  uint32_t DomainOf(uint32_t dimension) const {
    uint32_t i = 1;
    while (k_.insts[i].op != RICCI_K_DOMAIN || k_.insts[i].imm != dimension) ++i;
    return i;
  }
  bool IsInOrder(const VectorAccess& access, uint32_t root) const {
    codegen::Strides strides(k_, root, k_.n_insts, nullptr);
    return std::any_of(access.loads.begin(), access.loads.end(),
                       [&](uint32_t i) { return strides.Of(k_.insts[i].a) == 1; });
  }
  bool Take(const std::vector<uint32_t>& roots, const Neighbours& neighbours, int64_t n, VectorAccess& out) const {
    return MakeVectorAccess(k_, roots, given_, neighbours, n, out) && out.bytes != 0;
  }

  void AccessPoints() {
    std::vector<uint32_t> stores;
    for (uint32_t i = 1; i < k_.n_insts; ++i) {
      if (k_.insts[i].op == RICCI_K_STORE) stores.push_back(i);
    }
    const uint32_t last = k_.domain_rank - 1;
    VectorAccess access;
    for (int64_t n = kMostPointsOfAccess; n >= 1; n /= 2) {
      if (n > 1 && (k_.domain[last] % n != 0 || tile_.sides[last] != Side::kColumns)) continue;
      if (!MakeVectorAccess(k_, stores, given_, Neighbours(k_, ranges_, last, n), n, access)) continue;
      tile_.points = std::move(access);
      return;
    }
  }

  std::string ByWhat() const {
    switch (tile_.kind) {
      case TileKind::kWarps:
        return " on tensor cores" + std::string(NameOfFormat(tile_.products[0].operands[0].dtype));
      case TileKind::kWarpgroups:
        return " on tensor cores of sm_90a";
      default:
        return "";
    }
  }
  void Explain() {
    const auto number = [](int64_t v) { return std::to_string(v); };
    tile_.reason = "tiles of " + number(tile_.size.extents[0]) + " rows and " + number(tile_.size.extents[1]) +
                   " columns for " + number(kTileThreads) + " threads: ";
    for (const TileProduct& p : tile_.products)
      tile_.reason += (&p == &tile_.products[0] ? "" : ", ") + number(p.trips);
    tile_.reason += " products for each of " + number(tile_.extents[0]) + " rows and " + number(tile_.extents[1]) +
                    " columns" + ByWhat() + (tile_.extents[2] == 1 ? "" : ", " + number(tile_.extents[2]) + " times");
  }

  const ricci_kernel_table& k_;
  const codegen::Blocks& blocks_;
  const IndexRanges& ranges_;
  std::vector<uint64_t> depends_;  // by instruction
  std::vector<uint8_t> given_;     // by instruction: a sum
  Tile tile_;
};

}  // namespace

int64_t Tile::TilesOf(Side side) const {
  return CeilDiv(extents[static_cast<size_t>(side)], size.extents[static_cast<size_t>(side)]);
}

Tile TileOf(const ricci_kernel_table& k, const codegen::Blocks& blocks, const IndexRanges& ranges,
            const TextTarget& target) {
  constexpr int kFirstWithTensorCores = 80;  // that have mma.sync of all formats
  const auto of = [&](TileKind kind) { return Finder(k, blocks, ranges, kind).Find(); };
  if (Tile tile = target.has_warpgroups ? of(TileKind::kWarpgroups) : Tile{}; tile.IsUsed()) return tile;
  if (Tile tile = target.architecture >= kFirstWithTensorCores ? of(TileKind::kWarps) : Tile{}; tile.IsUsed()) {
    return tile;
  }
  return of(TileKind::kRegisters);
}

}  // namespace ricci::cuda
