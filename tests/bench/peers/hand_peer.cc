// Hand-written C++ for the cases in which that is a fair peer and shows what the machine can do. Compiled with -O3
// -march=native -ffast-math; one thread per core over equal parts, started once per run. Matrix products are
// OpenBLAS's, with its threads.
#include <cblas.h>

#include <cmath>
#include <memory>
#include <thread>

#include "../bench_loop.h"
#include "machine_limits.h"
#include "parallel.h"

// Each compiler has its own words for a loop whose iterations do not depend on each other.
#ifdef __clang__
#define INDEPENDENT_ITERATIONS _Pragma("clang loop vectorize(assume_safety)")
#else
#define INDEPENDENT_ITERATIONS _Pragma("GCC ivdep")
#endif

namespace {

using bench::Case;
using bench::Parallel;
using bench::Prepared;
using bench::Settings;
using Floats = std::vector<float>;

std::shared_ptr<Floats> Keep(Floats v) { return std::make_shared<Floats>(std::move(v)); }

// A kernel(x, b, out, begin, end) over vectors.
template <typename Kernel>
Prepared Vectors(const Settings& s, Kernel kernel) {
  const int64_t n = s.small ? 1 << 10 : 1 << 24;
  auto x = Keep(bench::Ramp(n)), b = Keep(bench::Uniform(n)), out = Keep(Floats(static_cast<size_t>(n)));
  Prepared p;
  p.run = [=] { Parallel(n, [&](int64_t from, int64_t to) { kernel(x->data(), b->data(), out->data(), from, to); }); };
  p.check = [=] { return bench::Magnitude(*out); };
  return p;
}

void SaxpyPart(const float* __restrict x, const float* __restrict b, float* __restrict out, int64_t from, int64_t to) {
  for (int64_t i = from; i < to; ++i) out[i] = 2 * x[i] + b[i];
}
void GeluPart(const float* __restrict x, const float* __restrict b, float* __restrict out, int64_t from, int64_t to) {
  for (int64_t i = from; i < to; ++i) {
    const float y = x[i] + b[i];
    const float e = expf(2 * 0.7978845608f * (y + 0.044715f * y * y * y));
    out[i] = 0.5f * y * (1 + (e - 1) / (e + 1));
  }
}

Prepared Sum(const Settings& s) {
  const int64_t n = s.small ? 1 << 10 : 1 << 24;
  auto x = Keep(bench::Positive(n));
  auto total = std::make_shared<double>();
  Prepared p;
  p.run = [=] {
    std::vector<float> parts(64 * std::thread::hardware_concurrency());
    const auto each = n / static_cast<int64_t>(std::thread::hardware_concurrency());
    Parallel(n, [&](int64_t from, int64_t to) {
      float sum = 0;
      for (int64_t i = from; i < to; ++i) sum += (*x)[static_cast<size_t>(i)];
      parts[static_cast<size_t>(64 * (from / each))] = sum;
    });
    *total = 0;
    for (float v : parts) *total += v;
  };
  p.check = [=] { return std::abs(*total); };
  return p;
}

// ---- small and large products ----
void SmallProducts(const float* __restrict a, float* __restrict c, int64_t from, int64_t to) {
  for (int64_t b = from; b < to; ++b) {
    const float* x = a + 36 * b;
    for (int i = 0; i < 6; ++i) {
      for (int j = 0; j < 6; ++j) {
        float sum = 0;
        for (int k = 0; k < 6; ++k) sum += x[i * 6 + k] * x[k * 6 + j];
        c[36 * b + i * 6 + j] = sum;
      }
    }
  }
}
Prepared Bmm6(const Settings& s) {
  const int64_t n = s.small ? 10 : 100000;
  auto a = Keep(bench::Uniform(36 * n)), c = Keep(Floats(static_cast<size_t>(36 * n)));
  Prepared p;
  p.run = [=] { Parallel(n, [&](int64_t from, int64_t to) { SmallProducts(a->data(), c->data(), from, to); }); };
  p.check = [=] { return bench::Magnitude(*c); };
  return p;
}

Prepared Matmul(const Settings& s, int size) {
  const int n = s.small ? 16 : size;
  auto a = Keep(bench::Uniform(n * n)), b = Keep(bench::Uniform(n * n, 1)),
       c = Keep(Floats(static_cast<size_t>(n * n)));
  Prepared p;
  p.run = [=] {
    cblas_sgemm(CblasRowMajor, CblasNoTrans, CblasNoTrans, n, n, n, 1, a->data(), n, b->data(), n, 0, c->data(), n);
  };
  p.check = [=] { return bench::Magnitude(*c); };
  p.work = 2.0 * n * n * n;
  return p;
}

// ---- pendulum ----
inline void Rk4(float& th, float& w) {
  const float h = 0.01f;
  const auto f = [](float angle, float speed) { return -sinf(angle) - 0.1f * speed; };
  const float a1 = w, b1 = f(th, w);
  const float a2 = w + h / 2 * b1, b2 = f(th + h / 2 * a1, a2);
  const float a3 = w + h / 2 * b2, b3 = f(th + h / 2 * a2, a3);
  const float a4 = w + h * b3, b4 = f(th + h * a3, a4);
  th += h / 6 * (a1 + 2 * a2 + 2 * a3 + a4);
  w += h / 6 * (b1 + 2 * b2 + 2 * b3 + b4);
}
void RollPart(float* __restrict th, float* __restrict w, int steps, int64_t from, int64_t to) {
  for (int s = 0; s < steps; ++s) {
    INDEPENDENT_ITERATIONS
    for (int64_t i = from; i < to; ++i) Rk4(th[i], w[i]);
  }
}
Prepared Pendulum(int64_t batch, int steps) {
  Floats start = bench::Uniform(batch);
  for (float& v : start) v = batch == 1 ? 1 : 1 + 0.25f * v;
  auto first = Keep(start), th = Keep(start), w = Keep(Floats(start.size()));
  Prepared p;
  p.run = [=] {
    *th = *first;
    w->assign(w->size(), 0);
    if (batch == 1) return RollPart(th->data(), w->data(), steps, 0, 1);
    Parallel(batch, [&](int64_t from, int64_t to) { RollPart(th->data(), w->data(), steps, from, to); });
  };
  p.check = [=] { return bench::Magnitude(*th) + bench::Magnitude(*w); };
  return p;
}

Prepared Newton(const Settings&) {
  auto x = std::make_shared<volatile float>(7.0f);
  auto root = std::make_shared<float>();
  Prepared p;
  p.run = [=] {
    const float a = *x;
    float r = 1 + a;
    for (int i = 0; i < 100 && std::abs(r * r * r - a) > 1e-5f; ++i) r -= (r * r * r - a) / (3 * r * r);
    *root = r;
  };
  p.check = [=] { return *root; };
  return p;
}

// ---- D2Q9 lattice, whole periodic grid ----
constexpr int kCx[9] = {0, 1, 0, -1, 0, 1, -1, -1, 1}, kCy[9] = {0, 0, 1, 0, -1, 1, 1, -1, -1};
constexpr float kWeight[9] = {4 / 9.f, 1 / 9.f, 1 / 9.f, 1 / 9.f, 1 / 9.f, 1 / 36.f, 1 / 36.f, 1 / 36.f, 1 / 36.f};

// Streams from f and collides in the result: column y of every row reads its neighbours across the edge.
inline void Site(const float* const* rows, float* __restrict out, size_t plane, int64_t y, const int64_t* from) {
  float q[9], rho = 0, u = 0, v = 0;
  for (int i = 0; i < 9; ++i) {
    q[i] = rows[i][from[kCy[i] + 1]];
    rho += q[i];
    u += static_cast<float>(kCx[i]) * q[i];
    v += static_cast<float>(kCy[i]) * q[i];
  }
  u /= rho;
  v /= rho;
  const float square = 1.5f * (u * u + v * v);
  for (int i = 0; i < 9; ++i) {
    const float cu = 3 * (static_cast<float>(kCx[i]) * u + static_cast<float>(kCy[i]) * v);
    out[static_cast<size_t>(i) * plane + static_cast<size_t>(y)] =
        rho * kWeight[i] * (1 + cu + 0.5f * cu * cu - square);
  }
}
void LatticeRows(const float* __restrict f, float* __restrict g, int64_t n, int64_t from, int64_t to) {
  const auto plane = static_cast<size_t>(n * n);
  for (int64_t x = from; x < to; ++x) {
    const float* rows[9];
    for (int i = 0; i < 9; ++i) rows[i] = f + static_cast<size_t>(i) * plane + ((x - kCx[i] + n) % n) * n;
    float* out = g + x * n;
    INDEPENDENT_ITERATIONS
    for (int64_t y = 1; y < n - 1; ++y) {
      const int64_t columns[3] = {y + 1, y, y - 1};
      Site(rows, out, plane, y, columns);
    }
    for (int64_t y : {int64_t{0}, n - 1}) {
      const int64_t columns[3] = {(y + 1) % n, y, (y - 1 + n) % n};
      Site(rows, out, plane, y, columns);
    }
  }
}
// Streams before it collides, while the other programs collide first: the same work, and the sum that is compared, the
// mass, is the same.
Prepared Lattice(const Settings& s) {
  const int64_t n = s.small ? 8 : 1024;
  Floats start = bench::Uniform(9 * n * n);
  for (int64_t i = 0; i < 9 * n * n; ++i) {
    float& v = start[static_cast<size_t>(i)];
    v = kWeight[i / (n * n)] * (1 + 0.1f * v);
  }
  auto f = Keep(start), g = Keep(start);
  auto first = Keep(start);
  Prepared p;
  p.run = [=] {
    for (int step = 0; step < 10; ++step) {
      const Floats& from = step == 0 ? *first : step % 2 == 1 ? *g : *f;
      Floats& to = step % 2 == 0 ? *g : *f;
      Parallel(n, [&](int64_t a, int64_t b) { LatticeRows(from.data(), to.data(), n, a, b); });
    }
  };
  p.check = [=] { return bench::Magnitude(*f); };
  p.work = 10.0 * static_cast<double>(n * n);
  return p;
}

}  // namespace

int main(int argc, char** argv) {
  std::vector<Case> cases = {
      {"saxpy", "ms", [](const Settings& s) { return Vectors(s, SaxpyPart); }},
      {"gelu", "ms", [](const Settings& s) { return Vectors(s, GeluPart); }},
      {"sum", "ms", Sum},
      {"matmul256", "GFLOP/s", [](const Settings& s) { return Matmul(s, 256); }},
      {"matmul1024", "GFLOP/s", [](const Settings& s) { return Matmul(s, 1024); }},
      {"matmul2048", "GFLOP/s", [](const Settings& s) { return Matmul(s, 2048); }},
      {"bmm6", "ms", Bmm6},
      {"rk4_scan", "ms", [](const Settings& s) { return Pendulum(1, s.small ? 10 : 10000); }},
      {"rk4_vmap", "ms", [](const Settings& s) { return Pendulum(s.small ? 8 : 4096, s.small ? 10 : 1000); }},
      {"newton", "us", Newton},
      {"lbm", "MLUPS", Lattice},
  };
  for (Case& limit : bench::MachineLimits()) cases.push_back(std::move(limit));
  return bench::Serve(argc, argv, "hand", cases, [] {});
}
