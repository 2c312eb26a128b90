// What the laws of single operations share: which operations are new, and their operands and results when a program
// runs.
#ifndef RICCI_LAWS_OPERATIONS_H_
#define RICCI_LAWS_OPERATIONS_H_
#include <string>
#include <vector>

#include "base/hash_map.h"
#include "laws/runnable.h"
#include "prim/row.h"

namespace ricci { inline namespace v0 { namespace laws {

class Operations {
 public:
  Operations() = default;
  // Operations of those primitives that occur in `examined`.
  explicit Operations(const ricci_program* examined);
  // Whether `op` is the first one with its primitive, types and attributes.
  bool IsNew(const ricci_op& op);

 private:
  base::HashSet<ricci_prim> examined_;
  base::HashSet<std::string> seen_;
};

// `f` with the values `wanted` as results.
absl::StatusOr<RunnableRef> Probe(ricci_ctx* ctx, const ir::Program& f, const std::vector<ir::ValueId>& wanted);

// The status with the name of the row before its message.
absl::Status About(const prim::Row& row, const absl::Status& s);

}}}  // namespace ricci::v0::laws
#endif
