// ricci/derivatives.hpp: grad, value_and_grad, jvp, vjp, linearize, Jacobians, and functions with derivatives of their
// own.
//
// All take and give functions of trees. With Values they emit into the program of these, so they nest in any order;
// with Arrays they run under jit.
#ifndef RICCI_DERIVATIVES_HPP_
#define RICCI_DERIVATIVES_HPP_
#include "ricci/jit.hpp"
#include "ricci/vectorize.hpp"

namespace ricci::inline v0 {

// ---- grad ----
template <typename T>
inline constexpr bool kIsPair = false;
template <typename A, typename B>
inline constexpr bool kIsPair<std::pair<A, B>> = true;

// One tree as it is, several as a tuple.
template <typename Tuple>
auto OneOrTuple(Tuple&& t) {
  if constexpr (std::tuple_size_v<std::remove_cvref_t<Tuple>> == 1)
    return std::get<0>(std::forward<Tuple>(t));
  else
    return std::forward<Tuple>(t);
}
// The value of f and its gradient by the arguments kArgs.
template <size_t... kArgs, typename F, typename... T>
auto ValueAndGrad(const Place& p, const F& f, const T&... args) {
  const std::tuple<const T&...> in(args...);
  static_assert(((kArgs < sizeof...(T)) && ...), "grad: there are fewer arguments");
  auto closed = Close(p, f, in);
  const size_t counts[] = {LeafCount(args)...};
  std::vector<uint32_t> argnums;
  auto select = [&](size_t arg) {
    uint32_t first = 0;
    for (size_t i = 0; i < arg; ++i) first += static_cast<uint32_t>(counts[i]);
    for (uint32_t i = 0; i < counts[arg]; ++i) argnums.push_back(first + i);
  };
  (select(kArgs), ...);
  const Program g = MakeProgramAt(p.at, [&](ricci_program** out) {
    return ricci_grad(closed.program.handle(), argnums.data(), static_cast<uint32_t>(argnums.size()), 1, out);
  });
  const Values all = Apply(p, g, Joined(LeavesOfAll<Value>(in), closed.captured));
  size_t next = 0;
  auto value = Fill<Value>(closed.out, std::span<const Value>(all), next);
  auto grads = std::tuple{Fill<Value>(std::get<kArgs>(in), std::span<const Value>(all), next)...};
  return std::pair{std::move(value), OneOrTuple(std::move(grads))};
}
// f gives a scalar, or a pair of it and auxiliary results. value_and_grad(f)(args...) is {what f gives, gradient};
// value_and_grad<0, 2>(f): the gradient is the tuple of those by arguments 0 and 2.
template <size_t... kArgs, typename F>
auto value_and_grad(F f, Location at = Location::Here()) {
  return Transformed("value_and_grad", at, [f = std::move(f)](const Place& p, const auto&... args) {
    if constexpr (sizeof...(kArgs) == 0)
      return ValueAndGrad<0>(p, f, args...);
    else
      return ValueAndGrad<kArgs...>(p, f, args...);
  });
}
// The gradient alone, or {gradient, auxiliary results}.
template <size_t... kArgs, typename F>
auto grad(F f, Location at = Location::Here()) {
  return Transformed("grad", at, [f = std::move(f)](const Place& p, const auto&... args) {
    auto both = [&] {
      if constexpr (sizeof...(kArgs) == 0)
        return ValueAndGrad<0>(p, f, args...);
      else
        return ValueAndGrad<kArgs...>(p, f, args...);
    }();
    if constexpr (kIsPair<decltype(both.first)>)
      return std::pair{std::move(both.second), std::move(both.first.second)};
    else
      return std::move(both.second);
  });
}

// ---- forward mode ----
inline bool IsFloatType(ricci_ctx* ctx, ricci_type t) { return IsFloat(ArrayType(ctx, t).dtype()); }
inline std::vector<uint8_t> FloatMask(ricci_ctx* ctx, std::span<const ricci_type> types, size_t n) {
  std::vector<uint8_t> mask(types.size(), 0);
  for (size_t i = 0; i < n; ++i) mask[i] = IsFloatType(ctx, types[i]);
  return mask;
}
template <typename L>
std::vector<L> Selected(const std::vector<L>& all, std::span<const uint8_t> mask) {
  std::vector<L> out;
  for (size_t i = 0; i < all.size(); ++i) {
    if (mask[i]) out.push_back(all[i]);
  }
  return out;
}
// `some` where the mask is set, zeros like `all` elsewhere.
inline Values WithZeros(const Values& all, std::span<const Value> some, std::span<const uint8_t> mask) {
  Values out;
  size_t next = 0;
  for (size_t i = 0; i < all.size(); ++i) out.push_back(mask[i] ? some[next++] : lax::zeros_like(all[i]));
  return out;
}
inline void WantTangents(const Place& p, const Values& primals, const Values& tangents) {
  if (primals.size() != tangents.size()) p.Fail(primals.size(), " primals but ", tangents.size(), " tangents");
  for (size_t i = 0; i < primals.size(); ++i) {
    if (primals[i].type() != tangents[i].type()) {
      p.Fail("leaf ", i, ": the primal is ", primals[i].type(), ", its tangent ", tangents[i].type());
    }
  }
}
template <typename F, typename... T>
auto Jvp(const Place& p, const F& f, const std::tuple<T...>& primals, const std::tuple<T...>& tangents) {
  const Values x = LeavesOfAll<Value>(primals), dx = LeavesOfAll<Value>(tangents);
  WantTangents(p, x, dx);
  auto closed = Close(p, f, primals);
  const auto active = FloatMask(x[0].context(), closed.program.params(), x.size());
  const Program j = MakeProgramAt(p.at, [&](ricci_program** out) {
    return ricci_jvp(closed.program.handle(), active.data(), static_cast<uint32_t>(active.size()), out);
  });
  const Values all = Apply(p, j, Joined(Joined(x, closed.captured), Selected(dx, active)));
  const size_t n = closed.program.results().size();
  const Values y(all.begin(), all.begin() + static_cast<int64_t>(n));
  const auto has = FloatMask(x[0].context(), closed.program.results(), n);
  return std::pair{Fill<Value>(closed.out, y), Fill<Value>(closed.out, WithZeros(y, std::span(all).subspan(n), has))};
}
// {f(primals...), its directional derivative along the tangents}. Both are tuples, one entry per argument.
template <typename F, typename... T>
auto jvp(F f, const std::tuple<T...>& primals, const std::tuple<T...>& tangents, Location at = Location::Here()) {
  return Transformed("jvp", at, [f = std::move(f)](const Place& p, const auto& x, const auto& dx) {
    return Jvp(p, f, x, dx);
  })(primals, tangents);
}

// ---- reverse mode ----
inline ricci_ctx* ContextOf(const Place& p) { return ricci_builder_context(p.builder); }
inline ricci_ctx* ContextOf(const Outside& o) { return o.ctx; }
inline Value ZerosLike(const Place&, const Value& like) { return lax::zeros_like(like); }
inline Array ZerosLike(const Outside& o, const Array& like) {
  const std::vector<std::byte> bytes(static_cast<size_t>(ricci_array_bytes(like.handle())));
  return Array(like.device(), Context(o.ctx), like.dtype(), Shape(like.shape().begin(), like.shape().end()),
               bytes.data());
}
// The cotangents of f's arguments from one of its result: what vjp gives.
template <typename Site, typename L, typename Out, typename... T>
class Pullback {
 public:
  Pullback(Site site, Program bwd, std::vector<L> residuals, Out like, std::tuple<T...> args)
      : site_(site),
        bwd_(std::move(bwd)),
        residuals_(std::move(residuals)),
        like_(std::move(like)),
        args_(std::move(args)) {}
  // `ct` has the structure of f's result; the result is a tuple, one entry per argument.
  std::tuple<T...> operator()(const Rebind<Out, L>& ct) const {
    const std::vector<L> cts = LeavesOf<L>(ct), x = LeavesOfAll<L>(args_);
    std::vector<L> in = residuals_;
    for (const L& c : cts) {
      if (IsFloat(c.dtype())) in.push_back(c);
    }
    const std::vector<L> given = Apply(site_, bwd_, in);
    std::vector<L> out;
    size_t next = 0;
    for (const L& a : x) out.push_back(IsFloat(a.dtype()) ? given[next++] : ZerosLike(site_, a));
    return FillAll<L>(args_, std::span<const L>(out));
  }

 private:
  Site site_;
  Program bwd_;
  std::vector<L> residuals_;
  Out like_;
  std::tuple<T...> args_;
};
template <typename L, typename Site, typename F, typename... T>
auto Vjp(const Site& site, const F& f, const std::tuple<T...>& args) {
  auto closed = Close(site, f, args);
  const std::vector<L> x = LeavesOfAll<L>(args);
  const auto wanted = FloatMask(ContextOf(site), closed.program.params(), x.size());
  ricci_program *fwd = nullptr, *bwd = nullptr;
  CheckAt(site.at, ricci_vjp(closed.program.handle(), wanted.data(), static_cast<uint32_t>(wanted.size()), &fwd, &bwd));
  const Program forward(fwd), backward(bwd);
  const std::vector<L> all = Apply(site, forward, Joined(x, closed.captured));
  const auto n = static_cast<int64_t>(closed.program.results().size());
  auto out = Fill<L>(closed.out, std::vector<L>(all.begin(), all.begin() + n));
  return std::pair{std::move(out), Pullback<Site, L, decltype(closed.out), T...>(
                                       site, backward, std::vector<L>(all.begin() + n, all.end()), closed.out, args)};
}
template <typename... A>
Outside OutsideOf(std::string_view name, const Location& at, const std::tuple<A...>& args) {
  Outside o{name, at, nullptr};
  for (const Array& a : LeavesOfAll<Array>(args)) o.ctx = a.context();
  if (o.ctx == nullptr) FailAt(at, name, ": no argument is an array");
  return o;
}
// {f(args...), pullback}: pullback(ct) is the tuple of cotangents of the arguments.
template <typename F, typename... A>
auto vjp(const F& f, const A&... args) {
  if constexpr ((kHoldsValue<A> || ...)) {
    const Place p = PlaceOfTrees("vjp", {}, args...);
    return Vjp<Value>(p, f, std::tuple<Traced<A>...>(LiftTree(p, args)...));
  } else {
    const std::tuple<A...> in(args...);
    return Vjp<Array>(OutsideOf("vjp", {}, in), f, in);
  }
}

// ---- linearize ----
// The derivative of f at a point as a function of tangents: what linearize gives.
template <typename Site, typename L, typename Out, typename... T>
class Linearized {
 public:
  Linearized(Site site, Program linear, std::vector<L> residuals, std::vector<L> zeros, std::vector<uint8_t> has,
             Out like)
      : site_(site),
        linear_(std::move(linear)),
        residuals_(std::move(residuals)),
        zeros_(std::move(zeros)),
        has_(std::move(has)),
        like_(std::move(like)) {}
  // One tangent per argument of f.
  Rebind<Out, L> operator()(const T&... tangents) const {
    std::vector<L> in = residuals_;
    for (const L& t : LeavesOfAll<L>(std::tuple<const T&...>(tangents...))) {
      if (IsFloat(t.dtype())) in.push_back(t);
    }
    const std::vector<L> given = Apply(site_, linear_, in);
    std::vector<L> out;
    size_t next = 0;
    for (size_t i = 0; i < has_.size(); ++i) out.push_back(has_[i] ? given[next++] : zeros_[i]);
    return Fill<L>(like_, out);
  }

 private:
  Site site_;
  Program linear_;
  std::vector<L> residuals_, zeros_;  // zeros_[i] counts where has_[i] is not set
  std::vector<uint8_t> has_;
  Out like_;
};
template <typename L, typename Site, typename F, typename... T>
auto Linearize(const Site& site, const F& f, const std::tuple<T...>& args) {
  auto closed = Close(site, f, args);
  const std::vector<L> x = LeavesOfAll<L>(args);
  const auto active = FloatMask(ContextOf(site), closed.program.params(), x.size());
  const Program j = MakeProgramAt(site.at, [&](ricci_program** out) {
    return ricci_jvp(closed.program.handle(), active.data(), static_cast<uint32_t>(active.size()), out);
  });
  // Known are the primals and what results from them; tangents are not.
  const size_t n = closed.program.results().size(), n_params = active.size();
  std::vector<uint8_t> known(j.params().size(), 0), force(j.results().size(), 1), out_known(j.results().size(), 0);
  std::fill_n(known.begin(), n_params, 1);
  std::fill_n(force.begin(), n, 0);
  uint32_t n_residuals = 0;
  ricci_program *primal = nullptr, *linear = nullptr;
  CheckAt(site.at, ricci_partial_eval(j.handle(), known.data(), static_cast<uint32_t>(known.size()), force.data(),
                                      "everything", 10, out_known.data(), &n_residuals, &primal, &linear));
  const Program first(primal), second(linear);
  const std::vector<L> all = Apply(site, first, Joined(x, closed.captured));
  const std::vector<L> y(all.begin(), all.begin() + static_cast<int64_t>(n));
  std::vector<L> zeros;
  for (const L& v : y) zeros.push_back(IsFloat(v.dtype()) ? v : ZerosLike(site, v));
  using Map = Linearized<Site, L, decltype(closed.out), T...>;
  return std::pair{Fill<L>(closed.out, y),
                   Map(site, second, std::vector<L>(all.begin() + static_cast<int64_t>(n), all.end()), zeros,
                       FloatMask(ContextOf(site), closed.program.results(), n), closed.out)};
}
// {f(args...), linear map}: map(tangents...) is the directional derivative; what does not depend on them is done once.
template <typename F, typename... A>
auto linearize(const F& f, const A&... args) {
  if constexpr ((kHoldsValue<A> || ...)) {
    const Place p = PlaceOfTrees("linearize", {}, args...);
    return Linearize<Value>(p, f, std::tuple<Traced<A>...>(LiftTree(p, args)...));
  } else {
    const std::tuple<A...> in(args...);
    return Linearize<Array>(OutsideOf("linearize", {}, in), f, in);
  }
}

}  // namespace ricci::inline v0
#endif
