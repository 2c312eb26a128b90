// Factors: which dimensions of an operation's operands and results are one and the same, and how far the operation can
// be split along them, as numbers. FactorTable: those of the equations of a program.
//
// ricci/primitive.h says what factors mean. Rows write them as text; prim/factor_text is its one reader, and everybody
// else takes these numbers (trace/equation_factors gives them). They are found when first asked for, by any thread, and
// kept with the program: most programs are never asked.
#ifndef RICCI_IR_FACTORS_H_
#define RICCI_IR_FACTORS_H_
#include <memory>
#include <mutex>
#include <optional>
#include <string>
#include <vector>

#include "absl/status/status.h"
#include "base/arena.h"

namespace ricci::inline v0::ir {

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
  kPlace,
  kCount
};
// As in a text; empty for kParallel.
std::string_view NameOf(FactorKind kind);
// The results of two parts are combined element by element.
inline bool IsReduced(FactorKind kind) { return kind >= FactorKind::kSum && kind <= FactorKind::kXor; }
// Points along the factor are in the results and do not need each other.
inline bool IsIndependent(FactorKind kind) { return kind == FactorKind::kParallel || kind == FactorKind::kPlace; }

struct Factor {
  FactorKind kind = FactorKind::kParallel;
  int64_t size = 0;  // of each of its dimensions
};
using FactorLists = std::vector<std::vector<uint32_t>>;

struct Factors {
  absl::Status wrong;           // what is wrong with the row's text, of which nothing is taken then
  std::vector<Factor> factors;  // in the order in which they come
  FactorLists in, out;          // per operand and result: the factor of each dimension
  std::string text;             // as the row has it, and the name of each factor there: for messages
  std::vector<std::string> names;

  // How a message about one of them begins.
  std::string About(uint32_t factor) const;
};
using FactorsRef = std::shared_ptr<const Factors>;

class FactorTable {
 public:
  explicit FactorTable(const base::HostMemory* memory) : entries_(base::HostAllocator<Entry>(memory)) {}
  // What `row` has said of the equation (NULL: that nothing is known), if it was asked.
  std::optional<FactorsRef> Find(uint32_t equation, const void* row) const;
  void Keep(uint32_t equation, const void* row, FactorsRef factors);
  // `equation` is the operation that `its` is there: what is known of that holds here.
  void Share(uint32_t equation, const FactorTable& there, uint32_t its);

 private:
  struct Entry {
    const void* row = nullptr;  // one that replaces it may say something else
    FactorsRef factors;
  };
  mutable std::mutex mutex_;
  base::Vec<Entry> entries_;  // by equation
};

}  // namespace ricci::inline v0::ir
#endif
