#include "host/core/tracing.h"

#include <algorithm>

namespace ricci { inline namespace v0 {

namespace {
constexpr uint64_t kCopiedBytes = 64;
}  // namespace

bool Trace::Reaches(const ricci_builder* b) const {
  for (const Trace* t = this; t != nullptr; t = t->parent_) {
    if (t->builder() == b || (b != nullptr && t->outer_ == b)) return true;
  }
  return false;
}

Value Trace::Param(ricci_type type) {
  Value v{builder(), RICCI_VAL_NONE, this};
  Check(ricci_builder_param(builder(), type, &v.id));
  return v;
}

Value Trace::Capture(const Value& outer) {
  if (outer.builder == builder()) return {outer.builder, outer.id, this};
  for (size_t i = 0; i < captured_.size(); ++i) {
    if (captured_[i].builder == outer.builder && captured_[i].id == outer.id) return {builder(), inner_[i], this};
  }
  if (IsPending(outer) && !Reaches(outer.builder)) return CaptureDeferred(outer);
  if (!Reaches(outer.builder)) Fail("a value is used outside of the function that made it, or in another trace");
  if (Value copy; CopyConstant(outer, copy)) return copy;
  const Value param = Param(ricci_builder_type(outer.builder, outer.id));
  captured_.push_back(outer);
  inner_.push_back(param.id);
  return param;
}

Value Trace::CaptureArray(const CallSite& site, const Array& array) {
  if (root_->outer_ != nullptr) site.Fail("an array cannot be captured by a rule; make it a constant");
  const Arrays& known = root_->arrays_;
  for (size_t i = 0; i < known.size(); ++i) {
    if (known[i].handle() == array.handle()) return {root_->builder(), root_->array_params_[i], root_};
  }
  const Value param = root_->Param(array.type_id());
  root_->array_params_.push_back(param.id);
  root_->arrays_.push_back(array);
  return param;
}

bool Trace::IsCapturedArray(const Value& v) const {
  if (v.builder != root_->builder()) return false;
  const std::vector<ricci_val>& params = root_->array_params_;
  return std::find(params.begin(), params.end(), v.id) != params.end();
}

Program Trace::Finish(const Values& results) {
  std::vector<ricci_val> ids;
  for (const Value& v : results) ids.push_back(Capture(v).id);
  Program p = MakeProgram([&](ricci_program** out) {
    return ricci_builder_finish(builder(), ids.data(), static_cast<uint32_t>(ids.size()), out);
  });
  Close();
  return p;
}

// What is still open is abandoned.
void Trace::End() {
  if (!open()) return;
  ricci_builder_abandon(builder());
  Close();
  captured_.clear();
  arrays_.clear();
}

Program Trace::Run(const CallSite& site, LeafFunction f) {
  struct AtEnd {
    Trace& trace;
    ~AtEnd() {
      trace.End();
      trace.root_->innermost_ = trace.parent_;
    }
  } at_end{*this};
  const CallSite inside{site.name, site.at, builder(), this};
  SetLocation(builder(), site.at);
  Values params;
  for (ricci_val id : params_) params.push_back({builder(), id, this});
  return Finish(f(inside, params));
}

bool Trace::CopyConstant(const Value& outer, Value& copy) {
  const void* data = nullptr;
  uint64_t bytes = 0;
  ricci_builder_constant(outer.builder, outer.id, &data, &bytes);
  if (data == nullptr || bytes > kCopiedBytes) return false;
  copy = {builder(), RICCI_VAL_NONE, this};
  Check(ricci_builder_const(builder(), ricci_builder_type(outer.builder, outer.id), data, static_cast<size_t>(bytes),
                            &copy.id));
  return true;
}

Ref<Trace> Trace::Begin(const CallSite& site, std::span<const ricci_type> types) {
  const auto n = static_cast<uint32_t>(types.size());
  std::vector<ricci_val> params(types.size());
  ricci_builder* own = nullptr;
  if (site.builder == nullptr) {
    Check(ricci_builder_create(site.ctx, site.name.data(), site.name.size(), types.data(), n, &own, params.data()));
    return Ref<Trace>(new Trace(nullptr, nullptr, own, std::move(params)));
  }
  Trace* const parent = site.scope == nullptr ? nullptr : TraceOf(site.scope)->innermost();
  ricci_builder* const around = parent == nullptr ? site.builder : parent->builder();
  CheckAt(site.at, ricci_builder_nest(around, "body", 4, types.data(), n, &own, params.data()));
  return Ref<Trace>(new Trace(parent, parent == nullptr ? around : nullptr, own, std::move(params)));
}

void CheckAt(const Location& at, ricci_status* status) {
  if (status == nullptr) return;
  Error e(status);
  if (!e.file().empty() || at.file == nullptr) throw e;
  throw Error(e.code(), Text(at.file, ":", at.line, ": ", e.message()));
}

ArrayType MakeTypeAt(const Location& at, ricci_ctx* ctx, DType dtype, Dims dims) {
  const ricci_type_desc d = ArrayType::Describe(dtype, dims);
  ricci_type id = 0;
  CheckAt(at, ricci_type_make(ctx, &d, &id));
  return ArrayType(ctx, id);
}

void CheckOpen(const Value& v, const Location& at, std::string_view name) {
  if (v.builder == nullptr) FailAt(at, name, ": a value was never set");
  if (v.scope != nullptr && !v.scope->open()) {
    FailAt(at, name, ": a value is used after the function that made it has returned; return it instead");
  }
}

Values Inline(const Program& f, std::span<const Value> in) {
  const Operands operands(in);
  std::vector<ricci_val> ids(f.results().size());
  Check(ricci_builder_inline(operands.builder, f.handle(), operands.ids.data(),
                             static_cast<uint32_t>(operands.ids.size()), ids.data(),
                             static_cast<uint32_t>(ids.size())));
  Values out;
  for (ricci_val id : ids) out.push_back({operands.builder, id, operands.scope});
  return out;
}

}}  // namespace ricci::v0
