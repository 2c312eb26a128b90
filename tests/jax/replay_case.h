// One case of a case file: a program, transforms, inputs, and expected results (case_file.py describes the format).
#ifndef RICCI_TESTS_JAX_REPLAY_CASE_H_
#define RICCI_TESTS_JAX_REPLAY_CASE_H_
#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

namespace replay {

struct Array {
  uint32_t dtype = 0;
  std::vector<int64_t> dims;
  std::string_view bytes;            // in the file's text
  double rtol = 0, atol = 0;         // results only; both 0: equal bits, but any NaN for a NaN
  std::vector<int64_t> places;       // of the numbers that `bytes` holds; empty: all are there
  std::optional<uint32_t> checksum;  // in place of `bytes`: CRC-32 of all numbers, the bits of NaN all ones
};

struct Case {
  std::string name;
  std::string_view program;
  std::vector<std::vector<std::string>> transforms;  // words of each line
  std::vector<Array> inputs, results;
};

// All cases of `file`, which they point into. Stops and sets `error` at the first malformed line.
std::vector<Case> ReadCases(std::string_view file, std::string& error);

// Type as in program text.
std::string TypeText(uint32_t dtype, const std::vector<int64_t>& dims);

// Empty if `got` (all numbers of the type of `want`) is close enough, else the first `shown` differences and how many
// there are.
std::string Difference(const Array& want, const void* got, size_t shown);

}  // namespace replay
#endif
