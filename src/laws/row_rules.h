// The rules of a row: each is there, or the row says why it cannot be.
#ifndef RICCI_LAWS_ROW_RULES_H_
#define RICCI_LAWS_ROW_RULES_H_
#include "laws/trial.h"
#include "prim/row.h"

namespace ricci { inline namespace v0 { namespace laws {

// RICCI_CHECK_* of the laws that a rule that is NULL leaves out.
uint32_t LawsWithoutRule(const prim::Row& row);
// Under the law `rules`: jvp, transpose and batch either exist or are named in `missing`, not both.
void CheckRules(const prim::Row& row, Findings& findings);

}}}  // namespace ricci::v0::laws
#endif
