// Numbers: programs run on a device with inputs and results as doubles.
#ifndef RICCI_CHECK_NUMBERS_H_
#define RICCI_CHECK_NUMBERS_H_
#include <memory>
#include <random>
#include <string_view>
#include <vector>

#include "absl/status/statusor.h"
#include "base/status.h"
#include "ricci/check.h"
#include "ricci/device.h"

namespace ricci::inline v0::check {

using Numbers = std::vector<double>;
using Arrays = std::vector<Numbers>;
using Program = std::shared_ptr<ricci_program>;
Program Own(ricci_program* p);

struct Type {
  ricci_type id;
  uint32_t dtype, rank;
  const int64_t* dims;
  int64_t elements;
  bool real() const { return dtype == RICCI_F64; }
  bool floating() const { return dtype >= RICCI_F16 && dtype <= RICCI_F64; }
};
struct Signature {
  std::vector<Type> params, results;
};
absl::StatusOr<Signature> SignatureOf(const ricci_ctx* ctx, const ricci_program* p);

// dtypes that are read and written: bool, integers, f32, f64. UNIMPLEMENTED for others.
absl::StatusOr<Arrays> Run(ricci_ctx* ctx, const ricci_program* p, const Signature& s, const Arrays& inputs,
                           ricci_device* device);

}  // namespace ricci::inline v0::check
#endif
