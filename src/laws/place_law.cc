#include "laws/place_law.h"

#include <cstring>

#include "prim/place.h"
#include "trace/builder.h"

namespace ricci { inline namespace v0 { namespace laws {
namespace {

struct Found {
  uint32_t equation;
  std::vector<prim::Place> places;  // per operand
};

// The flat position that element `x` has in an array of type `t`.
int64_t Position(const Type& t, const std::vector<int64_t>& x) {
  int64_t at = 0;
  for (size_t d = 0; d < x.size(); ++d) at = at * t.dims[d] + x[d];
  return at;
}

// Calls f(x, y) for each element x of the operand that is in the result, where it is y.
template <typename F>
absl::Status ForEach(const prim::Place& p, const F& f) {
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
absl::Status CheckValues(const Signature& s, const std::vector<prim::Place>& places, std::span<const Bytes> values) {
  const Type& out = s.results[0];
  const Bytes& result = values[places.size()];
  std::vector<uint8_t> told(static_cast<size_t>(out.elements), 0);
  for (uint32_t i = 0; i < places.size(); ++i) {
    const size_t size = out.elements == 0 ? 0 : result.size() / static_cast<size_t>(out.elements);
    RICCI_TRY(ForEach(places[i], [&](const std::vector<int64_t>& x, const std::vector<int64_t>& y) -> absl::Status {
      const auto from = static_cast<size_t>(Position(s.params[i], x)), to = static_cast<size_t>(Position(out, y));
      const bool equal = std::memcmp(values[i].data() + from * size, result.data() + to * size, size) == 0;
      if (equal && told[to]++ == 0) return absl::OkStatus();
      return absl::FailedPreconditionError(base::Cat("`place` of operand ", i, ": its element ", from, " is ",
                                                     equal ? "not the only one with a place at" : "not", " element ",
                                                     to, " of the result"));
    }));
  }
  for (size_t i = 0; i < told.size(); ++i) {
    if (told[i] != 0) continue;
    return absl::FailedPreconditionError(
        base::Cat("`place`: no operand has a place for element ", i, " of the result"));
  }
  return absl::OkStatus();
}

absl::StatusOr<std::vector<prim::Place>> PlacesOf(prim::Registry& registry, const ricci_op& op) {
  std::vector<prim::Place> places;
  for (uint32_t i = 0; i < op.n_in; ++i) {
    RICCI_ASSIGN(const std::optional<prim::Place> place, prim::PlaceOf(registry, op, i));
    if (!place) return std::vector<prim::Place>();
    places.push_back(*place);
  }
  return places;
}

}  // namespace

absl::StatusOr<bool> PlaceLaw::Check(ricci_device* ref, Runnable& p, const Arrays& inputs) {
  const ir::Program& f = *ir::FromAbi(p.program());
  prim::Registry& registry = prim::Registry::Of(f);
  std::vector<Found> found;
  std::vector<ir::ValueId> wanted;
  for (uint32_t i = 0; i < f.equations.size(); ++i) {
    const trace::Op op(f, f.equations[i]);
    RICCI_ASSIGN(std::vector<prim::Place> places, PlacesOf(registry, *op.get()));
    if (places.empty() || !operations_.IsNew(*op.get())) continue;
    found.push_back({i, std::move(places)});
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
    RICCI_TRY(About(registry.Get(op->prim), CheckValues(signature, one.places, left)));
    left = left.subspan(one.places.size() + 1);
  }
  return true;
}

}}}  // namespace ricci::v0::laws
