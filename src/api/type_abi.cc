// Types and source locations of ricci/build.h.
#include "api/arguments.h"
#include "ricci/build.h"
#include "runtime/context.h"

using namespace ricci;
using api::Arguments;
using api::Border;
using runtime::FromAbi;

extern "C" {

ricci_status* ricci_type_make(ricci_ctx* c, uint32_t dtype, uint32_t rank, const int64_t* dims, ricci_type* out) {
  return Border(__func__, [&](Arguments args) -> absl::Status {
    RICCI_TRY(args.NotNull({{"c", c}, {"out", out}}));
    if (rank > RICCI_MAX_RANK) return args.Wrong("rank ", rank, " exceeds ", RICCI_MAX_RANK);
    RICCI_TRY(args.Array("dims", dims, rank));
    RICCI_ASSIGN(*out, FromAbi(c)->types().Intern(dtype, api::Span(dims, rank)));
    return absl::OkStatus();
  });
}

ricci_status* ricci_type_get(const ricci_ctx* c, ricci_type t, uint32_t* dtype, uint32_t* rank, const int64_t** dims) {
  return Border(__func__, [&](Arguments args) -> absl::Status {
    RICCI_TRY(args.NotNull({{"c", c}}));
    if (!FromAbi(c)->types().Has(t)) return args.Wrong("type ", t, " is not known");
    const types::ArrayType& type = FromAbi(c)->types().Get(t);
    if (dtype != nullptr) *dtype = type.dtype;
    if (rank != nullptr) *rank = type.rank();
    if (dims != nullptr) *dims = type.shape.data();
    return absl::OkStatus();
  });
}

void ricci_location_get(const ricci_ctx* c, uint64_t location, ricci_str* file, uint32_t* line, ricci_str* func) {
  const ir::Location* at = c == nullptr ? nullptr : &FromAbi(c)->vocabulary().GetLocation(location);
  if (file != nullptr) *file = at == nullptr ? ricci_str{"", 0} : api::ToStr(at->file);
  if (line != nullptr) *line = at == nullptr ? 0 : at->line;
  if (func != nullptr) *func = at == nullptr ? ricci_str{"", 0} : api::ToStr(at->func);
}
}
