// One program under construction inside of others, and what it captures on the way.
//
// Compiled once, so that a host's own files see only ricci/trace.hpp.
#ifndef RICCI_BINDINGS_CPP_HOST_TRACING_H_
#define RICCI_BINDINGS_CPP_HOST_TRACING_H_
#include <memory>
#include <vector>

#include "ricci/emit.hpp"
#include "ricci/operand.hpp"

namespace ricci::inline v0 {

class Trace;
class OpenRule;

struct Session {
  Trace* innermost = nullptr;
  Arrays arrays;  // captured by the outermost program, in the order of its parameters
  Values array_values;
};

class Trace final : public Scope {
 public:
  Trace(Session* session, Trace* parent, ricci_builder* outer, ricci_builder* own)
      : Scope(own, parent == nullptr ? 1 : parent->depth() + 1), session_(session), parent_(parent), outer_(outer) {}
  ~Trace() override { Abandon(); }

  Session* session() const { return session_; }
  Trace* parent() const { return parent_; }
  // The outer values behind the extra parameters.
  const Values& captured() const { return captured_; }
  // Whether values of `b` can be captured: it is this program's or one around it.
  bool Reaches(const ricci_builder* b) const;

  Value Param(ricci_type type);
  Value Capture(const Value& outer) override;
  // `array` as a value of the outermost program; `site` is where it is used.
  Value CaptureArray(const CallSite& site, const Array& array);
  Program Finish(const Values& results);
  void Abandon();

  OpenRule* rule = nullptr;  // the custom derivative one of whose functions this traces

 private:
  bool CopyConstant(const Value& outer, Value& copy);

  Session* session_;
  Trace* parent_;
  ricci_builder* outer_;  // around an outermost trace that a rule began; NULL otherwise
  Values captured_;
  std::vector<ricci_val> inner_;  // their parameters here
};
inline Trace* TraceOf(Scope* scope) { return static_cast<Trace*>(scope); }

// One program under construction; destroying it unfinished abandons it.
class Tracing {
 public:
  // An outermost program.
  Tracing(ricci_ctx* ctx, std::span<const ricci_type> params);
  // A program nested in the innermost open one of the session that `site` belongs to.
  Tracing(const CallSite& site, std::span<const ricci_type> params);
  Tracing(const Tracing&) = delete;
  ~Tracing();

  const Values& params() const { return params_; }
  ricci_builder* builder() const { return trace_->builder(); }
  Scope* scope() const { return trace_; }
  Program Finish(const Values& results) { return trace_->Finish(results); }
  const Values& captured() const { return trace_->captured(); }
  const Arrays& arrays() const { return trace_->session()->arrays; }

 private:
  void Begin(Session* session, Trace* parent, ricci_builder* outer, ricci_builder* b,
             const std::vector<ricci_val>& ids);

  std::unique_ptr<Session> own_;
  Ref<Trace> kept_;
  Trace* trace_ = nullptr;
  Values params_;
};

}  // namespace ricci::inline v0
#endif
