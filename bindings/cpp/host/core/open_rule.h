// A custom derivative whose functions are being traced, and the calls of it inside of its own rule.
//
// A rule such as that of log-sum-exp applies the function itself. Tracing that call like any other would trace its rule
// again, and so on without end. Instead the call becomes an equation that stands for the one being made (`self` of
// custom_jvp and custom_vjp), which the core completes when it differentiates. A call counts as recursive if function
// and rules have the same types and capture the same plain data, and the function traces to the same program.
#ifndef RICCI_BINDINGS_CPP_HOST_OPEN_RULE_H_
#define RICCI_BINDINGS_CPP_HOST_OPEN_RULE_H_
#include "host/core/captures.h"
#include "ricci/custom_derivative.hpp"

namespace ricci { inline namespace v0 {

class OpenRule {
 public:
  OpenRule(std::string_view prim, const FunctionIdentity& identity, const Values& leaves)
      : prim_(prim), identity_(identity), leaves_(leaves) {}

  // `f`, marked while it is traced as belonging to this derivative.
  auto Inside(LeafFunction f) {
    return [this, f](const CallSite& inside, const Values& params) {
      Mark(inside);
      return f(inside, params);
    };
  }
  // The function itself, closed, and all captures; from now on its calls inside of the rules stand for it.
  void Begin(const Closed<Value>& function, const Captures& captures);
  // Whether the rules have to be traced again: they applied the function before `captures` was complete.
  bool Again(const Captures& captures) const { return applied_ && captures.values().size() != captured_.size(); }

  // The results of the call (site, leaves) of `function`, if it stands for a derivative being traced around it.
  static std::optional<Values> StandIn(const CallSite& site, std::string_view prim, const FunctionIdentity& identity,
                                       const Closed<Value>& function, const Values& leaves);
  // Throws if derivatives of this identity nest so deep that they do not seem to end.
  static void WantEnd(const CallSite& site, const FunctionIdentity& identity);

  std::string_view prim() const { return prim_; }

 private:
  void Mark(const CallSite& inside);
  bool Matches(std::string_view prim, const FunctionIdentity& identity, const Closed<Value>& function,
               const Values& leaves) const;

  const std::string_view prim_;
  const FunctionIdentity& identity_;
  const Values& leaves_;
  bool ready_ = false, applied_ = false;
  Program closed_, call_;  // over the leaves and the function's captures; over all operands
  Values captured_;
};

}}  // namespace ricci::v0
#endif
