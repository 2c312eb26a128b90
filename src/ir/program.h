// Program: an immutable, typed SSA function over arrays: parameters, constants, equations, results. Data only.
//
// Values are 32-bit indices: parameters first, then constants and results of equations in the order in which they were
// added. Everything is in flat arrays; attributes are kept in the form of the C ABI (their data in the program's
// arena), so that rules read them without a conversion. Nested programs are attributes, closed, and counted by the
// program that holds them.
#ifndef RICCI_IR_PROGRAM_H_
#define RICCI_IR_PROGRAM_H_
#include <memory>
#include <span>
#include <string>
#include <vector>

#include "base/arena.h"
#include "base/shared.h"
#include "ir/factors.h"
#include "ir/vocabulary.h"
#include "ricci/build.h"

namespace ricci { inline namespace v0 { namespace ir {

using ValueId = uint32_t;
using types::ArrayType;
using types::TypeId;

class Program;
using ProgramRef = base::Ref<const Program>;

// Bytes of a constant, shared by all programs that hold it; hashed once. They are a copy, or memory of another owner,
// such as a mapped file.
class ConstantData {
 public:
  ConstantData(const base::HostMemory* memory, std::span<const std::byte> from);
  ConstantData(std::shared_ptr<const void> owner, std::span<const std::byte> in_place);
  ConstantData(const ConstantData&) = delete;

 private:
  base::Vec<std::byte> own_;
  std::shared_ptr<const void> owner_;

 public:
  const std::span<const std::byte> bytes;
  const uint64_t hash;
};

struct Constant {
  ValueId value;
  bool splat;  // data holds one element for all
  std::shared_ptr<const ConstantData> data;
};

struct Equation {
  PrimId prim;
  LocationId location;
  std::span<const ValueId> operands;
  std::span<const ricci_attr> attrs;  // in the order of the row's attr_specs
  ValueId first_result;               // results are consecutive
  uint32_t n_results;
  const TypeId* types;  // of the operands, then of the results

  ValueId result(uint32_t i) const { return first_result + i; }
};

// Where a value comes from.
enum class ValueKind : uint8_t { kParam, kConstant, kResult };
struct Value {
  TypeId type;
  ValueKind kind;
  uint32_t index;  // of the parameter, constant or equation
};

class Program final : public base::Shared {
  Vocabulary* vocabulary_;
  base::Ref<base::Shared> context_;  // declared first: it owns the memory of all other members

 public:
  explicit Program(Vocabulary* vocabulary);

  Vocabulary* vocabulary() const { return vocabulary_; }
  const base::HostMemory* memory() const { return vocabulary_->memory; }
  const ArrayType& type(ValueId v) const { return vocabulary_->types.Get(values[v].type); }
  TypeId type_id(ValueId v) const { return values[v].type; }
  uint32_t n_params() const { return static_cast<uint32_t>(param_types.size()); }
  uint32_t n_results() const { return static_cast<uint32_t>(results.size()); }
  // The constant that `v` is, or NULL.
  const Constant* constant(ValueId v) const {
    return values[v].kind == ValueKind::kConstant ? &constants[values[v].index] : nullptr;
  }
  // The equation that defines `v`, or NULL.
  const Equation* definition(ValueId v) const {
    return values[v].kind == ValueKind::kResult ? &equations[values[v].index] : nullptr;
  }

  std::string_view name;
  base::Vec<Value> values;
  base::Vec<Constant> constants;
  base::Vec<Equation> equations;
  base::Vec<ValueId> results;
  base::Vec<TypeId> param_types;   // values 0 .. n_params - 1
  base::Vec<TypeId> result_types;  // of `results`
  base::Arena arena;               // operands, attributes, texts
  base::Vec<ProgramRef> nested;    // keeps the programs in attributes alive
  uint32_t depth = 1;              // 1 + that of the deepest nested program
  uint32_t level = 0;              // how many programs and decompositions it was made within; no part of equality
  bool effectful = false;          // an equation here or in a nested program has an ordered effect
  bool holds_linear_map = false;   // the same for a linear map of which only the transpose is known
  bool custom_batch = false;       // the same for an operation whose batch is what a function of the host makes
  // The outermost equations around this program for which one in it stands (ir/self_reference.h), by primitive.
  struct Outward {
    PrimId prim;
    int64_t level;
  };
  base::Vec<Outward> outward;
  mutable FactorTable factors;  // of the equations, as far as they were needed

 private:
  ~Program() override = default;
};

// The C handle of a program is its address.
inline ricci_program* Abi(const Program* p) { return reinterpret_cast<ricci_program*>(const_cast<Program*>(p)); }
inline const Program* FromAbi(const ricci_program* p) { return reinterpret_cast<const Program*>(p); }

// Nested programs in an attribute: one for PROGRAM, several for PROGRAMS, none otherwise.
inline std::span<ricci_program* const> Programs(const ricci_attr& a) {
  const bool holds = a.kind == RICCI_ATTR_PROGRAM || a.kind == RICCI_ATTR_PROGRAMS;
  return {static_cast<ricci_program* const*>(a.data), holds ? a.count : 0};
}

// A copy of `a` whose data is in `arena`; nested programs are retained by pushing them to `nested`. The name is not
// copied.
ricci_attr CopyAttr(const ricci_attr& a, base::Arena& arena, base::Vec<ProgramRef>& nested);

// The attribute with that name, or NULL.
const ricci_attr* FindAttr(std::span<const ricci_attr> attrs, std::string_view name);

}}}  // namespace ricci::v0::ir
#endif
