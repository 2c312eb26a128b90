// Builder: appends equations to a program under construction; each is typed at once by its row's abstract_eval.
//
// All programs are made with it: hosts, rules, transforms and the parser append by Emit, Copy or Inline, so every
// program is well-typed by construction. A value is {generation of its builder : 32, index : 32}; a value of another
// builder is an error, not corruption. It needs neither a tracer nor thread-local state.
#ifndef RICCI_TRACE_BUILDER_H_
#define RICCI_TRACE_BUILDER_H_
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <vector>

#include "absl/status/statusor.h"
#include "base/status.h"
#include "ir/program.h"
#include "prim/registry.h"

namespace ricci { inline namespace v0 { namespace trace {

using ir::ArrayType;
using ir::Program;
using ir::ProgramRef;
using ir::TypeId;
using prim::PrimId;
using Val = ricci_val;
using Vals = std::vector<Val>;
using Attrs = std::span<const ricci_attr>;

inline constexpr Val kNone = RICCI_VAL_NONE;
inline constexpr Val kZero = RICCI_VAL_ZERO;
inline constexpr uint32_t kMaxDepth = 256;  // of programs within programs

class Builder {
 public:
  // `depth`: how many programs this one is nested in; RESOURCE_EXHAUSTED beyond kMaxDepth.
  static absl::StatusOr<std::unique_ptr<Builder>> Create(prim::Registry& registry, std::string_view name,
                                                         std::span<const TypeId> params, uint32_t depth = 0);
  // A builder for a program nested in this one, with the location of what is being emitted now.
  absl::StatusOr<std::unique_ptr<Builder>> Nest(std::string_view name, std::span<const TypeId> params) const;

  prim::Registry& registry() const { return registry_; }
  types::TypeTable& types() const { return registry_.vocabulary().types; }
  uint32_t depth() const { return depth_; }

  absl::StatusOr<Val> AddParam(TypeId type);
  Val param(uint32_t i) const { return ToVal(params_[i]); }
  Vals params() const;

  void SetLocation(std::string_view file, uint32_t line, std::string_view func);
  void SetLocation(ir::LocationId id) { location_ = id; }
  ir::LocationId location() const { return location_; }

  // Appends prim(in) with `attrs` in any order and returns its results; nothing is appended unless there are `n_out`.
  absl::StatusOr<Vals> Emit(PrimId prim, Attrs attrs, std::span<const Val> in, std::optional<size_t> n_out = {});
  absl::StatusOr<Vals> Emit(std::string_view prim, Attrs attrs, std::span<const Val> in);
  // The same for a primitive with one result.
  absl::StatusOr<Val> Emit1(std::string_view prim, Attrs attrs, std::span<const Val> in);
  // The types that Emit's results would have.
  absl::StatusOr<std::vector<TypeId>> Infer(PrimId prim, Attrs attrs, std::span<const Val> in);
  // Appends an equation of another program with new operands. Its location becomes the current one. Types are inferred
  // again only if an operand's type differs.
  absl::StatusOr<Vals> Copy(const Program& from, const ir::Equation& eqn, std::span<const Val> in);
  // Appends all equations of `f`; returns its results.
  absl::StatusOr<Vals> Inline(const Program& f, std::span<const Val> in);

  // `bytes` holds all elements of `type`, or one element for all.
  absl::StatusOr<Val> Constant(TypeId type, std::span<const std::byte> bytes);
  absl::StatusOr<Val> Constant(TypeId type, bool splat, std::shared_ptr<const ir::ConstantData> data);
  absl::StatusOr<Val> Zero(TypeId type);
  // `v`, or zeros of `type` if it is the symbolic zero.
  absl::StatusOr<Val> Instantiate(Val v, TypeId type) { return v == kZero ? Zero(type) : absl::StatusOr<Val>(v); }

  bool Owns(Val v) const { return (v >> 32) == generation_ && Index(v) < program_->values.size(); }
  TypeId type_id(Val v) const { return program_->values[Index(v)].type; }
  const ArrayType& type(Val v) const { return program_->type(Index(v)); }
  // The program so far; the values of `v` index it.
  const Program& program() const { return *program_; }
  static uint32_t Index(Val v) { return static_cast<uint32_t>(v); }
  Val ToVal(uint32_t index) const { return (static_cast<uint64_t>(generation_) << 32) | index; }

  // Ends the program. The builder may not be used any more. `param_order` (empty = as added) lists the parameters in
  // the order of the finished program.
  absl::StatusOr<ProgramRef> Finish(std::span<const Val> results, std::span<const uint32_t> param_order = {});

  // Called by abstract_eval through the C ABI.
  absl::Status SetOutTypes(std::span<const TypeId> types);

  // Is a rule that got this builder still running? Then it may append, but not end the program or change its
  // parameters. A rule that abandons it is noted, because ricci_builder_abandon returns nothing.
  bool lent() const { return loans_ != 0; }
  void NoteAbandoned() { abandoned_ = true; }

 private:
  friend class Loan;
  Builder(prim::Registry& registry, uint32_t depth);
  absl::Status CheckOperands(const prim::Row& row, std::span<const Val> in);
  absl::Status CheckPrograms(const prim::Row& row, const ricci_attr& a) const;
  absl::Status InferTypes(const prim::Row& row, std::span<const Val> in);
  Vals Append(const prim::Row& row, Attrs attrs, std::span<const Val> in);
  absl::Status AtSite(absl::Status status, const prim::Row& row, const char* rule) const;
  std::vector<TypeId> TypesOf(std::span<const Val> in) const;

  prim::Registry& registry_;
  const uint32_t depth_;
  const uint32_t generation_;
  base::Ref<Program> program_;
  std::vector<uint32_t> params_;
  ir::LocationId location_ = 0;
  std::vector<ricci_attr> attrs_;  // of the equation being emitted, in row order
  std::vector<TypeId> out_types_;  // set by abstract_eval
  bool in_eval_ = false, out_types_set_ = false, finished_ = false, abandoned_ = false;
  uint32_t loans_ = 0;
};

// Lends a builder (NULL: none) to a rule for as long as this object lives.
class Loan {
 public:
  explicit Loan(Builder* b) : builder_(b) {
    if (b != nullptr) ++b->loans_;
  }
  ~Loan() {
    if (builder_ != nullptr) --builder_->loans_;
  }
  Loan(const Loan&) = delete;
  // INVALID_ARGUMENT if rule `rule` of `row` abandoned the builder.
  absl::Status Returned(const prim::Row& row, std::string_view rule) const;

 private:
  Builder* const builder_;
};

// The C handle of a builder is its address.
inline ricci_builder* Abi(Builder* b) { return reinterpret_cast<ricci_builder*>(b); }
inline Builder* FromAbi(ricci_builder* b) { return reinterpret_cast<Builder*>(b); }

// An equation as rules see it; borrows from the program.
class Op {
 public:
  Op(const Program& program, const ir::Equation& eqn);
  const ricci_op* get() const { return &op_; }
  const ricci_op* operator->() const { return &op_; }

 private:
  ricci_op op_;
};

}}}  // namespace ricci::v0::trace
#endif
