// ricci/loops.hpp: scan, while_loop and fori_loop over trees of Values.
//
// Inside of a trace only. Lambdas capture outer Values freely: captures become constants of the loop.
#ifndef RICCI_LOOPS_HPP_
#define RICCI_LOOPS_HPP_
#include "ricci/callable.hpp"

namespace ricci::inline v0 {

// `f` with its last parameters, from `first` on, moved to the front: where loops want what they capture.
inline Program CapturedFirst(const Program& f, size_t first, const Place& p) {
  const std::span<const ricci_type> old = f.params();
  if (first == old.size()) return f;
  std::vector<ricci_type> types(old.begin() + static_cast<int64_t>(first), old.end());
  types.insert(types.end(), old.begin(), old.begin() + static_cast<int64_t>(first));
  Tracing tracing(Value{p.builder, RICCI_VAL_NONE, p.scope}, types);
  const auto moved = static_cast<int64_t>(old.size() - first);
  Values in(tracing.params().begin() + moved, tracing.params().end());
  in.insert(in.end(), tracing.params().begin(), tracing.params().begin() + moved);
  return tracing.Finish(Inline(f, in));
}
// An equation of `prim` with the results of `n_out`, at the place where its operands are.
inline Values EmitLoop(const Place& p, std::string_view prim, const Values& in, size_t n_out,
                       std::initializer_list<Attr> attrs) {
  const Operands operands(in);
  SetLocation(operands.builder, p.at);
  return EmitN(static_cast<uint32_t>(n_out), prim, in, attrs);
}
inline void WantSameCarry(const Place& p, std::span<const ricci_type> in, std::span<const ricci_type> out,
                          size_t n_out) {
  if (in.size() != n_out) p.Fail("the carry enters with ", in.size(), " leaves and leaves with ", n_out);
  ricci_ctx* ctx = ricci_builder_context(p.builder);
  for (size_t i = 0; i < in.size(); ++i) {
    if (in[i] == out[i]) continue;
    p.Fail("leaf ", i, " of the carry enters as ", ArrayType(ctx, in[i]), " and leaves as ", ArrayType(ctx, out[i]));
  }
}

struct ScanOptions {
  int64_t length = -1;  // needed only without inputs
  bool reverse = false;
  int64_t unroll = 1;
};
// f(carry, x) gives {carry, y}. Returns {last carry, stacked ys}; x runs over the first dimension of the leaves of xs.
// Without inputs give None{} and a length; without outputs let y be None{}.
template <typename F, typename C, typename X>
auto scan(const F& f, const C& init, const X& xs, ScanOptions options = {}, Location at = Location::Here()) {
  const Place p = PlaceOfTrees("scan", at, init, xs);
  const auto carry = LiftTree(p, init);
  const auto inputs = LiftTree(p, xs);
  const Values first = LeavesOf<Value>(carry), x = LeavesOf<Value>(inputs);
  std::vector<ricci_type> types = TypesOf(first);
  for (const Value& v : x) {
    const ArrayType t = v.type();
    if (t.rank() == 0) p.Fail("input ", t, " has no dimension to run over");
    if (options.length >= 0 && t.dim(0) != options.length) {
      p.Fail("input ", t, " has ", t.dim(0), " slices, not ", options.length);
    }
    options.length = t.dim(0);
    types.push_back(t.WithShape(t.shape().subspan(1)).id());
  }
  if (options.length < 0) p.Fail("without inputs it needs a length");
  auto closed = Close(p, f, types, std::tuple<const decltype(carry)&, const decltype(inputs)&>(carry, inputs));
  const size_t n_carry = LeafCount(closed.out.first), n_out = closed.program.results().size();
  WantSameCarry(p, std::span(types).first(first.size()), closed.program.results(), n_carry);
  const Program body = CapturedFirst(closed.program, types.size(), p);
  const Values all = EmitLoop(p, "scan", Joined(Joined(closed.captured, first), x), n_out,
                              {{"body", body.handle()},
                               {"length", options.length},
                               {"reverse", options.reverse},
                               {"num_consts", closed.captured.size()},
                               {"num_carry", n_carry},
                               {"unroll", options.unroll}});
  return Fill<Value>(closed.out, all);
}

struct WhileOptions {
  int64_t max_trips = -1;  // a bound makes it differentiable in reverse mode; exceeding it is an error
};
// Repeats carry = body(carry) as long as condition(carry), a bool scalar, holds.
template <typename Condition, typename Body, typename C>
auto while_loop(const Condition& condition, const Body& body, const C& init, WhileOptions options = {},
                Location at = Location::Here()) {
  const Place p = PlaceOfTrees("while", at, init);
  const auto carry = LiftTree(p, init);
  const Values first = LeavesOf<Value>(carry);
  const std::vector<ricci_type> types = TypesOf(first);
  const std::tuple<const decltype(carry)&> like(carry);
  const auto closed_cond = Close(p, condition, types, like);
  const auto closed_body = Close(p, body, types, like);
  WantSameCarry(p, types, closed_body.program.results(), closed_body.program.results().size());
  const Program cond_program = CapturedFirst(closed_cond.program, types.size(), p);
  const Program body_program = CapturedFirst(closed_body.program, types.size(), p);
  const Values in = Joined(Joined(closed_cond.captured, closed_body.captured), first);
  const size_t n_cond = closed_cond.captured.size(), n_body = closed_body.captured.size();
  if (options.max_trips < 0) {
    return Fill<Value>(carry, EmitLoop(p, "while", in, first.size(),
                                       {{"cond", cond_program.handle()},
                                        {"body", body_program.handle()},
                                        {"cond_nconsts", n_cond},
                                        {"body_nconsts", n_body}}));
  }
  return Fill<Value>(carry, EmitLoop(p, "while", in, first.size(),
                                     {{"cond", cond_program.handle()},
                                      {"body", body_program.handle()},
                                      {"cond_nconsts", n_cond},
                                      {"body_nconsts", n_body},
                                      {"max_trips", options.max_trips}}));
}

// carry = body(i, carry) for i = lower, ..., upper - 1; i is an i32 scalar. With numbers as bounds it is a scan, which
// reverse mode goes through; with Values a while.
template <typename Body, typename C>
auto fori_loop(int64_t lower, int64_t upper, const Body& body, const C& init, Location at = Location::Here()) {
  const Place p = PlaceOfTrees("fori_loop", at, init);
  const std::pair state(p.Constant(Operand(lower, at), kDefaultInt, {}), LiftTree(p, init));
  auto step = [&](const auto& s, None) {
    return std::pair(std::pair(lax::add(s.first, lax::ones_like(s.first)), body(s.first, s.second)), None{});
  };
  return scan(step, state, None{}, {std::max<int64_t>(upper - lower, 0), false, 1}, at).first.second;
}
template <typename Body, typename C>
auto fori_loop(const Value& lower, const Value& upper, const Body& body, const C& init,
               Location at = Location::Here()) {
  const Place p = PlaceOfTrees("fori_loop", at, init, lower, upper);
  const std::pair state(p.Lift(lower, kDefaultInt), LiftTree(p, init));
  auto more = [&](const auto& s) { return lax::lt(s.first, upper); };
  auto step = [&](const auto& s) {
    return std::pair(lax::add(s.first, lax::ones_like(s.first)), body(s.first, s.second));
  };
  return while_loop(more, step, state, {}, at).second;
}

}  // namespace ricci::inline v0
#endif
