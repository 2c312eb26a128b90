// DeviceText: the functions `ricci_dev_*` that printed kernels call, each once, after those that it calls itself.
//
// They are plain C but for `__device__` and a few functions that every CUDA compiler knows (fmaf, __clz, atomicMin), so
// the text needs no header, and what a kernel computes can be tried on a processor.
#ifndef RICCI_CUDA_DEVICE_TEXT_H_
#define RICCI_CUDA_DEVICE_TEXT_H_
#include <cstdint>
#include <functional>
#include <set>
#include <string>
#include <string_view>

namespace ricci::cuda {

class DeviceText {
 public:
  // The function `name`; if it is new, `write` gives `RESULT NAME(ARGUMENTS) { ... }` and uses what that calls.
  std::string Function(const std::string& name, const std::function<std::string()>& write);
  // The struct of `n` elements `at`, aligned to its size.
  std::string Vector(const std::string& type, int64_t n);
  // Names of the types, then structs, then all functions.
  std::string Text() const;

 private:
  std::set<std::string> names_;
  std::string structs_, text_;
};

// `text` with $T, $a and so on replaced: pairs of a letter and what takes its place.
std::string Fill(std::string_view text, std::initializer_list<std::pair<char, std::string_view>> by);

// ---- device_convert.cc: names of functions that change the type of a value ----
std::string Convert(DeviceText& d, uint32_t from, uint32_t to, const std::string& value);
std::string Bitcast(DeviceText& d, uint32_t from, uint32_t to, const std::string& value);
// A narrow float's number in f32.
std::string Widened(DeviceText& d, uint32_t dtype, const std::string& value);
// As an operand of arithmetic: which NaN it is does not matter.
std::string WidenedOperand(DeviceText& d, uint32_t dtype, const std::string& value);
std::string Narrowed(DeviceText& d, uint32_t dtype, const std::string& value);
// The number, or the bits, of an f32 or f64.
std::string RealOfBits(DeviceText& d, uint32_t dtype, const std::string& bits);
std::string BitsOfReal(DeviceText& d, uint32_t dtype, const std::string& real);

// ---- device_math.cc ----
// A special function of f32 or f64: the formula of plugins/codegen. Empty if the operation is none.
std::string MathFunction(DeviceText& d, uint32_t op, uint32_t dtype, uint32_t arity);

// ---- scalar_text.cc ----
// The expression for operation `op`; `from` is the dtype of operand 0 (of operand 1 for SELECT), `to` that of the
// result. Empty if the operation does not exist for it.
std::string PrintScalar(DeviceText& d, uint32_t op, uint32_t from, uint32_t to, const std::string* in, uint32_t n);
// An element given by its bits.
std::string PrintConstant(DeviceText& d, uint32_t dtype, uint64_t bits);

}  // namespace ricci::cuda
#endif
