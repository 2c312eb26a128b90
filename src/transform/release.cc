#include "transform/release.h"

#include "base/hash_map.h"
#include "ir/self_reference.h"
#include "trace/attrs.h"
#include "trace/builder.h"

namespace ricci::inline v0::transform {
namespace {

using trace::Builder;
using trace::Vals;

// Rewrites what a program refers to outside of itself; `level` is that of the equation it is taken out of, or put into,
// at the place in question. Each pair of program and level is rewritten once.
class Rewriter {
 public:
  virtual ~Rewriter() = default;

  absl::StatusOr<ir::ProgramRef> Rewrite(const ir::Program& f, int64_t level) {
    if (ir::OutwardLevel(f, prim_) < level) return ir::ProgramRef(&f);
    if (const auto known = done_.find({&f, level}); known != done_.end()) return known->second;
    RICCI_ASSIGN(auto b, Builder::Create(prim::Registry::Of(f), f.name, {f.param_types.data(), f.param_types.size()}));
    Vals env(f.values.size(), trace::kNone), in, results;
    for (uint32_t i = 0; i < f.n_params(); ++i) env[i] = b->param(i);
    for (const ir::Constant& c : f.constants) {
      RICCI_ASSIGN(env[c.value], b->Constant(f.type_id(c.value), c.splat, c.data));
    }
    for (const ir::Equation& eqn : f.equations) {
      in.clear();
      for (ir::ValueId v : eqn.operands) in.push_back(env[v]);
      b->SetLocation(eqn.location);
      RICCI_ASSIGN(Vals out, Step(*b, f, eqn, in, level));
      for (uint32_t i = 0; i < eqn.n_results; ++i) env[eqn.result(i)] = out[i];
    }
    for (ir::ValueId r : f.results) results.push_back(env[r]);
    RICCI_ASSIGN(ir::ProgramRef made, b->Finish(results));
    done_.emplace(std::pair(&f, level), made);
    return made;
  }

 protected:
  // What an emitted equation borrows.
  struct Attributes {
    std::vector<ricci_attr> list;
    std::vector<std::vector<ricci_program*>> handles;
    std::vector<ir::ProgramRef> keep;

    void Replace(ricci_attr& a, std::vector<ir::ProgramRef> programs) {
      std::vector<ricci_program*>& list_of = handles.emplace_back();
      for (ir::ProgramRef& p : programs) {
        list_of.push_back(ir::Abi(p.get()));
        keep.push_back(std::move(p));
      }
      a.data = list_of.data();
    }
  };

  explicit Rewriter(ir::PrimId prim) : prim_(prim) {}
  // Changes `out`, the attributes of an equation that stands for the one at `level` or one further out.
  virtual absl::Status Refer(Attributes& out, int64_t level) = 0;
  absl::Status RewriteAll(ricci_attr& a, Attributes& out, int64_t level) {
    std::vector<ir::ProgramRef> programs;
    for (ricci_program* p : ir::Programs(a)) {
      RICCI_ASSIGN(ir::ProgramRef q, Rewrite(*ir::FromAbi(p), level));
      programs.push_back(std::move(q));
    }
    out.Replace(a, std::move(programs));
    return absl::OkStatus();
  }

 private:
  absl::StatusOr<Vals> Step(Builder& b, const ir::Program& f, const ir::Equation& eqn, std::span<const trace::Val> in,
                            int64_t level) {
    Attributes out;
    out.list.assign(eqn.attrs.begin(), eqn.attrs.end());
    bool changed = false;
    for (ricci_attr& a : out.list) {
      const int64_t inside = level + (eqn.prim == prim_);
      const auto refers = [&](ricci_program* p) { return ir::OutwardLevel(*ir::FromAbi(p), prim_) >= inside; };
      if (std::ranges::none_of(ir::Programs(a), refers)) continue;
      RICCI_TRY(RewriteAll(a, out, inside));
      changed = true;
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
class Sinking final : public Rewriter {
 public:
  Sinking(ir::PrimId prim, int64_t by) : Rewriter(prim), by_(by) {}

 private:
  absl::Status Refer(Attributes& out, int64_t) override {
    Self(out.list)->i += by_;
    return absl::OkStatus();
  }
  const int64_t by_;
};

class Releasing final : public Rewriter {
 public:
  Releasing(ir::PrimId prim, std::span<const ricci_attr> holder) : Rewriter(prim), prim_(prim), holder_(holder) {}

 private:
  absl::Status Refer(Attributes& out, int64_t level) override {
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
      // What the holder's programs refer to is around the holder, so it is level - 1 equations further out here; in
      // the programs themselves the holder is the first.
      Sinking sinking(prim_, level - 1);
      std::vector<ir::ProgramRef> programs;
      for (ricci_program* p : ir::Programs(theirs)) {
        RICCI_ASSIGN(ir::ProgramRef q,
                     level == 1 ? ir::ProgramRef(ir::FromAbi(p)) : sinking.Rewrite(*ir::FromAbi(p), 2));
        programs.push_back(std::move(q));
      }
      if (!programs.empty()) out.Replace(a, std::move(programs));
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

}  // namespace ricci::inline v0::transform
