// DeviceText: the functions `ricci_dev_*` that printed kernels call, each once, after those that it calls itself.
//
// They are plain C but for `__device__` and a few functions that every CUDA compiler knows (fmaf, __clz, atomicMin), so
// the text needs no header, and what a kernel computes can be tried on a processor.
#ifndef RICCI_CUDA_DEVICE_TEXT_H_
#define RICCI_CUDA_DEVICE_TEXT_H_
#include <cstdint>
#include <functional>
#include <set>
#include <string>
#include <string_view>
#include <utility>

namespace ricci::cuda {

class DeviceText {
 public:
  // The function `name`; if it is new, `write` gives `RESULT NAME(ARGUMENTS) { ... }` and uses what that calls.
  std::string Function(const std::string& name, const std::function<std::string()>& write);
  // The struct of `n` elements `at`, aligned to its size.
  std::string Vector(const std::string& type, int64_t n);
  // While this holds, new functions are for a part of the text that not every architecture takes. Returns what held
  // before.
  bool SetForSome(bool for_some) { return std::exchange(for_some_, for_some); }
  // Names of the types, then structs, then all functions.
  std::string Text() const;

 private:
  std::set<std::string> names_;
  std::string structs_, text_;
  bool for_some_ = false;
};

// `text` with $T, $a and so on replaced: pairs of a letter and what takes its place.
std::string Fill(std::string_view text, std::initializer_list<std::pair<char, std::string_view>> by);

// ---- device_convert.cc: names of functions that change the type of a value ----
std::string Convert(DeviceText& d, uint32_t from, uint32_t to, const std::string& value);
std::string Bitcast(DeviceText& d, uint32_t from, uint32_t to, const std::string& value);
// A narrow float's number in f32.
std::string Widened(DeviceText& d, uint32_t dtype, const std::string& value);
std::string Narrowed(DeviceText& d, uint32_t dtype, const std::string& value);
// The number, or the bits, of an f32 or f64.
std::string RealOfBits(DeviceText& d, uint32_t dtype, const std::string& bits);
std::string BitsOfReal(DeviceText& d, uint32_t dtype, const std::string& real);

// The body of a function: one instruction of PTX from the architecture `first` on, which gives `r` of that type and
// whose NaN is some NaN, and `result` of it if that is not r itself; else `otherwise`.
std::string ByInstruction(DeviceText& d, const std::string& type, int first, const std::string& instruction,
                          const std::function<std::string()>& otherwise,
                          const std::function<std::string()>& result = nullptr);

// ---- device_f8.cc: floats of 8 bits by instructions ----
bool HasF8Instructions(uint32_t dtype);
// Bodies of functions: the f32 that the bits `v` are, and the bits that `x` is rounded to; `otherwise` by arithmetic.
std::string WidenF8(DeviceText& d, uint32_t dtype, const std::function<std::string()>& otherwise);
std::string NarrowToF8(DeviceText& d, uint32_t dtype, const std::function<std::string()>& otherwise);
// Of two in a u16, the first one in its lower half: one of them (0 or 1) in f32, or both as f16 or bf16 in a u32, which
// holds them exactly. Calls for the same pair share their instruction.
std::string F32OfF8Pair(DeviceText& d, uint32_t dtype, const std::string& pair, const std::string& half);
std::string WidenedF8Pair(DeviceText& d, uint32_t from, uint32_t to, const std::string& pair);

// ---- device_math.cc ----
// A special function of f32 or f64: the formula of plugins/codegen. Empty if the operation is none.
std::string MathFunction(DeviceText& d, uint32_t op, uint32_t dtype, uint32_t arity);

// ---- scalar_text.cc ----
// The expression for operation `op`; `from` is the dtype of operand 0 (of operand 1 for SELECT), `to` that of the
// result. Empty if the operation does not exist for it.
std::string PrintScalar(DeviceText& d, uint32_t op, uint32_t from, uint32_t to, const std::string* in, uint32_t n);
// An element given by its bits.
std::string PrintConstant(DeviceText& d, uint32_t dtype, uint64_t bits);

// The same of a narrow float before it is rounded, in f32; empty if it is not computed so (its sign, a comparison).
std::string PrintWide(DeviceText& d, uint32_t op, uint32_t dtype, const std::string* in, uint32_t n);

// ---- device_pairs.cc: two floats of 16 bits in a u32 ----
// The operation is made for both at once.
bool HasPairs(uint32_t op, uint32_t dtype);
std::string PrintPair(DeviceText& d, uint32_t op, uint32_t dtype, const std::string* in);
std::string HalfOfPair(const std::string& pair, int half);
std::string PairOfBits(DeviceText& d, const std::string& first, const std::string& second);
std::string PairOfConstant(uint64_t bits);  // twice
std::string PairOfF32(DeviceText& d, uint32_t dtype, const std::string& first, const std::string& second);

// ---- device_divide.cc: several quotients by one divisor; `exact`, a variable of the caller, is false after a wrong
// one
std::string InverseOfF32(DeviceText& d, const std::string& divisor);
std::string QuotientOfF32(DeviceText& d, const std::string& a, const std::string& b, const std::string& inverse);
// Of a positive divisor; zeros are right too, for one instruction or two more.
std::string QuotientOrZeroOfF32(DeviceText& d, const std::string& a, const std::string& b, const std::string& inverse);

// ---- device_tile.cc: names of functions for tiles ----
// Copies `n` elements to shared memory, without a register where the GPU can; NAME(to, from, aligned, inside), zeros if
// not inside. Copies are complete after they were committed and waited for.
std::string CopyTogether(DeviceText& d, const std::string& type, int64_t n);
std::string CommitCopies(DeviceText& d);
std::string WaitForCopies(DeviceText& d, int64_t all_but);  // the last so many that were committed
// Four matrices of 8 by 8 elements of 16 bits, of which each lane gives the address of a row; NAME(u32 out[4], row).
std::string LoadMatrices(DeviceText& d, bool transposed);

// ---- device_matrix.cc: names of functions for tensor cores, all of whose warp call them ----
// Adds a product of a warp: 16 rows, 8 columns and 32 bytes of the sum, of elements as in tensor_format.h;
// NAME(sums[4], u32 rows[4], u32 columns[2]). Sums are f32, of integers i32.
std::string MultiplyMatrices(DeviceText& d, uint32_t rows, uint32_t columns);
// Four f32 as tf32, to nearest, ties away from zero; NAME(u32 bits[4]).
std::string RoundToTf32(DeviceText& d);

// ---- device_warpgroup.cc: names of functions for groups of four warps of sm_90a, all of whose threads call them ----
// What the calling thread has written to shared memory is there for tensor cores after the next barrier.
std::string ShowToTensorCores(DeviceText& d);
// A matrix in shared memory, as tensor cores are given it; u64 NAME(first, leading, stride): lines of `bytes` (32, 64,
// 128), 8 lines every `stride` bytes, and where lines lie along the rows (columns) panels every `leading` bytes.
std::string MatrixInShared(DeviceText& d, int64_t bytes);
// The sums of a thread, of 64 rows and `columns` columns of its group: NAME(f32 sums[columns / 2]). Between the two
// only products may use the sums, and nothing may write to the operands of products.
std::string BeginProducts(DeviceText& d, int64_t columns);
std::string FinishProducts(DeviceText& d, int64_t columns);
std::string WaitForSums(DeviceText& d, int64_t columns);  // the same, of products that are groups already
// Adds a product of 16 trips; NAME(sums, u64 rows, u64 columns). `along_sum`: of rows and columns, whether a line holds
// trips.
struct WarpgroupProduct {
  uint32_t dtype;
  int64_t columns;
  bool rows_along_sum, columns_along_sum;
};
std::string MultiplyShared(DeviceText& d, const WarpgroupProduct& p);

// ---- device_bulk.cc: names of functions for what the GPU copies to shared memory by itself, on sm_90a ----
// A function void NAME(signature) of sm_90a: `here` is what it does without a GPU, `ptx` its statements.
std::string OnSm90a(DeviceText& d, const std::string& name, const std::string& signature, const std::string& here,
                    const std::string& ptx);
// Parts of a function that copies a box: its parameters (where the box lies, the map, coordinates), the coordinates by
// name, and as operands of PTX from number `first` on, which these inputs are.
struct BoxArguments {
  std::string signature, given, operands, inputs;
};
BoxArguments ArgumentsOfBox(DeviceText& d, const std::string& box, uint32_t rank, uint32_t first);
// Barriers are u64 in shared memory; NAME(barrier, arrivals): of so many arrivals in each phase. To be shown
// (ShowToTensorCores) before a barrier of the block, after which others may use it.
std::string BeginBarrier(DeviceText& d);
// NAME(barrier); NAME(barrier, bytes): and so many more bytes come in this phase.
std::string ArriveAtBarrier(DeviceText& d);
std::string ExpectBytes(DeviceText& d);
// NAME(barrier, parity): until the phase of that parity, the latest one or the one before, is over.
std::string WaitForBarrier(DeviceText& d);
// Copies the box of a tensor map that begins at these coordinates, the innermost first, with zeros outside of the
// tensor; NAME(to, map, c0, ..., barrier), whose bytes count at the barrier. One thread calls it.
std::string CopyBox(DeviceText& d, const std::string& type, uint32_t rank);
// Makes the products since the last time a group; waits for all groups but the last so many. NAME(), by all threads of
// a group of four warps; sums may not be used before FinishProducts or WaitForSums.
std::string CommitProducts(DeviceText& d);
std::string WaitForProducts(DeviceText& d, int64_t all_but);
// bool NAME(): true for one thread of the warp, always the same; all of the warp call it.
std::string IsElected(DeviceText& d);

// ---- device_store.cc: names of functions for what the GPU stores from shared memory by itself, on sm_90a ----
// Stores four matrices of 8 by 8 elements of 16 bits, of which each lane gives the address of a row; NAME(row, in[4]).
// Lane 8 j + i gives row i of matrix j, lane 4 i + c has its elements 2 c and 2 c + 1 in in[j].
std::string StoreMatrices(DeviceText& d);
// NAME(group): the 128 threads that give this number, which is not 0, meet.
std::string MeetGroup(DeviceText& d);
// Stores the box at these coordinates, but for what is outside of the tensor; NAME(from, map, c0, ...). One thread
// calls it, then NAME(): its stores since the last time are a group.
std::string StoreBox(DeviceText& d, const std::string& type, uint32_t rank);
std::string CommitStores(DeviceText& d);
// NAME(): until all groups of the thread but the last so many are read from shared memory; until all are stored.
std::string WaitForReads(DeviceText& d, int64_t all_but);
std::string WaitForStores(DeviceText& d);

// ---- device_pair.cc: names of functions for pairs of blocks (clusters of two), on sm_90a ----
std::string RankInPair(DeviceText& d);  // i32 NAME(): 0 or 1
std::string MeetPair(DeviceText& d);    // NAME(): all threads of both blocks
// NAME(): the barriers that the thread has begun are there for both blocks, and for copies, after they have met.
std::string ShowBarriersToPair(DeviceText& d);
// NAME(barrier, rank): arrives at this barrier of the block `rank`. NAME(barrier, parity): WaitForBarrier, where
// threads of both blocks arrive.
std::string ArriveInPair(DeviceText& d);
std::string WaitForPair(DeviceText& d);
// As CopyBox, to the same place of both blocks; the bytes count at this barrier of each.
std::string CopyBoxToPair(DeviceText& d, const std::string& type, uint32_t rank);
// NAME(): each thread of the group of four warps has `n` registers from now on, fewer or more than before; all call it.
std::string HaveRegisters(DeviceText& d, int64_t n, bool more);

}  // namespace ricci::cuda
#endif
