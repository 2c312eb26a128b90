// Factors: which dimensions of an operation's operands and results are the same, and how the operation can be split
// along them, as numbers. FactorTable: the factors of the equations of a program.
//
// ricci/primitive.h says what factors mean. Rows write them as text; prim/factor_text is its only reader, and
// everything else uses these numbers (trace/equation_factors gives them). They are read at their first use, by any
// thread, and kept with the program: for most programs they are never needed.
#ifndef RICCI_IR_FACTORS_H_
#define RICCI_IR_FACTORS_H_
#include <memory>
#include <mutex>
#include <optional>
#include <string>
#include <vector>

#include "absl/status/status.h"
#include "base/arena.h"

namespace ricci { inline namespace v0 { namespace prim {
struct Row;
}}}  // namespace ricci::v0::prim

namespace ricci { inline namespace v0 { namespace ir {

enum class FactorKind : uint8_t {
  kParallel,
  kSum,
  kProd,
  kMax,
  kMin,
  kAnd,
  kOr,
  kXor,
  kWhole,
  kSeq,
  kWindow,
  kIndexed,
  kCount
};
// The name in a text; empty for kParallel.
std::string_view NameOf(FactorKind kind);
// Whether the results of two parts are combined element by element.
inline bool IsReduced(FactorKind kind) { return kind >= FactorKind::kSum && kind <= FactorKind::kXor; }
// Whether points along the factor are in the results and do not need each other.
inline bool IsIndependent(FactorKind kind) { return kind == FactorKind::kParallel || kind == FactorKind::kIndexed; }

struct Factor {
  FactorKind kind = FactorKind::kParallel;
  int64_t size = 0;  // of each of its dimensions
};
using FactorLists = std::vector<std::vector<uint32_t>>;

struct Factors {
  absl::Status wrong;           // what is wrong with the row's text, which is ignored then
  std::vector<Factor> factors;  // in the order of their first use
  FactorLists in, out;          // per operand and result: the factor of each dimension
  std::string text;             // the row's text, and the name of each factor in it: for messages
  std::vector<std::string> names;

  // The beginning of a message about a factor.
  std::string About(uint32_t factor) const;
};
using FactorsRef = std::shared_ptr<const Factors>;

class FactorTable {
 public:
  explicit FactorTable(const base::HostMemory* memory) : entries_(base::HostAllocator<Entry>(memory)) {}
  // What `row` has said about the equation (NULL: nothing is known), if it was asked.
  std::optional<FactorsRef> Find(uint32_t equation, const prim::Row* row) const;
  void Keep(uint32_t equation, const prim::Row* row, FactorsRef factors);
  // `equation` is the same operation as `its` in `there`: what is known of that one holds for it too.
  void Share(uint32_t equation, const FactorTable& there, uint32_t its);

 private:
  struct Entry {
    const prim::Row* row = nullptr;  // a row that replaces it may say something else
    FactorsRef factors;
  };
  mutable std::mutex mutex_;
  base::Vec<Entry> entries_;  // by equation
};

}}}  // namespace ricci::v0::ir
#endif
