// Numbers: arrays as doubles, and what the laws need to know of a type. A complex number is two of them, its real and
// imaginary part; so is a key, its words of 32 bits from the lower one on.
//
// Devices agree within 1e-9 (f32: 1e-5) and exactly for integers. The tolerance grows with the largest parameter's
// length over 1,024, as errors of sums that come near zero do.
#ifndef RICCI_LAWS_NUMBERS_H_
#define RICCI_LAWS_NUMBERS_H_
#include <memory>
#include <string>
#include <vector>

#include "base/status.h"
#include "ricci/build.h"
#include "types/dtype.h"

namespace ricci { inline namespace v0 { namespace laws {

using Numbers = std::vector<double>;
using Arrays = std::vector<Numbers>;
using Bytes = std::vector<std::byte>;
using Program = std::shared_ptr<ricci_program>;
Program Own(ricci_program* p);

struct Type {
  ricci_type id;
  uint32_t dtype, rank;
  const int64_t* dims;
  int64_t elements;
  bool complex() const { return types::IsComplex(dtype); }
  bool floating() const { return types::IsFloating(dtype); }
  bool inexact() const { return floating() || complex(); }                          // it has a tangent
  bool precise() const { return dtype == RICCI_F64 || dtype == RICCI_C128; }        // enough for differences
  int64_t parts() const { return dtype == RICCI_KEY ? 2 : types::PartsOf(dtype); }  // numbers of one element
  size_t numbers() const { return static_cast<size_t>(elements * parts()); }
};
struct Signature {
  std::vector<Type> params, results;
};
absl::StatusOr<Signature> SignatureOf(const ricci_ctx* ctx, const ricci_program* p);
absl::StatusOr<Signature> SignatureOf(const ricci_ctx* ctx, const ricci_op& op);

absl::StatusOr<Bytes> Encode(const Type& t, const Numbers& from);
absl::StatusOr<Numbers> Decode(const Type& t, const Bytes& from);
absl::StatusOr<std::vector<Bytes>> EncodeAll(const std::vector<Type>& types, const Arrays& numbers);
absl::StatusOr<Arrays> DecodeAll(const std::vector<Type>& types, const std::vector<Bytes>& bytes);

// |got - want| relative to the larger of 1 and |want|; 0 if both are NaN.
double Difference(double got, double want);
// How much two ways of computing an element of that type may differ, in the order of a sum or in a contraction. Where
// the terms of a sum are about 1, its error (the root of their number, times that of the partial sums) grows with their
// number, which is at most `largest`.
double Tolerance(const Type& t, int64_t largest = 0);
std::string ToText(double v);
// `element 3`, or the part of it that number `i` is: `element 1 (imaginary part)`.
std::string ElementOf(const Type& t, size_t i);

}}}  // namespace ricci::v0::laws
#endif
