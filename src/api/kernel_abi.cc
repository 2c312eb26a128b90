// ricci/kernel.h: the functions with which lowerings write kernels, over pass::KernelBuilder.
#include "ricci/kernel.h"

#include "api/arguments.h"
#include "pass/kernel/kernel_builder.h"

using namespace ricci;
using api::Arguments;
using api::Border;
using api::Span;
using base::InvalidArgument;
using pass::FromAbi;
using pass::KernelBuilder;

namespace {

absl::Status CheckDType(uint32_t dtype) {
  if (types::Info(dtype).size != 0) return absl::OkStatus();
  return InvalidArgument("kernel: there is no dtype with number ", dtype);
}

// `*out = v` if nothing has failed so far.
absl::Status Give(KernelBuilder& k, ricci_sval v, ricci_sval* out) {
  RICCI_TRY(k.writer().status());
  *out = v;
  return absl::OkStatus();
}

// A call of the writer that gives no value, such as the end of a block.
template <typename Call>
ricci_status* Mark(const char* function, ricci_kernel_builder* k, Call&& call) {
  return Border(function, [&](Arguments args) -> absl::Status {
    RICCI_TRY(args.NotNull({{"k", k}}));
    call(FromAbi(k)->writer());
    return FromAbi(k)->writer().status();
  });
}

}  // namespace

extern "C" {

ricci_karr ricci_kernel_operand(const ricci_kernel_builder* k, uint32_t i) {
  return k == nullptr ? 0 : FromAbi(k)->operand(i);
}
ricci_karr ricci_kernel_result(const ricci_kernel_builder* k, uint32_t i) {
  return k == nullptr ? 0 : FromAbi(k)->result(i);
}
ricci_type ricci_kernel_array_type(const ricci_kernel_builder* k, ricci_karr a) {
  return k != nullptr && FromAbi(k)->Has(a) ? FromAbi(k)->type_id(a) : 0;
}
uint32_t ricci_kernel_dtype(const ricci_kernel_builder* k, ricci_sval v) {
  return k == nullptr ? 0 : FromAbi(k)->writer().DType(v);
}

ricci_status* ricci_kernel_const(ricci_kernel_builder* k, uint32_t dtype, const void* element, ricci_sval* out) {
  return Border(__func__, [&](Arguments args) -> absl::Status {
    RICCI_TRY(args.NotNull({{"k", k}, {"element", element}, {"out", out}}));
    RICCI_TRY(CheckDType(dtype));
    const auto* bytes = static_cast<const std::byte*>(element);
    return Give(*FromAbi(k), FromAbi(k)->writer().Element(dtype, bytes), out);
  });
}

ricci_status* ricci_kernel_const_index(ricci_kernel_builder* k, int64_t value, ricci_sval* out) {
  return Border(__func__, [&](Arguments args) -> absl::Status {
    RICCI_TRY(args.NotNull({{"k", k}, {"out", out}}));
    return Give(*FromAbi(k), FromAbi(k)->writer().Index(value), out);
  });
}

ricci_status* ricci_kernel_scalar(ricci_kernel_builder* k, uint32_t op, uint32_t dtype, const ricci_sval* in,
                                  uint32_t n, ricci_sval* out) {
  return Border(__func__, [&](Arguments args) -> absl::Status {
    RICCI_TRY(args.NotNull({{"k", k}, {"out", out}}));
    RICCI_TRY(args.Array("in", in, n));
    return Give(*FromAbi(k), FromAbi(k)->writer().Scalar(op, dtype, Span(in, n)), out);
  });
}

ricci_status* ricci_kernel_multiply_add(ricci_kernel_builder* k, ricci_sval a, ricci_sval b, ricci_sval c,
                                        ricci_sval* out) {
  return Border(__func__, [&](Arguments args) -> absl::Status {
    RICCI_TRY(args.NotNull({{"k", k}, {"out", out}}));
    return Give(*FromAbi(k), FromAbi(k)->writer().MultiplyAdd(a, b, c), out);
  });
}

ricci_status* ricci_kernel_complex(ricci_kernel_builder* k, ricci_sval re, ricci_sval im, ricci_sval* out) {
  return Border(__func__, [&](Arguments args) -> absl::Status {
    RICCI_TRY(args.NotNull({{"k", k}, {"out", out}}));
    return Give(*FromAbi(k), FromAbi(k)->writer().Complex(re, im), out);
  });
}

ricci_status* ricci_kernel_parts(ricci_kernel_builder* k, ricci_sval v, ricci_sval* re, ricci_sval* im) {
  return Border(__func__, [&](Arguments args) -> absl::Status {
    RICCI_TRY(args.NotNull({{"k", k}, {"re", re}, {"im", im}}));
    if (!FromAbi(k)->writer().IsPair(v)) return InvalidArgument("kernel: value ", v, " is not complex");
    const pass::Pair parts = FromAbi(k)->writer().PartsOf(v);
    *re = parts.re;
    *im = parts.im;
    return absl::OkStatus();
  });
}

ricci_status* ricci_kernel_load(ricci_kernel_builder* k, ricci_karr a, const ricci_sval* index, uint32_t n,
                                ricci_sval* out) {
  return Border(__func__, [&](Arguments args) -> absl::Status {
    RICCI_TRY(args.NotNull({{"k", k}, {"out", out}}));
    RICCI_TRY(args.Array("index", index, n));
    RICCI_ASSIGN(*out, FromAbi(k)->Load(a, Span(index, n)));
    return absl::OkStatus();
  });
}

ricci_status* ricci_kernel_store(ricci_kernel_builder* k, ricci_karr a, const ricci_sval* index, uint32_t n,
                                 ricci_sval v) {
  return Border(__func__, [&](Arguments args) -> absl::Status {
    RICCI_TRY(args.NotNull({{"k", k}}));
    RICCI_TRY(args.Array("index", index, n));
    return FromAbi(k)->Store(a, Span(index, n), v);
  });
}

ricci_status* ricci_kernel_combine(ricci_kernel_builder* k, ricci_karr a, const ricci_sval* index, uint32_t n,
                                   uint32_t combiner, ricci_sval v) {
  return Border(__func__, [&](Arguments args) -> absl::Status {
    RICCI_TRY(args.NotNull({{"k", k}}));
    RICCI_TRY(args.Array("index", index, n));
    return FromAbi(k)->Combine(a, Span(index, n), combiner, v);
  });
}

ricci_status* ricci_kernel_private(ricci_kernel_builder* k, ricci_type t, ricci_karr* out) {
  return Border(__func__, [&](Arguments args) -> absl::Status {
    RICCI_TRY(args.NotNull({{"k", k}, {"out", out}}));
    RICCI_ASSIGN(*out, FromAbi(k)->Private(t));
    return absl::OkStatus();
  });
}

ricci_status* ricci_kernel_view(ricci_kernel_builder* k, ricci_karr a, uint32_t axis, ricci_sval index,
                                ricci_karr* out) {
  return Border(__func__, [&](Arguments args) -> absl::Status {
    RICCI_TRY(args.NotNull({{"k", k}, {"out", out}}));
    RICCI_ASSIGN(*out, FromAbi(k)->View(a, axis, index));
    return absl::OkStatus();
  });
}

ricci_status* ricci_kernel_copy(ricci_kernel_builder* k, ricci_karr dst, ricci_karr src) {
  return Border(__func__, [&](Arguments args) -> absl::Status {
    RICCI_TRY(args.NotNull({{"k", k}}));
    return FromAbi(k)->Copy(dst, src);
  });
}

ricci_status* ricci_kernel_parallel(ricci_kernel_builder* k, const int64_t* extents, uint32_t n, ricci_sval* index) {
  return Border(__func__, [&](Arguments args) -> absl::Status {
    RICCI_TRY(args.NotNull({{"k", k}}));
    RICCI_TRY(args.Array("extents", extents, n));
    RICCI_TRY(args.Array("index", index, n));
    return FromAbi(k)->Parallel(Span(extents, n), index);
  });
}

ricci_status* ricci_kernel_for(ricci_kernel_builder* k, ricci_sval lo, ricci_sval hi, ricci_sval* index) {
  return Border(__func__, [&](Arguments args) -> absl::Status {
    RICCI_TRY(args.NotNull({{"k", k}, {"index", index}}));
    return Give(*FromAbi(k), FromAbi(k)->writer().For(lo, hi), index);
  });
}

ricci_status* ricci_kernel_while(ricci_kernel_builder* k) {
  return Mark(__func__, k, [](kernel::Writer& w) { w.While(); });
}
ricci_status* ricci_kernel_cond(ricci_kernel_builder* k, ricci_sval pred) {
  return Mark(__func__, k, [&](kernel::Writer& w) { w.Cond(pred); });
}
ricci_status* ricci_kernel_if(ricci_kernel_builder* k, ricci_sval pred) {
  return Mark(__func__, k, [&](kernel::Writer& w) { w.If(pred); });
}
ricci_status* ricci_kernel_else(ricci_kernel_builder* k) {
  return Mark(__func__, k, [](kernel::Writer& w) { w.Else(); });
}
ricci_status* ricci_kernel_end(ricci_kernel_builder* k) {
  return Mark(__func__, k, [](kernel::Writer& w) { w.End(); });
}

ricci_status* ricci_kernel_reduce(ricci_kernel_builder* k, uint32_t combiner, ricci_sval lo, ricci_sval hi,
                                  ricci_sval* index) {
  return Border(__func__, [&](Arguments args) -> absl::Status {
    RICCI_TRY(args.NotNull({{"k", k}, {"index", index}}));
    return Give(*FromAbi(k), FromAbi(k)->writer().Reduce(combiner, lo, hi), index);
  });
}

ricci_status* ricci_kernel_yield(ricci_kernel_builder* k, ricci_sval v, ricci_sval* out) {
  return Border(__func__, [&](Arguments args) -> absl::Status {
    RICCI_TRY(args.NotNull({{"k", k}, {"out", out}}));
    return Give(*FromAbi(k), FromAbi(k)->writer().Yield(v), out);
  });
}

ricci_status* ricci_kernel_scan(ricci_kernel_builder* k, ricci_sval lo, ricci_sval hi, const ricci_sval* identity,
                                uint32_t n, ricci_sval* left, ricci_sval* right) {
  return Border(__func__, [&](Arguments args) -> absl::Status {
    RICCI_TRY(args.NotNull({{"k", k}}));
    RICCI_TRY(args.Array("identity", identity, n));
    RICCI_TRY(args.Array("left", left, n));
    RICCI_TRY(args.Array("right", right, n));
    pass::ElementWriter& w = FromAbi(k)->writer();
    w.Scan(lo, hi, Span(identity, n), left, right);
    return w.status();
  });
}

ricci_status* ricci_kernel_combiner(ricci_kernel_builder* k, const ricci_sval* result, uint32_t n, ricci_sval* index) {
  return Border(__func__, [&](Arguments args) -> absl::Status {
    RICCI_TRY(args.NotNull({{"k", k}, {"index", index}}));
    RICCI_TRY(args.Array("result", result, n));
    return Give(*FromAbi(k), FromAbi(k)->writer().Combiner(Span(result, n)), index);
  });
}

ricci_status* ricci_kernel_prefix(ricci_kernel_builder* k, const ricci_sval* element, uint32_t n, ricci_sval* out) {
  return Border(__func__, [&](Arguments args) -> absl::Status {
    RICCI_TRY(args.NotNull({{"k", k}}));
    RICCI_TRY(args.Array("element", element, n));
    RICCI_TRY(args.Array("out", out, n));
    pass::ElementWriter& w = FromAbi(k)->writer();
    w.Prefix(Span(element, n), out);
    return w.status();
  });
}

ricci_status* ricci_kernel_inline(ricci_kernel_builder* k, const ricci_program* f, const ricci_karr* in, uint32_t n_in,
                                  const ricci_karr* dst, ricci_karr* out, uint32_t n_out) {
  return Border(__func__, [&](Arguments args) -> absl::Status {
    RICCI_TRY(args.NotNull({{"k", k}, {"f", f}}));
    RICCI_TRY(args.Array("in", in, n_in));
    if (dst == nullptr) RICCI_TRY(args.Array("out", out, n_out));
    const ir::Program& p = *ir::FromAbi(f);
    if (n_out != p.n_results()) {
      return InvalidArgument("kernel: program ", p.name, " gives ", base::Count(p.n_results(), "result"), ", not ",
                             n_out);
    }
    return FromAbi(k)->Inline(p, Span(in, n_in), Span(dst, dst == nullptr ? 0 : n_out),
                              {out, out == nullptr ? 0 : n_out});
  });
}

ricci_status* ricci_kernel_check(ricci_kernel_builder* k, ricci_sval pred, uint32_t code, const char* msg, size_t len) {
  return Border(__func__, [&](Arguments args) -> absl::Status {
    RICCI_TRY(args.NotNull({{"k", k}}));
    RICCI_TRY(args.Array("msg", msg, len));
    if (code == RICCI_OK) return InvalidArgument("kernel: a check that fails needs a code other than OK");
    return FromAbi(k)->Require(pred, absl::Status(static_cast<absl::StatusCode>(code), absl::string_view(msg, len)));
  });
}
}
