#include "ir/self_reference.h"

#include "base/hash_map.h"
#include "base/status.h"

namespace ricci { inline namespace v0 { namespace ir {

int64_t SelfLevel(std::span<const ricci_attr> attrs) {
  const ricci_attr* a = FindAttr(attrs, kSelf);
  return a != nullptr && a->kind == RICCI_ATTR_INT ? a->i : 0;
}

int64_t OutwardLevel(const Program& f, PrimId prim) {
  for (const Program::Outward& o : f.outward) {
    if (o.prim == prim) return o.level;
  }
  return 0;
}

namespace {

// Calls `add` with the primitive and level of each outermost reference out of an equation.
template <typename Add>
void EachOutward(PrimId prim, std::span<const ricci_attr> attrs, Add&& add) {
  if (const int64_t level = SelfLevel(attrs); level > 0) add(prim, level);
  for (const ricci_attr& a : attrs) {
    for (ricci_program* p : Programs(a)) {
      for (const Program::Outward& o : FromAbi(p)->outward) {
        if (const int64_t level = o.level - (o.prim == prim); level > 0) add(o.prim, level);
      }
    }
  }
}

}  // namespace

void AddOutward(base::Vec<Program::Outward>& outward, PrimId prim, std::span<const ricci_attr> attrs) {
  EachOutward(prim, attrs, [&](PrimId of, int64_t level) {
    const auto known = std::ranges::find(outward, of, &Program::Outward::prim);
    if (known == outward.end()) {
      outward.push_back({of, level});
    } else {
      known->level = std::max(known->level, level);
    }
  });
}

bool RefersOutward(const Equation& e) {
  bool any = false;
  EachOutward(e.prim, e.attrs, [&](PrimId, int64_t) { any = true; });
  return any;
}

absl::Status EachSelf(const Program& held, PrimId prim,
                      const std::function<absl::Status(const Program&, const Equation&)>& see) {
  using Visit = std::pair<const Program*, int64_t>;  // a program, and the level that the holder of `held` has there
  std::vector<Visit> stack;
  base::HashSet<Visit> seen;
  const auto enter = [&](const Program* p, int64_t level) {
    if (OutwardLevel(*p, prim) >= level && seen.insert({p, level}).second) stack.push_back({p, level});
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

}}}  // namespace ricci::v0::ir
