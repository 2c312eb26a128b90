// Builders of ricci/build.h, with which hosts and rules append equations.
#include "api/arguments.h"
#include "runtime/context/context.h"
#include "trace/builder.h"

using namespace ricci;
using api::Arguments;
using api::Border;
using api::Span;
using api::View;
using trace::Builder;

namespace {

Builder* FromAbi(ricci_builder* b) { return trace::FromAbi(b); }
const Builder* FromAbi(const ricci_builder* b) { return reinterpret_cast<const Builder*>(b); }

// Gives a new builder and the values of its parameters to the host.
absl::Status Give(absl::StatusOr<std::unique_ptr<Builder>> made, ricci_builder** out, ricci_val* vals) {
  RICCI_ASSIGN(auto builder, std::move(made));
  const trace::Vals params = builder->params();
  std::copy(params.begin(), params.end(), vals);
  *out = trace::Abi(builder.release());
  return absl::OkStatus();
}

absl::Status Give(Arguments args, const trace::Vals& results, ricci_val* out, uint32_t n_out) {
  RICCI_TRY(args.Count("n_out", n_out, results.size(), "one per result"));
  std::copy(results.begin(), results.end(), out);
  return absl::OkStatus();
}

// A rule that got `b` may append to it; only its owner decides what program it becomes.
absl::Status OwnedByCaller(Arguments args, ricci_builder* b, std::string_view what) {
  if (!FromAbi(b)->lent()) return absl::OkStatus();
  return args.Wrong("b was lent to a rule, which may append to it but not ", what, " it");
}

absl::Status CheckAttrs(Arguments args, const ricci_attr* attrs, uint32_t n) {
  RICCI_TRY(args.Array("attrs", attrs, n));
  for (uint32_t i = 0; i < n; ++i) {
    const ricci_attr& a = attrs[i];
    if (a.name.ptr == nullptr) return args.Wrong("attribute ", i, " has no name");
    if (a.kind >= RICCI_ATTR_STRING && a.count != 0 && a.data == nullptr) {
      return args.Wrong("attribute ", View(a.name), " has ", base::Count(a.count, "element"), " but no data");
    }
  }
  return absl::OkStatus();
}

}  // namespace

extern "C" {

ricci_status* ricci_builder_create(ricci_ctx* c, const char* name, size_t name_len, const ricci_type* params,
                                   uint32_t n, ricci_builder** out, ricci_val* vals) {
  return Border(__func__, [&](Arguments args) -> absl::Status {
    RICCI_TRY(args.NotNull({{"c", c}, {"out", out}}));
    RICCI_TRY(args.Array("name", name, name_len));
    RICCI_TRY(args.Array("params", params, n));
    RICCI_TRY(args.Array("vals", vals, n));
    return Give(Builder::Create(runtime::FromAbi(c)->registry(), View(name, name_len), Span(params, n)), out, vals);
  });
}

ricci_status* ricci_builder_nest(ricci_builder* b, const char* name, size_t name_len, const ricci_type* params,
                                 uint32_t n, ricci_builder** out, ricci_val* vals) {
  return Border(__func__, [&](Arguments args) -> absl::Status {
    RICCI_TRY(args.NotNull({{"b", b}, {"out", out}}));
    RICCI_TRY(args.Array("name", name, name_len));
    RICCI_TRY(args.Array("params", params, n));
    RICCI_TRY(args.Array("vals", vals, n));
    return Give(FromAbi(b)->Nest(View(name, name_len), Span(params, n)), out, vals);
  });
}

ricci_status* ricci_builder_param(ricci_builder* b, ricci_type t, ricci_val* out) {
  return Border(__func__, [&](Arguments args) -> absl::Status {
    RICCI_TRY(args.NotNull({{"b", b}, {"out", out}}));
    RICCI_TRY(OwnedByCaller(args, b, "add parameters to"));
    RICCI_ASSIGN(*out, FromAbi(b)->AddParam(t));
    return absl::OkStatus();
  });
}

// Cannot fail for its caller: if memory runs out, equations have no location.
void ricci_builder_set_location(ricci_builder* b, const char* file, uint32_t line, const char* func) {
  if (b == nullptr) return;
  FromAbi(b)->SetLocation(ir::LocationId{0});
  try {
    FromAbi(b)->SetLocation(file == nullptr ? "" : file, line, func == nullptr ? "" : func);
  } catch (...) {
  }
}

ricci_status* ricci_builder_emit(ricci_builder* b, ricci_prim p, const ricci_attr* attrs, uint32_t n_attrs,
                                 const ricci_val* in, uint32_t n_in, ricci_val* out, uint32_t n_out) {
  return Border(__func__, [&](Arguments args) -> absl::Status {
    RICCI_TRY(args.NotNull({{"b", b}}));
    RICCI_TRY(CheckAttrs(args, attrs, n_attrs));
    RICCI_TRY(args.Array("in", in, n_in));
    RICCI_TRY(args.Array("out", out, n_out));
    RICCI_ASSIGN(const trace::Vals results, FromAbi(b)->Emit(p, Span(attrs, n_attrs), Span(in, n_in), n_out));
    std::copy(results.begin(), results.end(), out);
    return absl::OkStatus();
  });
}

ricci_status* ricci_builder_infer(ricci_builder* b, ricci_prim p, const ricci_attr* attrs, uint32_t n_attrs,
                                  const ricci_val* in, uint32_t n_in, ricci_type* out, uint32_t capacity,
                                  uint32_t* n_out) {
  return Border(__func__, [&](Arguments args) -> absl::Status {
    RICCI_TRY(args.NotNull({{"b", b}, {"n_out", n_out}}));
    RICCI_TRY(CheckAttrs(args, attrs, n_attrs));
    RICCI_TRY(args.Array("in", in, n_in));
    RICCI_TRY(args.Array("out", out, capacity));
    RICCI_ASSIGN(const std::vector<ricci_type> types, FromAbi(b)->Infer(p, Span(attrs, n_attrs), Span(in, n_in)));
    std::copy_n(types.begin(), std::min<size_t>(types.size(), capacity), out);
    *n_out = static_cast<uint32_t>(types.size());
    return absl::OkStatus();
  });
}

ricci_status* ricci_builder_const(ricci_builder* b, ricci_type t, const void* data, size_t bytes, ricci_val* out) {
  return Border(__func__, [&](Arguments args) -> absl::Status {
    RICCI_TRY(args.NotNull({{"b", b}, {"out", out}}));
    RICCI_TRY(args.Array("data", data, bytes));
    RICCI_ASSIGN(*out, FromAbi(b)->Constant(t, Span(static_cast<const std::byte*>(data), bytes)));
    return absl::OkStatus();
  });
}

ricci_status* ricci_builder_zero(ricci_builder* b, ricci_type t, ricci_val* out) {
  return Border(__func__, [&](Arguments args) -> absl::Status {
    RICCI_TRY(args.NotNull({{"b", b}, {"out", out}}));
    RICCI_ASSIGN(*out, FromAbi(b)->Zero(t));
    return absl::OkStatus();
  });
}

ricci_status* ricci_builder_inline(ricci_builder* b, const ricci_program* f, const ricci_val* in, uint32_t n_in,
                                   ricci_val* out, uint32_t n_out) {
  return Border(__func__, [&](Arguments args) -> absl::Status {
    RICCI_TRY(args.NotNull({{"b", b}, {"f", f}}));
    RICCI_TRY(args.Array("in", in, n_in));
    RICCI_TRY(args.Array("out", out, n_out));
    const ir::Program& program = *ir::FromAbi(f);
    RICCI_TRY(args.Count("n_out", n_out, program.n_results(), "one per result of the program"));
    RICCI_ASSIGN(const trace::Vals results, FromAbi(b)->Inline(program, Span(in, n_in)));
    return Give(args, results, out, n_out);
  });
}

ricci_type ricci_builder_type(const ricci_builder* b, ricci_val v) {
  return b != nullptr && FromAbi(b)->Owns(v) ? FromAbi(b)->type_id(v) : 0;
}

void ricci_builder_constant(const ricci_builder* b, ricci_val v, const void** data, uint64_t* bytes) {
  const bool known = b != nullptr && FromAbi(b)->Owns(v);
  const ir::Constant* c = known ? FromAbi(b)->program().constant(Builder::Index(v)) : nullptr;
  if (data != nullptr) *data = c == nullptr ? nullptr : c->data->bytes.data();
  if (bytes != nullptr) *bytes = c == nullptr ? 0 : c->data->bytes.size();
}

ricci_ctx* ricci_builder_context(const ricci_builder* b) {
  return b == nullptr ? nullptr : FromAbi(b)->registry().vocabulary().abi;
}

ricci_status* ricci_builder_finish(ricci_builder* b, const ricci_val* results, uint32_t n, ricci_program** out) {
  return Border(__func__, [&](Arguments args) -> absl::Status {
    RICCI_TRY(args.NotNull({{"b", b}, {"out", out}}));
    RICCI_TRY(OwnedByCaller(args, b, "finish"));
    RICCI_TRY(args.Array("results", results, n));
    RICCI_ASSIGN(ir::ProgramRef program, FromAbi(b)->Finish(Span(results, n)));
    *out = ir::Abi(program.Detach());
    delete FromAbi(b);
    return absl::OkStatus();
  });
}

void ricci_builder_abandon(ricci_builder* b) {
  if (b != nullptr && FromAbi(b)->lent()) return FromAbi(b)->NoteAbandoned();
  delete FromAbi(b);
}

ricci_status* ricci_builder_set_out_types(ricci_builder* b, const ricci_type* t, uint32_t n) {
  return Border(__func__, [&](Arguments args) -> absl::Status {
    RICCI_TRY(args.NotNull({{"b", b}}));
    RICCI_TRY(args.Array("t", t, n));
    return FromAbi(b)->SetOutTypes(Span(t, n));
  });
}
}
