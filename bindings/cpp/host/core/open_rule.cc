#include "host/core/open_rule.h"

#include "host/core/tracing.h"

namespace ricci { inline namespace v0 {
namespace {

constexpr int kMaxNesting = 32;  // of derivatives of one function within each other

Trace* TraceAt(const CallSite& site) { return site.scope == nullptr ? nullptr : TraceOf(site.scope); }

}  // namespace

void OpenRule::Mark(const CallSite& inside) { TraceAt(inside)->rule = this; }

void OpenRule::Begin(const Closed<Value>& function, const Captures& captures) {
  closed_ = function.program;
  captured_ = captures.values();
  call_ = captures.Over(function, leaves_);
  ready_ = true;
  applied_ = false;
}

bool OpenRule::Matches(std::string_view prim, const FunctionIdentity& identity, const Closed<Value>& function,
                       const Values& leaves) const {
  return ready_ && prim == prim_ && identity.Same(identity_) && TypesOf(leaves) == TypesOf(leaves_) &&
         ricci_program_equal(function.program.handle(), closed_.handle()) != 0;
}

std::optional<Values> OpenRule::StandIn(const CallSite& site, std::string_view prim, const FunctionIdentity& identity,
                                        const Closed<Value>& function, const Values& leaves) {
  int64_t level = 0;
  for (Trace* t = TraceAt(site); t != nullptr; t = t->parent()) {
    if (t->rule == nullptr || t->rule->prim() != prim) continue;
    ++level;
    OpenRule& around = *t->rule;
    if (!around.Matches(prim, identity, function, leaves)) continue;
    around.applied_ = true;
    ricci_program* const call = around.call_.handle();
    const auto n_out = static_cast<uint32_t>(around.call_.results().size());
    return EmitN(n_out, prim, Joined(leaves, around.captured_), {{"call", call}, {"self", level}});
  }
  return std::nullopt;
}

void OpenRule::WantEnd(const CallSite& site, const FunctionIdentity& identity) {
  int nesting = 0;
  for (Trace* t = site.scope == nullptr ? nullptr : TraceOf(site.scope)->innermost(); t != nullptr; t = t->parent()) {
    nesting += t->rule != nullptr && t->rule->identity_.type == identity.type;
  }
  if (nesting < kMaxNesting) return;
  site.Fail(
      "the function applies itself again and again; its own rule may do so, with arguments of the same types, if the "
      "function and the rules capture nothing but numbers");
}

}}  // namespace ricci::v0
