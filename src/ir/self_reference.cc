#include "ir/self_reference.h"

#include "base/hash_map.h"
#include "base/status.h"

namespace ricci::inline v0::ir {

int64_t SelfLevel(std::span<const ricci_attr> attrs) {
  const ricci_attr* a = FindAttr(attrs, kSelf);
  return a != nullptr && a->kind == RICCI_ATTR_INT ? a->i : 0;
}

bool IsRecursive(std::span<const ricci_attr> attrs) {
  bool any = SelfLevel(attrs) != 0;
  for (const ricci_attr& a : attrs) {
    for (ricci_program* p : Programs(a)) any |= FromAbi(p)->recursive;
  }
  return any;
}

absl::Status EachSelf(const Program& held, PrimId prim,
                      const std::function<absl::Status(const Program&, const Equation&)>& see) {
  using Place = std::pair<const Program*, int64_t>;  // a program, and the level that the holder of `held` has there
  std::vector<Place> stack;
  base::HashSet<Place> seen;
  const auto enter = [&](const Program* p, int64_t level) {
    if (p->recursive && seen.insert({p, level}).second) stack.push_back({p, level});
  };
  enter(&held, 1);
  while (!stack.empty()) {
    const auto [p, level] = stack.back();
    stack.pop_back();
    for (const Equation& e : p->equations) {
      if (e.prim == prim && SelfLevel(e.attrs) == level) RICCI_TRY(see(*p, e));
      for (const ricci_attr& a : e.attrs) {
        for (ricci_program* inner : Programs(a)) enter(FromAbi(inner), level + (e.prim == prim));
      }
    }
  }
  return absl::OkStatus();
}

}  // namespace ricci::inline v0::ir
