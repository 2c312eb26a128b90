// KernelBuilder: turns one equation, with everything nested in it, into one Kernel. It is the `ricci_kernel_builder`
// with which the lowerings of rows write.
//
// Pull-based: an array of the kernel is storage (a buffer or private array), a constant, or an equation not yet
// evaluated. Loading an element of an equation evaluates its SCALAR or INDEX lowering at that index, which loads its
// operands in turn; so producers fuse into consumers without ever being stored. LOOPS lowerings fill arrays. What is
// loaded twice at the same index is evaluated once (memo); small arrays are evaluated early, element by element.
//
// It is one class, whose functions are in several files: kernel_builder.cc (arrays, lowerings), kernel_load.cc,
// kernel_store.cc, kernel_inline.cc (programs), kernel_rows.cc and kernel_views.cc (merged kernels).
#ifndef RICCI_PASS_KERNEL_BUILDER_H_
#define RICCI_PASS_KERNEL_BUILDER_H_
#include <deque>
#include <memory>

#include "base/hash_map.h"
#include "pass/kernel/element_writer.h"
#include "pass/kernel/kernel_array.h"
#include "pass/kernel/row_reads.h"
#include "pass/target/target.h"
#include "prim/registry.h"
#include "prim/view_map.h"
#include "ricci/primitive.h"

namespace ricci { inline namespace v0 { namespace pass {

// The index of a load: one value per dimension, or the flat row-major position.
struct Index {
  std::vector<Val> at;
  bool flat = false;
};

class KernelBuilder {
 public:
  KernelBuilder(prim::Registry& registry, std::string_view name, const Target& target);
  KernelBuilder(prim::Registry& registry, std::string_view name, Target&& target) = delete;  // it must live on

  // One buffer of the kernel: that of an operand or result, a constant, or the counter of the loop around the step.
  struct Binding {
    enum class Kind : uint8_t { kOperand, kResult, kConstant, kCounter } kind;
    uint32_t index;  // of the operand or result
    std::shared_ptr<const ir::ConstantData> data;
  };
  // Where operand i (or, after the operands, result i) is: a buffer, or slice [counter] of a stack of `length`, counted
  // from its end if `reverse`. Empty list: all are whole buffers.
  struct Slot {
    int64_t length = -1;  // -1: not a stack
    bool reverse = false;
    uint32_t loop = 0;  // which loop's counter: Binding::index of a kCounter
  };
  struct Result {
    kernel::Kernel kernel;
    std::vector<Binding> bindings;     // per buffer
    std::vector<absl::Status> checks;  // what a run returns when check i of the kernel does not hold
  };
  // For an update (RICCI_LOWERING_UPDATES), result 0 is a buffer that holds operand 0; the operand itself is not bound.
  absl::StatusOr<Result> Lower(const ir::Program& p, const ir::Equation& eqn, std::span<const Slot> slots = {});
  // If `eqn` runs by rows of the leading `n_rows` dimensions of its results, does its lowering access only the current
  // row of its results and of the operands that are read by rows? This is a trial, which uses up the builder. An error
  // is the lowering's own.
  absl::StatusOr<bool> StaysInRow(const ir::Program& f, const ir::Equation& eqn, uint32_t n_rows,
                                  std::span<const Reads> reads);
  // A kernel that copies one array of type `t`.
  absl::StatusOr<Result> LowerCopy(ir::TypeId t, const Slot& from, const Slot& to);

  // ---- what the C functions of ricci/kernel.h do ----
  ElementWriter& writer() { return w_; }
  const ElementWriter& writer() const { return w_; }
  ArrayId operand(uint32_t i) const { return i < context_.operands.size() ? context_.operands[i] : 0; }
  ArrayId result(uint32_t i) const { return i < context_.results.size() ? context_.results[i] : 0; }
  bool Has(ArrayId a) const { return a != 0 && a < arrays_.size(); }
  ir::TypeId type_id(ArrayId a) const { return arrays_[a].type; }
  const ir::ArrayType& type(ArrayId a) const { return registry_.vocabulary().types.Get(arrays_[a].type); }
  absl::StatusOr<Val> Load(ArrayId a, std::span<const Val> index);
  absl::Status Store(ArrayId a, std::span<const Val> index, Val v);
  absl::Status Combine(ArrayId a, std::span<const Val> index, uint32_t combiner, Val v);
  absl::StatusOr<ArrayId> Private(ir::TypeId t);
  absl::StatusOr<ArrayId> View(ArrayId a, uint32_t axis, Val index);
  absl::Status Copy(ArrayId dst, ArrayId src);
  // Nested parallel loops; while a row is being computed, those over its leading dimensions are open already.
  absl::Status Parallel(std::span<const int64_t> extents, Val* index);
  absl::Status Inline(const ir::Program& f, std::span<const ArrayId> in, std::span<const ArrayId> dst,
                      std::span<ArrayId> out);
  absl::Status Require(Val condition, absl::Status otherwise);

 private:
  using Array = KernelArray;
  using Storage = array::Storage;
  using Lazy = array::Lazy;
  using Slice = array::Slice;
  using Literal = array::Literal;
  using Elements = array::Elements;
  struct Context {  // of the lowering that is running
    std::vector<ArrayId> operands, results;
    const ir::Program* program = nullptr;
    const ir::Equation* eqn = nullptr;
    uint32_t depth = 0;    // open blocks when it began
    bool updates = false;  // it is all that the kernel does, and result 0 is a buffer that holds operand 0
  };
  // The row that is being computed: one point of the leading dimensions of everything that is stored or kept within the
  // row.
  struct Row {
    std::vector<int64_t> extents;  // empty: the kernel does not run by rows
    std::vector<Val> index;
    uint32_t depth = 0;  // open blocks outside all loops within the row
  };
  // How the results of a program are used within it, which decides what is evaluated early.
  struct Uses {
    std::vector<uint32_t> count;
    std::vector<uint8_t> only_pointwise;  // only by SCALAR and INDEX lowerings
    std::vector<uint8_t> in_loops;        // some element at an index that is not constant
    std::vector<uint8_t> stored;          // larger than what is written out, and not computed again where it is read
  };

  // A lowering runs with a context of its own, and what it writes is from the location of its equation.
  class Running {
   public:
    Running(KernelBuilder& k, Context context);
    ~Running();
    Running(const Running&) = delete;

   private:
    KernelBuilder& k_;
    Context outer_;
    const uint64_t location_;  // before
  };

  // ---- kernel_builder.cc: arrays, and the lowerings that use them ----
  ArrayId Add(Array a);
  ArrayId AddLazy(ir::TypeId t, Lazy lazy);
  ArrayId AddBuffer(ir::TypeId t, uint32_t access, Binding binding);
  absl::StatusOr<ArrayId> AddSlot(ir::TypeId t, uint32_t access, Binding binding, const Slot* slot);
  absl::StatusOr<uint32_t> AddCounter(uint32_t loop);
  ArrayId AddLiteral(ir::TypeId t, const ir::Constant& c);
  // The storage of an array that has some. The reference is valid until an array is added.
  Storage& StorageOf(ArrayId a) { return *std::get_if<Storage>(&arrays_[a].is); }
  bool IsStorage(ArrayId a) const { return std::holds_alternative<Storage>(arrays_[a].is); }
  absl::StatusOr<std::vector<ArrayId>> BindOperands(const ir::Program& p, const ir::Equation& eqn,
                                                    std::span<const Slot> slots, bool update);
  absl::StatusOr<std::vector<ArrayId>> BindResults(const ir::Program& p, const ir::Equation& eqn,
                                                   std::span<const Slot> slots);
  absl::Status Compute(const ir::Program& p, const ir::Equation& eqn, const ricci_lowering& l,
                       const std::vector<ArrayId>& operands, const std::vector<ArrayId>& results);
  absl::StatusOr<Result> Finish();
  absl::StatusOr<std::vector<ArrayId>> RunLoops(const ir::Program& f, const ir::Equation& eqn, const ricci_lowering& l,
                                                std::vector<ArrayId> operands, std::span<const ArrayId> results,
                                                bool updates = false);

  // ---- kernel_load.cc ----
  absl::StatusOr<Val> LoadIndex(ArrayId a, const Index& index);
  // From array `id`, which is `is`: a reference into arrays_, invalid once an array is added.
  absl::StatusOr<Val> LoadFrom(ArrayId id, const Storage& is, const Index& index);
  absl::StatusOr<Val> LoadFrom(ArrayId id, const Lazy& is, const Index& index);
  absl::StatusOr<Val> LoadFrom(ArrayId id, const Slice& is, const Index& index);
  absl::StatusOr<Val> LoadFrom(ArrayId id, const Literal& is, const Index& index);
  absl::StatusOr<Val> LoadFrom(ArrayId id, const Elements& is, const Index& index);
  absl::StatusOr<Val> EvaluateScalar(const Lazy& lazy, const Index& index);
  absl::StatusOr<Val> EvaluateIndex(const Lazy& lazy, const Index& index);
  absl::Status Spill(ArrayId elements);
  Index ToDims(const ir::ArrayType& t, const Index& index);
  Val Position(const ir::ArrayType& t, const Index& index);
  Val PositionInStorage(ArrayId id, const Index& index);

  // ---- kernel_store.cc ----
  absl::Status StoreIndex(ArrayId a, const Index& index, Val v);
  bool IsFlat(ArrayId a, const ir::ArrayType& t) const;
  absl::Status CopyGroup(std::span<const ArrayId> dst, std::span<const ArrayId> src);
  absl::Status CopyAlike(std::span<const ArrayId> dst, std::span<const ArrayId> src);
  absl::Status CopyAt(std::span<const ArrayId> dst, std::span<const ArrayId> src, const Index& index);

  // ---- kernel_inline.cc ----
  int64_t MostElements() const;
  absl::Status InlineBody(const ir::Program& f, std::span<const ArrayId> in, std::span<const ArrayId> dst,
                          std::span<ArrayId> out);
  absl::Status InlineEquation(const ir::Program& f, const ir::Equation& eqn, const Uses& uses,
                              std::span<const ArrayId> dst_of, std::vector<ArrayId>& env);
  absl::StatusOr<ArrayId> Evaluate(ArrayId lazy, bool to_private);
  absl::StatusOr<Uses> CountUses(const ir::Program& f);
  void ChooseStored(const ir::Program& f, std::span<const ricci_lowering* const> lowerings, Uses& uses) const;

  // ---- kernel_rows.cc ----
  enum class Kept : uint8_t { kNot, kValue, kRow };
  struct StoreThrough {  // where elements of one result of a body by rows go
    uint32_t result;
    ArrayId to;
    std::vector<prim::ViewMap> maps;  // one of them for each element
  };
  absl::Status InlineFusion(const ir::Equation& eqn, uint32_t n_rows, std::span<const ArrayId> in,
                            std::span<const ArrayId> dst);
  absl::Status InlineRows(const ir::Program& f, uint32_t n_rows, std::span<const ArrayId> in,
                          std::span<const ArrayId> dst, std::span<const StoreThrough> elsewhere);
  absl::Status StoreElsewhere(const StoreThrough& s, std::span<const int64_t> shape, Val v);
  absl::StatusOr<std::vector<Kept>> ChooseKept(const ir::Program& f, std::span<const ricci_lowering* const> lowerings);
  void KeepWhatViewsRead(const ir::Program& f, std::span<const ricci_lowering* const> lowerings,
                         std::span<const int64_t> own, const RowReads& reads, std::span<Kept> kept) const;
  static std::vector<int64_t> CostOfRows(const ir::Program& f, std::span<const int64_t> own,
                                         std::span<const Kept> kept);
  absl::Status RowEquation(const ir::Program& f, const ir::Equation& eqn, const ricci_lowering& l,
                           std::span<const Kept> kept, std::span<const ArrayId> dst_of, std::vector<ArrayId>& env);
  absl::StatusOr<ArrayId> PrivateRow(ir::TypeId t);
  absl::Status CheckRow(const Index& index);
  absl::Status LeaveRow(std::string_view what);
  void OpenRow(std::span<const int64_t> extents);

  prim::Registry& registry_;
  const Target& target_;
  ElementWriter w_;
  std::vector<Array> arrays_{1};
  std::vector<Binding> bindings_;
  std::vector<absl::Status> checks_;
  Context context_;
  Row row_;
  int64_t most_in_lanes_ = 0;  // of an array in the program being inlined, to be written out individually
  bool left_row_ = false;      // something has accessed a row other than the one being computed
  struct Evaluated {
    Val value = 0;
    uint32_t scope = 0;  // the block in which it was evaluated and is valid
  };
  base::HashMap<std::vector<uint32_t>, Evaluated> memo_;  // (array, flat, index...) -> element
  std::vector<ir::ProgramRef> decomposed_;                // keeps programs of decompositions alive
};

inline ricci_kernel_builder* Abi(KernelBuilder* k) { return reinterpret_cast<ricci_kernel_builder*>(k); }
inline KernelBuilder* FromAbi(ricci_kernel_builder* k) { return reinterpret_cast<KernelBuilder*>(k); }
inline const KernelBuilder* FromAbi(const ricci_kernel_builder* k) { return reinterpret_cast<const KernelBuilder*>(k); }

}}}  // namespace ricci::v0::pass
#endif
