// Draft: a program being written at random: a builder, the values made so far, and ways to find or make operands.
//
// A generator asks for operands that its row accepts, draws attributes and calls Emit. What a row refuses is dropped
// and counted, so a generator may be a little too bold; sizes are checked before anything is appended.
#ifndef RICCI_TESTS_FUZZ_DRAFT_H_
#define RICCI_TESTS_FUZZ_DRAFT_H_
#include <functional>
#include <map>
#include <memory>
#include <optional>
#include <string>

#include "fuzz/dice.h"
#include "ricci/plugin.hpp"

namespace ricci::testing {

// What a program may hold.
struct Palette {
  DTypeSet dtypes = kOrdered;   // dtypes of new values; `key` comes with random rows
  bool special = true;          // NaN, infinities, -0, extreme integers
  bool smooth = false;          // only rows that have all rules, and values of moderate size: for the laws
  int64_t max_elements = 1024;  // of one value
  int max_nesting = 2;
  bool deep = false;     // bodies are small and hold a body each, to the last level
  bool large = false;    // one body of hundreds of equations with several loops one after another
  bool calls = false;    // functions of the host
  bool batched = false;  // a body within a vmap
};

// Counts over all programs of one run.
struct DraftCounts {
  std::map<std::string, int64_t> emitted, refused;
  std::map<std::string, std::string> refusal;  // the last message for each row
  std::map<std::string, int64_t> kinds;        // of kinds other than rows: `pole`, `attribute left out`, ...
};

// An equation that was emitted, with attributes of its own.
struct DrawnEquation {
  struct HeldAttr {
    ricci_attr attr;  // `data` is not used
    std::vector<std::byte> data;
  };
  std::string primitive;
  Values in;
  std::vector<HeldAttr> attrs;
  std::vector<std::shared_ptr<ricci_program>> programs;  // that `data` refers to

  // They borrow from this.
  std::vector<ricci_attr> Attrs() const;
};

class Draft {
 public:
  // A program with no parameter yet.
  Draft(ricci_ctx* ctx, Dice& dice, const Palette& palette, DraftCounts& counts);
  // A program nested in `outer` with parameters of these types.
  Draft(Draft& outer, const std::vector<ArrayType>& params);
  ~Draft() { ricci_builder_abandon(builder_); }
  Draft(const Draft&) = delete;

  Dice& dice() { return dice_; }
  const Palette& palette() const { return palette_; }
  // From now on, and in programs nested here; so is a vmap.
  void LimitElements(int64_t n) { palette_.max_elements = n; }
  void BeginVmap() { palette_.batched = true; }
  void Count(std::string_view kind) { ++counts_.kinds[std::string(kind)]; }
  ricci_ctx* context() const { return ctx_; }
  ricci_builder* builder() const { return builder_; }
  int nesting() const { return nesting_; }
  const Values& values() const { return values_; }
  const Values& params() const { return params_; }
  int64_t size() const { return equations_; }
  // The last few equations, those with effects too.
  const std::vector<DrawnEquation>& recent() const { return recent_; }

  // ---- types ----
  ArrayType Type(DType d, Dims shape) { return ArrayType::Make(ctx_, d, shape); }
  DType SomeDType(DTypeSet set);
  Shape SomeShape(int64_t rank);
  Shape SomeShape();

  // ---- operands ----
  // A value with a dtype of `set` for which `fits` holds (may be empty); none if there is none.
  Value Find(DTypeSet set, const std::function<bool(const ArrayType&)>& fits);
  // The same, or a new one.
  Value Any(DTypeSet set = kAny);
  Value AnyOfRank(int64_t low, int64_t high, DTypeSet set = kAny);
  // A value of this very type.
  Value Of(const ArrayType& type);
  Value Of(DType d, Dims shape) { return Of(Type(d, shape)); }
  // A parameter (of the outermost program) or a constant; complex numbers are made from their parts, so that what goes
  // in and out of programs is real.
  Value Fresh(const ArrayType& type);
  Value Constant(const ArrayType& type);
  Value ConstantOf(const ArrayType& type, const std::vector<std::byte>& bytes);
  // `v`, half of the time in a form of which the compiler knows nothing.
  Value Hidden(const Value& v);
  // Integers, most of them in [0, bound).
  Value Indices(Dims shape, int64_t bound);
  // `x` mapped into [-1, 1], made positive, or above 1, so that functions with such domains give more than NaN.
  Value Bounded(const Value& x);
  Value Positive(const Value& x);

  // ---- equations ----
  // The results, or none if the row refuses. They join the values. Attributes go in any order, and optional ones may be
  // left out.
  Values Emit(std::string_view primitive, const Values& in, std::initializer_list<Attr> attrs = {});
  Values Emit(std::string_view primitive, const Values& in, const std::vector<ricci_attr>& attrs);
  void Add(const Values& made);
  // Values that should be results of the program, because only they show what is tested.
  void Keep(const Values& made) { kept_.insert(kept_.end(), made.begin(), made.end()); }
  // Some of those, at most `n`.
  Values SomeKept(size_t n);
  // A value of `type`, computed here if possible.
  Value Produce(const ArrayType& type);
  // Appends about `n` random equations.
  void Grow(int64_t n);
  std::shared_ptr<ricci_program> Finish(const Values& results);

 private:
  Value AddParam(const ArrayType& type);
  Value BoundedComplex(const Value& z);
  Shape Limited(Shape shape);
  // The types of the results; empty and counted if the row refuses.
  std::optional<std::vector<ricci_type>> Infer(std::string_view primitive, const Values& in,
                                               const std::vector<ricci_attr>& attrs);
  std::vector<ricci_attr> WithSomeLeftOut(std::string_view primitive, const std::vector<ricci_attr>& attrs);
  void Remember(std::string_view primitive, const Values& in, const std::vector<ricci_attr>& attrs);

  ricci_ctx* ctx_;
  Dice& dice_;
  Palette palette_;
  DraftCounts& counts_;
  int nesting_ = 0;
  int64_t equations_ = 0;
  ricci_builder* builder_ = nullptr;
  Values values_, params_, kept_;
  std::vector<DrawnEquation> recent_;
};

// The row of that name. Its names live as long as the context.
const ricci_prim_def& RowOf(ricci_ctx* ctx, std::string_view primitive);

}  // namespace ricci::testing
#endif
