// Functions of the host as callbacks of a context, and the equations that call them.
#include "ricci/callbacks.hpp"

#include <memory>

#include "host/core/numpy_steps.h"
#include "ricci/callback.h"

namespace ricci { inline namespace v0 {
namespace {

template <typename Byte, typename Pointer>
std::vector<HostData<Byte>> DataOf(ricci_ctx* ctx, uint32_t n, const ricci_type* types, Pointer const* data) {
  std::vector<HostData<Byte>> out;
  for (uint32_t i = 0; i < n; ++i) {
    const ArrayType t(ctx, types[i]);
    const Dims shape = t.shape();
    const auto bytes = static_cast<size_t>(t.elements() * SizeOf(t.dtype()));  // exact: there is memory for them
    out.push_back({ShapeDType{Shape(shape.begin(), shape.end()), t.dtype()},
                   std::span<Byte>(static_cast<Byte*>(data[i]), bytes)});
  }
  return out;
}

ricci_status* Call(void* self, const ricci_callback_call* c) {
  return Guard([&] {
    const auto in = DataOf<const std::byte>(c->ctx, c->n_in, c->in_types, c->in);
    const auto out = DataOf<std::byte>(c->ctx, c->n_out, c->out_types, c->out);
    (*static_cast<const HostFunction*>(self))(in, out);
  });
}

ricci_status* Batch(void* self, ricci_builder* b, const ricci_op* op, const ricci_batch_args* a) {
  return Guard([&] {
    Values xs;
    std::vector<bool> batched;
    for (uint32_t i = 0; i < op->n_in; ++i) {
      xs.push_back({b, a->in[i]});
      batched.push_back(a->in_dims[i] >= 0);
    }
    const HostBatch out = (*static_cast<const BatchRule*>(self))(a->axis_size, xs, batched);
    if (out.results.size() != op->n_out || out.batched.size() != op->n_out) {
      Fail("custom_vmap: the rule gives ", Count(out.results.size(), "result"), " and ",
           Count(out.batched.size(), "flag"), "; the function has ", Count(op->n_out, "result"));
    }
    for (uint32_t i = 0; i < op->n_out; ++i) {
      a->out[i] = out.results[i].id;
      a->out_dims[i] = out.batched[i] ? 0 : -1;
    }
  });
}

// Gives `f` to the context and returns its name, made of its address, which no other function has meanwhile.
template <typename Function>
std::string Keep(ricci_ctx* ctx, Function f) {
  auto kept = std::make_unique<Function>(std::move(f));
  ricci_callback callback{};
  callback.hdr.size = sizeof callback;
  callback.self = kept.get();
  if constexpr (std::is_same_v<Function, BatchRule>) {
    callback.batch = Batch;
  } else {
    callback.call = Call;
  }
  callback.drop_self = [](void* self) { delete static_cast<Function*>(self); };
  const std::string name = Text("host.", reinterpret_cast<uintptr_t>(kept.get()));
  Check(ricci_context_add_callback(ctx, name.data(), name.size(), &callback));
  kept.release();
  return name;
}

std::string TypesText(const CallSite& site, std::span<const ShapeDType> types) {
  std::string out;
  for (const ShapeDType& t : types) {
    out += Text(out.empty() ? "" : ", ", ArrayType::Make(site.context(), t.dtype, t.shape));
  }
  return out;
}
Values Lifted(const CallSite& site, std::initializer_list<Operand> xs) {
  Values out;
  for (const Operand& x : xs) out.push_back(site.Lift(x, x.is_number() ? PromotedDType(site, {&x, 1}) : x.dtype()));
  return out;
}
CallSite SiteOfList(std::string_view name, std::initializer_list<Operand> xs) {
  if (xs.size() == 0) Fail(name, ": give at least one operand; it says which program the call belongs to");
  return SiteOf(name, {xs.begin(), xs.size()});
}

}  // namespace

Values pure_callback(HostFunction f, std::span<const ShapeDType> results, std::initializer_list<Operand> xs,
                     PureCallbackOptions options) {
  const CallSite site = SiteOfList("pure_callback", xs);
  const std::string types = TypesText(site, results), name = Keep(site.context(), std::move(f));
  return EmitN(static_cast<uint32_t>(results.size()), "pure_callback", Lifted(site, xs),
               {{"callback", std::string_view(name)},
                {"results", std::string_view(types)},
                {"vmap_method", options.vmap_method}});
}
Value pure_callback(HostFunction f, const ShapeDType& result, std::initializer_list<Operand> xs,
                    PureCallbackOptions options) {
  return pure_callback(std::move(f), {&result, 1}, xs, options)[0];
}
Values io_callback(HostFunction f, std::span<const ShapeDType> results, std::initializer_list<Operand> xs,
                   IoCallbackOptions options) {
  const CallSite site = SiteOfList("io_callback", xs);
  const std::string types = TypesText(site, results), name = Keep(site.context(), std::move(f));
  return EmitN(
      static_cast<uint32_t>(results.size()), "io_callback", Lifted(site, xs),
      {{"callback", std::string_view(name)}, {"results", std::string_view(types)}, {"ordered", options.ordered}});
}
void debug_callback(HostFunction f, std::initializer_list<Operand> xs) {
  const CallSite site = SiteOfList("debug_callback", xs);
  const std::string name = Keep(site.context(), std::move(f));
  EmitN(0, "debug_callback", Lifted(site, xs), {{"callback", std::string_view(name)}});
}
void debug_print(std::string_view fmt, std::initializer_list<Operand> xs) {
  const CallSite site = SiteOfList("debug_print", xs);
  EmitN(0, "debug_print", Lifted(site, xs), {{"fmt", fmt}});
}

Values CustomVmapLeaves(const CallSite& site, LeafFunction f, const Values& leaves, BatchRule rule) {
  const Closed<Value> closed = Close(site, f, TypesOf(leaves));
  if (!closed.captured.empty()) {
    site.Fail("the function captures ", Count(closed.captured.size(), "value"),
              ", which its rule would not see; make each an argument");
  }
  const std::string name = Keep(site.context(), std::move(rule));
  ricci_program* body = closed.program.handle();
  return EmitN(static_cast<uint32_t>(closed.program.results().size()), "custom_vmap", leaves,
               {{"body", body}, {"rule", std::string_view(name)}});
}

}}  // namespace ricci::v0
