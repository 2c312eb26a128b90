#include "host/core/captures.h"

#include "host/core/tracing.h"

namespace ricci { inline namespace v0 {
namespace {

bool Same(const Value& a, const Value& b) { return a.builder == b.builder && a.id == b.id; }

// Where a value comes from, as far as its program knows: values have no names of their own.
std::string OriginOf(const Value& v) {
  const auto number = static_cast<uint32_t>(v.id);  // as the text form has it
  ricci_prim prim = 0;
  const ricci_attr* attrs = nullptr;
  uint32_t n_attrs = 0, n_operands = 0, result = 0;
  if (ricci_builder_definition(v.builder, v.id, &prim, &attrs, &n_attrs, &n_operands, &result) == 0) {
    return Text("%", number, ", an argument");
  }
  ricci_str name{};
  ricci_prim_name(v.context(), prim, &name);
  return Text("%", number, ", the result of ", name, ",");
}

}  // namespace

void Captures::Add(std::string_view what, const Values& captured) {
  for (const Value& v : captured) {
    if (IsInexact(v.dtype()) && !IsArray(v)) {
      site_.Fail(what, " captures a ", v.type(), " (", OriginOf(v),
                 " of the enclosing function), whose derivative would be lost; pass it as an argument");
    }
    if (Find(v) == values_.size()) values_.push_back(v);
  }
}
Values Captures::Pick(const Values& captured, std::span<const Value> params) const {
  Values out;
  for (const Value& v : captured) out.push_back(params[Find(v)]);
  return out;
}
Program Captures::Over(const Closed<Value>& closed, const Values& leaves) const {
  auto wrapped = [&](const CallSite&, const Values& params) {
    const Values picked = Pick(closed.captured, std::span(params).subspan(leaves.size()));
    return Inline(closed.program, Joined(Part(params, 0, leaves.size()), picked));
  };
  return Wrapped(site_, TypesOf(Joined(leaves, values_)), wrapped);
}

// An array captured by the outermost program has no derivative to lose.
bool Captures::IsArray(const Value& v) const {
  return site_.scope != nullptr && TraceOf(site_.scope)->IsCapturedArray(v);
}
size_t Captures::Find(const Value& v) const {
  size_t i = 0;
  while (i < values_.size() && !Same(values_[i], v)) ++i;
  return i;
}

}}  // namespace ricci::v0
