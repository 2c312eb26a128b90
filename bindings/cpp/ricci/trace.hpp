// ricci/trace.hpp: tracing a callable into a program, and what it captures on the way.
//
// A Tracing is one program under construction. Tracings nest like the lambdas they trace, and all of one outermost
// tracing share a Session that knows the innermost open one. An outer Value used inside becomes an extra parameter of
// the inner program (small constants are copied instead); the equation that holds the program then gets the outer Value
// as operand. A concrete Array becomes an extra parameter of the outermost program, never a constant. Nothing here is
// thread-local: a Value leads to its trace.
#ifndef RICCI_TRACE_HPP_
#define RICCI_TRACE_HPP_
#include <memory>
#include <vector>

#include "ricci/emit.hpp"
#include "ricci/program.hpp"

namespace ricci::inline v0 {

template <typename... Parts>
[[noreturn]] void FailAt(const Location& at, const Parts&... parts) {
  if (at.file == nullptr) Fail(parts...);
  Fail(at.file, ":", at.line, ": ", parts...);
}

class Trace;

struct Session {
  Trace* innermost = nullptr;
  std::vector<std::unique_ptr<Trace>> traces;  // kept to the end: a Value that escaped its function is told apart
  std::vector<Array> arrays;                   // captured by the outermost program, in the order of its parameters
  Values array_values;
};

class Trace final : public Scope {
 public:
  Trace(Session* session, Trace* parent, ricci_builder* outer, ricci_builder* own)
      : Scope(own, parent == nullptr ? 1 : parent->depth() + 1), session_(session), parent_(parent), outer_(outer) {}
  Trace(const Trace&) = delete;
  ~Trace() {
    if (open_) ricci_builder_abandon(builder());
  }

  Session* session() const { return session_; }
  Trace* parent() const { return parent_; }
  bool open() const { return open_; }
  // The outer values behind the extra parameters.
  const Values& captured() const { return captured_; }

  Value Param(ricci_type type) {
    Value v{builder(), RICCI_VAL_NONE, this};
    Check(ricci_builder_param(builder(), type, &v.id));
    return v;
  }
  Value Capture(const Value& outer) override {
    if (outer.builder == builder()) return {outer.builder, outer.id, this};
    for (size_t i = 0; i < captured_.size(); ++i) {
      if (captured_[i].builder == outer.builder && captured_[i].id == outer.id) return inner_[i];
    }
    if (!Encloses(outer.builder)) {
      Fail("a value is used outside of the function that made it, or in another trace; return it instead");
    }
    if (Value copy; CopyConstant(outer, copy)) return copy;
    const Value param = Param(ricci_builder_type(outer.builder, outer.id));
    captured_.push_back(outer);
    inner_.push_back(param);
    return param;
  }
  // `array` as a value of the outermost program.
  Value CaptureArray(const Array& array) {
    Trace* root = this;
    while (root->parent_ != nullptr) root = root->parent_;
    if (root->outer_ != nullptr) Fail("an array cannot be captured by a rule; make it a constant");
    for (size_t i = 0; i < session_->arrays.size(); ++i) {
      if (session_->arrays[i].handle() == array.handle()) return session_->array_values[i];
    }
    session_->array_values.push_back(root->Param(array.type().id()));
    session_->arrays.push_back(array);
    return session_->array_values.back();
  }
  Program Finish(const Values& results) {
    std::vector<ricci_val> ids;
    for (const Value& v : results) ids.push_back(Capture(v).id);
    Program p = MakeProgram([&](ricci_program** out) {
      return ricci_builder_finish(builder(), ids.data(), static_cast<uint32_t>(ids.size()), out);
    });
    open_ = false;
    return p;
  }
  void Abandon() {
    if (open_) ricci_builder_abandon(builder());
    open_ = false;
  }

 private:
  static constexpr uint64_t kCopiedBytes = 64;

  bool Encloses(const ricci_builder* b) const {
    if (b == nullptr) return false;
    for (const Trace* t = this; t != nullptr; t = t->parent_) {
      if (t->outer_ == b || (t->parent_ != nullptr && t->parent_->builder() == b)) return true;
    }
    return false;
  }
  bool CopyConstant(const Value& outer, Value& copy) {
    const void* data = nullptr;
    uint64_t bytes = 0;
    ricci_builder_constant(outer.builder, outer.id, &data, &bytes);
    if (data == nullptr || bytes > kCopiedBytes) return false;
    copy = {builder(), RICCI_VAL_NONE, this};
    Check(ricci_builder_const(builder(), ricci_builder_type(outer.builder, outer.id), data, static_cast<size_t>(bytes),
                              &copy.id));
    return true;
  }

  Session* session_;
  Trace* parent_;
  ricci_builder* outer_;  // around an outermost trace that a rule began; NULL otherwise
  bool open_ = true;
  Values captured_, inner_;
};

// One program under construction; destroying it unfinished abandons it.
class Tracing {
 public:
  // An outermost program.
  Tracing(ricci_ctx* ctx, std::span<const ricci_type> params) : own_(std::make_unique<Session>()) {
    ricci_builder* b = nullptr;
    std::vector<ricci_val> ids(params.size());
    Check(ricci_builder_create(ctx, "main", 4, params.data(), static_cast<uint32_t>(params.size()), &b, ids.data()));
    Begin(own_.get(), nullptr, nullptr, b, ids);
  }
  // A program nested in the innermost open one of the session that `near` belongs to.
  Tracing(const Value& near, std::span<const ricci_type> params) {
    Trace* parent = near.scope == nullptr ? nullptr : static_cast<Trace*>(near.scope)->session()->innermost;
    if (parent == nullptr) own_ = std::make_unique<Session>();
    ricci_builder *outer = parent == nullptr ? near.builder : parent->builder(), *b = nullptr;
    std::vector<ricci_val> ids(params.size());
    Check(ricci_builder_nest(outer, "body", 4, params.data(), static_cast<uint32_t>(params.size()), &b, ids.data()));
    Begin(parent == nullptr ? own_.get() : parent->session(), parent, parent == nullptr ? outer : nullptr, b, ids);
  }
  Tracing(const Tracing&) = delete;
  ~Tracing() {
    trace_->Abandon();
    trace_->session()->innermost = trace_->parent();
  }

  const Values& params() const { return params_; }
  ricci_builder* builder() const { return trace_->builder(); }
  Scope* scope() const { return trace_; }
  Program Finish(const Values& results) { return trace_->Finish(results); }
  const Values& captured() const { return trace_->captured(); }
  const std::vector<Array>& arrays() const { return trace_->session()->arrays; }

 private:
  void Begin(Session* session, Trace* parent, ricci_builder* outer, ricci_builder* b,
             const std::vector<ricci_val>& ids) {
    session->traces.push_back(std::make_unique<Trace>(session, parent, outer, b));
    trace_ = session->innermost = session->traces.back().get();
    for (ricci_val id : ids) params_.push_back({b, id, trace_});
  }

  std::unique_ptr<Session> own_;
  Trace* trace_ = nullptr;
  Values params_;
};

// Throws unless the function that made `v` is still being traced.
inline void CheckOpen(const Value& v, const Location& at, std::string_view name) {
  if (v.builder == nullptr) FailAt(at, name, ": a value was never set");
  if (v.scope != nullptr && !static_cast<Trace*>(v.scope)->open()) {
    FailAt(at, name, ": a value is used after the function that made it has ended; return it instead");
  }
}

// The equations of `f` appended where its operands are.
inline Values Inline(const Program& f, std::span<const Value> in) {
  const Operands operands(in);
  std::vector<ricci_val> ids(f.results().size());
  Check(ricci_builder_inline(operands.builder, f.handle(), operands.ids.data(),
                             static_cast<uint32_t>(operands.ids.size()), ids.data(),
                             static_cast<uint32_t>(ids.size())));
  Values out;
  for (ricci_val id : ids) out.push_back({operands.builder, id, operands.scope});
  return out;
}

}  // namespace ricci::inline v0
#endif
