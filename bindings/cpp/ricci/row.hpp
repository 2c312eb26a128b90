// ricci/row.hpp: a primitive as a constant: one Row holds all its rules, written as C++ functions.
//
// A row is a constexpr aggregate of plain functions, so a table of rows needs no static constructor. Rules may throw;
// the thunks in register.hpp turn exceptions into statuses. A rule that is left out is null in the ABI's row, and a
// transform that needs it fails with a message that names primitive and rule; `missing` says why it cannot exist.
#ifndef RICCI_ROW_HPP_
#define RICCI_ROW_HPP_
#include <array>
#include <cstring>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "ricci/dtype_of.hpp"
#include "ricci/eqn.hpp"
#include "ricci/scalar.hpp"

namespace ricci { inline namespace v0 {

enum class AttrKind : uint32_t {
  kInt = RICCI_ATTR_INT,
  kFloat = RICCI_ATTR_FLOAT,
  kBool = RICCI_ATTR_BOOL,
  kDType = RICCI_ATTR_DTYPE,
  kString = RICCI_ATTR_STRING,
  kInts = RICCI_ATTR_INTS,
  kFloats = RICCI_ATTR_FLOATS,
  kProgram = RICCI_ATTR_PROGRAM,
  kPrograms = RICCI_ATTR_PROGRAMS
};
struct AttrSpec {
  std::string_view name;
  AttrKind kind;
  std::string_view absent = {};  // its value if it is left out; empty: it must be given
};

// Types of the results.
struct ArrayTypes : std::vector<ArrayType> {
  using std::vector<ArrayType>::vector;
  ArrayTypes(const ArrayType& one) : std::vector<ArrayType>{one} {}
};

// ---- arguments of the rules; spans are indexed by operand or result ----
struct Jvp {
  Values primals;
  Values tangents;      // may be symbolic zeros
  Values out;           // to be filled
  Values out_tangents;  // symbolic zeros, to be replaced
};
struct Transpose {
  Values cts;                       // one per result, may be symbolic zeros, not all
  std::span<const uint8_t> linear;  // != 0: the operation is linear in this operand
  Values operands;                  // of a linear operand only the type exists (Eqn::in)
  Values in_cts;                    // symbolic zeros, to be replaced for linear operands
};
// A value with its batch dimension; dim < 0: not batched.
struct Batched {
  Value value;
  int64_t dim = -1;
  bool is_batched() const { return dim >= 0; }
};
struct Batch {
  int64_t size;
  std::string_view axis_name;  // empty if anonymous
  std::vector<Batched> in;
  std::vector<Batched> out;  // to be filled
};

// Two programs under construction: of what is known and of what is not. A rule may divide its results the same way.
struct PartialEval {
  ricci_builder *known, *unknown;
  std::string_view policy;            // of the enclosing checkpoint; empty unless args->again is there
  bool apart;                         // RICCI_PARTIAL_EVAL_APART
  std::span<const uint8_t> is_known;  // per operand
  Values in;                          // each in its builder
  Values out;                         // to be filled, each in the builder that out_is_known says
  std::vector<uint8_t> out_is_known;  // 0 each, to be changed
  const ricci_partial_eval_args* args;

  // A known value as `unknown` sees it.
  Value Residual(const Value& v) const {
    Value out{unknown};
    Check(args->residual(args->split, v.id, &out.id));
    return out;
  }
};
// Drops what no used result needs: the rule first says which operands are used, then it emits the smaller operation.
struct DeadCode {
  std::span<const uint8_t> used_out;  // not all 0
  std::vector<uint8_t> used_in;       // 0 each, to be changed
  Values in;                          // empty in the first call; unset for operands that are not used
  Values out;                         // to be filled where used; not in the first call
};

// Where in the result the elements of an operand go (ricci_view_map). As constructed from an equation it takes all
// elements, and no dimension of the result is one of the operand's.
struct ViewMap {
  ViewMap(const Eqn& e, uint32_t operand)
      : first(e.in(operand).shape().size(), 0),
        limit(e.in(operand).shape().begin(), e.in(operand).shape().end()),
        from(e.out().shape().size(), -1),
        shift(e.out().shape().size(), 0) {}
  Shape first, limit;  // per dimension of the operand: which elements
  Shape from, shift;   // per dimension of the result: the dimension of the operand, or -1, and the offset
};

// A function as text, and how it is launched (ricci_source); `after`: launches that follow, in order.
struct Source {
  std::string text, entry;
  std::array<int64_t, 3> grid = {1, 1, 1}, block = {1, 1, 1};
  std::vector<ricci_source_scalar> scalars = {};  // SourceScalar(x)
  uint64_t workspace_bytes = 0, shared_bytes = 0, flops = 0;
  std::string_view file = {};  // where the text begins, for messages about it: `__FILE__`
  uint32_t line = 0;
  std::vector<Source> after = {};
};
// bool, an integer, float or double.
template <ElementType T>
requires(sizeof(T) <= sizeof(uint64_t) && std::is_arithmetic_v<T>) ricci_source_scalar SourceScalar(T v) {
  ricci_source_scalar s{static_cast<uint32_t>(kDTypeOf<T>), 0, 0};
  std::memcpy(&s.bits, &v, sizeof v);
  return s;
}

// ---- rules ----
// A rule that is a function, or a tag for a rule that the core supplies.
template <typename Function, typename Tag>
struct RuleOr {
  constexpr RuleOr(std::nullptr_t = nullptr) {}
  constexpr RuleOr(Function f) : function(f) {}
  constexpr RuleOr(Tag) : tagged(true) {}
  Function function = nullptr;
  bool tagged = false;
};
struct LinearTag {};       // jvp of an operation that is linear in all its floating operands together: itself
struct ElementwiseTag {};  // batch of an operation on elements: the batch comes first, the others are repeated

using TypeRule = ArrayTypes (*)(const Eqn& e);
using JvpRule = RuleOr<void (*)(const Eqn& e, Jvp& a), LinearTag>;
using TransposeRule = void (*)(const Eqn& e, Transpose& a);
using BatchRule = RuleOr<void (*)(const Eqn& e, Batch& a), ElementwiseTag>;
using PartialEvalRule = void (*)(const Eqn& e, PartialEval& a);
using DeadCodeRule = void (*)(const Eqn& e, DeadCode& a);
using FactorsRule = std::string (*)(const Eqn& e);
using ViewMapRule = std::optional<ViewMap> (*)(const Eqn& e, uint32_t operand);  // nothing: it has no such form
using ScalarRule = Scalar (*)(KernelBuilder& k, const Eqn& e, std::span<const Scalar> in);
using IndexRule = Scalar (*)(KernelBuilder& k, const Eqn& e, uint32_t result, std::span<const Scalar> index);
using LoopsRule = void (*)(KernelBuilder& k, const Eqn& e);
using DecomposeRule = Values (*)(const Eqn& e, std::span<const Value> in);
// Simpler values that equal the results, one for each, or nothing.
using SimplifyRule = Values (*)(const Eqn& e, std::span<const Value> in);
// A product and the sum that reads it as one equation that rounds once, or nothing; only[i]: nothing else reads operand
// i (ricci_prim_def.contract).
using ContractRule = Values (*)(const Eqn& e, std::span<const Value> in, std::span<const uint8_t> only);
// The text of the equation for the compiler of the target, which runs on `device`.
using SourceRule = Source (*)(const Eqn& e, ricci_device* device);
using MatchRule = bool (*)(const Eqn& e);

// ---- lowerings ----
// One way to compute an operation: one of the rules, and when it applies. Of a target's lowerings that match, the one
// with the highest priority is used; of equal ones, the first.
struct Lowering {
  ScalarRule scalar = nullptr;
  IndexRule index = nullptr;
  LoopsRule loops = nullptr;
  DecomposeRule decompose = nullptr;
  const ricci_library* library = nullptr;
  SourceRule source = nullptr;  // needs a target
  MatchRule match = nullptr;    // which equations it takes; null: all
  uint32_t flags = 0;           // RICCI_LOWERING_*
  std::string_view target = "*";
  int32_t priority = 0;
};
// The list of one lowering that takes all equations: `.lowerings = lower::Index<FromIndex>`.
namespace lower {
template <ScalarRule rule>
inline constexpr Lowering Scalar[] = {{.scalar = rule}};
template <IndexRule rule>
inline constexpr Lowering Index[] = {{.index = rule}};
template <LoopsRule rule>
inline constexpr Lowering Loops[] = {{.loops = rule}};
template <LoopsRule rule>  // the result starts as operand 0, and the rule writes what changes
inline constexpr Lowering Updates[] = {{.loops = rule, .flags = RICCI_LOWERING_UPDATES}};
template <DecomposeRule rule>
inline constexpr Lowering Decompose[] = {{.decompose = rule}};
}  // namespace lower

struct Row {
  std::string_view name;
  std::string_view doc = {};  // "z = vendor.op(x, y): what it computes", see ricci_prim_def
  std::span<const AttrSpec> attrs = {};
  uint32_t flags = 0;       // RICCI_PRIM_*
  TypeRule type = nullptr;  // types of the results, or an error about operands and attributes
  JvpRule jvp = nullptr;    // or rules::kLinear
  TransposeRule transpose = nullptr;
  BatchRule batch = nullptr;               // or rules::kElementwise
  PartialEvalRule partial_eval = nullptr;  // null: what has a known result has known operands
  DeadCodeRule dce = nullptr;              // null: any result needs all operands
  SimplifyRule simplify = nullptr;         // see producer.hpp
  ContractRule contract = nullptr;         // the same, but for the rounding
  std::string_view factors = {};           // "m k, k n -> m n; sum k"; empty: elementwise
  FactorsRule factors_of = nullptr;        // the same made from the equation
  ViewMapRule view_map = nullptr;          // for operations that only move elements: where they go
  std::span<const Lowering> lowerings = {};
  std::string_view missing = {};   // "jvp: integer result; transpose: not linear"
  std::string_view examples = {};  // for the laws: "(f64[2,3] in 0.3..3); (f64[4]) axes=[0]"
};
using RowList = std::span<const Row>;

}}  // namespace ricci::v0
#endif
