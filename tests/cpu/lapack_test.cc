// The lowerings of plugins/lapack: against the interpreter, which runs the generated ones; NaN; several threads at
// once; libraries that will not do.
#include <gtest/gtest.h>

#include <limits>
#include <random>
#include <thread>

#include "lapack/lapack_rows.h"
#include "support/program_runner.h"

extern "C" ricci_status* ricci_plugin_query_lapack(const ricci_host_info*, const ricci_plugin** out);

namespace ricci::testing { namespace {

constexpr double kNaN = std::numeric_limits<double>::quiet_NaN();

class WithLapack : public ProgramRunner {
 public:
  WithLapack() { EXPECT_TRUE(Ok(ricci_context_add_plugin(ctx(), ricci_plugin_query_lapack))); }
};

// Numbers that f32 has, symmetric but for a part in 16, with `size` times the row number on the diagonal: eigenvalues
// and singular values lie apart.
Numbers Matrix(int64_t rows, int64_t columns, double size, int64_t batch = 1) {
  std::mt19937 random(7);
  std::uniform_int_distribution<int> some(-64, 64);
  Numbers a(static_cast<size_t>(batch * rows * columns));
  for (size_t at = 0; at < a.size(); ++at) {
    const auto i = static_cast<int64_t>(at) / columns % rows, j = static_cast<int64_t>(at) % columns;
    a[at] = some(random) / 256.0 + (i == j ? size * static_cast<double>(i + 1) : 0);
  }
  return a;
}

// `text` with every D replaced by the dtype.
std::string InDType(std::string text, const std::string& dtype) {
  for (size_t at; (at = text.find('D')) != std::string::npos;) text.replace(at, 1, dtype);
  return text;
}

struct Case {
  const char* text;
  int64_t rows, columns, batch = 1;
};
constexpr Case kReal[] = {
    {"program f(%a: D[70,70]) { %v: D[70,70], %w: D[70] = eigh(%a) return %v, %w }", 70, 70},
    {"program f(%a: D[2,65,65]) { %v: D[2,65,65], %w: D[2,65] = eigh(%a) lower=false return %v, %w }", 65, 65, 2},
    {"program f(%a: D[40,30]) { %s: D[30], %u: D[40,30], %v: D[30,30] = svd(%a) full_matrices=false return %s, %u, %v "
     "}",
     40, 30},
    {"program f(%a: D[2,24,40]) { %s: D[2,24], %u: D[2,24,24], %v: D[2,24,40] = svd(%a) full_matrices=false"
     " return %s, %u, %v }",
     24, 40, 2},
    {"program f(%a: D[50,33]) { %s: D[33] = svd(%a) compute_uv=false return %s }", 50, 33},
    {"program f(%a: D[2,60,40]) { %r: D[2,60,40], %t: D[2,40] = geqrf(%a) %q: D[2,60,40] = householder_product(%r, %t)"
     " return %r, %t, %q }",
     60, 40, 2},
    {"program f(%a: D[35,50]) { %r: D[35,50], %t: D[35] = geqrf(%a) return %r, %t }", 35, 50},
};

TEST(Lapack, AgreesWithTheGeneratedLowerings) {
  WithLapack r;
  for (const std::string dtype : {"f64", "f32"}) {
    for (const Case& c : kReal) {
      SCOPED_TRACE(InDType(c.text, dtype));
      const Program f = r.Parse(InDType(c.text, dtype));
      EXPECT_NE(r.Dump(f, "plan", "cpu").find("library"), std::string::npos);
      r.RunEverywhere(f, {Matrix(c.rows, c.columns, 1, c.batch)}, dtype == "f64" ? 1e-10 : 2e-3);
    }
  }
}

// Programs of complex matrices take and return their parts.
constexpr Case kComplex[] = {
    {"program f(%x: f64[66,66], %y: f64[66,66]) { %a: c128[66,66] = complex(%x, %y)"
     "  %v: c128[66,66], %w: f64[66] = eigh(%a) %re: f64[66,66] = real(%v) %im: f64[66,66] = imag(%v)"
     "  return %w, %re, %im }",
     66, 66},
    {"program f(%x: f64[28,26], %y: f64[28,26]) { %a: c128[28,26] = complex(%x, %y)"
     "  %s: f64[26], %u: c128[28,26], %v: c128[26,26] = svd(%a) full_matrices=false"
     "  %re: f64[28,26] = real(%u) %im: f64[28,26] = imag(%u) %vr: f64[26,26] = real(%v) %vi: f64[26,26] = imag(%v)"
     "  return %s, %re, %im, %vr, %vi }",
     28, 26},
    {"program f(%x: f64[40,36], %y: f64[40,36]) { %a: c128[40,36] = complex(%x, %y)"
     "  %r: c128[40,36], %t: c128[36] = geqrf(%a) %q: c128[40,36] = householder_product(%r, %t)"
     "  %qr: f64[40,36] = real(%q) %qi: f64[40,36] = imag(%q) %ti: f64[36] = imag(%t) return %qr, %qi, %ti }",
     40, 36},
    {"program f(%x: f64[48,48], %y: f64[48,48]) { %a: c128[48,48] = complex(%x, %y)"
     "  %w: c128[48], %l: c128[48,48], %r: c128[48,48] = eig(%a) %re: f64[48] = real(%w) %im: f64[48] = imag(%w)"
     "  %lr: f64[48,48] = real(%l) %li: f64[48,48] = imag(%l) %rr: f64[48,48] = real(%r) %ri: f64[48,48] = imag(%r)"
     "  return %re, %im, %lr, %li, %rr, %ri }",
     48, 48},
};

TEST(Lapack, AgreesForComplexMatrices) {
  WithLapack r;
  for (const Case& c : kComplex) {
    SCOPED_TRACE(c.text);
    const Program f = r.Parse(c.text);
    EXPECT_NE(r.Dump(f, "plan", "cpu").find("library"), std::string::npos);
    r.RunEverywhere(f, {Matrix(c.rows, c.columns, 1), Matrix(c.rows, c.columns, 0.03125)}, 1e-9);
  }
}

std::string EigProgram(const std::string& dtype, const std::string& complex) {
  const std::string n = "[50]", m = "[50,50]";
  return "program f(%a: " + dtype + m + ") { %w: " + complex + n + ", %l: " + complex + m + ", %r: " + complex + m +
         " = eig(%a) %re: " + dtype + n + " = real(%w) %im: " + dtype + n + " = imag(%w) %lr: " + dtype + m +
         " = real(%l) %li: " + dtype + m + " = imag(%l) %rr: " + dtype + m + " = real(%r) %ri: " + dtype + m +
         " = imag(%r) return %re, %im, %lr, %li, %rr, %ri }";
}

TEST(Lapack, EigOfRealMatricesHasItsOrderAndPhases) {
  WithLapack r;
  Numbers a = Matrix(50, 50, 1);
  for (size_t i = 0; i + 1 < 50; i += 5) {  // pairs of conjugates
    a[i * 50 + i + 1] += 1.5;
    a[(i + 1) * 50 + i] -= 1.5;
  }
  r.RunEverywhere(r.Parse(EigProgram("f64", "c128")), {a}, 1e-9);
  // Where geev scales by itself, and is wrong in some versions: eigenvalues are 2^100 times as large, vectors the same.
  Numbers large = a;
  for (double& x : large) x *= 0x1p100;
  const Program f = r.Parse(EigProgram("f32", "c64"));
  const std::vector<Numbers> of_a = r.Run(f, {a}, "cpu"), of_large = r.Run(f, {large}, "cpu");
  ASSERT_EQ(of_large.size(), 6u);
  for (size_t i = 0; i < 50; ++i) EXPECT_EQ(of_large[0][i], of_a[0][i] * 0x1p100) << i;
  for (size_t result = 2; result < 6; ++result) {
    for (size_t i = 0; i < 2500; ++i) EXPECT_NEAR(of_large[result][i], of_a[result][i], 1e-4) << result << ", " << i;
  }
}

// q t q^T, q^T q, and what is below the first subdiagonal.
TEST(Lapack, SchurFactorsGiveTheMatrix) {
  WithLapack r;
  const std::string m = "f64[160,160]", numbers = " lhs_batch=[] rhs_batch=[]";
  const Program f =
      r.Parse("program f(%a: " + m + ") { %t: " + m + ", %q: " + m + " = schur(%a) %l: " + m +
              " = dot_general(%q, %t) lhs_contract=[1] rhs_contract=[0]" + numbers + " %b: " + m +
              " = dot_general(%l, %q) lhs_contract=[1] rhs_contract=[1]" + numbers + " %e: " + m +
              " = dot_general(%q, %q) lhs_contract=[0] rhs_contract=[0]" + numbers + " return %b, %e, %t }");
  EXPECT_NE(r.Dump(f, "plan", "cpu").find("library"), std::string::npos);
  const Numbers a = Matrix(160, 160, 0);
  const std::vector<Numbers> out = r.Run(f, {a}, "cpu");
  ASSERT_EQ(out.size(), 3u);
  for (size_t i = 0; i < 160; ++i) {
    for (size_t j = 0; j < 160; ++j) {
      const size_t at = i * 160 + j;
      ASSERT_NEAR(out[0][at], a[at], 1e-12) << i << ", " << j;
      ASSERT_NEAR(out[1][at], i == j ? 1 : 0, 1e-12) << i << ", " << j;
      ASSERT_TRUE(i <= j + 1 || out[2][at] == 0) << i << ", " << j;
    }
  }
}

TEST(Lapack, NaNGivesNaN) {
  WithLapack r;
  for (const char* text :
       {"program f(%a: f64[170,170]) { %v: f64[170,170], %w: f64[170] = eigh(%a) return %v, %w }",
        "program f(%a: f64[170,170]) { %s: f64[170], %u: f64[170,170], %v: f64[170,170] = svd(%a) return %s, %u, %v }",
        "program f(%a: f64[170,170]) { %t: f64[170,170], %q: f64[170,170] = schur(%a) return %t, %q }",
        "program f(%a: f64[170,170]) { %w: c128[170] = eig(%a) compute_left_eigenvectors=false"
        " compute_right_eigenvectors=false %re: f64[170] = real(%w) %im: f64[170] = imag(%w) return %re, %im }"}) {
    SCOPED_TRACE(text);
    for (double bad : {kNaN, std::numeric_limits<double>::infinity()}) {
      Numbers a = Matrix(170, 170, 1);
      a[169 * 170 + 3] = bad;
      for (const Numbers& result : r.Run(r.Parse(text), {a}, "cpu")) {
        for (double x : result) ASSERT_TRUE(std::isnan(x));
      }
    }
  }
}

TEST(Lapack, ThreadsDoNotDisturbEachOther) {
  const char* text =
      "program f(%a: f64[4,80,80]) { %v: f64[4,80,80], %w: f64[4,80] = eigh(%a)"
      "  %s: f64[4,80], %u: f64[4,80,80], %t: f64[4,80,80] = svd(%a) return %v, %w, %s, %u, %t }";
  const Numbers a = Matrix(80, 80, 1, 4);
  const auto run = [&] {
    WithLapack r;
    return r.Run(r.Parse(text), {a}, "cpu");
  };
  const std::vector<Numbers> want = run();
  std::vector<std::vector<Numbers>> got(3);
  std::vector<std::thread> threads;
  for (auto& results : got) threads.emplace_back([&results, &run] { results = run(); });
  for (std::thread& t : threads) t.join();
  for (const auto& results : got) EXPECT_TRUE(results == want);
}

// ---- libraries that will not do ----
TEST(Lapack, MissingLibrariesAreNamedAndTheGeneratedLoweringsStay) {
  ProgramRunner r;
  const char* names[] = {"libno_such_blas.so.0", "libm.so.6"};
  ricci_status* s = lapack::AttachLibrary(r.ctx(), names);
  ASSERT_NE(s, nullptr);
  EXPECT_EQ(ricci_status_code(s), RICCI_NOT_FOUND);
  EXPECT_EQ(Message(s),
            "lapack: no library: libno_such_blas.so.0 cannot be opened; libm.so.6 is not OpenBLAS; install "
            "libopenblas0-pthread, or open another OpenBLAS of one of these names before this plugin is added; without "
            "it the built-in lowerings are used");
  const Program f = r.Parse(InDType(kReal[0].text, "f64"));
  EXPECT_EQ(r.Dump(f, "plan", "cpu").find("library"), std::string::npos);
  r.RunEverywhere(f, {Matrix(70, 70, 1)});
}

TEST(Lapack, RowsMustBeThere) {
  ricci_ctx* ctx = nullptr;
  ASSERT_TRUE(Ok(ricci_context_create(nullptr, &ctx)));
  ricci_status* s = ricci_context_add_plugin(ctx, ricci_plugin_query_lapack);
  ASSERT_NE(s, nullptr);
  EXPECT_NE(Message(s).find("eigh"), std::string::npos);
  ricci_context_release(ctx);
}

}  // namespace
}  // namespace ricci::testing
