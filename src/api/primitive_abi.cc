// ricci/primitive.h and the lookup of primitives in ricci/build.h: the rows of a context.
#include "ricci/primitive.h"

#include "api/arguments.h"
#include "prim/nearest_name.h"
#include "runtime/context/context.h"

using namespace ricci;
using api::Arguments;
using api::Border;
using api::View;
using runtime::FromAbi;

extern "C" {

ricci_status* ricci_prim_find(const ricci_ctx* c, const char* name, size_t len, ricci_prim* out) {
  return Border(__func__, [&](Arguments args) -> absl::Status {
    RICCI_TRY(args.NotNull({{"c", c}, {"name", name}, {"out", out}}));
    const prim::Registry& registry = FromAbi(c)->registry();
    const prim::Row* row = registry.Find(View(name, len));
    if (row == nullptr || !row->listed()) return prim::NoSuchPrimitive(registry, View(name, len));
    *out = row->id;
    return absl::OkStatus();
  });
}

void ricci_prim_name(const ricci_ctx* c, ricci_prim p, ricci_str* out) {
  if (out != nullptr) *out = c == nullptr ? ricci_str{"", 0} : api::ToStr(FromAbi(c)->vocabulary().PrimName(p));
}

ricci_status* ricci_prim_register(ricci_ctx* c, const ricci_prim_def* d, ricci_prim* out) {
  return Border(__func__, [&](Arguments args) -> absl::Status {
    RICCI_TRY(args.NotNull({{"c", c}, {"d", d}}));
    RICCI_ASSIGN(const prim::PrimId id, FromAbi(c)->registry().Add(*d));
    FromAbi(c)->NoteRows();
    if (out != nullptr) *out = id;
    return absl::OkStatus();
  });
}

ricci_status* ricci_prim_add_lowering(ricci_ctx* c, ricci_prim p, const ricci_lowering* l) {
  return Border(__func__, [&](Arguments args) -> absl::Status {
    RICCI_TRY(args.NotNull({{"c", c}, {"l", l}}));
    FromAbi(c)->NoteRows();
    return FromAbi(c)->registry().AddLowering(p, *l);
  });
}

const ricci_prim_def* ricci_prim_at(const ricci_ctx* c, uint32_t i, ricci_prim* id) {
  const prim::Row* row = c == nullptr ? nullptr : FromAbi(c)->registry().Listed(i);
  if (row == nullptr) return nullptr;
  if (id != nullptr) *id = row->id;
  return &row->def;
}
}
