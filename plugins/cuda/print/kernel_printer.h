// KernelPrinter: writes the text of one kernel (kernel_text.h). Private to the files that write its parts.
#ifndef RICCI_CUDA_KERNEL_PRINTER_H_
#define RICCI_CUDA_KERNEL_PRINTER_H_
#include <string>
#include <utility>

#include "codegen/analysis.h"
#include "cuda/device/types.h"
#include "cuda/print/kernel_text.h"
#include "cuda/schedule/index_ranges.h"
#include "cuda/schedule/phases.h"
#include "cuda/schedule/runs.h"
#include "cuda/schedule/team.h"
#include "cuda/tile/joined_loops.h"
#include "cuda/tile/pair_tile.h"
#include "cuda/tile/product_tile.h"
#include "cuda/tile/shared_divisors.h"
#include "cuda/tile/tile_layout.h"
#include "cuda/tile/transpose_tile.h"
#include "cuda/tile/vector.h"

namespace ricci::cuda {

Launch LaunchOf(const ricci_kernel_table& k, const codegen::Blocks& blocks, const Team& team, int64_t vector);
class KernelPrinter {
 public:
  // `flat_reasons`: why the table has other reductions than the kernel as it was lowered (flat_kernel.h).
  KernelPrinter(const ricci_kernel_table& k, const std::vector<std::string>& flat_reasons, const TextTarget& target,
                const std::vector<uint8_t>& in_arena, const LineOf& line_of, DeviceText& device);

  bool Print(const std::string& name);
  const std::string& text() const { return text_; }
  const std::string& error() const { return error_; }
  const Launch& launch() const { return launch_; }

 private:
  const ricci_inst& At(uint32_t i) const { return k_.insts[i]; }
  // What stands for the value in the text: a constant, a coordinate, or its variable.
  std::string V(uint32_t i) const;
  bool IsCoordinate(uint32_t i) const;
  std::string CoordinateName(uint32_t d) const { return k_.domain_rank == 1 ? "p" : "d" + std::to_string(d); }
  // Indices that fit into 32 bits are i32.
  uint32_t DTypeOf(uint32_t i) const { return ranges_.IsShort(i) ? uint32_t{RICCI_I32} : At(i).dtype; }
  std::string Type(uint32_t i) const { return std::string(TypeName(DTypeOf(i))); }
  std::string Variable(uint32_t i) const;
  static std::string Sum(const std::string& a, const std::string& b) { return a == "0" ? b : a + " + " + b; }
  bool Fail(const std::string& what);

  // ---- kernel_lines.cc ----
  void Line(const std::string& text);
  void Open(const std::string& text);
  void Close();
  void Else();
  void Let(uint32_t i, const std::string& expression);
  // What was decided, in the text and for who asks (Launch); Note: only for who asks.
  void Decide(const std::string& what);
  void Note(const std::string& what);
  // What `write` writes, as a part of a text that begins each line so deep.
  std::string Within(size_t depth, const std::function<void()>& write);

  // ---- kernel_text.cc ----
  void Function(const std::string& name);
  void ForBothAlignments(const std::string& name, const std::string& aligned, const std::function<void()>& write);
  std::string Parameters() const;
  void SourceLine(uint32_t i);
  std::string Summary() const;
  void Signature(const std::string& name);
  void AssignLocalOffsets();
  void PrivateArray(uint32_t i);
  bool IsInMemory(uint32_t array) const;
  std::string ElementOf(uint32_t array, uint32_t index) const;
  void Points();
  // The type of a point's number, and of its coordinates.
  std::string PointType() const { return launch_.points * launch_.team < IndexRanges::kShort ? "i32" : "i64"; }
  std::string Coordinate(uint32_t dimension, const std::string& point) const;
  void Coordinates();
  std::string DomainValue(uint32_t dimension) const;
  // Teams that are columns of a block: not all of the last 32 points need be there.
  bool IsCut() const { return team_.columns && launch_.points % kWarp != 0; }
  void ColumnsOfPoints(const std::string& type);
  void PointOfColumns(const std::string& type);
  void Groups(const std::string& type, const std::string& thread, const std::string& threads);
  // ---- vector_text.cc ----
  void GroupedPoints(const std::string& type, const std::string& thread, const std::string& threads);
  void GroupedTrips(uint32_t i);
  void Group(uint32_t loop);  // of its trips; 0: of points
  void BeforeGroup(uint32_t loop, const std::vector<uint8_t>& needed);
  void EachOfGroup(uint32_t loop, const std::vector<uint8_t>& needed);
  // The number of the first trip of a group; i8 to i64 are types.
  static std::string FirstOfGroup(uint32_t loop);
  std::string AreAligned(const std::vector<uint8_t>& buffers, int64_t bytes) const;
  std::string IsAligned() const;
  std::string VectorType(uint32_t i, int64_t n);
  std::string Address(uint32_t i);
  // `n` elements at once where addresses are `aligned`, else element by element.
  std::string LoadTogether(uint32_t i, int64_t n);
  std::string StoreTogether(uint32_t i, int64_t n, const std::string& value);
  std::string Loaded(uint32_t i);
  std::string Stored(uint32_t i);
  std::string GroupToStore(uint32_t i) const;
  bool IsTogether(uint32_t i) const { return in_group_ && vector_.together[i] != 0; }

  // ---- pairs_text.cc ----
  // Of each in a group that is computed in pairs: written once for both numbers e and e + 1, or once for each.
  bool IsTwice(uint32_t i) const { return in_group_ && vector_.pairs && vector_.each[i] != 0; }
  bool HoldsPairs(uint32_t i) const {
    const bool is_float = At(i).dtype == RICCI_F16 || At(i).dtype == RICCI_BF16;
    return vector_.pairs && vector_.each[i] != 0 && is_float && At(i).op != RICCI_K_CONST && At(i).op != RICCI_K_CHECK;
  }
  bool IsPair(uint32_t i) const { return in_group_ && HoldsPairs(i); }
  bool IsPairAccess(uint32_t i) const;
  // Of a group: `e`, or the one after it.
  std::string NumberOfGroup() const { return half_ == 0 ? "e" : "e + 1"; }
  std::string PairName(uint32_t i) const { return "w" + std::to_string(joined_.Name(i)); }
  std::string PairValue(uint32_t i);
  void ForHalves(const std::function<void()>& write);
  void LetHalf(uint32_t i, const std::string& expression);
  void LetPair(uint32_t i, const std::string& expression);
  std::string PairExpression(uint32_t i);
  void BothOfPair(uint32_t i);

  // ---- f8_text.cc ----
  // Floats of 8 bits that are read in vectors are widened two at a time.
  bool IsOfF8Vector(uint32_t load) const;
  bool IsWidenedF8(uint32_t i) const { return At(i).op == RICCI_S_CONVERT && IsOfF8Vector(At(i).a); }
  // Nothing but widening reads it: an element needs no variable.
  bool IsOnlyWidened(uint32_t load) const;
  std::string F8Pair(uint32_t load) const;
  std::string Converted(uint32_t v, uint32_t to);
  std::string WidenedPair(uint32_t load, uint32_t to);

  // ---- runs_text.cc ----
  // Each point is one thread's, alone and in any order.
  bool IsStraight() const;
  void PointsWithRuns(const std::string& type, const std::string& thread, const std::string& threads);
  void PointsByInverses(const std::string& type, const std::string& thread, const std::string& threads);
  void Quotient(uint32_t i);
  std::string AddressOfRun(uint32_t i);
  void LoadOfRun(uint32_t i);
  void StoreOfRun(uint32_t i);

  // ---- kept_rows_text.cc ----
  bool IsWrittenOut(uint32_t loop) const { return rows_.IsUsed() && rows_.loops[loop] != 0; }
  int64_t TripsAtOnce(uint32_t loop) const { return IsGrouped(loop) ? vector_.size : 1; }
  int64_t GroupsOfThread(uint32_t loop) const;
  bool IsCutRow(uint32_t loop) const;
  void RowFunction(const std::string& name);
  // A loop that divides by inverses, and stores when all quotients are known to be right.
  bool IsByInverses(uint32_t loop) const { return divisors_.loop != 0 && divisors_.loop == loop; }
  bool IsStoredLater(uint32_t store) const { return divisors_.loop != 0 && blocks_.parent[store] == divisors_.loop; }
  void RowFunctionByInverses(const std::string& name);
  void OpenWrittenOut(uint32_t i);
  void BeginInverses(uint32_t loop);
  void StoreExact(uint32_t loop);
  void WrittenOutLoop(uint32_t i);
  void CloseBlock(uint32_t end);
  std::string KeptElement(uint32_t i, uint32_t kept) const;

  // ---- phases_text.cc ----
  // A reduction, of which the launch that is not of parts has no trips.
  bool IsInParts(uint32_t i) const { return phases_.parts != 0 && !phases_.of_scans && phases_.trips[i] != 0; }
  // The launch that is being written runs a part of the loop's trips.
  bool IsCutHere(uint32_t i) const {
    return phases_.parts != 0 && phases_.trips[i] != 0 && (in_parts_ || phases_.of_scans);
  }
  void PointsInParts(const std::string& type);
  // The first and the last trip (exclusive) of the part of a loop that is being written, or of all of it.
  std::pair<std::string, std::string> BoundsOf(uint32_t loop);
  std::string PartsOf(uint32_t i, uint32_t dtype, const std::string& number);
  std::string PartsOfReduction(uint32_t reduce, const std::string& number);
  void StorePart(uint32_t reduce);
  void CombineParts(uint32_t reduce);
  void StoreTotals(uint32_t scan);
  void PartsBefore(uint32_t scan);

  // ---- tile_text.cc ----
  void Tiles(const std::string& name);
  void LaunchTiles();
  void TilesWhereAligned(const std::string& name, bool aligned);
  void TilesOfBlocks();
  // The GPU copies by itself, in the function that is being written.
  bool HasBoxes() const { return tile_->has_forms && is_aligned_; }
  void BeginOfTile(const std::string& number, int64_t height, const std::string& of_block = "");
  void TileMemory();
  std::vector<uint8_t> BuffersTogether(const VectorAccess& access) const;
  Alignment AlignmentOfTiles() const;
  bool Wants(const std::vector<uint8_t>& marks, uint16_t op, Side side) const;
  void CoordinatesAlong(const std::vector<uint32_t>& dims, const std::string& number,
                        const std::vector<uint8_t>* marks);
  void CoordinatesOf(Side side, const std::string& number, const std::vector<uint8_t>* marks);
  int64_t BytesOfTile() const;
  void Multiply(const TileProduct& p);
  void BeginOfOperands(const TileProduct& p);
  int64_t StepsOfPart(const TileProduct& p) const;
  void BoundsOfSteps(const TileProduct& p);
  void BeginSteps(const TileProduct& p);

  // ---- tile_operands.cc ----
  static std::string KeptName(Side side);  // of the operand in shared memory
  TileLayout LayoutOf(const TileProduct& p, Side side) const;
  int64_t BytesOfOperand(const TileProduct& p, Side side) const;  // of one step
  int64_t BytesOfStep(const TileProduct& p) const;
  std::string SlotOf(const TileProduct& p, Side side, const std::string& slot) const;
  std::string IsInside(const TileProduct& p) const;
  int64_t AccessesOfThread(const TileProduct& p, Side side) const;
  void BeginAccesses(const TileProduct& p, Side side);
  void CoordinatesOfAccess(const TileProduct& p, Side side, const std::vector<uint8_t>& marks, bool of_element);
  void DeclareLoaded(const TileProduct& p, Side side);
  void LoadOperand(const TileProduct& p, Side side);
  void CopyOperand(const TileProduct& p, Side side);
  std::string Factor(const TileProduct& p, Side side, int64_t at_once = 1);
  bool IsKeptInPairs(const TileOperand& o) const;
  void KeepOperand(const TileProduct& p, Side side);

  // ---- tile_turned.cc ----
  static int64_t TripsOfBlock(const TileProduct& p, Side side);
  int64_t BlocksOfThread(const TileProduct& p, Side side) const;
  void BeginTurned(const TileProduct& p, Side side, bool of_access);
  void KeepTurned(const TileProduct& p, Side side);

  // ---- tile_sums.cc ----
  std::string SumName(const TileProduct& p) const { return "sums" + std::to_string(p.first); }
  std::string SumType(const TileProduct& p) const { return std::string(TypeName(At(p.last).dtype)); }
  int64_t AtOnce(const TileProduct& p, Side side) const;
  void DeclareSums();
  void AddProducts(const TileProduct& p);
  void ReadFactors(const TileProduct& p, Side side);
  void Results();
  void StoreSums(const TileProduct& p);
  void BeginPointsOfPass(int64_t n);
  void PointsOfPass();
  void PointsOfSums();
  void PointsOfAccess();
  int64_t RowsOfPart() const;
  int64_t RowsOfPass() const;
  int64_t LengthOfResults() const;
  int64_t BeginOfResults(size_t product) const;  // in bytes, for each product; of their number: the end

  // ---- tile_parts.cc ----
  bool IsCutIntoParts() const { return tile_->IsUsed() && tile_->size.cuts > 1; }
  std::string PartOfTile(const TileProduct& p) const;
  void PartsOfPass();
  void CombineTiles(const std::string& name);
  void AddParts(const TileProduct& p);

  // ---- tile_tensor.cc ----
  int64_t PartOf(Side side) const;  // rows (columns) of a warp
  int64_t BlocksOfPass() const;     // of 16 rows of a warp
  void DeclareTensorSums();
  void AddTensorProducts(const TileProduct& p);
  void LoadFragments(const TileProduct& p, Side side);
  void StoreTensorSums(const TileProduct& p);

  // ---- transpose_text.cc ----
  bool IsBrought(uint32_t i) const { return transposed_.IsUsed() && transposed_.is_brought[i] != 0; }
  bool IsForPoints(uint32_t i) const { return !transposed_.IsUsed() || transposed_.for_points[i] != 0; }
  uint32_t OtherOfPair(uint32_t access) const;
  void TransposeTiles(const std::string& name);
  std::string AreBroughtAligned() const;
  void BeginOfTransposeTile();
  void TransposeMemory();
  std::string Brought(uint32_t load, const std::string& row) const;
  void BeginPointsOfTile(int64_t n, int64_t lanes, bool along_rows);
  void CoordinatesOfTile(const std::vector<uint8_t>& marks);
  void Bring(const BroughtLoad& b);
  void BringBy(const BroughtLoad& b, int64_t n);
  void BringTogether(const BroughtLoad& b);
  void PointsOfTransposeTile(int64_t n);
  void LoadPair(uint32_t load);
  void StorePair(uint32_t store);

  // ---- tile_warpgroups.cc ----
  bool IsByWarpgroups() const { return tile_->kind == TileKind::kWarpgroups; }
  int64_t ColumnsOfWarpgroup() const { return PartOf(Side::kColumns); }
  void DeclareWarpgroupSums();
  std::string MatrixOf(const TileProduct& p, Side side, const std::string& slot);
  std::string MatrixAt(const TileProduct& p, Side side) const;
  void IssueWarpgroupProducts(const TileProduct& p, const std::string& slot);
  void AddWarpgroupProducts(const TileProduct& p);
  void StoreWarpgroupSums(const TileProduct& p);

  // ---- tile_bulk.cc ----
  TensorMap MapOf(const TileProduct& p, Side side) const;
  size_t NumberOfMap(const TileProduct& p, Side side) const;
  void MakeMaps();
  std::string MapParameters(const std::vector<TensorMap>& maps) const;
  int64_t MostSteps() const;     // of a product, or of a part of it
  int64_t SlotsOfSteps() const;  // in shared memory
  bool AreRefilled() const;
  int64_t BytesOfBarriers() const;
  std::string BulkWayOf(const TileProduct& p, Side side) const;
  std::string CoordinateOf(const TensorForm::Dimension& d, const std::string& number) const;
  void BeginBarriers();
  void CopyBoxes(const TileProduct& p, Side side);
  void FillStep(const TileProduct& p, const std::string& first);
  void MultiplyStep(const TileProduct& p, const std::string& first);
  void MultiplyOneStep(const TileProduct& p);
  void MultiplySteps(const TileProduct& p);
  void MultiplyBoxes(const TileProduct& p);

  // ---- pairs_of_blocks_text.cc ----
  void LaunchPairs();
  TensorMap MapOfPair(Side side) const;
  void BeginOfPair();
  void CopyHalf(Side side);
  // Of the tile that is being written, if it is by pairs of blocks whose results the GPU stores; else null.
  const ResultForm* Piece() const {
    return tile_ == &pair_tile_.tile && pair_tile_.result.IsUsed() ? &pair_tile_.result : nullptr;
  }
  friend class PairResults;  // pair_results_text.cc
  void Pairs(const std::string& name);
  std::string TextOfPairs(const std::string& name);

  // ---- kernel_body.cc, reduce_text.cc ----
  void Update(uint32_t i);
  uint32_t SumOfTile(uint32_t reduce);
  void Body(uint32_t first, uint32_t last);
  void Instruction(uint32_t i);
  void Compute(uint32_t i);
  void Scalar(uint32_t i);
  bool IsPlainQuotient(const ricci_inst& q) const;
  std::string IndexArithmetic(uint32_t i) const;
  std::string MultipliedAndAdded(uint32_t product, const std::string& sum);
  std::string Combined(uint32_t combiner, uint32_t dtype, const std::string& a, const std::string& b);
  std::string Identity(uint32_t combiner, uint32_t dtype);
  static constexpr int64_t kUnrolledTrips = 16;
  bool IsUnrolled(uint32_t loop) const;
  void UnrolledLoop(uint32_t i);
  std::string LaneOf(uint32_t loop) const;
  // The loop whose sum a loop adds to: that over its rows, or itself.
  uint32_t HolderOf(uint32_t loop) const { return team_.OverRows(loop) != 0 ? team_.OverRows(loop) : loop; }
  bool IsOverRows(uint32_t loop) const;
  void LoopOverRows(uint32_t i);
  void Loop(uint32_t i);
  bool HasGroupedTrips() const;  // in the launch that is being written
  bool IsGrouped(uint32_t loop) const { return vector_.size > 1 && vector_.loops[loop] != 0; }
  void Accumulate(uint32_t yield);
  bool MayBeOverOperand(uint32_t store) const;
  std::string StoreGuard(uint32_t store) const;
  void AcrossTeam(uint32_t combiner, uint32_t dtype, const std::string& value);
  void Reduce(uint32_t i);
  void Yield(uint32_t i);
  void End(uint32_t i);

  // ---- scan_text.cc ----
  bool IsScanOfTeam(uint32_t i) const { return At(i).op == RICCI_K_SCAN && team_.shared[i] != 0; }
  // Its last trips are fewer than the team.
  bool IsCutScan(uint32_t i) const { return IsScanOfTeam(i) && *codegen::TripsOf(k_, i) % team_.size != 0; }
  bool IsInCutScan(uint32_t i) const;
  void Scan(uint32_t i);
  void TripsOfScan(uint32_t i);
  using Names = std::vector<std::string>;
  Names NamesOf(const std::string& begin, uint32_t prefix) const;
  void Combine(uint32_t scan, const Names& left, const Names& right, const Names& to);
  void Prefixes(uint32_t i);
  void OwnPrefixes(uint32_t i);
  void PrefixesOfTeam(uint32_t i);
  void TotalOfTeam(uint32_t i, bool with_prefixes);
  void UpToLane(uint32_t i, bool with_prefixes);
  void UpToWarp(uint32_t i, bool with_prefixes);

  const ricci_kernel_table& k_;
  const std::vector<std::string>& flat_reasons_;
  const std::vector<uint8_t>& in_arena_;
  const LineOf& line_of_;
  DeviceText& device_;
  const codegen::Blocks blocks_;
  const IndexRanges ranges_;
  const Tile tile_of_target_;
  const PairTile pair_tile_;
  const Tile* tile_ = &tile_of_target_;  // that is being written
  const TransposeTile transposed_;
  const Shares shares_;
  const Team& team_ = shares_.team;
  const Vector& vector_ = shares_.vector;
  const std::vector<uint8_t> taken_in_ = ProductsTakenIn(k_);  // without a name of their own
  const KeptRows& rows_ = shares_.team.rows;
  const Phases phases_;
  Launch launch_;
  const Runs runs_;
  const SharedDivisors divisors_;
  const JoinedLoops joined_;
  std::vector<uint64_t> local_offset_;  // by instruction: of a LOCAL in memory, its offset there; empty: there are none
  std::string text_, error_;
  std::string source_line_;  // that the text has said last
  size_t depth_ = 0;
  bool in_parts_ = false;    // the launch that reduces parts is being written
  bool is_aligned_ = false;  // the function for aligned addresses is, of those with tiles
  bool is_again_ = false;    // what was written before is, for other addresses
  bool in_runs_ = false;     // runs are accessed at once
  bool in_group_ = false;    // at number e of a group of vector_
  int half_ = 0;             // of a pair that is being written
  std::string first_half_;
  // By instruction: the vector that number `e` of a tile's access is read from; empty: none.
  std::vector<std::string> access_vectors_ = std::vector<std::string>(k_.n_insts);
};

}  // namespace ricci::cuda
#endif
