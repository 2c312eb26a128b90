// The C functions of ricci/kernel.h over pass::KernelBuilder.
#include "ricci/kernel.h"

#include "base/status_abi.h"
#include "pass/kernel_builder.h"

using ricci::base::AtBorder;
using ricci::base::Count;
using ricci::base::InvalidArgument;
using ricci::pass::FromAbi;
using ricci::pass::KernelBuilder;

namespace {

absl::Status CheckDType(uint32_t dtype) {
  if (ricci::types::Info(dtype).supported) return absl::OkStatus();
  return InvalidArgument("kernel: dtype ", dtype, " is not supported");
}

// `*out = v` if nothing failed so far.
absl::Status Give(KernelBuilder& k, ricci_sval v, ricci_sval* out) {
  RICCI_TRY(k.writer().status());
  *out = v;
  return absl::OkStatus();
}

}  // namespace

extern "C" {

ricci_karr ricci_kernel_operand(const ricci_kernel_builder* k, uint32_t i) { return FromAbi(k)->operand(i); }
ricci_karr ricci_kernel_result(const ricci_kernel_builder* k, uint32_t i) { return FromAbi(k)->result(i); }
ricci_type ricci_kernel_array_type(const ricci_kernel_builder* k, ricci_karr a) {
  return FromAbi(k)->Has(a) ? FromAbi(k)->type_id(a) : 0;
}
uint32_t ricci_kernel_dtype(const ricci_kernel_builder* k, ricci_sval v) {
  return const_cast<KernelBuilder*>(FromAbi(k))->writer().DType(v);
}

ricci_status* ricci_kernel_const(ricci_kernel_builder* k, uint32_t dtype, const void* element, ricci_sval* out) {
  return AtBorder([&]() -> absl::Status {
    RICCI_TRY(CheckDType(dtype));
    uint64_t bits = 0;
    std::memcpy(&bits, element, ricci::types::Info(dtype).size);
    return Give(*FromAbi(k), FromAbi(k)->writer().Const(dtype, bits), out);
  });
}

ricci_status* ricci_kernel_const_index(ricci_kernel_builder* k, int64_t value, ricci_sval* out) {
  return AtBorder([&] { return Give(*FromAbi(k), FromAbi(k)->writer().Index(value), out); });
}

ricci_status* ricci_kernel_scalar(ricci_kernel_builder* k, uint32_t op, uint32_t dtype, const ricci_sval* in,
                                  uint32_t n, ricci_sval* out) {
  return AtBorder([&] { return Give(*FromAbi(k), FromAbi(k)->writer().Scalar(op, dtype, {in, n}), out); });
}

ricci_status* ricci_kernel_load(ricci_kernel_builder* k, ricci_karr a, const ricci_sval* index, uint32_t n,
                                ricci_sval* out) {
  return AtBorder([&]() -> absl::Status {
    RICCI_ASSIGN(*out, FromAbi(k)->Load(a, {index, n}));
    return absl::OkStatus();
  });
}

ricci_status* ricci_kernel_store(ricci_kernel_builder* k, ricci_karr a, const ricci_sval* index, uint32_t n,
                                 ricci_sval v) {
  return AtBorder([&] { return FromAbi(k)->Store(a, {index, n}, v); });
}

ricci_status* ricci_kernel_private(ricci_kernel_builder* k, ricci_type t, ricci_karr* out) {
  return AtBorder([&]() -> absl::Status {
    RICCI_ASSIGN(*out, FromAbi(k)->Private(t));
    return absl::OkStatus();
  });
}

ricci_status* ricci_kernel_view(ricci_kernel_builder* k, ricci_karr a, uint32_t axis, ricci_sval index,
                                ricci_karr* out) {
  return AtBorder([&]() -> absl::Status {
    RICCI_ASSIGN(*out, FromAbi(k)->View(a, axis, index));
    return absl::OkStatus();
  });
}

ricci_status* ricci_kernel_copy(ricci_kernel_builder* k, ricci_karr dst, ricci_karr src) {
  return AtBorder([&] { return FromAbi(k)->Copy(dst, src); });
}

ricci_status* ricci_kernel_parallel(ricci_kernel_builder* k, const int64_t* extents, uint32_t n, ricci_sval* index) {
  return AtBorder([&] { return FromAbi(k)->Parallel({extents, n}, index); });
}

ricci_status* ricci_kernel_for(ricci_kernel_builder* k, ricci_sval lo, ricci_sval hi, ricci_sval* index) {
  return AtBorder([&] { return Give(*FromAbi(k), FromAbi(k)->writer().For(lo, hi), index); });
}

ricci_status* ricci_kernel_while(ricci_kernel_builder* k) {
  return AtBorder([&] {
    FromAbi(k)->writer().While();
    return FromAbi(k)->writer().status();
  });
}

ricci_status* ricci_kernel_cond(ricci_kernel_builder* k, ricci_sval pred) {
  return AtBorder([&] {
    FromAbi(k)->writer().Cond(pred);
    return FromAbi(k)->writer().status();
  });
}

ricci_status* ricci_kernel_if(ricci_kernel_builder* k, ricci_sval pred) {
  return AtBorder([&] {
    FromAbi(k)->writer().If(pred);
    return FromAbi(k)->writer().status();
  });
}

ricci_status* ricci_kernel_else(ricci_kernel_builder* k) {
  return AtBorder([&] {
    FromAbi(k)->writer().Else();
    return FromAbi(k)->writer().status();
  });
}

ricci_status* ricci_kernel_end(ricci_kernel_builder* k) {
  return AtBorder([&] {
    FromAbi(k)->writer().End();
    return FromAbi(k)->writer().status();
  });
}

ricci_status* ricci_kernel_reduce(ricci_kernel_builder* k, uint32_t combiner, ricci_sval lo, ricci_sval hi,
                                  ricci_sval* index) {
  return AtBorder([&] { return Give(*FromAbi(k), FromAbi(k)->writer().Reduce(combiner, lo, hi), index); });
}

ricci_status* ricci_kernel_yield(ricci_kernel_builder* k, ricci_sval v, ricci_sval* out) {
  return AtBorder([&] { return Give(*FromAbi(k), FromAbi(k)->writer().Yield(v), out); });
}

ricci_status* ricci_kernel_inline(ricci_kernel_builder* k, const ricci_program* f, const ricci_karr* in, uint32_t n_in,
                                  const ricci_karr* dst, ricci_karr* out, uint32_t n_out) {
  return AtBorder([&]() -> absl::Status {
    const ricci::ir::Program& p = *ricci::ir::FromAbi(f);
    if (n_out != p.n_results()) {
      return InvalidArgument("kernel: program ", p.name, " gives ", Count(p.n_results(), "result"), ", not ", n_out);
    }
    return FromAbi(k)->Inline(p, {in, n_in}, {dst, dst == nullptr ? 0 : n_out}, {out, out == nullptr ? 0 : n_out});
  });
}

ricci_status* ricci_kernel_check(ricci_kernel_builder* k, ricci_sval pred, uint32_t code, const char* msg, size_t len) {
  return AtBorder([&]() -> absl::Status {
    if (code == RICCI_OK) return InvalidArgument("kernel: a check that fails needs a code other than OK");
    return FromAbi(k)->Require(pred, absl::Status(static_cast<absl::StatusCode>(code), absl::string_view(msg, len)));
  });
}
}
