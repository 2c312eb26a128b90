// ricci/linear_map.hpp: what vjp and linearize return: a linear function that holds what depends on the point only.
//
// vjp and linearize are classes, so that an error can name the location of their caller.
#ifndef RICCI_LINEAR_MAP_HPP_
#define RICCI_LINEAR_MAP_HPP_
#include "ricci/callable.hpp"

namespace ricci { inline namespace v0 {

// The linear function over lists of leaves; leaves that are not floating are ignored and come out as zeros. L: Value
// for a map made inside of a trace, Array for one made outside, which is compiled when it is made.
template <typename L>
struct LeafMap {
  std::string_view name, what;  // `vjp` takes a `cotangent`, `linearize` a `tangent`
  ricci_ctx* ctx = nullptr;
  Program program;        // residuals, floating leaves in -> floating leaves out
  Executable executable;  // outside of a trace
  std::vector<L> residuals;
  std::vector<ricci_type> in, out;  // types of all leaves
};
Values ApplyMap(const Location& at, const LeafMap<Value>& map, const Values& given);
Values ApplyMap(const Location& at, const LeafMap<Array>& map, const Values& given);
Arrays ApplyMap(const Location& at, const LeafMap<Array>& map, const Arrays& given);

template <typename L>
struct LinearParts {
  std::vector<L> value;
  LeafMap<L> map;
};
// `n_main`: how many leaves of the result are differentiated, the first ones; set when f is traced, NULL for all. The
// others are auxiliary: the map neither takes nor gives anything for them.
LinearParts<Value> VjpLeaves(const CallSite& site, LeafFunction f, const Values& x, const size_t* n_main = nullptr);
LinearParts<Array> VjpLeaves(const CallSite& site, LeafFunction f, const Arrays& x, const size_t* n_main = nullptr);
LinearParts<Value> LinearizeLeaves(const CallSite& site, LeafFunction f, const Values& x,
                                   const size_t* n_main = nullptr);
LinearParts<Array> LinearizeLeaves(const CallSite& site, LeafFunction f, const Arrays& x,
                                   const size_t* n_main = nullptr);

// The cotangents of f's arguments from a cotangent of its result.
template <typename L, typename Out, typename... T>
class Pullback {
 public:
  Pullback(LeafMap<L> map, Out like, std::tuple<T...> args)
      : map_(std::move(map)), like_(std::move(like)), args_(std::move(args)) {}
  // `ct` has the structure of f's result; the result is a tuple, one entry per argument.
  std::tuple<Rebind<T, Value>...> operator()(const Rebind<Out, Value>& ct, Location at = Location::Here()) const {
    return FillAll<Value>(args_, std::span<const Value>(ApplyMap(at, map_, LeavesOf<Value>(ct))));
  }
  std::tuple<Rebind<T, Array>...> operator()(const Rebind<Out, Array>& ct,
                                             Location at = Location::Here()) const requires std::same_as<L, Array> {
    return FillAll<Array>(args_, std::span<const Array>(ApplyMap(at, map_, LeavesOf<Array>(ct))));
  }

 private:
  LeafMap<L> map_;
  Out like_;
  std::tuple<T...> args_;
};

// The derivative of f at a point as a function of tangents, one per argument of f.
template <typename L, typename Out, typename... T>
class Linearized {
 public:
  Linearized(LeafMap<L> map, Out like, const std::tuple<T...>&) : map_(std::move(map)), like_(std::move(like)) {}
  Rebind<Out, Value> operator()(const Rebind<T, Value>&... tangents, Location at = Location::Here()) const {
    const std::tuple<const Rebind<T, Value>&...> in(tangents...);
    return Fill<Value>(like_, ApplyMap(at, map_, LeavesOfAll<Value>(in)));
  }
  Rebind<Out, Array> operator()(const Rebind<T, Array>&... tangents,
                                Location at = Location::Here()) const requires std::same_as<L, Array> {
    const std::tuple<const Rebind<T, Array>&...> in(tangents...);
    return Fill<Array>(like_, ApplyMap(at, map_, LeavesOfAll<Array>(in)));
  }

 private:
  LeafMap<L> map_;
  Out like_;
};

}}  // namespace ricci::v0
#endif
