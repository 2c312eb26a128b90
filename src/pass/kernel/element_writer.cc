#include "pass/kernel/element_writer.h"

#include <cstring>

#include "base/status.h"
#include "pass/kernel/complex_scalar.h"
#include "types/dtype.h"

namespace ricci { inline namespace v0 { namespace pass {

using types::IsComplex;
using types::PartOf;

// ---- pairs ----
Val ElementWriter::Complex(Val re, Val im) {
  if (!ok()) return 0;
  const uint32_t part = DType(re);
  if (part != DType(im) || (part != RICCI_F32 && part != RICCI_F64)) {
    Fail(base::InvalidArgument("kernel: a complex number is made from two values of f32 or of f64, not from ",
                               types::Info(part).name, " and ", types::Info(DType(im)).name));
    return 0;
  }
  pairs_.push_back({re, im});
  return kPair | static_cast<Val>(pairs_.size() - 1);
}

bool ElementWriter::CheckPair(Val v, std::string_view where) {
  if (!ok()) return false;
  if (!IsPair(v)) Fail(base::InvalidArgument("kernel: ", where, ": value ", v, " is not complex but the array is"));
  return ok();
}

std::vector<Val> ElementWriter::Parts(std::span<const Val> values) const {
  std::vector<Val> out;
  for (const Val v : values) {
    out.push_back(IsPair(v) ? PartsOf(v).re : v);
    if (IsPair(v)) out.push_back(PartsOf(v).im);
  }
  return out;
}

// `parts` joined again in the way in which `like` was split.
void ElementWriter::Join(std::span<const Val> like, std::span<const Val> parts, Val* out) {
  size_t next = 0;
  for (const Val v : like) {
    const Val first = parts[next++];
    *out++ = IsPair(v) ? Complex(first, parts[next++]) : first;
  }
}

uint32_t ElementWriter::DType(Val v) const {
  if (!IsPair(v)) return Writer::DType(v);
  return Writer::DType(PartsOf(v).re) == RICCI_F32 ? RICCI_C64 : RICCI_C128;
}
bool ElementWriter::Usable(Val v) const {
  return IsPair(v) ? Writer::Usable(PartsOf(v).re) && Writer::Usable(PartsOf(v).im) : Writer::Usable(v);
}

// ---- values ----
Val ElementWriter::Element(uint32_t dtype, const std::byte* element) {
  const uint32_t part = PartOf(dtype), size = types::Info(part).size;
  uint64_t bits[2] = {};
  for (uint32_t i = 0; i < types::PartsOf(dtype); ++i) std::memcpy(&bits[i], element + i * size, size);
  const Val first = Const(part, bits[0]);
  return IsComplex(dtype) ? Complex(first, Const(part, bits[1])) : first;
}

Val ElementWriter::Scalar(uint32_t op, uint32_t dtype, std::span<const Val> operands) {
  const bool complex =
      IsComplex(dtype) || std::any_of(operands.begin(), operands.end(), [&](Val v) { return IsPair(v); });
  return complex ? ComplexScalar(*this, op, dtype, operands) : Writer::Scalar(op, dtype, operands);
}

// A product of complex numbers is not contracted (complex_arithmetic.cc).
Val ElementWriter::MultiplyAdd(Val a, Val b, Val c) {
  return IsPair(a) ? Op(RICCI_S_ADD, Op(RICCI_S_MUL, a, b), c) : Writer::MultiplyAdd(a, b, c);
}

// ---- memory ----
uint32_t ElementWriter::Buffer(uint32_t dtype, int64_t elements, uint32_t access) {
  complex_buffers_.push_back(IsComplex(dtype));
  return Writer::Buffer(PartOf(dtype), elements * types::PartsOf(dtype), access);
}

Val ElementWriter::Load(uint32_t buffer, Val index) {
  if (!InBuffer(buffer)) return Writer::Load(buffer, index);
  const Val at = Twice(index), re = Writer::Load(buffer, at);
  return Complex(re, Writer::Load(buffer, After(at)));
}

void ElementWriter::Store(uint32_t buffer, Val index, Val v) {
  if (!InBuffer(buffer)) return Writer::Store(buffer, index, v);
  if (!CheckPair(v, "store")) return;
  const Val at = Twice(index);
  Writer::Store(buffer, at, PartsOf(v).re);
  Writer::Store(buffer, After(at), PartsOf(v).im);
}

LocalId ElementWriter::Local(uint32_t dtype, int64_t elements) {
  const LocalId local = Writer::Local(PartOf(dtype), elements * types::PartsOf(dtype));
  if (IsComplex(dtype)) complex_locals_.insert(static_cast<uint32_t>(local));
  return local;
}

Val ElementWriter::Get(LocalId local, Val index) {
  if (!complex_locals_.contains(static_cast<uint32_t>(local))) return Writer::Get(local, index);
  const Val at = Twice(index), re = Writer::Get(local, at);
  return Complex(re, Writer::Get(local, After(at)));
}

void ElementWriter::Set(LocalId local, Val index, Val v) {
  if (!complex_locals_.contains(static_cast<uint32_t>(local))) return Writer::Set(local, index, v);
  if (!CheckPair(v, "set")) return;
  const Val at = Twice(index);
  Writer::Set(local, at, PartsOf(v).re);
  Writer::Set(local, After(at), PartsOf(v).im);
}

// ---- blocks ----
// A sum of complex numbers is a sum of each part; no other combiner works on each part by itself.
Val ElementWriter::Yield(Val v) {
  if (!IsPair(v)) return Writer::Yield(v);
  if (OpenCombiner() != RICCI_S_ADD) {
    Fail(base::InvalidArgument("kernel: complex numbers are only reduced by add"));
    return 0;
  }
  const Val parts[] = {PartsOf(v).re, PartsOf(v).im};
  Val sums[2] = {};
  Yields(parts, sums);
  return Complex(sums[0], sums[1]);
}

void ElementWriter::Scan(Val lo, Val hi, std::span<const Val> identities, Val* left, Val* right) {
  const std::vector<Val> states = Parts(identities);
  std::vector<Val> lefts(states.size()), rights(states.size());
  Writer::Scan(lo, hi, states, lefts.data(), rights.data());
  if (!ok()) return;
  Join(identities, lefts, left);
  Join(identities, rights, right);
}

Val ElementWriter::Combiner(std::span<const Val> results) { return Writer::Combiner(Parts(results)); }

void ElementWriter::Prefix(std::span<const Val> elements, Val* prefixes) {
  const std::vector<Val> states = Parts(elements);
  std::vector<Val> out(states.size());
  Writer::Prefix(states, out.data());
  if (ok()) Join(elements, out, prefixes);
}

}}}  // namespace ricci::v0::pass
