// Reductions over windows of any kind, the choices that are their derivatives, and reductions by a program.
//
// Programs are associative, also with NaN: those that choose do so by integers. Windows without an element come from
// padding and gaps; where derivatives are checked there are none.
#include "fuzz/generators.h"

namespace ricci::testing {
namespace {

using Owned = std::shared_ptr<ricci_program>;

// The attributes of a window, one or two numbers for each dimension.
struct WindowAttrs {
  Shape window, strides, padding, base, dilation;

  std::vector<ricci_attr> With(std::initializer_list<Attr> more) const {
    std::vector<ricci_attr> out(more.begin(), more.end());
    for (const Attr& a : {Attr("window_dimensions", window), Attr("window_strides", strides), Attr("padding", padding),
                          Attr("base_dilation", base), Attr("window_dilation", dilation)}) {
      out.push_back(a);
    }
    return out;
  }
};
WindowAttrs SomeWindows(Draft& d, int64_t rank) {
  constexpr int64_t kSteps[] = {1, 1, 1, 2, 3};
  const auto padding = [&] { return d.palette().smooth || d.dice().Chance(0.6) ? 0 : d.dice().Between(-1, 3); };
  WindowAttrs a;
  for (int64_t i = 0; i < rank; ++i) {
    a.window.push_back(d.dice().Chance(0.1) ? d.dice().Between(4, 9) : d.dice().Between(1, 3));
    a.strides.push_back(d.dice().Pick(kSteps));
    a.padding.push_back(padding()), a.padding.push_back(padding());
    a.base.push_back(d.palette().smooth ? 1 : d.dice().Pick(kSteps));
    a.dilation.push_back(d.dice().Pick(kSteps));
  }
  return a;
}

void ReduceWindow(Draft& d) {
  constexpr std::string_view kNames[] = {"reduce_window_sum", "reduce_window_max", "reduce_window_min"};
  const std::string_view name = d.dice().Pick(kNames);
  const bool sum = name == "reduce_window_sum";
  const Value x = d.AnyOfRank(0, 4, sum ? kNumbers : d.palette().smooth ? kOrdered : kAny);
  d.Emit(name, {x}, SomeWindows(d, x.rank()).With({}));
}
void SelectInWindows(Draft& d) {
  const Value x = d.AnyOfRank(1, 3, kFloats);
  const WindowAttrs a = SomeWindows(d, x.rank());
  const bool greatest = d.dice().Chance(0.5);
  const std::vector<ricci_attr> attrs = a.With({Attr("select_prim", greatest ? "ge" : "le")});
  if (d.dice().Chance(0.5)) {
    d.Emit("select_and_gather_add", {d.Of(x.type()), x}, attrs);
    return;
  }
  const Values pooled = d.Emit(greatest ? "reduce_window_max" : "reduce_window_min", {x}, a.With({}));
  if (!pooled.empty()) d.Emit("select_and_scatter_add", {d.Of(pooled[0].type()), x}, attrs);
}

// ---- by a program ----
struct Computed {
  Owned program;
  Values operands, init;
};
// One operation, or a + b - ab.
Computed SomeMonoid(Draft& d) {
  constexpr std::string_view kNames[] = {"add", "mul", "max", "min", "union"};
  const std::string_view name = d.dice().Pick(kNames);
  const bool orders = name == "max" || name == "min";
  Value x = d.AnyOfRank(0, 4, orders ? kReals : kNumbers);
  if (!orders && IsInexact(x.dtype())) x = d.Bounded(x);
  const ArrayType scalar = x.type().WithShape({});
  Value init = d.Of(scalar);
  if (!orders && IsInexact(x.dtype())) init = d.Bounded(init);
  Draft body(d, {scalar, scalar});
  const Value a = body.params()[0], b = body.params()[1];
  const Value y = name == "union" ? lax::sub(lax::add(a, b), lax::mul(a, b)) : Emit1(name, {a, b});
  return {body.Finish({y}), {x}, {init}};
}
// The operand at the greatest integer, the first of equal ones.
Computed SomeChoice(Draft& d) {
  const Value key = d.AnyOfRank(0, 3, kInts), x = d.Of(d.SomeDType(kOrdered), key.shape());
  const std::vector<ArrayType> side = {key.type().WithShape({}), x.type().WithShape({})};
  Draft body(d, {side[0], side[1], side[0], side[1]});
  const Values& in = body.params();
  const Value first = lax::ge(in[0], in[2]);
  const Owned program = body.Finish({lax::select(first, in[0], in[2]), lax::select(first, in[1], in[3])});
  return {program, {key, x}, {d.Of(side[0]), d.Of(side[1])}};
}
void ReduceByProgram(Draft& d) {
  const Computed c = d.dice().Chance(0.7) ? SomeMonoid(d) : SomeChoice(d);
  ricci_program* computation = c.program.get();
  Values in = c.operands;
  in.insert(in.end(), c.init.begin(), c.init.end());
  const int64_t rank = in[0].rank();
  if (d.dice().Chance(0.4)) {
    d.Emit("reduce_window", in, SomeWindows(d, rank).With({Attr("computation", computation)}));
    return;
  }
  Shape dimensions;
  for (int64_t i = 0; i < rank; ++i) {
    if (d.dice().Chance(0.5)) dimensions.push_back(i);
  }
  d.dice().Shuffle(dimensions);
  d.Emit("reduce", in, {{"computation", computation}, {"dimensions", dimensions}});
}

constexpr Generator kGenerators[] = {{2, true, ReduceWindow}, {2, true, SelectInWindows}, {2, true, ReduceByProgram}};

}  // namespace

std::span<const Generator> WindowGenerators() { return kGenerators; }

}  // namespace ricci::testing
