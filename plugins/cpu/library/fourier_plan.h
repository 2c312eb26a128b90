// How a Fourier transform is made of lines: what fourier_library.cc runs, from types and attributes.
//
// Prime factors above 7 are transformed by their definition. Those above 61 are a convolution, in lines of up to 1024.
#ifndef RICCI_CPU_FOURIER_PLAN_H_
#define RICCI_CPU_FOURIER_PLAN_H_
#include "cpu/library/library_op.h"

namespace ricci::cpu {

// exp(-2 pi i j / n) for several j and n, in both types.
struct Rotations {
  std::vector<double> wide;
  std::vector<float> narrow;

  void Add(int64_t j, int64_t n);
  void Narrow() { narrow.assign(wide.begin(), wide.end()); }
  const void* data(bool f64) const { return f64 ? static_cast<const void*>(wide.data()) : narrow.data(); }
};

// What FftLines has of one length.
struct FourierTables {
  Rotations rotations, turns, filter;

  void Set(FftLines& lines);
};

struct Fourier {
  // Of one dimension: `batch` times `inner` lines that are next to each other, of which a task has `lines.lines`, or
  // lines that are alone, one in a task. Of two dimensions: `batch` planes, one in a task.
  enum class Way : uint8_t { kLines, kLine, kPlane };

  Way way = Way::kLines;
  FftKind kind = FftKind::kComplex;
  bool odd = false;  // real, of an odd length
  // kLine: a line as rows of columns, each of which is transformed first, then each row. kPlane: rows, then columns.
  FftLines lines, columns;
  FourierTables of_lines, of_columns;
  Rotations turns;    // of real lines, as FftLines has them
  Rotations between;  // kLine: by which the elements turn in between
  int64_t batch = 1, inner = 1, tasks = 0;
  int64_t in_size = 0, out_size = 0;  // parts of what a batch has once
  int64_t spectrum_offset = 0, scratch_bytes = 0, flops = 0;
  FftLinesFn run = nullptr;

  int64_t part_bytes() const { return lines.f64 ? 8 : 4; }
};
inline constexpr int64_t kFftVector = 16;  // lines in a vector, at most

// False: lengths with large prime factors that are too long for a convolution, or so few elements that the generated
// kernel is as good, and fuses.
bool PlanFourier(const ricci_op* op, Fourier& f);

}  // namespace ricci::cpu
#endif
