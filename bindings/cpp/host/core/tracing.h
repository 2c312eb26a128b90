// One program under construction inside of others, and what it captures.
//
// Only host/ includes this; a host's own files see ricci/trace.hpp, so this part is compiled once.
#ifndef RICCI_BINDINGS_CPP_HOST_TRACING_H_
#define RICCI_BINDINGS_CPP_HOST_TRACING_H_
#include <vector>

#include "ricci/callable.hpp"
#include "ricci/emit.hpp"

namespace ricci { inline namespace v0 {

class OpenRule;

// Values of the program refer to it, so it holds no Values of its own: nothing would free it.
class Trace final : public Scope {
 public:
  // Begins a program with parameters of `types`: nested in the innermost open one around `site`, or an outermost one.
  static Ref<Trace> Begin(const CallSite& site, std::span<const ricci_type> types);
  // Begins an outermost program for operations on Arrays alone. It stays open, and each of its values is computed when
  // the host asks for its elements.
  static Ref<Trace> Defer(const CallSite& site);
  ~Trace() override { End(); }

  // Calls f on the parameters and closes the program; where f throws, it is abandoned.
  Program Run(const CallSite& site, LeafFunction f);
  // Closes the program with these results.
  Program Finish(const Values& results);
  // After Run: the outer values behind the extra parameters of this program, or the arrays behind those of an outermost
  // one. They leave the trace.
  Values TakeCaptured() { return std::move(captured_); }
  Arrays TakeArrays() { return std::move(arrays_); }

  Trace* parent() const { return parent_; }
  // The innermost open program of all within the same outermost one.
  Trace* innermost() const { return root_->innermost_; }
  // Whether values of `b` can be captured: it is this program's or one around it.
  bool Reaches(const ricci_builder* b) const;
  Value Capture(const Value& outer) override;
  // `array` as a value of the outermost program; `site` is where it is used.
  Value CaptureArray(const CallSite& site, const Array& array);
  // Whether operations on Arrays alone made the outermost program.
  bool is_deferred() const { return root_->deferred_; }
  // Of a deferred program itself: the elements of its value, computed once.
  Array Compute(ricci_val id, const Location& at);
  // Keeps the elements of its value.
  void KeepComputed(ricci_val id, const Array& elements);
  // The array that a value of this outermost program stands for, NULL if it must be computed.
  const Array* ArrayOf(ricci_val id) const;
  // How many arrays the outermost program captured.
  size_t array_count() const { return root_->arrays_.size(); }
  // Whether `v` stands for an array that the outermost program captured.
  bool IsCapturedArray(const Value& v) const;

  uint32_t operations = 0;   // of a deferred program
  OpenRule* rule = nullptr;  // the custom derivative one of whose functions this traces

 private:
  Trace(Trace* parent, ricci_builder* outer, ricci_builder* own, std::vector<ricci_val> params)
      : Scope(own, parent == nullptr ? 1 : parent->depth() + 1),
        parent_(parent),
        root_(parent == nullptr ? this : parent->root_),
        outer_(outer),
        params_(std::move(params)) {
    root_->innermost_ = this;
  }
  Value Param(ricci_type type);
  Value CaptureDeferred(const Value& outer);
  bool CopyConstant(const Value& outer, Value& copy);
  void End();

  Trace* const parent_;
  Trace* const root_;     // the outermost one
  ricci_builder* outer_;  // around an outermost trace that a rule began; NULL otherwise
  const std::vector<ricci_val> params_;
  Values captured_;               // of programs around this one
  std::vector<ricci_val> inner_;  // their parameters here
  // Of the outermost program alone:
  Trace* innermost_ = nullptr;
  Arrays arrays_;  // captured, in the order of its parameters
  std::vector<ricci_val> array_params_;
  bool deferred_ = false;
  Arrays computed_;  // of a deferred program
  std::vector<ricci_val> computed_values_;
};
inline Trace* TraceOf(Scope* scope) { return static_cast<Trace*>(scope); }
// Whether `v` is a value of a deferred program itself, not of one nested in it.
inline bool IsPending(const Value& v) {
  const Trace* const t = TraceOf(v.scope);
  return t != nullptr && t->parent() == nullptr && t->is_deferred();
}
// A deferred program of the context of `outside`, as the location of what `outside` is the location of.
CallSite DeferredSite(const CallSite& outside);
// A number as an array of `dtype`.
Array ConcreteNumber(ricci_ctx* ctx, const Operand& number, DType dtype);
// The elements of pending values, which may be of several programs, by one run; they keep them.
void ComputeAll(const CallSite& outside, std::span<const Value> pending);

}}  // namespace ricci::v0
#endif
