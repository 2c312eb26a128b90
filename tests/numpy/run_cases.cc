// Runs all cases on Arrays and writes inputs and results to a file for compare.py: numpy_cases FILE [text in the case].
#include <cstdio>
#include <cstring>
#include <string>

#include "case.h"

namespace ricci::testing {

Given::Given(const Context& ctx)
    : ctx(ctx),
      x(ctx, {1.5f, -2.0f, 3.25f, 0.5f, 4.0f, -1.0f}, {2, 3}),
      y(ctx, {-0.5f, 2.5f, 1.0f, 3.0f, -4.0f, 0.75f}, {2, 3}),
      p(ctx, {0.3f, 1.0f, 2.5f, 0.1f, 1.75f, 3.0f}, {2, 3}),
      u(ctx, {-0.9f, -0.25f, 0.125f, 0.5f, 0.8f}),
      v(ctx, {0.5f, -1.5f, 2.0f, 3.5f}),
      w(ctx, 0.7f),
      m(ctx, {2.0f, -1.0f, 0.5f, 1.0f, 3.0f, -2.0f, 0.25f, 1.0f, 4.0f}, {3, 3}),
      t(Array(reshape(cos(arange(ctx, 24, DType::kF32)) * 3.0, {2, 3, 4}))),
      e(Array(zeros(ctx, {0, 3}))),
      n(ctx, {NAN, 1.0f, -INFINITY, 2.0f, INFINITY, -0.0f}, {2, 3}),
      s(ctx, {-1.0f, 0.0f, 0.5f, 2.0f, 3.0f}),
      d(ctx, {1.5, -0.25, 3.0, 2.0, -7.5, 0.125}, {2, 3}),
      h(Array(astype(x, DType::kF16))),
      z(Array(astype(x, DType::kC64) + astype(y, DType::kC64) * std::complex<float>(0, 1))),
      zv(Array(astype(v, DType::kC64) * std::complex<float>(0.5f, -2.0f))),
      i(ctx, {3, -7, 0, 12, 5, -2}, {2, 3}),
      j(ctx, {2, 0, 3, 1, 2}),
      l(ctx, {int64_t{5}, int64_t{-3}, int64_t{9}}),
      k(ctx, std::vector<uint8_t>{200, 3, 17, 255}),
      b(ctx, std::vector<bool>{true, false, true, false, false, true}, {2, 3}),
      c(ctx, std::vector<bool>{true, false, false, true}) {}

namespace {

void Put(std::FILE* out, const char* what, const std::string& name, const Array& a) {
  a.block_until_ready();
  const auto bytes = static_cast<size_t>(a.size() * SizeOf(a.dtype()));
  const std::string head = Text(what, " ", bytes, " ", a.type(), " ", name, "\n");
  std::fwrite(head.data(), 1, head.size(), out);
  std::fwrite(a.data(), 1, bytes, out);
  std::fputc('\n', out);
}

bool Run(std::FILE* out, const Given& g, const Case& c) {
  std::fprintf(out, "case %.9g %s\n", c.tolerance, c.expression);
  try {
    for (const Array& a : c.run(g)) Put(out, "result", "", a);
  } catch (const Error& e) {
    std::fprintf(stderr, "%s: %s\n", c.expression, e.what());
    return false;
  }
  return true;
}

int RunAll(std::FILE* out, const char* only) {
  const Given g{Context()};
  g.ForEach([&](const char* name, const Array& a) { Put(out, "input", name, a); });
  int failed = 0;
  for (const auto cases : {ElementwiseCases(), ComplexCases(),  FloatPartCases(), ReductionCases(),  StatisticsCases(),
                           JoiningCases(),     CreationCases(), SetCases(),       DifferenceCases(), ProductCases(),
                           LinalgCases(),      FftCases(),      ScipyCases(),     SpecialCases(),    StatsCases(),
                           ScipyLinalgCases(), IndexingCases(), AppliedCases(),   NnCases(),         ProgramCases()}) {
    for (const Case& c : cases) {
      if (std::strstr(c.expression, only) != nullptr) failed += !Run(out, g, c);
    }
  }
  return failed;
}

}  // namespace
}  // namespace ricci::testing

int main(int argc, char** argv) {
  std::FILE* const out = argc < 2 ? nullptr : std::fopen(argv[1], "wb");
  if (out == nullptr) return 2;
  const int failed = ricci::testing::RunAll(out, argc < 3 ? "" : argv[2]);
  return std::fclose(out) != 0 || failed != 0;
}
