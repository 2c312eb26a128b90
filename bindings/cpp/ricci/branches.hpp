// ricci/branches.hpp: cond and switch_, of which only the chosen branch runs.
//
// Inside of a trace only. Branches take the operands and capture outer Values freely; every branch gets the captures of
// all of them.
#ifndef RICCI_BRANCHES_HPP_
#define RICCI_BRANCHES_HPP_
#include "ricci/elementwise.hpp"
#include "ricci/loops.hpp"

namespace ricci::inline v0 {

struct Branch {
  Program program;
  Values captured;
};
// The branches over `n_args` parameters and then the union of all captures, which is appended to `operands`.
inline std::vector<Program> SameOperands(const Place& p, const std::vector<Branch>& branches, Values& operands) {
  const size_t n_args = operands.size();
  std::vector<std::vector<size_t>> places;  // of each branch's captures among the operands
  for (const Branch& b : branches) {
    places.emplace_back();
    for (const Value& v : b.captured) {
      size_t at = n_args;
      while (at < operands.size() && (operands[at].builder != v.builder || operands[at].id != v.id)) ++at;
      if (at == operands.size()) operands.push_back(v);
      places.back().push_back(at);
    }
  }
  const std::vector<ricci_type> types = TypesOf(operands);
  std::vector<Program> out;
  for (size_t i = 0; i < branches.size(); ++i) {
    Tracing tracing(Value{p.builder, RICCI_VAL_NONE, p.scope}, types);
    Values in(tracing.params().begin(), tracing.params().begin() + static_cast<int64_t>(n_args));
    for (size_t at : places[i]) in.push_back(tracing.params()[at]);
    const Place inside{p.name, p.at, tracing.builder(), tracing.scope()};
    out.push_back(tracing.Finish(Apply(inside, branches[i].program, in)));
  }
  return out;
}
inline void WantSameResults(const Place& p, const Program& first, const Program& other, size_t number) {
  const auto a = first.results(), b = other.results();
  if (a.size() != b.size()) p.Fail("branch 0 gives ", a.size(), " results and branch ", number, " gives ", b.size());
  ricci_ctx* ctx = ricci_builder_context(p.builder);
  for (size_t i = 0; i < a.size(); ++i) {
    if (a[i] == b[i]) continue;
    p.Fail("result ", i, " of branch 0 is ", ArrayType(ctx, a[i]), " and of branch ", number, " ",
           ArrayType(ctx, b[i]));
  }
}
template <typename... F, typename... T>
auto Choose(const Place& p, const Value& index, const std::tuple<const F&...>& branches, const std::tuple<T...>& args) {
  Values operands = LeavesOfAll<Value>(args);
  std::vector<Branch> closed;
  auto close = [&](const auto& f) {
    auto c = Close(p, f, args);
    closed.push_back({std::move(c.program), std::move(c.captured)});
    WantSameResults(p, closed[0].program, closed.back().program, closed.size() - 1);
    return std::move(c.out);
  };
  auto outs = std::apply([&](const auto&... f) { return std::tuple{close(f)...}; }, branches);
  const std::vector<Program> programs = SameOperands(p, closed, operands);
  std::vector<ricci_program*> handles;
  for (const Program& f : programs) handles.push_back(f.handle());
  operands.insert(operands.begin(), index);
  const Values all = EmitLoop(p, "cond", operands, programs[0].results().size(),
                              {{"branches", std::span<ricci_program* const>(handles)}});
  return Fill<Value>(std::get<0>(outs), all);
}

// pred ? on_true(operands...) : on_false(operands...). `pred` is a bool scalar.
template <typename True, typename False, typename... T>
auto cond(const Operand& pred, const True& on_true, const False& on_false, const T&... operands) {
  const Place p = PlaceOfTrees("cond", pred.at, Use("cond", pred), operands...);
  const Value flag = ToBool(p.Lift(pred, DType::kBool));
  if (flag.rank() != 0) p.Fail("the predicate is ", flag.type(), ", not a scalar");
  const Value index = lax::convert_element_type(flag, DType::kI32);
  return Choose(p, index, std::tuple<const False&, const True&>(on_false, on_true),
                std::tuple<Traced<T>...>(LiftTree(p, operands)...));
}
// branches[index](operands...); the index is clamped to the branches there are. `branches` is a std::tuple of
// callables.
template <typename... F, typename... T>
auto switch_(const Operand& index, const std::tuple<F...>& branches, const T&... operands) {
  const Place p = PlaceOfTrees("switch", index.at, Use("switch", index), operands...);
  const Value i = p.Lift(index, kDefaultInt);
  if (i.rank() != 0 || !IsInt(i.dtype())) p.Fail("the index is ", i.type(), ", not an integer scalar");
  return Choose(p, lax::convert_element_type(i, DType::kI32),
                std::apply([](const F&... f) { return std::tuple<const F&...>(f...); }, branches),
                std::tuple<Traced<T>...>(LiftTree(p, operands)...));
}

}  // namespace ricci::inline v0
#endif
