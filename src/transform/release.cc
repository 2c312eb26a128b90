#include "transform/release.h"

#include "base/hash_map.h"
#include "ir/self_reference.h"
#include "trace/attrs.h"
#include "transform/rebuild.h"

namespace ricci { inline namespace v0 { namespace transform {
namespace {

using trace::Builder;
using trace::Vals;

// Rewrites what a program refers to outside of itself; `level` is that of the equation it is taken out of, or put into,
// at the place in question. Each pair of program and level is rewritten once.
class OutwardRewriter {
 public:
  virtual ~OutwardRewriter() = default;

  absl::StatusOr<ir::ProgramRef> Rewrite(const ir::Program& f, int64_t level) {
    if (ir::OutwardLevel(f, prim_) < level) return ir::ProgramRef(&f);
    if (const auto known = done_.find({&f, level}); known != done_.end()) return known->second;
    const auto step = [&](Builder& b, const ir::Program& p, const ir::Equation& eqn, std::span<const trace::Val> in) {
      return Step(b, p, eqn, in, level);
    };
    RICCI_ASSIGN(ir::ProgramRef made, Rebuild(f, step));
    done_.emplace(std::pair(&f, level), made);
    return made;
  }

 protected:
  explicit OutwardRewriter(ir::PrimId prim) : prim_(prim) {}
  // Changes `out`, the attributes of an equation that stands for the one at `level` or one further out.
  virtual absl::Status Refer(NewAttributes& out, int64_t level) = 0;

 private:
  absl::StatusOr<Vals> Step(Builder& b, const ir::Program& f, const ir::Equation& eqn, std::span<const trace::Val> in,
                            int64_t level) {
    NewAttributes out(eqn.attrs);
    const int64_t inside = level + (eqn.prim == prim_);
    bool changed = false;
    for (ricci_attr& a : out.list) {
      RICCI_ASSIGN(bool another, out.Map(a, [&](const ir::Program& p) { return Rewrite(p, inside); }));
      changed |= another;
    }
    if (eqn.prim == prim_ && ir::SelfLevel(eqn.attrs) >= level) {
      RICCI_TRY(Refer(out, level));
      changed = true;
    }
    return changed ? b.Emit(eqn.prim, out.list, in) : b.Copy(f, eqn, in);
  }

  const ir::PrimId prim_;
  base::HashMap<std::pair<const ir::Program*, int64_t>, ir::ProgramRef> done_;
};

ricci_attr* Self(std::vector<ricci_attr>& attrs) { return const_cast<ricci_attr*>(ir::FindAttr(attrs, ir::kSelf)); }

// Puts a program `by` equations of the primitive deeper.
class Sinking final : public OutwardRewriter {
 public:
  Sinking(ir::PrimId prim, int64_t by) : OutwardRewriter(prim), by_(by) {}

 private:
  absl::Status Refer(NewAttributes& out, int64_t) override {
    Self(out.list)->i += by_;
    return absl::OkStatus();
  }
  const int64_t by_;
};

class Releasing final : public OutwardRewriter {
 public:
  Releasing(ir::PrimId prim, std::span<const ricci_attr> holder)
      : OutwardRewriter(prim), prim_(prim), holder_(holder) {}

 private:
  absl::Status Refer(NewAttributes& out, int64_t level) override {
    ricci_attr* self = Self(out.list);
    if (self->i > level) {
      --self->i;
      return absl::OkStatus();
    }
    out.list.erase(out.list.begin() + (self - out.list.data()));
    for (const ricci_attr& theirs : holder_) {
      const std::string_view name(theirs.name.ptr, theirs.name.len);
      if (name == ir::kSelf || ir::FindAttr(out.list, name) != nullptr) continue;
      ricci_attr a = theirs;
      // The holder's programs refer to equations around the holder, which are level - 1 equations further out here;
      // seen from those programs, the holder is the first.
      Sinking sinking(prim_, level - 1);
      const auto sunk = [&](const ir::Program& p) {
        return level == 1 ? absl::StatusOr<ir::ProgramRef>(ir::ProgramRef(&p)) : sinking.Rewrite(p, 2);
      };
      RICCI_TRY(out.Map(a, sunk).status());
      out.list.push_back(a);
    }
    return absl::OkStatus();
  }

  const ir::PrimId prim_;
  const std::span<const ricci_attr> holder_;
};

}  // namespace

absl::StatusOr<ir::ProgramRef> Release(const ir::Program& held, ir::PrimId prim, std::span<const ricci_attr> attrs) {
  return Releasing(prim, attrs).Rewrite(held, 1);
}

}}}  // namespace ricci::v0::transform
