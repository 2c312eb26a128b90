// WhileBelow: a loop on arrays, for tests of the CUDA backend.
#ifndef RICCI_TESTS_CUDA_WHILE_PROGRAM_H_
#define RICCI_TESTS_CUDA_WHILE_PROGRAM_H_
#include <string>

namespace ricci::testing {

// A program of k: i32[] and x: f32[1000], which doubles x for each number from k up to `limit`.
inline std::string WhileBelow(int limit) {
  return R"(program f(%k: i32[], %x: f32[1000]) {
  %n: i32[], %y: f32[1000] = while(%k, %x) cond_nconsts=0 body_nconsts=0 cond=program(%k: i32[], %v: f32[1000]) {
    %limit: i32[] = constant )" +
         std::to_string(limit) + R"(
    %less: bool[] = lt(%k, %limit)
    return %less
  } body=program(%k: i32[], %v: f32[1000]) {
    %one: i32[] = constant 1
    %j: i32[] = add(%k, %one)
    %next: f32[1000] = add(%v, %v)
    return %j, %next
  }
  return %y
})";
}

}  // namespace ricci::testing
#endif
