// ricci/callbacks.hpp: functions of the host inside of traced programs, as jax.pure_callback and its kin, and as rules
// for vmap.
//
// The function is kept by the context, under a name of its own, until the context ends; it is called on any thread,
// with data in row-major order that is valid until it returns. An exception that it throws is the error of the run.
// Derivatives of pure_callback and io_callback are refused: put them into a function with custom_jvp or custom_vjp.
#ifndef RICCI_CALLBACKS_HPP_
#define RICCI_CALLBACKS_HPP_
#include <functional>

#include "ricci/derivatives.hpp"

namespace ricci { inline namespace v0 {

// One operand of a function of the host (`Byte` is const std::byte) or one result (std::byte).
template <typename Byte>
struct HostData {
  ShapeDType type;
  std::span<Byte> bytes;
  // The elements; T must have the size of the dtype.
  template <typename T>
  auto as() const {
    using Element = std::conditional_t<std::is_const_v<Byte>, const T, T>;
    return std::span<Element>(reinterpret_cast<Element*>(bytes.data()), bytes.size() / sizeof(T));
  }
};
using HostOperand = HostData<const std::byte>;
using HostResult = HostData<std::byte>;
using HostFunction = std::function<void(std::span<const HostOperand> in, std::span<const HostResult> out)>;

struct PureCallbackOptions {
  // How vmap calls it: `sequential`, once for each element; `expand_dims` and `broadcast_all`, once for all, with the
  // operands that are not batched given a leading dimension of 1, or repeated. Empty: vmap is refused.
  std::string_view vmap_method = {};
};
struct IoCallbackOptions {
  bool ordered = false;  // vmap is refused
};

// What f gives for xs, one array for each type of `results`. It may be called any number of times.
Values pure_callback(HostFunction f, std::span<const ShapeDType> results, std::initializer_list<Operand> xs,
                     PureCallbackOptions options = {});
Value pure_callback(HostFunction f, const ShapeDType& result, std::initializer_list<Operand> xs,
                    PureCallbackOptions options = {});
// The same of a function that does more: it is called once, even if nothing needs its results, in program order.
Values io_callback(HostFunction f, std::span<const ShapeDType> results, std::initializer_list<Operand> xs,
                   IoCallbackOptions options = {});
// Calls f with xs; f has no results. Derivatives pass it by, vmap calls it for each element.
void debug_callback(HostFunction f, std::initializer_list<Operand> xs);
// Passes `fmt`, with the elements of xs in the place of each {}, to the log of the context: stderr by default.
void debug_print(std::string_view fmt, std::initializer_list<Operand> xs);

// What a batching rule gives: the leaves of the result, and which of them have the batch as dimension 0; the others are
// the same for all elements.
struct HostBatch {
  Values results;
  std::vector<bool> batched;
};
// `xs`: the leaves of the arguments; those that are batched have the batch, `size` elements, as dimension 0.
using BatchRule = std::function<HostBatch(int64_t size, const Values& xs, const std::vector<bool>& batched)>;
Values CustomVmapLeaves(const CallSite& site, LeafFunction f, const Values& leaves, BatchRule rule);
// f, whose vmap is what `rule` makes (jax.custom_batching.custom_vmap). f may capture nothing that is traced: the rule
// would not see it. Derivatives are those of f, and under vmap in forward mode those of what the rule makes.
template <typename F>
auto custom_vmap(F f, BatchRule rule, Location at = Location::Here()) {
  return Transformed("custom_vmap", at,
                     [f = std::move(f), rule = std::move(rule)](const CallSite& site, const auto&... args) {
                       const auto in = std::make_tuple(args...);
                       TracedFunction traced(f, in);
                       const Values out = CustomVmapLeaves(site, traced, LeavesOfAll<Value>(in), rule);
                       return Fill<Value>(traced.out(), out);
                     });
}

}}  // namespace ricci::v0
#endif
