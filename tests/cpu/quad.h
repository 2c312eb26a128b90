// Quad: the C library's quadruple precision under both compilers. clang 14 has the type, but its mode hides the
// library's declarations from it.
#ifndef RICCI_TESTS_CPU_QUAD_H_
#define RICCI_TESTS_CPU_QUAD_H_
#include <cmath>

namespace ricci::testing {
using Quad = __float128;
}

#ifdef __clang__
extern "C" {
ricci::testing::Quad acosf128(ricci::testing::Quad) noexcept;
ricci::testing::Quad acoshf128(ricci::testing::Quad) noexcept;
ricci::testing::Quad asinf128(ricci::testing::Quad) noexcept;
ricci::testing::Quad asinhf128(ricci::testing::Quad) noexcept;
ricci::testing::Quad atanf128(ricci::testing::Quad) noexcept;
ricci::testing::Quad atanhf128(ricci::testing::Quad) noexcept;
ricci::testing::Quad cbrtf128(ricci::testing::Quad) noexcept;
ricci::testing::Quad copysignf128(ricci::testing::Quad, ricci::testing::Quad) noexcept;
ricci::testing::Quad cosf128(ricci::testing::Quad) noexcept;
ricci::testing::Quad coshf128(ricci::testing::Quad) noexcept;
ricci::testing::Quad erfcf128(ricci::testing::Quad) noexcept;
ricci::testing::Quad erff128(ricci::testing::Quad) noexcept;
ricci::testing::Quad exp2f128(ricci::testing::Quad) noexcept;
ricci::testing::Quad expf128(ricci::testing::Quad) noexcept;
ricci::testing::Quad expm1f128(ricci::testing::Quad) noexcept;
ricci::testing::Quad fabsf128(ricci::testing::Quad) noexcept;
ricci::testing::Quad floorf128(ricci::testing::Quad) noexcept;
ricci::testing::Quad lgammaf128(ricci::testing::Quad) noexcept;
ricci::testing::Quad log1pf128(ricci::testing::Quad) noexcept;
ricci::testing::Quad log2f128(ricci::testing::Quad) noexcept;
ricci::testing::Quad logf128(ricci::testing::Quad) noexcept;
ricci::testing::Quad nanf128(const char*) noexcept;
ricci::testing::Quad powf128(ricci::testing::Quad, ricci::testing::Quad) noexcept;
ricci::testing::Quad roundf128(ricci::testing::Quad) noexcept;
ricci::testing::Quad sinf128(ricci::testing::Quad) noexcept;
ricci::testing::Quad sinhf128(ricci::testing::Quad) noexcept;
ricci::testing::Quad sqrtf128(ricci::testing::Quad) noexcept;
ricci::testing::Quad tanf128(ricci::testing::Quad) noexcept;
ricci::testing::Quad tanhf128(ricci::testing::Quad) noexcept;
}
#endif
#endif
