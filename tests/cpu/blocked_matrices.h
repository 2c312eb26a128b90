// What the tests of factors and solutions by blocks share, for real and complex numbers.
#ifndef RICCI_TESTS_CPU_BLOCKED_MATRICES_H_
#define RICCI_TESTS_CPU_BLOCKED_MATRICES_H_
#include <algorithm>
#include <initializer_list>
#include <string>

#include "instruction_sets.h"
#include "support/program_runner.h"

namespace ricci::testing {

// Whether a step of `f` runs as a library, which by blocks is.
inline bool IsBlocked(ProgramRunner& r, const Program& f) {
  return r.Dump(f, "plan", "cpu").find("library") != std::string::npos;
}

// A batch of matrices for lu.
struct LuSize {
  int64_t batch, rows, columns;
  int64_t steps() const { return std::min(rows, columns); }
  size_t elements() const { return static_cast<size_t>(batch * rows * columns); }
  std::string Text() const { return Dims({batch, rows, columns}); }
  std::string Pivots() const { return "i32" + Dims({batch, steps()}); }
  std::string Permutation() const { return "i32" + Dims({batch, rows}); }

 private:
  static std::string Dims(std::initializer_list<int64_t> dims) {
    std::string text;
    for (int64_t d : dims) text += (text.empty() ? "[" : ",") + std::to_string(d);
    return text + "]";
  }
};

// solve(instruction set, n, lines, adjacent, direction, unit) in every way that a diagonal block is solved.
template <typename F>
void ForEachSolveBlock(std::initializer_list<int64_t> sizes, std::initializer_list<int64_t> numbers_of_lines,
                       F&& solve) {
  for (const InstructionSet& set : InstructionSets()) {
    for (int64_t n : sizes) {
      for (int64_t lines : numbers_of_lines) {
        for (int way = 0; way < 8; ++way) {
          SCOPED_TRACE(set.name + " " + std::to_string(n) + ", " + std::to_string(lines) + " way " +
                       std::to_string(way));
          solve(set, n, lines, (way & 1) != 0, int64_t{(way & 2) != 0 ? -1 : 1}, (way & 4) != 0);
        }
      }
    }
  }
}

}  // namespace ricci::testing
#endif
