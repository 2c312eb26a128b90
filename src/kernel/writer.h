// Writer: appends scalar instructions to a kernel, typed, folded and value-numbered while they are written.
//
// Lowerings are naive about indices (div, rem and mul by constants at every reshape); the Writer turns that into good
// code: constants fold, integer arithmetic is kept as linear forms with known ranges (linear_form.h), equal pure
// instructions become one, and loads are forwarded from the stores before them. It is done while writing, not in passes
// over a finished kernel, because lowerings use ranges and constants as they go. Simplification never changes the bits
// of a floating value. Nothing is quadratic: one hash lookup per instruction.
//
// Errors are sticky: the first misuse is kept, later calls do nothing and give 0, and Finish() returns it. So callers
// need no check between calls. A value may be used inside the block that defines it and in blocks nested there.
#ifndef RICCI_KERNEL_WRITER_H_
#define RICCI_KERNEL_WRITER_H_
#include <initializer_list>
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "kernel/kernel.h"

namespace ricci { inline namespace v0 { namespace kernel {

using Val = ricci_sval;            // 0 = none or error
enum class LocalId : uint32_t {};  // a private array; 0 = none or error
struct Block;

struct Range {  // inclusive; known bounds of an integer value
  int64_t min, max;
  bool operator==(const Range&) const = default;
};

class Writer {
 public:
  explicit Writer(std::string_view name);
  ~Writer();
  Writer(const Writer&) = delete;

  // The target has fused multiply-adds: MultiplyAdd and sums of products use them. Said before anything is written.
  void ContractProducts();

  // ---- buffers: arguments of the kernel, numbered from 0 ----
  // `access` is what is allowed; the finished kernel has what is used. Buffers with only READ never change.
  uint32_t Buffer(uint32_t dtype, int64_t elements, uint32_t access);
  uint32_t BufferCount() const;
  const ricci_kernel_buffer& BufferAt(uint32_t buffer) const;

  // ---- values ----
  Val Const(uint32_t dtype, uint64_t bits);  // bits of the element, zero-extended
  Val Float(uint32_t dtype, double v);       // rounded to dtype
  Val Index(int64_t v);                      // i64
  Val Bool(bool v);
  // Any RICCI_S_* operation. `dtype`: of the result, for CONVERT and BITCAST; 0 otherwise.
  Val Scalar(uint32_t op, uint32_t dtype, std::span<const Val> operands);
  Val Op(uint32_t op, Val a) { return Scalar(op, 0, {{a}}); }
  Val Op(uint32_t op, Val a, Val b) { return Scalar(op, 0, {{a, b}}); }
  Val Add(Val a, Val b) { return Op(RICCI_S_ADD, a, b); }
  Val Sub(Val a, Val b) { return Op(RICCI_S_SUB, a, b); }
  Val Mul(Val a, Val b) { return Op(RICCI_S_MUL, a, b); }
  // a * b + c: rounded once, of f32 and f64, if products are contracted.
  Val MultiplyAdd(Val a, Val b, Val c);
  Val Div(Val a, Val b) { return Op(RICCI_S_DIV, a, b); }
  Val Rem(Val a, Val b) { return Op(RICCI_S_REM, a, b); }
  Val Min(Val a, Val b) { return Op(RICCI_S_MIN, a, b); }
  Val Max(Val a, Val b) { return Op(RICCI_S_MAX, a, b); }
  Val And(Val a, Val b) { return Op(RICCI_S_AND, a, b); }
  Val Or(Val a, Val b) { return Op(RICCI_S_OR, a, b); }
  Val Not(Val a) { return Op(RICCI_S_NOT, a); }
  Val Less(Val a, Val b) { return Op(RICCI_S_LT, a, b); }
  Val Equal(Val a, Val b) { return Op(RICCI_S_EQ, a, b); }
  Val Select(Val condition, Val yes, Val no) { return Scalar(RICCI_S_SELECT, 0, {{condition, yes, no}}); }
  Val Convert(Val a, uint32_t dtype) { return Scalar(RICCI_S_CONVERT, dtype, {{a}}); }
  // sum of index[i] * strides[i], as i64.
  Val Linear(std::span<const Val> index, std::span<const int64_t> strides);

  // ---- memory; indices are i64 and linear ----
  Val Load(uint32_t buffer, Val index);
  void Store(uint32_t buffer, Val index, Val v);
  // Combines v into the element, by ADD MUL MAX MIN; parallel iterations may combine into the same element.
  void Combine(uint32_t buffer, Val index, uint32_t combiner, Val v);
  // A private array of this point, undefined at first; visible until the block around it ends.
  LocalId Local(uint32_t dtype, int64_t elements);
  Val Get(LocalId local, Val index);
  void Set(LocalId local, Val index, Val v);
  uint32_t LocalDType(LocalId local) const;
  int64_t LocalElements(LocalId local) const;

  // ---- blocks ----
  // Index from lo to hi - 1. `parallel`: iterations are independent. A constant trip count of 1 opens no loop; the body
  // of a loop with 0 trips is dropped. Few iterations that use private arrays are unrolled.
  Val For(Val lo, Val hi, bool parallel = false);
  // extents.size() nested parallel loops from 0, closed by one End. Index values are written to `index`.
  void Parallel(std::span<const int64_t> extents, Val* index);
  // The loops that are open above `depth` others are not parallel.
  void InOrder(uint32_t depth);
  void While();              // then instructions,
  void Cond(Val condition);  // goes on while it holds; then the body
  void If(Val condition);    // a constant condition drops the branch not taken
  void Else();
  void End();  // closes For, Parallel, While, If, Scan
  // Combines the values given to Yield over all iterations, by ADD MUL MAX MIN AND OR XOR; the identity if there are
  // none.
  Val Reduce(uint32_t combiner, Val lo, Val hi);
  Val Yield(Val v);  // closes Reduce; the combined value
  // The same for several values: a reduction for each, with as much of the body as it needs, one after another.
  void Yields(std::span<const Val> values, Val* combined);
  // A prefix scan: first the combiner, from left[i] and right[i] of each state, by scalar operations alone,
  void Scan(Val lo, Val hi, std::span<const Val> identities, Val* left, Val* right);
  Val Combiner(std::span<const Val> results);  // gives the index; the loop begins
  // In the loop, once: takes the elements of this iteration, gives all up to them combined. End closes the loop.
  void Prefix(std::span<const Val> elements, Val* prefixes);
  // The caller promises that 0 <= v < bound from here on in this block.
  void AssumeLess(Val v, int64_t bound);
  // The run fails as check number `check` where this is reached and `condition` does not hold.
  void Require(Val condition, uint32_t check);

  // Where in the host's source all that comes next is from, until it is set again; 0: unknown. Gives the one before.
  uint64_t SetLocation(uint64_t location);

  // ---- questions ----
  uint32_t DType(Val v) const;                        // 0 for 0
  std::optional<uint64_t> ConstantBits(Val v) const;  // of any dtype
  std::optional<int64_t> ConstantIndex(Val v) const;  // integers and bool, sign-extended as their dtype says
  Range RangeOf(Val v) const;                         // of integers and bool; the widest one otherwise
  // v = index * stride + a value that does not depend on `index`; nothing if that is not known.
  std::optional<int64_t> StrideIn(Val v, Val index) const;
  bool Usable(Val v) const;  // still in a block that is open
  // The block that is open now, and whether an earlier one is still open: values found in a block may be folded by what
  // holds only there (the condition of an `if`), even to a constant.
  uint32_t Scope() const;
  bool IsOpen(uint32_t scope) const;
  uint32_t Depth() const;         // open blocks
  uint32_t OpenCombiner() const;  // of the reduction that is open innermost; 0 if none is
  // How many points run what is written now: iterations of the outermost open loops, as far as they are parallel.
  int64_t Points() const;
  size_t Size() const;  // instructions so far

  // ---- end ----
  bool ok() const { return status_.ok(); }
  const absl::Status& status() const { return status_; }
  void Fail(absl::Status s);  // keeps the first one
  // Drops dead instructions, turns a body that is one parallel nest into the domain, renumbers and verifies. The writer
  // is used up.
  absl::StatusOr<Kernel> Finish();

  struct Impl;

 private:
  bool Check(bool holds, std::string_view what);
  bool CheckValue(Val v, std::string_view where);
  bool CheckIndex(Val v, std::string_view where);
  bool CheckAccess(uint32_t buffer, uint32_t access, std::string_view where);
  bool CheckLocal(LocalId local, std::string_view where);
  Val OpenLoop(uint32_t op, Val lo, Val hi, int64_t imm);
  void CloseBlock();
  bool IsContracted(uint32_t combiner, Val term) const;
  bool ShouldUnroll(const Block& block) const;
  Val Unroll(const Block& block, Val yielded);
  void UnrollScan(const Block& block);
  bool CheckStates(const char* what, std::span<const Val> values);
  void Replay(const ricci_inst& inst, Val v, Val first, std::vector<Val>& now);
  Val Replayed(Val x, Val first, std::span<const Val> now) const;

  std::unique_ptr<Impl> impl_;
  absl::Status status_;
};

}}}  // namespace ricci::v0::kernel
#endif
