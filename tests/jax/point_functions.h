// The functions of the C++ binding whose derivatives at hard points are compared with JAX's, by name.
#ifndef RICCI_TESTS_JAX_POINT_FUNCTIONS_H_
#define RICCI_TESTS_JAX_POINT_FUNCTIONS_H_
#include <span>

#include "ricci/ricci.hpp"

namespace points {

struct Unary {
  const char* name;
  ricci::Value (*f)(const ricci::Operand&);
};
struct Binary {
  const char* name;
  ricci::Value (*f)(const ricci::Operand&, const ricci::Operand&);
};
// Of any number of operands.
struct Function {
  const char* name;
  ricci::Value (*f)(const ricci::Values&);
};

std::span<const Unary> UnaryFunctions();
std::span<const Binary> BinaryFunctions();
std::span<const Function> OtherElementwise();
std::span<const Function> OfVectors();
std::span<const Function> OfMatrices();

}  // namespace points
#endif
