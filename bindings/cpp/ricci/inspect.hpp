// ricci/inspect.hpp: what a function traces to, without running it: make_program and eval_shape.
//
// Arguments are Arrays, numbers, or only shapes: ShapeDType{{2, 3}, DType::kF32} stands for an Array that need not
// exist. If no argument is an Array, the context comes first.
#ifndef RICCI_INSPECT_HPP_
#define RICCI_INSPECT_HPP_
#include "ricci/callable.hpp"

namespace ricci { inline namespace v0 {

// A context as first argument, and the location of the caller.
struct InContext {
  InContext(const Context& ctx, Location at = Location::Here()) : ctx(ctx.handle()), at(at) {}  // NOLINT
  ricci_ctx* ctx;
  Location at;
};

// The type of a leaf that is an Array or a ShapeDType.
ricci_type TypeOfLeaf(CallSite& site, const Array& a);
ricci_type TypeOfLeaf(CallSite& site, const ShapeDType& s);
template <typename T>
using ShapeArgument = std::conditional_t<Number<T>, ShapeDType, const T&>;
template <typename T>
ShapeArgument<T> ShapeOf(const T& arg) {
  if constexpr (Number<T>)
    return ShapeDType{{}, kDefaultDType<T>};
  else
    return arg;
}
// {program, structure of the result} of f for arguments like these; site.ctx is that of the arguments if it was not
// given.
template <typename F, typename... T>
auto TraceShapes(CallSite& site, const F& f, const T&... args) {
  ContextFinder find{site};
  (ForEachLeaf(args, find), ...);
  WantContext(site, "; give the context as first argument");
  std::vector<ricci_type> types;
  auto add = [&](const auto& leaf) { types.push_back(TypeOfLeaf(site, leaf)); };
  (ForEachLeaf(args, add), ...);
  const std::tuple<const T&...> in(args...);
  TracedFunction traced(f, in);
  Program program = Close<Array>(site, traced, types).program;
  return std::pair(std::move(program), traced.out());
}
ShapeDType ShapeOfResult(const Program& f, ricci_ctx* ctx, size_t i);
template <typename F, typename... A>
auto EvalShape(CallSite site, const F& f, const A&... args) {
  const auto traced = TraceShapes(site, f, static_cast<ShapeArgument<A>>(ShapeOf(args))...);
  size_t next = 0;
  auto shape_of = [&](const Value&) { return ShapeOfResult(traced.first, site.ctx, next++); };
  return MapLeaves<ShapeDType>(traced.second, shape_of);
}

// The program of f for arguments like these; captured Arrays are its last parameters. (JAX: make_jaxpr.)
template <typename F, typename... A>
requires(!std::is_convertible_v<F, InContext>) Program make_program(const F& f, const A&... args) {
  CallSite site{"make_program", {}};
  return TraceShapes(site, f, static_cast<ShapeArgument<A>>(ShapeOf(args))...).first;
}
template <typename F, typename... A>
Program make_program(const InContext& in, const F& f, const A&... args) {
  CallSite site{"make_program", in.at, nullptr, nullptr, in.ctx};
  return TraceShapes(site, f, static_cast<ShapeArgument<A>>(ShapeOf(args))...).first;
}
// Shapes and dtypes of f's result, in its structure.
template <typename F, typename... A>
requires(!std::is_convertible_v<F, InContext>) auto eval_shape(const F& f, const A&... args) {
  return EvalShape({"eval_shape", {}}, f, args...);
}
template <typename F, typename... A>
auto eval_shape(const InContext& in, const F& f, const A&... args) {
  return EvalShape({"eval_shape", in.at, nullptr, nullptr, in.ctx}, f, args...);
}

}}  // namespace ricci::v0
#endif
