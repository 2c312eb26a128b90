#include "laws/view_map_law.h"

#include <cstring>

#include "prim/view_map.h"
#include "trace/builder.h"

namespace ricci { inline namespace v0 { namespace laws {
namespace {

struct Found {
  uint32_t equation;
  std::vector<prim::ViewMap> maps;  // per operand
};

// The flat position that element `x` has in an array of type `t`.
int64_t Position(const Type& t, const std::vector<int64_t>& x) {
  int64_t at = 0;
  for (size_t d = 0; d < x.size(); ++d) at = at * t.dims[d] + x[d];
  return at;
}

// Calls f(x, y) for each element x of the operand that is in the result, where it is y.
template <typename F>
absl::Status ForEach(const prim::ViewMap& p, const F& f) {
  std::vector<int64_t> x = p.first, y(p.from.size());
  for (int64_t n = p.elements(); n > 0; --n) {
    for (size_t j = 0; j < y.size(); ++j) {
      y[j] = p.shift[j] + (p.from[j] < 0 ? 0 : x[static_cast<size_t>(p.from[j])]);  // exact: a dimension
    }
    RICCI_TRY(f(x, y));
    for (size_t d = x.size(); d-- > 0 && ++x[d] == p.limit[d];) x[d] = p.first[d];
  }
  return absl::OkStatus();
}

// `values`: of the operands, then of the result.
absl::Status CheckValues(const Signature& s, const std::vector<prim::ViewMap>& maps, std::span<const Bytes> values) {
  const Type& out = s.results[0];
  const Bytes& result = values[maps.size()];
  std::vector<uint8_t> told(static_cast<size_t>(out.elements), 0);
  for (uint32_t i = 0; i < maps.size(); ++i) {
    const size_t size = out.elements == 0 ? 0 : result.size() / static_cast<size_t>(out.elements);
    RICCI_TRY(ForEach(maps[i], [&](const std::vector<int64_t>& x, const std::vector<int64_t>& y) -> absl::Status {
      const auto from = static_cast<size_t>(Position(s.params[i], x)), to = static_cast<size_t>(Position(out, y));
      const bool equal = std::memcmp(values[i].data() + from * size, result.data() + to * size, size) == 0;
      if (equal && told[to]++ == 0) return absl::OkStatus();
      return absl::FailedPreconditionError(base::Cat("`view_map` of operand ", i, ": its element ", from, " is ",
                                                     equal ? "not the only one that is" : "not", " element ", to,
                                                     " of the result"));
    }));
  }
  for (size_t i = 0; i < told.size(); ++i) {
    if (told[i] != 0) continue;
    return absl::FailedPreconditionError(base::Cat("`view_map`: no operand has element ", i, " of the result"));
  }
  return absl::OkStatus();
}

absl::StatusOr<std::vector<prim::ViewMap>> ViewMapsOf(prim::Registry& registry, const ricci_op& op) {
  std::vector<prim::ViewMap> maps;
  for (uint32_t i = 0; i < op.n_in; ++i) {
    RICCI_ASSIGN(const std::optional<prim::ViewMap> map, prim::ViewMapOf(registry, op, i));
    if (!map) return std::vector<prim::ViewMap>();
    maps.push_back(*map);
  }
  return maps;
}

}  // namespace

absl::StatusOr<bool> ViewMapLaw::Check(ricci_device* ref, Runnable& p, const Arrays& inputs) {
  const ir::Program& f = *ir::FromAbi(p.program());
  prim::Registry& registry = prim::Registry::Of(f);
  std::vector<Found> found;
  std::vector<ir::ValueId> wanted;
  for (uint32_t i = 0; i < f.equations.size(); ++i) {
    const trace::Op op(f, f.equations[i]);
    RICCI_ASSIGN(std::vector<prim::ViewMap> maps, ViewMapsOf(registry, *op.get()));
    if (maps.empty() || !operations_.IsNew(*op.get())) continue;
    found.push_back({i, std::move(maps)});
    wanted.insert(wanted.end(), f.equations[i].operands.begin(), f.equations[i].operands.end());
    wanted.push_back(f.equations[i].result(0));
  }
  if (found.empty()) return false;

  RICCI_ASSIGN(const RunnableRef probe, Probe(ctx_, f, wanted));
  RICCI_ASSIGN(const std::vector<Bytes> in, EncodeAll(p.params(), inputs));
  RICCI_ASSIGN(const std::vector<Bytes> values, probe->RunBytes(ref, in));
  std::span<const Bytes> left = values;
  for (const Found& one : found) {
    const trace::Op op(f, f.equations[one.equation]);
    RICCI_ASSIGN(const Signature signature, SignatureOf(ctx_, *op.get()));
    RICCI_TRY(About(registry.Get(op->prim), CheckValues(signature, one.maps, left)));
    left = left.subspan(one.maps.size() + 1);
  }
  return true;
}

}}}  // namespace ricci::v0::laws
