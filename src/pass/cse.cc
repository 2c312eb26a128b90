// cse: equal pure equations on the same operands become one, equal constants too; nested programs on their own.
//
// Runs before checkpoint bodies are inlined into their surroundings is not needed: see inline_calls.cc for what keeps a
// second computation apart.
#include "base/hash.h"
#include "base/hash_map.h"
#include "ir/structural.h"
#include "pass/pass.h"

namespace ricci::inline v0::pass {
namespace {

bool SameAttr(const ricci_attr& a, const ricci_attr& b) {
  if (a.kind != b.kind || a.count != b.count || a.i != b.i || std::memcmp(&a.f, &b.f, sizeof a.f) != 0) return false;
  switch (a.kind) {
    case RICCI_ATTR_STRING:
      return std::memcmp(a.data, b.data, a.count) == 0;
    case RICCI_ATTR_INTS:
    case RICCI_ATTR_FLOATS:
      return a.count == 0 || std::memcmp(a.data, b.data, a.count * 8) == 0;
    default:
      break;
  }
  const auto p = ir::Programs(a), q = ir::Programs(b);
  for (size_t i = 0; i < p.size(); ++i) {
    if (p[i] != q[i] && !ir::Equal(*ir::FromAbi(p[i]), *ir::FromAbi(q[i]))) return false;
  }
  return true;
}

bool SameEquation(const ir::Equation& a, std::span<const trace::Val> a_in, const ir::Equation& b,
                  std::span<const trace::Val> b_in) {
  return a.prim == b.prim && a.attrs.size() == b.attrs.size() &&
         std::equal(a_in.begin(), a_in.end(), b_in.begin(), b_in.end()) &&
         std::equal(a.attrs.begin(), a.attrs.end(), b.attrs.begin(), SameAttr);
}

uint64_t HashOf(const ir::Equation& eqn, std::span<const trace::Val> in) {
  base::Hasher h;
  h.Add(eqn.prim);
  for (trace::Val v : in) h.Add(v);
  for (const ricci_attr& a : eqn.attrs) {
    h.Add(static_cast<uint64_t>(a.i));
    if (a.kind == RICCI_ATTR_INTS) {
      h.Add(std::string_view(static_cast<const char*>(a.data), a.count * sizeof(int64_t)));
    }
  }
  return h.Done();
}

struct Known {
  const ir::Equation* eqn;
  Vals in, out;
};

// Constants of one type and the same data are one value already before equations are compared.
absl::StatusOr<ir::ProgramRef> MergeConstants(const ir::Program& f) {
  base::HashMap<std::pair<uint64_t, ir::TypeId>, std::vector<ir::ValueId>> seen;
  std::vector<ir::ValueId> same(f.values.size());
  bool any = false;
  for (ir::ValueId v = 0; v < same.size(); ++v) same[v] = v;
  for (const ir::Constant& c : f.constants) {
    auto& group = seen[{c.data->hash, f.type_id(c.value)}];
    for (ir::ValueId other : group) {
      const ir::Constant& o = *f.constant(other);
      if (o.splat == c.splat && o.data->bytes == c.data->bytes) same[c.value] = other;
    }
    if (same[c.value] == c.value) group.push_back(c.value);
    any |= same[c.value] != c.value;
  }
  if (!any) return ir::ProgramRef(&f);
  RICCI_ASSIGN(auto b, Builder::Create(prim::Registry::Of(f), f.name, {f.param_types.data(), f.param_types.size()}));
  Vals env(f.values.size(), trace::kNone), in, results;
  for (uint32_t i = 0; i < f.n_params(); ++i) env[i] = b->param(i);
  for (const ir::Constant& c : f.constants) {
    if (same[c.value] == c.value) {
      RICCI_ASSIGN(env[c.value], b->Constant(f.type_id(c.value), c.splat, c.data));
    }
  }
  for (const ir::Equation& eqn : f.equations) {
    in.clear();
    for (ir::ValueId v : eqn.operands) in.push_back(env[same[v]]);
    RICCI_ASSIGN(Vals out, b->Copy(f, eqn, in));
    for (uint32_t i = 0; i < eqn.n_results; ++i) env[eqn.result(i)] = out[i];
  }
  for (ir::ValueId r : f.results) results.push_back(env[same[r]]);
  return b->Finish(results);
}

}  // namespace

absl::StatusOr<ir::ProgramRef> Cse(const ir::Program& program, const Options& options) {
  RICCI_ASSIGN(ir::ProgramRef f, MergeConstants(program));
  base::HashMap<uint64_t, std::vector<Known>> seen;
  return Rebuild(*f,
                 [&](Builder& b, const ir::Program& p, const ir::Equation& eqn,
                     std::span<const trace::Val> in) -> absl::StatusOr<Vals> {
                   const bool pure = !b.registry().HasEffect(eqn);
                   auto& group = seen[HashOf(eqn, in)];
                   for (const Known& k : group) {
                     if (pure && SameEquation(*k.eqn, k.in, eqn, in)) return k.out;
                   }
                   RICCI_ASSIGN(Vals out,
                                CopyWithNested(b, p, eqn, in, [&](const ir::Program& q) { return Cse(q, options); }));
                   if (pure) group.push_back({&eqn, Vals(in.begin(), in.end()), out});
                   return out;
                 });
}

}  // namespace ricci::inline v0::pass
