// What several functions of one operation capture, each value once: operands that follow those of the arguments.
#ifndef RICCI_BINDINGS_CPP_HOST_CAPTURES_H_
#define RICCI_BINDINGS_CPP_HOST_CAPTURES_H_
#include "ricci/callable.hpp"
#include "ricci/lax.hpp"

namespace ricci { inline namespace v0 {

class Captures {
 public:
  explicit Captures(const CallSite& site) : site_(site) {}

  // `what` captures these; throws if one of them would need a derivative.
  void Add(std::string_view what, const Values& captured);
  const Values& values() const { return values_; }
  // Those of `captured`, out of `params`, which has one parameter for each of values().
  Values Pick(const Values& captured, std::span<const Value> params) const;
  // `closed` over its arguments and all captures.
  Program Over(const Closed<Value>& closed, const Values& leaves) const;

 private:
  bool IsArray(const Value& v) const;
  size_t Find(const Value& v) const;

  const CallSite& site_;
  Values values_;
};

}}  // namespace ricci::v0
#endif
