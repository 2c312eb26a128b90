#include "pass/reduce/resizing.h"

#include <algorithm>
#include <deque>

#include "pass/program/pass.h"

namespace ricci { inline namespace v0 { namespace pass {
namespace {

using trace::Val;
using Candidate = absl::StatusOr<ir::ProgramRef>;

// What a program is with some sizes changed; constants of another type become splats of their first element.
class Resizing {
 public:
  // Every dimension and integer attribute that is `from` becomes `to`. With `splat`, all constants become splats.
  Resizing(int64_t from, int64_t to, bool splat = false) : from_(from), to_(to), splat_(splat) {}

  Candidate Of(const ir::Program& f) const {
    std::vector<ir::TypeId> params;
    for (ir::TypeId t : f.param_types) {
      RICCI_ASSIGN(params.emplace_back(), Type(f, t));
    }
    RICCI_ASSIGN(auto b, Builder::Create(prim::Registry::Of(f), f.name, params));
    Vals env(f.values.size(), trace::kNone), results;
    for (uint32_t i = 0; i < f.n_params(); ++i) env[i] = b->param(i);
    for (const ir::Constant& c : f.constants) {
      RICCI_ASSIGN(env[c.value], Constant(*b, f, c));
    }
    for (const ir::Equation& eqn : f.equations) RICCI_TRY(Emit(*b, eqn, env));
    for (ir::ValueId r : f.results) results.push_back(env[r]);
    return b->Finish(results);
  }

 private:
  int64_t Size(int64_t n) const { return n == from_ ? to_ : n; }
  absl::StatusOr<ir::TypeId> Type(const ir::Program& f, ir::TypeId id) const {
    auto& types = prim::Registry::Of(f).vocabulary().types;
    const ir::ArrayType& t = types.Get(id);
    std::vector<int64_t> dims(t.shape.begin(), t.shape.end());
    for (int64_t& d : dims) d = Size(d);
    return types.WithShape(t, dims);
  }
  absl::StatusOr<Val> Constant(Builder& b, const ir::Program& f, const ir::Constant& c) const {
    RICCI_ASSIGN(const ir::TypeId type, Type(f, f.type_id(c.value)));
    if (type == f.type_id(c.value) && !splat_) return b.Constant(type, c.splat, c.data);
    const std::span<const std::byte> all(c.data->bytes.data(), c.data->bytes.size());
    const size_t element = ricci_dtype_size(f.type(c.value).dtype);
    if (all.size() < element) return absl::NotFoundError("no element to keep");
    return b.Constant(type, all.first(element));
  }
  absl::Status Emit(Builder& b, const ir::Equation& eqn, Vals& env) const {
    Vals in;
    for (ir::ValueId v : eqn.operands) in.push_back(env[v]);
    Attrs attrs;
    for (const ricci_attr& a : eqn.attrs) RICCI_TRY(Add(a, attrs));
    RICCI_ASSIGN(const Vals out, b.Emit(eqn.prim, attrs.all, in));
    for (uint32_t i = 0; i < eqn.n_results; ++i) env[eqn.result(i)] = out[i];
    return absl::OkStatus();
  }

  // Attributes, and what they point to.
  struct Attrs {
    std::vector<ricci_attr> all;
    std::deque<std::vector<int64_t>> lists;
    std::deque<std::vector<ricci_program*>> programs;
    std::vector<ir::ProgramRef> held;
  };
  absl::Status Add(ricci_attr a, Attrs& out) const {
    if (a.kind == RICCI_ATTR_INT) a.i = Size(a.i);
    if (a.kind == RICCI_ATTR_INTS) {
      const auto* data = static_cast<const int64_t*>(a.data);
      std::vector<int64_t>& list = out.lists.emplace_back(data, data + a.count);
      for (int64_t& v : list) v = Size(v);
      a.data = list.data();
    }
    if (!ir::Programs(a).empty()) {
      std::vector<ricci_program*>& list = out.programs.emplace_back();
      for (ricci_program* p : ir::Programs(a)) {
        RICCI_ASSIGN(ir::ProgramRef q, Of(*ir::FromAbi(p)));
        list.push_back(ir::Abi(q.get()));
        out.held.push_back(std::move(q));
      }
      a.data = list.data();
    }
    out.all.push_back(a);
    return absl::OkStatus();
  }

  const int64_t from_, to_;
  const bool splat_;
};

bool HoldsPrograms(const ir::Equation& eqn) {
  return std::ranges::any_of(eqn.attrs, [](const ricci_attr& a) { return !ir::Programs(a).empty(); });
}

void CollectSizes(const ir::Program& f, std::vector<int64_t>& sizes) {
  const auto add = [&](int64_t n) {
    if (n > 1 && std::find(sizes.begin(), sizes.end(), n) == sizes.end()) sizes.push_back(n);
  };
  for (uint32_t v = 0; v < f.values.size(); ++v) {
    for (int64_t d : f.type(v).shape) add(d);
  }
  for (const ir::Equation& eqn : f.equations) {
    if (!HoldsPrograms(eqn)) continue;
    for (const ricci_attr& a : eqn.attrs) {
      if (a.kind == RICCI_ATTR_INT) add(a.i);
      for (ricci_program* p : ir::Programs(a)) CollectSizes(*ir::FromAbi(p), sizes);
    }
  }
}

}  // namespace

Candidate Resized(const ir::Program& f, int64_t from, int64_t to, bool splat) {
  return Resizing(from, to, splat).Of(f);
}

std::vector<int64_t> SizesOf(const ir::Program& f) {
  std::vector<int64_t> sizes;
  CollectSizes(f, sizes);
  return sizes;
}

}}}  // namespace ricci::v0::pass
