#include "cuda/tile/transpose_tile.h"

#include <algorithm>
#include <cstdlib>
#include <optional>
#include <set>
#include <utility>

#include "cuda/device/types.h"
#include "cuda/schedule/index_forms.h"
#include "cuda/schedule/neighbours.h"
#include "cuda/schedule/vector_access.h"
#include "cuda/tile/tile_size.h"

namespace ricci::cuda {
namespace {

constexpr int64_t kLeastPoints = 1 << 12;
constexpr int64_t kLeastOfSide = 8;          // elements of 4 bytes that fill a sector
constexpr int64_t kLeastApart = 8;           // elements between neighbours that are worth a tile
constexpr int64_t kMostApart = 2;            // parts of a complex number are next to each other
constexpr int64_t kSmall = 32, kLarge = 64;  // rows and columns of a tile
constexpr int64_t kManyTiles = 256;          // that fill a large GPU
constexpr int64_t kBytesOfLarge = kSharedBytes / 2;
constexpr int64_t kLineBytes = 128;  // of memory that a warp reads at once, and of all banks

class Finder {
 public:
  Finder(const ricci_kernel_table& k, const codegen::Blocks& blocks, const IndexRanges& ranges)
      : k_(k), blocks_(blocks), ranges_(ranges), forms_(k) {}

  TransposeTile Find() {
    if (k_.domain_rank < 2 || codegen::PointsOf(k_) == 0 || !IsPlain() || !FindColumns() || !FindRows()) return {};
    if (codegen::PointsOf(k_) < kLeastPoints) return Without("points are few");
    Extend(tile_.columns, stores_);
    Extend(tile_.rows, brought_);
    if (tile_.columns.extent < kLeastOfSide) return Without("rows of results are short");
    if (tile_.rows.extent < kLeastOfSide) return Without("the dimension read in order is short");
    FindBatch();
    ChooseSize();
    TakeLoads();
    PairAccesses();
    FindForPoints();
    Explain();
    return std::move(tile_);
  }

 private:
  const ricci_inst& At(uint32_t i) const { return k_.insts[i]; }
  uint32_t BufferNumber(uint32_t access) const { return static_cast<uint32_t>(RICCI_BUFFER_OF(At(access).imm)); }
  const ricci_kernel_buffer& BufferOf(uint32_t access) const { return k_.buffers[BufferNumber(access)]; }
  int64_t BytesOf(uint32_t load) const { return codegen::SizeOfDType(At(load).dtype); }
  const IndexForm& IndexOf(uint32_t access) const { return forms_.Of(At(access).a); }

  TransposeTile Without(const std::string& why) const {
    return {.reason = "no tiles, though b" + std::to_string(BufferNumber(brought_[0])) +
                      " is read along another dimension: " + why};
  }

  // Points do without loops, private arrays and updates of the same elements.
  bool IsPlain() const {
    for (uint32_t i = 1; i < k_.n_insts; ++i) {
      const uint16_t op = At(i).op;
      const bool is_plain = codegen::IsScalar(op) || op == RICCI_K_CONST || op == RICCI_K_DOMAIN ||
                            op == RICCI_K_LOAD || op == RICCI_K_STORE || op == RICCI_K_ASSUME_LESS ||
                            op == RICCI_K_NOP || op == RICCI_K_IF || op == RICCI_K_ELSE || op == RICCI_K_END ||
                            op == RICCI_K_CHECK;
      if (!is_plain) return false;
    }
    return true;
  }

  // The dimension in which an access goes from an element to the next one, or to the one after that; nothing if there
  // is none.
  std::optional<uint32_t> NearestOf(uint32_t access) const {
    const IndexForm& form = IndexOf(access);
    std::optional<uint32_t> nearest;
    for (uint32_t d = 0; !form.empty() && d < k_.domain_rank; ++d) {
      if (k_.domain[d] == 1 || form[d] == 0 || form[d] < -kMostApart || form[d] > kMostApart) continue;
      if (!nearest || std::abs(form[d]) <= std::abs(form[*nearest])) nearest = d;
    }
    return nearest;
  }
  // The dimension that most of these accesses go along, of equals the last one; the others are dropped.
  std::optional<uint32_t> TakeMost(std::vector<uint32_t>& accesses) const {
    std::vector<size_t> counts(k_.domain_rank);
    for (const uint32_t i : accesses) ++counts[*NearestOf(i)];
    const auto most = std::max_element(counts.rbegin(), counts.rend());
    if (*most == 0) return {};
    const auto dimension = static_cast<uint32_t>(counts.rend() - most - 1);
    std::erase_if(accesses, [&](uint32_t i) { return NearestOf(i) != dimension; });
    return dimension;
  }

  bool FindColumns() {
    for (uint32_t i = 1; i < k_.n_insts; ++i) {
      if (At(i).op == RICCI_K_STORE && NearestOf(i)) stores_.push_back(i);
    }
    const std::optional<uint32_t> d = TakeMost(stores_);
    if (d) tile_.columns = {{*d}, k_.domain[*d]};
    return d.has_value();
  }
  // Loads that all points make, of buffers that the kernel does not write.
  bool FindRows() {
    std::vector<uint8_t> stored(k_.n_buffers);
    for (uint32_t i = 1; i < k_.n_insts; ++i) {
      if (At(i).op == RICCI_K_STORE) stored[BufferNumber(i)] = 1;
    }
    for (uint32_t i = 1; i < k_.n_insts; ++i) {
      if (At(i).op != RICCI_K_LOAD || blocks_.parent[i] != 0 || stored[BufferNumber(i)] != 0) continue;
      if (LiesAcross(i)) brought_.push_back(i);
    }
    const std::optional<uint32_t> d = TakeMost(brought_);
    if (d) tile_.rows = {{*d}, k_.domain[*d]};
    return d.has_value();
  }
  bool LiesAcross(uint32_t load) const {
    const std::optional<uint32_t> nearest = NearestOf(load);
    const uint32_t column = tile_.columns.dims[0];
    if (!nearest || *nearest == column) return false;
    const int64_t apart = IndexOf(load)[column];
    return apart <= -kLeastApart || apart >= kLeastApart;
  }

  // With dimensions in which all these accesses go on where the side ends, while it is shorter than a tile.
  void Extend(TransposeSide& side, const std::vector<uint32_t>& accesses) const {
    const auto goes_on = [&](uint32_t d) {
      return std::all_of(accesses.begin(), accesses.end(), [&](uint32_t i) {
        int64_t next;
        return !__builtin_mul_overflow(IndexOf(i)[side.dims.back()], side.extent, &next) && IndexOf(i)[d] == next;
      });
    };
    for (uint32_t d = k_.domain_rank; d-- > 0 && side.extent < kLarge;) {
      if (k_.domain[d] == 1 || IsTaken(d) || !goes_on(d)) continue;
      side.dims.insert(side.dims.begin(), d);
      side.extent *= k_.domain[d];
      d = k_.domain_rank;  // from the beginning
    }
  }
  bool IsTaken(uint32_t d) const {
    const auto has = [d](const TransposeSide& side) {
      return std::find(side.dims.begin(), side.dims.end(), d) != side.dims.end();
    };
    return has(tile_.columns) || has(tile_.rows);
  }
  void FindBatch() {
    for (uint32_t d = 0; d < k_.domain_rank; ++d) {
      if (IsTaken(d)) continue;
      tile_.batch.dims.push_back(d);
      tile_.batch.extent *= k_.domain[d];
    }
  }

  // ---- sizes ----
  // Large tiles read longer lines and have more on their way, small ones keep more processors busy. Single bytes need
  // twice as many to fill a line.
  void ChooseSize() {
    SetSize(kLarge);
    if (tile_.tiles() < kManyTiles || SharedBytes() > kBytesOfLarge) SetSize(kSmall);
    while (SharedBytes() > kSharedBytes) {
      brought_.pop_back();
      SetSize(kSmall);
    }
  }
  void SetSize(int64_t n) {
    tile_.widest = sizeof(uint32_t);  // of a bank
    int64_t narrowest = tile_.widest;
    for (const uint32_t i : brought_) {
      tile_.widest = std::max(tile_.widest, BytesOf(i));
      narrowest = std::min(narrowest, BytesOf(i));
    }
    tile_.columns.of_tile = tile_.columns.extent <= kSmall ? kSmall : n;
    tile_.rows.of_tile = tile_.rows.extent <= kSmall ? kSmall : n;
    if (narrowest == 1 && tile_.widest == sizeof(uint32_t) && tile_.rows.extent >= 2 * n) tile_.rows.of_tile = 2 * n;
  }
  int64_t SharedBytes() const {
    int64_t bytes = 0;
    for (const uint32_t i : brought_) bytes += tile_.columns.of_tile * tile_.LengthOf(BytesOf(i)) * BytesOf(i);
    return bytes;
  }

  // ---- loads ----
  void TakeLoads() {
    tile_.is_brought.resize(k_.n_insts);
    std::vector<uint8_t> is_second(k_.n_insts);
    for (const uint32_t i : brought_) is_second[SecondOf(i, brought_)] = 1;
    for (const uint32_t i : brought_) {
      tile_.is_brought[i] = 1;
      if (is_second[i] != 0) continue;
      BroughtLoad b{.load = i, .second = SecondOf(i, brought_)};
      if (b.second == 0) b.at_once = AtOnce(i);
      b.for_index.resize(k_.n_insts);
      MarkIndex(At(i).a, b.for_index);
      const int64_t together = b.second != 0 ? 2 : b.at_once;
      if (together > 1) tile_.bytes = std::max(tile_.bytes, BytesOf(i) * together);
      tile_.loads.push_back(std::move(b));
    }
  }
  // The access to the element after that of `access`, which always begins a pair of elements.
  uint32_t SecondOf(uint32_t access, const std::vector<uint32_t>& among) const {
    IndexForm next = IndexOf(access);
    if (std::any_of(next.begin(), next.end(), [](int64_t factor) { return factor % 2 != 0; })) return 0;
    ++next.back();  // it was even
    for (const uint32_t i : among) {
      if (At(i).imm == At(access).imm && IndexOf(i) == next) return i;
    }
    return 0;
  }
  // Forms are of scalars, so no memory is read.
  void MarkIndex(uint32_t v, std::vector<uint8_t>& marks) const {
    if (v == 0 || marks[v] != 0) return;
    marks[v] = 1;
    if (!codegen::IsScalar(At(v).op)) return;
    for (const uint32_t operand : {At(v).a, At(v).b, At(v).c}) MarkIndex(operand, marks);
  }
  // 8 lanes read a line; fewer would meet in shared memory, as would columns at another distance than `widest` gives.
  int64_t AtOnce(uint32_t load) const {
    const int64_t n = kMostVectorBytes / BytesOf(load);
    const uint32_t d = tile_.rows.dims.back();
    if (tile_.rows.of_tile * BytesOf(load) < kLineBytes || k_.domain[d] % n != 0) return 1;
    if (tile_.widest != std::max<int64_t>(BytesOf(load), sizeof(uint32_t))) return 1;
    return Neighbours(k_, ranges_, d, n).IsInOrder(At(load).a) ? n : 1;
  }

  // ---- points ----
  // Accesses of elements next to each other, which all points make, of buffers that are only loaded or only stored, the
  // latter once for each element: others must stay in their order.
  void PairAccesses() {
    tile_.first_of_pair.resize(k_.n_insts);
    tile_.second_of_pair.resize(k_.n_insts);
    const std::vector<uint8_t> apart = BuffersApart();
    std::vector<uint32_t> stores, loads;
    for (const uint32_t i : stores_) {
      if (apart[BufferNumber(i)] != 0) stores.push_back(i);
    }
    for (uint32_t i = 1; i < k_.n_insts; ++i) {
      const bool is_load = At(i).op == RICCI_K_LOAD && tile_.is_brought[i] == 0 && !IndexOf(i).empty();
      if (is_load && blocks_.parent[i] == 0 && apart[BufferNumber(i)] != 0) loads.push_back(i);
    }
    Pair(stores);
    Pair(loads);
  }
  std::vector<uint8_t> BuffersApart() const {
    std::vector<uint8_t> loaded(k_.n_buffers), again(k_.n_buffers), stored(k_.n_buffers), out(k_.n_buffers);
    std::set<std::pair<uint32_t, uint32_t>> seen;  // that are stored
    for (uint32_t i = 1; i < k_.n_insts; ++i) {
      if (At(i).op == RICCI_K_LOAD) loaded[BufferNumber(i)] = 1;
      if (At(i).op != RICCI_K_STORE) continue;
      stored[BufferNumber(i)] = 1;
      if (!seen.emplace(BufferNumber(i), At(i).a).second || blocks_.parent[i] != 0) again[BufferNumber(i)] = 1;
    }
    for (uint32_t b = 0; b < k_.n_buffers; ++b) out[b] = again[b] == 0 && (loaded[b] == 0 || stored[b] == 0);
    return out;
  }
  void Pair(const std::vector<uint32_t>& among) {
    for (const uint32_t i : among) {
      const uint32_t second = SecondOf(i, among);
      if (second == 0 || (At(i).op == RICCI_K_LOAD && second < i)) continue;
      tile_.second_of_pair[i] = second;
      tile_.first_of_pair[second] = i;
      tile_.bytes = std::max<int64_t>(tile_.bytes, 2 * codegen::SizeOfDType(BufferOf(i).dtype));
    }
  }
  // What has an effect, and what that needs.
  void FindForPoints() {
    tile_.for_points.resize(k_.n_insts);
    for (uint32_t i = k_.n_insts; i-- > 1;) {
      const ricci_inst& q = At(i);
      const bool is_block = q.op == RICCI_K_IF || q.op == RICCI_K_ELSE || q.op == RICCI_K_END;
      if (is_block || codegen::HasEffect(q.op)) tile_.for_points[i] = 1;
      if (tile_.for_points[i] == 0 || tile_.is_brought[i] != 0 || q.op == RICCI_K_ELSE || q.op == RICCI_K_END) continue;
      for (const uint32_t operand : {q.a, q.b, q.c}) {
        const bool is_known = tile_.first_of_pair[i] != 0 && operand == q.a;  // by the index of the first
        if (!is_known) tile_.for_points[operand] = 1;
      }
    }
  }

  void Explain() {
    std::vector<uint8_t> named(k_.n_buffers);
    for (const BroughtLoad& b : tile_.loads) named[BufferNumber(b.load)] = 1;
    tile_.reason = "tiles of " + std::to_string(tile_.rows.of_tile) + " rows along d" +
                   std::to_string(tile_.rows.dims.back()) + " and " + std::to_string(tile_.columns.of_tile) +
                   " columns along d" + std::to_string(tile_.columns.dims.back()) + ": " + BufferNames(named) +
                   " through shared memory, read along the rows where results are written along the columns";
  }

  const ricci_kernel_table& k_;
  const codegen::Blocks& blocks_;
  const IndexRanges& ranges_;
  const IndexForms forms_;
  std::vector<uint32_t> stores_, brought_;  // that go along the columns; along the rows
  TransposeTile tile_;
};

}  // namespace

// Lanes that are served together then access different words: columns are an odd multiple of `widest` bytes apart, and
// below each other are as many rows as neighbouring lanes are columns apart.
int64_t TransposeTile::LanesAlong(int64_t n) const { return kLineBytes / (n * widest); }

bool TransposeTile::MayGroup(uint32_t domain_rank, int64_t n) const {
  return columns.dims.back() + 1 == domain_rank && LanesAlong(n) > 1;
}

TransposeTile TransposeTileOf(const ricci_kernel_table& k, const codegen::Blocks& blocks, const IndexRanges& ranges) {
  return Finder(k, blocks, ranges).Find();
}

}  // namespace ricci::cuda
