#include "tracing.h"

namespace ricci::inline v0 {

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
  if (!Reaches(outer.builder)) Fail("a value is used outside of the function that made it, or in another trace");
  if (Value copy; CopyConstant(outer, copy)) return copy;
  const Value param = Param(ricci_builder_type(outer.builder, outer.id));
  captured_.push_back(outer);
  inner_.push_back(param.id);
  return param;
}

Value Trace::CaptureArray(const CallSite& site, const Array& array) {
  Trace* root = this;
  while (root->parent_ != nullptr) root = root->parent_;
  if (root->outer_ != nullptr) site.Fail("an array cannot be captured by a rule; make it a constant");
  for (size_t i = 0; i < session_->arrays.size(); ++i) {
    if (session_->arrays[i].handle() == array.handle()) return session_->array_values[i];
  }
  session_->array_values.push_back(root->Param(array.type_id()));
  session_->arrays.push_back(array);
  return session_->array_values.back();
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

void Trace::Abandon() {
  if (open()) ricci_builder_abandon(builder());
  Close();
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

Tracing::Tracing(ricci_ctx* ctx, std::span<const ricci_type> params) : own_(std::make_unique<Session>()) {
  ricci_builder* b = nullptr;
  std::vector<ricci_val> ids(params.size());
  Check(ricci_builder_create(ctx, "main", 4, params.data(), static_cast<uint32_t>(params.size()), &b, ids.data()));
  Begin(own_.get(), nullptr, nullptr, b, ids);
}

Tracing::Tracing(const CallSite& site, std::span<const ricci_type> params) {
  Trace* parent = site.scope == nullptr ? nullptr : TraceOf(site.scope)->session()->innermost;
  if (parent == nullptr) own_ = std::make_unique<Session>();
  ricci_builder *outer = parent == nullptr ? site.builder : parent->builder(), *b = nullptr;
  std::vector<ricci_val> ids(params.size());
  CheckAt(site.at,
          ricci_builder_nest(outer, "body", 4, params.data(), static_cast<uint32_t>(params.size()), &b, ids.data()));
  Begin(parent == nullptr ? own_.get() : parent->session(), parent, parent == nullptr ? outer : nullptr, b, ids);
}

Tracing::~Tracing() {
  trace_->Abandon();
  trace_->session()->innermost = trace_->parent();
}

void Tracing::Begin(Session* session, Trace* parent, ricci_builder* outer, ricci_builder* b,
                    const std::vector<ricci_val>& ids) {
  kept_ = Ref<Trace>(new Trace(session, parent, outer, b));
  trace_ = session->innermost = kept_.handle();
  for (ricci_val id : ids) params_.push_back({b, id, trace_});
}

void CheckAt(const Location& at, ricci_status* status) {
  if (status == nullptr) return;
  Error e(status);
  if (!e.file().empty() || at.file == nullptr) throw e;
  throw Error(e.code(), Text(at.file, ":", at.line, ": ", e.message()));
}

ArrayType MakeTypeAt(const Location& at, ricci_ctx* ctx, DType dtype, Dims dims) {
  ricci_type id = 0;
  CheckAt(at, ricci_type_make(ctx, static_cast<uint32_t>(dtype), static_cast<uint32_t>(dims.size()), dims.data(), &id));
  return ArrayType(ctx, id);
}

void CheckOpen(const Value& v, const Location& at, std::string_view name) {
  if (v.builder == nullptr) FailAt(at, name, ": a value was never set");
  if (v.scope != nullptr && !v.scope->open()) {
    FailAt(at, name, ": a value is used after the function that made it has ended; return it instead");
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

}  // namespace ricci::inline v0
