// The layouts are those of PTX ISA: "ldmatrix", and "matrix fragments for" mma.m16n8k16 with floating point type,
// mma.m16n8k32 of integers and mma.m16n8k8 of tf32.
#include "device_matrices.h"

namespace ricci::cuda::standin {
namespace {

constexpr const char* kMatrices = R"(
// Lane 8 j + i names row i of matrix j. Of each matrix a lane gets two neighbours of row lane / 4; transposed, of column
// lane / 4.
__attribute__((noinline)) static void ricci_meet_ldmatrix(unsigned* out, const unsigned short* row, bool transposed) {
  const OfLanes<const unsigned short*> rows = ricci_meet("ldmatrix", RICCI_SITE, 0xffffffffu, row);
  const unsigned group = ricci_lane() / 4, pair = ricci_lane() % 4 * 2;
  for (unsigned j = 0; j < 4; ++j) {
    const unsigned short* const* const matrix = rows.of + 8 * j;
    const unsigned first = transposed ? matrix[pair][group] : matrix[group][pair];
    const unsigned second = transposed ? matrix[pair + 1][group] : matrix[group][pair + 1];
    out[j] = first | second << 16;
  }
}
static float ricci_bits_as_float(unsigned bits) {
  float f;
  __builtin_memcpy(&f, &bits, sizeof f);
  return f;
}
static float ricci_widen_bf16(unsigned v) { return ricci_bits_as_float(v << 16); }
static float ricci_widen_f16(unsigned v) {
  const unsigned exponent = v >> 10 & 31, mantissa = v & 1023, sign = (v >> 15) << 31;
  const float size = exponent == 0    ? (float)mantissa * 0x1p-24f
                     : exponent == 31 ? ricci_bits_as_float(0x7f800000u | mantissa << 13)
                                      : ricci_bits_as_float((exponent + 112) << 23 | mantissa << 13);
  return sign != 0 ? -size : size;
}
struct OfMma { unsigned rows[4], columns[2]; };
// A register has n elements of the sum, and four lanes in order those of four registers; what is beyond is in
// the next register. So element (row, trip) of the rows is in lane row % 8 * 4 + trip % 4n / n, (trip, column) of the
// columns in lane column * 4 + trip % 4n / n.
template <unsigned n, typename Sum, typename Rows, typename Columns>
static void ricci_add_mma(Sum* sums, const OfLanes<OfMma>& all, Rows of_rows, Columns of_columns) {
  for (unsigned e = 0; e < 4; ++e) {
    const unsigned row = ricci_lane() / 4 + e / 2 * 8, column = ricci_lane() % 4 * 2 + e % 2;
    for (unsigned trip = 0; trip < 8 * n; ++trip) {
      const unsigned x = all.of[row % 8 * 4 + trip % (4 * n) / n].rows[row / 8 + trip / (4 * n) * 2];
      const unsigned y = all.of[column * 4 + trip % (4 * n) / n].columns[trip / (4 * n)];
      sums[e] += of_rows(x, trip % n) * of_columns(y, trip % n);
    }
  }
}
static OfMma ricci_of_mma(const unsigned* rows, const unsigned* columns) {
  return {{rows[0], rows[1], rows[2], rows[3]}, {columns[0], columns[1]}};
}
__attribute__((noinline)) static void ricci_meet_mma_bf16(float* sums, const unsigned* rows, const unsigned* columns) {
  const OfMma mine = ricci_of_mma(rows, columns);
  const auto widen = [](unsigned v, unsigned e) { return ricci_widen_bf16(v >> e * 16 & 65535); };
  ricci_add_mma<2>(sums, ricci_meet("mma.m16n8k16.bf16", RICCI_SITE, 0xffffffffu, mine), widen, widen);
}
__attribute__((noinline)) static void ricci_meet_mma_f16(float* sums, const unsigned* rows, const unsigned* columns) {
  const OfMma mine = ricci_of_mma(rows, columns);
  const auto widen = [](unsigned v, unsigned e) { return ricci_widen_f16(v >> e * 16 & 65535); };
  ricci_add_mma<2>(sums, ricci_meet("mma.m16n8k16.f16", RICCI_SITE, 0xffffffffu, mine), widen, widen);
}
// What tf32 does not have is not looked at.
__attribute__((noinline)) static void ricci_meet_mma_tf32(float* sums, const unsigned* rows, const unsigned* columns) {
  const OfMma mine = ricci_of_mma(rows, columns);
  const auto number = [](unsigned v, unsigned) { return ricci_bits_as_float(v & ~8191u); };
  ricci_add_mma<1>(sums, ricci_meet("mma.m16n8k8.tf32", RICCI_SITE, 0xffffffffu, mine), number, number);
}
// Signed or unsigned bytes; sums wrap.
template <typename Rows, typename Columns>
__attribute__((noinline)) static void ricci_meet_mma_integers(int* sums, const unsigned* rows, const unsigned* columns) {
  const OfMma mine = ricci_of_mma(rows, columns);
  ricci_add_mma<4>((unsigned*)sums, ricci_meet("mma.m16n8k32 of integers", RICCI_SITE, 0xffffffffu, mine),
                   [](unsigned v, unsigned e) { return (unsigned)(int)(Rows)(v >> e * 8); },
                   [](unsigned v, unsigned e) { return (unsigned)(int)(Columns)(v >> e * 8); });
}
)";

}  // namespace

const char* DeviceMatrices() { return kMatrices; }

}  // namespace ricci::cuda::standin
