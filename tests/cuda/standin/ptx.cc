#include "ptx.h"

#include <algorithm>
#include <atomic>
#include <cmath>
#include <cstring>
#include <map>
#include <mutex>
#include <string>

#include "standin.h"

namespace ricci::cuda::standin {
namespace {

constexpr uint32_t kLanes = 32, kAll = 0xffffffffu;

// `{%0, %1}`, `[%4]`, `%2` or `16`.
struct Argument {
  char form = '%';  // the first letter; '#': a number
  std::vector<uint32_t> operands;
  uint64_t number = 0;
};
struct Instruction {
  std::string name;  // with all that follows points
  std::vector<Argument> arguments;
  const char* (*run)(const Instruction& i, const PtxCall& call) = nullptr;
};

// ---- operands ----
uint64_t Value(const PtxCall& c, const Argument& a) {
  return a.form == '#' ? a.number : c.operands[a.operands[0]].value;
}
char* SharedAt(const PtxCall& c, const Argument& a) {
  return c.shared + static_cast<int32_t>(static_cast<uint32_t>(Value(c, a)));
}
void Note(const PtxCall& c, const void* p, uint32_t bytes, bool writes) {
  c.at.access(p, bytes, writes ? 1 : 0, c.site);
}
uint32_t LaneOf(const Place& p) {
  return (p.thread[0] + p.threads[0] * (p.thread[1] + p.threads[1] * p.thread[2])) % kLanes;
}
// What each lane gives, by lane.
template <typename T>
void Meet(const PtxCall& c, const Instruction& i, const T& mine, T (&all)[kLanes]) {
  c.at.meet({i.name.c_str(), c.site, kAll, sizeof(T), &mine, all});
}
bool Has(const Instruction& i, size_t arguments, const char* forms) {
  if (i.arguments.size() != arguments) return false;
  for (size_t a = 0; a < arguments; ++a) {
    if (i.arguments[a].form != forms[a] && !(forms[a] == '*' && i.arguments[a].form != '{')) return false;
  }
  return true;
}
// The registers of `a` have this letter and size.
bool Are(const PtxCall& c, const Argument& a, char kind, uint32_t bytes) {
  for (const uint32_t o : a.operands) {
    if (c.operands[o].kind != kind || c.operands[o].bytes != bytes) return false;
  }
  return true;
}

// ---- cp.async: "Data Movement and Conversion Instructions: cp.async" ----
const char* CopyAsync(const Instruction& i, const PtxCall& c) {
  if (!Has(i, 4, "[[#*") && !Has(i, 3, "[[#"))
    return "cp.async takes a place, a source, a size and the size of the source";
  if (!Are(c, i.arguments[0], 'r', 4) || !Are(c, i.arguments[1], 'l', 8)) {
    return "an address in shared memory has 32 bits, one in global memory 64";
  }
  const auto bytes = static_cast<uint32_t>(i.arguments[2].number);
  const auto from_bytes = i.arguments.size() == 4 ? static_cast<uint32_t>(Value(c, i.arguments[3])) : bytes;
  const bool is_global_only = i.name == "cp.async.cg.shared.global";
  if (bytes != 16 && (is_global_only || (bytes != 4 && bytes != 8))) return "cp.async copies 4, 8 or 16 bytes, .cg 16";
  if (from_bytes > bytes) return "the source of cp.async is longer than the copy";
  const auto from = static_cast<uintptr_t>(Value(c, i.arguments[1]));
  if (from % bytes != 0) return "the source of cp.async is misaligned";
  const AsyncCopy copy{SharedAt(c, i.arguments[0]), reinterpret_cast<const char*>(from), bytes, from_bytes, c.site};
  if (from_bytes != 0) Note(c, copy.from, from_bytes, /*writes=*/false);
  Note(c, copy.to, bytes, /*writes=*/true);
  c.copies.open.push_back(copy);
  return nullptr;
}
const char* CommitCopies(const Instruction&, const PtxCall& c) {
  c.copies.groups.push_back(std::move(c.copies.open));
  c.copies.open.clear();
  return nullptr;
}
const char* WaitForCopies(const Instruction& i, const PtxCall& c) {
  if (!Has(i, 1, "#")) return "cp.async.wait_group takes a number";
  std::vector<std::vector<AsyncCopy>>& groups = c.copies.groups;
  for (; groups.size() > i.arguments[0].number; groups.erase(groups.begin())) {
    for (const AsyncCopy& copy : groups.front()) {
      c.at.access(copy.to, copy.bytes, 1, copy.site);
      std::memset(copy.to, 0, copy.bytes);
      std::memcpy(copy.to, copy.from, copy.from_bytes);
    }
  }
  return nullptr;
}

// ---- ldmatrix: of each of four matrices of 8x8 elements of 16 bits, eight lanes name the rows ----
struct Row {
  uint16_t of[8];
};
const char* LoadMatrices(const Instruction& i, const PtxCall& c) {
  const bool transposed = i.name.find(".trans") != i.name.npos;
  if (!Has(i, 2, "{[") || i.arguments[0].operands.size() != 4) return "ldmatrix.x4 has four results and an address";
  if (!Are(c, i.arguments[0], 'r', 4) || !Are(c, i.arguments[1], 'r', 4)) return "operands of ldmatrix have 32 bits";
  Row mine, all[kLanes];
  const char* const at = SharedAt(c, i.arguments[1]);
  if (reinterpret_cast<uintptr_t>(at) % sizeof mine != 0) return "a row of ldmatrix is misaligned";
  Note(c, at, sizeof mine, /*writes=*/false);
  std::memcpy(&mine, at, sizeof mine);
  Meet(c, i, mine, all);
  const uint32_t lane = LaneOf(c.at), group = lane / 4, pair = lane % 4 * 2;
  for (uint32_t m = 0; m < 4; ++m) {
    const Row* const matrix = all + m * 8;
    const uint32_t first = transposed ? matrix[pair].of[group] : matrix[group].of[pair],
                   second = transposed ? matrix[pair + 1].of[group] : matrix[group].of[pair + 1];
    c.operands[i.arguments[0].operands[m]].value = first | second << 16;
  }
  return nullptr;
}

// ---- mma: "Matrix Fragments for" mma.m16n8k16 with floating point type, mma.m16n8k32 of integers, mma.m16n8k8 of tf32
// ----
float AsFloat(uint32_t bits) {
  float v;
  std::memcpy(&v, &bits, sizeof v);
  return v;
}
float Widened(uint32_t bits, int exponent_bits) {
  const int mantissa_bits = 15 - exponent_bits, bias = (1 << (exponent_bits - 1)) - 1, most = (1 << exponent_bits) - 1;
  const int exponent = static_cast<int>(bits >> mantissa_bits) & most,
            mantissa = static_cast<int>(bits & ((1u << mantissa_bits) - 1));
  float size = std::ldexp(static_cast<float>(mantissa + (exponent == 0 ? 0 : 1 << mantissa_bits)),
                          (exponent == 0 ? 1 : exponent) - bias - mantissa_bits);
  if (exponent == most) size = mantissa == 0 ? INFINITY : NAN;
  return (bits >> 15 & 1) != 0 ? -size : size;
}
struct Fragments {
  uint32_t a[4], b[2];
};
// What the names of instructions say: `bf16`, `s8`.
struct Elements {
  const char* name;
  uint32_t bits;
  double (*number)(uint32_t bits);
};
constexpr Elements kElements[] = {
    {"bf16", 16, [](uint32_t v) -> double { return Widened(v, 8); }},
    {"f16", 16, [](uint32_t v) -> double { return Widened(v, 5); }},
    {"tf32", 32, [](uint32_t v) -> double { return AsFloat(v); }},
    {"s8", 8, [](uint32_t v) -> double { return static_cast<int8_t>(v); }},
    {"u8", 8, [](uint32_t v) -> double { return static_cast<uint8_t>(v); }},
};
// Those of `.TYPE.` number `which` of the name, after the layouts: the result, a, b, the sums.
const Elements& ElementsOf(const std::string& name, size_t which) {
  size_t at = name.find(".row.col.") + 8;
  for (size_t i = 0; i < which; ++i) at = name.find('.', at + 1);
  const std::string type = name.substr(at + 1, name.find('.', at + 1) - at - 1);
  const Elements* found = kElements;
  while (type != found->name) ++found;
  return *found;
}
constexpr uint32_t kMostTrips = 32;
struct Spread {
  double a[16][kMostTrips], b[kMostTrips][8];
};
// Element number `e` of the fragments of `lane`: n of them in a register, adjacent along the sum; the first four lanes
// of a row (column) have 4 n trips, and those beyond are in the next registers.
void SpreadFragments(const Fragments (&all)[kLanes], const Elements& of_a, const Elements& of_b, Spread& out) {
  const uint32_t n = 32 / of_a.bits, mask = of_a.bits == 32 ? ~0u : (1u << of_a.bits) - 1;
  for (uint32_t lane = 0; lane < kLanes; ++lane) {
    const uint32_t group = lane / 4, in_group = lane % 4;
    for (uint32_t e = 0; e < 4 * n; ++e) {
      const uint32_t row = e / n % 2 == 0 ? group : group + 8, trip = in_group * n + e % n + (e / n < 2 ? 0 : 4 * n);
      out.a[row][trip] = of_a.number(all[lane].a[e / n] >> e % n * of_a.bits % 32 & mask);
    }
    for (uint32_t e = 0; e < 2 * n; ++e) {
      out.b[in_group * n + e % n + (e < n ? 0 : 4 * n)][group] =
          of_b.number(all[lane].b[e / n] >> e % n * of_b.bits % 32 & mask);
    }
  }
}
// PTX does not say what an instruction makes of bits that tf32 does not have.
bool IsTf32(const Fragments& f) {
  return std::all_of(std::begin(f.a), std::end(f.a), [](uint32_t v) { return (v & 8191) == 0; }) &&
         std::all_of(std::begin(f.b), std::end(f.b), [](uint32_t v) { return (v & 8191) == 0; });
}
template <typename Sum, typename Step>
void AddProducts(const PtxCall& c, const Instruction& i, uint32_t trips, const Spread& all, Step step) {
  const uint32_t lane = LaneOf(c.at);
  for (uint32_t e = 0; e < 4; ++e) {
    const uint32_t row = lane / 4 + (e < 2 ? 0 : 8), column = lane % 4 * 2 + e % 2;
    Sum sum;
    std::memcpy(&sum, &c.operands[i.arguments[3].operands[e]].value, sizeof sum);
    for (uint32_t k = 0; k < trips; ++k) sum = step(sum, all.a[row][k], all.b[k][column]);
    std::memcpy(&c.operands[i.arguments[0].operands[e]].value, &sum, sizeof sum);
  }
}
const char* MultiplyMatrices(const Instruction& i, const PtxCall& c) {
  static constexpr uint32_t kRegisters[] = {4, 4, 2, 4};
  const Elements &of_a = ElementsOf(i.name, 1), &of_b = ElementsOf(i.name, 2);
  const bool is_integer = of_a.bits == 8;
  if (!Has(i, 4, "{{{{")) return "mma has four groups of registers";
  for (size_t a = 0; a < 4; ++a) {
    const bool is_sum = a == 0 || a == 3;
    if (i.arguments[a].operands.size() != kRegisters[a]) return "mma.m16n8 has 4, 4, 2 and 4 registers";
    if (!Are(c, i.arguments[a], is_sum && !is_integer ? 'f' : 'r', 4)) {
      return is_integer ? "operands of mma are registers of 32 bits, sums integers"
                        : "operands of mma are registers of 32 bits, sums f32";
    }
  }
  Fragments mine, all[kLanes];
  for (size_t r = 0; r < 4; ++r) mine.a[r] = static_cast<uint32_t>(c.operands[i.arguments[1].operands[r]].value);
  for (size_t r = 0; r < 2; ++r) mine.b[r] = static_cast<uint32_t>(c.operands[i.arguments[2].operands[r]].value);
  if (of_a.bits == 32 && !IsTf32(mine)) return "an operand of mma is not rounded to tf32";
  Meet(c, i, mine, all);
  Spread spread;
  SpreadFragments(all, of_a, of_b, spread);
  const uint32_t trips = 256 / of_a.bits;
  if (is_integer) {
    AddProducts<uint32_t>(c, i, trips, spread, [](uint32_t sum, double a, double b) {
      return sum + static_cast<uint32_t>(static_cast<int32_t>(a * b));
    });
  } else {
    AddProducts<float>(c, i, trips, spread, [](float sum, double a, double b) {
      return sum + static_cast<float>(a) * static_cast<float>(b);
    });
  }
  return nullptr;
}

// ---- cvt: from and to f32, to nearest even; any NaN becomes the NaN of PTX ----
uint16_t Narrowed(double v, int exponent_bits) {
  const int mantissa_bits = 15 - exponent_bits, bias = (1 << (exponent_bits - 1)) - 1;
  const auto sign = static_cast<uint16_t>(std::signbit(v) ? 0x8000 : 0);
  if (std::isnan(v)) return 0x7fff;
  const double size = std::fabs(v);
  const int exponent = size == 0 ? 1 - bias : std::max(std::ilogb(std::fmin(size, 0x1p130)), 1 - bias);
  // A carry out of the mantissa is one to the exponent.
  const double steps =
      std::nearbyint(std::ldexp(size, mantissa_bits - exponent)) + std::ldexp(exponent + bias - 1, mantissa_bits);
  const auto infinity = static_cast<uint16_t>(((1 << exponent_bits) - 1) << mantissa_bits);
  return static_cast<uint16_t>(sign | (steps >= infinity ? infinity : static_cast<uint16_t>(steps)));
}
const char* Narrow(const Instruction& i, const PtxCall& c) {
  if (!Has(i, 2, "%%") || !Are(c, i.arguments[0], 'h', 2) || !Are(c, i.arguments[1], 'f', 4)) {
    return "this cvt makes 16 bits of an f32";
  }
  float v;
  std::memcpy(&v, &c.operands[i.arguments[1].operands[0]].value, sizeof v);
  c.operands[i.arguments[0].operands[0]].value = Narrowed(v, i.name.find(".bf16.") != i.name.npos ? 8 : 5);
  return nullptr;
}
const char* Widen(const Instruction& i, const PtxCall& c) {
  if (!Has(i, 2, "%%") || !Are(c, i.arguments[0], 'f', 4) || !Are(c, i.arguments[1], 'h', 2)) {
    return "this cvt makes an f32 of 16 bits";
  }
  const float v = Widened(static_cast<uint32_t>(c.operands[i.arguments[1].operands[0]].value), 5);
  std::memcpy(&c.operands[i.arguments[0].operands[0]].value, &v, sizeof v);
  return nullptr;
}

// ---- floats of 8 bits, two at once: "cvt" with .e4m3x2 and .e5m2x2 ----
bool IsE4m3(const Instruction& i) { return i.name.find("e4m3x2") != i.name.npos; }
// e5m2 is the upper half of f16; e4m3 has no infinity, and one NaN of either sign.
double OfF8(uint32_t bits, bool is_e4m3) {
  if (!is_e4m3) return static_cast<double>(Widened(bits << 8, 5));
  const uint32_t exponent = bits >> 3 & 15, mantissa = bits & 7;
  const double size = exponent == 15 && mantissa == 7 ? NAN
                      : exponent == 0                 ? std::ldexp(mantissa, -9)
                                                      : std::ldexp(8 + mantissa, static_cast<int>(exponent) - 10);
  return (bits & 128) != 0 ? -size : size;
}
const char* WidenF8Pair(const Instruction& i, const PtxCall& c) {
  if (!Has(i, 2, "%%") || !Are(c, i.arguments[0], 'r', 4) || !Are(c, i.arguments[1], 'h', 2)) {
    return "this cvt makes a pair of f16 of 16 bits";
  }
  const uint64_t pair = Value(c, i.arguments[1]);
  uint64_t out = 0;
  for (int half = 0; half < 2; ++half) {
    out |= uint64_t{Narrowed(OfF8(pair >> 8 * half & 255, IsE4m3(i)), 5)} << (16 * half);
  }
  c.operands[i.arguments[0].operands[0]].value = out;
  return nullptr;
}
// To the nearest of all numbers, ties to the even one; what is greater than all of them becomes the greatest.
uint32_t NarrowedToF8(float v, bool is_e4m3) {
  const uint32_t largest = is_e4m3 ? 126 : 123, sign = std::signbit(v) ? 128 : 0;
  if (std::isnan(v)) return 127;
  const double size = std::fmin(std::fabs(static_cast<double>(v)), OfF8(largest, is_e4m3));
  uint32_t below = 0;
  while (below < largest && OfF8(below + 1, is_e4m3) <= size) ++below;
  if (below == largest) return sign | below;
  const double down = size - OfF8(below, is_e4m3), up = OfF8(below + 1, is_e4m3) - size;
  return sign | (down < up || (down == up && below % 2 == 0) ? below : below + 1);
}
// The first of the two is the upper half.
const char* NarrowToF8Pair(const Instruction& i, const PtxCall& c) {
  if (!Has(i, 3, "%%%") || !Are(c, i.arguments[0], 'h', 2) || !Are(c, i.arguments[1], 'f', 4) ||
      !Are(c, i.arguments[2], 'f', 4)) {
    return "this cvt makes 16 bits of two f32";
  }
  uint64_t out = 0;
  for (size_t a = 1; a < 3; ++a) {
    const float v = AsFloat(static_cast<uint32_t>(Value(c, i.arguments[a])));
    out |= uint64_t{NarrowedToF8(v, IsE4m3(i))} << (a == 1 ? 8 : 0);
  }
  c.operands[i.arguments[0].operands[0]].value = out;
  return nullptr;
}

// To nearest, ties away from zero.
const char* RoundToTf32(const Instruction& i, const PtxCall& c) {
  if (!Has(i, 2, "%%") || !Are(c, i.arguments[0], 'r', 4) || !Are(c, i.arguments[1], 'f', 4)) {
    return "cvt.rna.tf32 makes a register of 32 bits of an f32";
  }
  const float v = AsFloat(static_cast<uint32_t>(c.operands[i.arguments[1].operands[0]].value));
  int exponent = 0;
  const double steps = std::frexp(std::fabs(static_cast<double>(v)), &exponent);
  const int lowest = std::max(exponent - 11, -126 - 10);  // of the last bit
  const auto rounded =
      static_cast<float>(std::copysign(std::ldexp(std::floor(std::ldexp(steps, exponent - lowest) + 0.5), lowest), v));
  uint32_t bits = 0x7fffffff & ~8191u;
  if (v == v) std::memcpy(&bits, &rounded, sizeof bits);
  if (std::isinf(v)) std::memcpy(&bits, &v, sizeof bits);
  c.operands[i.arguments[0].operands[0]].value = bits;
  return nullptr;
}
// ---- two floats of 16 bits in a register, and extrema, of which NaN is the NaN of PTX and -0 less than 0 ----
int ExponentBits(const Instruction& i) { return i.name.find("bf16x2") != i.name.npos ? 8 : 5; }
bool ArePairs(const Instruction& i, const PtxCall& c, size_t arguments) {
  if (!Has(i, arguments, "%%%%")) return false;
  return std::all_of(i.arguments.begin(), i.arguments.end(), [&](const Argument& a) { return Are(c, a, 'r', 4); });
}
// Of each half `f`, of numbers.
template <typename F>
const char* OfHalves(const Instruction& i, const PtxCall& c, F f) {
  const int bits = ExponentBits(i);
  uint64_t out = 0;
  for (uint32_t half = 0; half < 2; ++half) {
    double in[3] = {};
    for (size_t a = 1; a < i.arguments.size(); ++a) {
      in[a - 1] = Widened(static_cast<uint32_t>(Value(c, i.arguments[a]) >> (16 * half) & 0xffff), bits);
    }
    out |= uint64_t{Narrowed(f(in[0], in[1], in[2]), bits)} << (16 * half);
  }
  c.operands[i.arguments[0].operands[0]].value = out;
  return nullptr;
}
// a * b is exact; the last bit of an inexact sum is odd, so that it rounds on as the exact one.
double FmaToOdd(double a, double b, double c) {
  const double product = a * b, sum = product + c, back = sum - product;
  const double lost = (product - (sum - back)) + (c - back);
  if (!std::isfinite(sum) || lost == 0) return sum;
  const double down = std::signbit(lost) == std::signbit(sum) ? sum : std::nextafter(sum, 0);
  uint64_t bits;
  std::memcpy(&bits, &down, sizeof bits);
  bits |= 1;
  double out;
  std::memcpy(&out, &bits, sizeof out);
  return out;
}
const char* FmaOfPairs(const Instruction& i, const PtxCall& c) {
  if (!ArePairs(i, c, 4)) return "fma of pairs has four registers of 32 bits";
  return OfHalves(i, c, FmaToOdd);
}
double Extremum(bool is_max, double a, double b) {
  if (std::isnan(a) || std::isnan(b)) return NAN;
  const bool a_is_less = a == b ? std::signbit(a) && !std::signbit(b) : a < b;
  return a_is_less == is_max ? b : a;
}
const char* ExtremumOfPairs(const Instruction& i, const PtxCall& c) {
  if (!ArePairs(i, c, 3)) return "min and max of pairs have three registers of 32 bits";
  return OfHalves(i, c, [&](double a, double b, double) { return Extremum(i.name[1] == 'a', a, b); });
}
const char* ExtremumOfF32(const Instruction& i, const PtxCall& c) {
  if (!Has(i, 3, "%%%")) return "min and max have three registers";
  float in[2];
  for (size_t a = 0; a < 3; ++a) {
    if (!Are(c, i.arguments[a], 'f', 4)) return "this min or max is of f32";
    if (a > 0) std::memcpy(&in[a - 1], &c.operands[i.arguments[a].operands[0]].value, sizeof(float));
  }
  const double wide = Extremum(i.name[1] == 'a', in[0], in[1]);
  const uint32_t nan = 0x7fffffff;
  const auto v = static_cast<float>(wide);
  uint32_t bits;
  std::memcpy(&bits, &v, sizeof bits);
  c.operands[i.arguments[0].operands[0]].value = std::isnan(wide) ? nan : bits;
  return nullptr;
}
// Right to a unit in the last place: one beside the nearest or that itself, by the bits of what it is of.
const char* NearInverse(const Instruction& i, const PtxCall& c) {
  if (!Has(i, 2, "%%") || !Are(c, i.arguments[0], 'f', 4) || !Are(c, i.arguments[1], 'f', 4)) return "rcp is of f32";
  const auto bits = static_cast<uint32_t>(Value(c, i.arguments[1]));
  float v;
  std::memcpy(&v, &bits, sizeof v);
  if (std::fpclassify(v) == FP_SUBNORMAL) v = std::copysign(0.0f, v);
  const float inverse = 1 / v;
  const bool is_plain = std::isnormal(inverse) && std::isnormal(v);
  const uint32_t choice = bits * 2654435761u >> 30;  // 0, 1: the nearest
  const float near = choice < 2 || !is_plain ? inverse : std::nextafter(inverse, choice == 2 ? 0.0f : 2 * inverse);
  std::memcpy(&c.operands[i.arguments[0].operands[0]].value, &near, sizeof near);
  return nullptr;
}
// The first of the two is the upper half.
const char* NarrowPair(const Instruction& i, const PtxCall& c) {
  if (!Has(i, 3, "%%%") || !Are(c, i.arguments[0], 'r', 4)) return "this cvt makes a pair of two f32";
  uint64_t out = 0;
  for (size_t a = 1; a < 3; ++a) {
    if (!Are(c, i.arguments[a], 'f', 4)) return "this cvt makes a pair of two f32";
    float v;
    std::memcpy(&v, &c.operands[i.arguments[a].operands[0]].value, sizeof v);
    out |= uint64_t{Narrowed(v, ExponentBits(i))} << (a == 1 ? 16 : 0);
  }
  c.operands[i.arguments[0].operands[0]].value = out;
  return nullptr;
}

const char* Unknown(const Instruction&, const PtxCall&) { return "the evaluator does not know this instruction"; }

// ---- texts ----
constexpr struct {
  const char* name;
  const char* (*run)(const Instruction& i, const PtxCall& call);
} kInstructions[] = {
    {"cvt.rn.bf16.f32", Narrow},
    {"cvt.rn.f16.f32", Narrow},
    {"cvt.f32.f16", Widen},
    {"cvt.rna.tf32.f32", RoundToTf32},
    {"cvt.rn.bf16x2.f32", NarrowPair},
    {"cvt.rn.f16x2.f32", NarrowPair},
    {"cvt.rn.f16x2.e4m3x2", WidenF8Pair},
    {"cvt.rn.f16x2.e5m2x2", WidenF8Pair},
    {"cvt.rn.satfinite.e4m3x2.f32", NarrowToF8Pair},
    {"cvt.rn.satfinite.e5m2x2.f32", NarrowToF8Pair},
    {"fma.rn.bf16x2", FmaOfPairs},
    {"fma.rn.f16x2", FmaOfPairs},
    {"min.NaN.bf16x2", ExtremumOfPairs},
    {"max.NaN.bf16x2", ExtremumOfPairs},
    {"min.NaN.f16x2", ExtremumOfPairs},
    {"max.NaN.f16x2", ExtremumOfPairs},
    {"rcp.approx.ftz.f32", NearInverse},
    {"min.NaN.f32", ExtremumOfF32},
    {"max.NaN.f32", ExtremumOfF32},
    {"cp.async.cg.shared.global", CopyAsync},
    {"cp.async.ca.shared.global", CopyAsync},
    {"cp.async.commit_group", CommitCopies},
    {"cp.async.wait_group", WaitForCopies},
    {"ldmatrix.sync.aligned.m8n8.x4.shared.b16", LoadMatrices},
    {"ldmatrix.sync.aligned.m8n8.x4.trans.shared.b16", LoadMatrices},
    {"mma.sync.aligned.m16n8k16.row.col.f32.bf16.bf16.f32", MultiplyMatrices},
    {"mma.sync.aligned.m16n8k16.row.col.f32.f16.f16.f32", MultiplyMatrices},
    {"mma.sync.aligned.m16n8k8.row.col.f32.tf32.tf32.f32", MultiplyMatrices},
    {"mma.sync.aligned.m16n8k32.row.col.s32.s8.s8.s32", MultiplyMatrices},
    {"mma.sync.aligned.m16n8k32.row.col.s32.u8.u8.s32", MultiplyMatrices},
    {"mma.sync.aligned.m16n8k32.row.col.s32.s8.u8.s32", MultiplyMatrices},
    {"mma.sync.aligned.m16n8k32.row.col.s32.u8.s8.s32", MultiplyMatrices},
};

Argument ArgumentOf(const std::string& text) {
  Argument out;
  out.form = text[0] >= '0' && text[0] <= '9' ? '#' : text[0];
  if (out.form == '#') out.number = std::stoull(text);
  for (size_t at = text.find('%'); at != text.npos; at = text.find('%', at + 1)) {
    out.operands.push_back(static_cast<uint32_t>(std::stoul(text.substr(at + 1))));
  }
  return out;
}

Instruction Parse(const std::string& text) {
  Instruction out;
  const size_t end = std::min(text.find(';'), text.size()), space = std::min(text.find(' '), end);
  out.name = text.substr(0, space);
  for (size_t at = space; at < end;) {
    at = text.find_first_not_of(" ,", at);
    if (at >= end) break;
    const char close = text[at] == '{' ? '}' : text[at] == '[' ? ']' : ',';
    const size_t last = std::min(text.find(close, at), end);
    out.arguments.push_back(ArgumentOf(text.substr(at, last - at)));
    at = last + 1;
  }
  out.run = Unknown;
  for (const auto& known : kInstructions) {
    if (out.name == known.name) out.run = known.run;
  }
  return out;
}

std::atomic<uint64_t> evaluated{0};

// Each text is read once; what was read stays.
const Instruction& Read(const char* text) {
  static std::mutex& mutex = *new std::mutex;
  static auto& known = *new std::map<std::string, Instruction>;
  const std::lock_guard lock(mutex);
  const auto found = known.find(text);
  return found != known.end() ? found->second : known.emplace(text, Parse(text)).first->second;
}

bool NamesOnlyGiven(const Instruction& i, uint32_t n) {
  for (const Argument& a : i.arguments) {
    for (const uint32_t o : a.operands) {
      if (o >= n) return false;
    }
    if (a.form != '#' && a.operands.empty()) return false;
  }
  return true;
}

}  // namespace

const char* EvaluatePtx(const char* text, const PtxCall& call) {
  ++evaluated;
  const Instruction& i = Read(text);
  return NamesOnlyGiven(i, call.n) ? i.run(i, call) : "an argument names no operand";
}

}  // namespace ricci::cuda::standin

extern "C" uint64_t ricci_standin_evaluated() { return ricci::cuda::standin::evaluated; }
