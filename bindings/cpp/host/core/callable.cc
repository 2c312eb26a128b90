// Closing functions of leaves to programs, and applying programs to leaves.
#include "ricci/callable.hpp"

#include <algorithm>
#include <cstring>

#include "host/core/tracing.h"
#include "ricci/lax.hpp"
#include "ricci/tree_map.hpp"

namespace ricci { inline namespace v0 {

void AppendLeaf(Values& out, const Value& leaf) { out.push_back(leaf); }
void AppendLeaf(Arrays& out, const Array& leaf) { out.push_back(leaf); }
void AppendBytes(TreeKey& key, const void* data, size_t size) {
  key.push_back(size);
  for (size_t i = 0; i < size; i += 8) {
    uint64_t word = 0;
    std::memcpy(&word, static_cast<const char*>(data) + i, size - i < 8 ? size - i : 8);
    key.push_back(word);
  }
}

void FailOnTrees(std::string_view name, const Location& at, size_t tree) {
  FailAt(at, name, ": tree ", tree, " differs from tree 0 in its sizes, keys or numbers");
}

CallSite SiteOfValues(std::string_view name, const Location& at, const Values& leaves) {
  std::vector<Operand> operands;
  for (const Value& v : leaves) operands.emplace_back(v, at);
  if (operands.empty()) FailAt(at, name, ": no argument contains a traced value");
  return SiteOf(name, operands);
}
CallSite SiteOfCallOn(std::string_view name, const Location& at, const Values& leaves) {
  const bool pending = std::all_of(leaves.begin(), leaves.end(), IsPending);
  if (leaves.empty() || !pending) return SiteOfValues(name, at, leaves);
  const CallSite outside{name, at, nullptr, nullptr, leaves[0].context()};
  for (const Value& v : leaves) {
    if (v.context() != outside.ctx) outside.Fail("operands belong to two contexts; use one for all");
  }
  ComputeAll(outside, leaves);
  return DeferredSite(outside);
}
void ContextFinder::operator()(const Array& leaf) {
  if (leaf.empty()) site.Fail("an array was never set");
  if (site.ctx == nullptr) site.ctx = leaf.context();
  if (site.ctx == leaf.context()) return;
  site.Fail("the array ", leaf.type(),
            " belongs to another context than those before it; make all arrays of a call in one");
}
void WantContext(const CallSite& site, std::string_view advice) {
  if (site.ctx == nullptr) site.Fail("no argument is an array", advice);
}
Value LiftNumber(const CallSite& site, const Operand& number) {
  return site.Lift(number, PromoteWeak(DType::kNone, number.weak));
}
Value LiftLeaf(const CallSite& site, const Value& leaf) {
  CheckOpen(leaf, site.at, site.name);
  if (leaf.builder != site.builder && site.scope != nullptr && !IsPending(leaf) &&
      !TraceOf(site.scope)->Reaches(leaf.builder)) {
    site.Fail("a value of another trace is used; pass it as an argument");
  }
  return site.Lift(Operand(leaf, site.at), DType::kNone);
}
Value LiftLeaf(const CallSite& site, const Array& leaf) {
  if (leaf.empty()) site.Fail("an array was never set");
  return site.Lift(Operand(leaf, site.at), DType::kNone);
}

template <>
Closed<Value> Close<Value>(const CallSite& site, LeafFunction f, std::span<const ricci_type> types) {
  const Ref<Trace> trace = Trace::Begin(site, types);
  Program program = trace->Run(site, f);
  return {std::move(program), trace->TakeCaptured()};
}
template <>
Closed<Array> Close<Array>(const CallSite& site, LeafFunction f, std::span<const ricci_type> types) {
  const Ref<Trace> trace = Trace::Begin(site, types);
  Program program = trace->Run(site, f);
  return {std::move(program), trace->TakeArrays()};
}
Program Wrapped(const CallSite& site, std::span<const ricci_type> types, LeafFunction f) {
  return Close(site, f, types).program;
}

std::vector<ricci_type> TypesOf(const Values& leaves) {
  std::vector<ricci_type> out;
  for (const Value& v : leaves) out.push_back(v.type().id());
  return out;
}
std::vector<ricci_type> TypesOf(const Arrays& leaves) {
  std::vector<ricci_type> out;
  for (const Array& a : leaves) out.push_back(a.type().id());
  return out;
}

Values Apply(const CallSite& site, const Program& f, const Values& in) {
  if (!in.empty()) {
    const Operands operands(in);
    SetLocation(operands.builder, site.at);
    return Inline(f, in);
  }
  std::vector<ricci_val> ids(f.results().size());
  CheckAt(site.at,
          ricci_builder_inline(site.builder, f.handle(), nullptr, 0, ids.data(), static_cast<uint32_t>(ids.size())));
  Values out;
  for (ricci_val id : ids) out.push_back({site.builder, id, site.scope});
  return out;
}
Arrays RunOn(const Location& at, ricci_ctx* ctx, const Executable& x, const Arrays& in) {
  std::vector<ricci_array*> handles;
  for (const Array& a : in) handles.push_back(a.handle());
  std::vector<ricci_array*> results(x.result_count());
  x.enqueue(handles, results, at);
  Arrays out;
  out.reserve(results.size());
  for (ricci_array* a : results) out.emplace_back(ctx, a);
  return out;
}
Arrays Apply(const CallSite& site, const Program& f, const Arrays& in) {
  return RunOn(site.at, site.ctx, Executable::compile(f, CommittedDevice(in), {}, site.at), in);
}

std::vector<uint8_t> FloatMask(ricci_ctx* ctx, std::span<const ricci_type> types, size_t n) {
  std::vector<uint8_t> mask(types.size(), 0);
  for (size_t i = 0; i < n; ++i) mask[i] = IsInexact(ArrayType(ctx, types[i]).dtype());
  return mask;
}
std::vector<uint8_t> FloatMask(const Values& leaves) {
  std::vector<uint8_t> mask;
  for (const Value& v : leaves) mask.push_back(IsInexact(v.dtype()));
  return mask;
}
Values Selected(const Values& all, std::span<const uint8_t> mask) {
  Values out;
  for (size_t i = 0; i < all.size(); ++i) {
    if (mask[i]) out.push_back(all[i]);
  }
  return out;
}
Values WithZeros(const Values& all, std::span<const Value> some, std::span<const uint8_t> mask) {
  Values out;
  size_t next = 0;
  for (size_t i = 0; i < all.size(); ++i) out.push_back(mask[i] ? some[next++] : lax::zeros_like(all[i]));
  return out;
}

}}  // namespace ricci::v0
