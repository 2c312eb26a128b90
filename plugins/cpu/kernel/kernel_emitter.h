// KernelEmitter: emits one kernel. Its functions are in the files of its parts: the domain and values
// (kernel_codegen.cc), memory (kernel_memory.cc), loops and branches (kernel_blocks.cc), reductions (kernel_reduce.cc),
// scans (kernel_scan.cc), updates (kernel_updates.cc), squares (kernel_squares.cc), regions (kernel_regions.cc).
#ifndef RICCI_CPU_KERNEL_EMITTER_H_
#define RICCI_CPU_KERNEL_EMITTER_H_
#include <algorithm>
#include <functional>
#include <map>

#include "codegen/schedule.h"
#include "cpu/kernel/kernel_codegen.h"
#include "cpu/kernel/kernel_state.h"
#include "cpu/kernel/polls.h"
#include "cpu/run/run_state.h"
#include "cpu/scalar/scalar_codegen.h"

namespace ricci::cpu {

using codegen::Blocks;
using codegen::ConstantOf;
using codegen::CutLoop;
using codegen::Facts;
using codegen::FindVarying;
using codegen::Innermost;
using codegen::KernelSchedule;
using codegen::Piece;
using codegen::ScanParts;
using codegen::SizeOfDType;
using codegen::Spreads;
using codegen::TripsOf;
using codegen::Unrolls;

class KernelEmitter {
 public:
  // `l` has the lanes of the schedule.
  KernelEmitter(const LlvmBuilder& l, const ricci_kernel_table& k, const Blocks& blocks, const KernelSchedule& schedule,
                const Polls& polls, KernelCode& out)
      : l_(l),
        k_(k),
        blocks_(blocks),
        schedule_(schedule),
        polls_(polls),
        out_(out),
        values_(k.n_insts),
        locals_(k.n_insts),
        varying_(k.n_insts, 0) {}

  void Emit(const std::string& name, Part part);

 private:
  bool Fail(const std::string& what);

  // ---- the domain ----

  void Domain();
  void Rows(V begin, V end);
  V CountRows();
  // Coordinates of all dimensions but the last `inner` ones, from the number of the row.
  void SetRow(V row, uint32_t inner);
  // The chunks [begin, end) of a reduction that runs on several threads; each for all points of a row.
  void Chunks();
  void ScanChunks();
  bool IsSplitScan() const { return schedule_.split != 0 && k_.insts[schedule_.split].op == RICCI_K_SCAN; }

  // The body for all points [begin, end) of the innermost dimension.
  void Spread(V begin, V end, bool even);
  // The same for the pieces of dimension `d` and those after it, each with code of its own.
  void SpreadPieces(const std::vector<Piece>& pieces, uint32_t d, V begin, V end);
  // Blocks [begin, end) of as many rows as there are lanes; the points of one square; a load in it.
  void Squares(V begin, V end);
  void SquarePoints();
  bool IsSquareLoad(uint32_t id) const;
  void LoadSquare(uint32_t id, uint32_t dtype, V base, const Value& index);
  void ExchangeSquares(std::vector<V>& rows, unsigned side);
  // Whether the result of instruction i is known in the current piece; then it is not computed.
  bool IsKnown(uint32_t& i);

  // The body for one point or vector of points; for all rows of the dimension before, if they go together.
  void Points();
  V TailMask(V x, V end);
  V Reversed(V v);  // its lanes

  // `body` of lo, lo + step, ... below hi.
  template <typename Body>
  void Loop(V lo, V hi, int64_t step, Body body);
  // The same in blocks of `poll.every` trips, with a poll between two blocks, which may end the kernel; 0: one block.
  template <typename Body>
  void Loop(V lo, V hi, int64_t step, LoopPoll poll, Body body);

  // ---- the run ----

  // Loaded at each use, which is rare.
  V Run() { return LoadBuffer(CountBuffers() - 1); }
  // The function returns at once if the run is to end; nothing else changes.
  void PollRun(const PollSite& at) { EmitPoll(l_, Run(), Exit(), at); }
  // In code that equal parts share it does not know of which of them the loop is.
  LoopPoll PollOf(uint32_t loop) const { return {polls_.every[loop], regions_.code == nullptr ? loop : 0}; }
  LLVMBasicBlockRef Exit();
  // For a loop whose trips are counted while it runs: it polls again after `poll.every` trips.
  CountedTrips BeginTrips(LoopPoll poll);
  void EndTrip(const CountedTrips& trips, LoopPoll poll);

  // ---- regions ----

  void PrepareRegions();
  bool IsRegion(uint32_t id) const { return !regions_.last.empty() && regions_.number == 0 && regions_.last[id] != 0; }
  bool IsShared(uint32_t local) const { return !regions_.shared.empty() && regions_.shared[local] != 0; }
  // Emits a call of the region that begins there, and the function unless there is one. Returns its last instruction.
  uint32_t CallRegion(uint32_t first);
  V MakeRegion(uint32_t first, uint32_t last);
  void EmitCall(V region, uint32_t first, uint32_t last);
  void Region(uint32_t first, uint32_t last);
  void ForgetLocals(uint32_t first, uint32_t last);
  // From here on what an item of the region reads of others is loaded before it.
  void BeginItem();
  void PositionBeforeItem();
  // Stores what instructions [first, next) of a region that ends at `last` have computed for others.
  void Export(uint32_t first, uint32_t next, uint32_t last);
  void StoreImports();
  Value Imported(uint32_t id, uint64_t at);
  uint64_t SlotBytes(uint32_t id, const Value& v);
  V ScratchAt(uint64_t at);
  void StoreValue(uint64_t at, uint32_t dtype, const Value& v);
  Value LoadValue(uint64_t at, uint32_t dtype, const Value& like);
  void ToFrame(uint32_t id, const Value& v);
  Value FromFrame(uint32_t id, const Value& like);
  void TakeSlot(uint32_t id, uint64_t bytes, uint32_t until);
  void FreeSlots(uint32_t before);
  uint64_t TakeScratch(uint64_t bytes);

  // ---- parts that share code ----

  void PrepareParts();
  bool IsPart(uint32_t id) const {
    return !regions_.same.empty() && regions_.same[id] != 0 && regions_.code == nullptr && facts_ == nullptr;
  }
  // Emits the call of the part that begins there. Returns its last instruction.
  uint32_t CallPart(uint32_t first);
  // The function that the part calls, which is made unless there is one.
  const Regions::Code& SharedCode(uint32_t first, uint32_t last);
  bool Serves(const Regions::Code& code, uint32_t first, uint32_t last) const;
  std::vector<uint32_t> ArgumentsFor(const Regions::Code& code, uint32_t first, uint32_t last) const;
  // Value `id` from outside of the code that is being made.
  Value Argument(uint32_t id);
  void StoreArguments(const Regions::Code& code, uint32_t first, uint32_t last);
  void StoreResults(uint32_t first, uint32_t last);
  void TakeResults(const Regions::Code& code, uint32_t first, uint32_t last);

  // ---- functions ----

  LLVMTypeRef FunctionType();
  // A function with what `body` emits; restores nothing.
  template <typename Body>
  void Function(const std::string& name, Body body);

  // ---- values ----

  // Value `id`, as the code being emitted sees it.
  Value At(uint32_t id);
  void Put(uint32_t id, const Value& v) {
    values_[id] = v;
    if (!regions_.home.empty()) regions_.home[id] = regions_.number;
  }
  V Each(uint32_t id) {  // as a vector with one value per lane
    const Value v = At(id);
    if (v.each != nullptr && !v.linear()) return v.each;
    V base = l_.Splat(v.one);
    if (v.stride == 0) return base;
    return LLVMBuildAdd(l_.b, base, LLVMBuildMul(l_.b, l_.LaneNumbers(), l_.Splat(l_.I64(v.stride)), ""), "");
  }
  V One(uint32_t id) { return At(id).one; }
  V FirstLane(uint32_t id) {
    const Value v = At(id);
    return v.uniform() ? v.one : LLVMBuildExtractElement(l_.b, Each(id), l_.I32(0), "");
  }
  void Define(uint32_t id, V v);
  V Constant(uint32_t dtype, int64_t bits);
  void Scalar(uint32_t id);
  // Index arithmetic on values linear in the lane stays scalar.
  bool Linear(uint32_t id, const ricci_inst& inst);

  // ---- memory ----

  V FromMemory(uint32_t dtype, V v);
  V ToMemory(uint32_t dtype, V v);
  unsigned Align(uint32_t dtype) { return SizeOfDType(dtype); }
  V Element(LLVMTypeRef t, V base, V index) { return LLVMBuildGEP2(l_.b, t, base, &index, 1, ""); }

  // The address of buffer `i`. With many buffers it is loaded at each use: addresses that do not fit into registers
  // would be alive through the whole kernel, and LLVM's register allocation takes time that grows with their square.
  V Buffer(size_t i) { return buffers_.empty() ? LoadBuffer(i) : buffers_[i]; }
  V LoadBuffer(size_t i);
  size_t CountBuffers() const { return k_.n_buffers + (schedule_.partials != 0) + (out_.run_state ? 1 : 0); }

  static bool IsRun(const Value& index) { return index.linear() && (index.stride == 1 || index.stride == -1); }
  V RunAddress(LLVMTypeRef t, V base, const Value& index);
  void LoadFrom(uint32_t id, uint32_t dtype, V base, const Value& index, uint32_t index_id);
  V LoadRun(LLVMTypeRef t, unsigned align, V p, V mask);
  void StoreRun(V v, unsigned align, V p, V mask);
  V MaskApart(int64_t stride, int64_t start, bool all);
  V LoadApart(LLVMTypeRef t, unsigned align, V base, const Value& index);
  void StoreTo(uint32_t dtype, V base, const Value& index, uint32_t index_id, uint32_t value_id);
  // Store instruction `id` of a range that ends at `last`; two of neighbouring elements are made by the second.
  void Store(uint32_t id, uint32_t last);
  bool IsPairOfStores(const Value& index) const;
  void StorePair(uint32_t dtype, V base, const Value& index, V even, V odd);

  V MaskOrAll() { return mask_ != nullptr ? mask_ : l_.IntLike(LLVMConstNull(l_.vec(l_.i1())), 1); }

  // ---- private arrays ----

  void DeclareLocal(uint32_t id);
  void ClearSwitchedOff(uint32_t id);
  V Memory(const Local& local);
  // Private array `id`, as the code being emitted sees it.
  Local LocalAt(uint32_t id);
  void Get(uint32_t id);
  V LaneAddress(uint32_t index_id) {  // index * lanes + lane
    return LLVMBuildAdd(l_.b, LLVMBuildMul(l_.b, Each(index_id), l_.Splat(l_.I64(l_.lanes)), ""), l_.LaneNumbers(), "");
  }
  void Set(uint32_t id);

  // ---- updates that points combine ----

  void Update(uint32_t id);
  void UpdateOne(uint32_t id, V address, V value);
  void UpdateRun(uint32_t id);
  void UpdateLanes(uint32_t id);
  V UpdatedBuffer(const ricci_inst& inst);
  // The copies that chunks of rows combine into, and all of them into the elements.
  void UpdateCopies(V begin, V end);
  void CombineCopies(V begin, V end);
  const ricci_inst& CopiedUpdate() const;
  V CopyOf(LLVMTypeRef t, V chunk);

  // ---- blocks ----

  void Range(uint32_t first, uint32_t last);
  uint32_t Item(uint32_t i, uint32_t last);
  void Check(const ricci_inst& inst);
  uint32_t For(uint32_t id);
  uint32_t ForSpread(uint32_t id, uint32_t close);
  // From here on the trips of a loop are spread over the lanes; what was computed before is the same for all.
  void BeginSpread(uint32_t loop);

  V Any(V mask) { return l_.Intrinsic("llvm.vector.reduce.or", {LLVMTypeOf(mask)}, {mask}); }

  // A loop whose bounds differ between lanes: lanes leave it at different times.
  uint32_t ForPerLane(uint32_t id, uint32_t close);
  void LoopPerLane(uint32_t id, const std::function<void()>& body);

  // Runs `body` while any active lane's `condition` (a vector) holds; the others are switched off.
  template <typename Condition, typename Body>
  void WhileActive(LoopPoll poll, Condition condition, Body body);

  uint32_t While(uint32_t id);
  uint32_t If(uint32_t id);

  template <typename Then, typename Else>
  void Branch(V condition, Then then, Else otherwise);

  // ---- reductions ----

  // An empty sum is +0 although its identity is -0.
  void Finish(uint32_t yield, V sum, uint32_t acc_dtype, bool empty_possible);
  V Added(uint32_t yield, uint32_t acc_dtype, bool vector, V sum);
  uint32_t Reduce(uint32_t id);
  // One result per lane if lanes differ.
  uint32_t ReduceInOrder(uint32_t id, uint32_t close, std::optional<int64_t> trips, bool bounds);
  // Combines the elements lo .. hi - 1 of reduction `id` element by element, in 1 or 4 accumulators.
  V Accumulate(uint32_t id, V lo, V hi, bool vector, uint32_t sums);
  // Lanes over the reduction, four accumulators to hide latency, combined in a fixed tree. Leaves +0 for empty sums.
  V ReduceSpread(uint32_t id, uint32_t close, V lo, V hi, std::optional<int64_t> trips);
  // A reduction whose chunks run on several threads: emits either the chunks, or the code that combines them.
  uint32_t Split(uint32_t id);

  // ---- prefix scans ----

  uint32_t Scan(uint32_t id);
  void BeginStates(const ScanParts& parts);
  void ScanSpread(uint32_t id, V from, V to, bool even);
  uint32_t ScanChunk(uint32_t id);
  void SumOfChunk(const ScanParts& parts, V from, V to);
  std::vector<Value> ElementsInLanes(const ScanParts& parts);
  void AddInLanes(const ScanParts& parts);
  void AddPartsInLanes(const ScanParts& parts, V from, V to);
  bool Commutes(const ScanParts& parts) const;
  void ChunksBefore(const ScanParts& parts);
  V PartialSum(V chunk, uint32_t states, uint32_t state);
  std::vector<Value> States(const ScanParts& parts);
  void Prefixes(uint32_t first);
  std::vector<Value> CombineStates(const ScanParts& parts, const std::vector<Value>& left,
                                   const std::vector<Value>& right);
  std::vector<Value> CombineWithinVector(const ScanParts& parts, std::vector<Value> elements);
  void StoreState(uint32_t state, const Value& before, const Value& next);
  V ShiftedUp(V v, V fill, unsigned distance);
  V Hidden(V v);
  Value LastLane(const Value& v);
  V AsVector(const Value& v) { return v.linear() ? l_.Splat(v.one) : v.each; }
  LLVMTypeRef StateType(uint32_t state);

  const LlvmBuilder& l_;
  const ricci_kernel_table& k_;
  const Blocks& blocks_;
  const KernelSchedule& schedule_;
  const Polls& polls_;
  KernelCode& out_;
  std::vector<Value> values_;
  std::vector<Local> locals_;
  std::vector<uint8_t> varying_;
  std::vector<V> buffers_;  // empty if there are many
  V function_ = nullptr;
  LLVMBasicBlockRef exit_ = nullptr;  // of function_, for a run that is to end; NULL: nothing jumps there
  std::string name_;
  Regions regions_;
  V mask_ = nullptr;        // lanes that are on; NULL = all
  int masked_depth_ = 0;    // enclosing branches and loops that switch lanes off
  bool spreading_ = false;  // inside of the loop that is spread over lanes
  bool done_ = false;
  const Facts* facts_ = nullptr;  // of the piece of the domain that code is made for; NULL: the whole domain
  V row_ = nullptr, column_ = nullptr, chunk_ = nullptr;  // where code is being made for: column_ is of the first lane
  uint32_t together_ = 0;  // the dimension before the innermost, if all its points are computed together
  std::vector<Postponed> postponed_;
  uint32_t first_of_pair_ = 0;  // a store that the next one makes too
  int64_t square_row_ = -1;     // of the square that code is being made for; -1: points are not in squares
  V square_first_ = nullptr;    // the first row of squares that code is being made for
  std::map<uint32_t, std::vector<V>> squares_;  // the result of a load for each row of the square
  RunningScan scan_;
  V copy_ = nullptr;  // where updates go instead of their buffer
  Part part_ = Part::kWhole;
  uint64_t stack_ = 0, scratch_ = 0;
};

}  // namespace ricci::cpu
#endif
