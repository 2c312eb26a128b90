// Types and source locations of ricci/build.h.
#include "api/arguments.h"
#include "ricci/build.h"
#include "runtime/context/context.h"

using namespace ricci;
using api::Arguments;
using api::Border;
using runtime::FromAbi;

extern "C" {

ricci_status* ricci_type_make(ricci_ctx* c, const ricci_type_desc* d, ricci_type* out) {
  return Border(__func__, [&](Arguments args) -> absl::Status {
    RICCI_TRY(args.NotNull({{"c", c}, {"d", d}, {"out", out}}));
    RICCI_ASSIGN(const ricci_type_desc desc, base::ReadStruct(d, "ricci_type_make: d"));
    if (desc.rank > RICCI_MAX_RANK) return args.Wrong("rank ", desc.rank, " exceeds ", RICCI_MAX_RANK);
    RICCI_TRY(args.Array("dims", desc.dims, desc.rank));
    RICCI_ASSIGN(*out, FromAbi(c)->types().Intern(desc.dtype, api::Span(desc.dims, desc.rank)));
    return absl::OkStatus();
  });
}

ricci_status* ricci_type_get(const ricci_ctx* c, ricci_type t, ricci_type_desc* out) {
  return Border(__func__, [&](Arguments args) -> absl::Status {
    RICCI_TRY(args.NotNull({{"c", c}, {"out", out}}));
    if (!FromAbi(c)->types().Has(t)) return args.Wrong("type ", t, " is not known");
    const types::ArrayType& type = FromAbi(c)->types().Get(t);
    if (base::WriteStruct(out, ricci_type_desc_of(type.dtype, type.rank(), type.shape.data()))) return absl::OkStatus();
    return args.Wrong("out: hdr.size is ", out->hdr.size, "; set it to the size of the struct");
  });
}

void ricci_location_get(const ricci_ctx* c, uint64_t location, ricci_str* file, uint32_t* line, ricci_str* func) {
  const ir::Location* at = c == nullptr ? nullptr : &FromAbi(c)->vocabulary().GetLocation(location);
  if (file != nullptr) *file = at == nullptr ? ricci_str{"", 0} : api::ToStr(at->file);
  if (line != nullptr) *line = at == nullptr ? 0 : at->line;
  if (func != nullptr) *func = at == nullptr ? ricci_str{"", 0} : api::ToStr(at->func);
}
}
