// Operations on Arrays alone: their program stays open, and what the host asks for is copied out of it, compiled, run.
//
// So an expression is one compiled program however many operations it has, and nothing unused is computed.
// A value that was computed is an operand of what follows. The context keeps what it compiled, by the program's text,
// so the same operations on arrays of the same types compile once. Not for use from several threads at once.
//
// Numbers, an index too, are operands and stay weak, so `x * i` in a loop is one program. The exponent of `pow(x, 2)`,
// axes, slices and parameters of type `double` are part of the program. Errors of types and shapes come with the
// operation. In a traced function a pending Value is a captured Array. In a loop that runs often jit costs less,
// because it traces once.
#include <functional>
#include <unordered_map>

#include "host/core/tracing.h"
#include "ricci/indexing.hpp"

namespace ricci { inline namespace v0 {

namespace {

// Copies the equations that a value needs from a deferred program to another one.
class Copier {
 public:
  // `param` makes an array a value of the other program.
  template <typename Param>
  Copier(const Trace& from, ricci_builder* to, Param param) : from_(from), to_(to), param_(std::move(param)) {}

  // A loop of the host makes chains of any length, so this does not call itself.
  ricci_val Copy(ricci_val v) {
    std::vector<ricci_val> open = {v};  // each before what it needs
    while (!open.empty()) {
      const ricci_val now = open.back();
      if (copies_.contains(now)) {
        open.pop_back();
        continue;
      }
      const size_t n_open = open.size();
      const Array* const array = from_.ArrayOf(now);
      if (array == nullptr) AddMissingOperands(now, open);
      if (open.size() == n_open) copies_.emplace(now, array != nullptr ? param_(*array) : CopyDefinition(now));
    }
    return copies_.at(v);
  }

 private:
  void AddMissingOperands(ricci_val v, std::vector<ricci_val>& open) const {
    uint32_t n_in = 0;
    ricci_builder_definition(from_.builder(), v, nullptr, nullptr, nullptr, &n_in, nullptr);
    for (uint32_t i = 0; i < n_in; ++i) {
      const ricci_val in = ricci_builder_operand(from_.builder(), v, i);
      if (!copies_.contains(in)) open.push_back(in);
    }
  }
  ricci_val CopyDefinition(ricci_val v) {
    const void* data = nullptr;
    uint64_t bytes = 0;
    ricci_builder_constant(from_.builder(), v, &data, &bytes);
    if (data == nullptr) return CopyEquation(v);
    ricci_val out = RICCI_VAL_NONE;
    Check(ricci_builder_const(to_, ricci_builder_type(from_.builder(), v), data, static_cast<size_t>(bytes), &out));
    return out;
  }
  ricci_val CopyEquation(ricci_val v) {
    ricci_prim prim = 0;
    const ricci_attr* attrs = nullptr;
    uint32_t n_attrs = 0, n_in = 0, result = 0, n_out = 0;
    ricci_builder_definition(from_.builder(), v, &prim, &attrs, &n_attrs, &n_in, &result);
    std::vector<ricci_val> in;
    for (uint32_t i = 0; i < n_in; ++i) in.push_back(copies_.at(ricci_builder_operand(from_.builder(), v, i)));
    Check(ricci_builder_infer(to_, prim, attrs, n_attrs, in.data(), n_in, nullptr, 0, &n_out));
    std::vector<ricci_val> out(n_out, RICCI_VAL_NONE);
    Check(ricci_builder_emit(to_, prim, attrs, n_attrs, in.data(), n_in, out.data(), n_out));
    return out[result];
  }

  const Trace& from_;
  ricci_builder* const to_;
  std::function<ricci_val(const Array&)> param_;
  std::unordered_map<ricci_val, ricci_val> copies_;
};

}  // namespace

Ref<Trace> Trace::Defer(const CallSite& site) {
  Ref<Trace> trace = Begin(site, {});
  trace->deferred_ = true;
  return trace;
}

const Array* Trace::ArrayOf(ricci_val id) const {
  for (size_t i = 0; i < computed_values_.size(); ++i) {
    if (computed_values_[i] == id) return &computed_[i];
  }
  for (size_t i = 0; i < array_params_.size(); ++i) {
    if (array_params_[i] == id) return &arrays_[i];
  }
  return nullptr;
}

void Trace::KeepComputed(ricci_val id, const Array& elements) {
  computed_.push_back(elements);
  computed_values_.push_back(id);
}

void ComputeAll(const CallSite& outside, std::span<const Value> pending) {
  const Ref<Trace> copy = Trace::Begin(outside, {});
  ricci_builder* const to = copy->builder();
  SetLocation(to, outside.at);
  std::unordered_map<Trace*, Copier> copiers;  // one for each program, so that what values share is copied once
  Values open, copies;
  for (const Value& v : pending) {
    Trace* const from = TraceOf(v.scope);
    if (from->ArrayOf(v.id) != nullptr) continue;
    const auto param = [&](const Array& a) { return copy->CaptureArray(outside, a).id; };
    open.push_back(v);
    copies.push_back({to, copiers.try_emplace(from, *from, to, param).first->second.Copy(v.id), copy.handle()});
  }
  if (open.empty()) return;
  const Program program = copy->Finish(copies);
  const Arrays elements = Apply(outside, program, copy->TakeArrays());
  for (size_t i = 0; i < open.size(); ++i) TraceOf(open[i].scope)->KeepComputed(open[i].id, elements[i]);
}

Array Trace::Compute(ricci_val id, const Location& at) {
  if (const Array* const known = ArrayOf(id)) return *known;
  const Value v{builder(), id, this};
  ComputeAll({"array", at, nullptr, nullptr, v.context()}, {&v, 1});
  return *ArrayOf(id);
}

CallSite DeferredSite(const CallSite& outside) {
  const Ref<Trace> trace = Trace::Defer(outside);
  return {outside.name, outside.at, trace->builder(), trace.handle()};
}

// Into another deferred program a value goes with its equations, so that an expression stays one program.
Value Trace::CaptureDeferred(const Value& outer) {
  Trace& from = *TraceOf(outer.scope);
  const CallSite site{"array", {}, builder(), this};
  const auto param = [&](const Array& a) { return CaptureArray(site, a).id; };
  if (!is_deferred()) return Capture(CaptureArray(site, from.Compute(outer.id, {})));
  return Capture({root_->builder(), Copier(from, root_->builder(), param).Copy(outer.id), root_});
}

Array::Array(const Value& pending, Location at) {
  CheckOpen(pending, at, "array");
  if (!IsPending(pending)) {
    FailAt(at, "array: a value of a function that is being traced has no elements yet; return it from the function");
  }
  *this = TraceOf(pending.scope)->Compute(pending.id, at);
}

}}  // namespace ricci::v0
