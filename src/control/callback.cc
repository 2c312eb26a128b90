// pure_callback, io_callback, debug_callback, debug_print: programs call functions of the host.
//
// The attribute `callback` is a name that the context knows (ricci/callback.h). Nothing is known of the function, so
// only what needs no knowledge is a rule: under vmap it is called for each element in turn, or once for all if
// `vmap_method` says that it can; its derivative is refused, except that the debug rows, which give no results, see the
// primal values. All but pure_callback are effects: they run once, in their order, even if nothing needs them. A
// failure is reported with the location of the call.
//
// Effects are library calls that keep their order (RICCI_CALL_EFFECT), so a loop around one runs in the plan. Where
// each element of a batch takes its own branch or trips, elements with an effect run in turn: it happens only for those
// that take it. (JAX refuses io_callback there, and makes the calls of the debug rows for all elements.)
#include "ricci/callback.h"
#include "base/foreign_call.h"
#include "control/callback_format.h"
#include "control/control.h"
#include "control/structural_row.h"
#include "ir/parse.h"
#include "ir/walk.h"
#include "ricci/context.h"

namespace ricci { inline namespace v0 { namespace control {
namespace {

std::string_view Name(Builder& b, const StructuralOp& h) { return b.registry().Get(h.op.prim).name; }

// ---- types ----

// The types of the text `f32[3], i32[]`.
absl::StatusOr<std::vector<TypeId>> ParseTypes(Builder& b, std::string_view prim, std::string_view text) {
  const std::string list = base::Cat("(", text, ")");
  RICCI_ASSIGN(const ir::TextFile file, ir::ParseApplication(prim, list, base::Cat(prim, ": results")));
  if (!file.program.statements[0].attrs.empty()) {
    return base::InvalidArgument(prim, ": results is ", text, "; give types like f32[3], i32[]");
  }
  std::vector<TypeId> out;
  for (const ir::TextType& t : file.program.params) {
    RICCI_ASSIGN(TypeId id, b.types().Intern(t.dtype, t.shape));
    out.push_back(id);
  }
  return out;
}
absl::Status HasCallback(std::string_view prim, const StructuralOp& h) {
  return h.text("callback").empty() ? base::InvalidArgument(prim, ": callback is empty; give the name of one")
                                    : absl::OkStatus();
}
absl::Status TypeByResults(Builder& b, const StructuralOp& h) {
  RICCI_TRY(HasCallback(Name(b, h), h));
  RICCI_ASSIGN(const std::vector<TypeId> out, ParseTypes(b, Name(b, h), h.text("results")));
  return SetOutTypes(b, out);
}
absl::Status TypeOfPure(Builder& b, const StructuralOp& h) {
  const std::string_view method = h.text("vmap_method");
  for (std::string_view known : {"", "sequential", "expand_dims", "broadcast_all"}) {
    if (method == known) return TypeByResults(b, h);
  }
  return base::InvalidArgument("pure_callback: unknown vmap_method ", method,
                               "; known: sequential, expand_dims, broadcast_all");
}
absl::Status TypeOfDebug(Builder& b, const StructuralOp& h) {
  RICCI_TRY(HasCallback(Name(b, h), h));
  return SetOutTypes(b, {});
}
absl::Status TypeOfPrint(Builder& b, const StructuralOp& h) {
  RICCI_TRY(CheckFormat(h.text("fmt"), h.op.n_in));
  return SetOutTypes(b, {});
}

// ---- derivatives ----

absl::Status JvpRefused(Builder& b, const StructuralOp& h, const ricci_jvp_args& a) {
  RICCI_ASSIGN(Vals out, b.Emit(h.op.prim, h.attrs, {a.primals, h.op.n_in}));
  std::copy(out.begin(), out.end(), a.out_primals);
  for (uint32_t i = 0; i < h.op.n_in; ++i) {
    if (a.tangents[i] == kZero) continue;
    return absl::UnimplementedError(base::Cat(Name(b, h), ": ", h.text("callback"),
                                              " has no derivative; put it into a function with custom_jvp or "
                                              "custom_vjp, or give it the operands through stop_gradient"));
  }
  return absl::OkStatus();
}
absl::Status JvpOfPrimals(Builder& b, const StructuralOp& h, const ricci_jvp_args& a) {
  return b.Emit(h.op.prim, h.attrs, {a.primals, h.op.n_in}).status();
}

// ---- vmap ----

// One call for the whole batch: operands without a batch are repeated, or get a leading dimension of 1.
absl::Status AllAtOnce(Builder& b, const StructuralOp& h, const ricci_batch_args& a, bool repeat) {
  RICCI_ASSIGN(Vals in, BatchFront(b, a, h.op.n_in));
  for (uint32_t i = 0; i < h.op.n_in; ++i) {
    if (a.in_dims[i] >= 0) continue;
    RICCI_ASSIGN(in[i], trace::BroadcastLeading(b, in[i], repeat ? a.axis_size : 1));
  }
  std::string results;
  for (TypeId t : h.out_types()) {
    RICCI_ASSIGN(const TypeId batched, trace::WithDim(b.types(), t, 0, a.axis_size));
    results += base::Cat(results.empty() ? "" : ", ", ToText(b.types().Get(batched)));
  }
  std::vector<ricci_attr> attrs;
  for (const ricci_attr& attr : h.attrs) {
    attrs.push_back(base::View(attr.name) == "results" ? trace::StringAttr("results", results) : attr);
  }
  RICCI_ASSIGN(const Vals out, b.Emit(h.op.prim, attrs, in));
  std::copy(out.begin(), out.end(), a.out);
  return absl::OkStatus();
}

absl::Status BatchPure(Builder& b, const StructuralOp& h, const ricci_batch_args& a) {
  const std::string_view method = h.text("vmap_method");
  if (method == "sequential") return BatchOneByOne(b, h, a);
  if (!method.empty()) return AllAtOnce(b, h, a, method == "broadcast_all");
  return absl::UnimplementedError(
      "pure_callback: vmap needs to know how to call it; give vmap_method: sequential, expand_dims or broadcast_all");
}
absl::Status BatchIo(Builder& b, const StructuralOp& h, const ricci_batch_args& a) {
  if (h.integer("ordered") == 0) return BatchOneByOne(b, h, a);
  return absl::UnimplementedError("io_callback: an ordered callback has no order under vmap; use ordered=false");
}

// ---- at run time ----

// A call site: what is called, and with what.
struct Site {
  ricci_ctx* ctx;
  const ricci_callback* callback;  // NULL: prints
  std::vector<ricci_type> in, out;
  std::vector<ricci_type_desc> printed;  // of `in`
  std::string format;
  base::StatusSite at;  // of failures
};

std::unique_ptr<Site> SiteOf(const StructuralOp& h) {
  auto site = std::make_unique<Site>();
  site->ctx = h.op.ctx;
  ricci_str name{}, file{};
  ricci_prim_name(h.op.ctx, h.op.prim, &name);
  ricci_location_get(h.op.ctx, h.op.location, &file, &site->at.line, nullptr);
  site->at.primitive = base::View(name);
  site->at.file = base::View(file);
  site->in.assign(h.in_types().begin(), h.in_types().end());
  site->out.assign(h.out_types().begin(), h.out_types().end());
  return site;
}
absl::Status PlanCall(const StructuralOp& h, ricci_library_plan& plan) {
  auto site = SiteOf(h);
  const std::string_view name = h.text("callback");
  site->callback = ricci_context_callback(h.op.ctx, name.data(), name.size());
  if (site->callback == nullptr) {
    return absl::NotFoundError(
        base::Cat("the context has no callback ", name,
                  "; add it with ricci_context_add_callback, in Python with Context.add_callback"));
  }
  if (site->callback->call == nullptr) {
    return base::InvalidArgument("callback ", name, " is a rule for vmap; a run cannot call it");
  }
  plan.state = site.release();
  return absl::OkStatus();
}
absl::Status PlanPrint(const StructuralOp& h, ricci_library_plan& plan) {
  auto site = SiteOf(h);
  site->format = h.text("fmt");
  for (ricci_type t : site->in) {
    site->printed.push_back(ricci_type_desc_default());
    RICCI_TRY(base::FromAbi(ricci_type_get(h.op.ctx, t, &site->printed.back())));
  }
  plan.state = site.release();
  return absl::OkStatus();
}

ricci_status* Call(void* state, const ricci_launch* l) {
  const Site& site = *static_cast<const Site*>(state);
  ricci_callback_call call{};
  call.hdr.size = sizeof call;
  call.ctx = site.ctx;
  call.n_in = static_cast<uint32_t>(site.in.size());
  call.n_out = static_cast<uint32_t>(site.out.size());
  call.in_types = site.in.data();
  call.out_types = site.out.data();
  call.in = l->in;
  call.out = l->out;
  return base::AtBorder([&] {
    return base::WithSite(base::CallForeign([] { return std::string("the callback"); },
                                            [&] { return site.callback->call(site.callback->self, &call); }),
                          site.at);
  });
}
ricci_status* Print(void* state, const ricci_launch* l) {
  return base::AtBorder([&]() -> absl::Status {
    const Site& site = *static_cast<const Site*>(state);
    const std::string text = Formatted(site.format, site.printed, l->in);
    ricci_context_log(site.ctx, RICCI_LOG_INFO, text.data(), text.size());
    return absl::OkStatus();
  });
}

template <absl::Status (*Plan)(const StructuralOp&, ricci_library_plan&)>
ricci_status* PlanThunk(void*, const ricci_op* op, ricci_library_plan* plan) {
  return base::AtBorder([&] { return Plan(StructuralOp(op), *plan); });
}
void DropSite(void* state) { delete static_cast<Site*>(state); }

constexpr ricci_library kCall = {Header(sizeof(ricci_library)), PlanThunk<PlanCall>, Call, DropSite};
constexpr ricci_library kPrint = {Header(sizeof(ricci_library)), PlanThunk<PlanPrint>, Print, DropSite};
constexpr ricci_lowering Library(const ricci_library& library) {
  ricci_lowering l{};
  l.hdr = Header(sizeof l);
  l.kind = RICCI_LOWER_LIBRARY;
  l.target = Str("*");
  l.library = &library;
  return l;
}
constexpr ricci_lowering kByCall = Library(kCall), kByPrint = Library(kPrint);
constexpr const ricci_lowering* kCalls[] = {&kByCall};
constexpr const ricci_lowering* kPrints[] = {&kByPrint};

constexpr ricci_attr_spec kPureAttrs[] = {Spec("callback", RICCI_ATTR_STRING), Spec("results", RICCI_ATTR_STRING),
                                          Spec("vmap_method", RICCI_ATTR_STRING, "vmap is refused")};
constexpr ricci_attr_spec kIoAttrs[] = {Spec("callback", RICCI_ATTR_STRING), Spec("results", RICCI_ATTR_STRING),
                                        Spec("ordered", RICCI_ATTR_BOOL, "false")};
constexpr ricci_attr_spec kDebugAttrs[] = {Spec("callback", RICCI_ATTR_STRING)};
constexpr ricci_attr_spec kPrintAttrs[] = {Spec("fmt", RICCI_ATTR_STRING)};

constexpr std::string_view kNotLinear = "transpose: not linear";

bool IsCall(const prim::Row& row) {
  return std::any_of(row.libraries.begin(), row.libraries.end(), [](const auto& l) { return l.launch == Call; });
}

}  // namespace

std::vector<std::string> CallbacksOf(const ir::Program& p) {
  std::vector<std::string> names;
  for (const ir::Program* inner : ir::NestedFirst(p)) {
    for (const ir::Equation& e : inner->equations) {
      if (!IsCall(prim::Registry::Of(*inner).Get(e.prim))) continue;
      const ricci_attr& a = *ir::FindAttr(e.attrs, "callback");
      const std::string name(static_cast<const char*>(a.data), a.count);
      if (std::find(names.begin(), names.end(), name) == names.end()) names.push_back(name);
    }
  }
  return names;
}

constinit const StructuralRow kPureCallbackRow = {
    .name = "pure_callback",
    .doc =
        "ys... = pure_callback(xs...): what the function `callback` of the host gives for xs, of the types `results`, "
        "separated by commas; it may be called any number of times. `vmap_method`: sequential, expand_dims, "
        "broadcast_all",
    .attrs = kPureAttrs,
    .lowerings = kCalls,
    .type = TypeOfPure,
    .jvp = JvpRefused,
    .batch = BatchPure,
    .missing = kNotLinear,
    .examples =
        "order=0 (f32[3], i32[2]) callback=\"ricci.copy\" results=\"f32[3], i32[2]\" vmap_method=\"sequential\"; "
        "order=0 (f32[3], i32[2]) callback=\"ricci.copy\" results=\"f32[3], i32[2]\" "
        "vmap_method=\"broadcast_all\"",
};

constinit const StructuralRow kIoCallbackRow = {
    .name = "io_callback",
    .doc =
        "ys... = io_callback(xs...): the same of a function that does more than give results: it is called once, even "
        "if nothing needs them, in the order of the program; with `ordered` vmap is refused",
    .flags = RICCI_PRIM_EFFECTFUL,
    .attrs = kIoAttrs,
    .lowerings = kCalls,
    .type = TypeByResults,
    .jvp = JvpRefused,
    .batch = BatchIo,
    .missing = kNotLinear,
    .examples = "order=0 (f32[3], i32[2]) callback=\"ricci.copy\" results=\"f32[3], i32[2]\"",
};

constinit const StructuralRow kDebugCallbackRow = {
    .name = "debug_callback",
    .doc = "debug_callback(xs...): calls the function `callback` of the host; derivatives pass it by",
    .flags = RICCI_PRIM_EFFECTFUL,
    .attrs = kDebugAttrs,
    .lowerings = kCalls,
    .type = TypeOfDebug,
    .jvp = JvpOfPrimals,
    .batch = BatchOneByOne,
    .missing = kNotLinear,
};

constinit const StructuralRow kDebugPrintRow = {
    .name = "debug_print",
    .doc = "debug_print(xs...): passes `fmt`, with the operands in the place of each {}, to the log of the context",
    .flags = RICCI_PRIM_EFFECTFUL,
    .attrs = kPrintAttrs,
    .lowerings = kPrints,
    .type = TypeOfPrint,
    .jvp = JvpOfPrimals,
    .batch = BatchOneByOne,
    .missing = kNotLinear,
};

}}}  // namespace ricci::v0::control
